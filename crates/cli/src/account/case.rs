//! What all questions share, checked.

use super::source::{Source, Unknown};
use crate::args::account as args;
use crate::fail::Fail;
use crate::read;
use reticent::accounting::{Accountant, AccountingError, Method};
use reticent::core::{Delta, Epsilon, Guarantee, Probability};

/// What happened, and how it is to be added up and told.
pub(super) struct Case {
    pub(super) source: Source,
    pub(super) method: Method,
    pub(super) json: bool,
}

impl Case {
    pub(super) fn read(ask: &args::Ask, unknown: Unknown) -> Result<Self, Fail> {
        let method = match ask.accountant.as_deref() {
            None => Method::Pld,
            Some(name) => name.parse().map_err(|_| {
                let remedy = "unknown: give pld, rdp, moments, optimal, advanced or basic";
                Fail::unknown("--accountant", name, remedy)
            })?,
        };
        Ok(Self { source: Source::read(&ask.source, unknown)?, method, json: ask.json })
    }

    /// A case for a question that only one accountant answers.
    pub(super) fn only(ask: &args::Ask, method: Method, why: &str) -> Result<Self, Fail> {
        match ask.accountant.as_deref() {
            Some(name) if name != method.name() => {
                Err(Fail::conflict("--accountant", name, format!("leave it out: {why}")))
            }
            _ => Ok(Self { source: Source::read(&ask.source, Unknown::Nothing)?, method, json: ask.json }),
        }
    }

    pub(super) fn account(&self) -> Result<Accountant, Fail> {
        self.source.account(self.method)
    }

    /// The account with brackets of the width asked for.
    pub(super) fn account_within(&self, width: Option<&str>) -> Result<Accountant, Fail> {
        let account = self.account()?;
        let Some(text) = width else { return Ok(account) };
        if self.method != Method::Pld {
            return Err(Fail::conflict(
                "--width",
                text,
                "leave it out: only the pld accountant has two ends to bring closer",
            ));
        }
        let width = read::number("--width", text)?;
        account.with_width(width).map_err(|_| Fail::flag("--width", text, "give a number from 1e-9 to 0.5"))
    }

    /// The line for an account that could not be given.
    pub(super) fn refused(&self, error: AccountingError) -> Fail {
        self.source.refused(error, self.method)
    }
}

/// The δ of a question that needs one.
pub(super) fn delta(text: Option<&str>) -> Result<Delta, Fail> {
    match text {
        Some(text) => read::delta(text),
        None => Err(Fail::missing("--delta", "give the delta of the claim, e.g. --delta 1e-6")),
    }
}

/// The ε of a question that needs one.
pub(super) fn epsilon(text: Option<&str>) -> Result<Epsilon, Fail> {
    let Some(text) = text else {
        return Err(Fail::missing("--epsilon", "give the privacy loss to hold, e.g. --epsilon 1"));
    };
    let value = read::number("--epsilon", text)?;
    Epsilon::new(value).map_err(|invalid| Fail::flag("--epsilon", text, invalid.remedy))
}

/// The budget of a calibration.
pub(super) fn budget(arguments: &args::Budget) -> Result<Guarantee, Fail> {
    let epsilon = epsilon(arguments.epsilon.as_deref())?;
    if epsilon.get() == 0.0 {
        let text = arguments.epsilon.as_deref().unwrap_or_default();
        return Err(Fail::flag("--epsilon", text, "give a number above 0: nothing useful costs nothing"));
    }
    Ok(Guarantee { epsilon, delta: delta(arguments.delta.as_deref())? })
}

/// A probability from 0 to 1.
pub(super) fn probability(flag: &str, text: &str) -> Result<Probability, Fail> {
    let value = read::number(flag, text)?;
    Probability::new(value).map_err(|invalid| Fail::flag(flag, text, invalid.remedy))
}
