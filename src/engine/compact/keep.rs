//! Which messages stay word for word in a compaction: the present view with the size of each message in, sequence numbers out. Pure.
//!
//! ```text
//! system   date   "fix it"   k   [c t] [c t]   "and the docs"   [c t t] [c t]   [c t]
//!          stays  stays                        stays                     stays  stays
//!                 the first                    the latest                recent  not answered yet
//! ```
//!
//! Notes that hold for the whole session, the first request and the latest message of the user stay whatever they cost. The last calls
//! with their results stay when no reply has followed them, within a quarter of the window. Then further messages stay from the end
//! backwards as long as there is room for recent ones, and then further ones of the user. An earlier checkpoint never stays: the
//! new one replaces it.
//!
//! Invariant: calls and their results stay together or go together.
use crate::engine::budget;
use crate::protocol::{Message, Note};
use std::ops::Range;

/// A message of the view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'l> {
    pub(super) seq: u64,
    pub(super) message: &'l Message,
    pub(super) tokens: u64,
}

/// Sequence numbers of what stays, ascending. `entries`: without the system message.
pub(super) fn keep(entries: &[Entry<'_>], window: u64) -> Vec<u64> {
    let groups = groups(entries);
    let mut stays = vec![false; groups.len()];
    let is_user =
        |group: &Range<usize>| matches!(entries[group.start].message, Message::User { .. });
    let tokens =
        |group: &Range<usize>| -> u64 { entries[group.clone()].iter().map(|e| e.tokens).sum() };
    let mut users = (0..groups.len()).filter(|&at| is_user(&groups[at]));
    for at in [users.next(), users.next_back()].into_iter().flatten() {
        stays[at] = true;
    }
    let mut goes = vec![false; groups.len()];
    for (at, group) in groups.iter().enumerate() {
        match entries[group.start].message {
            Message::Note { note, .. } => match note {
                Note::Environment => stays[at] = true,
                // The goal is told again behind the checkpoint.
                Note::Checkpoint | Note::Goal => goes[at] = true,
                // Guidance of a folder is told again before the next edit there, and Skills can be activated again.
                Note::Guidance => {}
                Note::Recovery | Note::Loop | Note::Cancelled | Note::Stepped | Note::Shell => {}
            },
            Message::System { .. }
            | Message::User { .. }
            | Message::Assistant { .. }
            | Message::Tool { .. } => {}
        }
    }
    let mut room = budget::recent(window);
    for (at, group) in groups.iter().enumerate().rev() {
        if stays[at] || goes[at] {
            continue;
        }
        let cost = tokens(group);
        let is_open = at + 1 == groups.len() && group.len() > 1;
        let most = if is_open {
            room.max(budget::last_round(window))
        } else {
            room
        };
        if cost > most {
            break;
        }
        stays[at] = true;
        room = room.saturating_sub(cost);
    }
    let mut room = budget::user(window);
    for at in (0..groups.len()).rev().filter(|&at| is_user(&groups[at])) {
        let cost = tokens(&groups[at]);
        if stays[at] {
            continue;
        }
        if cost > room {
            break;
        }
        stays[at] = true;
        room -= cost;
    }
    let kept = groups.into_iter().zip(stays).filter(|(_, stays)| *stays);
    kept.flat_map(|(group, _)| entries[group].iter().map(|entry| entry.seq))
        .collect()
}

/// What must not be parted: a message with calls and their results; any other message is alone.
fn groups(entries: &[Entry<'_>]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match (entry.message, out.last_mut()) {
            (Message::Tool { .. }, Some(last)) => last.end = at + 1,
            _ => out.push(at..at + 1),
        }
    }
    out
}

#[cfg(test)]
mod tests;
