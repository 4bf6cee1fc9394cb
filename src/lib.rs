//! zcoder: a coding agent in the terminal for local models, on the Rust standard library alone.
//!
//! A person gives a task; a language model that runs on a machine of theirs (Ollama) reads and edits files of one folder and runs
//! approved commands until the task is done. This crate is the whole of it: no other crate, no helper program, no TLS, nothing
//! fetched at run time. It is written to be read; this page is the map.
//!
//! # The journey of a turn
//!
//! ```text
//!     zcoder -p 'the test fails; mend it'
//!         │ argv, variables, files       config/flags.rs, typed.rs, layers.rs, settings.rs
//!         ▼ commands/run.rs              settings → engine::Setup
//!  1  Op::Prompt { text }                protocol/op.rs        headless/mod.rs submits it
//!         ▼ engine/prompt.rs             one system message, the task, what is attached
//!  2  {"model":"…","stream":true,…       model/ollama/         the request, append-only: a prefix of the next one
//!         ▼ http/client.rs               one connection a request
//!  3  1f4\r\n{"model":"…","message"…     http/head.rs, body.rs chunks → body bytes
//!         ▼ lines/ndjson.rs              body bytes → records, one a line
//!  4  {"message":{"content":"I r"},…     json/token.rs         validated whole, without a tree
//!         ▼ model/assemble.rs            thinking, content and calls apart
//!  5  Reply { content, calls, … }        only when complete; a partial stream is shown and never acted on
//!         ▼ engine/turn.rs, decide.rs    finish, correct, or run the calls in order
//!  6  ToolCall → Checked                 tools/args.rs         name and arguments against the table
//!         ▼ policy/shell, judge, decide  allowed, asked or denied: `Approved<T>` or nothing
//!     ToolOutcome                        tools/*.rs            the tool itself
//!         ▼ session/mod.rs               recorded before the engine acts on it
//!  7  Event::CallEnded { … }             protocol/event.rs     headless/progress.rs, json.rs: what you see
//!         └──▶ back to 2, until the model answers; then Event::TurnEnded { receipt }
//! ```
//!
//! `zcoder demo --step` walks through it with real bytes; `zcoder help stages` tells how to watch each stage alone.
//!
//! # Modules in reading order
//!
//! | row | module | what it is |
//! | --- | --- | --- |
//! | 1 | [`sys`] | the operating system: signals, processes, terminal, files; the only `unsafe` |
//! | 2 | [`text`], [`sha256`], [`sort`] | UTF-8 over cut points, foreign text made harmless; hashes; order |
//! | 3 | [`json`], [`http`], [`lines`], [`diff`] | bytes ↔ values; each decoder is a small state enum that can be read alone |
//! | 3 | [`regex`] | patterns in text, in linear time |
//! | 3 | [`ignore`] | ignore rules as git reads them, and the walk over a tree that honors them |
//! | 4 | [`protocol`] | the vocabulary: `Op` in, `Event` out, messages, calls, outcomes; no behavior |
//! | 5 | [`policy`] | who may do what; `Approved<T>`, the proof that a yes was given |
//! | 6 | [`model`], [`tools`], [`session`], [`undo`], [`guidance`] | the server; the workspace; the log; taking back; what files tell the model. They do not know each other |
//! | 7 | [`engine`] | the agent: one thread, one inbox, one owner of the conversation |
//! | 8 | [`headless`], [`standin`] | the one-shot front end; a stand-in for the server |
//! | 9 | [`config`] | argv, environment and settings files → small structs, one for each part |
//! | 10 | [`commands`] | one function a command; `main` calls them |
//!
//! A file uses lower rows and its own folder, never its neighbors in a row; `tests/tidy.rs` holds us to it. So a module can be read
//! with only the rows above it in mind, and what a module cannot do follows from where it stands: `model` cannot touch a
//! file, `tools` cannot reach the network, nothing but [`config`] can see the environment.
//!
//! # Conventions
//!
//! Each module starts with what comes in and goes out, the format as real bytes, what is refused and where the limits are, its
//! invariants, and where to read next. Tests mirror the tree: `tests/json.rs` is about `src/json/`. They use real sockets, files,
//! processes and terminals; only the other end of a wire is ever made up.

pub mod commands;
pub mod config;
pub mod diff;
pub mod engine;
pub mod guidance;
pub mod headless;
pub mod http;
pub mod ignore;
pub mod json;
pub mod lines;
pub mod model;
pub mod policy;
pub mod protocol;
pub mod regex;
pub mod session;
pub mod sha256;
pub mod sort;
pub mod standin;
pub mod sys;
pub mod text;
pub mod tools;
pub mod undo;
