//! Requests about a budget, carried out.

use super::names;
use super::outcome::{
    BudgetChange, BudgetChanged, BudgetPart, BudgetState, BudgetSummary, ChargeHistory, ExportedBudget,
    PastCharge, VerifiedBudget, WrittenSpending,
};
use super::place::{create, stem};
use super::request::{
    AddData, AllotBudget, BudgetHistory, CloseBudget, CreateBudget, DrawSpending, ExportBudget, ShowBudget,
    VerifyBudget,
};
use super::stored::{StoredBudget, reading_words};
use crate::file::OutputFile;
use crate::quantity;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::{Planned, Request};
use reticent_accounting::filter::{Odometer, plain_sum};
use reticent_core::{Code, Delta, Epsilon, EventLog, Guarantee, Neighboring, Plan};
use reticent_data::Reading;
use reticent_ledger::{
    BudgetEntry, BudgetExport, BudgetScope, BudgetStatus, BudgetStore, BudgetTerms, DataName, EntryKind,
    Moment, SubBudget,
};
use std::path::{Path, PathBuf};

/// Above so many charges, what was spent is not added up anew each time somebody looks.
const MOST_ADDED_UP: u64 = 5_000;
/// Entries that are read at a time.
const CHUNK: u64 = 4_096;
/// Units that are no columns.
const UNITS: [&str; 3] = ["row", "image", "answer"];
/// The layout of an export.
const LAYOUT: &str = "reticent-budget/1";

/// A checked request about a budget itself. It spends nothing and reads no data.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetTask<R> {
    request: R,
}

macro_rules! tasks {
    ($($request:ident -> $outcome:ident: $check:ident, $run:ident;)+) => {$(
        impl Request for $request {
            type Planned = BudgetTask<Self>;

            fn check(&self) -> Result<BudgetTask<Self>, Refusal> {
                $check(self)?;
                Ok(BudgetTask { request: self.clone() })
            }
        }

        impl Planned for BudgetTask<$request> {
            type Outcome = $outcome;

            fn run(self, _: &mut Session) -> Result<$outcome, Refusal> {
                $run(&self.request)
            }
        }
    )+};
}

tasks! {
    CreateBudget -> BudgetChanged: check_create, create_budget;
    ShowBudget -> BudgetSummary: check_show, show;
    BudgetHistory -> ChargeHistory: check_history, history;
    AddData -> BudgetChanged: check_add, add_data;
    AllotBudget -> BudgetChanged: check_allot, allot;
    CloseBudget -> BudgetChanged: check_close, close;
    VerifyBudget -> VerifiedBudget: check_verify, verify;
    ExportBudget -> ExportedBudget: check_export, export;
    DrawSpending -> WrittenSpending: check_draw, draw;
}

fn check_create(request: &CreateBudget) -> Result<(), Refusal> {
    terms(request).map(drop)
}

/// The limit of a budget, or of a part of one.
fn limit(epsilon: f64, delta: Option<f64>) -> Result<Guarantee, Refusal> {
    let epsilon = quantity::epsilon(epsilon, 0.0)?;
    let delta = match delta {
        None => Delta::ZERO,
        Some(0.0) => Delta::ZERO,
        Some(delta) => quantity::delta(delta)?,
    };
    Ok(Guarantee { epsilon, delta })
}

fn moment(text: Option<&str>) -> Result<Option<Moment>, Refusal> {
    text.map(|text| {
        text.parse::<Moment>().map_err(|invalid| Refusal::value("valid_until", text, invalid.remedy.clone()))
    })
    .transpose()
}

fn data_names(file: &Path, data: &[PathBuf], reading: &Reading) -> Result<Vec<DataName>, Refusal> {
    if data.is_empty() {
        let remedy = "name the data: a file, a folder or a pattern such as 'visits/*.parquet'";
        return Err(Refusal::missing("data", remedy));
    }
    if !reading.also.is_empty() || !reading.derive.is_empty() {
        let remedy = "further files and derived columns are up to each question: leave them out";
        return Err(Refusal::about(Code::Conflict, "reading", remedy));
    }
    reading.check().map_err(Refusal::data("reading"))?;
    let words = reading_words(reading);
    data.iter()
        .map(|path| match path.as_os_str().is_empty() {
            true => Err(Refusal::value("data", "", "give a path, a folder or a pattern")),
            false => {
                let name = DataName::new(names::name(file, path));
                Ok(DataName { reading: words.clone(), ..name })
            }
        })
        .collect()
}

