//! The `harn` program.

fn main() -> std::process::ExitCode {
    harn_cli::main()
}
