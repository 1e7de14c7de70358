//! What events add up to: ε, δ, the noise for a budget, and what follows from them for people and attackers.
//!
//! An account is about events and reads no data: it spends nothing, draws nothing and needs no session. So an [`Account`] is not a
//! [`Request`](crate::Request) that is planned and then run; [`answer`](Account::answer) checks it and answers at once.
//!
//! ```
//! use reticent_curator::account::{Account, AccountResult, Activity, AccountQuestion, TrainingShorthand};
//!
//! let training = TrainingShorthand { noise_multiplier: Some(1.0), sampling_rate: Some(0.01), steps: Some(1000), ..TrainingShorthand::default() };
//! let question = AccountQuestion::Epsilon { delta: 1e-5, width: None };
//! let answered = Account::new(question, Activity::Training(training)).answer()?;
//! let AccountResult::Epsilon(found) = answered.found else { unreachable!() };
//! assert!(found.lower > 1.82823 && found.upper < 1.82824);
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `question` | the questions with their numbers, and what each of them can be asked with |
//! | `happened` | a list of events, or a training run in short |
//! | `case`, `check` | what all questions share, and checked numbers |
//! | `bound` | epsilon, delta |
//! | `solve` | noise, steps, rate |
//! | `curve` | rdp |
//! | `formula` | closed formulas of the textbooks on public numbers |
//! | `tradeoff`, `reconstruction`, `group`, `outcome`, `posterior`, `compare`, `statement` | those questions |
//! | `warning` | what to mind about an answer |
//! | `words` | events and theorems as they are named in statements |
//! | `wire` | names and orders in JSON |

mod bound;
mod case;
mod check;
mod compare;
mod curve;
mod formula;
mod group;
mod happened;
mod outcome;
mod posterior;
mod question;
mod reconstruction;
mod solve;
mod statement;
mod tradeoff;
mod warning;
mod wire;
mod words;

pub use bound::{DeltaBounds, EpsilonBounds};
pub use compare::{AccountantComparison, AccountantRow, Curves, NotBounds};
pub use curve::{Converted, Divergences};
pub use formula::{
    CandidateProbability, ChoiceMechanism, CompositionFormulas, Formula, FormulaResult, GaussianFormula,
    GaussianFormulas, OutcomeFormula, OutputPerturbationFormulas, ProjectedSgdFormula, RandomRecordFormula,
    SampleSizeFormula, SelectionFormula, SensitivityFormulas, SensitivityRow,
};
pub use group::{GroupClaim, GroupDivergence};
pub use happened::{Activity, BatchSampling, Events, Sampling, TrainingRun, TrainingShorthand};
pub use outcome::{OutcomeBounds, Theorem};
pub use posterior::{Belief, Beliefs, OddsMoment, PosteriorBound};
pub use question::{AccountQuestion, PrivacyTarget};
pub use reconstruction::ReconstructionRates;
pub use reticent_accounting::CompositionMethod;
pub use reticent_accounting::tight::Direction;
pub use solve::{Achieved, Solved};
pub use statement::PrivacyStatement;
pub use tradeoff::Rates;
pub use warning::Warning;
pub use words::{EventSummary, Summary, theorem};

use crate::Refusal;
use case::Case;
use reticent_core::Code;
use serde::{Deserialize, Serialize};

/// A question about events. It reads no data and spends nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// What is asked.
    pub question: AccountQuestion,
    /// What happened. Only beliefs under claims that are given need nothing here.
    #[serde(default)]
    pub happened: Option<Activity>,
    /// The accountant; the tightest where none is named.
    #[serde(default, with = "wire::method_or_none")]
    pub accountant: Option<CompositionMethod>,
}

/// What an account answers; its JSON is that of [`found`](Self::found), with the warnings where there are any.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AccountAnswer {
    /// The numbers.
    #[serde(flatten)]
    pub found: AccountResult,
    /// What was added up; nothing where claims were given instead.
    #[serde(skip)]
    pub happened: Option<Summary>,
    /// The accountant that was asked; a tighter one may have answered.
    #[serde(skip)]
    pub asked: CompositionMethod,
    /// What to mind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// The numbers of an answer, by question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AccountResult {
    /// To [`AccountQuestion::Epsilon`].
    Epsilon(EpsilonBounds),
    /// To [`AccountQuestion::Delta`].
    Delta(DeltaBounds),
    /// To [`AccountQuestion::Noise`], [`AccountQuestion::Steps`] and [`AccountQuestion::Rate`].
    Solved(Solved),
    /// To [`AccountQuestion::Rdp`].
    Rdp(Divergences),
    /// To [`AccountQuestion::Tradeoff`].
    Tradeoff(Rates),
    /// To [`AccountQuestion::Reconstruction`].
    Reconstruction(ReconstructionRates),
    /// To [`AccountQuestion::Group`].
    Group(GroupClaim),
    /// To [`AccountQuestion::Group`], where the divergence at one order is all that is known.
    GroupDivergence(GroupDivergence),
    /// To [`AccountQuestion::Outcome`].
    Outcome(OutcomeBounds),
    /// To [`AccountQuestion::Posterior`].
    Posterior(Beliefs),
    /// To [`AccountQuestion::Compare`].
    Compare(AccountantComparison),
    /// To [`AccountQuestion::Statement`].
    Statement(PrivacyStatement),
}

impl Account {
    /// A question to the tightest accountant.
    pub fn new(question: AccountQuestion, happened: Activity) -> Self {
        Self { question, happened: Some(happened), accountant: None }
    }

    /// Checks the question and answers it.
    ///
    /// # Guarantee
    /// Upper ends, and everything that is called a claim, hold for the sequence of all events under their relation, as long as
    /// the list of events does not depend on what they gave out: see [`reticent_accounting::Accountant`]. Numbers that are not bounds are
    /// marked ([`NotBounds`]).
    ///
    /// # Reference
    /// `accounting/src/tight/proof.md`, `accounting/src/rdp/proof.md`, and each method's module.
    ///
    /// # Errors
    /// [`Refusal`] naming the field and the remedy; also where the accountant has no bound for an event.
    pub fn answer(&self) -> Result<AccountAnswer, Refusal> {
        self.question.check()?;
        let asked = self.question.method(self.accountant)?;
        let Some(happened) = &self.happened else {
            return match &self.question {
                AccountQuestion::Posterior { prior, epsilon: Some(claims), drawn, .. } => {
                    let found = AccountResult::Posterior(posterior::declared(prior, claims, *drawn)?);
                    Ok(AccountAnswer { found, happened: None, asked, warnings: Vec::new() })
                }
                _ => {
                    let remedy = "say what happened: a JSON file here, or ⟦noise_multiplier⟧ and the like";
                    Err(Refusal::missing("events", remedy))
                }
            };
        };
        if matches!(self.question, AccountQuestion::Posterior { epsilon: Some(_), .. }) {
            let remedy = "leave it out: what happened decides; or give the claims alone";
            return Err(Refusal::about(Code::Conflict, "epsilon", remedy));
        }
        Case::new(happened, self.question.unknown(), asked)?.answer(&self.question)
    }
}

#[cfg(test)]
mod tests;
