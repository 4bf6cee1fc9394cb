//! The one test binary: a file per module of `src/`.
mod engine;
mod http;
mod json;
mod lines;
mod model;
mod policy;
mod protocol;
mod session;
mod sha256;
mod support;
mod sys;
mod text;
mod tidy;
mod tools;