fn terms(request: &CreateBudget) -> Result<BudgetTerms, Refusal> {
    let limit = limit(request.epsilon, request.delta)?;
    let unit = request.unit.trim();
    if unit.is_empty() {
        return Err(Refusal::value("unit", &request.unit, "give row, or the column that names a person"));
    }
    let column = (!UNITS.contains(&unit)).then(|| unit.to_owned());
    if column.is_some() && request.neighboring == Neighboring::ReplaceOne {
        let remedy = "a unit that is a column needs add-remove: give ⟦neighboring⟧ add-remove";
        return Err(Refusal::value("neighboring", request.neighboring, remedy).coded(Code::Relation));
    }
    let name = match &request.name {
        Some(name) if name.trim().is_empty() => {
            return Err(Refusal::value("name", name, "give a name, or leave it out"));
        }
        Some(name) => name.clone(),
        None => stem(&request.file).ok_or_else(|| {
            Refusal::value("file", request.file.display(), "give the name of a file, such as hospital.budget")
        })?,
    };
    let words =
        column.as_deref().map_or_else(|| unit.to_owned(), |column| quantity::unit_words(Some(column)));
    let mut terms = BudgetTerms::new(name, limit, request.neighboring, words);
    terms.unit_column = column;
    terms.valid_until = moment(request.valid_until.as_deref())?;
    terms.data = data_names(&request.file, &request.data, &request.reading)?;
    Ok(terms)
}

fn create_budget(request: &CreateBudget) -> Result<BudgetChanged, Refusal> {
    create(&request.file, &terms(request)?)?;
    let summary = show(&ShowBudget { file: request.file.clone() })?;
    Ok(BudgetChanged { changes: vec!["created".to_owned()], summary })
}

fn check_show(request: &ShowBudget) -> Result<(), Refusal> {
    StoredBudget::open(&request.file).map(drop)
}

fn show(request: &ShowBudget) -> Result<BudgetSummary, Refusal> {
    let mut store = StoredBudget::open(&request.file)?.store()?;
    let status = store.status()?;
    summary(&request.file, &mut *store, &status)
}

/// How a budget stands, in the words of an outcome.
pub(super) fn summary(
    file: &Path,
    store: &mut dyn BudgetStore,
    status: &BudgetStatus,
) -> Result<BudgetSummary, Refusal> {
    let BudgetTerms { name, limit, neighboring, unit, valid_until, data, .. } = status.terms.clone();
    let total = status.limits.iter().find(|limit| limit.scope == BudgetScope::Total);
    let charges = total.map_or(0, |total| total.charges);
    let spent = match charges {
        0 => Some(Guarantee::pure(Epsilon::new(0.0)?)),
        charges if charges > MOST_ADDED_UP => None,
        _ => spent(store, status)?,
    };
    let parts = status.limits.iter().filter(|limit| limit.scope != BudgetScope::Total).map(|part| {
        let (analyst, purpose) = BudgetPart::names(&part.scope);
        BudgetPart {
            analyst,
            purpose,
            limit: part.limit,
            valid_until: part.valid_until,
            left: part.left.get(),
            charges: part.charges,
        }
    });
    Ok(BudgetSummary {
        file: file.to_path_buf(),
        name,
        id: status.id.clone(),
        limit,
        unit,
        neighboring,
        data: data
            .into_iter()
            .map(|DataName { path, reading, .. }| match reading {
                Some(reading) => format!("{path} (read as {reading})"),
                None => path,
            })
            .collect(),
        state: match (status.is_closed, status.is_expired) {
            (true, _) => BudgetState::Closed,
            (_, true) => BudgetState::Expired,
            _ => BudgetState::Open,
        },
        valid_until,
        spent,
        left: total.map_or(0.0, |total| total.left.get()),
        charges,
        unanswered: status.uncommitted,
        answers: status.answers,
        parts: parts.collect(),
    })
}

/// Every plan that was charged, in sequence.
pub(super) fn plans(
    store: &mut dyn BudgetStore,
    status: &BudgetStatus,
    each: &mut dyn FnMut(&BudgetEntry, Plan) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let end = status.last.number().saturating_add(1);
    let mut next = 0;
    while next < end {
        let stop = end.min(next.saturating_add(CHUNK));
        for entry in store.entries(next..stop)? {
            if let EntryKind::Reserved { events, .. } = &entry.kind {
                each(&entry, Plan::new(events.clone())?)?;
            }
        }
        next = stop;
    }
    Ok(())
}

