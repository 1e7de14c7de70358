//! What requests about a budget return.

use reticent_core::{Event, Guarantee, Neighboring};
use reticent_ledger::{BudgetExport, BudgetProblem, BudgetScope, Moment};
use serde::Serialize;
use std::path::PathBuf;

/// How a budget stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetSummary {
    /// Its file.
    pub file: PathBuf,
    /// The population.
    pub name: String,
    /// Its identity, which a copy shares.
    pub id: String,
    /// The limit.
    #[serde(flatten)]
    pub limit: Guarantee,
    /// Who is protected, in words.
    pub unit: String,
    /// The neighboring relation.
    pub neighboring: Neighboring,
    /// The data, as the budget names them.
    pub data: Vec<String>,
    /// Whether it can be charged.
    pub state: BudgetState,
    /// The last moment at which it can be charged.
    pub valid_until: Option<Moment>,
    /// What was spent at most; none where only the limit itself is known to hold.
    pub spent: Option<Guarantee>,
    /// The largest ε of one more pure question, rounded down.
    pub left: f64,
    /// The number of charges.
    pub charges: u64,
    /// Charges without an answer, which count as spent.
    pub unanswered: u64,
    /// Answers that are remembered.
    pub answers: u64,
    /// The parts of analysts and purposes.
    pub parts: Vec<BudgetPart>,
}

/// Whether a budget can be charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetState {
    /// It can.
    Open,
    /// It was closed.
    Closed,
    /// Its time is over.
    Expired,
}

impl BudgetState {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Expired => "expired",
        }
    }
}

/// A part that was set aside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetPart {
    /// The analyst, if it is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyst: Option<String>,
    /// The purpose, if it is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Its limit.
    #[serde(flatten)]
    pub limit: Guarantee,
    /// The last moment at which it can be charged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Moment>,
    /// The largest ε of one more pure question within it, rounded down.
    pub left: f64,
    /// The number of its charges.
    pub charges: u64,
}

impl BudgetPart {
    pub(super) fn names(scope: &BudgetScope) -> (Option<String>, Option<String>) {
        match scope {
            BudgetScope::Total => (None, None),
            BudgetScope::Analyst(name) => (Some(name.clone()), None),
            BudgetScope::Purpose(name) => (None, Some(name.clone())),
        }
    }
}

/// The charges of a budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChargeHistory {
    /// Its file.
    pub file: PathBuf,
    /// The charges that were asked for, in sequence.
    pub charges: Vec<PastCharge>,
    /// Other entries of the record, in sequence.
    pub changes: Vec<BudgetChange>,
    /// The number of all charges.
    pub total: u64,
}

/// One charge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PastCharge {
    /// Its number in the record.
    pub entry: u64,
    /// When.
    pub time: Moment,
    /// Who asked.
    pub analyst: Option<String>,
    /// What for.
    pub purpose: Option<String>,
    /// What was asked, in words.
    pub about: String,
    /// What it cost by itself, its events added up; none where an event has no (ε, δ) of its own.
    pub cost: Option<Guarantee>,
    /// Whether an answer is on record. Without one, it counts as spent all the same.
    pub answered: bool,
    /// Whether the answer is remembered.
    pub remembered: bool,
    /// The events.
    pub events: Vec<Event>,
}

impl PastCharge {
    /// Whether a charge was answered, in words.
    pub fn words(answered: bool, remembered: bool) -> &'static str {
        match (answered, remembered) {
            (true, true) => "answered, remembered",
            (true, false) => "done",
            (false, _) => "no answer on record: counts as spent",
        }
    }
}

/// Something other than a charge that is on record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetChange {
    /// Its number in the record.
    pub entry: u64,
    /// When.
    pub time: Moment,
    /// What, in words.
    pub what: String,
}

/// A budget that was changed, as it stands now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetChanged {
    /// What was put on record, in words.
    pub changes: Vec<String>,
    /// How it stands.
    #[serde(flatten)]
    pub summary: BudgetSummary,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerifiedBudget {
    /// The file of the budget.
    pub file: PathBuf,
    /// The number of entries that were recomputed.
    pub entries: u64,
    /// The digest of everything on record: another copy with the same digest has the same record.
    pub digest: String,
    /// What is wrong; nothing where all is in order.
    pub problems: Vec<BudgetProblem>,
}

/// The record of a budget as one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExportedBudget {
    /// The file that was written, if one was asked for.
    #[serde(skip)]
    pub out: Option<PathBuf>,
    /// The name of the layout.
    pub schema: &'static str,
    /// The record.
    #[serde(flatten)]
    pub export: BudgetExport,
}

/// A page that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenSpending {
    /// The file of the budget.
    pub file: PathBuf,
    /// The page.
    pub out: PathBuf,
    /// The number of charges that it shows.
    pub charges: u64,
}
