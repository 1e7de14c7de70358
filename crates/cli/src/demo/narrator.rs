//! The text of the tour on standard output.

use super::Halt;
use crate::explain::Code;
use crate::fail::{Fail, plain};
use crate::screen;
use crate::text::columns;
use std::io::{ErrorKind, Write};

/// Characters in a line, at most.
const WIDTH: usize = 80;

/// Prints the text of the tour, or nothing.
pub(super) struct Narrator {
    silent: bool,
}

impl Narrator {
    pub(super) fn new(silent: bool) -> Self {
        Self { silent }
    }

    /// Text as it is, written at once.
    fn write(&self, text: &str) -> Result<(), Halt> {
        if self.silent {
            return Ok(());
        }
        let mut stdout = std::io::stdout();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            // The reader has closed it.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Halt::Unread),
            Err(error) => {
                Err(Fail::new(Code::Output, format!("cannot write to standard output: {error}")).into())
            }
        }
    }

    /// The title of a part.
    pub(super) fn title(&self, text: &str) -> Result<(), Halt> {
        let text = plain(text);
        self.write(&format!("\n{}\n{}\n", screen::title(&text), "-".repeat(text.chars().count())))
    }

    /// A paragraph.
    pub(super) fn say(&self, text: &str) -> Result<(), Halt> {
        let text = plain(text);
        self.write(&wrapped(text.split(' '), "", "", ""))
    }

    /// Rows of a table, its columns aligned.
    pub(super) fn table(&self, rows: &[Vec<String>]) -> Result<(), Halt> {
        let lines: String = columns(rows).iter().map(|line| format!("  {line}\n")).collect();
        self.write(&screen::present(&format!("\n{lines}\n")))
    }

    /// A command for the reader, who may copy it.
    pub(super) fn command(&self, command: &str) -> Result<(), Halt> {
        let command = plain(command);
        let pieces = pieces(&command);
        self.write(&wrapped(pieces.iter().map(String::as_str), "  ", "      ", " \\"))
    }
}

/// Pieces of text in lines of at most [`WIDTH`] characters where they fit. The first line begins with `first`, the others with `rest`,
/// and all but the last end in `more`.
fn wrapped<'a>(pieces: impl Iterator<Item = &'a str>, first: &str, rest: &str, more: &str) -> String {
    let (mut lines, mut line, mut is_begun) = (Vec::new(), first.to_owned(), false);
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        if is_begun && line.chars().count() + 1 + piece.chars().count() + more.len() > screen::columns(WIDTH)
        {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
        } else if is_begun {
            line.push(' ');
        }
        line.push_str(piece);
        is_begun = true;
    }
    lines.push(line);
    lines.join(&format!("{more}\n")) + "\n"
}

/// The words of a command as a shell tells them apart, each flag together with its value.
fn pieces(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted, mut is_literal) = (Vec::new(), String::new(), false, false);
    for c in command.chars() {
        match c {
            ' ' if !is_quoted && !is_literal => words.push(std::mem::take(&mut word)),
            _ => {
                is_quoted ^= c == '\'' && !is_literal;
                is_literal = c == '\\' && !is_quoted && !is_literal;
                word.push(c);
            }
        }
    }
    words.push(word);
    let mut pieces: Vec<String> = Vec::new();
    for word in words {
        match pieces.last_mut() {
            Some(flag) if flag.starts_with("--") && !flag.contains(' ') && !word.starts_with("--") => {
                flag.push(' ');
                flag.push_str(&word);
            }
            _ => pieces.push(word),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short() {
        let text = "word ".repeat(60);
        let lines = wrapped(text.split(' '), "", "", "");
        assert!(lines.lines().all(|line| line.chars().count() <= WIDTH) && lines.lines().count() > 2);
        assert_eq!(lines.split_whitespace().count(), 60);
    }

    #[test]
    fn commands_can_be_copied() {
        let command = r"reticent train 'my demo/it'\''s here.csv' --non-private --epsilon 1 --out x";
        let found = pieces(command);
        assert_eq!(
            found,
            ["reticent", "train", r"'my demo/it'\''s here.csv'", "--non-private", "--epsilon 1", "--out x"]
        );
        let long: Vec<String> = found.iter().cycle().take(5 * found.len()).cloned().collect();
        let text = wrapped(long.iter().map(String::as_str), "  ", "      ", " \\");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(lines[..lines.len() - 1].iter().all(|line| line.ends_with(" \\")), "{text}");
        // What a shell makes of it is the command itself.
        let joined: Vec<&str> = lines.iter().map(|line| line.trim().trim_end_matches(" \\")).collect();
        assert_eq!(joined.join(" "), long.join(" "));
    }
}
