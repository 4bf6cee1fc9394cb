//! The one test binary: a file per module of `src/`.
mod support;
mod sys;
mod tidy;
