//! `reticent release`: raw arguments → checked plan → library call → output.
//!
//! | file | step |
//! |---|---|
//! | `read` | text of flags to numbers, bounds, categories |
//! | `plan` | arguments to a checked [`plan::Plan`]; opens the file, reads no values |
//! | `terms` | the part of it about cost: ε, δ, noise, neighbours, confidence |
//! | `accuracy` | the expected error, and the ε for a wanted error |
//! | `gather` | one pass over the data: counts, sums, ranks |
//! | `answer` | the call of the library |
//! | `render`, `words`, `plot` | text and JSON, a picture |
//! | `survey` | randomize and estimate, the local model |

mod accuracy;
mod answer;
mod gather;
mod plan;
mod plot;
mod read;
mod render;
mod survey;
mod terms;
mod words;

use crate::Output;
use crate::args::Question;
use crate::fail::Fail;
use crate::file::Target;
use reticent::noise::Entropy;

/// Answers one question.
pub(crate) fn run(question: Question, progress: bool) -> Result<Output, Fail> {
    let plan = match question {
        Question::Randomize(arguments) => return survey::randomize(&arguments, progress),
        Question::Estimate(arguments) => return survey::estimate(&arguments, progress),
        other => plan::plan(other)?,
    };
    let mut entropy = Entropy::new()?;
    let mut warnings: String = plan.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
    let stdout = if plan.dry_run {
        render::preview(&plan, &accuracy::expected(&plan, &mut entropy)?)?
    } else {
        let pass = gather::gather(&plan, progress)?;
        let outcome = answer::answer(&plan, &pass, &mut entropy)?;
        warnings.extend(outcome.clamped.as_ref().and_then(answer::Clamped::warning));
        if let Some(path) = &plan.plot {
            Target::plot(path).write(&plot::answer(&plan, &outcome))?;
        }
        render::released(&plan, &outcome)?
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

#[cfg(test)]
mod tests;
