//! A stored network on data without labels.

use super::folder::Stored;
use super::source::{Source, find};
use crate::Output;
use crate::args::learn::Predict;
use crate::fail::Fail;
use crate::learn::{Said, written};
use reticent::data::Part;
use reticent::data::schema::Target;
use std::path::Path;

/// The data of a path or name, in the part that was asked for.
pub(super) fn source(file: &Path, part: Option<&str>) -> Result<Source, Fail> {
    let is_table = file.extension().is_some_and(|end| end == "csv" || end == "parquet");
    if file.is_file() && !is_table {
        return Ok(Source::Pixels(file.to_owned()));
    }
    let wanted = match part {
        None => None,
        Some("train") => Some(Part::Train),
        Some("test") => Some(Part::Test),
        Some(other) => return Err(Fail::unknown("--part", other, "unknown: give train or test")),
    };
    let found = find(Some(file), None)?;
    match (wanted, found.official) {
        (None | Some(Part::Test), Some(official)) => Ok(official),
        (Some(Part::Test), None) => Err(Fail::conflict("--part", "test", "there is none: leave it out")),
        _ => Ok(found.source),
    }
}

pub(crate) fn predict(arguments: &Predict, progress: bool) -> Result<Output, Fail> {
    let mut stored = Stored::read(&arguments.model)?;
    let source = source(&arguments.file, arguments.part.as_deref())?;
    let (scores, _) = stored.scores(&source, false, progress)?;
    let names = &stored.reader.classes;
    let is_binary = matches!(stored.reader.target(), Some(Target::Binary { .. }));
    let said: Vec<Said> = match stored.reader.target() {
        Some(Target::Number(bounds)) => scores
            .iter()
            .map(|score| {
                let value = bounds.at(0.5 * (f64::from(*score).clamp(-1.0, 1.0) + 1.0));
                let prediction = if score.is_finite() { value.to_string() } else { String::new() };
                Said { prediction, probability: None }
            })
            .collect(),
        _ => scores
            .chunks_exact(names.len().max(1))
            .map(|scores| {
                let Some((class, own)) = likeliest(scores) else {
                    return Said { prediction: String::new(), probability: Some(f64::NAN) };
                };
                // Of two classes it is told of the positive one, which is the second.
                let probability = if is_binary && class == 0 { 1.0 - own } else { own };
                Said {
                    prediction: names.get(class).cloned().unwrap_or_default(),
                    probability: Some(probability),
                }
            })
            .collect(),
    };
    let mut output = written(arguments, &said)?;
    output.warnings.extend(unusable(&scores, stored.reader.outputs(), "which have no prediction"));
    Ok(output)
}

/// The class with the largest score and its probability; none where a score is not a finite number.
pub(super) fn likeliest(scores: &[f32]) -> Option<(usize, f64)> {
    if !scores.iter().all(|score| score.is_finite()) {
        return None;
    }
    let best = scores.iter().enumerate().fold((0, f32::NEG_INFINITY), |best, (class, score)| {
        if *score > best.1 { (class, *score) } else { best }
    });
    let rest: f64 = scores.iter().map(|score| f64::from(score - best.1).exp()).sum();
    Some((best.0, if rest > 0.0 { 1.0 / rest } else { 0.0 }))
}

/// Says for how many rows a network's scores are not finite numbers.
pub(super) fn unusable(scores: &[f32], width: usize, what: &str) -> Option<String> {
    let rows =
        scores.chunks_exact(width.max(1)).filter(|scores| scores.iter().any(|score| !score.is_finite()));
    let count = rows.count();
    (count > 0).then(|| {
        format!("warning: the network's scores are not finite numbers for {count} rows, {what}: its training may have diverged\n")
    })
}
