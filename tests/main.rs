//! The one test binary: a file per module of `src/`.
mod json;
mod sha256;
mod support;
mod sys;
mod text;
mod tidy;
