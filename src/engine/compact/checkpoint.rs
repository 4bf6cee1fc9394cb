//! The words of a compaction: what the model is asked for, what it answered, and the note that stands for what is left out. Pure;
//! `compact` sends and applies.
//!
//! ```text
//! asked     … one JSON object and nothing else: {"goal":[…],"constraints":[…],"decisions":[…],"files":[…],"verified":[…],"next":[…]}
//! answered  Here it is: {"goal":["make test.sh pass"],"files":["src/add.sh: adds wrongly, line 3"],"next":["mend line 3"]}
//! note      [note from zcoder, not from the user] Checkpoint: …
//!           Goal
//!           - make test.sh pass
//!           …
//! ```
//!
//! Lenient in shape, strict in completeness: prose around the object, a string for a list, missing sections and unknown members are
//! taken; refused are two objects, half of one, a value of another type, and one without `goal` or `next`. The model is told which.
//!
//! Limits: 64 KiB are searched; four entries a section, and all of them together no more than the bytes that the caller allows: each
//! may have its share of them, so that a long one does not push out the next action.
use crate::engine::prompt;
use crate::json::{Field, FieldError, Found, Kind, Tree, find_object};
use crate::protocol::{Message, Note};
use crate::text;

/// Members of the object, and how they are headed.
const SECTIONS: [(&str, &str); 6] = [
    ("goal", "Goal"),
    ("constraints", "Constraints"),
    ("decisions", "Decisions"),
    ("files", "Files"),
    ("verified", "Verified"),
    ("next", "Next"),
];
/// Entries of a section; the rest is dropped.
const ENTRIES: usize = 4;
/// An answer is searched this far.
const ANSWER_BYTES: usize = 64 << 10;
/// The least that an entry may have, in characters, however many there are.
const ENTRY_CHARS: usize = 80;

/// Asks for the object.
pub(super) fn instruction() -> Message {
    note(
        "Stop here: the conversation is about to be shortened to make room. Call no tool and do not go on with the task. Write a checkpoint \
         from which you can go on without the messages above: one JSON object and nothing else, in this form:\n\
         {\"goal\":[\"…\"],\"constraints\":[\"…\"],\"decisions\":[\"…\"],\"files\":[\"path, lines: what stands there or was changed\"],\
         \"verified\":[\"what was run or seen, and its result\"],\"next\":[\"…\"]}\n\
         At most four short strings in each list. Name exact paths, lines, names, commands and error texts. Write only what the \
         conversation holds.",
    )
}

/// Asks again. `what` was wrong.
pub(super) fn correction(what: &str) -> Message {
    note(&format!(
        "That could not be used: {what}. Write the checkpoint again: one JSON object with the lists goal, constraints, decisions, files, \
         verified and next, each of at most four short strings, and nothing else."
    ))
}

/// Asks for the same in plain words.
pub(super) fn plain_instruction() -> Message {
    note(
        "Stop here: the conversation is about to be shortened to make room. Call no tool and do not go on with the task. Write in at most \
         150 plain words what you need to go on without the messages above: the goal, what must be kept to, what was decided, which files \
         (exact paths and lines) matter and why, what was run or seen with which result, and the next action. No JSON, no code.",
    )
}

fn note(text: &str) -> Message {
    prompt::note(Note::Checkpoint, text)
}

/// The object in an answer, as the note shows it, in at most about `limit` bytes. `Err` says what was wrong, for the model.
pub(super) fn read(answer: &str, limit: u64) -> Result<String, String> {
    let object = match find_object(answer.as_bytes(), ANSWER_BYTES) {
        Found::One(range) => &answer[range],
        Found::None => return Err("it holds no JSON object".to_string()),
        Found::Several => return Err("it holds more than one JSON object".to_string()),
        Found::Cut => return Err("its JSON object is not complete".to_string()),
        Found::Broken(error) => return Err(format!("its JSON object cannot be read: {error}")),
    };
    let tree = Tree::parse(object.as_bytes()).map_err(|error| error.to_string())?;
    let root = Field::root(tree.root());
    let mut sections = Vec::new();
    for (key, _) in SECTIONS {
        sections.push(entries(&root, key).map_err(|error| error.to_string())?);
    }
    let missing = SECTIONS
        .iter()
        .zip(&sections)
        .find(|((key, _), entries)| (*key == "goal" || *key == "next") && entries.is_empty());
    if let Some(((key, _), _)) = missing {
        return Err(format!("`{key}` is missing or empty"));
    }
    let count: usize = sections.iter().map(Vec::len).sum();
    let share = usize::try_from(limit).unwrap_or(usize::MAX) / count.max(1);
    let mut out = String::new();
    for ((_, title), entries) in SECTIONS.iter().zip(&sections) {
        if entries.is_empty() {
            continue;
        }
        out.push_str(title);
        out.push('\n');
        for entry in entries {
            out.push_str("- ");
            out.push_str(&text::clip(entry, share.max(ENTRY_CHARS)));
            out.push('\n');
        }
    }
    Ok(out)
}

/// The strings of one member: in a list, or one that stands alone. Line ends in them become blanks.
fn entries(root: &Field<'_>, key: &str) -> Result<Vec<String>, FieldError> {
    let Some(field) = root.optional(key)? else {
        return Ok(Vec::new());
    };
    let found = match field.value().kind() {
        Kind::String => vec![field],
        _ => field.items()?,
    };
    let mut out = Vec::new();
    for field in found {
        let words: Vec<&str> = field.string()?.split_whitespace().collect();
        if !words.is_empty() && out.len() < ENTRIES {
            out.push(words.join(" "));
        }
    }
    Ok(out)
}

