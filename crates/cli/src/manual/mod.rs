//! The command about itself: completions, man pages and the reference, all made from [`Cli`].

mod markdown;
mod page;
#[cfg(test)]
mod tests;
mod wrap;

use crate::Output;
use crate::args::Cli;
use crate::args::manual::{Completions, Man};
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::json_line;
use clap::{Command, CommandFactory};
use reticent::files::write_atomic;
use serde_json::json;
use std::fs;
use std::path::Path;

/// The script that completes commands and flags.
pub(crate) fn completions(arguments: &Completions) -> Result<Output, Fail> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "reticent", &mut script);
    let stdout = String::from_utf8(script).map_err(|error| Fail::new(Code::Internal, error.to_string()))?;
    Ok(Output { stdout, ..Output::default() })
}

/// One man page per command, or all of them as Markdown.
pub(crate) fn man(arguments: &Man) -> Result<Output, Fail> {
    let Some(folder) = arguments.dir.as_deref() else {
        return Ok(Output { stdout: markdown::reference(&tree()), ..Output::default() });
    };
    let written = pages(folder)?;
    let stdout = match arguments.json {
        true => json_line(&json!({ "files": written }))?,
        false => written.iter().map(|path| format!("{path}\n")).collect(),
    };
    Ok(Output { stdout, ..Output::default() })
}

fn pages(folder: &Path) -> Result<Vec<String>, Fail> {
    let refuse = |problem: std::io::Error| {
        Fail::flag("DIR", &folder.display().to_string(), format!("cannot be made: {problem}"))
    };
    fs::create_dir_all(folder).map_err(refuse)?;
    let mut written = Vec::new();
    for command in every(&tree()) {
        let (name, page) = page::page(command).map_err(refuse)?;
        let path = folder.join(name);
        write_atomic(&path, page.as_bytes()).map_err(Fail::data("DIR"))?;
        written.push(path.display().to_string());
    }
    Ok(written)
}

/// The commands, with the full names of those below others.
fn tree() -> Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// The command and all below it, each before its own.
fn every(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    std::iter::once(command).chain(below.flat_map(every)).collect()
}

/// What stands below the flags.
fn after_help(command: &Command) -> Option<String> {
    command.get_after_long_help().or_else(|| command.get_after_help()).map(ToString::to_string)
}
