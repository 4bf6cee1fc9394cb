//! argv → settings → one command → exit code; nothing else.
fn main() {}
