//! Who is protected, and how much of one person counts.

use super::bounding::Caps;
use super::declared::Declared;
use super::groups::Groups;
use super::request::UnitLimits;
use crate::quantity::unit_words;
use crate::refusal::Refusal;
use crate::release::bounds;
use reticent_core::{Code, Fact};
use reticent_data::Table;
use reticent_noise::query::parts::ContributionLimits;
use std::collections::BTreeMap;

/// The key of the order where none is given.
const DEFAULT_KEY: &str = "reticent page";

/// Where limits that are not stated can come from.
const HELPER: &str =
    "state it from public knowledge, or have it estimated privately (`release limits`, `suggest_limits`)";

/// The largest limit: sums of so many rows do not overflow.
const MOST: u64 = 1 << 32;

/// The privacy unit with its limits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    /// The column that names the person; none where each row is protected by itself.
    pub(super) column: Option<String>,
    pub(super) limits: ContributionLimits,
    /// Bounds on the total of a person in a column and group.
    pub(super) totals: BTreeMap<String, [f64; 2]>,
    /// The key of the order by which rows and groups are left out.
    pub(super) key: String,
    /// Whether rows are limited, because a question is about rows.
    limits_rows: bool,
    /// Whether there are groups.
    has_groups: bool,
}

impl Unit {
    /// The unit of a request; `about_rows` says whether a question counts rows, and not people or totals of people alone.
    pub(super) fn of(
        asked: Option<&UnitLimits>,
        declared: &Declared,
        groups: &Groups,
        about_rows: bool,
        table: &dyn Table,
    ) -> Result<Self, Refusal> {
        let column = asked.and_then(|asked| asked.column.as_deref()).or(declared.unit());
        let Some(column) = column else {
            if asked.is_some() {
                let remedy = "give the column that names the person, such as patient_id, here or in a schema";
                return Err(Refusal::missing("unit", remedy));
            }
            let (totals, key) = (BTreeMap::new(), DEFAULT_KEY.to_owned());
            let (limits, has_groups) = (ContributionLimits::ROW, !groups.columns.is_empty());
            return Ok(Self { column: None, limits, totals, key, limits_rows: false, has_groups });
        };
        table.column(column).map_err(Refusal::data("unit"))?;
        let none = UnitLimits::default();
        let asked = asked.unwrap_or(&none);
        let rows = match asked.rows {
            Some(rows) => limit("rows", rows)?,
            None if about_rows => {
                let remedy = format!("how many rows of one {column} count in one group at most: {HELPER}");
                return Err(Refusal::missing("rows", remedy));
            }
            None => 1,
        };
        let has_groups = !groups.columns.is_empty();
        let given = asked.groups.map(|groups| limit("groups", groups)).transpose()?;
        let groups = match (has_groups, given, groups.count()) {
            (false, ..) => 1,
            (true, None, Some(1)) => 1,
            (true, None, _) => {
                let remedy = format!("in how many groups one {column} counts at most: {HELPER}");
                return Err(Refusal::missing("groups", remedy));
            }
            // Nobody is in more groups than there are.
            (true, Some(given), Some(count)) => given.min(count as u64),
            (true, Some(given), None) => given,
        };
        let limits = ContributionLimits::new(rows, groups, None).map_err(Refusal::noise("rows"))?;
        let mut totals = BTreeMap::new();
        for (of, ends) in &asked.totals {
            table.column(of).map_err(Refusal::data("totals"))?;
            totals.insert(of.clone(), bounds(*ends).map_err(|refusal| refusal.within("totals"))?);
        }
        let key = asked.key.clone().unwrap_or_else(|| DEFAULT_KEY.to_owned());
        Ok(Self { column: Some(column.to_owned()), limits, totals, key, limits_rows: about_rows, has_groups })
    }

    /// Whether each row is protected by itself.
    pub(super) fn is_row(&self) -> bool {
        self.column.is_none()
    }

    /// How much of one person is kept.
    pub(super) fn caps(&self) -> Caps {
        let size = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        Caps {
            rows: if self.limits_rows { size(self.limits.rows_per_group()) } else { 0 },
            groups: size(self.limits.groups()),
        }
    }

    /// The unit as certificates and sessions name it.
    pub(super) fn name(&self) -> String {
        unit_words(self.column.as_deref())
    }

    /// What is taken as public.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let Some(column) = &self.column else { return Vec::new() };
        let rows = self.limits_rows.then(|| self.limits.rows_per_group());
        let mut facts = match (self.has_groups, rows) {
            (true, _) => vec![Fact::UnitLimits { unit: column.clone(), rows, groups: self.limits.groups() }],
            (false, Some(rows)) => vec![Fact::Other(format!("at most {rows} rows of one {column}"))],
            (false, None) => Vec::new(),
        };
        facts.push(Fact::Other(without_name(column)));
        facts.extend(self.totals.iter().map(|(of, [low, high])| Fact::UnitTotal {
            unit: column.clone(),
            column: of.clone(),
            low: *low,
            high: *high,
        }));
        facts
    }
}

/// What becomes of rows that name nobody.
pub(super) fn without_name(column: &str) -> String {
    format!("rows without a {column} are left out")
}

fn limit(field: &str, value: u64) -> Result<u64, Refusal> {
    if (1..=MOST).contains(&value) {
        return Ok(value);
    }
    Err(Refusal::value(field, value, format!("give a whole number from 1 to {MOST}")).coded(Code::Range))
}
