//! Randomized response.

use super::{Perturbed, no_epsilon};
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::{Confidence, Epsilon, Neighboring, Plan, Probability};
use reticent_noise::mechanism::{Mechanism, RandomizedResponse, ShareEstimate};
use reticent_noise::sampler::uniform_below;
use reticent_noise::{Entropy, Releaser};
use serde::{Deserialize, Serialize};

/// Answers to a question with so many possible answers, each randomized by itself.
///
/// # Guarantee
/// Every respondent's answer is released once, so each of them pays the one event, under replace-one.
///
/// # Reference
/// [`RandomizedResponse`]; McSherry, *Privacy integrated queries* (2009), for composition over disjoint records.
///
/// # Errors
/// [`Refusal`] naming the field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomizeAnswers {
    /// How many answers are possible.
    pub categories: u64,
    /// The privacy budget ε of one respondent; or `keep_probability`.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The probability of reporting the true answer, in place of ε.
    #[serde(default)]
    pub keep_probability: Option<f64>,
}

impl RandomizeAnswers {
    fn response(&self) -> Result<RandomizedResponse, Refusal> {
        match (self.epsilon, self.keep_probability) {
            (Some(epsilon), None) => Ok(RandomizedResponse::new(Epsilon::new(epsilon)?, self.categories)?),
            (None, Some(keep)) => {
                Ok(RandomizedResponse::with_keep_probability(Probability::new(keep)?, self.categories)?)
            }
            (Some(_), Some(keep)) => {
                let remedy = "give either ⟦epsilon⟧ or ⟦keep_probability⟧, not both";
                Err(Refusal::conflict("keep_probability", keep, remedy))
            }
            (None, None) => Err(no_epsilon()),
        }
    }

    /// The randomized answers, by number. One that is none of the categories counts as an arbitrary one, drawn evenly.
    ///
    /// # Errors
    /// As of [`RandomizeAnswers`], and where the session refuses the cost.
    pub fn answers(&self, codes: &[u64], session: &mut Session) -> Result<Perturbed<u64>, Refusal> {
        let response = self.response()?;
        let unit = session.unit().to_owned();
        let Payment { payer, .. } = session.payment(&unit, Neighboring::ReplaceOne)?;
        let event = response.event();
        let mut permit = payer.charge(&Plan::new(vec![event.clone()])?)?;
        let mut paid = payer.with(&mut permit);
        let (mut each, mut coins) = (paid.per_record(&event)?, Entropy::new()?);
        let mut known = |code: u64| match code < self.categories {
            true => code,
            false => uniform_below(&mut coins, self.categories),
        };
        let values = codes
            .iter()
            .map(|code| each.release(&response, &known(*code)).map(|released| released.value))
            .collect::<Result<_, _>>()?;
        let keep = response.keep_probability();
        Ok(Perturbed { values, event, guarantee: response.guarantee(), scale: keep, error: f64::NAN })
    }

    /// The shares of all categories, from how often each was reported.
    ///
    /// # Errors
    /// As of [`RandomizeAnswers`], and for another number of counts than categories.
    pub fn estimate(&self, reported: &[u64], confidence: f64) -> Result<Vec<ShareEstimate>, Refusal> {
        Ok(self.response()?.estimate_histogram(reported, Confidence::new(confidence)?)?)
    }
}
