//! Rows to a model.

use super::plan::FitPlan;
use super::rows::{rows, usable_labels};
use super::task::Task;
use crate::bill::{Bill, count_rows};
use crate::refusal::Refusal;
use reticent_core::{Epsilon, Guarantee, Neighboring};
use reticent_data::Design;
use reticent_erm::{Classes, Loss, Method, Model, Rows, Schedule, Scope, Settings};
use reticent_erm::{fit as fit_binary, fit_multiclass};
use reticent_noise::Entropy;

/// How many rows there are as far as is public, and what is left for the fit.
pub(super) struct Size {
    /// The plan's settings with that size.
    pub(super) settings: Settings,
    /// What was paid for it.
    pub(super) bill: Bill,
    /// What the fit is held to, whatever the count before it said; nothing without privacy.
    pub(super) share: Guarantee,
}

/// Counts the rows with noise, where their number is neither public nor declared.
pub(super) fn size(plan: &FitPlan, train: &Design, entropy: &mut Entropy) -> Result<Size, Refusal> {
    let (mut settings, mut bill) = (plan.settings.clone(), Bill::default());
    let share = match plan.budget {
        Some(budget) => fitting_budget(budget, train, &mut settings, entropy, &mut bill)?,
        None => Guarantee::pure(Epsilon::new(0.0)?),
    };
    Ok(Size { settings, bill, share })
}

/// A model of these rows, and the method that made it.
pub(super) fn fit(
    plan: &FitPlan,
    train: &Design,
    sized: &Size,
    entropy: &mut Entropy,
) -> Result<(Model, Method), Refusal> {
    let (mut settings, budget) = (sized.settings.clone(), sized.share);
    let labels = usable_labels(&plan.task, train);
    let rows = rows(plan, train, &labels)?;
    let scope = Scope::new(&rows, plan.loss, &settings);
    let method = match plan.method {
        Some(method) => method,
        None => match &plan.task {
            Task::Classes { labels } => Method::auto_classes(&scope?, budget, labels.len() as u32)?,
            _ => Method::auto(&scope?, budget)?,
        },
    };
    settings.schedule = schedule(plan, method, &rows, &settings, budget)?;
    let model = match &plan.task {
        Task::Classes { labels } => {
            let of: Vec<u32> = train.labels().iter().map(|label| *label as u32).collect();
            let classes = Classes { of: &of, count: labels.len() as u32 };
            Model::Multiclass(fit_multiclass(&rows, classes, plan.loss, method, budget, &settings, entropy)?)
        }
        _ => Model::Binary(fit_binary(&rows, plan.loss, method, budget, &settings, entropy)?),
    };
    Ok((model, method))
}

/// What reference models of a stored one are fitted with.
pub(crate) struct ReferenceTerms {
    /// None without privacy.
    pub(crate) budget: Option<Guarantee>,
    pub(crate) settings: Settings,
}

/// The terms of a fit like the plan's. Where the rows were counted with noise, `size` is what the target's count said: every
/// job then has the same terms.
pub(crate) fn reference_terms(
    plan: &FitPlan,
    method: Method,
    train: &Design,
    size: u64,
) -> Result<ReferenceTerms, Refusal> {
    let (mut settings, mut entropy) = (plan.settings.clone(), Entropy::new()?);
    let budget = match plan.budget {
        Some(budget) => {
            let left = fitting_budget(budget, train, &mut settings, &mut entropy, &mut Bill::default())?;
            if plan.settings.size.is_none() && settings.size.is_some() {
                settings.size = Some(size);
            }
            Some(left)
        }
        None => None,
    };
    let labels = usable_labels(&plan.task, train);
    let rows = rows(plan, train, &labels)?;
    let spent = budget.map_or_else(|| Epsilon::new(0.0).map(Guarantee::pure), Ok)?;
    settings.schedule = schedule(plan, method, &rows, &settings, spent)?;
    Ok(ReferenceTerms { budget, settings })
}

/// What is left for the fit, after counting the rows where their number is neither public nor declared.
fn fitting_budget(
    budget: Guarantee,
    train: &Design,
    settings: &mut Settings,
    entropy: &mut Entropy,
    bill: &mut Bill,
) -> Result<Guarantee, Refusal> {
    if settings.neighboring == Neighboring::ReplaceOne || settings.size.is_some() {
        return Ok(budget);
    }
    let (size, left) = count_rows(budget, train.rows() as u64, entropy, bill)?;
    settings.size = Some(size);
    Ok(left)
}

/// The rule's schedule with what the flags change, if they change anything.
fn schedule(
    plan: &FitPlan,
    method: Method,
    rows: &Rows<'_>,
    settings: &Settings,
    budget: Guarantee,
) -> Result<Option<Schedule>, Refusal> {
    let asked = &plan.steps;
    if *asked == Default::default() {
        return Ok(None);
    }
    let scope = Scope::new(rows, plan.loss, settings)?;
    let classes = match &plan.task {
        Task::Classes { labels } if plan.loss == Loss::Logistic => labels.len() as u32,
        _ => 1,
    };
    let usual = Schedule::usual(&scope, budget, method == Method::Sgd, classes);
    Ok(Some(Schedule {
        steps: asked.steps.unwrap_or(usual.steps),
        learning_rate: asked.learning_rate.unwrap_or(usual.learning_rate),
        sampling_rate: asked.sampling_rate.or(usual.sampling_rate),
        ..usual
    }))
}
