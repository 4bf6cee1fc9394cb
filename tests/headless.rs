//! Tests of `headless`: the real binary against a real stand-in, its two outputs, its questions, its ends.

mod asking;
mod context;
mod ending;
mod goal;
mod input;
mod output;
mod scenes;
mod shapes;
mod task;

use crate::support::run::{Ran, run, zcoder};
use std::path::Path;
use std::process::Command;
use zcoder::standin::StandIn;

/// `zcoder -p TASK` against the stand-in.
fn task(folder: &Path, server: &StandIn, args: &[&str]) -> Command {
    let mut command = zcoder(folder, args);
    command.env("OLLAMA_HOST", server.address().to_string());
    command
}

fn run_task(folder: &Path, server: &StandIn, args: &[&str]) -> Ran {
    run(&mut task(folder, server, args))
}
