//! A workspace in a temporary folder and the tools on it, driven as the engine drives them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use zcoder::json::{Tree, Writer};
use zcoder::policy::{CommandMode, EditMode, Policy, Profile, Verdict};
use zcoder::protocol::{CallId, Facts, JournalRecord, ToolCall, ToolOutcome, ToolStatus};
use zcoder::sys::Cancel;
use zcoder::tools::{Edit, Limits, Prepared, Toolbox, Workspace};

use crate::support::temp::Temp;

/// The whole of it.
pub(crate) struct Kit {
    pub(crate) temp: Temp,
    pub(crate) toolbox: Toolbox,
    /// What was handed to the journal.
    pub(crate) journal: Vec<JournalRecord>,
}

impl Kit {
    /// An empty workspace; whole reads up to 1,000 bytes.
    pub(crate) fn new() -> Kit {
        let temp = Temp::new();
        let root = temp.path().join("ws");
        std::fs::create_dir(&root).expect("workspace");
        let workspace = Workspace::open(&root, vec![temp.path().join("state")]).expect("opens");
        let limits = Limits {
            read_bytes: 1_000,
            output_bytes: 1_000,
            command_timeout: Duration::from_secs(60),
            command_wrapper: Vec::new(),
        };
        let outputs = temp.path().join("outputs");
        Kit {
            toolbox: Toolbox::new(workspace, limits, outputs, true),
            temp,
            journal: Vec::new(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.toolbox.workspace().root()
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        self.temp.write(&format!("ws/{name}"), bytes);
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        self.temp.read(&format!("ws/{name}"))
    }

    pub(crate) fn mode(&self, name: &str, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.root().join(name), permissions).expect("mode");
    }

    /// A call up to the policy.
    pub(crate) fn prepare(&mut self, name: &str, arguments: &[(&str, &str)]) -> Prepared {
        let mut json = Writer::new();
        json.begin_object();
        for (key, value) in arguments {
            json.key(key).string(value);
        }
        json.end_object();
        let call = ToolCall {
            id: CallId("call_1".to_string()),
            name: name.to_string(),
            arguments: Tree::parse(&json.finish()).expect("JSON"),
        };
        match zcoder::tools::check(&call, &[]) {
            Ok(checked) => self.toolbox.prepare(checked.call),
            Err(outcome) => Prepared::Outcome(outcome),
        }
    }

    /// The edit a call is worked out to.
    #[track_caller]
    pub(crate) fn edit(&mut self, name: &str, arguments: &[(&str, &str)]) -> Edit {
        match self.prepare(name, arguments) {
            Prepared::Edit(edit) => edit,
            other => panic!("no edit: {other:?}"),
        }
    }

    /// Makes an edit as allowed.
    #[track_caller]
    pub(crate) fn apply(&mut self, edit: Edit) -> ToolOutcome {
        let policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
        let Verdict::Allowed(approved) = policy.edit(edit, &["any"], |_| "", None) else {
            panic!("edits=auto asks");
        };
        let journal = &mut self.journal;
        self.toolbox.apply(approved, &mut |record, _| {
            journal.push(record());
            Ok(())
        })
    }

    /// A whole call, edits allowed.
    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, arguments: &[(&str, &str)]) -> ToolOutcome {
        match self.prepare(name, arguments) {
            Prepared::Outcome(outcome) => outcome,
            Prepared::Look(look) => look.run(&Cancel::new().expect("switch")),
            Prepared::Edit(edit) => self.apply(edit),
            other => panic!("neither outcome nor edit: {other:?}"),
        }
    }

    /// A call that succeeds; its text.
    #[track_caller]
    pub(crate) fn ok(&mut self, name: &str, arguments: &[(&str, &str)]) -> String {
        let outcome = self.call(name, arguments);
        assert_eq!(outcome.status, ToolStatus::Ok, "{}", outcome.text);
        outcome.text
    }

    /// A call that fails with exactly this text.
    #[track_caller]
    pub(crate) fn fails(&mut self, name: &str, arguments: &[(&str, &str)], text: &str) {
        let outcome = self.call(name, arguments);
        assert_eq!(outcome.text, text);
        assert_eq!(
            (outcome.status, outcome.facts),
            (ToolStatus::Failed, Facts::None)
        );
    }
}
