//! `reticent account`: flags → request → answer → output.
//!
//! | file | step |
//! |---|---|
//! | `request`, `typed` | flags to the request, and refusals of it back to what was typed |
//! | `bound` | epsilon, delta |
//! | `solve` | noise, steps, rate |
//! | `curve` | rdp |
//! | `formula` | closed formulas of the textbooks |
//! | `attack` | tradeoff |
//! | `reconstruction`, `group`, `outcome`, `posterior`, `compare`, `statement` | those questions |
//! | `words`, `warn` | text |

mod attack;
mod bound;
mod compare;
mod curve;
mod formula;
mod group;
mod outcome;
mod posterior;
mod reconstruction;
mod request;
mod solve;
mod statement;
mod typed;
mod warn;
mod words;

use crate::Output;
use crate::args::account::{Question, Request};
use crate::bar;
use crate::fail::Fail;
use crate::file;
use crate::screen;
use crate::text::json_line;
use request::Asked;
use reticent::curator::account::{AccountAnswer, AccountResult, AccountantComparison};
use reticent::report::plot::Chart;
use std::mem::take;
use std::path::Path;
use typed::Typed;

/// The progress label of a question.
fn stage(question: &Question) -> &'static str {
    match question {
        Question::Noise(_) => "searching for the smallest noise multiplier",
        Question::Steps(_) => "searching for the largest number of steps",
        Question::Rate(_) => "searching for the largest sampling rate",
        Question::Compare(_) => "composing the events with every accountant",
        _ => "composing the events",
    }
}

/// Answers one question, or evaluates one formula.
pub(crate) fn run(request: &Request, progress: bool) -> Result<Output, Fail> {
    let question = match request {
        Request::Question(question) => question,
        Request::Formula { formula } => return formula::run(formula),
    };
    let (mut answered, plot, json) = answered(question, progress)?;
    let warnings = warn::lines(&take(&mut answered.warnings));
    let stdout = if json { json_line(&answered)? } else { screen::present(&text(&answered, plot)) };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// The answer to one question, its picture drawn where one is asked for; where that is, and whether JSON is asked for.
fn answered(question: &Question, progress: bool) -> Result<(AccountAnswer, Option<&Path>, bool), Fail> {
    let line = bar::stage(progress);
    line.say(stage(question));
    let mut typed = Typed::default();
    let Asked { account, plot, json } = request::read(question, &mut typed)?;
    let answered = account.answer().map_err(|refusal| typed.fail(refusal))?;
    if let (Some(path), Some(chart)) = (plot, chart(&answered)) {
        file::plot(path).write(&chart.svg())?;
    }
    Ok((answered, plot, json))
}

/// The comparison of all accountants that a question asks for, its picture drawn, and what to mind about it.
pub(crate) fn compared(request: &Request) -> Result<Option<(AccountantComparison, String)>, Fail> {
    let Request::Question(question) = request else { return Ok(None) };
    let (answered, ..) = answered(question, false)?;
    let warnings = warn::lines(&answered.warnings);
    Ok(match answered.found {
        AccountResult::Compare(found) => Some((found, warnings)),
        _ => None,
    })
}

/// The plot of an answer, if it has one.
fn chart(answered: &AccountAnswer) -> Option<Chart> {
    match &answered.found {
        AccountResult::Tradeoff(found) => Some(attack::chart(found, answered)),
        AccountResult::Reconstruction(found) => Some(reconstruction::chart(found, answered)),
        AccountResult::Posterior(found) => Some(posterior::chart(found)),
        AccountResult::Compare(found) => {
            found.curves.as_ref().map(|curves| compare::chart(found, curves, answered))
        }
        _ => None,
    }
}

/// The answer in lines.
fn text(answered: &AccountAnswer, plot: Option<&Path>) -> String {
    match &answered.found {
        AccountResult::Epsilon(found) => bound::epsilon(found, answered),
        AccountResult::Delta(found) => bound::delta(found, answered),
        AccountResult::Solved(found) => solve::solved(found, answered),
        AccountResult::Rdp(found) => curve::rdp(found, answered),
        AccountResult::Tradeoff(found) => attack::tradeoff(found, answered, plot),
        AccountResult::Reconstruction(found) => reconstruction::rates(found, answered, plot),
        AccountResult::Group(found) => group::claim(found, answered),
        AccountResult::GroupDivergence(found) => group::divergence(found, answered),
        AccountResult::Outcome(found) => outcome::outcome(found, answered),
        AccountResult::Posterior(found) => posterior::beliefs(found, answered, plot),
        AccountResult::Compare(found) => compare::compare(found, answered, plot),
        AccountResult::Statement(found) => statement::statement(found),
    }
}

#[cfg(test)]
mod tests;
