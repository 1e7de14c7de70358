//! Arguments to a checked plan. Files are opened; no row is read.

use super::folder;
use super::task::Task;
use crate::args::learn::Train;
use crate::explain::Code;
use crate::fail::Fail;
use crate::read::{self, whole};
use reticent::core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent::data::schema::Unit;
use reticent::data::{DATA_FOLDER, Encoder, Schema, Split, TableFile, bundled, find_dataset};
use reticent::erm::{Loss, Method, Settings};
use std::path::{Path, PathBuf};

/// Below this ε, training is all noise.
const LEAST_EPSILON: f64 = 1e-4;

/// The share of rows that is held out unless another is asked for.
const TEST_SHARE: f64 = 0.2;

/// A training run with every flag checked.
pub(super) struct Plan {
    /// The table, as messages name it.
    pub(super) data: String,
    pub(super) table: TableFile,
    pub(super) encoder: Encoder,
    pub(super) task: Task,
    pub(super) loss: Loss,
    /// None for the one with the best bound.
    pub(super) method: Option<Method>,
    /// None without privacy.
    pub(super) budget: Option<Guarantee>,
    pub(super) settings: Settings,
    /// What learning the schema has cost.
    pub(super) spent: Option<Guarantee>,
    pub(super) steps: Steps,
    pub(super) split: Option<Split>,
    pub(super) split_key: String,
    pub(super) test: Option<TableFile>,
    pub(super) out: Option<PathBuf>,
    pub(super) json: bool,
}

/// What was asked of a descent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Steps {
    pub(super) steps: Option<u32>,
    pub(super) learning_rate: Option<f64>,
    pub(super) sampling_rate: Option<f64>,
}

pub(super) fn plan(arguments: &Train) -> Result<Plan, Fail> {
    let (table, official, schema) = data(arguments)?;
    let encoder = Encoder::new(&schema).map_err(Fail::data("--schema"))?;
    encoder.check(&table).map_err(Fail::data("--schema"))?;
    let task = Task::of(&schema)?;
    let loss = task.loss(arguments.model.as_deref())?;
    let method = method(&arguments.method)?;
    let budget = budget(arguments, method)?;
    let (steps, settings) = (steps(arguments, method)?, settings(arguments, &schema)?);
    let spent = if budget.is_some() { spent(&schema, settings.neighboring)? } else { None };
    let test = match &arguments.test {
        Some(path) => Some(TableFile::open(path)?),
        None => official.filter(|_| arguments.test_share.is_none()),
    };
    let split = split(arguments, settings.neighboring, method, test.is_some())?;
    if let Some(test) = &test {
        encoder.check(test).map_err(Fail::data("--test"))?;
    }
    if let Some(folder) = &arguments.out {
        folder::check(folder)?;
    }
    let data = table.path().display().to_string();
    let (split_key, out, json) = (arguments.split_key.clone(), arguments.out.clone(), arguments.json);
    Ok(Plan {
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
        split_key,
        test,
        out,
        json,
    })
}

/// The table, its official test part and its schema; the bundled ones if none is named.
fn data(arguments: &Train) -> Result<(TableFile, Option<TableFile>, Schema), Fail> {
    let own = arguments.schema.as_deref().map(Schema::read).transpose().map_err(Fail::data("--schema"))?;
    let (table, test, known) = tables(arguments.file.as_deref(), arguments.data_dir.as_deref())?;
    Ok((table, test, own.or(known).ok_or_else(no_schema)?))
}

/// A table by path or by the name of its dataset, its official test part, and the schema that comes with it; the bundled
/// ones if none is named.
pub(crate) fn tables(
    file: Option<&Path>,
    data_dir: Option<&Path>,
) -> Result<(TableFile, Option<TableFile>, Option<Schema>), Fail> {
    let Some(file) = file else {
        let (table, schema) = bundled::adult()?;
        return Ok((table, None, Some(schema)));
    };
    // A bare word that is no file is the name of a dataset, if there is a place to look for one.
    let name = file.to_str().filter(|_| file.extension().is_none() && !file.exists());
    let has_place = data_dir.is_some() || std::env::var_os(DATA_FOLDER).is_some();
    if let Some(name) = name.filter(|_| has_place) {
        let (table, test) = dataset(name, data_dir)?;
        let known = if name == "adult" { Some(bundled::adult()?.1) } else { None };
        return Ok((table, test, known));
    }
    let table = TableFile::open(file)?;
    Ok((table, None, None))
}

