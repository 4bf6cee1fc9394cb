//! [`Approved<T>`], the only ticket that the tools accept for commands and edits, and [`Asking<T>`], the question it can
//! come from. A policy makes either; `Toolbox::start` and `Toolbox::apply` consume the ticket.
//!
//! ```text
//! Command ─ Policy::command ─┬─ Allowed(Approved<Command>) ─────────────────┬─ Toolbox::start
//!                            └─ Ask(Asking<Command>) ─ accept (a yes) ──────┘
//! ```
//!
//! The wrong order does not compile. A ticket cannot be made by hand, its fields are private:
//!
//! ```compile_fail,E0451
//! use zcoder::policy::Approved;
//! use zcoder::protocol::DecidedBy;
//! let forged = Approved { value: "rm -rf /", by: DecidedBy::Person };
//! ```
//!
//! and its constructor belongs to this folder:
//!
//! ```compile_fail,E0624
//! use zcoder::policy::Approved;
//! use zcoder::protocol::DecidedBy;
//! let forged = Approved::new("rm -rf /", DecidedBy::Person);
//! ```
//!
//! Invariant: neither type is `Clone`: one yes is one run.

use crate::protocol::{DecidedBy, Question};

use super::decide::Offer;

/// A `T` that was allowed. Comes only from a rule's allow or from consuming the question that held the shown text.
#[derive(Debug)]
pub struct Approved<T> {
    value: T,
    by: DecidedBy,
}

impl<T> Approved<T> {
    /// Only this folder makes one.
    pub(super) fn new(value: T, by: DecidedBy) -> Approved<T> {
        Approved { value, by }
    }

    /// What was allowed.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Who allowed it.
    pub fn by(&self) -> &DecidedBy {
        &self.by
    }

    /// Takes it out, to do it.
    pub fn into_value(self) -> T {
        self.value
    }
}

/// A question under way: holds the thing and exactly what is shown of it.
#[derive(Debug)]
pub struct Asking<T> {
    value: T,
    question: Question,
    offer: Offer,
}

impl<T> Asking<T> {
    /// `offer` is what a yes may hold for beyond this once.
    pub(super) fn new(value: T, question: Question, offer: Offer) -> Asking<T> {
        Asking {
            value,
            question,
            offer,
        }
    }

    /// What is asked about.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// What to show.
    pub fn question(&self) -> &Question {
        &self.question
    }

    pub(super) fn offered(&self) -> &Offer {
        &self.offer
    }

    /// A person said yes to the shown text.
    pub fn accept(self) -> Approved<T> {
        Approved::new(self.value, DecidedBy::Person)
    }

    /// A no: the thing back, unapproved.
    pub fn refuse(self) -> T {
        self.value
    }
}
