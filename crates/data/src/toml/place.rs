//! A place in a text, and how it is shown.

use std::fmt::Write as _;
use std::ops::Range;

/// How much of a line is shown.
const SHOWN: usize = 100;
/// How much of it before the place, where it has to be cut.
const BEFORE: usize = 40;

/// A part of a line in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The line, from 1.
    pub line: usize,
    /// The line as it can be shown: without control characters, and not too long.
    shown: String,
    /// How many characters stand before the part.
    before: usize,
    /// How many characters the part has; at least 1.
    width: usize,
}

impl Span {
    /// The place of some bytes of a text; of those on the first line where there are several.
    pub fn of(text: &str, span: Range<usize>) -> Self {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[from..to].trim_end_matches('\r');
        let before = text[from..start].chars().count().min(line.chars().count());
        let end = span.end.min(to).max(start);
        let width = (start..end).filter(|at| text.is_char_boundary(*at)).count();
        let cut = if before > BEFORE && line.chars().count() > SHOWN { before - BEFORE } else { 0 };
        let mut shown: String = line.chars().skip(cut).take(SHOWN).map(harmless).collect();
        if line.chars().nth(cut + SHOWN).is_some() {
            shown.push('…');
        }
        if cut > 0 {
            shown.insert(0, '…');
        }
        let before = before - cut + usize::from(cut > 0);
        let room = shown.chars().count().saturating_sub(before);
        let number = 1 + text[..start].matches('\n').count();
        Self { line: number, shown, before, width: width.min(room).max(1) }
    }

    /// The line with its number and the part underlined.
    pub fn excerpt(&self) -> String {
        let Self { line, shown, before, width } = self;
        let number = line.to_string();
        let gutter = number.len();
        let mut out = format!("{:gutter$} |\n{number} | {shown}", "");
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{:gutter$} | {:before$}{}", "", "", "^".repeat(*width));
        out
    }

    /// What follows the file's name in a message.
    pub(crate) fn after_file(&self) -> String {
        format!(":{}", self.line)
    }
}

/// A character that does nothing to a terminal but stand there.
fn harmless(character: char) -> char {
    let turns = matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    );
    if character.is_control() || turns { ' ' } else { character }
}