/// The training part of a dataset, and its test part where it has one.
fn dataset(name: &str, folder: Option<&Path>) -> Result<(TableFile, Option<TableFile>), Fail> {
    let folder = find_dataset(name, folder).map_err(Fail::data("--data-dir"))?;
    let part = |part: &str| folder.join(format!("{name}{part}.parquet"));
    let (train, test) = (part("_train"), part("_test"));
    if !train.is_file() {
        return Ok((TableFile::open(&part(""))?, None));
    }
    let test = if test.is_file() { Some(TableFile::open(&test)?) } else { None };
    Ok((TableFile::open(&train)?, test))
}

pub(crate) fn no_schema() -> Fail {
    Fail::missing(
        "--schema",
        "a table needs its public schema (bounds, categories, label): write one, or draft one with \
         'reticent schema infer'",
    )
}

fn method(name: &str) -> Result<Option<Method>, Fail> {
    match name {
        "auto" => Ok(None),
        "gradient" => Ok(Some(Method::Descent)),
        _ => name.parse().map(Some).map_err(|_| {
            let known = "unknown: give auto, output, objective, gradient, sgd, chaudhuri-2011, kifer-2012, \
                         iyengar-2019 or exact";
            Fail::unknown("--method", name, known)
        }),
    }
}

fn budget(arguments: &Train, method: Option<Method>) -> Result<Option<Guarantee>, Fail> {
    let delta = arguments.delta.as_deref().map(read::delta).transpose()?;
    if method == Some(Method::Exact) {
        return match (&arguments.epsilon, &arguments.delta) {
            (None, None) => Ok(None),
            (Some(text), _) => Err(Fail::conflict("--epsilon", text, "leave it out: exact is not private")),
            (_, Some(text)) => Err(Fail::conflict("--delta", text, "leave it out: exact is not private")),
        };
    }
    let Some(epsilon) = &arguments.epsilon else {
        return Err(Fail::missing("--epsilon", "say how much privacy to spend, e.g. --epsilon 1"));
    };
    let epsilon = read::epsilon(epsilon, LEAST_EPSILON)?;
    let delta = delta.unwrap_or(Delta::ZERO);
    let needs_delta = matches!(method, Some(Method::Descent | Method::Sgd | Method::Kifer | Method::Iyengar));
    if needs_delta && delta.get() == 0.0 {
        return Err(Fail::missing(
            "--delta",
            "this method's Gaussian noise needs one, far below 1 / number of rows, e.g. --delta 1e-8",
        ));
    }
    if method == Some(Method::Chaudhuri) && delta.get() > 0.0 {
        return Err(Fail::conflict("--delta", &delta.to_string(), "leave it out: chaudhuri-2011 is pure"));
    }
    Ok(Some(Guarantee { epsilon, delta }))
}

fn settings(arguments: &Train, schema: &Schema) -> Result<Settings, Fail> {
    let relation = arguments.neighboring.as_deref().unwrap_or("add-remove");
    let neighboring = read::neighboring(relation)?;
    let unit = match schema.unit() {
        Unit::Row => "row".to_owned(),
        Unit::Column(column) if neighboring == Neighboring::AddRemove => format!("all rows of one {column}"),
        Unit::Column(_) => {
            let remedy = "the schema's unit is a column: whose rows there are is hidden by add-remove only";
            return Err(Fail::flag("--neighboring", relation, remedy).coded(Code::Relation));
        }
    };
    let size = arguments.size.as_deref().map(|text| whole("--dataset-size", text, u64::MAX)).transpose()?;
    if size.is_some() && neighboring == Neighboring::ReplaceOne {
        let remedy = "leave it out: under replace-one the number of rows is public";
        return Err(Fail::conflict("--dataset-size", arguments.size.as_deref().unwrap_or_default(), remedy));
    }
    let regularization = arguments.regularization.as_deref();
    let regularization = regularization.map(|text| positive("--regularization", text)).transpose()?;
    let standard = Settings::default();
    let intercept = if arguments.no_intercept { 0.0 } else { standard.intercept };
    Ok(Settings { neighboring, size, regularization, intercept, unit, ..standard })
}

