//! The `reticent` command: raw arguments ([`args`]) become a checked plan, the plan a call of the
//! library, and its answer a few lines of text or one line of JSON.
//!
//! Every mistake of the user is one line on standard error and exit status 2; standard output stays
//! empty and no file is written.

mod account;
mod args;
mod attack;
mod audit;
mod bar;
mod cost;
mod demo;
mod fail;
mod file;
mod interrupt;
mod learn;
mod network;
mod read;
mod release;
mod report;
mod scan;
mod schema;
mod text;

use args::{Cli, Command};
use clap::Parser;
use fail::Fail;
use reticent::report::digits;
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::panic::{catch_unwind, set_hook};
use std::process::ExitCode;

/// Exit status after a mistake of the user.
const MISTAKE: u8 = 2;
/// Exit status after Ctrl-C.
const INTERRUPTED: u8 = 130;
/// Exit status after a defect of this program (`EX_SOFTWARE`).
const DEFECT: u8 = 70;

/// What a run prints and how it ends.
#[derive(Debug, Default)]
struct Finished {
    status: u8,
    stdout: String,
    stderr: String,
}

/// What a successful command prints.
#[derive(Debug, Default)]
struct Output {
    stdout: String,
    /// Warnings, for standard error.
    warnings: String,
    /// Exit status: 0 but for a training that was interrupted.
    status: u8,
}

/// Runs the command line `words` (the program's name first).
fn run_from(words: &[OsString], progress: bool) -> Finished {
    let parsed = match Cli::try_parse_from(words) {
        Ok(parsed) => parsed,
        Err(refusal) => return fail::usage(&refusal, words),
    };
    match answer(parsed.command, progress) {
        Ok(output) => Finished { status: output.status, stdout: output.stdout, stderr: output.warnings },
        Err(failure) => mistake(&failure),
    }
}

/// Does what one command asks for.
fn answer(command: Command, progress: bool) -> Result<Output, Fail> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments, progress),
        Command::Release { question } => release::run(question, progress),
        Command::Account { question } => account::run(&question),
        Command::Train(arguments) => learn::train(&arguments, progress),
        Command::Predict(arguments) => learn::predict(&arguments, progress),
        Command::Evaluate(arguments) => learn::evaluate(&arguments, progress),
        Command::Schema { question } => schema::run(&question, progress),
        Command::Audit(arguments) => audit::audit(&arguments, progress),
        Command::Attack { question } => attack::run(&question, progress),
        Command::Report(arguments) => report::report(&arguments),
    }
}

fn mistake(failure: &Fail) -> Finished {
    Finished { status: MISTAKE, stdout: String::new(), stderr: format!("error: {failure}\n") }
}

fn main() -> ExitCode {
    // Panics inside the Parquet reader are caught there and become errors: nothing to print.
    set_hook(Box::new(|_| {}));
    let words: Vec<OsString> = std::env::args_os().collect();
    let finished = catch_unwind(|| run_from(&words, std::io::stderr().is_terminal())).unwrap_or_else(|_| {
        let text = "internal error: please report it, with the command you ran";
        Finished { status: DEFECT, ..mistake(&Fail::new(text)) }
    });
    // If standard error is gone there is nowhere left to say so.
    let _ = std::io::stderr().write_all(finished.stderr.as_bytes());
    let mut stdout = std::io::stdout();
    match stdout.write_all(finished.stdout.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::from(finished.status),
        // Whoever was reading has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(finished.status),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: cannot write to standard output: {error}");
            ExitCode::from(MISTAKE)
        }
    }
}
