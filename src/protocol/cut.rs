//! Where a turn was cut off, and by what: told when its session is opened again.
//!
//! ```text
//! Ctrl-C while sh test.sh runs          Cut { Cancel, Running ["run_command sh test.sh"] }
//! the terminal goes before a token came Cut { HangUp, Reading }
//! kill -9                               nobody can say anything: there is no `Cut`
//! ```

/// What cut it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The person stopped the turn.
    Cancel,
    /// The terminal went away.
    HangUp,
    /// Somebody told the program to end.
    Terminate,
    /// The person left, or nobody reads what is written.
    Quit,
}

/// What a turn was doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// Nothing that takes its time.
    #[default]
    Between,
    /// The request was to be sent, and nothing was known.
    Waiting,
    /// The server loaded the model.
    Loading,
    /// The server read the prompt.
    Reading,
    /// The reply came.
    Answering,
    /// One of these four: which, nobody could say.
    Unseen,
    /// A question was open.
    Asking,
    /// These calls were to be carried out; none: the model had answered.
    Running(Vec<String>),
    /// This command of the person's own ran.
    Own(String),
}

/// A turn was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// By what.
    pub by: Halt,
    /// At what.
    pub doing: Doing,
}
