//! Rows to a model with its certificate.

use super::bill::{Bill, DECIDED, count_rows};
use super::held_out::{Tested, exactly, released};
use super::plan::Plan;
use super::task::Task;
use crate::bar::Bar;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::accounting::composition;
use reticent::core::{Certificate, Epsilon, Event, Fact, Guarantee, Neighboring};
use reticent::data::{Design, TableFile};
use reticent::erm::{Classes, Loss, Method, Model, Report, Rows, Schedule, Scope, Settings};
use reticent::erm::{fit as fit_binary, fit_multiclass};
use reticent::noise::Entropy;

/// A trained model.
pub(super) struct Trained {
    pub(super) model: Model,
    pub(super) method: Method,
    pub(super) tested: Option<Tested>,
    /// None without privacy.
    pub(super) certificate: Option<Certificate>,
    pub(super) warnings: Vec<String>,
}

impl Trained {
    pub(super) fn report(&self) -> &Report {
        match &self.model {
            Model::Binary(fit) => &fit.report,
            Model::Multiclass(many) => &many.report,
        }
    }
}

/// Reads the table, fits and tests.
pub(super) fn fit(plan: &Plan, entropy: &mut Entropy, progress: bool) -> Result<Trained, Fail> {
    let (train, held_out) = encode(plan, progress)?;
    let test = plan.test.as_ref().map(|test| read(plan, test, progress)).transpose()?;
    if let (Some(design), Some(table)) = (&test, &plan.test)
        && design.rows() == 0
    {
        return Err(
            Fail::flag("--test", &table.path().display().to_string(), "it has no rows").coded(Code::NoRows)
        );
    }
    let Fitted { mut model, method, bill, share } = fit_design(plan, &train, entropy)?;
    let (own, report) = match &model {
        Model::Binary(fit) => (&fit.certificate, &fit.report),
        Model::Multiclass(many) => (&many.certificate, &many.report),
    };
    let (own, mut warnings) = (own.clone(), report.warnings.clone());
    let tested = match (&held_out, &test) {
        (Some(held_out), _) => Some(match plan.budget {
            Some(budget) => released(plan, &model, held_out, report.size, budget.epsilon, entropy)?,
            None => exactly(plan, &model, held_out)?,
        }),
        (None, Some(test)) => {
            if plan.budget.is_some() {
                warnings
                    .push("the score on the test table is exact: no certificate covers its rows".to_owned());
            }
            Some(exactly(plan, &model, test)?)
        }
        (None, None) => None,
    };
    warnings.extend(public_warnings(plan.budget, plan.encoder.schema().is_draft(), report.size));
    warnings.extend(tested.iter().flat_map(|tested| tested.warnings(&plan.task)));
    let certificate = match own {
        Some(own) => Some(certificate(plan, own, &bill, share, tested.as_ref())?),
        None => None,
    };
    if let (Some(certificate), Some(budget)) = (&certificate, plan.budget)
        && certificate.guarantee.delta.get() == 0.0
        && budget.delta.get() > 0.0
    {
        warnings.push(format!(
            "--delta {:e}: not used: this fit is pure, and its guarantee holds with delta 0",
            budget.delta.get()
        ));
    }
    // One claim for the model, wherever it is looked up.
    let (kept, events) = match &mut model {
        Model::Binary(fit) => (&mut fit.certificate, &mut fit.events),
        Model::Multiclass(many) => (&mut many.certificate, &mut many.events),
    };
    *kept = certificate.clone();
    *events = certificate.as_ref().map_or_else(Vec::new, |certificate| certificate.events.clone());
    Ok(Trained { model, method, tested, certificate, warnings })
}

/// A model of some rows.
struct Fitted {
    model: Model,
    method: Method,
    /// What was paid before the fit.
    bill: Bill,
    /// What the fit was held to, whatever the count before it said; nothing without privacy.
    share: Guarantee,
}

/// A model of these rows.
fn fit_design(plan: &Plan, train: &Design, entropy: &mut Entropy) -> Result<Fitted, Fail> {
    let mut bill = Bill::default();
    let mut settings = plan.settings.clone();
    let budget = match plan.budget {
        Some(budget) => fitting_budget(budget, train, &mut settings, entropy, &mut bill)?,
        None => Guarantee::pure(Epsilon::new(0.0)?),
    };
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
    Ok(Fitted { model, method, bill, share: budget })
}

/// What reference models of a stored one are fitted with.
pub(super) struct ReferenceTerms {
    /// None without privacy.
    pub(super) budget: Option<Guarantee>,
    pub(super) settings: Settings,
}

