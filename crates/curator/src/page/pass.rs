//! The passes over the data: rows become integers for each group and part, which is all that noise is added to.

use super::asked::Need;
use super::bounding::Bounding;
use super::plan::PlannedPage;
use crate::refusal::Refusal;
use crate::scan::{Size, scan};
use crate::watch::Watch;
use reticent_data::Cell;
use reticent_noise::query::parts::{Part, RowValue};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The sums of every part over known groups.
#[derive(Clone, PartialEq)]
pub(super) struct Sums {
    places: BTreeMap<String, usize>,
    /// Numbers that are gathered for a group, by part.
    widths: Vec<usize>,
    /// The sums of each part, group after group.
    parts: Vec<Vec<i128>>,
}

impl Sums {
    /// Nothing yet, for groups with these keys.
    pub(super) fn new(places: BTreeMap<String, usize>, parts: &[Part]) -> Self {
        let widths: Vec<usize> = parts.iter().map(Part::gathered_width).collect();
        let sums = widths.iter().map(|width| vec![0; places.len() * width]).collect();
        Self { places, widths, parts: sums }
    }

    /// What is released of a part, group after group.
    pub(super) fn settled(&self, place: usize, part: &Part) -> Vec<i128> {
        let width = self.widths[place].max(1);
        self.parts[place].chunks(width).flat_map(|group| part.settled(group)).collect()
    }

    fn group(&mut self, part: usize, group: usize) -> &mut [i128] {
        let width = self.widths[part];
        &mut self.parts[part][group * width..(group + 1) * width]
    }

    /// Adds what one person adds in one group: their kept rows, themselves, and their totals. Rows of other groups add nothing.
    fn add<'a>(
        &mut self,
        plan: &PlannedPage,
        key: &str,
        rows: impl Iterator<Item = &'a [u64]> + Clone,
        totals: &[i128],
    ) {
        let Some(group) = self.places.get(key).copied() else { return };
        let mut totals = totals.iter();
        for (place, piece) in plan.pieces.iter().enumerate() {
            let sums = self.group(place, group);
            match &piece.need {
                Need::People => piece.part.add(sums, RowValue::Present),
                Need::Total(_) => {
                    if let Some(total) = totals.next() {
                        piece.part.add_total(sums, *total);
                    }
                }
                need => {
                    for value in rows.clone().filter_map(|row| plan.layout.value(place, need, row)) {
                        piece.part.add(sums, value);
                    }
                }
            }
        }
    }
}

/// A row that satisfies the filter and is in a group.
struct Row<'a> {
    /// The name of the person; empty where each row is protected by itself.
    person: &'a str,
    key: &'a str,
    words: &'a [u64],
    totals: &'a [i128],
}

/// The name of a person: any value but blank, null or NaN.
pub(super) fn person_of<'a>(cell: &Cell<'a>) -> Option<Cow<'a, str>> {
    match cell {
        Cell::Float(number) if number.is_nan() => None,
        cell => cell.label(),
    }
}

/// Reads the table once; returns the number of all rows. No cell is an error: one that is not a finite number counts as missing.
fn each_row(plan: &PlannedPage, watch: &dyn Watch, visit: &mut dyn FnMut(Row<'_>)) -> Result<u64, Refusal> {
    let columns: Vec<&str> = plan.layout.columns.iter().map(String::as_str).collect();
    let size = if plan.unit.is_row() { Size::from(plan.neighboring) } else { Size::Private };
    let (mut key, mut words) = (String::new(), Vec::new());
    let with_totals: Vec<usize> =
        (0..plan.pieces.len()).filter(|place| plan.pieces[*place].has_totals()).collect();
    let mut totals = vec![0; with_totals.len()];
    scan(&plan.table, &columns, size, watch, &mut |_, cells| {
        let passes = plan.filter.as_ref().is_none_or(|filter| filter.matches(cells));
        if !passes || !plan.groups.find(cells, &plan.layout.groups, &mut key) {
            return Ok(());
        }
        plan.layout.read(plan.pieces.iter().map(|piece| &piece.need), cells, &mut words);
        for (total, place) in totals.iter_mut().zip(&with_totals) {
            *total = plan.layout.total(*place, &plan.pieces[*place].part, cells);
        }
        let person = plan.layout.person.map(|place| person_of(&cells[place]));
        // A row that names nobody is nobody's.
        let Some(person) = person.unwrap_or(Some(Cow::Borrowed(""))) else { return Ok(()) };
        visit(Row { person: &person, key: &key, words: &words, totals: &totals });
        Ok(())
    })
}

/// What is known of the rows before the groups are.
pub(super) enum Gathered {
    /// Each row is protected by itself, and the groups are declared.
    Summed(Sums),
    /// Each row is protected by itself, and the groups are to be selected: the rows of each. A second pass sums them.
    Counted(BTreeMap<String, u64>),
    /// The kept rows of each person.
    Bounded(Bounding),
}

/// The result of the first pass.
pub(super) struct Pass {
    pub(super) gathered: Gathered,
    /// The number of all rows.
    pub(super) rows: u64,
}

/// The first pass; the only one unless rows are the unit and groups are selected.
pub(super) fn gather(plan: &PlannedPage, watch: &dyn Watch) -> Result<Pass, Refusal> {
    if !plan.unit.is_row() {
        let totals = plan.pieces.iter().filter(|piece| piece.has_totals()).count();
        let mut bounding = Bounding::new(&plan.unit.key, plan.unit.caps(), totals);
        let rows = each_row(plan, watch, &mut |row| {
            bounding.add(row.person, row.key, row.words, row.totals);
        })?;
        return Ok(Pass { gathered: Gathered::Bounded(bounding), rows });
    }
    match plan.groups.places() {
        Some(places) => {
            let (sums, rows) = summed(plan, places.clone(), watch)?;
            Ok(Pass { gathered: Gathered::Summed(sums), rows })
        }
        None => {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            let rows = each_row(plan, watch, &mut |row| match counts.get_mut(row.key) {
                Some(count) => *count += 1,
                None => drop(counts.insert(row.key.to_owned(), 1)),
            })?;
            Ok(Pass { gathered: Gathered::Counted(counts), rows })
        }
    }
}

impl Gathered {
    /// The number of privacy units in each group, for the selection of groups.
    pub(super) fn units_by_group(&self) -> BTreeMap<String, u64> {
        match self {
            Self::Summed(_) => BTreeMap::new(),
            Self::Counted(counts) => counts.clone(),
            Self::Bounded(bounding) => bounding.people_by_group(),
        }
    }

    /// The sums over the groups with these keys.
    pub(super) fn sums(
        self,
        plan: &PlannedPage,
        places: BTreeMap<String, usize>,
        watch: &dyn Watch,
    ) -> Result<Sums, Refusal> {
        match self {
            Self::Summed(sums) => Ok(sums),
            Self::Counted(_) => Ok(summed(plan, places, watch)?.0),
            Self::Bounded(bounding) => {
                let mut sums = Sums::new(places, &plan.parts());
                for held in bounding.people().flatten() {
                    sums.add(plan, &held.key, held.rows(), &held.totals);
                }
                Ok(sums)
            }
        }
    }
}

/// Sums where each row is protected by itself.
fn summed(
    plan: &PlannedPage,
    places: BTreeMap<String, usize>,
    watch: &dyn Watch,
) -> Result<(Sums, u64), Refusal> {
    let mut sums = Sums::new(places, &plan.parts());
    let rows = each_row(plan, watch, &mut |row| {
        sums.add(plan, row.key, std::iter::once(row.words), row.totals);
    })?;
    Ok((sums, rows))
}
