//! The steps of a training that another framework computes.

use crate::quantity::neighboring;
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::{Certificate, Delta, Epsilon, Fact, GradientPremise, Guarantee, Neighboring};
use reticent_train::cuda::GuestSums;
use reticent_train::{Clipping, PlanSettings, PrivacyPlan, RoundingMargin, StopCause, Team, Units};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is public about a training whose gradients are computed by another framework. Give either `epsilon` or `noise_multiplier`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSteps {
    /// Whose presence is protected, e.g. `example` or `user`.
    pub unit: String,
    /// The neighboring relation; add-remove if it is not given.
    #[serde(default)]
    pub neighboring: Option<String>,
    /// The number of units as it is publicly known.
    pub size: u64,
    /// Probability of a unit to be in a step.
    pub sampling_rate: f64,
    /// Number of steps that are paid for at once.
    pub steps: u64,
    /// What one unit can add to a step's sum.
    pub clipping: Clipping,
    /// How many weights are trained.
    pub dimension: usize,
    /// ε of all steps.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// δ of all claims.
    pub delta: f64,
    /// The noise's standard deviation over the clipping norm.
    #[serde(default)]
    pub noise_multiplier: Option<f64>,
    /// The most examples of one unit in a step.
    #[serde(default)]
    pub examples_per_unit: Option<usize>,
    /// What the gradients' being those of single units rests on, for the certificate.
    pub premise: GradientPremise,
    /// The file that keeps the count of steps.
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Whether the count in the file goes on.
    #[serde(default)]
    pub resume: bool,
}

impl TrainSteps {
    fn neighboring(&self) -> Result<Neighboring, Refusal> {
        self.neighboring.as_deref().map_or(Ok(Neighboring::AddRemove), neighboring)
    }

    fn plan(&self) -> Result<PrivacyPlan, Refusal> {
        let settings = PlanSettings {
            neighboring: self.neighboring()?,
            unit: self.unit.clone(),
            size: self.size,
            sampling_rate: self.sampling_rate,
            steps: self.steps,
            clipping: self.clipping.clone(),
            dimension: self.dimension,
            cyclic: None,
            growth: None,
        };
        match (self.epsilon, self.noise_multiplier) {
            (Some(epsilon), None) => {
                let budget = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(self.delta)? };
                Ok(PrivacyPlan::target(settings, budget)?)
            }
            (None, Some(multiplier)) => Ok(PrivacyPlan::new(settings, multiplier, self.delta)?),
            (Some(epsilon), Some(_)) => {
                let remedy = "give either ⟦epsilon⟧ or ⟦noise_multiplier⟧: one follows from the other";
                Err(Refusal::value("epsilon", epsilon, remedy))
            }
            (None, None) => {
                let remedy = "give ⟦epsilon⟧, or the noise by ⟦noise_multiplier⟧";
                Err(Refusal::about(reticent_core::Code::Missing, "epsilon", remedy))
            }
        }
    }

    /// Charges all steps and makes them. `ids` names the unit of every example, in the order of the examples; without them each of
    /// `examples` is a unit.
    ///
    /// # Errors
    /// [`Refusal`] naming a field without meaning, when the session does not cover the steps, and about the file of the count.
    pub fn begin(
        &self,
        examples: usize,
        ids: Option<&[i64]>,
        session: &mut Session,
    ) -> Result<StepCourse, Refusal> {
        let plan = self.plan()?;
        let units = match ids {
            Some(ids) => Units::users(ids, self.examples_per_unit)?,
            None => Units::examples(examples),
        };
        let Payment { payer, .. } = session.payment(&self.unit, self.neighboring()?)?;
        let permit = plan.charge(payer)?;
        let mut steps = reticent_train::PrivateSteps::new(plan, units, permit)?;
        match (&self.record, self.resume) {
            (Some(file), true) => steps.resume_in(file)?,
            (Some(file), false) => steps.begin_in(file)?,
            (None, _) => {}
        }
        Ok(StepCourse { request: self.clone(), steps })
    }
}

