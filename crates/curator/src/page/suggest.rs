//! Limits on what one person adds, suggested from a paid estimate.

use super::groups::push_label;
use super::pass::person_of;
use super::plan::{filter, opened};
use super::request::{add_remove, ninety_five};
use super::unit::without_name;
use crate::quantity;
use crate::refusal::Refusal;
use crate::scan::{Size, scan};
use crate::session::{Payment, Session};
use crate::watch::Watch;
use crate::{Planned, Request};
use reticent_core::rounding::mul_down;
use reticent_core::{Certificate, Confidence, Epsilon, Event, Fact, Guarantee, Neighboring, Plan};
use reticent_data::{Predicate, Reading, Table, with_literal};
use reticent_noise::query::parts::{
    ContributionLimits, Part, PartMechanism, PartNoise, RowValue, release_part,
};
use reticent_noise::{Mechanism, PaidSource};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Cells of a histogram of people: up to 1, 2, 4, … 2¹⁶, and more.
const CELLS: usize = 18;

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
    /// How the file is read.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
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

/// A checked estimate of limits; only the data themselves are unread.
#[derive(Debug, Clone)]
pub struct PlannedLimits {
    pub(super) table: Arc<dyn Table>,
    filter: Option<Predicate>,
    unit: String,
    groups: Vec<String>,
    share: f64,
    neighboring: Neighboring,
    confidence: Confidence,
    part: Part,
    noise: PartNoise,
    /// The noise of one histogram, and how many there are.
    mechanism: PartMechanism,
    histograms: usize,
    guarantee: Guarantee,
}

impl Request for SuggestLimits {
    type Planned = PlannedLimits;

    fn check(&self) -> Result<PlannedLimits, Refusal> {
        self.planned(None)
    }
}

impl SuggestLimits {
    /// As [`check`](Request::check), about a table that is given beside the request. The request's `file` must be empty.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names a file too.
    pub fn check_table(&self, table: Arc<dyn Table>) -> Result<PlannedLimits, Refusal> {
        self.planned(Some(&table))
    }

    fn planned(&self, given: Option<&Arc<dyn Table>>) -> Result<PlannedLimits, Refusal> {
        let confidence = quantity::confidence(self.confidence)?;
        let budget = quantity::epsilon(self.epsilon, 1e-5)?;
        let share = quantity::finite("share", self.share)?;
        if !(share > 0.0 && share < 1.0) {
            return Err(Refusal::value(
                "share",
                share,
                "give a share of people between 0 and 1, such as 0.95",
            ));
        }
        let table = opened(&self.file, &self.reading, given)?;
        let table = with_literal(table, &self.unit).map_err(Refusal::data("unit"))?;
        let filter = filter(self.filter.as_deref(), &table)?;
        for column in &self.group_by {
            table.column(column).map_err(Refusal::data("group_by"))?;
        }
        let histograms = if self.group_by.is_empty() { 1 } else { 2 };
        let part = Part::cells(CELLS)?;
        let epsilon = Epsilon::new(mul_down(budget.get(), 1.0 / histograms as f64))?;
        let noise = PartNoise::Laplace { epsilon };
        // A person is in one cell of each histogram.
        let mechanism = PartMechanism::new(&part, &ContributionLimits::ROW, self.neighboring, &noise, 1)?;
        let mut guarantee = mechanism.guarantee();
        for _ in 1..histograms {
            guarantee = guarantee.then(mechanism.guarantee())?;
        }
        Ok(PlannedLimits {
            table,
            filter,
            unit: self.unit.clone(),
            groups: self.group_by.clone(),
            share,
            neighboring: self.neighboring,
            confidence,
            part,
            noise,
            mechanism,
            histograms,
            guarantee,
        })
    }
}

/// Rows of one person, by the key of their group.
type Visits = BTreeMap<Box<str>, u64>;

impl PlannedLimits {
    /// What the estimate will cost. No value is read.
    ///
    /// # Guarantee
    /// These are the events whatever the table holds.
    ///
    /// # Errors
    /// None at present.
    pub fn events(&self) -> Result<Vec<Event>, Refusal> {
        Ok(vec![self.mechanism.event(); self.histograms])
    }

    fn unit_name(&self) -> String {
        quantity::unit_words(Some(&self.unit))
    }

