//! The only place that reads argv and the environment. Everything else is given what was read here, so that a reader can
//! see in one file what the outside world may say, and a test can say it without changing its own process.
//!
//! Read next: `typed.rs`, the only caller for flags; `paths.rs`, the only caller for folders.

use std::ffi::OsString;

/// Looks up one variable; tests pass a table.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// argv without the program's name, as it came: not necessarily UTF-8.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// One variable of the process.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The folder the program was started in; `None` when it has vanished or cannot be read.
pub fn current_folder() -> Option<std::path::PathBuf> {
    std::env::current_dir().ok()
}
