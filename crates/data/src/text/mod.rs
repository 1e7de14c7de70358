//! Text in: tokens, a public vocabulary, and a table's texts as positions in it.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | tokens, the [`Vocabulary`], texts of one length |
//! | `sequence` | whole texts, for language models |
//! | `vectors` | word vectors from a file |
//!
//! A word is a run of letters and digits in lower case, with apostrophes inside it, or a single other character that is
//! not blank. A vocabulary of words is a file with one token per line, or [the built-in one](Vocabulary::english); that of characters is
//! built in: printable ASCII and the
//! line break. Position 0 is for padding, and for the place before and after a text; 1 is for every token that the vocabulary does
//! not have; the first token is 2.
//!
//! # Guarantee
//! A vocabulary is public, as a schema is: it must come from elsewhere (another corpus, a dictionary). Which words the
//! private texts hold is private, so nothing here builds a vocabulary from them. A text's positions depend on the
//! vocabulary and on that text alone.

use std::collections::BTreeMap;
use std::path::Path;

use crate::encode::{Users, label_of, literal_names};
use crate::error::{DataError, shown, shown_path};
use crate::schema::{Label, PrivacyUnit, Schema};
use crate::table::Table;
use serde::{Deserialize, Serialize};

mod sequence;
mod vectors;

pub use sequence::Sequences;
pub use vectors::{Coverage, Vectors};

/// The position that fills up a short text.
pub const PADDING: u32 = 0;
/// The position of every token that the vocabulary does not have.
pub const UNKNOWN: u32 = 1;
/// The position of the first token.
const FIRST: u32 = 2;

/// Common English words, most frequent first; `words/README.md`, beside this crate's manifest, states their origin (public domain).
const ENGLISH: &str = include_str!("../../words/english.txt");

/// The most digits of the shape of a number.
const MOST_DIGITS: usize = 12;

/// The most bytes that a vocabulary file may have.
const MOST_BYTES: u64 = 64 << 20;

/// The tokens of a text, in order.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_inside = |next: Option<&char>| next.is_some_and(|next| next.is_alphanumeric());
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        } else if matches!(letter, '\'' | '’') && !word.is_empty() && is_inside(letters.peek()) {
            word.push('\'');
        } else {
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            if !letter.is_whitespace() && !letter.is_control() {
                tokens.push(letter.to_string());
            }
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

/// What a token of a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenKind {
    /// Words and punctuation marks, in lower case.
    #[default]
    Words,
    /// Single characters, as they are.
    Characters,
}

/// Tokens with their positions; public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    kind: TokenKind,
    tokens: Vec<String>,
    positions: BTreeMap<String, u32>,
}