/// What was spent, as an odometer up to the limit reads it; where the limit is pure, the sum.
fn spent(store: &mut dyn BudgetStore, status: &BudgetStatus) -> Result<Option<Guarantee>, Refusal> {
    let BudgetTerms { limit, neighboring, .. } = status.terms;
    if limit.delta.get() == 0.0 {
        let mut sum = Some(Guarantee::pure(Epsilon::new(0.0)?));
        plans(store, status, &mut |_, plan| {
            let own = cost(&plan, neighboring);
            sum = sum.zip(own).and_then(|(sum, own)| sum.then(own).ok());
            Ok(())
        })?;
        return Ok(sum);
    }
    let mut odometer = Odometer::new(limit, neighboring)?;
    plans(store, status, &mut |_, plan| Ok(odometer.record(&plan)?))?;
    Ok(odometer.spent())
}

/// What a plan costs by itself, where all of its events have a cost of their own.
pub(super) fn cost(plan: &Plan, neighboring: Neighboring) -> Option<Guarantee> {
    let log = EventLog { neighboring, events: plan.events().to_vec() };
    plain_sum(&log).ok().flatten()
}

fn check_history(request: &BudgetHistory) -> Result<(), Refusal> {
    if request.last == Some(0) {
        return Err(Refusal::value("last", 0, "give a whole number from 1, or leave it out"));
    }
    StoredBudget::open(&request.file).map(drop)
}

fn history(request: &BudgetHistory) -> Result<ChargeHistory, Refusal> {
    let mut store = StoredBudget::open(&request.file)?.store()?;
    let export = BudgetExport::of(&mut *store)?;
    let neighboring = export.status.terms.neighboring;
    let (mut charges, mut changes) = (Vec::new(), Vec::new());
    for entry in export.entries {
        let number = entry.entry.number();
        match entry.kind {
            EntryKind::Reserved { events, about } => charges.push(PastCharge {
                entry: number,
                time: entry.time,
                analyst: entry.analyst,
                purpose: entry.purpose,
                about,
                cost: cost(&Plan::new(events.clone())?, neighboring),
                answered: false,
                remembered: false,
                events,
            }),
            EntryKind::Committed { entry: reserved, has_answer } => {
                // Entries are in order, so what is committed is there, near the end.
                if let Some(charge) = charges.iter_mut().rev().find(|one| one.entry == reserved.number()) {
                    (charge.answered, charge.remembered) = (true, has_answer);
                }
            }
            EntryKind::Recalled { entry: reserved } => changes.push(BudgetChange {
                entry: number,
                time: entry.time,
                what: recalled(entry.analyst.as_deref(), entry.purpose.as_deref(), reserved.number()),
            }),
            kind => changes.extend(change(&kind).map(|what| BudgetChange {
                entry: number,
                time: entry.time,
                what,
            })),
        }
    }
    let total = charges.len() as u64;
    let is_asked = |charge: &PastCharge| {
        let is = |wanted: &Option<String>, own: &Option<String>| wanted.is_none() || wanted == own;
        is(&request.analyst, &charge.analyst) && is(&request.purpose, &charge.purpose)
    };
    charges.retain(is_asked);
    if let Some(last) = request.last {
        let cut = charges.len().saturating_sub(usize::try_from(last).unwrap_or(usize::MAX));
        charges.drain(..cut);
    }
    Ok(ChargeHistory { file: request.file.clone(), charges, changes, total })
}

/// A remembered answer that a part paid for, in words.
fn recalled(analyst: Option<&str>, purpose: Option<&str>, charge: u64) -> String {
    let names =
        [analyst.map(|name| format!("analyst {name}")), purpose.map(|name| format!("purpose {name}"))];
    let names: Vec<String> = names.into_iter().flatten().collect();
    format!("answer of charge {charge} given again, charged to the part of {} alone", names.join(", "))
}

/// An entry that is no charge, in words.
fn change(kind: &EntryKind) -> Option<String> {
    Some(match kind {
        EntryKind::Created { .. } => "created".to_owned(),
        EntryKind::DataAdded { data } => format!("data added: {}", data.path),
        EntryKind::SubBudgetAdded { sub_budget } => {
            format!("set aside: {}, {}", sub_budget.scope, sub_budget.limit)
        }
        EntryKind::Closed { reason } => format!("closed: {reason}"),
        _ => return None,
    })
}

fn check_add(request: &AddData) -> Result<(), Refusal> {
    data_names(&request.file, &request.data, &request.reading)?;
    StoredBudget::open(&request.file).map(drop)
}

fn add_data(request: &AddData) -> Result<BudgetChanged, Refusal> {
    let mut store = StoredBudget::open(&request.file)?.store()?;
    let known = store.terms()?.data;
    let mut changes = Vec::new();
    for data in data_names(&request.file, &request.data, &request.reading)? {
        if known.contains(&data) {
            changes.push(format!("{} belongs to the budget already", data.path));
            continue;
        }
        store.add_data(&data)?;
        changes.push(format!("data added: {}", data.path));
    }
    let status = store.status()?;
    Ok(BudgetChanged { changes, summary: summary(&request.file, &mut *store, &status)? })
}

