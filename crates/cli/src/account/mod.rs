//! `reticent account`: flags → request → answer → output.
//!
//! | file | step |
//! |---|---|
//! | `request`, `typed` | flags to the request, and refusals of it back to what was typed |
//! | `bound` | epsilon, delta |
//! | `solve` | noise, steps, rate |
//! | `curve` | rdp |
//! | `attack` | tradeoff |
//! | `group`, `outcome`, `posterior`, `compare`, `statement` | those questions |
//! | `words`, `warn` | text |

mod attack;
mod bound;
mod compare;
mod curve;
mod group;
mod outcome;
mod posterior;
mod request;
mod solve;
mod statement;
mod typed;
mod warn;
mod words;

use crate::Output;
use crate::args::account::Question;
use crate::bar::Bar;
use crate::fail::Fail;
use crate::file;
use crate::text::json_line;
use request::Asked;
use reticent::curator::account::{Answered, Comparison, Found};
use reticent::curator::watch::Activity;
use reticent::report::plot::Chart;
use std::mem::take;
use std::path::Path;
use typed::Typed;

/// What an answer takes its time for.
fn stage(question: &Question) -> &'static str {
    match question {
        Question::Noise(_) => "looking for the least noise multiplier; each try is bracketed from both sides",
        Question::Steps(_) => "looking for the most steps; each try is bracketed from both sides",
        Question::Rate(_) => "looking for the largest sampling rate; each try is bracketed from both sides",
        Question::Compare(_) => "adding up by every accountant",
        _ => "adding up the events, from both sides",
    }
}

/// Answers one question.
pub(crate) fn run(question: &Question, progress: bool) -> Result<Output, Fail> {
    let (mut answered, plot, json) = answered(question, progress)?;
    let warnings = warn::lines(&take(&mut answered.warnings));
    let stdout = if json { json_line(&answered)? } else { text(&answered, plot) };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// The answer to one question, its picture drawn where one is asked for; where that is, and whether JSON is asked for.
fn answered(question: &Question, progress: bool) -> Result<(Answered, Option<&Path>, bool), Fail> {
    let line = Bar::stage(progress);
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
pub(crate) fn compared(question: &Question) -> Result<Option<(Comparison, String)>, Fail> {
    let (answered, ..) = answered(question, false)?;
    let warnings = warn::lines(&answered.warnings);
    Ok(match answered.found {
        Found::Compare(found) => Some((found, warnings)),
        _ => None,
    })
}

/// The picture of an answer, where it has one.
fn chart(answered: &Answered) -> Option<Chart> {
    match &answered.found {
        Found::Tradeoff(found) => Some(attack::chart(found, answered)),
        Found::Posterior(found) => Some(posterior::chart(found)),
        Found::Compare(found) => found.curves.as_ref().map(|curves| compare::chart(found, curves, answered)),
        _ => None,
    }
}

/// The answer in lines.
fn text(answered: &Answered, plot: Option<&Path>) -> String {
    match &answered.found {
        Found::Epsilon(found) => bound::epsilon(found, answered),
        Found::Delta(found) => bound::delta(found, answered),
        Found::Solved(found) => solve::solved(found, answered),
        Found::Rdp(found) => curve::rdp(found, answered),
        Found::Tradeoff(found) => attack::tradeoff(found, answered, plot),
        Found::Group(found) => group::claim(found, answered),
        Found::GroupDivergence(found) => group::divergence(found, answered),
        Found::Outcome(found) => outcome::outcome(found, answered),
        Found::Posterior(found) => posterior::beliefs(found, answered, plot),
        Found::Compare(found) => compare::compare(found, answered, plot),
        Found::Statement(found) => statement::statement(found),
    }
}

#[cfg(test)]
mod tests;
