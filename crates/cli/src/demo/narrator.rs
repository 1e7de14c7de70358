//! The story on standard output, told while the work goes on.

use super::Halt;
use crate::fail::{Fail, plain};
use std::io::{ErrorKind, Write};

/// Letters in a line.
const WIDTH: usize = 88;

/// Tells the story, or keeps silent.
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
            // Whoever was reading has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Halt::Unread),
            Err(error) => Err(Fail::new(format!("cannot write to standard output: {error}")).into()),
        }
    }

    /// The title of a part.
    pub(super) fn title(&self, text: &str) -> Result<(), Halt> {
        let text = plain(text);
        self.write(&format!("\n{text}\n{}\n", "-".repeat(text.chars().count())))
    }

    /// A paragraph.
    pub(super) fn say(&self, text: &str) -> Result<(), Halt> {
        self.write(&wrapped(text, "", ""))
    }

    /// Rows of a table, its columns aligned.
    pub(super) fn table(&self, rows: &[Vec<String>]) -> Result<(), Halt> {
        self.write(&format!("\n{}\n", aligned(rows)))
    }

    /// A command for the reader.
    pub(super) fn command(&self, command: &str) -> Result<(), Halt> {
        self.write(&wrapped(command, "  ", " \\"))
    }
}

/// Words in lines of at most [`WIDTH`] letters; lines after the first are indented by four more, and all but the last
/// end in `more`.
fn wrapped(text: &str, indent: &str, more: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), indent.to_owned());
    let mut is_empty = true;
    for word in plain(text).split(' ').filter(|word| !word.is_empty()) {
        let room = line.chars().count() + 1 + word.chars().count() + more.len();
        if !is_empty && room > WIDTH {
            let deeper = if more.is_empty() { indent.to_owned() } else { format!("{indent}    ") };
            lines.push(std::mem::replace(&mut line, deeper));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines.join(&format!("{more}\n")) + "\n"
}

/// Cells in columns; the last one is not padded.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{:width$}", plain(cell))).collect();
        format!("  {}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_commands_can_be_copied() {
        let text = "word ".repeat(60);
        let lines = wrapped(&text, "", "");
        assert!(lines.lines().all(|line| line.chars().count() <= WIDTH) && lines.lines().count() > 2);
        assert_eq!(lines.split_whitespace().count(), 60);
        let command = wrapped(&text, "  ", " \\");
        let (last, before) =
            command.lines().collect::<Vec<_>>().split_last().map(|(l, b)| (*l, b.to_vec())).unwrap();
        assert!(before.iter().all(|line| line.ends_with(" \\") && line.chars().count() <= WIDTH));
        assert!(!last.ends_with('\\'));
        // What a shell makes of it is the command itself.
        let joined = command.replace("\\\n", " ");
        assert_eq!(
            joined.split_whitespace().collect::<Vec<_>>(),
            text.split_whitespace().collect::<Vec<_>>()
        );
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "c".to_owned()]];
        assert_eq!(aligned(&rows), "  a     b\n  long  c\n");
    }
}
