//! Several classes out of one budget: one class against the rest for every class, or a softmax over all.

use crate::ErmError;
use crate::fit::{FitReport, certificate, fit_exact, report};
use crate::gradient::{DescentSchedule, GradientPlan, Reach, SOFTMAX_LIPSCHITZ, plan_with};
use crate::loss::MarginLoss;
use crate::method::{AnyPlan, FitMethod};
use crate::predict::Linear;
use crate::problem::Problem;
use crate::rows::SparseRows;
use crate::settings::{Scope, Settings};
use reticent_core::{Certificate, Event, Guarantee, Plan};
use reticent_noise::{Paid, Payer};
use serde::{Deserialize, Serialize};

/// One linear model per class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Multiclass {
    /// The models, in the order of the classes.
    pub models: Vec<Linear>,
    /// The loss they were fitted to.
    pub loss: MarginLoss,
    /// How they were made private.
    pub method: FitMethod,
    /// What happened to the data.
    pub events: Vec<Event>,
    /// The claim for all models together; none for [`FitMethod::Exact`].
    pub certificate: Option<Certificate>,
    /// The numbers behind each model.
    pub report: FitReport,
}

/// The classes of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes<'a> {
    /// The class of every row, below `count`.
    pub of: &'a [u32],
    /// How many classes there are, which is public.
    pub count: u32,
}

/// Fits one model per class. Descents with the logistic loss fit the softmax of all classes at once; every other method
/// and loss fits one class against the rest, k times.
///
/// # Guarantee
/// The certificate's (ε, δ) for all models together, under the settings' relation: a record is in every fit. Output and
/// objective perturbation get ε/k and δ/k each (basic composition); descents one against the rest are accounted
/// for as one long composition; a softmax descent is one composition of gradients of norm at most √2.
///
/// # Reference
/// Dwork, Roth (2014), theorem 3.16; Iyengar et al. (2019) for one against the rest.
///
/// # Errors
/// As [`fit`](crate::fit()), and [`ErmError::Invalid`] for fewer than two classes or [`ErmError::Row`] for a class out
/// of range.
pub fn fit_multiclass(
    rows: &SparseRows<'_>,
    classes: Classes<'_>,
    loss: MarginLoss,
    method: FitMethod,
    budget: Guarantee,
    settings: &Settings,
    session: &mut impl Payer,
) -> Result<Multiclass, ErmError> {
    if method == FitMethod::Exact {
        return fit_exactly(rows, classes, loss, settings);
    }
    let prepared = prepare_multiclass(rows, classes, loss, method, budget, settings)?;
    let mut permit = session.charge_under(settings.neighboring, prepared.charges())?;
    prepared.run(&mut session.with(&mut permit))
}

/// As [`Prepared`](crate::Prepared), for several classes.
#[derive(Debug, Clone)]
pub struct PreparedMulticlass<'a> {
    rows: SparseRows<'a>,
    classes: Classes<'a>,
    scope: Scope,
    plan: Course,
    method: FitMethod,
    settings: &'a Settings,
    guarantee: Guarantee,
    charges: Plan,
}

/// How several classes are fitted.
#[derive(Debug, Clone)]
enum Course {
    /// One class against the rest, a run for every class.
    Apart(AnyPlan),
    /// One descent on the softmax loss of all classes together.
    Softmax(GradientPlan),
}

/// As [`prepare`](crate::prepare), for several classes.
///
/// # Errors
/// As [`fit_multiclass`], before anything is charged; those of [`FitMethod::plan`], also for [`FitMethod::Exact`].
pub fn prepare_multiclass<'a>(
    rows: &SparseRows<'a>,
    classes: Classes<'a>,
    loss: MarginLoss,
    method: FitMethod,
    budget: Guarantee,
    settings: &'a Settings,
) -> Result<PreparedMulticlass<'a>, ErmError> {
    classes.check(rows)?;
    // No label is looked at: a plan is the same whatever they are.
    let blank = vec![-1.0; rows.len()];
    let scope = Scope::new(&rows.with_labels(&blank)?, loss, settings)?;
    let count = u64::from(classes.count);
    let (plan, guarantee, events) =
        if loss == MarginLoss::Logistic && matches!(method, FitMethod::Descent | FitMethod::Sgd) {
            let width = scope.width * classes.count as usize;
            let usual = || DescentSchedule::usual(&scope, budget, method == FitMethod::Sgd, classes.count);
            let schedule = settings.schedule.unwrap_or_else(usual);
            let reach = Reach { lipschitz: SOFTMAX_LIPSCHITZ, width };
            let plan = plan_with(&scope, reach, budget, schedule, 1)?;
            let (guarantee, events) = (plan.guarantee(&scope, budget, 1)?, plan.events());
            (Course::Softmax(plan), guarantee, events)
        } else {
            let plan = method.plan(&scope, budget, settings.schedule, count)?;
            let guarantee = plan.guarantee(&scope, budget, count)?;
            let each = plan.events(scope.width)?;
            let events = (0..count).flat_map(|_| each.iter().cloned()).collect();
            (Course::Apart(plan), guarantee, events)
        };
    let charges = Plan::new(events)?;
    Ok(PreparedMulticlass { rows: *rows, classes, scope, plan, method, settings, guarantee, charges })
}

