//! From rows to a model with its certificate.

use crate::ErmError;
use crate::gradient::DescentSchedule;
use crate::loss::MarginLoss;
use crate::method::{AnyPlan, FitMethod};
use crate::plan::{NoisePlacement, PerturbationPlan};
use crate::problem::Problem;
use crate::rows::SparseRows;
use crate::settings::{Scope, Settings};
use crate::solver::minimise;
use reticent_core::profile::gaussian_noise_multiplier_up;
use reticent_core::{Certificate, Event, Fact, Guarantee, Neighboring};
use reticent_noise::{Paid, Payer};
use serde::{Deserialize, Serialize};

/// Λ of the non-private fit unless another is asked for; chosen by accuracy on the test parts of Adult and KDDCup99.
pub const EXACT_REGULARIZATION: f64 = 3e-7;

/// A fitted model with its privacy cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedModel {
    /// One weight per feature.
    pub weights: Vec<f64>,
    /// The intercept; 0 without one.
    pub intercept: f64,
    /// The loss it was fitted to.
    pub loss: MarginLoss,
    /// How it was made private.
    pub method: FitMethod,
    /// What happened to the data; empty for [`FitMethod::Exact`].
    pub events: Vec<Event>,
    /// The claim; none for [`FitMethod::Exact`].
    pub certificate: Option<Certificate>,
    /// The numbers behind it, all public for a private method.
    pub report: FitReport,
}

/// What a fit was made with. For private methods nothing in it depends on the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Λ in use, which may be above the one asked for.
    pub regularization: f64,
    /// The public number of rows.
    pub size: u64,
    /// Number of features.
    pub dimension: usize,
    /// The value of the constant feature; 0 without an intercept.
    pub intercept_feature: f64,
    /// Where the noise entered, for output and objective perturbation.
    pub place: Option<NoisePlacement>,
    /// The gradient norm of the mean objective that the guarantee needs and the fit has reached.
    pub tolerance: Option<f64>,
    /// The schedule, for descent.
    pub schedule: Option<DescentSchedule>,
    /// Newton steps and certified gradient norm of the mean objective: for [`FitMethod::Exact`] only, since they
    /// depend on the rows.
    pub solver: Option<(u32, f64)>,
    /// Notes for the reader, from public numbers alone.
    pub warnings: Vec<String>,
}

/// Fits a linear model.
///
/// # Guarantee
/// The certificate's (ε, δ) under the settings' relation, for the returned weights and everything else in the
/// [`FittedModel`]. An error is not covered: it may depend on the rows and is for the owner of the data alone. The events are charged
/// to the session after they were planned from public numbers, and before anything is computed from the rows.
///
/// # Reference
/// Each method's own module.
///
/// # Errors
/// [`ErmError::NotConverged`] when the solver cannot certify what the guarantee needs, [`ErmError::OneClass`] for
/// [`FitMethod::Exact`] on one class, those of [`prepare`], and [`ErmError::Noise`] when the session refuses the charge.
pub fn fit(
    rows: &SparseRows<'_>,
    loss: MarginLoss,
    method: FitMethod,
    budget: Guarantee,
    settings: &Settings,
    session: &mut impl Payer,
) -> Result<FittedModel, ErmError> {
    if method == FitMethod::Exact {
        return fit_exact(rows, loss, settings);
    }
    let prepared = prepare(rows, loss, method, budget, settings)?;
    let mut permit = session.charge_under(settings.neighboring, prepared.charges())?;
    prepared.run(&mut session.with(&mut permit))
}

/// A private fit with every number in it settled, from public numbers alone: its events can be charged, by themselves or in a
/// larger plan, before it runs.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    problem: Problem<'a>,
    scope: Scope,
    plan: AnyPlan,
    method: FitMethod,
    settings: &'a Settings,
    guarantee: Guarantee,
    charges: reticent_core::Plan,
}

/// Settles everything about a private fit before anything is computed from the rows.
///
/// # Errors
/// Those of [`FitMethod::plan`], also for [`FitMethod::Exact`]; [`ErmError::Row`] for labels that do not suit the loss.
pub fn prepare<'a>(
    rows: &SparseRows<'a>,
    loss: MarginLoss,
    method: FitMethod,
    budget: Guarantee,
    settings: &'a Settings,
) -> Result<Prepared<'a>, ErmError> {
    let problem = Problem::new(*rows, loss, settings.intercept)?;
    let scope = Scope::of(&problem, settings)?;
    let plan = method.plan(&scope, budget, settings.schedule, 1)?;
    let guarantee = plan.guarantee(&scope, budget, 1)?;
    let charges = reticent_core::Plan::new(plan.events(scope.width)?)?;
    Ok(Prepared { problem, scope, plan, method, settings, guarantee, charges })
}

impl Prepared<'_> {
    /// What the fit costs: the events that a permit for it must cover.
    pub fn charges(&self) -> &reticent_core::Plan {
        &self.charges
    }

    /// Fits, paid for by a permit that covers [`charges`](Self::charges).
    ///
    /// # Guarantee
    /// As [`fit`].
    ///
    /// # Reference
    /// Each method's own module.
    ///
    /// # Errors
    /// [`ErmError::NotConverged`] as [`fit`]; [`ErmError::Noise`] when the permit does not cover the fit or was charged under
    /// another neighbouring relation.
    pub fn run(&self, paid: &mut Paid<'_>) -> Result<FittedModel, ErmError> {
        let Self { problem, scope, plan, settings, .. } = self;
        paid.check_relation(scope.neighboring)?;
        let outcome = plan.run(problem, paid)?;
        let (weights, intercept) = problem.unscaled(&outcome.weights);
        let events = self.charges.events().to_vec();
        let certificate = certificate(plan, scope, settings, &events, self.guarantee, String::new());
        Ok(FittedModel {
            weights,
            intercept,
            loss: problem.loss,
            method: self.method,
            events,
            certificate: Some(certificate),
            report: report(plan, scope, settings, problem.rows.dimension()),
        })
    }
}

