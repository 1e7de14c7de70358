//! Several classes out of one budget: one class against the rest for every class, or a softmax over all.

use crate::ErmError;
use crate::fit::{Report, certificate, report, run};
use crate::gradient::{Reach, SOFTMAX_LIPSCHITZ, Schedule, plan_with};
use crate::loss::Loss;
use crate::method::{AnyPlan, Method};
use crate::predict::Linear;
use crate::problem::Problem;
use crate::rows::Rows;
use crate::settings::{Scope, Settings};
use reticent_core::{Certificate, Event, Guarantee};
use reticent_noise::Entropy;
use serde::{Deserialize, Serialize};

/// One linear model a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Multiclass {
    /// The models, in the order of the classes.
    pub models: Vec<Linear>,
    /// The loss they were fitted to.
    pub loss: Loss,
    /// How they were made private.
    pub method: Method,
    /// What happened to the data.
    pub events: Vec<Event>,
    /// The claim for all models together; none for [`Method::Exact`].
    pub certificate: Option<Certificate>,
    /// The numbers behind each model.
    pub report: Report,
}

/// The classes of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes<'a> {
    /// The class of every row, below `count`.
    pub of: &'a [u32],
    /// How many classes there are, which is public.
    pub count: u32,
}

/// Fits one model a class. Descents with the logistic loss fit the softmax of all classes at once; every other method
/// and loss tells one class from the rest, k times.
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
    rows: &Rows<'_>,
    classes: Classes<'_>,
    loss: Loss,
    method: Method,
    budget: Guarantee,
    settings: &Settings,
    entropy: &mut Entropy,
) -> Result<Multiclass, ErmError> {
    let Classes { of: class_of, count: classes } = classes;
    if classes < 2 {
        return Err(ErmError::invalid("classes", classes, "give at least 2"));
    }
    if class_of.len() != rows.len() {
        return Err(ErmError::Shape(format!("{} classes for {} rows", class_of.len(), rows.len())));
    }
    if let Some(row) = class_of.iter().position(|class| *class >= classes) {
        let why = format!("class {} is not below {classes}", class_of[row]);
        return Err(ErmError::Row { row, why });
    }
    if loss == Loss::Logistic && matches!(method, Method::Descent | Method::Sgd) {
        return fit_softmax(
            rows,
            Classes { of: class_of, count: classes },
            method,
            budget,
            settings,
            entropy,
        );
    }
    let mut models = Vec::with_capacity(classes as usize);
    let mut events = Vec::new();
    let mut settled = None;
    for class in 0..classes {
        let labels: Vec<f64> = class_of.iter().map(|c| if *c == class { 1.0 } else { -1.0 }).collect();
        let labelled = rows.with_labels(&labels)?;
        if method == Method::Exact {
            let fit = crate::fit::fit_exact(&labelled, loss, settings)?;
            models.push(Linear { weights: fit.weights, intercept: fit.intercept });
            settled = Some((fit.report, None));
            continue;
        }
        let problem = Problem::new(labelled, loss, settings.intercept)?;
        let scope = Scope::of(&problem, settings)?;
        let plan = method.plan(&scope, budget, settings.schedule, u64::from(classes))?;
        let (outcome, guarantee) = run(&plan, &problem, &scope, budget, u64::from(classes), entropy)?;
        let (weights, intercept) = problem.unscaled(&outcome.weights);
        models.push(Linear { weights, intercept });
        events.extend(outcome.events);
        if class + 1 == classes {
            let how = match plan {
                AnyPlan::Perturbation(_) => {
                    format!(
                        "; one model for each of {classes} classes, budget split equally (basic composition)"
                    )
                }
                AnyPlan::Gradient(_) => {
                    format!("; one model for each of {classes} classes, steps of all accounted for together")
                }
            };
            let certificate = certificate(&plan, &scope, settings, &events, guarantee, how);
            settled = Some((report(&plan, &scope, settings, rows.dimension()), Some(certificate)));
        }
    }
    let Some((report, certificate)) = settled else {
        return Err(ErmError::invalid("classes", classes, "give at least 2"));
    };
    Ok(Multiclass { models, loss, method, events, certificate, report })
}

/// One descent on the softmax loss of all classes together.
fn fit_softmax(
    rows: &Rows<'_>,
    classes: Classes<'_>,
    method: Method,
    budget: Guarantee,
    settings: &Settings,
    entropy: &mut Entropy,
) -> Result<Multiclass, ErmError> {
    let loss = Loss::Logistic;
    // The binary labels are not looked at.
    let blank = vec![-1.0; rows.len()];
    let problem = Problem::new(rows.with_labels(&blank)?, loss, settings.intercept)?;
    let scope = Scope::of(&problem, settings)?;
    let (each, count) = (scope.width, classes.count as usize);
    let reach = Reach { lipschitz: SOFTMAX_LIPSCHITZ, width: each * count };
    let schedule = settings
        .schedule
        .unwrap_or_else(|| Schedule::usual(&scope, budget, method == Method::Sgd, classes.count));
    let plan = plan_with(&scope, reach, budget, schedule, 1)?;
    let guarantee = plan.guarantee(&scope, budget, 1)?;
    let outcome = plan.run_softmax(&problem, classes, entropy)?;
    let models = outcome.weights.chunks_exact(each).map(|part| {
        let (weights, intercept) = problem.unscaled(part);
        Linear { weights, intercept }
    });
    let models = models.collect();
    let how = format!("; softmax over {count} classes, all weights in one descent");
    let plan = AnyPlan::Gradient(plan);
    let certificate = certificate(&plan, &scope, settings, &outcome.events, guarantee, how);
    let report = report(&plan, &scope, settings, rows.dimension());
    Ok(Multiclass { models, loss, method, events: outcome.events, certificate: Some(certificate), report })
}

impl Multiclass {
    /// The class with the largest margin.
    ///
    /// # Errors
    /// [`ErmError::Shape`] when the rows have another number of features.
    pub fn predict(&self, rows: &Rows<'_>) -> Result<Vec<u32>, ErmError> {
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
