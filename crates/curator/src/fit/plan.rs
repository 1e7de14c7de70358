//! A request to a checked plan. Files are opened; no row is read.

use super::request::Fit;
use super::stored;
use super::task::Task;
use crate::bill::{SchemaCost, spent};
use crate::quantity::{self, finite};
use crate::refusal::Refusal;
use crate::table::{no_schema, tables};
use reticent_core::{Code, Delta, Guarantee, Neighboring};
use reticent_data::schema::Unit;
use reticent_data::{Encoder, Schema, Split, TableFile};
use reticent_erm::{Loss, Method, Settings};
use std::path::Path;

/// Below this ε, training is all noise.
const LEAST_EPSILON: f64 = 1e-4;

/// The share of rows that is held out unless another is asked for.
const TEST_SHARE: f64 = 0.2;

/// A training with everything checked but its rows.
#[derive(Debug, Clone)]
pub struct FitPlan {
    /// What was asked for.
    pub(crate) request: Fit,
    /// The table, as messages name it.
    pub(crate) data: String,
    pub(crate) table: TableFile,
    pub(crate) encoder: Encoder,
    pub(crate) task: Task,
    pub(crate) loss: Loss,
    /// None for the one with the best bound.
    pub(crate) method: Option<Method>,
    /// None without privacy.
    pub(crate) budget: Option<Guarantee>,
    pub(crate) settings: Settings,
    /// What learning the schema has cost.
    pub(crate) spent: Option<SchemaCost>,
    pub(crate) steps: Steps,
    pub(crate) split: Option<Split>,
    pub(crate) test: Option<TableFile>,
}

/// What was asked of a descent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Steps {
    pub(crate) steps: Option<u32>,
    pub(crate) learning_rate: Option<f64>,
    pub(crate) sampling_rate: Option<f64>,
}

pub(super) fn plan(request: &Fit) -> Result<FitPlan, Refusal> {
    let (table, official, schema) = data(request)?;
    let encoder = Encoder::new(&schema).map_err(Refusal::data("schema"))?;
    encoder.check(&table).map_err(Refusal::data("schema"))?;
    let task = Task::of(&schema)?;
    let (loss, method) = (task.loss(request.model)?, request.method);
    let budget = budget(request)?;
    let (steps, settings) = (steps(request)?, settings(request, &schema)?);
    let spent = if budget.is_some() { spent(&schema, settings.neighboring)? } else { None };
    let test = match &request.test {
        Some(path) => Some(TableFile::open(path)?),
        None => official.filter(|_| request.test_share.is_none()),
    };
    let split = split(request, test.is_some())?;
    if let Some(test) = &test {
        encoder.check(test).map_err(Refusal::data("test"))?;
        if budget.is_some() && is_same_file(test.path(), table.path()) {
            return Err(same_data(test));
        }
    }
    if let Some(folder) = &request.out {
        stored::check(folder)?;
    }
    let (request, data) = (request.clone(), table.path().display().to_string());
    Ok(FitPlan {
        request,
        data,
        table,
        encoder,
        task,
        loss,
        method,
        budget,
        settings,
        spent,
        steps,
        split,
        test,
    })
}

