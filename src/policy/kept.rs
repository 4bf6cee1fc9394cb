//! What a person had kept for one workspace: rules, and checks by their exact text. In: the state folder and the workspace. Out: the rules
//! for `Policy`; `zcoder rules` lists and revokes them.
//!
//! ```text
//! <state>/workspaces/app-5f2c9d04a1b7e386/rules
//!   # zcoder: kept for /home/me/app
//!   allow cmake
//!   allow ctest
//! <state>/workspaces/app-5f2c9d04a1b7e386/checks
//!   # zcoder: kept for /home/me/app
//!   9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 test
//! ```
//!
//! The files lie outside of the workspace, where no tool reads or writes. A line that cannot be read is a fault and allows nothing.
//!
//! Invariant: what is in memory is what was last read from or written to the disk; a failed write changes neither.
//! Invariant: revoking takes effect for sessions that start later; a running one keeps what it read.

use std::io;
use std::path::{Path, PathBuf};

use crate::sha256;
use crate::text;

use super::checks::Check;
use super::private;
use super::rules::{self, Author, Fault, Rule};

/// What is kept for one workspace.
#[derive(Clone, Debug)]
pub struct Kept {
    folder: PathBuf,
    workspace: PathBuf,
    rules: Vec<Rule>,
    /// `HEX NAME`, as the file has them.
    checks: Vec<String>,
}

/// One line that can be revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A rule.
    Rule(Rule),
    /// A check's name.
    Check(String),
}

impl Kept {
    /// Reads what is kept for `workspace` (canonical) below `state`; nothing is made. The faults are lines that were left out.
    pub fn open(state: &Path, workspace: &Path) -> io::Result<(Kept, Vec<Fault>)> {
        let folder = private::folder(state, workspace);
        let lines = private::lines(&folder.join("rules"), workspace)?;
        let (rules, faults) = read(&lines);
        let checks = private::lines(&folder.join("checks"), workspace)?;
        let kept = Kept {
            folder,
            workspace: workspace.to_path_buf(),
            rules,
            checks,
        };
        Ok((kept, faults))
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Everything that can be revoked, in the order of [`Kept::revoke`].
    pub fn entries(&self) -> Vec<Entry> {
        let rules = self.rules.iter().cloned().map(Entry::Rule);
        let checks = self.checks.iter().map(|line| {
            let name = line.split_once(' ').map_or("", |(_, name)| name);
            Entry::Check(name.to_string())
        });
        rules.chain(checks).collect()
    }

    /// Adds rules, each once.
    pub(super) fn keep(&mut self, new: &[Rule]) -> io::Result<()> {
        let lines = self.update("rules", &mut |lines| {
            for line in new.iter().map(Rule::to_string) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        })?;
        self.rules = read(&lines).0;
        Ok(())
    }

    /// Accepts a check by its text.
    pub(super) fn accept(&mut self, check: &Check) -> io::Result<()> {
        let hash = sha256::hex(&check.hash());
        let line = format!("{hash} {}", text::one_line(&check.name));
        self.checks = self.update("checks", &mut |lines| {
            if !lines.iter().any(|known| known.starts_with(&hash)) {
                lines.push(line.clone());
            }
        })?;
        Ok(())
    }

    fn update(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<String>),
    ) -> io::Result<Vec<String>> {
        let path = self.folder.join(name);
        private::update(&path, &self.workspace, change)
    }

    /// Whether the check's exact text was accepted.
    pub(super) fn accepts(&self, check: &Check) -> bool {
        let hash = sha256::hex(&check.hash());
        self.checks
            .iter()
            .any(|line| line.split(' ').next() == Some(hash.as_str()))
    }

    /// Takes one entry back, by its place in [`Kept::entries`] counted from 0; `None` where there is no such entry.
    pub fn revoke(&mut self, place: usize) -> io::Result<Option<Entry>> {
        let Some(entry) = self.entries().get(place).cloned() else {
            return Ok(None);
        };
        match &entry {
            Entry::Rule(rule) => {
                // However the line is spelled: it may have been written by hand.
                let is_it = |line: &String| {
                    let (rules, _) = read(std::slice::from_ref(line));
                    rules.iter().any(|known| known.is_same(rule))
                };
                let lines = self.update("rules", &mut |lines| lines.retain(|line| !is_it(line)))?;
                self.rules = read(&lines).0;
            }
            Entry::Check(_) => {
                let gone = self.checks[place - self.rules.len()].clone();
                self.checks =
                    self.update("checks", &mut |lines| lines.retain(|line| *line != gone))?;
            }
        }
        Ok(Some(entry))
    }
}

/// The rules of a file's lines, numbered as `zcoder rules` shows them.
fn read(lines: &[String]) -> (Vec<Rule>, Vec<Fault>) {
    let (rules, faults) = rules::read(&lines.join("\n"), "kept for this workspace", Author::User);
    let numbered = rules.iter().enumerate();
    let rules = numbered.map(|(i, rule)| rule.at(format!("kept for this workspace, {}", i + 1)));
    // The heading is line 1 of the file.
    let faults = faults.into_iter().map(|fault| Fault {
        line: fault.line + 1,
        ..fault
    });
    (rules.collect(), faults.collect())
}
