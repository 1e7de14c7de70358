//! The error of an answer before any value is read, and the noise for a wanted error.

use super::asked::{Asked, Form};
use super::pieces::Piece;
use super::price::Terms;
use crate::refusal::Refusal;
use reticent_core::{Code, Confidence};
use reticent_noise::query::NoiseKind;
use reticent_noise::query::parts::{ErrorOf, PartNoise};

/// The rows of a group that an error is stated for where none are declared.
const USUAL_SIZE: u64 = 1000;

/// An error that is exceeded with probability at most 1 − confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expected {
    /// None where it depends on the data in more ways than their number.
    pub(super) error: Option<f64>,
    /// The rows for which it holds, where it depends on them.
    pub(super) size: Option<u64>,
    /// Whether it is an error of ranks.
    pub(super) in_ranks: bool,
}

/// Which figure of a part an answer is, for so many rows.
fn figure(form: &Form, rows: u64) -> Option<ErrorOf> {
    Some(match form {
        Form::Count
        | Form::People
        | Form::Histogram
        | Form::Contingency { margins: false }
        | Form::Distinct => ErrorOf::Count,
        // Its totals are figures of the answer too.
        Form::Contingency { margins: true } => ErrorOf::TableTotals,
        // The noise decides which cells are named.
        Form::Mode | Form::TopK(_) => ErrorOf::ChosenCount,
        Form::Sum => ErrorOf::Sum,
        Form::Mean => ErrorOf::Mean { rows },
        Form::Variance | Form::StandardDeviation => ErrorOf::Variance { rows },
        Form::Proportion => ErrorOf::Proportion { rows },
        Form::Quantiles(_) => ErrorOf::Rank,
        Form::Covariance | Form::Correlation | Form::Trend => return None,
    })
}

/// Whether the error depends on the number of rows.
fn depends_on_size(form: &Form) -> bool {
    matches!(form, Form::Mean | Form::Variance | Form::StandardDeviation | Form::Proportion)
}

/// The error of a question under a noise.
pub(super) fn error(
    asked: &Asked,
    piece: &Piece,
    noise: &PartNoise,
    terms: &Terms<'_>,
    confidence: Confidence,
) -> Result<Expected, Refusal> {
    let rows = asked.size.unwrap_or(USUAL_SIZE);
    let size = depends_on_size(&asked.form).then_some(rows);
    let in_ranks = matches!(asked.form, Form::Quantiles(_));
    let Some(of) = figure(&asked.form, rows) else { return Ok(Expected { error: None, size, in_ranks }) };
    let error = of_figure(piece, noise, terms, of, confidence)?;
    // Two roots are no farther apart than the root of the distance.
    let error = if asked.form == Form::StandardDeviation { error.sqrt() } else { error };
    Ok(Expected { error: error.is_finite().then_some(error), size, in_ranks })
}

/// The error by which kinds of noise are compared: that of the question, or of the number of rows of its part.
pub(super) fn comparable(
    asked: &Asked,
    piece: &Piece,
    noise: &PartNoise,
    terms: &Terms<'_>,
    confidence: Confidence,
) -> Result<f64, Refusal> {
    match error(asked, piece, noise, terms, confidence)?.error {
        Some(error) => Ok(error),
        None => of_figure(piece, noise, terms, ErrorOf::Count, confidence),
    }
}

fn of_figure(
    piece: &Piece,
    noise: &PartNoise,
    terms: &Terms<'_>,
    of: ErrorOf,
    confidence: Confidence,
) -> Result<f64, Refusal> {
    Ok(piece.part.error(terms.limits, terms.neighboring, terms.groups, noise, of, confidence)?)
}

/// The most noise with which every question of a part has its wanted error, and the question that decides it.
pub(super) fn noise<'a>(
    questions: impl Iterator<Item = (usize, &'a Asked)>,
    piece: &Piece,
    terms: &Terms<'_>,
    confidence: Confidence,
) -> Result<(PartNoise, usize), Refusal> {
    let mut least: Option<(PartNoise, usize)> = None;
    for (place, asked) in questions {
        let own = wanted(asked, piece, terms, confidence).map_err(|refusal| refusal.within(&asked.name))?;
        let is_less = least.is_none_or(|(known, _)| match (&own, &known) {
            (PartNoise::Laplace { epsilon }, PartNoise::Laplace { epsilon: known }) => epsilon > known,
            (PartNoise::Gaussian { noise_multiplier }, PartNoise::Gaussian { noise_multiplier: known }) => {
                noise_multiplier < known
            }
            _ => false,
        });
        if is_less {
            least = Some((own, place));
        }
    }
    least.ok_or_else(|| Refusal::internal("a part without questions"))
}

/// The most noise with which one question has its wanted error.
fn wanted(
    asked: &Asked,
    piece: &Piece,
    terms: &Terms<'_>,
    confidence: Confidence,
) -> Result<PartNoise, Refusal> {
    let error = asked.error.ok_or_else(|| Refusal::missing("error", "give the error wanted"))?;
    if depends_on_size(&asked.form) && asked.size.is_none() {
        let remedy =
            "give the number of rows of a group for which the error is to hold: it shrinks with them";
        return Err(Refusal::missing("size", remedy));
    }
    let Some(of) = figure(&asked.form, asked.size.unwrap_or(USUAL_SIZE)) else {
        let remedy =
            format!("no error of a {} can be promised beforehand: split by weights instead", asked.kind);
        return Err(Refusal::value("error", error, remedy).coded(Code::Conflict));
    };
    let error = if asked.form == Form::StandardDeviation { error * error } else { error };
    let kind: NoiseKind = terms.kind;
    piece
        .part
        .noise_for_error(terms.limits, terms.neighboring, terms.groups, kind, of, error, confidence)
        .map_err(Refusal::noise("error"))
}
