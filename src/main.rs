//! The command-line tool: `wavelane --help` says what it does.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