impl Vocabulary {
    /// Reads a vocabulary file: one token per line, in lower case.
    ///
    /// # Errors
    /// If the file cannot be read, is empty, or has a blank line or a token twice.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let file = shown_path(path);
        let text = crate::source::text(path, "vocabulary", MOST_BYTES)?;
        Self::parse(&text).map_err(|reason| DataError::Vocabulary { file, reason })
    }

    /// A vocabulary from its text.
    fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut positions = BTreeMap::new();
        for (line, token) in text.lines().enumerate() {
            let token = token.trim();
            if token.is_empty() {
                return Err(format!("line {} is blank: write one token per line", line + 1));
            }
            let position =
                u32::try_from(line).map_err(|_| "it has too many tokens".to_owned())?.saturating_add(FIRST);
            if positions.insert(token.to_owned(), position).is_some() {
                return Err(format!(
                    "line {} repeats \"{}\": write every token once",
                    line + 1,
                    shown(token)
                ));
            }
            tokens.push(token.to_owned());
        }
        if tokens.is_empty() {
            return Err("it has no tokens: write one per line".to_owned());
        }
        Ok(Self { kind: TokenKind::Words, tokens, positions })
    }

    /// The built-in vocabulary of 10,000 common English words and marks. It is the same for all data.
    ///
    /// # Errors
    /// None that a user can cause: the words are compiled in.
    pub fn english() -> Result<Self, DataError> {
        Self::parse(ENGLISH)
            .map_err(|reason| DataError::Vocabulary { file: "built-in words".to_owned(), reason })
    }

    /// A vocabulary of these words, each of which is taken once.
    ///
    /// # Errors
    /// If there are none.
    pub fn of_words(words: &[String], file: &str) -> Result<Self, DataError> {
        let mut text = String::new();
        let mut seen = std::collections::BTreeSet::new();
        for word in words.iter().filter(|word| !word.trim().is_empty() && !word.contains(['\n', '\r'])) {
            if seen.insert(word.trim()) {
                text.extend([word.trim(), "\n"]);
            }
        }
        Self::parse(&text).map_err(|reason| DataError::Vocabulary { file: file.to_owned(), reason })
    }

    /// The tokens, that of position 2 first.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The built-in vocabulary of characters: printable ASCII and the line break. It is the same for all data.
    pub fn characters() -> Self {
        let tokens: Vec<String> = (' '..='~').chain(['\n']).map(String::from).collect();
        let positions = tokens.iter().cloned().zip(FIRST..).collect();
        Self { kind: TokenKind::Characters, tokens, positions }
    }

    /// What its tokens are.
    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The file's text, which reads back as the same vocabulary; none for the built-in one.
    pub fn to_text(&self) -> Option<String> {
        let lines = || self.tokens.iter().map(|token| format!("{token}\n")).collect();
        (self.kind == TokenKind::Words).then(lines)
    }

    /// How many positions there are, those of padding and of unknown tokens included.
    pub fn size(&self) -> usize {
        self.tokens.len() + FIRST as usize
    }

    /// The position of a token. A number that the vocabulary does not have is read as its shape, all digits of which are 0, if it has
    /// that: 2026 as `0000`.
    pub fn position(&self, token: &str) -> u32 {
        let shape = || {
            let is_number = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| "0".repeat(token.len().min(MOST_DIGITS)))
        };
        let found = self.positions.get(token).or_else(|| self.positions.get(&shape()?));
        found.copied().unwrap_or(UNKNOWN)
    }

    /// The first `length` tokens of a text as positions, padded at the front where there are fewer, so that the last
    /// place always holds a token if there is any.
    pub fn encode(&self, text: &str, length: usize, into: &mut Vec<u32>) {
        let found = self.positions_of(text);
        let kept = &found[..found.len().min(length)];
        into.extend(std::iter::repeat_n(PADDING, length - kept.len()));
        into.extend_from_slice(kept);
    }

    /// All tokens of a text as positions. Carriage returns are not characters.
    pub fn positions_of(&self, text: &str) -> Vec<u32> {
        match self.kind {
            TokenKind::Words => tokens(text).iter().map(|token| self.position(token)).collect(),
            TokenKind::Characters => {
                let mut bytes = [0; 4];
                let letters = text.chars().filter(|letter| *letter != '\r');
                letters.map(|letter| self.position(letter.encode_utf8(&mut bytes))).collect()
            }
        }
    }

    /// The text of positions: characters one after the other, words with spaces between them. Padding is nothing; an unknown token is
    /// U+FFFD.
    pub fn text_of(&self, positions: &[u32]) -> String {
        let token = |position: &u32| match position.checked_sub(FIRST) {
            Some(place) => self.tokens.get(place as usize).map(String::as_str),
            None => (*position == UNKNOWN).then_some("\u{fffd}"),
        };
        let found: Vec<&str> = positions.iter().filter_map(token).collect();
        found.join(match self.kind {
            TokenKind::Words => " ",
            TokenKind::Characters => "",
        })
    }
}

/// Which texts of a table are read, and how.
#[derive(Clone, Copy, Debug)]
pub struct TextPlan<'a> {
    /// The column with the texts.
    pub column: &'a str,
    /// The label and the unit; columns that it declares are not read.
    pub schema: &'a Schema,
    /// The positions of tokens.
    pub vocabulary: &'a Vocabulary,
    /// Tokens per text.
    pub length: usize,
}

/// Texts as positions in a vocabulary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    /// Text by text, so many as the plan's length each.
    pub positions: Vec<u32>,
    /// One per text, as in a [`FeatureMatrix`](crate::FeatureMatrix); none where they were not asked for.
    pub labels: Vec<f64>,
    /// The number of every text's user, if the unit is a column and labels were asked for.
    pub users: Option<Vec<u32>>,
}

impl TextPlan<'_> {
    /// Reads a whole table, with labels and users or without. A null is a text without tokens.
    ///
    /// # Errors
    /// If the table has no such column, or cannot be read.
    pub fn read(
        &self,
        table: &dyn Table,
        labelled: bool,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<Texts, DataError> {
        let label: Option<&Label> = self.schema.label().filter(|_| labelled);
        let unit = match self.schema.unit() {
            PrivacyUnit::Column(column) if labelled => Some(column.as_str()),
            _ => None,
        };
        let mut columns = vec![self.column];
        columns.extend(label.map(|label| label.column.as_str()));
        columns.extend(unit);
        let mut texts = Texts { users: unit.map(|_| Vec::new()), ..Texts::default() };
        let mut users = Users::default();
        let literal = literal_names(table, self.schema);
        let table = literal.as_deref().unwrap_or(table);
        table.scan::<DataError>(&columns, on_progress, &mut |_, cells| {
            let text = cells[0].label().unwrap_or_default();
            self.vocabulary.encode(&text, self.length, &mut texts.positions);
            if let (Some(label), Some(cell)) = (label, cells.get(1)) {
                texts.labels.push(label_of(&label.target, cell));
            }
            if let (Some(numbers), Some(cell)) = (&mut texts.users, cells.last()) {
                numbers.push(users.number(cell)?);
            }
            Ok(())
        })?;
        Ok(texts)
    }
}

#[cfg(test)]
mod tests;
