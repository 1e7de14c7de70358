//! `reticent schema`: raw arguments → checked plan → what the columns hold → schema → output.
//!
//! | file | step |
//! |---|---|
//! | `plan` | arguments to a checked [`plan::Plan`]; opens the file, reads no values |
//! | `draft` | one pass over the records: what is found in them, without privacy |
//! | `private` | two passes and noise: what can be said of them within a budget |
//! | `magnitude` | the histogram that bounds start from, and round numbers |
//! | `describe` | findings to a schema, with a note where one needs a look |
//! | `render` | TOML, text and JSON |

mod describe;
mod draft;
mod magnitude;
mod plan;
mod private;
mod render;

use crate::Output;
use crate::args::schema::Question;
use crate::fail::Fail;
use reticent::core::Certificate;

/// The most labels that a column is drafted with.
const MOST_CATEGORIES: usize = 100;

/// What a column was found to hold.
#[derive(Debug, Clone, PartialEq)]
enum Finding {
    /// Numbers from the first to the second, which is larger.
    Numbers([f64; 2]),
    /// These labels, in the order of their text; at least one.
    Labels(Vec<String>),
    /// Nothing to go by, and why.
    Nothing(String),
}

impl Finding {
    /// Labels, if there are some but not too many.
    fn labels(labels: impl ExactSizeIterator<Item = String>, none: &str) -> Self {
        match labels.len() {
            0 => Self::Nothing(none.to_owned()),
            n if n > MOST_CATEGORIES => Self::Nothing(too_many()),
            _ => Self::Labels(labels.collect()),
        }
    }
}

fn too_many() -> String {
    format!("more than {MOST_CATEGORIES} different labels")
}

/// What is known of the columns, and what that cost.
struct Learnt {
    /// One finding for each of the plan's subjects.
    findings: Vec<Finding>,
    /// There if privacy was spent.
    certificate: Option<Certificate>,
}

/// Answers one question.
pub(crate) fn run(question: &Question, progress: bool) -> Result<Output, Fail> {
    let Question::Infer(arguments) = question;
    let plan = plan::plan(arguments)?;
    let learnt = match &plan.budget {
        None => draft::draft(&plan, progress)?,
        Some(budget) => private::learn(&plan, budget, progress)?,
    };
    let described = describe::describe(&plan, &learnt)?;
    render::output(&plan, &described, learnt.certificate.as_ref())
}

#[cfg(test)]
mod tests;