/// The minimiser itself: the baseline to compare with. No privacy.
///
/// # Errors
/// [`ErmError::OneClass`], [`ErmError::NotConverged`], [`ErmError::Invalid`] for settings without meaning or no rows.
pub fn fit_exact(
    rows: &SparseRows<'_>,
    loss: MarginLoss,
    settings: &Settings,
) -> Result<FittedModel, ErmError> {
    let problem = Problem::new(*rows, loss, settings.intercept)?;
    let n = rows.len();
    if n == 0 {
        return Err(ErmError::invalid("rows", 0, "give at least one row"));
    }
    let first = rows.labels().first().copied().unwrap_or(0.0);
    if loss.is_classification() && rows.labels().iter().all(|label| *label == first) {
        return Err(ErmError::OneClass { label: first });
    }
    let regularization = settings.regularization.unwrap_or(EXACT_REGULARIZATION);
    let lambda = regularization * n as f64;
    let tolerance = n as f64 * 1e-9 * loss.constants().lipschitz;
    let zero = vec![0.0; problem.width()];
    let solution = minimise(&problem, lambda, &zero, 0.0, tolerance)?;
    let (weights, intercept) = problem.unscaled(&solution.weights);
    let report = FitReport {
        regularization,
        size: n as u64,
        dimension: rows.dimension(),
        intercept_feature: settings.intercept,
        place: None,
        tolerance: Some(tolerance / n as f64),
        schedule: None,
        solver: Some((solution.steps, solution.gradient_norm / n as f64)),
        warnings: vec!["not private: nothing protects the rows".into()],
    };
    let (method, events, certificate) = (FitMethod::Exact, Vec::new(), None);
    Ok(FittedModel { weights, intercept, loss, method, events, certificate, report })
}

pub(crate) fn certificate(
    plan: &AnyPlan,
    scope: &Scope,
    settings: &Settings,
    events: &[Event],
    guarantee: Guarantee,
    how: String,
) -> Certificate {
    let (theorem, lambda) = match plan {
        AnyPlan::Perturbation(plan) => (plan.theorem, plan.lambda),
        AnyPlan::Gradient(plan) => (plan.theorem, plan.lambda),
    };
    let size = match scope.neighboring {
        Neighboring::ReplaceOne => Fact::FittedRows(scope.size),
        Neighboring::AddRemove => Fact::DeclaredSize(scope.size),
    };
    let public = vec![
        size,
        Fact::Weights { count: scope.width, constant: settings.intercept },
        Fact::RowNorm { l1: scope.l1_bound },
        Fact::Loss(scope.loss.to_string()),
        Fact::Regularization(lambda / scope.size as f64),
    ];
    let (unit, accountant) = (settings.unit.clone(), format!("{theorem}{how}"));
    Certificate::compose(unit, scope.neighboring, events.to_vec(), guarantee, accountant, public)
}

pub(crate) fn report(plan: &AnyPlan, scope: &Scope, settings: &Settings, dimension: usize) -> FitReport {
    let size = scope.size as f64;
    let (lambda, place, tolerance, schedule) = match plan {
        AnyPlan::Perturbation(plan) => (plan.lambda, Some(plan.place), Some(plan.tolerance / size), None),
        AnyPlan::Gradient(plan) => (plan.lambda, None, None, Some(plan.schedule)),
    };
    let mut warnings = Vec::new();
    if let AnyPlan::Perturbation(plan) = plan
        && is_drowned(plan, scope)
    {
        warnings.push(
            "the noise is strong for so few rows: the model may be no better than a constant one".into(),
        );
    } else if let AnyPlan::Perturbation(plan) = plan
        && finishing_moves(plan, scope) > MOST_FINISHING
    {
        warnings.push(
            "the noise that covers the solver's distance from the minimum can change predictions: give a larger \
             regularization"
                .into(),
        );
    }
    FitReport {
        regularization: lambda / size,
        size: scope.size,
        dimension,
        intercept_feature: settings.intercept,
        place,
        tolerance,
        schedule,
        solver: None,
        warnings,
    }
}

/// How far finishing noise may move a typical margin, beside other noise, before a note is added.
const MOST_FINISHING: f64 = 0.3;

/// How far the finishing noise moves the margin of a row of norm 1, typically; 0 if it is the only noise.
fn finishing_moves(plan: &PerturbationPlan, scope: &Scope) -> f64 {
    match plan.place {
        NoisePlacement::Finish => 0.0,
        _ => plan.finishing_norm(scope.width).unwrap_or(f64::INFINITY) / libm::sqrt(scope.width as f64),
    }
}

/// Whether the noise is so strong that a constant prediction may do as well: b above six per cent of what the rows'
/// gradients can add up to, or noise on the weights that moves a typical margin by 0.7.
fn is_drowned(plan: &PerturbationPlan, scope: &Scope) -> bool {
    let width = libm::sqrt(scope.width as f64);
    match plan.place {
        NoisePlacement::Objective { shape, scale } => {
            let most = scope.size as f64 * scope.constants().lipschitz;
            shape.typical_norm(scope.width, scale) > 0.06 * most
        }
        NoisePlacement::Output { shape, scale } => shape.typical_norm(scope.width, scale) / width > 0.7,
        NoisePlacement::Finish => {
            let z = gaussian_noise_multiplier_up(plan.finish.epsilon, plan.finish.delta);
            z.map_or(f64::INFINITY, |z| z.get()) * plan.finishing_sensitivity_up() > 0.7
        }
    }
}
