//! What a complete reply means for the turn: a pure function from reply to step, with the counters of the bounded recoveries.
//!
//! ```text
//! calls                              → Run
//! text                               → Finish(Done)          (strict: Nudge twice, then Finish(Failed))
//! text, cut by `length`              → Nudge once, then Finish(Limit)
//! looks like a call, unreadable      → Nudge twice, then Finish(Failed)
//! nothing                            → Nudge once, then Finish(Failed) "thought for 812 tokens, gave no answer"
//! anything cut because the window is full → Finish(Limit) at once: the same prompt would fail the same way
//! ```
//!
//! Invariant: nothing here is decided by the wording of a reply. Invariant: each recovery is bounded, and a recovery always adds a
//! message, so the next request differs from the last. A reply with calls is progress and clears the counters; a model that makes no
//! progress with calls is `guard`'s.
use crate::model::Reply;
use crate::protocol::{Cut, Doing, Halt, Status, StopReason, ToolCall};
use crate::text;
use std::sync::Arc;

const MAX_UNREADABLE: u32 = 2;
const MAX_EMPTY: u32 = 1;
const MAX_CUT: u32 = 1;
const MAX_UNFINISHED: u32 = 2;

/// Tokens that a window may have left and still count as full: a few are kept back by servers.
const WINDOW_SLACK: u64 = 16;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// The turn is over.
    Finish(TurnEnd),
    /// Tell the model what was wrong and ask again.
    Nudge(Nudge),
    /// Run these, in order.
    Run(Vec<ToolCall>),
}

/// An end of the turn, good or bad.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TurnEnd {
    /// How.
    pub(super) status: Status,
    /// The model's last words.
    pub(super) answer: Arc<String>,
    /// What to say when the status alone does not.
    pub(super) why: Option<String>,
    /// Where and by what it was cut off.
    pub(super) cut: Option<Cut>,
}

impl TurnEnd {
    /// An end that needs no words of the model.
    pub(super) fn new(status: Status) -> TurnEnd {
        TurnEnd {
            status,
            answer: Arc::default(),
            why: None,
            cut: None,
        }
    }

    /// Somebody ended it.
    pub(super) fn cut(by: Halt, doing: Doing) -> TurnEnd {
        TurnEnd {
            cut: Some(Cut { by, doing }),
            ..TurnEnd::new(Status::Cancelled)
        }
    }

    /// A limit was reached.
    pub(super) fn limit(which: String) -> TurnEnd {
        TurnEnd::new(Status::Limit { which })
    }

    /// We failed, not the model.
    pub(super) fn failed(why: String) -> TurnEnd {
        TurnEnd {
            why: Some(why),
            ..TurnEnd::new(Status::Failed)
        }
    }
}

/// A correction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nudge {
    /// For the model.
    pub(super) note: String,
    /// For people.
    pub(super) notice: String,
}

/// Recoveries used up since the last reply with calls.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tries {
    unreadable: u32,
    empty: u32,
    cut: u32,
    unfinished: u32,
}

/// Decides. `strict`: only `finish_task` ends a turn. `window`: in tokens.
pub(super) fn decide(reply: Reply, strict: bool, window: u64, tries: &mut Tries) -> Step {
    if !reply.calls.is_empty() {
        *tries = Tries::default();
        return Step::Run(reply.calls);
    }
    if reply.stop == StopReason::Length && window_is_full(&reply, window) {
        return full(reply, window);
    }
    if let Some(what) = &reply.tried {
        return unreadable(Arc::clone(&reply.content), what, tries);
    }
    if reply.content.trim().is_empty() {
        return empty(&reply, tries);
    }
    if reply.stop == StopReason::Length {
        return cut(reply.content, tries);
    }
    if strict {
        return unfinished(reply.content, tries);
    }
    finish(Status::Done, reply.content, None)
}

fn finish(status: Status, answer: Arc<String>, why: Option<String>) -> Step {
    Step::Finish(TurnEnd {
        answer,
        why,
        ..TurnEnd::new(status)
    })
}

fn nudge(note: &str, notice: String) -> Step {
    let note = note.to_string();
    Step::Nudge(Nudge { note, notice })
}

fn window_is_full(reply: &Reply, window: u64) -> bool {
    let prompt = reply.usage.prompt_tokens.unwrap_or(0);
    let output = reply.usage.output_tokens.unwrap_or(0);
    prompt > 0 && prompt.saturating_add(output) + WINDOW_SLACK >= window
}

fn full(reply: Reply, window: u64) -> Step {
    let prompt = text::grouped(reply.usage.prompt_tokens.unwrap_or(0));
    let window = text::grouped(window);
    let which = format!(
        "the window of {window} tokens is full ({prompt} of them are the prompt), so the reply was cut; \
         use a larger one (--context-window) or start a new session"
    );
    finish(Status::Limit { which }, reply.content, None)
}

fn unreadable(content: Arc<String>, what: &str, tries: &mut Tries) -> Step {
    tries.unreadable += 1;
    if tries.unreadable > MAX_UNREADABLE {
        let why = format!(
            "{} replies in a row held a tool call that could not be read ({what}); --tool-style text may suit this model better",
            tries.unreadable
        );
        return finish(Status::Failed, content, Some(why));
    }
    let note = format!(
        "Your last reply looks like a tool call but could not be read ({what}), so nothing was run. Make the call again, complete and in \
         the tool format you were given. If you did not mean to call a tool, answer in plain words."
    );
    nudge(
        &note,
        format!("the reply looked like a tool call but could not be read ({what}); asking again"),
    )
}

fn empty(reply: &Reply, tries: &mut Tries) -> Step {
    tries.empty += 1;
    let thought = !reply.thinking.trim().is_empty();
    let tokens = reply.usage.output_tokens;
    let what = match (thought, tokens) {
        (true, Some(tokens)) => {
            let tokens = text::counted(tokens, "token");
            format!("the model thought for {tokens}, gave no answer")
        }
        (true, None) => "the model thought, gave no answer".to_string(),
        (false, _) => "the model gave an empty reply".to_string(),
    };
    if tries.empty > MAX_EMPTY {
        let why = format!("{what}, also when asked again");
        return finish(Status::Failed, Arc::default(), Some(why));
    }
    let note = if reply.stop == StopReason::Length {
        "Your last reply was cut by its length limit before it held an answer. Think less and give a short answer or make the next tool call."
    } else {
        "Your last reply was empty. Go on with the task: make the next tool call, or give your answer in plain words."
    };
    nudge(note, format!("{what}; asking again"))
}

fn cut(content: Arc<String>, tries: &mut Tries) -> Step {
    tries.cut += 1;
    if tries.cut > MAX_CUT {
        let which =
            "the reply was cut by its length limit, also when asked to be shorter".to_string();
        return finish(Status::Limit { which }, content, None);
    }
    nudge(
        "Your last reply was cut by its length limit. Go on in smaller steps: one tool call or a short answer at a time.",
        "the reply was cut by its length limit; asking for smaller steps".to_string(),
    )
}

fn unfinished(content: Arc<String>, tries: &mut Tries) -> Step {
    tries.unfinished += 1;
    if tries.unfinished > MAX_UNFINISHED {
        let why = "the model never called finish_task, which this run demands".to_string();
        return finish(Status::Failed, content, Some(why));
    }
    nudge(
        "In this run only finish_task ends the task. If the task is done, call finish_task alone with your answer; otherwise go on with it.",
        "the model answered without finish_task; asking for it".to_string(),
    )
}

#[cfg(test)]
mod tests;
