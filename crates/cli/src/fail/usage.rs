//! Command lines that clap refuses.

use super::Fail;
use crate::args::Cli;
use crate::explain::Code;
use crate::{Finished, MISTAKE, mistake, screen};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// What clap has to say: help and the version as they are, a refusal as one line.
pub(crate) fn usage(refusal: &clap::Error, words: &[OsString]) -> Finished {
    let rendered = refusal.render();
    let coloured = |wanted: bool| {
        let text = if wanted { rendered.ansi().to_string() } else { rendered.to_string() };
        text.trim_end().to_owned() + "\n"
    };
    let text = rendered.to_string();
    match refusal.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return Finished { stdout: coloured(screen::has_colours()), ..Finished::default() };
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let stderr = coloured(screen::errors_have_colours());
            return Finished { status: MISTAKE, stderr, ..Finished::default() };
        }
        _ => {}
    }
    let names = |kind| match refusal.get(kind) {
        Some(ContextValue::String(one)) => one.clone(),
        Some(ContextValue::Strings(several)) => several.join(", "),
        _ => String::new(),
    };
    let problem = match refusal.kind() {
        ErrorKind::MissingRequiredArgument => format!("missing {}", names(ContextKind::InvalidArg)),
        _ => text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    };
    let hint = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .map(names)
        .into_iter()
        .find(|name| !name.is_empty())
        .map(|name| format!(" (did you mean {name}?)"))
        .unwrap_or_default();
    let code = match refusal.kind() {
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => Code::UnknownWord,
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => Code::Missing,
        ErrorKind::ArgumentConflict => Code::Conflict,
        // A flag without its value is one with an empty value to clap.
        ErrorKind::InvalidValue if names(ContextKind::InvalidValue).is_empty() => Code::Words,
        ErrorKind::InvalidValue => Code::UnknownName,
        ErrorKind::ValueValidation => Code::Range,
        _ => Code::Words,
    };
    let text = format!("{problem}{hint}: see '{} --help'", command_of(words));
    mistake(&Fail::new(code, text), words)
}

/// The command that `words` begin with, as far as its names are known.
fn command_of(words: &[OsString]) -> String {
    let mut command = Cli::command();
    let mut path = "reticent".to_owned();
    for word in words.iter().skip(1) {
        let Some(next) = word.to_str().and_then(|name| command.find_subcommand(name)) else { break };
        path = format!("{path} {}", next.get_name());
        command = next.clone();
    }
    path
}
