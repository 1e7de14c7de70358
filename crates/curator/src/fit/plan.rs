//! A request to a checked plan. Files are opened; no row is read.

use super::request::Fit;
use super::stored;
use super::task::Task;
use crate::bill::{SchemaCost, spent};
use crate::quantity::{self, finite};
use crate::refusal::Refusal;
use crate::table::{SharedTable, is_same_table, no_schema, origin, tables};
use reticent_core::{Code, Delta, Guarantee, Neighboring};
use reticent_data::schema::PrivacyUnit;
use reticent_data::{Encoder, Schema, Split, Table, open_table_with};
use reticent_erm::{FitMethod, MarginLoss, Settings};
use std::sync::Arc;

/// Below this ε, training is all noise.
const LEAST_EPSILON: f64 = 1e-4;

/// The share of rows that is held out unless another is asked for.
const TEST_SHARE: f64 = 0.2;

/// The tables of a fit that are given beside the request, such as tables in memory.
#[derive(Debug, Clone)]
pub struct FitTables {
    /// The private rows.
    pub train: Arc<dyn Table>,
    /// Other labelled rows to test on, which are not protected.
    pub test: Option<Arc<dyn Table>>,
    /// What is publicly known of the table; none where the request names its file.
    pub schema: Option<Schema>,
}

/// A training with everything checked but its rows.
#[derive(Debug, Clone)]
pub struct FitPlan {
    /// What was asked for.
    pub(crate) request: Fit,
    /// The table, as messages name it.
    pub(crate) data: String,
    pub(crate) table: Arc<dyn Table>,
    pub(crate) encoder: Encoder,
    pub(crate) task: Task,
    pub(crate) loss: MarginLoss,
    /// None for the one with the best bound.
    pub(crate) method: Option<FitMethod>,
    /// None without privacy.
    pub(crate) budget: Option<Guarantee>,
    pub(crate) settings: Settings,
    /// What learning the schema has cost.
    pub(crate) spent: Option<SchemaCost>,
    pub(crate) steps: Steps,
    pub(crate) split: Option<Split>,
    pub(crate) test: Option<Arc<dyn Table>>,
}

/// What was asked of a descent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Steps {
    pub(crate) steps: Option<u32>,
    pub(crate) learning_rate: Option<f64>,
    pub(crate) sampling_rate: Option<f64>,
}

