//! The quotes of a CSV file, followed byte by byte while it is read.
//!
//! The rule: a quote is a sign only where a field starts. Inside of a field that starts otherwise it is a character like any
//! other. A quoted field ends at its closing quote, which a comma, a line end or the end of the file must follow; a quote that
//! belongs to it is written twice. Anything else is refused with its line, and so is a quote that is never closed: it would
//! swallow the rows after it.

use std::io::{self, Read};

/// What is wrong with a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum QuoteError {
    /// The file ends inside of a quoted field.
    #[error("a quote is never closed")]
    Unclosed {
        /// The line of the quote, from 1.
        line: u64,
    },
    /// Text follows a closing quote.
    #[error("text follows a closing quote")]
    Stray {
        /// The line of the closing quote, from 1.
        line: u64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first byte of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// In a quoted field.
    Quoted,
    /// After a quote in a quoted field: its end, or the first of two.
    Closed,
}

/// Bytes that pass through, with their quotes checked.
pub(super) struct Quotes<R> {
    inner: R,
    state: State,
    line: u64,
    /// The line of the last quote that opened a field.
    opened: u64,
    /// Bytes of a byte-order mark that may still come.
    mark: &'static [u8],
}

impl<R: Read> Quotes<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, state: State::Start, line: 1, opened: 1, mark: b"\xef\xbb\xbf" }
    }

    fn follow(&mut self, mut bytes: &[u8]) -> Result<(), QuoteError> {
        while let [first, rest @ ..] = bytes
            && let [expected, later @ ..] = self.mark
        {
            if first != expected {
                self.mark = &[];
                break;
            }
            (bytes, self.mark) = (rest, later);
        }
        // Most stretches have no quote: their last byte says all.
        if self.state != State::Quoted
            && self.state != State::Closed
            && let Some(last) = bytes.last()
            && !bytes.contains(&b'"')
        {
            self.line += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            self.state = if matches!(last, b',' | b'\n' | b'\r') { State::Start } else { State::Plain };
            return Ok(());
        }
        for byte in bytes {
            self.state = match (self.state, byte) {
                (State::Start, b'"') => {
                    self.opened = self.line;
                    State::Quoted
                }
                (State::Quoted, b'"') => State::Closed,
                (State::Closed, b'"') | (State::Quoted, _) => State::Quoted,
                (_, b',' | b'\n' | b'\r') => State::Start,
                (State::Closed, _) => return Err(QuoteError::Stray { line: self.line }),
                (State::Start | State::Plain, _) => State::Plain,
            };
            self.line += u64::from(*byte == b'\n');
        }
        Ok(())
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let checked = if count == 0 && !buffer.is_empty() && self.state == State::Quoted {
            Err(QuoteError::Unclosed { line: self.opened })
        } else {
            self.follow(&buffer[..count])
        };
        checked.map(|()| count).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}