/// Plain words as an answer, in at most about `limit` bytes; `None` when there are none.
pub(super) fn read_plain(answer: &str, limit: u64) -> Option<String> {
    let answer = answer.trim();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    (!answer.is_empty()).then(|| format!("{}\n", text::clip(answer, limit.max(ENTRY_CHARS))))
}

/// What stands for the messages that are left out: the model's summary, and what the log says was done (a `calls_line`, or nothing).
pub(super) fn for_model(summary: &str, calls: &str) -> Message {
    note(&format!(
        "Checkpoint: the messages that stood here were left out to make room. You wrote this summary of them before:\n\n{summary}\n{calls}\
         What follows is word for word as it was; a message of the user among it is covered by the checkpoint as well. Go on from there, and \
         read a file again only when you need its exact text."
    ))
}

/// Characters of the user's message in a line about calls.
const MESSAGE_CHARS: usize = 60;

/// One line about the calls that were left out since a message of the user: the latest ones, in order, in at most `limit` bytes. The
/// stand-in looks for it.
pub(super) fn calls_line(message: &str, calls: &[String], limit: u64) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let message = text::clip(message.lines().next().unwrap_or_default(), MESSAGE_CHARS);
    let mut room = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut first = calls.len();
    while first > 0 && calls[first - 1].len() + 2 <= room {
        first -= 1;
        room -= calls[first].len() + 2;
    }
    let more = match first {
        0 => String::new(),
        more => format!("{more} more; "),
    };
    let shown = calls[first..].join("; ");
    format!("Calls made since the message \"{message}\": {more}{shown}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: Result<&str, &str>) {
        let found = read(answer, 6_000);
        assert_eq!(
            found.as_deref().map_err(String::as_str),
            expected,
            "{answer}"
        );
    }

    #[test]
    fn a_complete_object_is_taken_whatever_stands_around_it() {
        let shown = "Goal\n- mend it\nNext\n- run sh test.sh\n";
        check(
            r#"{"goal":["mend it"],"next":["run sh test.sh"]}"#,
            Ok(shown),
        );
        check(
            "Sure:\n```json\n{\"goal\": [\"mend\\nit\", \" \"], \"next\": \"run  sh test.sh\", \"files\": null, \"mood\": 3}\n```\nDone.",
            Ok(shown),
        );
        let all = r#"{"next":["f"],"verified":["e"],"files":["d"],"decisions":["c"],"constraints":["b"],"goal":["a","2","3","4","5"]}"#;
        check(
            all,
            Ok(
                "Goal\n- a\n- 2\n- 3\n- 4\nConstraints\n- b\nDecisions\n- c\nFiles\n- d\nVerified\n- e\nNext\n- f\n",
            ),
        );
    }

    #[test]
    fn the_model_is_told_what_was_wrong() {
        check("I cannot.", Err("it holds no JSON object"));
        check(
            r#"{"goal":["a"],"next":["b"#,
            Err("its JSON object is not complete"),
        );
        check(
            r#"{"goal":["a"]} {"next":["b"]}"#,
            Err("it holds more than one JSON object"),
        );
        check(
            r#"{"goal":["a"] "next"}"#,
            Err(
                "its JSON object cannot be read: expected a comma or `}` in an object at byte 14, found `\"`",
            ),
        );
        check(r#"{"goal":["a"]}"#, Err("`next` is missing or empty"));
        check(
            r#"{"goal":[" "],"next":["b"]}"#,
            Err("`goal` is missing or empty"),
        );
        check(
            r#"{"goal":["a"],"next":[{"do":"b"}]}"#,
            Err("next[0]: expected a string, found an object"),
        );
        check(
            r#"{"goal":1,"next":["b"]}"#,
            Err("goal: expected an array, found a number"),
        );
    }

    #[test]
    fn each_entry_has_its_share_of_the_room() {
        let long = "x".repeat(500);
        let answer = format!(r#"{{"goal":["{long}"],"next":["{long}","go on"]}}"#);
        let cut = "x".repeat(199);
        let expected = format!("Goal\n- {cut}…\nNext\n- {cut}…\n- go on\n");
        assert_eq!(read(&answer, 600), Ok(expected));
        // Not less than a line, however little room there is.
        let cut = "x".repeat(79);
        let expected = format!("Goal\n- {cut}…\nNext\n- {cut}…\n- go on\n");
        assert_eq!(read(&answer, 30), Ok(expected));
    }

    #[test]
    fn plain_words_are_cut_and_blanks_are_none() {
        assert_eq!(read_plain(" \n", 100), None);
        assert_eq!(
            read_plain("Mend line 3.\n", 100),
            Some("Mend line 3.\n".to_string())
        );
        let cut = format!("{}…\n", "x".repeat(99));
        assert_eq!(read_plain(&"x".repeat(101), 100), Some(cut));
    }

    #[test]
    fn the_latest_calls_are_named() {
        let calls: Vec<String> = ["read_file a", "read_file b", "run_command ls"]
            .map(String::from)
            .to_vec();
        let line = |limit| calls_line("read\nboth", &calls, limit);
        let begin = "Calls made since the message \"read\": ";
        let all = format!("{begin}read_file a; read_file b; run_command ls\n");
        assert_eq!(line(100), all);
        assert_eq!(
            line(29),
            format!("{begin}1 more; read_file b; run_command ls\n")
        );
        assert_eq!(line(28), format!("{begin}2 more; run_command ls\n"));
        assert_eq!(calls_line("read", &[], 100), "");
    }
}