/// The cost of a schema that was learnt from the data, under the relation of the fit.
pub(crate) fn spent(schema: &Schema, neighboring: Neighboring) -> Result<Option<Guarantee>, Fail> {
    let Some(spent) = schema.spent() else { return Ok(None) };
    if *schema.unit() != Unit::Row {
        let why = "was paid for rows, and the unit is a column: write the bounds and categories from public knowledge";
        return Err(Fail::new(
            Code::Schema,
            format!("--schema: [spent]: what learning the schema cost {why}"),
        ));
    }
    if spent.neighboring() != neighboring.to_string() {
        let why = format!("is stated under {}: train with --neighboring {0}", spent.neighboring());
        return Err(Fail::new(
            Code::Relation,
            format!("--schema: [spent]: what learning the schema cost {why}"),
        ));
    }
    Ok(Some(Guarantee { epsilon: Epsilon::new(spent.epsilon())?, delta: Delta::new(spent.delta())? }))
}

fn steps(arguments: &Train, method: Option<Method>) -> Result<Steps, Fail> {
    let descends = matches!(method, Some(Method::Descent | Method::Sgd));
    let given = [
        ("--steps", &arguments.steps, descends),
        ("--learning-rate", &arguments.learning_rate, descends),
        ("--sampling-rate", &arguments.sampling_rate, method == Some(Method::Sgd)),
    ];
    for (flag, text, fits) in given {
        if let (Some(text), false) = (text, fits) {
            let needed = if flag == "--sampling-rate" { "sgd" } else { "gradient or sgd" };
            return Err(Fail::conflict(flag, text, format!("goes with --method {needed} only")));
        }
    }
    let number =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| positive(flag, text)).transpose();
    let steps = arguments.steps.as_deref().map(|text| whole("--steps", text, 10_000_000)).transpose()?;
    let sampling_rate = number("--sampling-rate", &arguments.sampling_rate)?;
    if let (Some(rate), Some(text)) = (sampling_rate, &arguments.sampling_rate)
        && rate > 1.0
    {
        return Err(Fail::flag("--sampling-rate", text, "give a share above 0 and at most 1"));
    }
    Ok(Steps {
        // At most ten million.
        steps: steps.map(|steps| steps as u32),
        learning_rate: number("--learning-rate", &arguments.learning_rate)?,
        sampling_rate,
    })
}

fn split(
    arguments: &Train,
    neighboring: Neighboring,
    method: Option<Method>,
    has_test: bool,
) -> Result<Option<Split>, Fail> {
    let fixed = neighboring == Neighboring::ReplaceOne && method != Some(Method::Exact);
    let share = match &arguments.test_share {
        Some(text) => {
            let share = read::number("--test-share", text)?;
            if !(0.0..1.0).contains(&share) {
                return Err(Fail::flag("--test-share", text, "give a share from 0 to below 1"));
            }
            if share > 0.0 && fixed {
                let remedy = "a replaced row may change sides, so that nothing can be held out under \
                              replace-one: give --test FILE, or add-remove";
                return Err(Fail::flag("--test-share", text, remedy).coded(Code::Relation));
            }
            share
        }
        None if has_test || fixed => 0.0,
        None => TEST_SHARE,
    };
    Ok(if share > 0.0 { Some(Split::new(&arguments.split_key, share)?) } else { None })
}

/// A number above 0.
fn positive(flag: &str, text: &str) -> Result<f64, Fail> {
    match read::number(flag, text)? {
        number if number > 0.0 => Ok(number),
        _ => Err(Fail::flag(flag, text, "give a number above 0")),
    }
}
