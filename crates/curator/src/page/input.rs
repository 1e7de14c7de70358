//! What a row adds to each need, as words that are compared and stored exactly.

use super::asked::{Need, Numbers};
use super::groups::Groups;
use super::unit::Unit;
use reticent_data::{Cell, Predicate};
use reticent_noise::query::parts::{Part, RowValue};

/// The word of a value that is not there.
const MISSING: u64 = u64::MAX;

/// Which cells of a row hold what: the filter's come first.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The columns of the pass, each once.
    pub(super) columns: Vec<String>,
    /// The place of the person's column.
    pub(super) person: Option<usize>,
    /// The places of the columns of groups.
    pub(super) groups: Vec<usize>,
    /// The places of the columns of each need.
    needs: Vec<Vec<usize>>,
    /// Where the words of each need begin, and the number of all words.
    words: Vec<usize>,
}

impl Layout {
    /// The layout of a page.
    pub(super) fn new(filter: Option<&Predicate>, unit: &Unit, groups: &Groups, needs: &[Need]) -> Self {
        let mut columns: Vec<String> = filter.map_or(&[][..], Predicate::columns).to_vec();
        let mut place = |name: &str| {
            columns.iter().position(|known| known == name).unwrap_or_else(|| {
                columns.push(name.to_owned());
                columns.len() - 1
            })
        };
        let person = unit.column.as_deref().map(&mut place);
        let grouped = groups.columns.iter().map(|column| place(column)).collect();
        let places =
            needs.iter().map(|need| need.columns().iter().map(|column| place(column)).collect()).collect();
        let mut words = vec![0];
        for need in needs {
            words.push(words.last().copied().unwrap_or(0) + need.words());
        }
        Self { columns, person, groups: grouped, needs: places, words }
    }

    /// The words of a row.
    pub(super) fn read<'a>(
        &self,
        needs: impl Iterator<Item = &'a Need>,
        cells: &[Cell<'_>],
        words: &mut Vec<u64>,
    ) {
        words.clear();
        for (need, places) in needs.zip(&self.needs) {
            need.read(places, cells, words);
        }
    }

    /// What a row adds to its person's total in the column of a need.
    pub(super) fn total(&self, need: usize, part: &Part, cells: &[Cell<'_>]) -> i128 {
        let value = self.needs[need].first().and_then(|place| cells[*place].number().ok().flatten());
        value.map_or(0, |value| part.steps(value.to_f64()))
    }

    /// What the words of a row bring to the part of a need; none where the row adds nothing.
    pub(super) fn value(&self, place: usize, need: &Need, words: &[u64]) -> Option<RowValue> {
        need.value(&words[self.words[place]..self.words[place + 1]])
    }
}

impl Need {
    /// The columns that it reads.
    fn columns(&self) -> Vec<&str> {
        match self {
            Self::Rows { column } => column.iter().map(String::as_str).collect(),
            Self::People => Vec::new(),
            Self::Sum(of) | Self::Total(of) | Self::Moments { of, .. } | Self::Ranks { of, .. } => {
                vec![&of.column]
            }
            Self::Joint([one, other]) => vec![&one.column, &other.column],
            Self::Cells { column, .. } | Self::Distinct { column, .. } | Self::Share { column, .. } => {
                vec![column]
            }
            Self::Table { axes, .. } => axes.iter().map(|(column, _)| column.as_str()).collect(),
        }
    }

    /// The number of words of a row.
    fn words(&self) -> usize {
        match self {
            Self::Rows { column: None } | Self::People | Self::Total(_) => 0,
            Self::Joint(_) => 2,
            _ => 1,
        }
    }

    /// Appends the words of a row.
    fn read(&self, places: &[usize], cells: &[Cell<'_>], words: &mut Vec<u64>) {
        let cell = |at: usize| cells[places[at]];
        match self {
            Self::Rows { column: None } | Self::People | Self::Total(_) => {}
            Self::Rows { column: Some(_) } => words.push(u64::from(!cell(0).is_null())),
            Self::Sum(of) | Self::Moments { of, .. } | Self::Ranks { of, .. } => {
                words.push(word(of, &cell(0)))
            }
            Self::Joint([one, other]) => match [word(one, &cell(0)), word(other, &cell(1))] {
                both if both.contains(&MISSING) => words.extend([MISSING, MISSING]),
                both => words.extend(both),
            },
            Self::Cells { axis, .. } | Self::Distinct { axis, .. } => {
                words.push(axis.place(&cell(0)).map_or(MISSING, |place| place as u64));
            }
            Self::Table { axes, .. } => {
                let mut place = Some(0);
                for (at, (_, axis)) in axes.iter().enumerate() {
                    let own = axis.place(&cell(at));
                    place = place.zip(own).map(|(place, own)| place * axis.len() + own);
                }
                words.push(place.map_or(MISSING, |place| place as u64));
            }
            Self::Share { value, .. } => {
                let same = cell(0).label().is_some_and(|label| label == value.as_str());
                words.push(u64::from(!same));
            }
        }
    }

    /// What the words of a row bring to the part.
    fn value(&self, words: &[u64]) -> Option<RowValue> {
        match (self, words) {
            (Self::Rows { column: None }, _) => Some(RowValue::Present),
            (Self::Rows { column: Some(_) }, [present]) => (*present == 1).then_some(RowValue::Present),
            (_, words) if words.contains(&MISSING) => None,
            (Self::Sum(_) | Self::Moments { .. } | Self::Ranks { .. }, [number]) => {
                Some(RowValue::Number(f64::from_bits(*number)))
            }
            (Self::Joint(_), [one, other]) => {
                Some(RowValue::Numbers(f64::from_bits(*one), f64::from_bits(*other)))
            }
            (
                Self::Cells { .. } | Self::Distinct { .. } | Self::Table { .. } | Self::Share { .. },
                [place],
            ) => usize::try_from(*place).ok().map(RowValue::Cell),
            // People and totals are added once a person and group.
            _ => None,
        }
    }
}

/// The word of a number, clamped to its bounds; one that is not a finite number is missing.
fn word(of: &Numbers, cell: &Cell<'_>) -> u64 {
    let [low, high] = of.bounds;
    let number = cell.number().ok().flatten();
    // Adding zero turns -0 into 0, so equal numbers have equal words.
    number.map_or(MISSING, |number| (number.to_f64().clamp(low, high) + 0.0).to_bits())
}
