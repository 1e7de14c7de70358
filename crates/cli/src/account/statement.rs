//! `account statement`: the paragraph that a paper or a model card needs.

use super::case::{self, Case};
use super::source::{Batches, Origin, Source, Training, Unknown};
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits;
use crate::fail::{Fail, plain};
use crate::text::json_line;
use reticent::accounting::{Accountant, Answer, Method};
use reticent::core::{Delta, Event, Neighboring};
use serde::Serialize;

/// Columns of the printed paragraph.
const COLUMNS: usize = 96;

#[derive(Serialize)]
struct Stated {
    statement: String,
    epsilon: f64,
    lower: f64,
    upper: f64,
    delta: f64,
    accountant: &'static str,
    neighboring: Neighboring,
    unit: String,
}

/// The paragraph.
pub(super) fn statement(arguments: &args::Statement) -> Result<Output, Fail> {
    let delta = case::delta(arguments.delta.as_deref())?;
    let case = Case::read(&arguments.ask, Unknown::Nothing)?;
    let unit = unit(arguments.unit.as_deref(), &case.source)?;
    let account = case.account()?;
    let answer = account.epsilon(delta).map_err(|error| case.refused(error))?;
    let claim = Claim { epsilon: Some(answer.upper), delta: Some(delta.get()), lower: Some(answer.lower) };
    let warnings = warnings(&case.source, claim);
    let sentences = [
        what(&case.source, &account),
        promise(&answer, delta, &unit, account.neighboring()),
        how(&answer),
        sampling(&case.source),
        scope(&case.source),
    ];
    let paragraph = sentences.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    let stdout = if case.json {
        json_line(&Stated {
            statement: paragraph.replace('\u{a0}', " "),
            epsilon: answer.upper,
            lower: answer.lower,
            upper: answer.upper,
            delta: delta.get(),
            accountant: answer.method.name(),
            neighboring: account.neighboring(),
            unit,
        })?
    } else {
        wrapped(&paragraph)
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

fn unit(given: Option<&str>, source: &Source) -> Result<String, Fail> {
    let stated = match &source.origin {
        Origin::File { unit, .. } => unit.as_deref(),
        Origin::Flags(_) => None,
    };
    let name = plain(given.or(stated).unwrap_or("record").trim());
    if name.is_empty() {
        return Err(Fail::flag("--unit", &name, "name what one unit of protection is, such as user"));
    }
    Ok(name)
}

fn what(source: &Source, account: &Accountant) -> String {
    match source.training() {
        Some(training) => {
            let steps = match training.steps() {
                1 => "1 step".to_owned(),
                steps => format!("{steps} steps"),
            };
            format!(
                "Trained with differential privacy: in each of {steps}, per-example gradients were clipped and Gaussian \
                 noise of {} times the clipping norm was added to their sum.",
                digits::exactly(training.noise.get())
            )
        }
        None => format!("Computed with differential privacy ({}).", words::happened(source, account)),
    }
}

fn promise(answer: &Answer, delta: Delta, unit: &str, neighboring: Neighboring) -> String {
    let differ = match neighboring {
        Neighboring::AddRemove => "being added or removed",
        Neighboring::ReplaceOne => "being replaced by another",
    };
    format!(
        "The guarantee is (ε\u{a0}=\u{a0}{},\u{a0}δ\u{a0}=\u{a0}{})-differential privacy with respect to one {unit} {differ} ({neighboring} \
         neighbours).",
        digits::spent(answer.upper),
        digits::exactly(delta.get()),
    )
}

fn how(answer: &Answer) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let certainty = match answer.method {
        Method::Pld if answer.lower > 0.0 => {
            let [lower, upper] = digits::bracket(answer.lower, answer.upper);
            format!(", certified to lie between {lower} and {upper}")
        }
        _ => ", an upper bound".to_owned(),
    };
    format!(
        "ε was computed with {} ({} accountant, Reticent {version}){certainty}, and is rounded up.",
        words::theorem(answer.method),
        answer.method.name(),
    )
}

/// What is assumed about batches, and what follows when it did not happen.
fn sampling(source: &Source) -> String {
    let Some(training) = source.training() else {
        return if source.any(&|event| matches!(event, Event::Shuffled { .. })) {
            "For shuffled batches no amplification by sampling is claimed.".to_owned()
        } else if source.any(&|event| matches!(event, Event::PoissonSampled { .. })) {
            "It assumes Poisson sampling: every record entered every sampled batch independently; batches cut from a \
             shuffled list are not covered."
                .to_owned()
        } else {
            String::new()
        };
    };
    match training.batches {
        Batches::Poisson { rate, .. } if rate.get() == 1.0 => "Every step used all records.".to_owned(),
        Batches::Poisson { rate, .. } => format!(
            "It assumes Poisson sampling: every record entered every batch independently with probability \
             {}{}. This must be how batches were really drawn: batches cut from a shuffled list are not covered.",
            digits::brief(rate.get()),
            expected(training),
        ),
        Batches::WithoutReplacement { dataset_size, batch_size, .. } => format!(
            "It assumes that every batch was a fresh sample of {batch_size} of the {dataset_size} records without \
             replacement."
        ),
        Batches::Shuffled { per_epoch, epochs } => format!(
            "Batches were cut from a shuffled list ({epochs} × {per_epoch}): no amplification by sampling is claimed."
        ),
        Batches::BallsInBins { per_epoch, epochs } => format!(
            "It assumes that in each of {epochs} epochs every record was thrown into one of {per_epoch} batches \
             independently; batches cut from a shuffled list are not covered."
        ),
    }
}

fn expected(training: &Training) -> String {
    match (training.batch_size, training.dataset_size) {
        (Some(batch), Some(records)) => format!(" (on average {batch} of {records} records)"),
        _ => String::new(),
    }
}

fn scope(source: &Source) -> String {
    let covered = match source.training() {
        Some(_) => "It covers the final model, all checkpoints and whatever is computed from them",
        None => "It covers all outputs and whatever is computed from them",
    };
    let tuning = match source.training() {
        Some(_) => "; it does not cover hyper-parameters chosen with the same data or other uses of it.",
        None => "; it does not cover other uses of the same data.",
    };
    format!("{covered}{tuning}")
}

/// Lines of at most so many columns, not broken at the no-break spaces of formulas.
fn wrapped(paragraph: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for word in paragraph.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > COLUMNS {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.replace('\u{a0}', " ") + "\n"
}
