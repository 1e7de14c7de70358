//! The paragraph that a paper or a model card needs.

use super::case::Case;
use super::check;
use super::warning::Stated;
use super::words::{Summary, theorem};
use super::{AccountAnswer, AccountResult, BatchSampling, TrainingRun, wire};
use crate::Refusal;
use reticent_accounting::{CertifiedBounds, CompositionMethod};
use reticent_core::{Delta, Neighboring};
use reticent_report::{digits, plain};
use serde::Serialize;

/// A claim with the paragraph about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrivacyStatement {
    /// The paragraph.
    pub statement: String,
    /// The claim, rounded up.
    pub epsilon: f64,
    /// What is certainly lost; 0 where nothing is known.
    pub lower: f64,
    /// The claim again.
    pub upper: f64,
    /// The δ of the claim.
    pub delta: f64,
    /// The accountant that gave the claim.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// What one unit of protection is.
    pub unit: String,
    /// The paragraph with no-break spaces inside its formulas.
    #[serde(skip)]
    pub unbroken: String,
}

/// The paragraph.
pub(super) fn statement(case: &Case, delta: f64, unit: Option<&str>) -> Result<AccountAnswer, Refusal> {
    let delta = check::delta(delta)?;
    let unit = self::unit(unit.or(case.source.unit()).unwrap_or("record"))?;
    let account = case.account()?;
    let answer = account.epsilon(delta).map_err(|error| case.refused(error))?;
    let (summary, neighboring) = (case.source.summary(&account), account.neighboring());
    let sentences = [
        what(&summary),
        promise(&answer, delta, &unit, neighboring),
        how(&answer),
        sampling(&summary),
        scope(&summary),
    ];
    let unbroken = sentences.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    let CertifiedBounds { lower, upper, method: accountant, .. } = answer;
    let found = PrivacyStatement {
        statement: unbroken.replace('\u{a0}', " "),
        epsilon: upper,
        lower,
        upper,
        delta: delta.get(),
        accountant,
        neighboring,
        unit,
        unbroken,
    };
    let stated = Stated { epsilon: Some(upper), delta: Some(delta.get()), lower: Some(lower) };
    Ok(case.answered(AccountResult::Statement(found), &account, stated))
}

fn unit(name: &str) -> Result<String, Refusal> {
    let name = plain(name.trim());
    if name.is_empty() {
        return Err(Refusal::value("unit", name, "name what one unit of protection is, such as user"));
    }
    Ok(name)
}

fn what(summary: &Summary) -> String {
    match summary.run() {
        Some(run) => {
            let steps = match run.steps() {
                1 => "1 step".to_owned(),
                steps => format!("{steps} steps"),
            };
            format!(
                "Trained with differential privacy: in each of {steps}, per-example gradients were clipped and Gaussian \
                 noise of {} times the clipping norm was added to their sum.",
                digits::exactly(run.noise.get())
            )
        }
        None => format!("Computed with differential privacy ({}).", summary.words()),
    }
}

fn promise(answer: &CertifiedBounds, delta: Delta, unit: &str, neighboring: Neighboring) -> String {
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

fn how(answer: &CertifiedBounds) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let certainty = match answer.method {
        CompositionMethod::Pld if answer.lower > 0.0 => {
            let [lower, upper] = digits::bracket(answer.lower, answer.upper);
            format!(", certified to lie between {lower} and {upper}")
        }
        _ => ", an upper bound".to_owned(),
    };
    format!(
        "ε was computed with {} ({} accountant, Reticent {version}){certainty}, and is rounded up.",
        theorem(answer.method),
        answer.method.name(),
    )
}

/// What is assumed about batches, and what follows when it did not happen.
fn sampling(summary: &Summary) -> String {
    let run = match summary {
        Summary::Run(run) => run,
        Summary::Events(listed) if listed.is_shuffled => {
            return "For shuffled batches no amplification by sampling is claimed.".to_owned();
        }
        Summary::Events(listed) if listed.is_poisson_sampled => {
            return "It assumes Poisson sampling: every record entered every sampled batch independently; batches cut \
                    from a shuffled list are not covered."
                .to_owned();
        }
        Summary::Events(_) => return String::new(),
    };
    match run.batches {
        BatchSampling::Poisson { rate, .. } if rate.get() == 1.0 => "Every step used all records.".to_owned(),
        BatchSampling::Poisson { rate, .. } => format!(
            "It assumes Poisson sampling: every record entered every batch independently with probability \
             {}{}. This must be how batches were really drawn: batches cut from a shuffled list are not covered.",
            digits::brief(rate.get()),
            expected(run),
        ),
        BatchSampling::WithoutReplacement { dataset_size, batch_size, .. } => format!(
            "It assumes that every batch was a fresh sample of {batch_size} of the {dataset_size} records without \
             replacement."
        ),
        BatchSampling::Shuffled { per_epoch, epochs } => format!(
            "Batches were cut from a shuffled list ({epochs} × {per_epoch}): no amplification by sampling is claimed."
        ),
        BatchSampling::BallsInBins { per_epoch, epochs } => format!(
            "It assumes that in each of {epochs} epochs every record was thrown into one of {per_epoch} batches \
             independently; batches cut from a shuffled list are not covered."
        ),
    }
}

fn expected(run: &TrainingRun) -> String {
    match (run.batch_size, run.dataset_size) {
        (Some(batch), Some(records)) => format!(" (on average {batch} of {records} records)"),
        _ => String::new(),
    }
}

fn scope(summary: &Summary) -> String {
    let covered = match summary.run() {
        Some(_) => "It covers the final model, all checkpoints and whatever is computed from them",
        None => "It covers all outputs and whatever is computed from them",
    };
    let tuning = match summary.run() {
        Some(_) => "; it does not cover hyper-parameters chosen with the same data or other uses of it.",
        None => "; it does not cover other uses of the same data.",
    };
    format!("{covered}{tuning}")
}
