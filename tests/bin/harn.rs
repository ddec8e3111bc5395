//! The `harn` program, built with this package so that its tests can start it as a process of its own.

fn main() -> std::process::ExitCode {
    harn_cli::main()
}
