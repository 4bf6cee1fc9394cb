//! argv and environment → `Typed` → settings. Called by `commands`, which hands each part of the program its own small struct.
//!
//! ```text
//! argv, variables ──env.rs──▶ bytes ──typed.rs (table: flags.rs)──▶ Typed ──settings.rs──▶ model::Options, tools::Limits, …
//! config.json, up to three ──file.rs──layers.rs──────────────────────▶┘
//!                                         └────────────────────── help.rs: --help, zcoder help TOPIC, the README's table
//! ```
//!
//! Refused: whatever is unknown, incomplete or contradictory, by a `UsageError` that names it; exit code 2.
//!
//! Invariant: the environment and argv are read in `env.rs` and nowhere else (a tidy test).
//! Invariant: no layer below knows this folder; a part gets values, never a way to look something up.
//! Invariant: settings files are read by the commands that need them, each once; `--version` and `--help` look at nothing but argv.
//!
//! Read in this order: `flags.rs`, `typed.rs`, `file.rs`, `layers.rs`, `settings.rs`, `paths.rs`, `git.rs`, `permissions.rs`,
//! `help.rs`.

mod env;
mod error;
pub mod file;
pub mod flags;
pub mod git;
pub mod help;
pub mod layers;
mod near;
pub mod paths;
pub mod permissions;
pub mod settings;
mod typed;

pub use env::{Env, arguments, current_folder, variable};
pub use error::{Layer, Origin, Source, UsageError};
pub use flags::{Command, Id};
pub use near::nearest;
pub use paths::Paths;
pub use settings::{DemoSettings, Settings, StandInSettings};
pub use typed::{Given, Typed, utf8};
