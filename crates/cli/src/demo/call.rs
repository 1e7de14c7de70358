//! A command that the demo both performs and shows.

use super::Halt;
use crate::args::Cli;
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::quoted;
use crate::{INTERRUPTED, interrupt};
use clap::Parser;
use serde_json::Value;

/// The words of a command after `reticent`.
#[derive(Debug, Clone)]
pub(super) struct Call {
    words: Vec<String>,
}

impl Call {
    /// The words of a line without quotes.
    pub(super) fn new(line: &str) -> Self {
        Self { words: line.split_whitespace().map(str::to_owned).collect() }
    }

    /// One more word, whatever is in it.
    pub(super) fn word(mut self, word: &str) -> Self {
        self.words.push(word.to_owned());
        self
    }

    /// The words of another line.
    pub(super) fn words(mut self, line: &str) -> Self {
        self.words.extend(line.split_whitespace().map(str::to_owned));
        self
    }

    /// A flag with its value.
    pub(super) fn flag(self, flag: &str, value: &str) -> Self {
        self.word(flag).word(value)
    }

    /// Does what the command says; its warnings are added to `notes`, and what it prints is returned.
    pub(super) fn perform(&self, progress: bool, notes: &mut Vec<String>) -> Result<String, Halt> {
        let words = std::iter::once("reticent").chain(self.words.iter().map(String::as_str));
        let parsed = Cli::try_parse_from(words)
            .map_err(|refusal| Fail::new(Code::Internal, format!("{}: {}", self.shown(), refusal.kind())))?;
        let output = crate::answer(parsed.command, progress)?;
        if output.status == INTERRUPTED || interrupt::is_asked() {
            return Err(Halt::Interrupted);
        }
        for line in output.warnings.lines() {
            let note = line.trim_start_matches("warning: ").to_owned();
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Ok(output.stdout)
    }

    /// The answer of the command with `--json`.
    pub(super) fn json(&self, notes: &mut Vec<String>) -> Result<Value, Halt> {
        let text = self.clone().word("--json").perform(false, notes)?;
        serde_json::from_str(&text)
            .map_err(|error| Fail::new(Code::Internal, format!("{}: {error}", self.shown())).into())
    }

    /// The command as a shell takes it.
    pub(super) fn shown(&self) -> String {
        let words = self.words.iter().map(|word| quoted(word));
        std::iter::once("reticent".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let call = Call::new("train a.csv").flag("--out", "my demo/it's").flag("--lr", "0.5");
        assert_eq!(call.shown(), r"reticent train a.csv --out 'my demo/it'\''s' --lr 0.5");
        assert_eq!(quoted(""), "''");
    }
}
