//! `reticent train`, `predict` and `evaluate`: words to requests, and outcomes to words.
//!
//! | file | step |
//! |---|---|
//! | `fit` | the words of `train` for a linear model |
//! | `render` | what training a linear model prints |
//! | `predict`, `evaluate` | a stored model on other data |

mod evaluate;
mod fit;
mod predict;
mod render;

pub(crate) use fit::request as fit_request;

use crate::Output;
use crate::args::learn::{Evaluate, Predict, Train};
use crate::bar::Terminal;
use crate::fail::{Fail, warnings, words};
use crate::network;
use reticent::curator::folder::is_network;
use reticent::curator::train::Part;
use reticent::curator::{Planned, Request, Session, evaluate as scoring, predict as predicting};
use std::path::Path;

/// Does what a request asks for, with bars where they are wanted.
pub(crate) fn asked<R: Request>(
    request: &R,
    progress: bool,
) -> Result<<R::Planned as Planned>::Outcome, Fail> {
    let plan = request.check()?;
    let mut session = Session::without_limit()?.watched(Box::new(Terminal { progress }));
    Ok(plan.run(&mut session)?)
}

/// Warnings as lines.
pub(crate) fn warned(said: &[String]) -> String {
    let said: Vec<String> = said.iter().map(|warning| words(warning)).collect();
    warnings(&said)
}

/// Trains a model.
pub(crate) fn train(arguments: &Train, progress: bool) -> Result<Output, Fail> {
    let (given, flags) = (network::request(arguments)?, &arguments.network);
    if flags.resume.is_some() || flags.finish.is_some() || given.is_network()? {
        return network::train(arguments, given, progress);
    }
    given.check_linear()?;
    let fitted = asked(&fit::request(arguments)?, progress)?;
    render::fitted(fitted, arguments.json)
}

/// What a stored model says about rows without labels.
pub(crate) fn predict(arguments: &Predict, progress: bool) -> Result<Output, Fail> {
    let (model, data) = (arguments.model.clone(), arguments.file.clone());
    let part = part(&model, arguments.part.as_deref())?;
    let request =
        predicting::Predict { part, out: arguments.out.clone(), ..predicting::Predict::new(model, data) };
    predict::printed(asked(&request, progress)?, arguments.json)
}

/// How well a stored model does on labelled rows.
pub(crate) fn evaluate(arguments: &Evaluate, progress: bool) -> Result<Output, Fail> {
    let (model, data) = (arguments.model.clone(), arguments.file.clone());
    let part = part(&model, arguments.part.as_deref())?;
    let evaluated = asked(&scoring::Evaluate { model, data, part }, progress)?;
    evaluate::printed(evaluated, arguments.json)
}

/// The part of data, which networks alone know.
fn part(model: &Path, name: Option<&str>) -> Result<Option<Part>, Fail> {
    Ok(name.filter(|_| is_network(model)).map(Part::named).transpose()?)
}
