//! The one test binary: a file per module of `src/`.
mod tidy;
