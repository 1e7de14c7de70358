//! Private selection.

use super::add_remove;
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::{Code, Epsilon, Event, Guarantee, Neighboring, Sensitivity};
use reticent_noise::mechanism::{PrivateSelection, SelectionRule};
use serde::{Deserialize, Serialize};

/// How a candidate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceRule {
    /// The exponential mechanism.
    Exponential,
    /// Permute-and-flip.
    PermuteAndFlip,
    /// The largest score after noise.
    ReportNoisyMax,
}

/// A choice among candidates by scores that the caller has computed.
///
/// # Guarantee
/// For scores that each differ by at most the declared sensitivity between neighbors, under the declared relation: pure ε,
/// charged before the scores are looked at.
///
/// # Reference
/// [`PrivateSelection`].
///
/// # Errors
/// [`Refusal`] naming the field, and where the session refuses the cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choose {
    /// The rule.
    pub rule: ChoiceRule,
    /// How far each score can be apart between neighbors.
    pub sensitivity: f64,
    /// The privacy budget ε.
    pub epsilon: f64,
    /// Whether all scores move in the same direction between neighbors, as counts do under add-remove.
    #[serde(default)]
    pub monotone: bool,
    /// The neighboring relation that the sensitivity is under.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
}

impl Choose {
    /// The place of the chosen candidate; its event and its claim.
    ///
    /// # Errors
    /// As of [`Choose`], and without candidates.
    pub fn one(&self, scores: &[f64], session: &mut Session) -> Result<(usize, Event, Guarantee), Refusal> {
        if scores.is_empty() {
            return Err(Refusal::value("scores", "[]", "give at least one candidate").coded(Code::List));
        }
        let rule = match self.rule {
            ChoiceRule::Exponential => SelectionRule::Exponential,
            ChoiceRule::PermuteAndFlip => SelectionRule::PermuteAndFlip,
            ChoiceRule::ReportNoisyMax => SelectionRule::ReportNoisyMax,
        };
        let (moved, epsilon) = (Sensitivity::new(self.sensitivity)?, Epsilon::new(self.epsilon)?);
        let choice = PrivateSelection::new(rule, moved, epsilon)?;
        let choice = if self.monotone { choice.monotone()? } else { choice };
        let unit = session.unit().to_owned();
        let Payment { payer, .. } = session.payment(&unit, self.neighboring)?;
        let released = payer.release(&choice, &choice.points(scores))?;
        Ok((released.value, released.event, released.guarantee))
    }
}
