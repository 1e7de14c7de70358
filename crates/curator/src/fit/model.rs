//! Rows to a model.

use super::plan::FitPlan;
use super::rows::{rows, usable_labels};
use super::task::Task;
use crate::bill::{Bill, Counting, PaidCount};
use crate::refusal::Refusal;
use reticent_core::{Epsilon, Event, Guarantee, Neighboring, Permit, Plan};
use reticent_data::Design;
use reticent_erm::{Classes, Loss, Method, Model, Rows, Schedule, Scope, Settings};
use reticent_erm::{fit_exact, fit_multiclass, prepare, prepare_multiclass};
use reticent_noise::Session;

/// How many rows there are as far as is public, and what is left for the fit.
pub(super) struct Size {
    /// The plan's settings with that size.
    pub(super) settings: Settings,
    /// What was paid for it.
    pub(super) bill: Bill,
    /// What the fit is held to, whatever the count before it said; nothing without privacy.
    pub(super) share: Guarantee,
}

/// The count that comes before the fit, where the number of rows is neither public nor declared.
pub(super) fn counting(plan: &FitPlan) -> Result<Option<Counting>, Refusal> {
    let is_known = plan.settings.neighboring == Neighboring::ReplaceOne || plan.settings.size.is_some();
    plan.budget.filter(|_| !is_known).map(Counting::of).transpose()
}

/// Counts the rows with noise, where that is paid for.
pub(super) fn size(
    plan: &FitPlan,
    train: &Design,
    count: Option<PaidCount>,
    payer: &mut Session,
) -> Result<Size, Refusal> {
    let (mut settings, mut bill) = (plan.settings.clone(), Bill::default());
    let share = match (plan.budget, count) {
        (Some(_), Some(count)) => {
            let (size, left) = count.count(train.rows() as u64, payer, &mut bill)?;
            settings.size = Some(size);
            left
        }
        (Some(budget), None) => budget,
        (None, _) => Guarantee::pure(Epsilon::new(0.0)?),
    };
    Ok(Size { settings, bill, share })
}

/// A model of these rows, the method that made it, and the permit for what else was charged with it: `beside` costs what it
/// says of rows that the fit does not see.
pub(super) fn fit(
    plan: &FitPlan,
    train: &Design,
    sized: &Size,
    beside: Option<Event>,
    payer: &mut Session,
) -> Result<(Model, Method, Option<Permit>), Refusal> {
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
    let of: Vec<u32>;
    let classes = match &plan.task {
        Task::Classes { labels } => {
            of = train.labels().iter().map(|label| *label as u32).collect();
            Some(Classes { of: &of, count: labels.len() as u32 })
        }
        _ => None,
    };
    if method == Method::Exact {
        let model = match classes {
            Some(classes) => Model::Multiclass(fit_multiclass(
                &rows, classes, plan.loss, method, budget, &settings, payer,
            )?),
            None => Model::Binary(fit_exact(&rows, plan.loss, &settings)?),
        };
        return Ok((model, method, None));
    }
    let (model, permit) = match classes {
        Some(classes) => {
            let prepared = prepare_multiclass(&rows, classes, plan.loss, method, budget, &settings)?;
            let mut permit = payer.charge(&with_test(prepared.charges(), beside)?)?;
            (Model::Multiclass(prepared.run(&mut payer.with(&mut permit))?), permit)
        }
        None => {
            let prepared = prepare(&rows, plan.loss, method, budget, &settings)?;
            let mut permit = payer.charge(&with_test(prepared.charges(), beside)?)?;
            (Model::Binary(prepared.run(&mut payer.with(&mut permit))?), permit)
        }
    };
    Ok((model, method, Some(permit)))
}

/// The fit's plan, in parallel with a test on rows that the fit does not see.
fn with_test(fit: &Plan, test: Option<Event>) -> Result<Plan, Refusal> {
    let Some(test) = test else { return Ok(fit.clone()) };
    let fit = Event::Composed { events: fit.events().to_vec() };
    Ok(Plan::new(vec![Event::Parallel { events: vec![fit, test] }])?)
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
    let mut settings = plan.settings.clone();
    let budget = match counting(plan)? {
        Some(counting) => {
            settings.size = Some(size);
            Some(counting.left)
        }
        None => plan.budget,
    };
    let labels = usable_labels(&plan.task, train);
    let rows = rows(plan, train, &labels)?;
    let spent = budget.map_or_else(|| Epsilon::new(0.0).map(Guarantee::pure), Ok)?;
    settings.schedule = schedule(plan, method, &rows, &settings, spent)?;
    Ok(ReferenceTerms { budget, settings })
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
