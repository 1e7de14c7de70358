//! A command that the demo shows, and its request.

use crate::args::{Cli, Command};
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::quoted;
use crate::{account, audit, learn, network, release, report};
use clap::Parser;
use reticent::curator::account::AccountantComparison;
use reticent::curator::audit::Audit;
use reticent::curator::fit::Fit;
use reticent::curator::release::Release;
use reticent::curator::report::Report;
use reticent::curator::train::Train;

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

    /// The parsed command.
    fn command(&self) -> Result<Command, Fail> {
        let words = std::iter::once("reticent").chain(self.words.iter().map(String::as_str));
        let parsed = Cli::try_parse_from(words)
            .map_err(|refusal| Fail::new(Code::Internal, format!("{}: {}", self.shown(), refusal.kind())))?;
        Ok(parsed.command)
    }

    fn another(&self) -> Fail {
        Fail::new(Code::Internal, format!("{}: another command", self.shown()))
    }

    /// The request of a command that trains a linear model.
    pub(super) fn fit(&self) -> Result<Fit, Fail> {
        match self.command()? {
            Command::Train(arguments) => learn::fit_request(&arguments),
            _ => Err(self.another()),
        }
    }

    /// The request of a command that trains a network.
    pub(super) fn train(&self) -> Result<Train, Fail> {
        match self.command()? {
            Command::Train(arguments) => network::request(&arguments),
            _ => Err(self.another()),
        }
    }

    /// The request of a command that audits a model.
    pub(super) fn audit(&self) -> Result<Audit, Fail> {
        match self.command()? {
            Command::Audit(arguments) => audit::request::audit(&arguments),
            _ => Err(self.another()),
        }
    }

    /// The request of a command that reports.
    pub(super) fn report(&self) -> Result<Report, Fail> {
        match self.command()? {
            Command::Report(arguments) => Ok(report::request(&arguments)),
            _ => Err(self.another()),
        }
    }

    /// The request of a command that releases a statistic.
    pub(super) fn release(&self) -> Result<Release, Fail> {
        let request = match self.command()? {
            Command::Release { question } => release::request(*question),
            _ => None,
        };
        request.ok_or_else(|| self.another())
    }

    /// The comparison of accountants by a command, and its warnings.
    pub(super) fn compared(&self) -> Result<(AccountantComparison, String), Fail> {
        let found = match self.command()? {
            Command::Account { question } => account::compared(&question)?,
            _ => None,
        };
        found.ok_or_else(|| self.another())
    }

    /// The command as typed in a shell.
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
