//! What a page releases: a part for each distinct need, with the questions that share it.

use super::asked::{Asked, Need, Numbers, shared};
use crate::refusal::Refusal;
use reticent_noise::query::parts::{Part, PartColumn, RankTree, better_margins};
use reticent_noise::query::{NoiseKind, even_candidates};

/// One release.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) need: Need,
    pub(super) part: Part,
    /// The questions that it answers, by their places.
    pub(super) questions: Vec<usize>,
    /// Its weight: the largest of its questions'.
    pub(super) weight: f64,
    /// The question with that weight.
    pub(super) weight_from: usize,
}

impl Piece {
    /// Whether it adds up totals of people.
    pub(super) fn has_totals(&self) -> bool {
        matches!(self.need, Need::Total(_))
    }
}

/// The distinct parts of some questions under a kind of noise, and the part that each question is answered from.
pub(super) fn pieces(
    asked: &[Asked],
    by_weights: bool,
    noise: NoiseKind,
) -> Result<(Vec<Piece>, Vec<usize>), Refusal> {
    let (needs, serving) = shared(asked);
    let mut pieces = Vec::with_capacity(needs.len());
    for (place, need) in needs.into_iter().enumerate() {
        let questions: Vec<usize> = (0..asked.len()).filter(|question| serving[*question] == place).collect();
        let weight = |question: usize| if by_weights { asked[question].weight } else { 1.0 };
        let first = questions.first().copied().unwrap_or(0);
        let heaviest = questions
            .iter()
            .copied()
            .fold(first, |best, next| if weight(next) > weight(best) { next } else { best });
        let part = part(&need, noise)?;
        pieces.push(Piece { need, part, questions, weight: weight(heaviest), weight_from: heaviest });
    }
    Ok((pieces, serving))
}

/// The part of a need.
fn part(need: &Need, noise: NoiseKind) -> Result<Part, Refusal> {
    let bounds = Refusal::noise("bounds");
    let column = |of: &Numbers| PartColumn::new(of.bounds[0], of.bounds[1], of.integers).map_err(&bounds);
    let categories = Refusal::noise("categories");
    Ok(match need {
        Need::Rows { .. } => Part::Rows,
        Need::People => Part::People,
        Need::Sum(of) => Part::Sum(column(of)?),
        Need::Total(of) => Part::PersonSum(column(of)?),
        Need::Moments { of, order } => Part::moments(column(of)?, *order)?,
        Need::Joint([one, other]) => Part::Joint(column(one)?, column(other)?),
        Need::Cells { axis, .. } => Part::cells(axis.len()).map_err(categories)?,
        Need::Distinct { axis, .. } => Part::distinct(axis.len()).map_err(categories)?,
        Need::Share { .. } => Part::cells(2)?,
        Need::Table { axes, margins } => {
            let sizes: Vec<usize> = axes.iter().map(|(_, axis)| axis.len()).collect();
            let own = *margins && better_margins(&sizes, noise).map_err(&categories)?;
            Part::contingency(sizes, own).map_err(categories)?
        }
        Need::Ranks { of, candidates } => {
            let [low, high] = of.bounds;
            let count = usize::try_from(*candidates).unwrap_or(usize::MAX);
            let candidates = even_candidates(low, high, count, of.integers).map_err(&bounds)?;
            Part::Tree(RankTree::new(candidates, noise).map_err(&bounds)?)
        }
    })
}

/// Why a part has its form, from public numbers.
pub(super) fn form(piece: &Piece) -> String {
    match (&piece.need, &piece.part) {
        (Need::Table { margins: true, .. }, Part::Contingency { margins: true, .. }) => {
            "totals have counts of their own: that lowers the sum of all variances".to_owned()
        }
        (Need::Table { margins: true, .. }, _) => {
            "totals are sums of cells: counts of their own would raise the sum of all variances".to_owned()
        }
        (_, Part::Tree(tree)) if tree.shape().levels() > 1 => {
            let shape = tree.shape();
            format!(
                "a tree of {} levels with {} children a node over {} candidates has the least worst-case variance of ranks",
                shape.levels(),
                shape.branching(),
                shape.leaves()
            )
        }
        (_, Part::Tree(tree)) => {
            format!(
                "a flat histogram of {} candidates has the least worst-case variance of ranks",
                tree.shape().leaves()
            )
        }
        (Need::Moments { order: 1, .. }, _) => {
            "number and sum share one release: each row adds one unit in all".to_owned()
        }
        (Need::Moments { .. }, _) => {
            "number, sum and squares share one release: each row adds one unit in all".to_owned()
        }
        (Need::Joint(_), _) => {
            "all joint moments share one release: each row adds one unit in all".to_owned()
        }
        (Need::Cells { .. } | Need::Share { .. } | Need::Table { .. }, _) => {
            "each row is in one cell: all cells share one release".to_owned()
        }
        (_, _) => "one number for each group".to_owned(),
    }
}