pub(super) fn plan(request: &Fit, given: Option<FitTables>) -> Result<FitPlan, Refusal> {
    let is_given = given.is_some();
    let (table, official, schema, test) = match given {
        None => {
            let (table, official, schema) = data(request)?;
            (table, official, schema, None)
        }
        Some(FitTables { train, test, schema }) => {
            check_given(request, test.is_some(), schema.is_some())?;
            let own = request.schema.as_deref().map(Schema::read).transpose();
            let schema = own.map_err(Refusal::data("schema"))?.or(schema).ok_or_else(no_schema)?;
            (train, None, schema, test)
        }
    };
    let encoder = Encoder::new(&schema).map_err(Refusal::data("schema"))?;
    encoder.check(&table).map_err(Refusal::data("schema"))?;
    let task = Task::of(&schema)?;
    let (loss, method) = (task.loss(request.model)?, request.method);
    let budget = budget(request)?;
    let (steps, settings) = (steps(request)?, settings(request, &schema)?);
    let spent = if budget.is_some() { spent(&schema, settings.neighboring)? } else { None };
    let test = match &request.test {
        Some(path) => Some(open_table_with(path, &request.reading.of_one_file())?),
        None if test.is_some() => test,
        None => official.filter(|_| request.test_share.is_none()),
    };
    let split = split(request, test.is_some())?;
    if let Some(test) = &test {
        encoder.check(test).map_err(Refusal::data("test"))?;
        if budget.is_some() && is_same_table(test, &table) {
            return Err(same_data(test));
        }
    }
    if let Some(folder) = &request.out {
        stored::check(folder)?;
    }
    let data = table.name().to_owned();
    let mut request = request.clone();
    if is_given {
        // The request is stored with the model. Without names it would ask for the bundled records and hold out a part of them.
        request.data = Some(origin(&*table));
        request.test = test.as_deref().map(origin);
    }
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

/// Refuses a request that names what is given beside it.
fn check_given(request: &Fit, test: bool, schema: bool) -> Result<(), Refusal> {
    let named = [
        ("data", &request.data, true),
        ("data_dir", &request.data_dir, true),
        ("test", &request.test, test),
        ("schema", &request.schema, schema),
    ];
    for (field, path, is_given) in named {
        if let (Some(path), true) = (path, is_given) {
            return Err(Refusal::conflict(
                field,
                path.display(),
                "leave it out: it is given beside the request",
            ));
        }
    }
    Ok(())
}

/// The refusal of private rows as a test that is not protected.
pub(super) fn same_data(test: &dyn Table) -> Refusal {
    let remedy = "these are the private training data, and a score on them is not covered by the guarantee: give other rows, or leave it out";
    Refusal::conflict("test", test.name(), remedy)
}

/// The table, its official test part and its schema; the bundled ones if none is named.
fn data(request: &Fit) -> Result<(SharedTable, Option<SharedTable>, Schema), Refusal> {
    let own = request.schema.as_deref().map(Schema::read).transpose().map_err(Refusal::data("schema"))?;
    let (table, test, known) =
        tables(request.data.as_deref(), request.data_dir.as_deref(), &request.reading)?;
    Ok((table, test, own.or(known).ok_or_else(no_schema)?))
}

fn budget(request: &Fit) -> Result<Option<Guarantee>, Refusal> {
    let method = request.method;
    let delta = request.delta.map(quantity::delta).transpose()?;
    if method == Some(FitMethod::Exact) {
        let refuse =
            |field, value| Err(Refusal::conflict(field, value, "method exact is not private: leave it out"));
        return match (request.epsilon, request.delta) {
            (None, None) => Ok(None),
            (Some(epsilon), _) => refuse("epsilon", epsilon),
            (_, Some(delta)) => refuse("delta", delta),
        };
    }
    let Some(epsilon) = request.epsilon else {
        return Err(Refusal::missing("epsilon", "give a privacy budget, e.g. ⟦epsilon⟧ 1"));
    };
    let epsilon = quantity::epsilon(epsilon, LEAST_EPSILON)?;
    let delta = delta.unwrap_or(Delta::ZERO);
    let needs_delta =
        matches!(method, Some(FitMethod::Descent | FitMethod::Sgd | FitMethod::Kifer | FitMethod::Iyengar));
    if needs_delta && delta.get() == 0.0 {
        return Err(Refusal::missing(
            "delta",
            "the Gaussian noise of this method needs a delta, well below 1 / number of rows, e.g. ⟦delta⟧ 1e-8",
        ));
    }
    if method == Some(FitMethod::Chaudhuri) && delta.get() > 0.0 {
        return Err(Refusal::conflict("delta", delta, "chaudhuri-2011 has a pure guarantee: leave it out"));
    }
    Ok(Some(Guarantee { epsilon, delta }))
}

fn settings(request: &Fit, schema: &Schema) -> Result<Settings, Refusal> {
    let neighboring = request.neighboring;
    let unit = match schema.unit() {
        PrivacyUnit::Row => quantity::unit_words(None),
        PrivacyUnit::Column(column) if neighboring == Neighboring::AddRemove => {
            quantity::unit_words(Some(column))
        }
        PrivacyUnit::Column(_) => {
            let remedy =
                "the schema's unit is a column, which needs add-remove: give ⟦neighboring⟧ add-remove";
            return Err(Refusal::value("neighboring", neighboring, remedy).coded(Code::Relation));
        }
    };
    let size = request.dataset_size.map(|size| whole("dataset_size", size, u64::MAX)).transpose()?;
    if let (Some(size), Neighboring::ReplaceOne) = (size, neighboring) {
        let remedy = "under replace-one the number of rows is public: leave it out";
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
    let descends = matches!(method, Some(FitMethod::Descent | FitMethod::Sgd));
    let given = [
        ("steps", request.steps.map(|steps| steps.to_string()), descends),
        ("learning_rate", request.learning_rate.map(|rate| rate.to_string()), descends),
        ("sampling_rate", request.sampling_rate.map(|rate| rate.to_string()), method == Some(FitMethod::Sgd)),
    ];
    for (field, value, fits) in given {
        if let (Some(value), false) = (value, fits) {
            let needed = if field == "sampling_rate" { "sgd" } else { "gradient or sgd" };
            return Err(Refusal::conflict(field, value, format!("only for ⟦method⟧ {needed}: leave it out")));
        }
    }
    let number = |field: &str, value: Option<f64>| value.map(|value| positive(field, value)).transpose();
    let steps = request.steps.map(|steps| whole("steps", steps, 10_000_000)).transpose()?;
    let sampling_rate = number("sampling_rate", request.sampling_rate)?;
    if let Some(rate) = sampling_rate.filter(|rate| *rate > 1.0) {
        return Err(Refusal::value("sampling_rate", rate, "give a rate above 0 and at most 1"));
    }
    Ok(Steps {
        // At most ten million.
        steps: steps.map(|steps| steps as u32),
        learning_rate: number("learning_rate", request.learning_rate)?,
        sampling_rate,
    })
}

fn split(request: &Fit, has_test: bool) -> Result<Option<Split>, Refusal> {
    let fixed = request.neighboring == Neighboring::ReplaceOne && request.method != Some(FitMethod::Exact);
    let share = match request.test_share {
        Some(share) => {
            let share = finite("test_share", share)?;
            if !(0.0..1.0).contains(&share) {
                return Err(Refusal::value("test_share", share, "give a fraction of at least 0 and below 1"));
            }
            if share > 0.0 && fixed {
                let remedy = "under replace-one a replaced row may change from training to test, so nothing can be \
                              held out: give ⟦test⟧ FILE, or use add-remove";
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
