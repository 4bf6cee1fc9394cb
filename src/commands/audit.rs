//! `zcoder audit verify`: whether a session still is what was kept; `zcoder audit report`: who asked for what, and what came of it, as a
//! dated table.
//!
//! ```text
//! $ zcoder audit verify 20260821-09
//! session 20260821-090000123-x1y2z3a4: 94 records, the chain holds
//!   head 5f0c…a9
//! $ zcoder audit verify --all
//! session 20260821-090000123-x1y2z3a4 in /home/me/app: 94 records, the chain holds
//! …
//! $ zcoder audit report 20260821-09
//! 2026-08-21T09:00:05Z      5  asked     request 1: one shot on /dev/pts/3, user 1000
//! 2026-08-21T09:00:05Z      6  request   make the test pass
//! 2026-08-21T09:00:09Z      8  decided   yes, by --yes
//! 2026-08-21T09:00:09Z      8  shown     sh test.sh
//! ```
//!
//! The chain (each record names the hash of the one before, `current` that of the last) proves damage and careless edits. Whoever can write
//! the files can make all of it anew: only a head that was kept elsewhere, as it is printed at the end of each run, proves more (`--head`).
//!
//! Invariant: nothing is changed, and nothing is locked: a session at work is judged as far as it was committed. Invariant: no session and no
//! list of them is held in memory but the ids of one folder.
//! Invariant: exit code 0 means that every chain held and the head was found, 1 that something is wrong or unreadable.
//!
//! Read next: `session/forward.rs`.

use super::sessions::{Here, author, decided, one_line, put, receipt_of, through, unknown, wrong};
use super::{by, session};
use crate::config::{Id, Paths, Typed, UsageError, utf8, variable};
use crate::headless::out::{Out, complain, exit, note};
use crate::headless::show;
use crate::protocol::Message;
use crate::session::{Entry, Hash, Record, SessionId, Store};
use crate::sha256::hex;
use crate::sys::clock;
use crate::text::counted;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The subcommands.
pub(super) const VERBS: [&str; 2] = ["verify", "report"];
/// A walk through all sessions says how far it is, as often as this.
const PROGRESS: Duration = Duration::from_secs(2);
/// Fewer digits of a head name nothing.
const LEAST_DIGITS: usize = 8;

/// `zcoder audit SUBCOMMAND`
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let Some((verb, words)) = typed.words.split_first() else {
        return Err(wrong(typed, None));
    };
    let verb = utf8(verb, "the subcommand")?;
    let all = typed.is_on(Id::All);
    for id in [Id::All, Id::Head] {
        if let Some(given) = typed.get(id).filter(|_| verb == "report") {
            let (flag, needs) = (given.source, "verify");
            return Err(UsageError::Needs { flag, needs });
        }
    }
    match (verb, words) {
        ("verify", [word]) if !all => {
            let head = head(typed)?;
            let here = Here::find(typed)?;
            let (store, id) = here.named(word)?;
            let code = verify(store, &id, head.as_deref(), None);
            if head.is_none() {
                unanchored();
            }
            Ok(code)
        }
        ("verify", []) if all => {
            if let Some(given) = typed.get(Id::Head) {
                let (flag, needs) = (given.source, "one SESSION");
                return Err(UsageError::Needs { flag, needs });
            }
            let state = Paths::find(&variable).state;
            let code = verify_all(&state.ok_or(UsageError::NoState)?);
            unanchored();
            Ok(code)
        }
        ("report", []) => {
            let here = Here::find(typed)?;
            let store = here.store()?;
            let all = session::list(store)?;
            match all.iter().find(|listed| listed.prompted) {
                Some(newest) => Ok(report(store, &newest.id)),
                None => {
                    complain("no session of this folder");
                    Ok(exit::FAILED)
                }
            }
        }
        ("report", [word]) => {
            let here = Here::find(typed)?;
            let (store, id) = here.named(word)?;
            Ok(report(store, &id))
        }
        ("verify" | "report", _) => Err(wrong(typed, words.get(usize::from(!all)))),
        _ => Err(unknown(typed, verb, VERBS.into_iter())),
    }
}

