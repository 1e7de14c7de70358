//! One man page.

use super::after_help;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;

/// The page's file name and its text.
pub(super) fn page(command: &Command) -> io::Result<(String, String)> {
    let man =
        Man::new(command.clone()).source(concat!("reticent ", env!("CARGO_PKG_VERSION"))).manual("Reticent");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = after_help(command) {
        notes(&text).to_writer(&mut page)?;
    }
    let text = String::from_utf8(page).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok((man.get_filename(), text))
}

/// The help below the flags: paragraphs are filled, indented lines stay as they are.
fn notes(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["NOTES"]);
    let mut verbatim = false;
    for line in text.lines() {
        let indented = line.starts_with(' ');
        if indented != verbatim && !line.is_empty() {
            roff.control(if indented { "nf" } else { "fi" }, []);
            verbatim = indented;
        }
        match line.is_empty() {
            true => roff.control("PP", []),
            false => roff.text([roman(line)]),
        };
    }
    if verbatim {
        roff.control("fi", []);
    }
    roff
}
