//! argv → settings → one command → exit code; nothing else. Read `lib.rs` first: it is the map.

fn main() -> std::process::ExitCode {
    zcoder::commands::main()
}
