//! The methods by name, and the choice among them.

use crate::gradient::{self, DescentSchedule, GradientPlan};
use crate::loss::MarginLoss;
use crate::plan::{Outcome, PerturbationPlan};
use crate::problem::Problem;
use crate::settings::Scope;
use crate::utility::{self, ExcessRiskBound};
use crate::{ErmError, objective, output};
use reticent_core::{Code, Event, Guarantee, InvalidValue};
use reticent_noise::Paid;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a model is made private.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitMethod {
    /// The minimiser itself: no privacy.
    Exact,
    /// Noise on the minimiser.
    Output,
    /// A random linear term, by the best proven analysis.
    Objective,
    /// Objective perturbation as published in 2011: pure, replace-one.
    #[serde(rename = "chaudhuri-2011")]
    Chaudhuri,
    /// Objective perturbation as published in 2012: (ε, δ), add-remove.
    #[serde(rename = "kifer-2012")]
    Kifer,
    /// Approximate minima perturbation as published in 2019: (ε, δ), replace-one.
    #[serde(rename = "iyengar-2019")]
    Iyengar,
    /// Noisy gradient descent on all rows.
    Descent,
    /// Noisy gradient descent on Poisson samples.
    Sgd,
}

impl FitMethod {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Exact,
        Self::Output,
        Self::Objective,
        Self::Chaudhuri,
        Self::Kifer,
        Self::Iyengar,
        Self::Descent,
        Self::Sgd,
    ];

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Output => "output",
            Self::Objective => "objective",
            Self::Chaudhuri => "chaudhuri-2011",
            Self::Kifer => "kifer-2012",
            Self::Iyengar => "iyengar-2019",
            Self::Descent => "descent",
            Self::Sgd => "sgd",
        }
    }

    /// The method with the smallest proven excess risk for this scope and budget, without looking at any row.
    ///
    /// The bounds are those of [`utility`], at the weights' norm that the defaults are made for. That of descent is for
    /// [`DescentSchedule::proven`], while [`plan`](Self::plan) descends on [`DescentSchedule::descent`] unless told otherwise.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] for ε = 0 or a scope without meaning.
    pub fn auto(scope: &Scope, budget: Guarantee) -> Result<Self, ErmError> {
        scope.check()?;
        budget.epsilon.positive()?;
        let bounds: Vec<ExcessRiskBound> = utility::bounds(scope, budget, utility::USUAL_RADIUS);
        let best = bounds.iter().min_by(|a, b| a.excess.total_cmp(&b.excess));
        Ok(best.map_or(Self::Objective, |bound| bound.method))
    }

    /// As [`auto`](Self::auto) for several classes: k fits, each with its share of the budget, against one softmax descent over k
    /// times the weights, of k times the squared norm and gradients √2 as long.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] for ε = 0, no classes or a scope without meaning.
    pub fn auto_classes(scope: &Scope, budget: Guarantee, classes: u32) -> Result<Self, ErmError> {
        let count = u64::from(classes.max(1));
        let apart = Self::auto(scope, share(budget, count)?)?;
        if scope.loss != MarginLoss::Logistic || budget.delta.get() == 0.0 {
            return Ok(apart);
        }
        let k = count as f64;
        let one = utility::bound(scope, apart, share(budget, count)?, utility::USUAL_RADIUS);
        let wide = Scope { width: scope.width * count as usize, ..*scope };
        let all = utility::descent_excess(&wide, budget, libm::sqrt(k) * utility::USUAL_RADIUS);
        let softmax = std::f64::consts::SQRT_2 * all.excess;
        let is_better = one.is_none_or(|one| softmax < k * one.excess);
        Ok(if is_better { Self::Descent } else { apart })
    }

    /// The plan of this method for a scope: everything settled before a row is read.
    ///
    /// # Errors
    /// Those of the method's own function; [`ErmError::Kind`] for [`FitMethod::Exact`], which has no plan.
    pub fn plan(
        self,
        scope: &Scope,
        budget: Guarantee,
        schedule: Option<DescentSchedule>,
        runs: u64,
    ) -> Result<AnyPlan, ErmError> {
        let each = || share(budget, runs);
        Ok(match self {
            Self::Exact => {
                return Err(ErmError::Kind {
                    method: "exact",
                    remedy: "it is not private: no budget fits it",
                });
            }
            Self::Output => AnyPlan::Perturbation(output::plan(scope, each()?)?),
            Self::Objective => AnyPlan::Perturbation(objective::plan(scope, each()?)?),
            Self::Chaudhuri => AnyPlan::Perturbation(objective::chaudhuri(scope, each()?)?),
            Self::Kifer => AnyPlan::Perturbation(objective::kifer(scope, each()?)?),
            Self::Iyengar => AnyPlan::Perturbation(objective::iyengar(scope, each()?)?),
            Self::Descent | Self::Sgd => {
                if budget.delta.get() == 0.0 {
                    return Err(ErmError::Kind {
                        method: self.name(),
                        remedy: "Gaussian noise has no pure guarantee: give a delta above 0 or use `objective`",
                    });
                }
                let schedule =
                    schedule.unwrap_or_else(|| DescentSchedule::usual(scope, budget, self == Self::Sgd, 1));
                AnyPlan::Gradient(gradient::plan(scope, budget, schedule, runs)?)
            }
        })
    }
}

/// The part of a budget that each of `runs` fits gets under basic composition, rounded down.
fn share(budget: Guarantee, runs: u64) -> Result<Guarantee, InvalidValue> {
    use reticent_core::rounding::div_down;
    if runs == 1 {
        return Ok(budget);
    }
    let part = |total: f64| div_down(total, runs as f64) * (1.0 - 1e-12);
    Ok(Guarantee {
        epsilon: reticent_core::Epsilon::new(part(budget.epsilon.get()))?,
        delta: reticent_core::Delta::new(part(budget.delta.get()))?,
    })
}

/// A plan of either kind.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyPlan {
    /// Output or objective perturbation.
    Perturbation(PerturbationPlan),
    /// Gradient perturbation.
    Gradient(GradientPlan),
}

impl AnyPlan {
    /// What one run on so many weights costs, in sequence.
    ///
    /// # Errors
    /// As [`PerturbationPlan::events`].
    pub fn events(&self, width: usize) -> Result<Vec<Event>, ErmError> {
        match self {
            Self::Perturbation(plan) => plan.events(width),
            Self::Gradient(plan) => Ok(plan.events()),
        }
    }

    /// What `runs` runs guarantee together, for a plan that was made for this budget and as many runs.
    pub(crate) fn guarantee(
        &self,
        scope: &Scope,
        budget: Guarantee,
        runs: u64,
    ) -> Result<Guarantee, ErmError> {
        match self {
            Self::Perturbation(plan) => Ok(plan.guarantee(budget)),
            Self::Gradient(plan) => plan.guarantee(scope, budget, runs),
        }
    }

    /// Runs the plan on a binary problem.
    pub(crate) fn run(&self, problem: &Problem<'_>, paid: &mut Paid<'_>) -> Result<Outcome, ErmError> {
        match self {
            Self::Perturbation(plan) => plan.run(problem, paid),
            Self::Gradient(plan) => plan.run(problem, paid),
        }
    }
}

impl fmt::Display for FitMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FitMethod {
    type Err = InvalidValue;

    fn from_str(name: &str) -> Result<Self, InvalidValue> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|method| method.name()).collect();
            InvalidValue::new("method", name, format!("give one of {}", names.join(", ")))
                .coded(Code::UnknownName)
        })
    }
}
