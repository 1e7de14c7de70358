//! What all questions share, checked.

use super::happened::{Activity, Source, Unknown};
use super::warning::{Stated, warnings};
use super::{AccountAnswer, AccountQuestion, AccountResult, Warning};
use super::{bound, compare, curve, group, outcome, posterior, reconstruction, solve, statement, tradeoff};
use crate::Refusal;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod};

/// What happened, and how it is to be added up.
pub(super) struct Case {
    pub(super) source: Source,
    pub(super) method: CompositionMethod,
}

impl Case {
    /// Checks what happened, but for what the question leaves open.
    pub(super) fn new(
        happened: &Activity,
        unknown: Unknown,
        method: CompositionMethod,
    ) -> Result<Self, Refusal> {
        Ok(Self { source: Source::new(happened, unknown)?, method })
    }

    /// Answers a question that was checked.
    pub(super) fn answer(&self, question: &AccountQuestion) -> Result<AccountAnswer, Refusal> {
        match question {
            AccountQuestion::Epsilon { delta, width } => bound::epsilon(self, *delta, *width),
            AccountQuestion::Delta { epsilon, width } => bound::delta(self, *epsilon, *width),
            AccountQuestion::Noise(budget) => solve::noise(self, *budget),
            AccountQuestion::Steps(budget) => solve::steps(self, *budget),
            AccountQuestion::Rate(budget) => solve::rate(self, *budget),
            AccountQuestion::Rdp { orders, delta } => curve::rdp(self, orders, *delta),
            AccountQuestion::Tradeoff { fpr, drawn } => tradeoff::tradeoff(self, fpr, *drawn),
            AccountQuestion::Reconstruction { prior, drawn } => {
                reconstruction::reconstruction(self, prior, *drawn)
            }
            AccountQuestion::Group { size, delta } => group::group(self, *size, *delta),
            AccountQuestion::Outcome { probability, delta } => outcome::outcome(self, *probability, *delta),
            AccountQuestion::Posterior { prior, delta, orders, drawn, .. } => {
                posterior::happened(self, prior, *delta, orders, *drawn)
            }
            AccountQuestion::Compare { delta, curves } => compare::compare(self, *delta, *curves),
            AccountQuestion::Statement { delta, unit } => statement::statement(self, *delta, unit.as_deref()),
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
        if self.method != CompositionMethod::Pld {
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
    pub(super) fn answered(
        &self,
        found: AccountResult,
        account: &Accountant,
        stated: Stated,
    ) -> AccountAnswer {
        let warnings = warnings(&self.source, stated);
        self.told(found, account, warnings)
    }

    /// The answer with these warnings.
    pub(super) fn told(
        &self,
        found: AccountResult,
        account: &Accountant,
        warnings: Vec<Warning>,
    ) -> AccountAnswer {
        let happened = Some(self.source.summary(account));
        AccountAnswer { found, happened, asked: self.method, warnings }
    }
}