fn sub_budget(request: &AllotBudget) -> Result<SubBudget, Refusal> {
    let scope = match (&request.analyst, &request.purpose) {
        (Some(analyst), None) => BudgetScope::Analyst(analyst.clone()),
        (None, Some(purpose)) => BudgetScope::Purpose(purpose.clone()),
        (None, None) => {
            return Err(Refusal::missing("analyst", "give the ⟦analyst⟧ or the ⟦purpose⟧ that it is for"));
        }
        (Some(_), Some(purpose)) => {
            let remedy = "a part is for an ⟦analyst⟧ or for a ⟦purpose⟧: set two aside";
            return Err(Refusal::conflict("purpose", purpose, remedy));
        }
    };
    let limit = limit(request.epsilon, request.delta)?;
    let sub_budget = SubBudget { scope, limit, valid_until: moment(request.valid_until.as_deref())? };
    sub_budget.validate()?;
    Ok(sub_budget)
}

fn check_allot(request: &AllotBudget) -> Result<(), Refusal> {
    let part = sub_budget(request)?;
    let whole = StoredBudget::open(&request.file)?.terms()?.limit;
    for (field, part, whole) in [
        ("epsilon", part.limit.epsilon.get(), whole.epsilon.get()),
        ("delta", part.limit.delta.get(), whole.delta.get()),
    ] {
        if part > whole {
            let remedy = format!("the whole budget has {whole}: give at most that");
            return Err(Refusal::value(field, part, remedy));
        }
    }
    Ok(())
}

fn allot(request: &AllotBudget) -> Result<BudgetChanged, Refusal> {
    let part = sub_budget(request)?;
    let mut store = StoredBudget::open(&request.file)?.store()?;
    store.add_sub_budget(&part)?;
    let status = store.status()?;
    let changes = vec![format!("set aside: {}, {}", part.scope, part.limit)];
    Ok(BudgetChanged { changes, summary: summary(&request.file, &mut *store, &status)? })
}

fn check_close(request: &CloseBudget) -> Result<(), Refusal> {
    StoredBudget::open(&request.file).map(drop)
}

fn close(request: &CloseBudget) -> Result<BudgetChanged, Refusal> {
    let mut store = StoredBudget::open(&request.file)?.store()?;
    store.close(request.reason.as_deref().unwrap_or("no reason given"))?;
    let status = store.status()?;
    let changes = vec!["closed".to_owned()];
    Ok(BudgetChanged { changes, summary: summary(&request.file, &mut *store, &status)? })
}

fn check_verify(_: &VerifyBudget) -> Result<(), Refusal> {
    Ok(())
}

fn verify(request: &VerifyBudget) -> Result<VerifiedBudget, Refusal> {
    let mut store = StoredBudget::open(&request.file)?.store()?;
    let problems = store.verify()?;
    let status = store.status()?;
    let (entries, digest) = (status.last.number() + 1, status.digest);
    Ok(VerifiedBudget { file: request.file.clone(), entries, digest, problems })
}

fn check_export(request: &ExportBudget) -> Result<(), Refusal> {
    if let Some(out) = &request.out {
        OutputFile { field: "out", path: out, extension: "json" }.check()?;
    }
    StoredBudget::open(&request.file).map(drop)
}

fn export(request: &ExportBudget) -> Result<ExportedBudget, Refusal> {
    let mut store = StoredBudget::open(&request.file)?.store()?;
    let export = BudgetExport::of(&mut *store)?;
    let exported = ExportedBudget { out: request.out.clone(), schema: LAYOUT, export };
    if let Some(out) = &request.out {
        let text = serde_json::to_string_pretty(&exported).map_err(Refusal::internal)? + "\n";
        OutputFile { field: "out", path: out, extension: "json" }.write(&text)?;
    }
    Ok(exported)
}

fn check_draw(request: &DrawSpending) -> Result<(), Refusal> {
    OutputFile { field: "out", path: &request.out, extension: "html" }.check()?;
    StoredBudget::open(&request.file).map(drop)
}

fn draw(request: &DrawSpending) -> Result<WrittenSpending, Refusal> {
    let mut store = StoredBudget::open(&request.file)?.store()?;
    let page = super::spending::page(&request.file, &mut *store)?;
    OutputFile { field: "out", path: &request.out, extension: "html" }.write(&page.html())?;
    Ok(WrittenSpending { file: request.file.clone(), out: request.out.clone(), charges: page.count })
}
