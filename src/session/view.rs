//! What the model sees of a log: records in, messages with their sequence numbers out. Pure; the engine builds requests from it, and
//! whoever resumes a session gets the same.
//!
//! ```text
//! 0 System   1 Note   2 User   3 Assistant   4 Tool   5 User   6 Assistant   7 Tool   8 Checkpoint{kept 1 2 5}   9 Assistant
//!
//! 0 System   1 Note   2 User   8 the checkpoint's note   5 User   9 Assistant
//! ```
//!
//! Of several system messages the last one counts and stands first (the tool style changed). Of several checkpoints the last one
//! counts: it says what stays of all that was before it, earlier checkpoints included. A kept number that names no message is
//! passed over (a damaged log).
//!
//! Invariant: messages stand in the order of the log, but for the note. Invariant: what was appended after the last checkpoint is there,
//! whole.
use super::{Checkpoint, Record};
use crate::protocol::Message;

/// The conversation as the model must see it: sequence number and message. A checkpoint's note has the number of its record.
pub fn view(records: &[Record]) -> Vec<(u64, &Message)> {
    let last = records.iter().enumerate().rev();
    let mut checkpoints = last.filter_map(|(at, record)| match record {
        Record::Checkpoint(checkpoint) => Some((at, checkpoint)),
        _ => None,
    });
    match checkpoints.next() {
        Some((at, checkpoint)) => shortened(records, at, checkpoint),
        None => system(records).chain(spoken(records, 0)).collect(),
    }
}

/// The view with `checkpoint` as the record at `at`, whether it is there already or only considered.
pub fn shortened<'l>(
    records: &'l [Record],
    at: usize,
    checkpoint: &'l Checkpoint,
) -> Vec<(u64, &'l Message)> {
    let mut out: Vec<_> = system(records).collect();
    let mut note = Some((at as u64, &checkpoint.note));
    for &seq in &checkpoint.kept {
        let at = usize::try_from(seq).unwrap_or(usize::MAX);
        match records.get(at) {
            Some(Record::Message(Message::System { .. })) => {}
            Some(Record::Message(message)) => {
                out.push((seq, message));
                if matches!(message, Message::User { .. }) {
                    out.extend(note.take());
                }
            }
            Some(_) | None => {}
        }
    }
    out.extend(note);
    out.extend(spoken(records, at));
    out
}

/// The last system message, if there is one.
fn system(records: &[Record]) -> impl Iterator<Item = (u64, &Message)> {
    let found = records.iter().enumerate().rev();
    let mut found = found.filter_map(|(seq, record)| match record {
        Record::Message(message @ Message::System { .. }) => Some((seq as u64, message)),
        _ => None,
    });
    found.next().into_iter()
}

/// Messages from a record on, without system messages.
fn spoken(records: &[Record], from: usize) -> impl Iterator<Item = (u64, &Message)> {
    let later = records.iter().enumerate().skip(from);
    later.filter_map(|(seq, record)| match record.message()? {
        Message::System { .. } => None,
        message => Some((seq as u64, message)),
    })
}
