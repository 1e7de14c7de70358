//! Mechanisms on numbers that the caller has computed: additive noise, randomized response, private selection.
//!
//! ```
//! use reticent_curator::Session;
//! use reticent_curator::perturb::{AdditiveMechanism, Perturb};
//!
//! let noise = Perturb { epsilon: Some(0.5), ..Perturb::new(AdditiveMechanism::Laplace, 1.0) };
//! let noisy = noise.reals(&[120.0], &mut Session::without_limit()?)?;
//! assert_eq!((noisy.values.len(), noisy.guarantee.epsilon.get()), (1, 0.5));
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```

use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::{
    Code, Confidence, Delta, Epsilon, Event, Guarantee, Neighboring, Plan, Probability, Scale, Sensitivity,
};
use reticent_noise::mechanism::{
    Accuracy, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Mechanism, PrivateSelection,
    RandomizedResponse, SelectionRule, ShareEstimate, StableHistogram, StudentT,
};
use reticent_noise::sampler::uniform_below;
use reticent_noise::{Entropy, Releaser};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Additive noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdditiveMechanism {
    /// Laplace noise on real numbers; the sensitivity is in ℓ1.
    Laplace,
    /// Gaussian noise on real numbers; the sensitivity is in ℓ2.
    Gaussian,
    /// Student-t noise on real numbers; the sensitivity is in ℓ2.
    StudentT,
    /// Discrete Laplace noise on integers; the sensitivity is in ℓ1.
    DiscreteLaplace,
    /// Discrete Gaussian noise on integers; the sensitivity is in ℓ2.
    DiscreteGaussian,
}

/// Noise for numbers whose sensitivity the caller declares.
///
/// # Guarantee
/// For numbers that differ by at most the declared sensitivity between neighbors, under the declared relation: that of the mechanism,
/// charged to the session before the numbers are looked at. Whether the sensitivity is true is the caller's responsibility. It
/// is of the whole list together.
///
/// # Reference
/// The mechanisms of [`reticent_noise::mechanism`].
///
/// # Errors
/// [`Refusal`] naming the field, for numbers without meaning and where the session refuses the cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Perturb {
    /// The mechanism.
    pub mechanism: AdditiveMechanism,
    /// How far the numbers can be apart between neighbors.
    pub sensitivity: f64,
    /// The privacy budget ε; or `scale`.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The δ, for Gaussian noise.
    #[serde(default)]
    pub delta: Option<f64>,
    /// The scale of the noise (σ for Gaussian noise), in place of ε.
    #[serde(default)]
    pub scale: Option<f64>,
    /// Of Student-t noise.
    #[serde(default = "three")]
    pub degrees_of_freedom: u32,
    /// The confidence of the stated error.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
    /// The neighboring relation that the sensitivity is under.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
}

fn three() -> u32 {
    3
}

fn ninety_five() -> f64 {
    0.95
}

fn add_remove() -> Neighboring {
    Neighboring::AddRemove
}

/// Numbers with noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbed<T> {
    /// What may be published.
    pub values: Vec<T>,
    /// What an accountant is told.
    pub event: Event,
    /// The claim of the mechanism.
    pub guarantee: Guarantee,
    /// The scale of the noise.
    pub scale: f64,
    /// The error that one number exceeds with probability at most 1 − confidence.
    pub error: f64,
}

impl Perturb {
    /// A mechanism with a sensitivity; the budget is still missing.
    pub fn new(mechanism: AdditiveMechanism, sensitivity: f64) -> Self {
        Self {
            mechanism,
            sensitivity,
            epsilon: None,
            delta: None,
            scale: None,
            degrees_of_freedom: three(),
            confidence: ninety_five(),
            neighboring: add_remove(),
        }
    }

    /// Adds noise to real numbers. One that is not a number counts as 0, and infinite ones as the ends of the grid.
    ///
    /// # Errors
    /// As of [`Perturb`], and for a mechanism of integers.
    pub fn reals(&self, values: &[f64], session: &mut Session) -> Result<Perturbed<f64>, Refusal> {
        let (moved, dimension) = (self.sensitivity()?, values.len());
        match self.mechanism {
            AdditiveMechanism::Laplace => {
                self.pure()?;
                let noise = match self.scale()? {
                    Some(scale) => Laplace::with_scale(moved, scale, dimension)?,
                    None => Laplace::new(moved, self.epsilon()?, dimension)?,
                };
                self.drawn(&noise, values, noise.scale(), session)
            }
            AdditiveMechanism::Gaussian => {
                let noise = self.gaussian(dimension)?;
                self.drawn(&noise, values, noise.sigma(), session)
            }
            AdditiveMechanism::StudentT => {
                self.pure()?;
                let degrees = self.degrees_of_freedom;
                let noise = match self.scale()? {
                    Some(scale) => StudentT::new(moved, scale, degrees, dimension)?,
                    None => StudentT::for_epsilon(moved, self.epsilon()?, degrees, dimension)?,
                };
                self.drawn(&noise, values, noise.scale(), session)
            }
            AdditiveMechanism::DiscreteLaplace | AdditiveMechanism::DiscreteGaussian => {
                Err(Refusal::about(Code::Kind, "mechanism", "discrete noise is for integers: give integers"))
            }
        }
    }

    /// Adds noise to integers. A result beyond 64 bits is the nearest integer that has as many, which is post-processing.
    ///
    /// # Errors
    /// As of [`Perturb`], and for a mechanism of real numbers.
    pub fn integers(&self, values: &[i64], session: &mut Session) -> Result<Perturbed<i64>, Refusal> {
        let values: Vec<i128> = values.iter().map(|value| i128::from(*value)).collect();
        let drawn = match self.mechanism {
            AdditiveMechanism::DiscreteLaplace => {
                self.pure()?;
                let moved = self.whole_sensitivity()?;
                let noise = match self.scale()? {
                    Some(scale) => DiscreteLaplace::with_scale(moved, scale)?,
                    None => DiscreteLaplace::new(moved, self.epsilon()?)?,
                };
                self.drawn(&noise, &values, noise.scale(), session)?
            }
            AdditiveMechanism::DiscreteGaussian => {
                let moved = self.sensitivity()?;
                let noise = match self.scale()? {
                    Some(scale) => DiscreteGaussian::with_sigma(moved, scale, self.delta()?)?,
                    None => DiscreteGaussian::new(moved, self.epsilon()?, self.delta()?)?,
                };
                self.drawn(&noise, &values, noise.sigma(), session)?
            }
            _ => {
                let remedy = "this noise is for real numbers: give those, or use discrete noise";
                return Err(Refusal::about(Code::Kind, "mechanism", remedy));
            }
        };
        let Perturbed { values, event, guarantee, scale, error } = drawn;
        let ends = (i128::from(i64::MIN), i128::from(i64::MAX));
        let values = values.into_iter().map(|value| value.clamp(ends.0, ends.1) as i64).collect();
        Ok(Perturbed { values, event, guarantee, scale, error })
    }

    /// The Gaussian mechanism for so many numbers; the one that this thread made last, if it is the same. To calibrate it takes longer
    /// than to draw.
    fn gaussian(&self, dimension: usize) -> Result<Gaussian, Refusal> {
        thread_local! {
            static LAST: RefCell<Option<(Perturb, usize, Gaussian)>> = const { RefCell::new(None) };
        }
        let known = LAST.with_borrow(|last| match last {
            Some((request, size, noise)) if request == self && *size == dimension => Some(*noise),
            _ => None,
        });
        if let Some(noise) = known {
            return Ok(noise);
        }
        let moved = self.sensitivity()?;
        let noise = match self.scale()? {
            Some(scale) => Gaussian::with_sigma(moved, scale, self.delta()?, dimension)?,
            None => Gaussian::new(moved, self.epsilon()?, self.delta()?, dimension)?,
        };
        LAST.set(Some((self.clone(), dimension, noise)));
        Ok(noise)
    }

    fn drawn<M, T>(
        &self,
        noise: &M,
        values: &[T],
        scale: f64,
        session: &mut Session,
    ) -> Result<Perturbed<T>, Refusal>
    where
        M: Mechanism<Input = [T], Output = Vec<T>> + Accuracy,
    {
        let confidence = Confidence::new(self.confidence)?;
        let unit = session.unit().to_owned();
        let Payment { payer, .. } = session.payment(&unit, self.neighboring)?;
        let released = payer.release(noise, values)?;
        let (event, guarantee) = (released.event, released.guarantee);
        Ok(Perturbed { values: released.value, event, guarantee, scale, error: noise.error(confidence) })
    }

    fn sensitivity(&self) -> Result<Sensitivity, Refusal> {
        Ok(Sensitivity::new(self.sensitivity)?)
    }

    fn whole_sensitivity(&self) -> Result<u64, Refusal> {
        match self.sensitivity.fract() == 0.0 && (1.0..=2f64.powi(40)).contains(&self.sensitivity) {
            true => Ok(self.sensitivity as u64),
            false => {
                Err(Refusal::value("sensitivity", self.sensitivity, "give a whole number from 1 to 2^40"))
            }
        }
    }

    fn epsilon(&self) -> Result<Epsilon, Refusal> {
        match self.epsilon {
            Some(epsilon) => Ok(Epsilon::new(epsilon)?),
            None => Err(no_epsilon()),
        }
    }

    fn delta(&self) -> Result<Delta, Refusal> {
        match self.delta {
            Some(delta) => Ok(Delta::new(delta)?),
            None => Err(Refusal::missing(
                "delta",
                "Gaussian noise needs a delta, well below 1 / number of people, such as 1e-6",
            )),
        }
    }

    /// The scale, if it is given in place of an ε.
    fn scale(&self) -> Result<Option<Scale>, Refusal> {
        match (self.scale, self.epsilon) {
            (Some(scale), None) => Ok(Some(Scale::new(scale)?)),
            (Some(scale), Some(_)) => {
                Err(Refusal::conflict("scale", scale, "give either ⟦epsilon⟧ or ⟦scale⟧, not both"))
            }
            (None, _) => Ok(None),
        }
    }

    /// Refuses a δ where the mechanism has none.
    fn pure(&self) -> Result<(), Refusal> {
        match self.delta {
            None => Ok(()),
            Some(delta) => {
                let remedy = "this mechanism has no delta: leave it out, or use Gaussian noise";
                Err(Refusal::conflict("delta", delta, remedy))
            }
        }
    }
}

fn no_epsilon() -> Refusal {
    Refusal::missing("epsilon", "give a privacy budget, such as 1")
}

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

/// Counts of rows by labels that are found in the data: only labels whose noisy count reaches a threshold come out.
///
/// # Guarantee
/// For counts of which one row is part of one label at most: (ε, δ), charged before the counts are looked at.
///
/// # Reference
/// [`StableHistogram`].
///
/// # Errors
/// [`Refusal`] naming the field, and where the session refuses the cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindLabels {
    /// The privacy budget ε.
    pub epsilon: f64,
    /// The δ: the probability that a label of a single row comes out.
    pub delta: f64,
    /// The confidence of the stated error.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
    /// The neighboring relation.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
}

/// Labels with their noisy counts, in the order of their text.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundLabels {
    /// What may be published.
    pub counts: BTreeMap<String, i128>,
    /// The least noisy count that comes out.
    pub threshold: u64,
    /// What an accountant is told.
    pub event: Event,
    /// The claim of the mechanism.
    pub guarantee: Guarantee,
    /// The error that one count exceeds with probability at most 1 − confidence.
    pub error: f64,
}

impl FindLabels {
    /// The labels that reach the threshold.
    ///
    /// # Errors
    /// As of [`FindLabels`].
    pub fn of(&self, counts: &BTreeMap<String, u64>, session: &mut Session) -> Result<FoundLabels, Refusal> {
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::new(self.delta)?);
        let noise = StableHistogram::new(self.neighboring, epsilon, delta)?;
        let confidence = Confidence::new(self.confidence)?;
        let unit = session.unit().to_owned();
        let Payment { payer, .. } = session.payment(&unit, self.neighboring)?;
        let released = payer.release(&noise, counts)?;
        Ok(FoundLabels {
            counts: released.value,
            threshold: noise.threshold(),
            event: released.event,
            guarantee: released.guarantee,
            error: noise.error(confidence),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::SharedBudget;

    fn open() -> Session {
        Session::without_limit().unwrap()
    }

    #[test]
    fn the_cost_is_that_of_the_mechanism_and_is_charged_first() {
        let limit = Guarantee::pure(Epsilon::new(1.0).unwrap());
        let budget = SharedBudget::new("visits", "patient", limit, Neighboring::AddRemove).unwrap();
        let noise = Perturb { epsilon: Some(0.75), ..Perturb::new(AdditiveMechanism::Laplace, 1.0) };
        let mut session = budget.session().unwrap();
        assert_eq!(noise.reals(&[3.0, 4.0], &mut session).unwrap().values.len(), 2);
        assert_eq!(noise.reals(&[3.0], &mut session).unwrap_err().code(), Code::Spent);
        // The scale is rounded up, so the event costs a little less than it may.
        assert!((budget.own().unwrap().left().unwrap().get() - 0.25).abs() < 1e-9);
        let other = Perturb { neighboring: Neighboring::ReplaceOne, ..noise };
        assert_eq!(other.reals(&[3.0], &mut session).unwrap_err().code(), Code::Relation);
    }

    #[test]
    fn noise_has_one_of_two_strengths() {
        let laplace = Perturb::new(AdditiveMechanism::Laplace, 1.0);
        let refused = |noise: Perturb| noise.reals(&[1.0], &mut open()).unwrap_err();
        assert_eq!(refused(laplace.clone()).field(), Some("epsilon"));
        let both = Perturb { epsilon: Some(1.0), scale: Some(1.0), ..laplace.clone() };
        assert_eq!(refused(both).field(), Some("scale"));
        let delta = Perturb { epsilon: Some(1.0), delta: Some(1e-6), ..laplace.clone() };
        assert_eq!(refused(delta).field(), Some("delta"));
        let gaussian = Perturb { epsilon: Some(1.0), ..Perturb::new(AdditiveMechanism::Gaussian, 1.0) };
        assert_eq!(refused(gaussian.clone()).field(), Some("delta"));
        let gaussian = Perturb { delta: Some(1e-6), ..gaussian };
        assert_eq!(gaussian.integers(&[1], &mut open()).unwrap_err().code(), Code::Kind);
        for epsilon in [-1.0, f64::NAN, 0.0, f64::INFINITY] {
            assert!(
                Perturb { epsilon: Some(epsilon), ..laplace.clone() }.reals(&[1.0], &mut open()).is_err()
            );
        }
        let scaled = Perturb { scale: Some(2.0), ..laplace }.reals(&[f64::NAN, f64::INFINITY], &mut open());
        let scaled = scaled.unwrap();
        assert!(scaled.values.iter().all(|value| value.is_finite()));
        assert!((scaled.guarantee.epsilon.get() - 0.5).abs() < 1e-6 && scaled.guarantee.epsilon.get() >= 0.5);
    }

    #[test]
    fn another_request_is_not_answered_with_the_last_mechanism() {
        let noise = |epsilon: f64| Perturb {
            epsilon: Some(epsilon),
            delta: Some(1e-6),
            ..Perturb::new(AdditiveMechanism::Gaussian, 1.0)
        };
        let drawn = |epsilon: f64, values: &[f64]| noise(epsilon).reals(values, &mut open()).unwrap();
        let (first, again) = (drawn(1.0, &[1.0]), drawn(1.0, &[1.0]));
        assert!(first.event == again.event && first.values != again.values);
        assert_ne!(first.event, drawn(0.5, &[1.0]).event);
        let wide = drawn(0.5, &[1.0, 2.0]);
        assert!(wide.values.len() == 2 && wide.guarantee.epsilon.get() <= 0.5);
        let other = Perturb { delta: Some(1e-9), ..noise(0.5) };
        assert!(other.reals(&[1.0, 2.0], &mut open()).unwrap().scale > wide.scale);
    }

    #[test]
    fn integers_stay_within_64_bits() {
        let noise = Perturb { scale: Some(1e6), ..Perturb::new(AdditiveMechanism::DiscreteLaplace, 1.0) };
        let noisy = noise.integers(&[i64::MAX, i64::MIN, 0], &mut open()).unwrap();
        assert_eq!(noisy.values.len(), 3);
        let half = Perturb { sensitivity: 0.5, ..noise };
        assert_eq!(half.integers(&[1], &mut open()).unwrap_err().field(), Some("sensitivity"));
    }

    #[test]
    fn answers_are_randomized_one_by_one_and_shares_come_back() {
        let request = RandomizeAnswers { categories: 3, epsilon: Some(50.0), keep_probability: None };
        let answers = request.answers(&[0, 1, 2, 7], &mut open()).unwrap();
        // At this ε a change has probability below 1e-20.
        assert_eq!(answers.values[..3], [0, 1, 2]);
        // An answer that is not declared is drawn evenly: none of the three is missing except with probability below 1e-15.
        let strange = request.answers(&[7; 100], &mut open()).unwrap().values;
        assert!((0..3).all(|code| strange.contains(&code)) && strange.iter().all(|code| *code < 3));
        let shares = request.estimate(&[2, 1, 1], 0.95).unwrap();
        assert!((shares[0].value - 0.5).abs() < 1e-9);
        assert!(request.estimate(&[2, 1], 0.95).is_err());
    }

    #[test]
    fn the_best_candidate_is_chosen_where_there_is_next_to_no_noise() {
        for rule in [ChoiceRule::Exponential, ChoiceRule::PermuteAndFlip, ChoiceRule::ReportNoisyMax] {
            let request = Choose {
                rule,
                sensitivity: 1.0,
                epsilon: 100.0,
                monotone: false,
                neighboring: Neighboring::AddRemove,
            };
            assert_eq!(request.one(&[1.0, 5.0, 2.0], &mut open()).unwrap().0, 1);
            assert_eq!(request.one(&[], &mut open()).unwrap_err().field(), Some("scores"));
        }
    }

    #[test]
    fn rare_labels_stay_hidden() {
        let request =
            FindLabels { epsilon: 1.0, delta: 1e-9, confidence: 0.95, neighboring: Neighboring::AddRemove };
        let counts = BTreeMap::from([("common".to_owned(), 100_000), ("lone".to_owned(), 1)]);
        let found = request.of(&counts, &mut open()).unwrap();
        // The lone label comes out with probability 1e-9.
        assert_eq!(found.counts.keys().collect::<Vec<_>>(), ["common"]);
        assert!(found.threshold > 10 && found.guarantee.delta.get() <= 1e-9);
        let pure = FindLabels { delta: 0.0, ..request };
        assert_eq!(pure.of(&counts, &mut open()).unwrap_err().field(), Some("delta"));
    }
}
