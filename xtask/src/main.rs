//! The gate: every check a change must pass, run as `cargo xtask check`.
//!
//! Each check is a [`step::Step`]: a name, one line about it, and a function that returns either
//! one line of detail or a [`shell::Failure`]. `cargo xtask list` prints them all.

mod blocks;
mod book;
mod build;
mod features;
mod floor;
mod kills;
mod layers;
mod ledger;
mod licences;
mod metadata;
mod modules;
mod names;
mod orphans;
mod package;
mod pages;
mod peers;
mod privacy;
mod python;
mod rooms;
mod shell;
mod shown;
mod sizes;
mod snippets;
mod sources;
mod spdx;
mod step;
mod wheel;

use std::process::ExitCode;

use shell::{Failure, Result, Shell};

const HELP: &str = "\
Usage: cargo xtask <command>

  check            run every step in order, stop at the first failure
  check LANE...    run the steps of these lanes only: quick, rust, book, peers
  check --quick    the same as `check quick`
  list             print the lanes and their steps
  floor --raise    write the present number of tests to xtask/test-floor.txt
  kills [COUNT]    kill every verb that writes files at its system calls, 300 times in all (needs strace)
  pages PAGE...    run the commands of these pages only
  pages --write [PAGE...]
                   run them and put what they print, and the pictures they make, into the pages
  <step>           run a single step

Run `cargo xtask list` for the names of the steps.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command line; `Ok(false)` means that a step failed and has already said why.
fn dispatch(words: &[&str]) -> Result<bool> {
    match words {
        ["--help" | "-h" | "help"] => println!("{HELP}"),
        ["list"] => print!("{}", step::listing()),
        ["check", "--quick"] => return Ok(step::run(&Shell::locate()?, &step::of_lanes(&["quick"])?)),
        ["check", lanes @ ..] => return Ok(step::run(&Shell::locate()?, &step::of_lanes(lanes)?)),
        ["pages", "--write", names @ ..] => println!("{}", pages::write(&Shell::locate()?, names)?),
        ["pages", names @ ..] if !names.is_empty() => println!("{}", pages::run(&Shell::locate()?, names)?),
        ["floor", "--raise"] => println!("{}", floor::raise(&Shell::locate()?)?),
        ["kills"] => println!("{}", kills::run(&Shell::locate()?, None)?),
        ["kills", count] => println!("{}", kills::run(&Shell::locate()?, Some(count))?),
        [name] => match step::named(name) {
            Some(step) => return Ok(step::run(&Shell::locate()?, &[step])),
            None => return Err(Failure::new(format!("unknown command `{name}`\n\n{HELP}"))),
        },
        _ => return Err(Failure::new(HELP)),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_refused_and_help_is_not() {
        assert!(dispatch(&["frobnicate"]).is_err());
        assert!(dispatch(&[]).is_err());
        assert!(dispatch(&["check", "--fast"]).is_err());
        assert!(dispatch(&["--help"]).is_ok_and(|passed| passed));
        assert!(dispatch(&["list"]).is_ok_and(|passed| passed));
    }
}
