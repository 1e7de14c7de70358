//! Limits on what one person adds, suggested from a paid estimate.

use super::request::{add_remove, ninety_five};
use reticent_core::{Certificate, Neighboring};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Asks how many rows and groups people have, with noise, and suggests limits for a [`Page`](super::Page).
///
/// Every person counts once in a histogram of the rows they have in their largest group, and once in one of the number of their
/// groups. The cells are powers of two, so the suggestion is known within a factor of two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuggestLimits {
    /// The file; empty for a table that is given beside the request.
    #[serde(default)]
    pub file: PathBuf,
    /// The column that names the person.
    pub unit: String,
    /// Only rows that satisfy these conditions.
    #[serde(default)]
    pub filter: Option<String>,
    /// The columns whose values together name a group.
    #[serde(default, alias = "group-by")]
    pub group_by: Vec<String>,
    /// The ε of the estimate: half for rows and half for groups.
    pub epsilon: f64,
    /// The share of people who are to be within the limits.
    #[serde(default = "ninety_five")]
    pub share: f64,
    /// The neighboring relation.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
    /// The confidence level of each interval.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
}

/// Limits that a noisy estimate suggests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuggestedLimits {
    /// The column that names the person.
    pub column: String,
    /// The most rows of one person in one group.
    pub rows: u64,
    /// The most groups of one person; none where there are no groups.
    pub groups: Option<u64>,
    /// Noisy numbers of people by their rows in their largest group.
    pub people_by_rows: Vec<PeopleUpTo>,
    /// Noisy numbers of people by their groups; empty where there are none.
    pub people_by_groups: Vec<PeopleUpTo>,
    /// The share of people who are to be within the limits.
    pub share: f64,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// What the estimate cost.
    pub certificate: Certificate,
    /// Caveats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A cell of a histogram of people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeopleUpTo {
    /// The most rows or groups of a person in this cell; more than the cell before; none for the last, which is open.
    pub up_to: Option<u64>,
    /// The noisy number of people.
    pub people: f64,
    /// Its interval.
    pub interval: [f64; 2],
}