    /// The histograms of people by their rows in their largest group, and by their groups.
    fn gather(&self, watch: &dyn Watch) -> Result<[Vec<i128>; 2], Refusal> {
        let mut columns: Vec<String> = self.filter.as_ref().map_or(&[][..], Predicate::columns).to_vec();
        let mut place = |name: &String| {
            columns.iter().position(|known| known == name).unwrap_or_else(|| {
                columns.push(name.clone());
                columns.len() - 1
            })
        };
        let person = place(&self.unit);
        let groups: Vec<usize> = self.groups.iter().map(&mut place).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let (mut people, mut key) = (HashMap::<Box<str>, Visits>::new(), String::new());
        let mut sums = [vec![0; CELLS], vec![0; CELLS]];
        scan(&self.table, &columns, Size::Private, watch, &mut |_, cells| {
            if self.filter.as_ref().is_some_and(|filter| !filter.matches(cells)) {
                return Ok(());
            }
            key.clear();
            for group in &groups {
                match cells[*group].label() {
                    Some(label) => push_label(&mut key, &label),
                    // A row without a group counts in none.
                    None => return Ok(()),
                }
            }
            // A row that names nobody is nobody's.
            let Some(person) = person_of(&cells[person]) else { return Ok(()) };
            if !people.contains_key(person.as_ref()) {
                people.insert(person.as_ref().into(), Visits::new());
            }
            if let Some(visits) = people.get_mut(person.as_ref()) {
                match visits.get_mut(key.as_str()) {
                    Some(rows) => *rows += 1,
                    None => drop(visits.insert(key.as_str().into(), 1)),
                }
            }
            Ok(())
        })?;
        for visits in people.values() {
            let most = visits.values().copied().max().unwrap_or(0);
            self.part.add(&mut sums[0], RowValue::Cell(cell_of(most)));
            self.part.add(&mut sums[1], RowValue::Cell(cell_of(visits.len() as u64)));
        }
        Ok(sums)
    }

    /// Reads the table and answers through `source`, as [`run`](Planned::run) does once the plan is paid for.
    ///
    /// # Guarantee
    /// Values reach the outcome through the releases of `source` alone.
    ///
    /// # Errors
    /// [`Refusal`] when the table cannot be read.
    pub fn run_with(
        &self,
        source: &mut impl PaidSource,
        watch: &dyn Watch,
    ) -> Result<SuggestedLimits, Refusal> {
        let sums = self.gather(watch)?;
        let (mut events, mut found) = (Vec::new(), Vec::new());
        for sums in sums.iter().take(self.histograms) {
            let limits = ContributionLimits::ROW;
            let noisy = release_part(source, &self.part, &limits, self.neighboring, &self.noise, sums)?;
            events.push(noisy.event());
            let cells = noisy.cells(0, self.confidence)?;
            let people = |(cell, figure): (usize, reticent_noise::query::parts::Figure)| PeopleUpTo {
                up_to: (cell + 1 < CELLS).then(|| 1 << cell),
                people: figure.value,
                interval: figure.interval.unwrap_or([0.0, 0.0]),
            };
            found.push(cells.into_iter().enumerate().map(people).collect::<Vec<_>>());
        }
        let mut warnings = Vec::new();
        let mut suggest = |cells: &[PeopleUpTo], what: &str| {
            let (limit, is_sure) = suggested(cells, self.share);
            if !is_sure {
                warnings.push(format!(
                    "the noise is larger than the number of people: the limit on {what} says little; give more ⟦epsilon⟧"
                ));
            }
            limit
        };
        let rows = suggest(&found[0], "rows");
        let groups = found.get(1).map(|cells| suggest(cells, "groups"));
        let mut public =
            vec![Fact::Other(format!("cells of up to 1, 2, 4, ... {} and more", 1u64 << (CELLS - 2)))];
        public.push(Fact::Other(without_name(&self.unit)));
        public.extend(self.filter.as_ref().map(|filter| Fact::Filter(filter.to_string())));
        public
            .extend(self.table.derivations().iter().map(|derivation| Fact::Derived(derivation.to_string())));
        let accountant = if self.histograms == 1 { "stated by the mechanism" } else { "basic composition" };
        let unit = self.unit_name();
        let mut found = found.into_iter();
        Ok(SuggestedLimits {
            column: self.unit.clone(),
            rows,
            groups,
            people_by_rows: found.next().unwrap_or_default(),
            people_by_groups: found.next().unwrap_or_default(),
            share: self.share,
            confidence: self.confidence.get(),
            certificate: Certificate::compose(
                unit,
                self.neighboring,
                events,
                self.guarantee,
                accountant,
                public,
            ),
            warnings,
        })
    }
}

impl Planned for PlannedLimits {
    type Outcome = SuggestedLimits;

    fn run(self, session: &mut Session) -> Result<SuggestedLimits, Refusal> {
        let Payment { payer, watch } = session.payment(&self.unit_name(), self.neighboring)?;
        // On record before a value is read.
        let mut permit = payer.charge(&Plan::new(self.events()?)?)?;
        self.run_with(&mut payer.with(&mut permit), watch)
    }
}

/// The cell of a number: the first power of two that is not below it.
fn cell_of(number: u64) -> usize {
    (number.max(1).next_power_of_two().trailing_zeros() as usize).min(CELLS - 1)
}

/// The least limit with at least this share of people within it, by noisy counts; and whether they are more than noise.
fn suggested(cells: &[PeopleUpTo], share: f64) -> (u64, bool) {
    let people: f64 = cells.iter().map(|cell| cell.people.max(0.0)).sum();
    let error = cells.first().map_or(0.0, |cell| (cell.interval[1] - cell.people).abs());
    let mut within = 0.0;
    for cell in cells {
        within += cell.people.max(0.0);
        if let Some(up_to) = cell.up_to.filter(|_| within >= share * people) {
            return (up_to, people > error * (cells.len() as f64).sqrt());
        }
    }
    (1 << (CELLS - 1), people > error * (cells.len() as f64).sqrt())
}
