//! Flags to a request of the curator.

use crate::args::{self, Ask, Numeric};
use crate::fail::Fail;
use crate::file;
use crate::typed::Typed;
use reticent::core::Neighboring;
use reticent::curator::quantity;
use reticent::curator::release::{Noise, Question, Release, Rule};
use std::path::PathBuf;

/// Fields that are checked before the neighbouring relation is read.
const BEFORE_RELATION: &[&str] = &["epsilon", "error", "delta", "mechanism"];
/// Fields that are checked before the noise is read.
const BEFORE_NOISE: &[&str] = &["epsilon", "error", "delta"];
/// Fields that are checked before the rule of a choice is read.
const BEFORE_RULE: &[&str] = &["epsilon", "delta", "neighboring", "confidence"];
/// Fields that are checked before files are looked for.
#[rustfmt::skip]
const BEFORE_FILES: &[&str] = &[
    "epsilon", "error", "delta", "mechanism", "neighboring", "confidence", "bounds", "schema", "categories", "bins", "quantile",
    "candidates", "value",
];

/// A request with what was typed for it, and what is to be done with the answer.
pub(super) struct Asking {
    pub(super) request: Release,
    pub(super) typed: Typed,
    pub(super) json: bool,
    pub(super) dry_run: bool,
    /// Where the answer is drawn.
    pub(super) plot: Option<PathBuf>,
}

/// The request of one of the seven questions; none for a survey.
pub(super) fn asking(question: args::Question) -> Option<Asking> {
    let mut typed = Typed::default();
    Some(match question {
        args::Question::Count(a) => {
            let error = typed.optional("error", a.error.as_deref());
            additive(typed, a.ask, &a.noise, Question::Count { column: a.column, error })
        }
        args::Question::Sum(a) => {
            let error = typed.optional("error", a.error.as_deref());
            let Numeric { column, bounds, integers, count_clamped, schema, ask } = a.numeric;
            let bounds = typed.bounds(&bounds);
            let question = Question::Sum { column, bounds, integers, count_clamped, schema, error };
            additive(typed, ask, &a.noise, question)
        }
        args::Question::Mean(a) => {
            let Numeric { column, bounds, integers, count_clamped, schema, ask } = a.numeric;
            let bounds = typed.bounds(&bounds);
            let question = Question::Mean { column, bounds, integers, count_clamped, schema };
            additive(typed, ask, &a.noise, question)
        }
        args::Question::Histogram(a) => {
            let categories = a.categories.map(|list| typed.names("categories", &list));
            let bins = a.bins.map(|list| typed.numbers("bins", &list));
            additive(typed, a.ask, &a.noise, Question::Histogram { column: a.column, categories, bins })
        }
        args::Question::Quantile(a) => {
            let Numeric { column, bounds, integers, count_clamped, schema, ask } = a.numeric;
            let bounds = typed.bounds(&bounds);
            let quantile = typed.number("quantile", &a.quantile);
            let candidates = typed.whole("candidates", &a.candidates);
            let question =
                Question::Quantile { column, bounds, integers, count_clamped, schema, quantile, candidates };
            choice(typed, ask, &a.choice, question)
        }
        args::Question::Mode(a) => {
            let categories = typed.names("categories", &a.categories);
            let rule = typed.chosen("mechanism", a.mechanism.parse::<Rule>(), BEFORE_RULE);
            let rule = rule.unwrap_or_default();
            choice(typed, a.ask, &a.choice, Question::Mode { column: a.column, categories, rule })
        }
        args::Question::Proportion(a) => {
            additive(typed, a.ask, &a.noise, Question::Proportion { column: a.column, value: a.value })
        }
        args::Question::Randomize(_) | args::Question::Estimate(_) => return None,
    })
}

fn additive(mut typed: Typed, ask: Ask, noise: &args::Noise, question: Question) -> Asking {
    let delta = typed.optional("delta", noise.delta.as_deref());
    let mechanism = noise
        .mechanism
        .as_deref()
        .and_then(|name| typed.chosen("mechanism", name.parse::<Noise>(), BEFORE_NOISE));
    common(typed, ask, question, delta, mechanism)
}

fn choice(mut typed: Typed, ask: Ask, choice: &args::Choice, question: Question) -> Asking {
    let delta = typed.optional("delta", choice.delta.as_deref());
    common(typed, ask, question, delta, None)
}

fn common(
    mut typed: Typed,
    ask: Ask,
    question: Question,
    delta: Option<f64>,
    mechanism: Option<Noise>,
) -> Asking {
    let epsilon = typed.optional("epsilon", ask.epsilon.as_deref());
    let neighboring = typed.chosen("neighboring", quantity::neighboring(&ask.neighboring), BEFORE_RELATION);
    let confidence = typed.number("confidence", &ask.confidence);
    if let Some(path) = &ask.plot {
        let _: Option<()> = typed.chosen("plot", file::plot(path).check(), BEFORE_FILES);
    }
    let request = Release {
        file: ask.file,
        question,
        epsilon,
        delta,
        mechanism,
        neighboring: neighboring.unwrap_or(Neighboring::AddRemove),
        confidence,
        filter: ask.filter,
    };
    Asking { request, typed, json: ask.json, dry_run: ask.dry_run, plot: ask.plot }
}

/// The answer to such a question is a name, which cannot be drawn.
pub(super) fn undrawn(request: &Release, plot: Option<&PathBuf>) -> Result<(), Fail> {
    match (&request.question, plot) {
        (Question::Mode { .. }, Some(path)) => {
            let remedy = "leave it out: the answer is a name, and nothing else may be drawn";
            Err(Fail::flag("--plot", &path.display().to_string(), remedy))
        }
        _ => Ok(()),
    }
}
