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
use crate::fail::Fail;

/// Answers one question.
pub(crate) fn run(question: &Question) -> Result<Output, Fail> {
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
