//! Tables of scores and outputs in, scores out.
//!
//! A CSV or Parquet table has a row per record: `member` (0 or 1, true or false) and `score`, or `probability_0`,
//! `probability_1`, … or `logit_0`, … per class. Optional: `id`, `label` (a class number, or text that is numbered in sorted
//! order), `user`, `drawn` (the probability with which every record was included by its own coin flip), `pair`, `feature_…`, and per
//! reference model K its score `reference_K` and `reference_K_in`, whether it was
//! trained on the record.
//!
//! An npz archive has arrays: `member` n, `score` n, `id` n, `label` n, `user` n, `drawn` n, `pair` n, `target_logits` or `target_probabilities`
//! n × c, `reference_logits` or `reference_probabilities` k × n × c or `reference_scores` k × n, `reference_member` k × n,
//! `features` n × d, `group_NAME` n. For white-box attacks: `gradient_norms` n × layers (or n), `input_gradient_norms` n, `gradient_cosines` n
//! (with the mean gradient), `gradient_features` n × d, `activations` n × d, and the same of reference models with the prefix
//! `reference_` and k × before. Norms and cosines are given as they are, not negated.
//!
//! [`read_references`] adds reference models from a second file: such an archive, or a long table with the columns
//! `reference`, `id`, `in`, and `score`, `probability_…` or `logit_…`. Such an archive may also hold gradients of the target.

mod archive;
mod columns;
mod gradients;
mod references;
mod rows;

pub use references::read_references;

use crate::{AuditError, Study};
use reticent_data::{DataError, write_csv_private};
use std::path::Path;

/// How columns are named.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSettings {
    /// The column of scores, larger for members.
    pub score: String,
    /// The column that says who is a member.
    pub member: String,
    /// The column of unique names.
    pub id: String,
    /// The column of true classes.
    pub label: String,
    /// The column that says whose record it is.
    pub user: String,
    /// The column of the probability with which each record was included by its own coin flip.
    pub drawn: String,
    /// The column that says which pair a record belongs to.
    pub pair: String,
    /// Columns of groups to compare.
    pub groups: Vec<String>,
    /// Columns of features besides `feature_…`; text in them is looked at by value, order, length, words and numbers.
    pub features: Vec<String>,
}

impl Default for TableSettings {
    fn default() -> Self {
        let name = str::to_owned;
        Self {
            score: name("score"),
            member: name("member"),
            id: name("id"),
            label: name("label"),
            user: name("user"),
            drawn: name("drawn"),
            pair: name("pair"),
            groups: Vec::new(),
            features: Vec::new(),
        }
    }
}

/// A study from a CSV, Parquet or npz file.
///
/// # Errors
/// [`AuditError::Data`] for a file that cannot be read or lacks a column, with the closest name it has;
/// [`AuditError::Invalid`] for a value that means nothing, with its column and row; as [`Study::new`].
pub fn read_scores(path: &Path, settings: &TableSettings) -> Result<Study, AuditError> {
    if is_archive(path) { archive::read(path, settings) } else { rows::read(path, settings) }
}

/// Writes a CSV of `id`, `member` and one column of scores per attack.
///
/// # Errors
/// [`AuditError::Invalid`] for lists of scores of another length than the study; [`AuditError::Data`] when the file cannot be
/// written.
pub fn write_scores(path: &Path, study: &Study, scores: &[(&str, &[f64])]) -> Result<(), AuditError> {
    if let Some((name, odd)) = scores.iter().find(|(_, values)| values.len() != study.len()) {
        let value = format!("{} of {name}", odd.len());
        return Err(AuditError::invalid(
            "score",
            value,
            format!("give one for each of the {} records", study.len()),
        ));
    }
    let header: Vec<&str> =
        ["id", "member"].into_iter().chain(scores.iter().map(|(name, _)| *name)).collect();
    let rows = (0..study.len()).map(|record| {
        let member = if study.parts().members[record] { "1" } else { "0" };
        let first = [study.parts().ids[record].clone(), member.to_owned()];
        first.into_iter().chain(scores.iter().map(move |(_, values)| format!("{:?}", values[record])))
    });
    write_csv_private(path, &header, rows.map(Iterator::collect::<Vec<String>>))?;
    Ok(())
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}

/// The error about a column that a table lacks.
fn unknown(file: &str, column: &str, known: Vec<String>) -> AuditError {
    let suggestion = reticent_data::closest(column, &known).map(str::to_owned);
    DataError::UnknownColumn { file: file.to_owned(), column: column.to_owned(), known, suggestion }.into()
}

#[cfg(test)]
mod tests;
