//! What a failed request means for the turn: a pure function from the error's type to the remedy. The turn applies it.
//!
//! ```text
//! UnreadableCall                     → Tell: the model hears what was wrong, at most twice in a row
//! NoThinking, and `think` was sent   → WithoutThink: rebuild, send once more, remember
//! NoTools, and the style is `auto`   → TextStyle: rebuild with the tools described in the text
//! ContextOverflow                    → Shorten: the conversation is shortened; if that cannot be, the turn ends with a limit
//! a wrong name, option or model      → the turn ends: the user must change something
//! anything else                      → the turn ends: the server cannot be used
//! ```
//!
//! Invariant: no decision looks at a text. Invariant: each remedy changes the next request, so the same bytes are never sent again from
//! here (resends of the same bytes are `model`'s, within one chat).
use super::decide::TurnEnd;
use crate::model::{Error, Why};
use crate::protocol::Status;
use crate::text;

/// Characters of the server's words in a note to the model.
const DETAIL_CHARS: usize = 500;

/// What to do about an error.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Remedy {
    /// Tell the model what was wrong with its call.
    Tell(String),
    /// Leave `think` out from now on.
    WithoutThink,
    /// Describe the tools in the text from now on.
    TextStyle,
    /// Leave out what can be; the turn ends so if nothing can.
    Shorten(TurnEnd),
    /// Nothing: the turn is over.
    End(TurnEnd),
}

/// `think_sent`: the request asked for thinking. `may_use_text`: tools were sent natively and the user left the style to us.
pub(super) fn remedy(error: &Error, think_sent: bool, may_use_text: bool) -> Remedy {
    match error {
        Error::UnreadableCall { detail } => {
            Remedy::Tell(text::clip(detail, DETAIL_CHARS).into_owned())
        }
        Error::Refused {
            why: Why::NoThinking,
            ..
        } if think_sent => Remedy::WithoutThink,
        Error::NoTools { .. } if may_use_text => Remedy::TextStyle,
        Error::ContextOverflow { .. } => Remedy::Shorten(TurnEnd::new(status(error))),
        other => Remedy::End(TurnEnd::new(status(other))),
    }
}

/// How a turn ends with this error.
pub(super) fn status(error: &Error) -> Status {
    let reason = error.to_string();
    match error {
        Error::Cancelled => Status::Cancelled,
        Error::ContextOverflow { .. } => Status::Limit { which: reason },
        Error::ModelMissing { .. }
        | Error::NoTools { .. }
        | Error::Refused {
            why: Why::BadModelName | Why::NotAChatModel | Why::BadKeepAlive | Why::BadOption,
            ..
        } => Status::Unusable { reason },
        Error::Http(_)
        | Error::Incomplete { .. }
        | Error::Malformed { .. }
        | Error::RecordTooLong { .. }
        | Error::UnreadableCall { .. }
        | Error::Refused { .. }
        | Error::BadRequest { .. }
        | Error::SignIn { .. }
        | Error::Unauthorized { .. }
        | Error::WrongHost { .. }
        | Error::Redirect { .. }
        | Error::NotOllama { .. }
        | Error::Server { .. } => Status::ServerFailed { reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &Error, think_sent: bool, may_use_text: bool, expected: &str) {
        let words = |end: TurnEnd| match end.status {
            Status::Cancelled => "cancelled".to_string(),
            Status::Limit { which } => format!("limit: {which}"),
            Status::Unusable { reason } => format!("unusable: {reason}"),
            Status::ServerFailed { reason } => format!("server failed: {reason}"),
            other => format!("{other:?}"),
        };
        let remedy = match remedy(error, think_sent, may_use_text) {
            Remedy::Tell(detail) => format!("tell {detail}"),
            Remedy::WithoutThink => "without think".to_string(),
            Remedy::TextStyle => "text style".to_string(),
            Remedy::Shorten(end) => format!("shorten, else {}", words(end)),
            Remedy::End(end) => words(end),
        };
        assert_eq!(remedy, expected.replace("{error}", &error.to_string()));
    }

    #[test]
    fn the_type_of_an_error_decides() {
        let model = || "m".to_string();
        let detail = || "words".to_string();
        let no_tools = Error::NoTools {
            model: model(),
            others: Vec::new(),
        };
        let refused = |why| Error::Refused {
            why,
            model: model(),
            detail: detail(),
        };
        let no_thinking = refused(Why::NoThinking);
        let incomplete = Error::Incomplete {
            detail: detail(),
            partial: String::new(),
        };
        let overflow = Error::ContextOverflow {
            detail: detail(),
            prompt_tokens: None,
            window: None,
        };
        let unreadable = Error::UnreadableCall { detail: detail() };
        check(&unreadable, false, false, "tell words");
        check(&no_thinking, true, false, "without think");
        check(&no_thinking, false, true, "server failed: {error}");
        check(&no_tools, false, true, "text style");
        check(&no_tools, true, false, "unusable: {error}");
        check(&overflow, true, true, "shorten, else limit: {error}");
        check(&incomplete, true, true, "server failed: {error}");
        check(&Error::Cancelled, true, true, "cancelled");
        check(&refused(Why::BadOption), true, true, "unusable: {error}");
    }

    #[test]
    fn the_words_of_the_server_are_cut_for_the_model() {
        let detail = "x".repeat(DETAIL_CHARS + 1);
        let cut = format!("tell {}…", "x".repeat(DETAIL_CHARS - 1));
        check(&Error::UnreadableCall { detail }, false, false, &cut);
        let detail = "x".repeat(DETAIL_CHARS);
        let whole = format!("tell {detail}");
        check(&Error::UnreadableCall { detail }, false, false, &whole);
    }
}
