//! How records came to be members, and whom a bound is about: the premises of a lower bound, as types.

use reticent_core::Neighboring;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How members of the target's training data were drawn, as declared: a table of scores cannot show it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Draw {
    /// Not declared. No bound on ε follows.
    #[default]
    Undeclared,
    /// Every record was included by its own coin flip with this probability; where users have several records, every user.
    Coins(f64),
    /// A number of members was fixed in advance, and every set of so many records was equally likely.
    Fixed,
    /// Of each pair of records exactly one was included, by its own fair coin flip.
    Pairs,
    /// Every row is a party of a federation, which was included with all its records by its own fair coin flip.
    Parties,
    /// Every row is a training run of its own, or a canary that is declared not to influence the others; what differs between
    /// runs with a member and without.
    Runs(Game),
}

/// Whose data one coin decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditUnit {
    /// One record.
    Record,
    /// All records of a user.
    User,
    /// A party of a federation, with all its records.
    Party,
    /// Not recorded, so it can be compared with nothing.
    #[default]
    Unknown,
}

impl fmt::Display for AuditUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Record => "record",
            Self::User => "user",
            Self::Party => "party",
            Self::Unknown => "unknown",
        })
    }
}

/// Which data sets an experiment made a mechanism tell apart: what a lower bound is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Game {
    /// Whose data one coin decided on.
    pub unit: AuditUnit,
    /// The most records that one coin decided on.
    pub unit_records: u64,
    /// Whether a coin added the data or exchanged it for other data; none where the experiment does not tell.
    pub neighboring: Option<Neighboring>,
    /// Whether pairs were matched at random among members of a fixed number and the others.
    pub is_matched: bool,
}

impl Game {
    /// One record by each coin, there or not.
    pub const RECORDS: Self = Self {
        unit: AuditUnit::Record,
        unit_records: 1,
        neighboring: Some(Neighboring::AddRemove),
        is_matched: false,
    };
    /// A party with all its records by each coin, there or not. How many records it has does not matter.
    pub const PARTIES: Self = Self { unit: AuditUnit::Party, unit_records: 0, ..Self::RECORDS };
    /// One record or another by each coin.
    pub const PAIRS: Self = Self { neighboring: Some(Neighboring::ReplaceOne), ..Self::RECORDS };
    /// One record or another of pairs that were matched afterwards.
    pub const MATCHED: Self = Self { is_matched: true, ..Self::PAIRS };
    /// Rows that are runs of their own: what differs between the runs is not in the table.
    pub const RUNS: Self = Self { unit: AuditUnit::Unknown, neighboring: None, ..Self::RECORDS };

    /// All records of a user by each coin, at most so many.
    pub fn users(unit_records: u64) -> Self {
        Self { unit: AuditUnit::User, unit_records, ..Self::RECORDS }
    }

    /// What must be true of the draw, with the probability of a coin.
    pub(crate) fn premise(&self, inclusion: f64) -> String {
        let coin = match (self.unit, self.neighboring) {
            (AuditUnit::User, _) => format!(
                "each user's records were included together with probability {inclusion} by the user's own coin flip, \
                 independent of everything else (neighbours: with and without the at most {} records of a user, add-remove)",
                self.unit_records
            ),
            (AuditUnit::Party, _) => format!(
                "each party was included with probability {inclusion} by its own coin flip, independent of everything else \
                 (neighbours: with and without the party, add-remove)"
            ),
            (_, Some(Neighboring::ReplaceOne)) if self.is_matched => "a number of records fixed in advance was included, \
                 all sets of this size being equally likely, independent of everything else (neighbours: one record or another, \
                 replace-one)"
                .to_owned(),
            (_, Some(Neighboring::ReplaceOne)) => {
                "of each pair of records one was included by its own fair coin flip, \
                 independent of everything else (neighbours: one record or the other, replace-one)"
                    .to_owned()
            }
            _ => format!(
                "each record was included with probability {inclusion} by its own coin flip, independent of everything else \
                 (neighbours: with and without the record, add-remove)"
            ),
        };
        format!(
            "one run of the mechanism, in which {coin}; scores are computed from the output of the run without access to the coin flips"
        )
    }
}
