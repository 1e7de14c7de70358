//! A stored network on labelled data, exactly.

use super::folder::Stored;
use super::predict::{likeliest, source, unusable};
use crate::Output;
use crate::args::learn::Evaluate;
use crate::explain::Code;
use crate::fail::Fail;
use crate::learn::{class_lines, evaluated, value_lines};
use reticent::data::schema::Target;
use reticent::erm::{class_scores, value_scores};
use reticent::train::Targets;

pub(crate) fn evaluate(arguments: &Evaluate, progress: bool) -> Result<Output, Fail> {
    let mut stored = Stored::read(&arguments.model)?;
    let source = source(&arguments.file, arguments.part.as_deref())?;
    let (scores, examples) = stored.scores(&source, true, progress)?;
    if examples.is_empty() {
        return Err(Fail::new(Code::NoRows, format!("{} has no rows: give data", source.name())));
    }
    let rows = examples.len();
    let (found, lines) = match (examples.targets(), stored.reader.target()) {
        (Targets::Numbers(truth), Some(Target::Number(bounds))) => {
            let values =
                |values: &[f32]| -> Vec<f64> { values.iter().map(|value| f64::from(*value)).collect() };
            value_lines(&value_scores(&values(&scores), &values(truth))?, bounds, rows)
        }
        (Targets::Classes(truth), _) => {
            let classes = stored.reader.classes.len();
            let truth: Vec<i64> = truth.iter().map(|class| i64::from(*class)).collect();
            // No class: wrong, whatever the truth is.
            let said = |scores: &[f32]| likeliest(scores).map_or(-1, |(class, _)| class as i64);
            let said: Vec<i64> = scores.chunks_exact(classes.max(1)).map(said).collect();
            let known: Vec<i64> = (0..classes as i64).collect();
            class_lines(&class_scores(&truth, &said, &known)?, &stored.reader.classes, rows)
        }
        _ => return Err(Fail::new(Code::Broken, "the model's label is no number: train it again")),
    };
    let mut output = evaluated(&found, lines, arguments.json)?;
    output.warnings.extend(unusable(&scores, stored.reader.outputs(), "which count as wrong"));
    Ok(output)
}
