//! Verbs with `--budget`.

use super::render::down;
use crate::args::budget::{BudgetFlags, RememberedFlags};
use crate::bar::Terminal;
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::json_line;
use reticent::curator::budget::{BudgetStanding, Budgeted, Remembered, StoredBudget, declared_budget};
use reticent::curator::{Planned, Session};
use serde::Serialize;
use std::path::Path;

/// An outcome, and how the budget stands after it, if there is one.
type Paid<T> = (T, Option<BudgetStanding>);

/// The budget of a verb: that of `--budget`, or the one that the schema names.
fn budget(flags: &BudgetFlags, schema: Option<&Path>) -> Result<Option<StoredBudget>, Fail> {
    let Some(file) = declared_budget(flags.budget.as_deref(), schema)? else {
        for (flag, given) in [("--analyst", &flags.analyst), ("--purpose", &flags.purpose)] {
            if let Some(name) = given {
                return Err(Fail::conflict(flag, name, "only with a budget: give --budget, or leave it out"));
            }
        }
        return Ok(None);
    };
    Ok(Some(StoredBudget::open(file)?.asked_by(flags.analyst.clone(), flags.purpose.clone())?))
}

/// Runs a request whose answers a budget remembers.
pub(crate) fn answered<R: Remembered>(
    request: &R,
    planned: R::Planned,
    flags: &RememberedFlags,
    schema: Option<&Path>,
    progress: bool,
) -> Result<Paid<<R::Planned as Planned>::Outcome>, Fail> {
    let watch = Box::new(Terminal { progress });
    match budget(&flags.payer, schema)? {
        Some(budget) => {
            let paid = budget.answer(request, planned, flags.refresh, Some(watch))?;
            Ok((paid.outcome, Some(paid.standing)))
        }
        None if flags.refresh => {
            Err(Fail::new(Code::Conflict, "--refresh: only with a budget: give --budget, or leave it out"))
        }
        None => Ok((planned.run(&mut Session::without_limit()?.watched(watch))?, None)),
    }
}

/// Runs a request that a budget is charged for.
pub(crate) fn charged<R: Budgeted>(
    request: &R,
    planned: R::Planned,
    flags: &BudgetFlags,
    schema: Option<&Path>,
    progress: bool,
) -> Result<Paid<<R::Planned as Planned>::Outcome>, Fail> {
    let watch = Box::new(Terminal { progress });
    match budget(flags, schema)? {
        Some(budget) => {
            let paid = budget.charge_for(request, planned, Some(watch))?;
            Ok((paid.outcome, Some(paid.standing)))
        }
        None => Ok((planned.run(&mut Session::without_limit()?.watched(watch))?, None)),
    }
}

/// How the budget would stand, for a dry run.
pub(crate) fn foreseen<R: Budgeted>(
    request: &R,
    planned: &R::Planned,
    flags: &BudgetFlags,
    schema: Option<&Path>,
) -> Result<Option<BudgetStanding>, Fail> {
    Ok(budget(flags, schema)?.map(|budget| budget.foresee(request, planned)).transpose()?)
}

/// The lines about the budget that every result ends with.
pub(crate) fn lines(standing: Option<&BudgetStanding>) -> Vec<(String, String)> {
    let Some(standing) = standing else { return Vec::new() };
    let BudgetStanding { file, charges, remembered, limit, left, still, .. } = standing;
    let file = file.display();
    let charged = match (remembered, &charges[..]) {
        (Some(time), []) => format!("{file}: the answer of {time}, remembered; nothing was charged"),
        (Some(time), [own, ..]) => {
            format!("{file}: the answer of {time}, remembered; charged to the own part alone (entry {own})")
        }
        (None, []) => format!("{file}: nothing was charged"),
        (None, [one]) => format!("{file}, charge {one}"),
        (None, several) => {
            let numbers: Vec<String> = several.iter().map(u64::to_string).collect();
            format!("{file}, charges {}", numbers.join(", "))
        }
    };
    let left = down(*left);
    let left = match still {
        Some(still) => format!("{} (limit: {limit})", still.words()),
        None => format!("one more question of up to epsilon = {left} (limit: {limit})"),
    };
    vec![("budget".to_owned(), charged), ("left".to_owned(), left)]
}

/// An outcome as one line of JSON, with how the budget stands.
pub(crate) fn json(outcome: &impl Serialize, standing: Option<&BudgetStanding>) -> Result<String, Fail> {
    #[derive(Serialize)]
    struct WithBudget<'a, T> {
        #[serde(flatten)]
        outcome: &'a T,
        #[serde(skip_serializing_if = "Option::is_none")]
        budget: Option<&'a BudgetStanding>,
    }
    match standing {
        None => json_line(outcome),
        budget => json_line(&WithBudget { outcome, budget }),
    }
}