fn unanchored() {
    note(
        "the chain proves damage and careless edits, not a forger; --head compares it with a head that was printed at the end of a run",
    );
}

/// What `--head` says.
fn head(typed: &Typed) -> Result<Option<String>, UsageError> {
    let Some(given) = typed.get(Id::Head) else {
        return Ok(None);
    };
    let text = given.text()?.to_ascii_lowercase();
    let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match digits && (LEAST_DIGITS..=64).contains(&text.len()) {
        true => Ok(Some(text)),
        false => Err(given.bad("8 to 64 hexadecimal digits, as a run prints them at its end")),
    }
}

/// All sessions of all folders.
fn verify_all(state: &Path) -> u8 {
    let unreadable = |folder: &Path, error: io::Error| {
        complain(&format!("cannot list `{}`: {error}", folder.display()));
        exit::FAILED
    };
    let stores = match Store::everywhere(state) {
        Ok(stores) => stores,
        Err(error) => return unreadable(&state.join("sessions"), error),
    };
    let mut progress = Progress {
        sessions: 0,
        records: 0,
        next: Instant::now() + PROGRESS,
    };
    let (mut code, mut folders, mut wrong) = (exit::DONE, 0, 0);
    for store in stores {
        let ids = match store.ids() {
            Ok(ids) => ids,
            Err(error) => {
                code = unreadable(store.folder(), error);
                continue;
            }
        };
        folders += u64::from(!ids.is_empty());
        for id in ids {
            let one = verify(&store, &id, None, Some(&mut progress));
            if one == exit::READER_LEFT {
                return one;
            }
            progress.sessions += 1;
            wrong += u64::from(one != exit::DONE);
            code = code.max(one);
        }
    }
    let sessions = counted(progress.sessions, "session");
    let folders = counted(folders, "folder");
    let holds = match wrong {
        0 => "nothing is wrong".to_string(),
        wrong => format!("something is wrong with {}", counted(wrong, "session")),
    };
    note(&format!("{sessions} of {folders}: {holds}"));
    code
}

/// How far a long walk is.
struct Progress {
    sessions: u64,
    records: u64,
    next: Instant,
}

impl Progress {
    fn record(&mut self) {
        self.records += 1;
        let now = Instant::now();
        if now >= self.next {
            self.next = now + PROGRESS;
            let sessions = counted(self.sessions, "session");
            let records = counted(self.records, "record");
            note(&format!("{sessions} verified, {records} read so far"));
        }
    }
}

/// Walks through one session and says what it is; flaws are told as they come. `progress`: it is one of all.
fn verify(
    store: &Store,
    id: &SessionId,
    head: Option<&str>,
    mut progress: Option<&mut Progress>,
) -> u8 {
    let mut found = None;
    let code = through(store, id, |out, walk| {
        let (mut records, mut last): (u64, Option<(u64, Hash)>) = (0, None);
        let mut place = String::new();
        if progress.is_some() {
            walk.before = format!("session {}: ", id.0);
        }
        while let Some(entry) = walk.next() {
            records += 1;
            if let Some(progress) = &mut progress {
                progress.record();
                if let Record::Session(header) = &entry.record {
                    place = format!(" in {}", one_line(&header.workspace));
                }
            }
            last = walk.forward.hash().map(|hash| (entry.seq, hash));
            let named =
                |(_, hash): &(u64, Hash)| head.is_some_and(|head| hex(hash).starts_with(head));
            found = found.or(last.filter(named));
        }
        let records = counted(records, "record");
        let holds = match walk.is_whole() {
            true => "the chain holds",
            false => "something is wrong",
        };
        put(
            out,
            &format!("session {}{place}: {records}, {holds}\n", id.0),
        )?;
        let Some((last, hash)) = last else {
            return Ok(());
        };
        put(out, &format!("  head {}\n", hex(&hash)))?;
        match found {
            Some((seq, _)) if seq == last => put(out, "  it is the head that was given\n"),
            Some((seq, _)) => {
                let later = counted(last.saturating_sub(seq), "record");
                put(
                    out,
                    &format!("  the head that was given is record {seq}; {later} came later\n"),
                )
            }
            None => Ok(()),
        }
    });
    match (head, found) {
        (Some(head), None) => {
            complain(&format!(
                "no record of session {} has the head {head}: it is of another session, or records were taken away or changed",
                id.0
            ));
            code.max(exit::FAILED)
        }
        (Some(_), Some(_)) | (None, _) => code,
    }
}