impl PreparedMulticlass<'_> {
    /// What all fits cost together: the events that a permit for them must cover.
    pub fn charges(&self) -> &Plan {
        &self.charges
    }

    /// Fits, paid for by a permit that covers [`charges`](Self::charges).
    ///
    /// # Guarantee
    /// As [`fit_multiclass`].
    ///
    /// # Reference
    /// As [`fit_multiclass`].
    ///
    /// # Errors
    /// As [`Prepared::run`](crate::Prepared::run).
    pub fn run(&self, paid: &mut Paid<'_>) -> Result<Multiclass, ErmError> {
        paid.check_relation(self.scope.neighboring)?;
        let count = self.classes.count;
        let (models, plan, how) = match &self.plan {
            Course::Softmax(plan) => {
                let how = format!("; softmax over {count} classes, all weights in one descent");
                (self.run_softmax(plan, paid)?, AnyPlan::Gradient(plan.clone()), how)
            }
            Course::Apart(plan) => {
                let together = match plan {
                    AnyPlan::Perturbation(_) => "budget split equally (basic composition)",
                    AnyPlan::Gradient(_) => "steps of all accounted for together",
                };
                let how = format!("; one model for each of {count} classes, {together}");
                (self.run_apart(plan, paid)?, plan.clone(), how)
            }
        };
        let (scope, settings, events) = (&self.scope, self.settings, self.charges.events().to_vec());
        Ok(Multiclass {
            models,
            loss: scope.loss,
            method: self.method,
            certificate: Some(certificate(&plan, scope, settings, &events, self.guarantee, how)),
            events,
            report: report(&plan, scope, settings, self.rows.dimension()),
        })
    }

    fn run_apart(&self, plan: &AnyPlan, paid: &mut Paid<'_>) -> Result<Vec<Linear>, ErmError> {
        let fit = |class: u32| {
            let labels = self.classes.against_rest(class);
            let labelled = self.rows.with_labels(&labels)?;
            let problem = Problem::new(labelled, self.scope.loss, self.settings.intercept)?;
            let (weights, intercept) = problem.unscaled(&plan.run(&problem, paid)?.weights);
            Ok(Linear { weights, intercept })
        };
        (0..self.classes.count).map(fit).collect()
    }

    fn run_softmax(&self, plan: &GradientPlan, paid: &mut Paid<'_>) -> Result<Vec<Linear>, ErmError> {
        // The binary labels are not looked at.
        let blank = vec![-1.0; self.rows.len()];
        let rows = self.rows.with_labels(&blank)?;
        let problem = Problem::new(rows, self.scope.loss, self.settings.intercept)?;
        let outcome = plan.run_softmax(&problem, self.classes, paid)?;
        let models = outcome.weights.chunks_exact(self.scope.width).map(|part| {
            let (weights, intercept) = problem.unscaled(part);
            Linear { weights, intercept }
        });
        Ok(models.collect())
    }
}

/// The minimisers of one class against the rest, for every class.
fn fit_exactly(
    rows: &SparseRows<'_>,
    classes: Classes<'_>,
    loss: MarginLoss,
    settings: &Settings,
) -> Result<Multiclass, ErmError> {
    classes.check(rows)?;
    let (mut models, mut last) = (Vec::with_capacity(classes.count as usize), None);
    for class in 0..classes.count {
        let labels = classes.against_rest(class);
        let fit = fit_exact(&rows.with_labels(&labels)?, loss, settings)?;
        models.push(Linear { weights: fit.weights, intercept: fit.intercept });
        last = Some(fit.report);
    }
    let report = last.ok_or_else(|| too_few(classes.count))?;
    let (method, events, certificate) = (FitMethod::Exact, Vec::new(), None);
    Ok(Multiclass { models, loss, method, events, certificate, report })
}

fn too_few(classes: u32) -> ErmError {
    ErmError::invalid("classes", classes, "give at least 2")
}

impl Classes<'_> {
    fn check(self, rows: &SparseRows<'_>) -> Result<(), ErmError> {
        let Self { of, count } = self;
        if count < 2 {
            return Err(too_few(count));
        }
        if of.len() != rows.len() {
            return Err(ErmError::Shape(format!("{} classes for {} rows", of.len(), rows.len())));
        }
        if let Some(row) = of.iter().position(|class| *class >= count) {
            let why = format!("class {} is not below {count}", of[row]);
            return Err(ErmError::Row { row, why });
        }
        Ok(())
    }

    /// The labels of one class against the rest.
    fn against_rest(self, class: u32) -> Vec<f64> {
        self.of.iter().map(|of| if *of == class { 1.0 } else { -1.0 }).collect()
    }
}

impl Multiclass {
    /// The class with the largest margin.
    ///
    /// # Errors
    /// [`ErmError::Shape`] when the rows have another number of features.
    pub fn predict(&self, rows: &SparseRows<'_>) -> Result<Vec<u32>, ErmError> {
        let margins: Vec<Vec<f64>> =
            self.models.iter().map(|model| model.margins(rows)).collect::<Result<_, _>>()?;
        let best = |row: usize| {
            let mut best = 0;
            for (class, margin) in margins.iter().enumerate() {
                if margin[row] > margins[best][row] {
                    best = class;
                }
            }
            best as u32
        };
        Ok((0..rows.len()).map(best).collect())
    }
}