/// The refusal of private rows as a test that is not protected.
pub(super) fn same_data(test: &TableFile) -> Refusal {
    let remedy = "these are the private data themselves, and a score on them is not covered: give other rows, or leave it out";
    Refusal::conflict("test", test.path().display(), remedy)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The table, its official test part and its schema; the bundled ones if none is named.
fn data(request: &Fit) -> Result<(TableFile, Option<TableFile>, Schema), Refusal> {
    let own = request.schema.as_deref().map(Schema::read).transpose().map_err(Refusal::data("schema"))?;
    let (table, test, known) = tables(request.data.as_deref(), request.data_dir.as_deref())?;
    Ok((table, test, own.or(known).ok_or_else(no_schema)?))
}

fn budget(request: &Fit) -> Result<Option<Guarantee>, Refusal> {
    let method = request.method;
    let delta = request.delta.map(quantity::delta).transpose()?;
    if method == Some(Method::Exact) {
        let refuse =
            |field, value| Err(Refusal::conflict(field, value, "leave it out: exact is not private"));
        return match (request.epsilon, request.delta) {
            (None, None) => Ok(None),
            (Some(epsilon), _) => refuse("epsilon", epsilon),
            (_, Some(delta)) => refuse("delta", delta),
        };
    }
    let Some(epsilon) = request.epsilon else {
        return Err(Refusal::missing("epsilon", "say how much privacy to spend, e.g. ⟦epsilon⟧ 1"));
    };
    let epsilon = quantity::epsilon(epsilon, LEAST_EPSILON)?;
    let delta = delta.unwrap_or(Delta::ZERO);
    let needs_delta = matches!(method, Some(Method::Descent | Method::Sgd | Method::Kifer | Method::Iyengar));
    if needs_delta && delta.get() == 0.0 {
        return Err(Refusal::missing(
            "delta",
            "this method's Gaussian noise needs one, far below 1 / number of rows, e.g. ⟦delta⟧ 1e-8",
        ));
    }
    if method == Some(Method::Chaudhuri) && delta.get() > 0.0 {
        return Err(Refusal::conflict("delta", delta, "leave it out: chaudhuri-2011 is pure"));
    }
    Ok(Some(Guarantee { epsilon, delta }))
}

fn settings(request: &Fit, schema: &Schema) -> Result<Settings, Refusal> {
    let neighboring = request.neighboring;
    let unit = match schema.unit() {
        Unit::Row => "row".to_owned(),
        Unit::Column(column) if neighboring == Neighboring::AddRemove => format!("all rows of one {column}"),
        Unit::Column(_) => {
            let remedy = "the schema's unit is a column: whose rows there are is hidden by add-remove only";
            return Err(Refusal::value("neighboring", neighboring, remedy).coded(Code::Relation));
        }
    };
    let size = request.dataset_size.map(|size| whole("dataset_size", size, u64::MAX)).transpose()?;
    if let (Some(size), Neighboring::ReplaceOne) = (size, neighboring) {
        let remedy = "leave it out: under replace-one the number of rows is public";
        return Err(Refusal::conflict("dataset_size", size, remedy));
    }
    let regularization =
        request.regularization.map(|weight| positive("regularization", weight)).transpose()?;
    let standard = Settings::default();
    let intercept = if request.no_intercept { 0.0 } else { standard.intercept };
    Ok(Settings { neighboring, size, regularization, intercept, unit, ..standard })
}

fn steps(request: &Fit) -> Result<Steps, Refusal> {
    let method = request.method;
    let descends = matches!(method, Some(Method::Descent | Method::Sgd));
    let given = [
        ("steps", request.steps.map(|steps| steps.to_string()), descends),
        ("learning_rate", request.learning_rate.map(|rate| rate.to_string()), descends),
        ("sampling_rate", request.sampling_rate.map(|rate| rate.to_string()), method == Some(Method::Sgd)),
    ];
    for (field, value, fits) in given {
        if let (Some(value), false) = (value, fits) {
            let needed = if field == "sampling_rate" { "sgd" } else { "gradient or sgd" };
            return Err(Refusal::conflict(field, value, format!("goes with ⟦method⟧ {needed} only")));
        }
    }
    let number = |field: &str, value: Option<f64>| value.map(|value| positive(field, value)).transpose();
    let steps = request.steps.map(|steps| whole("steps", steps, 10_000_000)).transpose()?;
    let sampling_rate = number("sampling_rate", request.sampling_rate)?;
    if let Some(rate) = sampling_rate.filter(|rate| *rate > 1.0) {
        return Err(Refusal::value("sampling_rate", rate, "give a share above 0 and at most 1"));
    }
    Ok(Steps {
        // At most ten million.
        steps: steps.map(|steps| steps as u32),
        learning_rate: number("learning_rate", request.learning_rate)?,
        sampling_rate,
    })
}

fn split(request: &Fit, has_test: bool) -> Result<Option<Split>, Refusal> {
    let fixed = request.neighboring == Neighboring::ReplaceOne && request.method != Some(Method::Exact);
    let share = match request.test_share {
        Some(share) => {
            let share = finite("test_share", share)?;
            if !(0.0..1.0).contains(&share) {
                return Err(Refusal::value("test_share", share, "give a share from 0 to below 1"));
            }
            if share > 0.0 && fixed {
                let remedy = "a replaced row may change sides, so that nothing can be held out under \
                              replace-one: give ⟦test⟧ FILE, or add-remove";
                return Err(Refusal::value("test_share", share, remedy).coded(Code::Relation));
            }
            share
        }
        None if has_test || fixed => 0.0,
        None => TEST_SHARE,
    };
    Ok(if share > 0.0 { Some(Split::new(&request.split_key, share)?) } else { None })
}

/// A number above 0.
fn positive(field: &str, value: f64) -> Result<f64, Refusal> {
    match finite(field, value)? {
        value if value > 0.0 => Ok(value),
        value => Err(Refusal::value(field, value, "give a number above 0")),
    }
}

/// A whole number from 1 to `most`.
fn whole(field: &str, value: u64, most: u64) -> Result<u64, Refusal> {
    match (1..=most).contains(&value) {
        true => Ok(value),
        false => Err(Refusal::value(field, value, format!("give a whole number from 1 to {most}"))),
    }
}
