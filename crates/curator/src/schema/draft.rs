//! A draft computed from the data without privacy, in one pass and bounded memory.

use super::plan::{ColumnContent, PlannedSchema};
use super::{Finding, Learnt, MOST_CATEGORIES, too_many};
use crate::refusal::Refusal;
use crate::scan::{Size, scan};
use crate::watch::Watch;
use reticent_core::Code;
use reticent_data::{Cell, NumberError};
use reticent_report::digits::exactly;
use std::collections::BTreeSet;

/// Reads the table once.
pub(super) fn draft(plan: &PlannedSchema, watch: &dyn Watch) -> Result<Learnt, Refusal> {
    let names: Vec<&str> = plan.subjects.iter().map(|subject| subject.name.as_str()).collect();
    let mut seen: Vec<Seen> = plan.subjects.iter().map(|subject| Seen::of(subject.holds)).collect();
    let label = plan.label.as_deref().and_then(|label| names.iter().position(|name| *name == label));
    let mut positive_occurs = false;
    scan(&plan.table, &names, Size::Public, watch, &mut |_, cells| {
        seen.iter_mut().zip(cells).for_each(|(seen, cell)| seen.add(cell));
        if let (Some(at), Some(positive)) = (label, &plan.positive)
            && !positive_occurs
        {
            positive_occurs = cells[at].label().is_some_and(|label| label == positive.as_str());
        }
        Ok(())
    })?;
    if let (Some(at), Some(positive)) = (label, &plan.positive)
        && !positive_occurs
    {
        let remedy = format!("no row has this value in column \"{}\": give a value that occurs", names[at]);
        return Err(Refusal::value("positive", positive, remedy).coded(Code::Row));
    }
    Ok(Learnt { findings: seen.into_iter().map(Seen::finding).collect(), certificate: None })
}

/// What was seen of a column.
struct Seen {
    holds: ColumnContent,
    range: Option<[f64; 2]>,
    /// Up to one more than may be drafted.
    labels: BTreeSet<String>,
}

impl Seen {
    fn of(holds: ColumnContent) -> Self {
        Self { holds, range: None, labels: BTreeSet::new() }
    }

    fn add(&mut self, cell: &Cell<'_>) {
        if self.holds != ColumnContent::Text {
            match cell.number() {
                Ok(None) | Err(NumberError::NotFinite) => {}
                Ok(Some(number)) => {
                    let number = number.to_f64();
                    let [low, high] = self.range.unwrap_or([number; 2]);
                    self.range = Some([low.min(number), high.max(number)]);
                }
                // One text among numbers makes a column text: what the file declares to be numbers has none.
                Err(NumberError::NotANumber(_)) => self.holds = ColumnContent::Text,
            }
        }
        if self.holds_labels()
            && self.labels.len() <= MOST_CATEGORIES
            && let Some(label) = cell.label()
            && !self.labels.contains(label.as_ref())
        {
            self.labels.insert(label.into_owned());
        }
    }

    fn holds_labels(&self) -> bool {
        self.holds != ColumnContent::Numbers
    }

    fn finding(self) -> Finding {
        match (self.holds, self.range) {
            (ColumnContent::Numbers | ColumnContent::Either, Some([low, high])) if low < high => {
                Finding::Numbers([low, high])
            }
            (ColumnContent::Numbers | ColumnContent::Either, Some([only, _])) => {
                Finding::Nothing(format!("every number is {}", exactly(only)))
            }
            (ColumnContent::Numbers, None) => Finding::Nothing("no finite number".to_owned()),
            _ if self.labels.len() > MOST_CATEGORIES => Finding::Nothing(too_many()),
            _ => Finding::labels(self.labels.into_iter(), "no values"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(holds: ColumnContent, cells: &[Cell<'_>]) -> Finding {
        let mut seen = Seen::of(holds);
        cells.iter().for_each(|cell| seen.add(cell));
        seen.finding()
    }

    #[test]
    fn columns_are_what_their_cells_read_as() {
        let text = |cells: &[&'static str]| {
            let cells: Vec<Cell<'_>> = cells.iter().map(|text| Cell::from_text(text)).collect();
            found(ColumnContent::Either, &cells)
        };
        assert_eq!(text(&["3", "", " -1.5 ", "nan", "inf"]), Finding::Numbers([-1.5, 3.0]));
        let labels = |list: &[&str]| Finding::Labels(list.iter().map(|&label| label.to_owned()).collect());
        assert_eq!(text(&["3", "b", "a", "b "]), labels(&["3", "a", "b"]));
        assert_eq!(text(&["", " "]), Finding::Nothing("no values".to_owned()));
        assert_eq!(text(&["7", "7.0"]), Finding::Nothing("every number is 7".to_owned()));
        let floats = [Cell::Float(f64::NAN), Cell::Null];
        assert_eq!(found(ColumnContent::Numbers, &floats), Finding::Nothing("no finite number".to_owned()));
        assert_eq!(found(ColumnContent::Text, &[Cell::Text("1"), Cell::Text("2")]), labels(&["1", "2"]));
    }

    #[test]
    fn free_text_is_ignored() {
        let names: Vec<String> = (0..5000).map(|n| format!("name {n}")).collect();
        let cells: Vec<Cell<'_>> = names.iter().map(|name| Cell::Text(name)).collect();
        assert_eq!(found(ColumnContent::Text, &cells), Finding::Nothing(too_many()));
        assert!(
            matches!(found(ColumnContent::Text, &cells[..100]), Finding::Labels(labels) if labels.len() == 100)
        );
    }
}
