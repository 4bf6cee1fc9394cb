//! What several test files share.

pub(crate) mod cuts;
pub(crate) mod run;
pub(crate) mod temp;
pub(crate) mod wire;

/// Whether the half of a test that another one starts stands where that one put it: on a small disk, under a limit. `cargo test -- --ignored`
/// starts it here, where it would fill the disk of whoever works on the project, or make it read-only.
pub(crate) fn is_apart() -> bool {
    let here = std::env::current_dir().expect("a folder");
    !here.starts_with(env!("CARGO_MANIFEST_DIR"))
}
