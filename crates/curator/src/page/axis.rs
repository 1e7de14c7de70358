//! The declared cells of a column: categories, bins of numbers, spans of time.

use super::statistic::CellColumn;
use crate::refusal::Refusal;
use crate::release::{edges, join_names, names};
use reticent_core::{Code, Fact};
use reticent_data::{Cell, timestamp_label};
use reticent_report::digits::exactly;
use std::collections::BTreeMap;

/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Axis {
    Categories {
        names: Vec<String>,
        places: BTreeMap<String, usize>,
    },
    /// Edges of numbers; the last cell is closed.
    Bins(Vec<f64>),
    /// Edges in microseconds since 1970; every cell ends before its upper edge.
    Times(Vec<i64>),
}

impl Axis {
    /// The cells that are declared for a column, by the request or else as categories of the schema.
    pub(super) fn of(asked: &CellColumn, declared: Option<Vec<String>>) -> Result<Self, Refusal> {
        let CellColumn { column, categories, bins, dates } = asked;
        let given = [categories.is_some(), bins.is_some(), dates.is_some()];
        if given.iter().filter(|given| **given).count() > 1 {
            let remedy = format!("{column}: give one of ⟦categories⟧, ⟦bins⟧ and ⟦dates⟧");
            return Err(Refusal::about(Code::Conflict, "categories", remedy));
        }
        match (categories, bins, dates) {
            (_, Some(bins), _) => Ok(Self::Bins(edges(bins)?)),
            (_, _, Some(dates)) => Self::times(dates),
            (given, ..) => match given.clone().or(declared) {
                Some(list) => Self::categories(&list),
                None => {
                    let remedy =
                        format!("{column}: give its categories, or ⟦bins⟧ for numbers, or ⟦dates⟧ for times");
                    Err(Refusal::missing("categories", remedy))
                }
            },
        }
    }

    /// These categories.
    pub(super) fn categories(list: &[String]) -> Result<Self, Refusal> {
        let names = names("categories", list, 1)?;
        let places = names.iter().cloned().enumerate().map(|(place, name)| (name, place)).collect();
        Ok(Self::Categories { names, places })
    }

    /// The spans between these dates.
    fn times(dates: &[String]) -> Result<Self, Refusal> {
        let refuse = |remedy: &str| Refusal::value("dates", join_names(dates), remedy).coded(Code::List);
        let parsed: Option<Vec<i64>> = dates.iter().map(|date| Cell::Text(date).timestamp()).collect();
        let edges = parsed.ok_or_else(|| refuse("give dates such as 2026-01-31 or 2026-01-31T08:00:00"))?;
        if edges.len() < 2 {
            return Err(refuse("give at least two dates, such as 2026-01-01,2026-02-01"));
        }
        if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(refuse("give the dates in increasing order"));
        }
        Ok(Self::Times(edges))
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Categories { names, .. } => names.len(),
            Self::Bins(edges) => edges.len() - 1,
            Self::Times(edges) => edges.len() - 1,
        }
    }

    /// The cell that a value is in; none for a missing or undeclared one.
    pub(super) fn place(&self, cell: &Cell<'_>) -> Option<usize> {
        match self {
            Self::Categories { places, .. } => places.get(cell.label()?.as_ref()).copied(),
            Self::Bins(edges) => {
                let value = cell.number().ok().flatten()?.to_f64();
                let last = edges.len() - 2;
                between(edges, &value).or_else(|| (edges.last() == Some(&value)).then_some(last))
            }
            Self::Times(edges) => between(edges, &cell.timestamp()?),
        }
    }

    /// What each cell is called.
    pub(super) fn labels(&self) -> Vec<String> {
        match self {
            Self::Categories { names, .. } => names.clone(),
            Self::Bins(edges) => {
                let last = edges.len() - 2;
                let label = |(place, pair): (usize, &[f64])| {
                    let close = if place == last { ']' } else { ')' };
                    format!("[{},{}{close}", exactly(pair[0]), exactly(pair[1]))
                };
                edges.windows(2).enumerate().map(label).collect()
            }
            Self::Times(edges) => {
                edges.windows(2).map(|pair| format!("[{},{})", moment(pair[0]), moment(pair[1]))).collect()
            }
        }
    }

    /// What is taken as public.
    pub(super) fn fact(&self) -> Fact {
        match self {
            Self::Categories { names, .. } => Fact::Categories(names.clone()),
            Self::Bins(edges) => Fact::Bins(edges.clone()),
            Self::Times(edges) => {
                let edges: Vec<String> = edges.iter().map(|edge| moment(*edge)).collect();
                Fact::Other(format!("dates {}", edges.join(",")))
            }
        }
    }
}

/// The half-open cell between edges that holds a value.
fn between<T: PartialOrd>(edges: &[T], value: &T) -> Option<usize> {
    let above = edges.partition_point(|edge| edge <= value);
    (above > 0 && above < edges.len()).then(|| above - 1)
}

/// A time, as a date where it is midnight.
fn moment(at: i64) -> String {
    match i32::try_from(at.div_euclid(DAY)) {
        Ok(day) if at.rem_euclid(DAY) == 0 => reticent_data::date_label(day),
        _ => timestamp_label(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(asked: CellColumn) -> Axis {
        Axis::of(&CellColumn { column: "c".to_owned(), ..asked }, None).unwrap()
    }

    #[test]
    fn values_fall_into_their_cells() {
        let bins = axis(CellColumn { bins: Some(vec![0.0, 10.0, 20.0]), ..CellColumn::default() });
        for (value, place) in
            [(-0.1, None), (0.0, Some(0)), (9.9, Some(0)), (10.0, Some(1)), (20.0, Some(1)), (20.1, None)]
        {
            assert_eq!(bins.place(&Cell::Float(value)), place, "{value}");
        }
        assert_eq!(bins.labels(), ["[0,10)", "[10,20]"]);
        let dates = ["2026-01-01", "2026-02-01", "2026-02-01T12:00:00"].map(str::to_owned).to_vec();
        let times = axis(CellColumn { dates: Some(dates), ..CellColumn::default() });
        assert_eq!(times.labels()[0], "[2026-01-01,2026-02-01)");
        for (text, place) in [("2025-12-31", None), ("2026-01-31", Some(0)), ("2026-02-01", Some(1))] {
            assert_eq!(times.place(&Cell::Text(text)), place, "{text}");
        }
        assert_eq!(times.place(&Cell::Text("2026-02-01T12:00:00")), None);
        let names = ["a", "b"].map(str::to_owned).to_vec();
        let named = axis(CellColumn { categories: Some(names), ..CellColumn::default() });
        assert_eq!((named.place(&Cell::Text(" b ")), named.place(&Cell::Text("x"))), (Some(1), None));
        assert_eq!(named.place(&Cell::Null), None);
    }

    #[test]
    fn a_column_has_one_kind_of_cells() {
        let both =
            CellColumn { bins: Some(vec![0.0, 1.0]), dates: Some(Vec::new()), ..CellColumn::default() };
        assert_eq!(Axis::of(&both, None).unwrap_err().code(), Code::Conflict);
        assert_eq!(Axis::of(&CellColumn::default(), None).unwrap_err().code(), Code::Missing);
        let backwards = ["2026-02-01", "2026-01-01"].map(str::to_owned).to_vec();
        let asked = CellColumn { dates: Some(backwards), ..CellColumn::default() };
        assert_eq!(Axis::of(&asked, None).unwrap_err().field(), Some("dates"));
    }
}
