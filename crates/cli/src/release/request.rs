//! Flags to a request of the curator.

use crate::args::budget::RememberedFlags;
use crate::args::{self, Ask, Numeric};
use crate::fail::Fail;
use crate::file;
use crate::typed::Typed;
use reticent::core::Neighboring;
use reticent::curator::quantity;
use reticent::curator::release::{NoiseChoice, Release, ReleaseQuestion, SelectionMechanism};
use std::path::{Path, PathBuf};

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

/// A request, the texts of its flags, and what is done with the answer.
pub(super) struct ParsedRelease {
    pub(super) request: Release,
    pub(super) typed: Typed,
    pub(super) json: bool,
    pub(super) dry_run: bool,
    /// Where the plot is written.
    pub(super) plot: Option<PathBuf>,
    /// Where the certificate is written.
    pub(super) certificate: Option<PathBuf>,
    /// Which budget is charged.
    pub(super) budget: RememberedFlags,
}

/// The request of one of the seven questions; none for a survey, a page, and statistics that are pages.
pub(super) fn parsed(question: args::Question) -> Option<ParsedRelease> {
    let mut typed = Typed::default();
    Some(match question {
        args::Question::Count(a) => {
            let error = typed.optional("error", a.error.as_deref());
            additive(typed, a.ask, &a.noise, ReleaseQuestion::Count { column: a.column, error })
        }
        args::Question::Sum(a) => {
            let error = typed.optional("error", a.error.as_deref());
            let Numeric { column, bounds, integers, count_clamped, schema, ask } = a.numeric;
            let bounds = typed.bounds(&bounds);
            let question = ReleaseQuestion::Sum { column, bounds, integers, count_clamped, schema, error };
            additive(typed, ask, &a.noise, question)
        }
        args::Question::Mean(a) => {
            let Numeric { column, bounds, integers, count_clamped, schema, ask } = a.numeric;
            let bounds = typed.bounds(&bounds);
            let question = ReleaseQuestion::Mean { column, bounds, integers, count_clamped, schema };
            additive(typed, ask, &a.noise, question)
        }
        args::Question::Histogram(a) => {
            let categories = a.categories.map(|list| typed.names("categories", &list));
            let bins = a.bins.map(|list| typed.numbers("bins", &list));
            additive(
                typed,
                a.ask,
                &a.noise,
                ReleaseQuestion::Histogram { column: a.column, categories, bins },
            )
        }
        args::Question::Quantile(a) => {
            let Numeric { column, bounds, integers, count_clamped, schema, ask } = a.numeric;
            let bounds = typed.bounds(&bounds);
            let quantile = typed.number("quantile", &a.quantile);
            let candidates = typed.whole("candidates", &a.candidates);
            let question = ReleaseQuestion::Quantile {
                column,
                bounds,
                integers,
                count_clamped,
                schema,
                quantile,
                candidates,
            };
            choice(typed, ask, &a.choice, question)
        }
        args::Question::Mode(a) => {
            let categories = typed.names("categories", &a.categories);
            let rule = typed.chosen("mechanism", a.mechanism.parse::<SelectionMechanism>(), BEFORE_RULE);
            let rule = rule.unwrap_or_default();
            choice(typed, a.ask, &a.choice, ReleaseQuestion::Mode { column: a.column, categories, rule })
        }
        args::Question::Proportion(a) => {
            additive(typed, a.ask, &a.noise, ReleaseQuestion::Proportion { column: a.column, value: a.value })
        }
        _ => return None,
    })
}

fn additive(mut typed: Typed, ask: Ask, noise: &args::Noise, question: ReleaseQuestion) -> ParsedRelease {
    let delta = typed.optional("delta", noise.delta.as_deref());
    let mechanism = noise
        .mechanism
        .as_deref()
        .and_then(|name| typed.chosen("mechanism", name.parse::<NoiseChoice>(), BEFORE_NOISE));
    common(typed, ask, question, delta, mechanism)
}

fn choice(mut typed: Typed, ask: Ask, choice: &args::Choice, question: ReleaseQuestion) -> ParsedRelease {
    let delta = typed.optional("delta", choice.delta.as_deref());
    common(typed, ask, question, delta, None)
}

fn common(
    mut typed: Typed,
    ask: Ask,
    question: ReleaseQuestion,
    delta: Option<f64>,
    mechanism: Option<NoiseChoice>,
) -> ParsedRelease {
    let epsilon = typed.optional("epsilon", ask.epsilon.as_deref());
    let neighboring = typed.chosen("neighboring", quantity::neighboring(&ask.neighboring), BEFORE_RELATION);
    let confidence = typed.number("confidence", &ask.confidence);
    if let Some(path) = &ask.plot {
        let _: Option<()> = typed.chosen("plot", file::plot(path).check(), BEFORE_FILES);
    }
    if let Some(path) = &ask.certificate {
        let _: Option<()> = typed.chosen("certificate", file::certificate(path).check(), BEFORE_FILES);
    }
    let request = Release {
        reading: ask.reading.reading(),
        file: ask.file,
        question,
        epsilon,
        delta,
        mechanism,
        neighboring: neighboring.unwrap_or(Neighboring::AddRemove),
        confidence,
        filter: ask.filter,
        threads: ask.threads.as_deref().map(|text| typed.whole("threads", text)),
    };
    ParsedRelease {
        request,
        typed,
        json: ask.json,
        dry_run: ask.dry_run,
        plot: ask.plot,
        certificate: ask.certificate,
        budget: ask.budget,
    }
}

/// The schema that goes with a request, which may name a budget.
pub(super) fn schema(request: &Release) -> Option<&Path> {
    match &request.question {
        ReleaseQuestion::Sum { schema, .. }
        | ReleaseQuestion::Mean { schema, .. }
        | ReleaseQuestion::Quantile { schema, .. } => schema.as_deref(),
        _ => None,
    }
}

/// Refuses a plot of an answer that is a category.
pub(super) fn undrawn(request: &Release, plot: Option<&PathBuf>) -> Result<(), Fail> {
    match (&request.question, plot) {
        (ReleaseQuestion::Mode { .. }, Some(path)) => {
            let remedy = "the answer of this statistic is a category, which cannot be plotted: leave it out";
            Err(Fail::flag("--plot", &path.display().to_string(), remedy))
        }
        _ => Ok(()),
    }
}
