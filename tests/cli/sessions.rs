//! `zcoder sessions` and what belongs to it, as a person types it.

mod audit;
mod change;
mod crash;
mod interrupted;
pub(crate) mod kit;
mod read;
mod resumed;
mod retry;
mod waiting;
mod wire;