/// The terms of a fit like the plan's. Where the rows were counted with noise, `size` is what the target's count said: every
/// job then has the same terms.
pub(super) fn reference_terms(
    plan: &Plan,
    method: Method,
    train: &Design,
    size: u64,
) -> Result<ReferenceTerms, Fail> {
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

/// What can be said against a claim without looking at rows.
pub(crate) fn public_warnings(budget: Option<Guarantee>, draft: bool, size: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    let Some(budget) = budget else { return warnings };
    if draft {
        warnings.push(
            "the schema is a draft that was read off the records: its bounds and categories are not covered, and the \
             claim is not true until they are replaced by public ones"
                .to_owned(),
        );
    }
    if budget.delta.get() * size as f64 > 1.0 {
        warnings.push("delta is above 1 / number of rows: some row may be given away altogether".to_owned());
    }
    warnings
}

/// Training rows and held-out rows.
pub(super) fn encode(plan: &Plan, progress: bool) -> Result<(Design, Option<Design>), Fail> {
    let (train, held_out) = match &plan.split {
        None => (read(plan, &plan.table, progress)?, None),
        Some(split) => {
            let bar = Bar::new(&plan.table, progress);
            let (sides, _) = plan.encoder.encode_split(&plan.table, split, &mut |bytes| bar.at(bytes))?;
            let classes = plan.task.is_classification();
            (sides.train.by_user(classes), Some(sides.test.by_user(classes)))
        }
    };
    // Under add-remove, that there are no rows is private like any other number of them.
    let is_known = plan.budget.is_none() || plan.settings.neighboring == Neighboring::ReplaceOne;
    if train.rows() == 0 && is_known {
        return Err(Fail::new(
            Code::NoRows,
            format!("{} has no rows to train on: give a table with data", plan.data),
        ));
    }
    Ok((train, held_out))
}

/// A whole table by the schema.
pub(super) fn read(plan: &Plan, table: &TableFile, progress: bool) -> Result<Design, Fail> {
    let bar = Bar::new(table, progress);
    let (design, _) = plan.encoder.encode(table, &mut |bytes| bar.at(bytes))?;
    Ok(design.by_user(plan.task.is_classification()))
}

/// What is left for the fit, after counting the rows where their number is neither public nor declared.
fn fitting_budget(
    budget: Guarantee,
    train: &Design,
    settings: &mut Settings,
    entropy: &mut Entropy,
    bill: &mut Bill,
) -> Result<Guarantee, Fail> {
    if settings.neighboring == Neighboring::ReplaceOne || settings.size.is_some() {
        return Ok(budget);
    }
    let (size, left) = count_rows(budget, train.rows() as u64, entropy, bill)?;
    settings.size = Some(size);
    Ok(left)
}

/// Labels from -1 to 1; classes are told apart by the multiclass fit itself.
fn usable_labels(task: &Task, design: &Design) -> Vec<f64> {
    match task {
        Task::Classes { .. } => vec![-1.0; design.rows()],
        _ => design.labels().to_vec(),
    }
}

/// Rows of a design for the model library.
pub(super) fn rows<'a>(plan: &Plan, design: &'a Design, labels: &'a [f64]) -> Result<Rows<'a>, Fail> {
    let rows = Rows::new(design.dimension(), design.offsets(), design.columns(), design.values(), labels)?;
    Ok(rows.with_l1_bound(plan.encoder.l1_bound())?)
}

/// The rule's schedule with what the flags change, if they change anything.
fn schedule(
    plan: &Plan,
    method: Method,
    rows: &Rows<'_>,
    settings: &Settings,
    budget: Guarantee,
) -> Result<Option<Schedule>, Fail> {
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

/// The fit's certificate with what was spent around it.
fn certificate(
    plan: &Plan,
    own: Certificate,
    bill: &Bill,
    share: Guarantee,
    tested: Option<&Tested>,
) -> Result<Certificate, Fail> {
    // A noisy count and a learnt schema decide the weights' number, the regularization and the noise.
    let decided = bill.guarantee.is_some() || plan.spent.is_some();
    let mut fitted = match decided {
        true => own.after(&bill.events, bill.cost()?, share)?,
        false => own,
    };
    if bill.guarantee.is_some() {
        fitted.accountant = format!("rows counted with noise, then {}", fitted.accountant);
        fitted.public.retain(|known| !matches!(known, Fact::DeclaredSize(_)));
    }
    let schema = match (plan.spent, plan.encoder.schema().is_draft()) {
        (_, true) => Fact::DraftSchema,
        (Some(_), false) => Fact::LearntSchema,
        (None, false) => Fact::Schema,
    };
    fitted.public.push(schema);
    if let Some(Tested::Released { event, guarantee: testing, .. }) = tested {
        fitted.guarantee = composition::parallel(&[fitted.guarantee, *testing], fitted.neighboring)?;
        let trained = Event::Composed { events: fitted.events };
        fitted.events = vec![Event::Parallel { events: vec![trained, event.clone()] }];
        fitted.accountant += "; tested on held-out rows (parallel composition)";
        fitted.public.push(Fact::SplitKey(plan.split_key.clone()));
    }
    if let Some(spent) = plan.spent {
        fitted.events.insert(0, Event::Approximate { epsilon: spent.epsilon, delta: spent.delta });
        fitted.guarantee = spent.then(fitted.guarantee)?;
        fitted.accountant = format!("the schema's own cost, then {}", fitted.accountant);
    }
    if decided {
        fitted.accountant += DECIDED;
    }
    Ok(fitted)
}