/// The steps of a training that another framework computes, paid for.
///
/// # Guarantee
/// As [`reticent_train::PrivateSteps`], whose premises about gradients are stated in [`certificate`](Self::certificate).
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016).
///
/// # Errors
/// [`Refusal`] from every method.
pub struct StepCourse {
    request: TrainSteps,
    steps: reticent_train::PrivateSteps,
}

impl StepCourse {
    /// Pays for as many steps again.
    ///
    /// # Errors
    /// [`Refusal`] when the session does not cover them.
    pub fn extend(&mut self, session: &mut Session) -> Result<(), Refusal> {
        let Payment { payer, .. } = session.payment(&self.request.unit, self.request.neighboring()?)?;
        let permit = self.steps.plan().charge(payer)?;
        Ok(self.steps.extend(permit)?)
    }

    /// The examples of the next step, and where those of each unit end.
    ///
    /// # Errors
    /// [`Refusal`] when all steps are counted.
    pub fn sample(&mut self) -> Result<(Vec<i64>, Vec<i64>), Refusal> {
        let own = self.steps.sample()?;
        let numbers = |from: &[usize]| from.iter().map(|number| *number as i64).collect();
        Ok((numbers(own.examples()), numbers(own.ends())))
    }

    /// Draws the noise of the next step.
    ///
    /// # Errors
    /// [`Refusal`] when the operating system provides no randomness.
    pub fn draw(&mut self, team: Team) -> Result<(), Refusal> {
        Ok(self.steps.draw(team)?)
    }

    /// Adds the noise of a step to the sum of its clipped gradients. The step counts from here on.
    ///
    /// # Errors
    /// [`Refusal`] when all steps are counted, no sample is open, or the sum has another length.
    pub fn add_noise(&mut self, sum: &mut [f32], team: Team) -> Result<(), Refusal> {
        Ok(self.steps.add_noise(sum, team)?)
    }

    /// As [`add_noise`](Self::add_noise), on the sum that the other framework keeps on a GPU.
    ///
    /// # Errors
    /// As [`add_noise`](Self::add_noise); when the GPU fails, and nothing of the sum may be shown then.
    pub fn add_noise_on(&mut self, guest: &mut GuestSums) -> Result<(), Refusal> {
        Ok(self.steps.add_noise_on(guest)?)
    }

    /// Factors of the plan's clipping rule for squared norms, unit by unit and in it group by group.
    ///
    /// # Errors
    /// [`Refusal`] when they hold no whole number of units.
    pub fn factors(&self, groups: usize, squared: &[f64]) -> Result<Vec<f32>, Refusal> {
        if groups == 0 || !squared.len().is_multiple_of(groups) {
            return Err(Refusal::value("groups", groups, "give the number of groups of every unit"));
        }
        let mut factors = vec![0.0; squared.len()];
        let margin = RoundingMargin::SINGLE_PRECISION;
        self.steps.plan().settings().clipping.factors(margin, groups, squared, &mut factors);
        Ok(factors)
    }

    /// Counts at least so many steps.
    pub fn count_from(&mut self, steps: u64) {
        self.steps.count_from(steps);
    }

    /// Writes the exact count.
    ///
    /// # Errors
    /// [`Refusal`] when it cannot be written.
    pub fn settle(&mut self) -> Result<(), Refusal> {
        Ok(self.steps.settle()?)
    }

    /// The public numbers of the plan, and how many steps count.
    pub fn standing(&self) -> StepStanding {
        let plan = self.steps.plan();
        StepStanding {
            counted: self.steps.counted(),
            allowed: self.steps.allowed(),
            steps: plan.steps(),
            noise_multiplier: plan.noise_multiplier(),
            sigma: plan.sigma(),
            expected_batch: plan.expected_batch(0),
            delta: plan.delta().get(),
        }
    }

