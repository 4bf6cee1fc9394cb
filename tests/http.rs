//! Tests of `src/http/`.
mod body;
mod exchange;
mod faults;
mod head;
mod server;
mod url;
mod via;