fn report(store: &Store, id: &SessionId) -> u8 {
    through(store, id, |out, walk| {
        put(out, &format!("session {}, times are UTC\n", id.0))?;
        while let Some(entry) = walk.next() {
            for (what, text) in rows(&entry.record) {
                row(out, &entry, what, &text)?;
            }
        }
        Ok(())
    })
}

fn row(out: &mut Out, entry: &Entry, what: &str, text: &str) -> io::Result<()> {
    let time = clock::rfc3339(entry.at);
    let time = time.split('.').next().unwrap_or(&time);
    let (seq, text) = (entry.seq, one_line(text));
    put(
        out,
        format!("{time}Z {seq:>6}  {what:<9} {text}").trim_end(),
    )?;
    put(out, "\n")
}

/// What a record has to say to an auditor.
fn rows(record: &Record) -> Vec<(&'static str, String)> {
    match record {
        Record::Session(header) => vec![(
            "begun",
            format!("zcoder {} in {}", header.version, header.workspace),
        )],
        Record::Model(model) => vec![("model", format!("{} at {}", model.name, model.host))],
        Record::TurnStarted { turn, by, .. } => {
            vec![("asked", format!("request {}: {}", turn.0, author(by)))]
        }
        Record::Message(Message::User { text }) => vec![("request", text.clone())],
        Record::Message(Message::Assistant { calls, .. }) => {
            let call = |call: &crate::protocol::ToolCall| {
                ("called", format!("{} {}", call.name, call.arguments))
            };
            calls.iter().map(call).collect()
        }
        Record::Message(Message::Tool { name, text, .. }) => {
            let first = text.lines().next().unwrap_or("");
            vec![("result", format!("{name}: {first}"))]
        }
        Record::Message(Message::System { .. } | Message::Note { .. }) | Record::Title { .. } => {
            Vec::new()
        }
        Record::Decision {
            shown,
            decision,
            by: who,
            call: _,
        } => vec![
            ("decided", decided(decision, &by(who))),
            ("shown", shown.clone()),
        ],
        Record::Edit(edit) => {
            let hash = |hash: &Option<Hash>| hash.as_ref().map_or("none".to_string(), hex);
            let bit = match edit.executable {
                Some(true) => ", executable",
                Some(false) => ", no longer executable",
                None => "",
            };
            vec![
                ("edit", format!("{}{bit}", edit.path)),
                ("before", hash(&edit.before)),
                ("after", hash(&edit.after)),
            ]
        }
        Record::Receipt { receipt, .. } => vec![("ended", receipt_of(receipt))],
        Record::Checkpoint(checkpoint) => {
            let (before, after) = (checkpoint.before, checkpoint.after);
            let text = format!("for the model, from {before} tokens to {after}");
            vec![("shortened", text)]
        }
        Record::Accepted(pending) => {
            vec![("waits", format!("{}: {}", pending.id, pending.text))]
        }
        Record::Shell { command, .. } => vec![("own", command.clone())],
        Record::Settled { id, consumed } => match consumed {
            true => vec![("delivered", id.clone())],
            false => vec![("dropped", id.clone())],
        },
        Record::Goal(goal) => vec![("goal", show::goal(Some(goal)))],
        Record::Gap { log, .. } => vec![("damage", format!("{log} was left as it is"))],
        Record::Lost { log, offset, bytes } => {
            let bytes = counted(*bytes, "byte");
            vec![("damage", format!("{bytes} lost at byte {offset} of {log}"))]
        }
        Record::Unknown { kind, .. } => vec![("unknown", format!("a record of kind {kind}"))],
    }
}
