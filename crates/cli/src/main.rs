//! The `reticent` command: flags ([`args`]) become a request, the library runs it, and its outcome becomes a few lines of text
//! or one line of JSON.
//!
//! Every error of the user is one line with a code ([`explain`]) on standard error and exit status 2; standard
//! output stays empty and no file is written.

mod account;
mod args;
mod attack;
mod audit;
mod bar;
mod budget;
mod cost;
mod defect;
mod demo;
mod explain;
mod fail;
mod file;
mod interrupt;
mod learn;
mod manual;
mod network;
mod read;
mod release;
mod report;
mod schema;
mod screen;
mod stdout;
mod text;
mod tune;
mod typed;

use args::{Cli, Command};
use clap::Parser;
use explain::Code;
use fail::Fail;
use reticent::report::digits;
use serde_json::json;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Exit status after an error of the user.
const MISTAKE: u8 = 2;
/// Exit status after Ctrl-C.
const INTERRUPTED: u8 = 130;
/// Exit status if the reader of standard output has closed it, as of a process that SIGPIPE ends.
const BROKEN_PIPE: u8 = 141;
/// Exit status after a defect of this program (`EX_SOFTWARE`).
const DEFECT: u8 = 70;

/// The output and exit status of a run.
#[derive(Debug, Default)]
struct Finished {
    status: u8,
    stdout: String,
    stderr: String,
}

/// The output of a successful command.
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
        Err(failure) => mistake(&failure.shown_as_typed(words), words),
    }
}

/// Runs one command.
fn answer(command: Command, progress: bool) -> Result<Output, Fail> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments, progress),
        Command::Release { question } => release::run(*question, progress),
        Command::Budget { question } => budget::run(&question),
        Command::Account { question } => account::run(&question, progress),
        Command::Train(arguments) => learn::train(&arguments, progress),
        Command::Tune(arguments) => tune::tune(&arguments, progress),
        Command::Predict(arguments) => learn::predict(&arguments, progress),
        Command::Evaluate(arguments) => learn::evaluate(&arguments, progress),
        Command::Sample(arguments) => learn::sample(&arguments, progress),
        Command::Schema { question } => schema::run(&question, progress),
        Command::Audit(arguments) => audit::audit(&arguments, progress),
        Command::Attack { question } => attack::run(&question, progress),
        Command::Report(arguments) => report::report(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::man(&arguments),
    }
}

/// The output of a command that was refused.
fn mistake(failure: &Fail, words: &[OsString]) -> Finished {
    Finished { status: MISTAKE, stdout: String::new(), stderr: refusal(failure, words, None) }
}

/// The text of a refusal: one line, the excerpt of a TOML file, and the place of a defect; one line of JSON with `--json`.
fn refusal(failure: &Fail, words: &[OsString], place: Option<&str>) -> String {
    let code = failure.code();
    if words.iter().any(|word| word == "--json") {
        let (message, explain) = (failure.to_string(), format!("reticent explain {code}"));
        let mut error = json!({"code": code.to_string(), "message": message, "explain": explain});
        if let Some(place) = place {
            error["place"] = place.into();
        }
        format!("{}\n", json!({ "error": error }))
    } else {
        let excerpt = failure.excerpt().map_or_else(String::new, |excerpt| excerpt + "\n");
        let place = place.map_or_else(String::new, |place| format!("place: {place}\n"));
        format!("error[{code}]: {failure}\n{excerpt}{place}")
    }
}

fn main() -> ExitCode {
    defect::record();
    let words: Vec<OsString> = std::env::args_os().collect();
    screen::look(&words);
    let finished = defect::caught(&words, || run_from(&words, screen::wants_progress(&words)));
    // If standard error is closed, nothing more can be reported.
    let _ = std::io::stderr().write_all(screen::present_errors(&finished.stderr).as_bytes());
    let mut stdout = std::io::stdout();
    let written = match stdout::was_closed() && !finished.stdout.is_empty() {
        true => Err(std::io::Error::other("it is closed")),
        false => stdout.write_all(finished.stdout.as_bytes()).and_then(|()| stdout.flush()),
    };
    match written {
        Ok(()) => ExitCode::from(finished.status),
        Err(error) => {
            // The privacy cost was charged all the same: the user must learn that the answer was lost.
            let failure = Fail::new(Code::Output, format!("cannot write to standard output: {error}"));
            let _ = std::io::stderr()
                .write_all(screen::present_errors(&mistake(&failure, &words).stderr).as_bytes());
            let is_pipe = error.kind() == ErrorKind::BrokenPipe;
            ExitCode::from(if is_pipe { BROKEN_PIPE } else { MISTAKE })
        }
    }
}