    /// ε of the counted steps at this δ; at the plan's, if none is given.
    ///
    /// # Errors
    /// What the accountant refuses.
    pub fn epsilon(&self, delta: Option<f64>) -> Result<f64, Refusal> {
        let delta = delta.map_or_else(|| Ok(self.steps.plan().delta()), Delta::new)?;
        Ok(self.steps.epsilon(delta)?.get())
    }

    /// What is guaranteed if the run ends here for this cause; by choice, if none is given.
    ///
    /// # Errors
    /// [`Refusal`] for an unknown cause, and what the accountant refuses.
    pub fn certificate(&self, cause: Option<&str>) -> Result<Certificate, Refusal> {
        let cause = cause.map_or(Ok(StopCause::Choice), super::stop_cause)?;
        Ok(self.steps.certificate(cause)?.taking(Fact::ForeignGradients(self.request.premise)))
    }
}

/// The public numbers of a plan of steps, and how many of them count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepStanding {
    /// Steps that count, those of earlier processes included.
    pub counted: u64,
    /// Steps that were paid for.
    pub allowed: u64,
    /// Steps that are paid for at once.
    pub steps: u64,
    /// The noise's standard deviation over the clipping norm.
    pub noise_multiplier: f64,
    /// The noise's standard deviation on a sum.
    pub sigma: f64,
    /// What every sum is divided by.
    pub expected_batch: f64,
    /// δ of all claims.
    pub delta: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Code, LossReduction, MixingCheck};

    fn premise() -> GradientPremise {
        GradientPremise {
            loss_reduction: LossReduction::Sum,
            check: MixingCheck::Declared,
            counts_all_targets: false,
            processes: None,
        }
    }

    fn request() -> TrainSteps {
        TrainSteps {
            unit: "example".to_owned(),
            neighboring: None,
            size: 100,
            sampling_rate: 0.1,
            steps: 3,
            clipping: Clipping::Flat { norm: 1.0 },
            dimension: 4,
            epsilon: None,
            delta: 1e-5,
            noise_multiplier: Some(2.0),
            examples_per_unit: None,
            premise: premise(),
            record: None,
            resume: false,
        }
    }

    fn begun(request: &TrainSteps) -> Result<StepCourse, Refusal> {
        request.begin(100, None, &mut Session::without_limit()?)
    }

    #[test]
    fn noise_or_epsilon_is_given() {
        assert!(begun(&request()).is_ok());
        let both = TrainSteps { epsilon: Some(1.0), ..request() };
        assert_eq!(begun(&both).err().unwrap().field(), Some("epsilon"));
        let none = TrainSteps { noise_multiplier: None, ..request() };
        assert_eq!(begun(&none).err().unwrap().code(), Code::Missing);
        let target = TrainSteps { epsilon: Some(1.0), noise_multiplier: None, ..request() };
        assert!(begun(&target).unwrap().certificate(None).unwrap().guarantee.epsilon.get() <= 1.0);
    }

    #[test]
    fn the_premise_is_in_the_certificate() {
        let mut course = begun(&request()).unwrap();
        course.sample().unwrap();
        course.add_noise(&mut [0.0; 4], Team::own(1)).unwrap();
        assert_eq!((course.standing().counted, course.standing().allowed), (1, 3));
        let certificate = course.certificate(Some("crash")).unwrap();
        assert!(certificate.public.contains(&Fact::ForeignGradients(premise())));
        assert_eq!(certificate.guarantee.epsilon.get(), course.epsilon(None).unwrap());
        assert!(course.certificate(Some("boredom")).is_err());
        assert!(course.factors(3, &[1.0, 2.0]).is_err() && course.factors(1, &[4.0]).unwrap()[0] < 0.5);
    }

    #[test]
    fn a_session_with_another_unit_is_refused() {
        let ledger = Box::new(reticent_core::Unlimited::new());
        let mut session = Session::new("visits", "row", Neighboring::AddRemove, ledger).unwrap();
        let refused = request().begin(100, None, &mut session).err().unwrap();
        assert_eq!((refused.code(), refused.field()), (Code::Relation, Some("unit")));
    }
}
