//! The page of a budget.

use super::outcome::{BudgetPart, BudgetState, PastCharge};
use super::run::{cost, plans, summary};
use crate::refusal::Refusal;
use reticent_accounting::filter::{Filter, FilterRule};
use reticent_ledger::{BudgetStore, EntryKind, Moment};
use reticent_report::spending::{SpendingPage, SpendingPoint, SpendingRow, SpendingShare};
use std::path::Path;

/// Charges that the page lists.
const LISTED: usize = 100;
/// Points of its curves, about.
const POINTS: u64 = 240;
/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// The page of a budget.
pub(super) fn page(file: &Path, store: &mut dyn BudgetStore) -> Result<SpendingPage, Refusal> {
    let status = store.status()?;
    let own = summary(file, store, &status)?;
    let terms = &status.terms;
    let apart = own.charges.div_ceil(POINTS).max(1);
    let created = created(store)?;
    let mut filter = Filter::new(terms.limit, terms.neighboring, FilterRule::Best)?;
    let (mut points, mut rows, mut sum, mut count) = (Vec::new(), Vec::new(), 0.0, 0u64);
    plans(store, &status, &mut |entry, plan| {
        count += 1;
        filter.admit(&plan)?;
        let cost = cost(&plan, terms.neighboring);
        sum += cost.map_or(f64::INFINITY, |cost| cost.epsilon.get());
        if count.is_multiple_of(apart) || count == own.charges || count == 1 {
            let days = (entry.time.milliseconds() - created.milliseconds()) as f64 / DAY;
            points.push(SpendingPoint {
                days: days.max(0.0),
                charges: count,
                sum,
                left: filter.left()?.get(),
            });
        }
        if own.charges - count < LISTED as u64 {
            let EntryKind::Reserved { about, .. } = &entry.kind else { return Ok(()) };
            rows.push(SpendingRow {
                entry: entry.entry.number(),
                at: day_and_time(entry.time),
                analyst: entry.analyst.clone(),
                purpose: entry.purpose.clone(),
                question: about.clone(),
                cost,
                state: PastCharge::words(false, false).to_owned(),
            });
        }
        Ok(())
    })?;
    answered(store, status.last.number(), &mut rows)?;
    rows.reverse();
    let until = own.valid_until.map_or_else(String::new, |until| format!(" until {}", day_and_time(until)));
    let state = match own.state {
        BudgetState::Open => format!("open{until}"),
        BudgetState::Closed => "closed".to_owned(),
        BudgetState::Expired => format!("expired: it was valid{until}"),
    };
    let share = |part: &BudgetPart| SpendingShare {
        analyst: part.analyst.clone(),
        purpose: part.purpose.clone(),
        limit: part.limit,
        left: part.left,
        charges: part.charges,
    };
    Ok(SpendingPage {
        protects: format!("{} ({})", own.unit, own.neighboring),
        name: own.name,
        data: own.data,
        limit: own.limit,
        spent: own.spent,
        left: own.left,
        created: day_and_time(created),
        state,
        points,
        charges: rows,
        count: own.charges,
        shares: own.parts.iter().map(share).collect(),
    })
}

/// When the budget was created.
fn created(store: &mut dyn BudgetStore) -> Result<Moment, Refusal> {
    let first = store.entries(0..1)?;
    first.first().map(|entry| entry.time).ok_or_else(|| Refusal::internal("a budget without a first entry"))
}

/// Marks the listed charges that have an answer.
fn answered(store: &mut dyn BudgetStore, last: u64, rows: &mut [SpendingRow]) -> Result<(), Refusal> {
    let Some(first) = rows.first().map(|row| row.entry) else { return Ok(()) };
    for entry in store.entries(first..last.saturating_add(1))? {
        if let EntryKind::Committed { entry: reserved, has_answer } = entry.kind
            && let Some(row) = rows.iter_mut().find(|row| row.entry == reserved.number())
        {
            row.state = PastCharge::words(true, has_answer).to_owned();
        }
    }
    Ok(())
}

/// `2026-11-17 12:00:00`.
fn day_and_time(moment: Moment) -> String {
    let text = moment.to_string();
    text.split('.').next().unwrap_or_default().trim_end_matches('Z').replace('T', " ")
}
