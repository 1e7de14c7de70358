//! `reticent account`: raw arguments → checked case → library call → output.
//!
//! | file | step |
//! |---|---|
//! | `events` | a JSON file to events, with the way to what is wrong in it |
//! | `source` | the file, or the flags of a training run, to what happened |
//! | `case` | what all questions share, and the numbers that flags give |
//! | `bound` | epsilon, delta |
//! | `solve` | noise, steps, rate |
//! | `curve` | rdp |
//! | `attack` | tradeoff |
//! | `group`, `outcome`, `posterior`, `compare`, `statement` | those questions |
//! | `words`, `warn` | text |

mod attack;
mod bound;
mod case;
mod compare;
mod curve;
mod events;
mod group;
mod outcome;
mod posterior;
mod solve;
mod source;
mod statement;
mod warn;
mod words;

use crate::Output;
use crate::args::account::Question;
use crate::bar::Stage;
use crate::fail::Fail;

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
    let line = Stage::new(progress);
    line.say(stage(question));
    match question {
        Question::Epsilon(arguments) => bound::epsilon(arguments),
        Question::Delta(arguments) => bound::delta(arguments),
        Question::Noise(arguments) => solve::noise(arguments),
        Question::Steps(arguments) => solve::steps(arguments),
        Question::Rate(arguments) => solve::rate(arguments),
        Question::Rdp(arguments) => curve::rdp(arguments),
        Question::Tradeoff(arguments) => attack::tradeoff(arguments),
        Question::Group(arguments) => group::group(arguments),
        Question::Outcome(arguments) => outcome::outcome(arguments),
        Question::Posterior(arguments) => posterior::beliefs(arguments),
        Question::Compare(arguments) => compare::compare(arguments),
        Question::Statement(arguments) => statement::statement(arguments),
    }
}

#[cfg(test)]
mod tests;
