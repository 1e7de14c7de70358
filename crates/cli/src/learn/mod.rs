//! `reticent train`, `predict`, `evaluate` and `sample`: flags to requests, and outcomes to text.
//!
//! | file | step |
//! |---|---|
//! | `fit` | the flags of `train` for a linear model |
//! | `render` | text and JSON of a trained linear model |
//! | `predict`, `evaluate` | a stored model on other data |
//! | `sample` | texts of a stored language model |

mod evaluate;
mod fit;
mod predict;
mod render;
mod sample;

pub(crate) use fit::request as fit_request;
pub(crate) use render::scored;

use crate::Output;
use crate::args::learn::{Evaluate, Predict, Sample, Train};
use crate::bar::Terminal;
use crate::budget::charged;
use crate::fail::{Fail, warnings, words};
use crate::network;
use crate::read::{number, whole};
use reticent::curator::folder::is_network;
use reticent::curator::train::SourcePart;
use reticent::curator::{
    Planned, Request, Session, evaluate as scoring, predict as predicting, sample as sampling,
};
use std::path::Path;

/// Runs a request, with progress if it is wanted.
pub(crate) fn run<R: Request>(request: &R, progress: bool) -> Result<<R::Planned as Planned>::Outcome, Fail> {
    let plan = request.check()?;
    let mut session = Session::without_limit()?.watched(Box::new(Terminal { progress }));
    Ok(plan.run(&mut session)?)
}

/// Warnings as lines.
pub(crate) fn warned(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|warning| words(warning)).collect();
    warnings(&texts)
}

/// Trains a model.
pub(crate) fn train(arguments: &Train, progress: bool) -> Result<Output, Fail> {
    let (given, flags) = (network::request(arguments)?, &arguments.network);
    if flags.resume.is_some() || flags.finish.is_some() || given.is_network()? {
        return network::train(arguments, given, progress);
    }
    given.check_linear()?;
    let request = fit::request(arguments)?;
    let planned = request.check()?;
    let (fitted, standing) =
        charged(&request, planned, &arguments.budget, request.schema.as_deref(), progress)?;
    render::fitted(fitted, arguments.json, standing.as_ref())
}

/// Predicts rows without labels with a stored model.
pub(crate) fn predict(arguments: &Predict, progress: bool) -> Result<Output, Fail> {
    let (model, data) = (arguments.model.clone(), arguments.file.clone());
    let part = part(&model, arguments.part.as_deref())?;
    let threads = threads(arguments.threads.as_deref())?;
    let flags = &arguments.computing;
    let request = predicting::Predict {
        reading: arguments.reading.reading(),
        part,
        threads,
        device: network::device(flags)?.unwrap_or_default(),
        chunk: network::chunk(flags)?,
        out: arguments.out.clone(),
        ..predicting::Predict::new(model, data)
    };
    predict::printed(run(&request, progress)?, arguments.json)
}

/// Evaluates a stored model on labelled rows.
pub(crate) fn evaluate(arguments: &Evaluate, progress: bool) -> Result<Output, Fail> {
    let (model, data) = (arguments.model.clone(), arguments.file.clone());
    let part = part(&model, arguments.part.as_deref())?;
    let evaluated = run(
        &scoring::Evaluate {
            reading: arguments.reading.reading(),
            part,
            threads: threads(arguments.threads.as_deref())?,
            device: network::device(&arguments.computing)?.unwrap_or_default(),
            chunk: network::chunk(&arguments.computing)?,
            ..scoring::Evaluate::new(model, data)
        },
        progress,
    )?;
    evaluate::printed(evaluated, arguments.json)
}

/// Draws texts from a stored language model.
pub(crate) fn sample(arguments: &Sample, progress: bool) -> Result<Output, Fail> {
    let count = |flag: &str, text: &Option<String>| {
        text.as_deref().map(|text| whole(flag, text, u64::MAX)).transpose()
    };
    let request = sampling::Sample {
        model: arguments.model.clone(),
        prompt: arguments.prompt.clone(),
        tokens: count("--tokens", &arguments.tokens)?,
        temperature: arguments
            .temperature
            .as_deref()
            .map(|text| number("--temperature", text))
            .transpose()?,
        top_k: count("--top-k", &arguments.top_k)?,
        count: count("--count", &arguments.count)?,
        threads: threads(arguments.threads.as_deref())?,
        device: network::device(&arguments.computing)?.unwrap_or_default(),
        chunk: network::chunk(&arguments.computing)?,
    };
    sample::printed(run(&request, progress)?, arguments.json)
}

/// The number of threads.
fn threads(text: Option<&str>) -> Result<Option<u64>, Fail> {
    text.map(|text| whole("--threads", text, 4096)).transpose()
}

/// The split of the data; only networks have one.
fn part(model: &Path, name: Option<&str>) -> Result<Option<SourcePart>, Fail> {
    Ok(name.filter(|_| is_network(model)).map(SourcePart::named).transpose()?)
}
