//! What all questions share, checked.

use super::happened::{Happened, Source, Unknown};
use super::warning::{Stated, warnings};
use super::{Answered, Found, Question, Warning};
use super::{bound, compare, curve, group, outcome, posterior, solve, statement, tradeoff};
use crate::Refusal;
use reticent_accounting::{Accountant, AccountingError, Method};

/// What happened, and how it is to be added up.
pub(super) struct Case {
    pub(super) source: Source,
    pub(super) method: Method,
}

impl Case {
    /// Checks what happened, but for what the question leaves open.
    pub(super) fn new(happened: &Happened, unknown: Unknown, method: Method) -> Result<Self, Refusal> {
        Ok(Self { source: Source::new(happened, unknown)?, method })
    }

    /// Answers a question that was checked.
    pub(super) fn answer(&self, question: &Question) -> Result<Answered, Refusal> {
        match question {
            Question::Epsilon { delta, width } => bound::epsilon(self, *delta, *width),
            Question::Delta { epsilon, width } => bound::delta(self, *epsilon, *width),
            Question::Noise(budget) => solve::noise(self, *budget),
            Question::Steps(budget) => solve::steps(self, *budget),
            Question::Rate(budget) => solve::rate(self, *budget),
            Question::Rdp { orders, delta } => curve::rdp(self, orders, *delta),
            Question::Tradeoff { fpr, drawn } => tradeoff::tradeoff(self, fpr, *drawn),
            Question::Group { size, delta } => group::group(self, *size, *delta),
            Question::Outcome { probability, delta } => outcome::outcome(self, *probability, *delta),
            Question::Posterior { prior, delta, drawn, .. } => {
                posterior::happened(self, prior, *delta, *drawn)
            }
            Question::Compare { delta, curves } => compare::compare(self, *delta, *curves),
            Question::Statement { delta, unit } => statement::statement(self, *delta, unit.as_deref()),
        }
    }

    /// The account of it all.
    pub(super) fn account(&self) -> Result<Accountant, Refusal> {
        self.source.account(self.method)
    }

    /// The account with brackets of the width asked for.
    pub(super) fn account_within(&self, width: Option<f64>) -> Result<Accountant, Refusal> {
        let account = self.account()?;
        let Some(width) = width else { return Ok(account) };
        if self.method != Method::Pld {
            let remedy = "leave it out: only the pld accountant has two ends to bring closer";
            return Err(Refusal::conflict("width", width, remedy));
        }
        account
            .with_width(width)
            .map_err(|_| Refusal::value("width", width, "give a number from 1e-9 to 0.5"))
    }

    /// The refusal of an account that could not be given.
    pub(super) fn refused(&self, error: AccountingError) -> Refusal {
        self.source.refused(error, self.method)
    }

    /// The answer, with what to mind about a claim.
    pub(super) fn answered(&self, found: Found, account: &Accountant, stated: Stated) -> Answered {
        let warnings = warnings(&self.source, stated);
        self.told(found, account, warnings)
    }

    /// The answer with these warnings.
    pub(super) fn told(&self, found: Found, account: &Accountant, warnings: Vec<Warning>) -> Answered {
        let happened = Some(self.source.summary(account));
        Answered { found, happened, asked: self.method, warnings }
    }
}
