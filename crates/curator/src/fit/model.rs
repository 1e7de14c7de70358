//! Rows to a model.

use super::held_out::test_event;
use super::plan::FitPlan;
use super::rows::{rows, usable_labels};
use super::task::Task;
use crate::bill::{Bill, Counting, Main, Purchase};
use crate::refusal::Refusal;
use reticent_core::{Epsilon, Guarantee, Neighboring, Plan};
use reticent_data::FeatureMatrix;
use reticent_erm::{AnyModel, Classes, DescentSchedule, FitMethod, MarginLoss, Scope, Settings, SparseRows};
use reticent_erm::{fit_exact, fit_multiclass, prepare, prepare_multiclass};
use reticent_noise::NoiseSession;

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

/// Charges the whole of a private training: the count, the fit, and the test on rows that the fit does not see. No row is read.
///
/// Where a count, a learnt schema or the number of rows decides the fit's events, its share of the budget is charged as one
/// claim.
pub(super) fn pay(plan: &FitPlan, payer: &mut NoiseSession) -> Result<Option<Purchase>, Refusal> {
    let Some(budget) = plan.budget else { return Ok(None) };
    let counting = counting(plan)?;
    let is_settled = plan.settings.size.is_some() && plan.spent.is_none();
    let main = match &counting {
        Some(counting) => Main::Share(counting.left),
        None if is_settled => Main::Events(charges(plan, budget)?),
        None => Main::Share(budget),
    };
    let test = plan.split.as_ref().map(|_| test_event(plan, budget.epsilon)).transpose()?;
    let before = counting.as_ref().map_or(&[][..], Counting::events);
    Ok(Some(Purchase::charge(before, main, test, payer)?.counting(counting)))
}

/// What a fit costs where the number of rows is declared: what a fit of no rows does, since its plan is made from public
/// numbers alone.
fn charges(plan: &FitPlan, budget: Guarantee) -> Result<Plan, Refusal> {
    let none = SparseRows::new(plan.encoder.dimension(), &[0], &[], &[], &[])?;
    let rows = none.with_l1_bound(plan.encoder.l1_bound())?;
    let (method, settings) = settle(plan, &rows, &plan.settings, budget)?;
    let charges = match &plan.task {
        Task::Classes { labels } => {
            let classes = Classes { of: &[], count: labels.len() as u32 };
            prepare_multiclass(&rows, classes, plan.loss, method, budget, &settings)?.charges().clone()
        }
        _ => prepare(&rows, plan.loss, method, budget, &settings)?.charges().clone(),
    };
    Ok(charges)
}

/// Counts the rows with noise, where that is paid for.
pub(super) fn size(
    plan: &FitPlan,
    train: &FeatureMatrix,
    purchase: Option<&mut Purchase>,
    payer: &mut NoiseSession,
) -> Result<Size, Refusal> {
    let (mut settings, mut bill) = (plan.settings.clone(), Bill::default());
    let counted = match purchase {
        Some(purchase) => purchase.count(train.rows() as u64, payer, &mut bill)?,
        None => None,
    };
    let share = match (plan.budget, counted) {
        (Some(_), Some((size, left))) => {
            settings.size = Some(size);
            left
        }
        (Some(budget), None) => budget,
        (None, _) => Guarantee::pure(Epsilon::new(0.0)?),
    };
    Ok(Size { settings, bill, share })
}

/// The method of a fit and the settings with its schedule, from public numbers alone.
fn settle(
    plan: &FitPlan,
    rows: &SparseRows<'_>,
    settings: &Settings,
    budget: Guarantee,
) -> Result<(FitMethod, Settings), Refusal> {
    let scope = Scope::new(rows, plan.loss, settings);
    let method = match plan.method {
        Some(method) => method,
        None => match &plan.task {
            Task::Classes { labels } => FitMethod::auto_classes(&scope?, budget, labels.len() as u32)?,
            _ => FitMethod::auto(&scope?, budget)?,
        },
    };
    let schedule = schedule(plan, method, rows, settings, budget)?;
    Ok((method, Settings { schedule, ..settings.clone() }))
}

/// A model of these rows and the method that made it.
pub(super) fn fit(
    plan: &FitPlan,
    train: &FeatureMatrix,
    sized: &Size,
    purchase: Option<&mut Purchase>,
    payer: &mut NoiseSession,
) -> Result<(AnyModel, FitMethod), Refusal> {
    let budget = sized.share;
    let labels = usable_labels(&plan.task, train);
    let rows = rows(plan, train, &labels)?;
    let (method, settings) = settle(plan, &rows, &sized.settings, budget)?;
    let of: Vec<u32>;
    let classes = match &plan.task {
        Task::Classes { labels } => {
            of = train.labels().iter().map(|label| *label as u32).collect();
            Some(Classes { of: &of, count: labels.len() as u32 })
        }
        _ => None,
    };
    if method == FitMethod::Exact {
        let model = match classes {
            Some(classes) => AnyModel::Multiclass(fit_multiclass(
                &rows, classes, plan.loss, method, budget, &settings, payer,
            )?),
            None => AnyModel::Binary(fit_exact(&rows, plan.loss, &settings)?),
        };
        return Ok((model, method));
    }
    let purchase = purchase.ok_or_else(|| Refusal::internal("the fit is not paid for"))?;
    let neighboring = settings.neighboring;
    let model = match classes {
        Some(classes) => {
            let prepared = prepare_multiclass(&rows, classes, plan.loss, method, budget, &settings)?;
            let mut share = purchase.share(neighboring, prepared.charges())?;
            let permit = share.as_mut().unwrap_or_else(|| purchase.permit());
            AnyModel::Multiclass(prepared.run(&mut payer.with(permit))?)
        }
        None => {
            let prepared = prepare(&rows, plan.loss, method, budget, &settings)?;
            let mut share = purchase.share(neighboring, prepared.charges())?;
            let permit = share.as_mut().unwrap_or_else(|| purchase.permit());
            AnyModel::Binary(prepared.run(&mut payer.with(permit))?)
        }
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
    method: FitMethod,
    train: &FeatureMatrix,
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
    method: FitMethod,
    rows: &SparseRows<'_>,
    settings: &Settings,
    budget: Guarantee,
) -> Result<Option<DescentSchedule>, Refusal> {
    let asked = &plan.steps;
    if *asked == Default::default() {
        return Ok(None);
    }
    let scope = Scope::new(rows, plan.loss, settings)?;
    let classes = match &plan.task {
        Task::Classes { labels } if plan.loss == MarginLoss::Logistic => labels.len() as u32,
        _ => 1,
    };
    let usual = DescentSchedule::usual(&scope, budget, method == FitMethod::Sgd, classes);
    Ok(Some(DescentSchedule {
        steps: asked.steps.unwrap_or(usual.steps),
        learning_rate: asked.learning_rate.unwrap_or(usual.learning_rate),
        sampling_rate: asked.sampling_rate.or(usual.sampling_rate),
        ..usual
    }))
}
