//! The words of filters and derivations.
//!
//! What a word is depends on where it stands: `Self emp not inc` is one value after `=`, and `hours per week` is one name. So the
//! parser asks for what it expects next, and the cursor reads that or leaves the position as it is.

use crate::error::shown;

/// Characters that end a word of a name.
const SIGNS: &str = "=!<>()+*/,-'\"`";

/// A position in a text.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The text from a position up to the cursor, without blanks around it.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text[start..self.at].trim()
    }

    /// What follows.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The next character, if there is one.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads these characters if they are next.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    /// Whether this word is next, in any case, and ends there.
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        let rest = self.rest();
        let is_next = rest.get(..keyword.len()).is_some_and(|word| word.eq_ignore_ascii_case(keyword));
        is_next && !rest[keyword.len()..].starts_with(continues_word)
    }

    /// Reads this word if it is next.
    pub(super) fn keyword(&mut self, keyword: &str) -> bool {
        let is_next = self.is_keyword(keyword);
        if is_next {
            self.at += keyword.len();
        }
        is_next
    }

    /// Reads these words, with blanks between, if all of them are next.
    pub(super) fn keywords(&mut self, keywords: &[&str]) -> bool {
        let mut ahead = self.clone();
        let all = keywords.iter().all(|keyword| {
            ahead.skip_blanks();
            ahead.keyword(keyword)
        });
        if all {
            *self = ahead;
        }
        all
    }

    /// Whether a predicate on columns begins here: `in (`, `between`, `is missing`, and these after `not`.
    pub(super) fn is_postfix(&self) -> bool {
        let mut ahead = self.clone();
        let is_negated = ahead.keyword("not");
        ahead.skip_blanks();
        if ahead.keyword("in") {
            ahead.skip_blanks();
            return ahead.peek() == Some('(');
        }
        ahead.is_keyword("between") || (!is_negated && ahead.missing().is_some())
    }

    /// Reads `is missing` (true) or `is not missing` (false); `null` means the same as `missing`.
    pub(super) fn missing(&mut self) -> Option<bool> {
        let forms: [(&[&str], bool); 4] = [
            (&["is", "missing"], true),
            (&["is", "null"], true),
            (&["is", "not", "missing"], false),
            (&["is", "not", "null"], false),
        ];
        forms.into_iter().find(|(words, _)| self.keywords(words)).map(|(_, is_missing)| is_missing)
    }

    /// Reads text in quotes or backquotes, if it is next; a doubled quote stands for one.
    pub(super) fn quoted(&mut self, quotes: &[char]) -> Result<Option<String>, String> {
        let Some(quote) = self.peek().filter(|next| quotes.contains(next)) else { return Ok(None) };
        let mut inside = String::new();
        let mut rest = &self.rest()[1..];
        loop {
            let Some((part, after)) = rest.split_once(quote) else {
                return Err(format!("the quote {quote} is not closed"));
            };
            inside.push_str(part);
            if !after.starts_with(quote) {
                self.at = self.text.len() - after.len();
                return Ok(Some(inside));
            }
            inside.push(quote);
            rest = &after[1..];
        }
    }

    /// Reads a name without quotes: words with blanks between them, up to a sign or a word of the grammar. A hyphen inside a word is
    /// part of it.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let (start, mut end) = (self.at, self.at);
        let mut ahead = self.clone();
        loop {
            ahead.skip_blanks();
            let is_first = end == start;
            let ends = ahead.is_keyword("and")
                || ahead.is_keyword("or")
                || (is_first && ahead.peek().is_some_and(|next| next.is_ascii_digit()))
                || (!is_first && ahead.is_postfix());
            let length = if ends { 0 } else { word_length(ahead.rest()) };
            if length == 0 {
                break;
            }
            ahead.at += length;
            end = ahead.at;
        }
        self.at = end;
        (end > start).then(|| self.text[start..end].trim())
    }

    /// Reads a number or a date without quotes, if one is next.
    pub(super) fn literal(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let length = date_length(rest).or_else(|| number_length(rest))?;
        if rest[length..].starts_with(continues_word) {
            return None;
        }
        self.at += length;
        Some(&rest[..length])
    }

    /// The value without quotes that is next: all up to `and` or `or` as a word of its own. In a list it ends at a comma, and inside
    /// parentheses at the one that closes them. The position stays.
    pub(super) fn value(&self, is_list: bool, is_inside: bool) -> &'a str {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let (mut open, mut is_first) = (0usize, true);
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' if is_inside || is_list => return rest[..at].trim(),
                b',' if is_list && open == 0 => return rest[..at].trim(),
                _ => {}
            }
            let opens = at == 0 || bytes[at - 1].is_ascii_whitespace();
            if opens && !is_list && (is_word(bytes, at, b"and") || (!is_first && is_word(bytes, at, b"or"))) {
                return rest[..at].trim();
            }
            is_first &= byte.is_ascii_whitespace();
        }
        rest.trim()
    }

    /// Moves on by a part of [`Cursor::rest`].
    pub(super) fn advance(&mut self, part: &str) {
        self.skip_blanks();
        self.at += part.len();
    }

    /// What follows up to the next `and` or `or`, for a message.
    pub(super) fn stray(&self) -> String {
        shown(self.value(false, false))
    }
}

/// Whether the bytes have this word at a place, up to a blank or the end.
fn is_word(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    let end = at + word.len();
    bytes.get(at..end).is_some_and(|own| own.eq_ignore_ascii_case(word))
        && bytes.get(end).is_none_or(u8::is_ascii_whitespace)
}

/// Whether a character after a word belongs to it.
fn continues_word(next: char) -> bool {
    !next.is_whitespace() && !SIGNS.contains(next)
}

/// The bytes of the word that the text starts with.
fn word_length(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let mut length = 0;
    while let Some((at, next)) = characters.next() {
        let is_hyphen =
            next == '-' && at > 0 && characters.peek().is_some_and(|(_, after)| continues_word(*after));
        if !continues_word(next) && !is_hyphen {
            break;
        }
        length = at + next.len_utf8();
    }
    length
}

/// How many bytes at the start are digits.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The bytes of the number that the text starts with.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let whole = digits(bytes);
    let mut length = whole;
    let mut fraction = 0;
    if bytes.get(length) == Some(&b'.') {
        fraction = digits(&bytes[length + 1..]);
        length += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(length + 1 + sign..).map_or(0, digits);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    Some(length)
}

/// The length of text whose characters have these forms: `0` for a digit, others for themselves.
fn shape(bytes: &[u8], form: &[u8]) -> Option<usize> {
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    (bytes.len() >= form.len() && bytes.iter().zip(form).all(fits)).then_some(form.len())
}

/// The bytes of the date, with or without a time of day, that the text starts with.
fn date_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let date = shape(bytes, b"0000-00-00")?;
    let clock =
        [&b"T00:00"[..], b"t00:00", b" 00:00"].into_iter().find_map(|form| shape(&bytes[date..], form));
    let Some(clock) = clock else { return Some(date) };
    let mut length = date + clock;
    if let Some(seconds) = shape(&bytes[length..], b":00") {
        length += seconds;
        if shape(&bytes[length..], b".0").is_some() {
            length += 1 + digits(&bytes[length + 1..]);
        }
    }
    let zones = [&b"Z"[..], b"z", b"+00:00", b"-00:00"];
    Some(length + zones.into_iter().find_map(|form| shape(&bytes[length..], form)).unwrap_or(0))
}
