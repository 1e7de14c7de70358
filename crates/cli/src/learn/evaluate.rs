//! A stored model on labelled rows, exactly.

use super::folder::{Stored, unlabelled};
use super::held_out::unscaled;
use super::task::Task;
use crate::Output;
use crate::args::learn::Evaluate;
use crate::bar::Bar;
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::{aligned, json_line};
use reticent::data::TableFile;
use reticent::data::schema::Bounds;
use reticent::erm::{self, Evaluation, Model, ValueScore, evaluate_multiclass, evaluate_values};
use serde_json::{Value, json};

const NOTE: &str = "computed exactly: these numbers protect nobody in the table that was evaluated on";

pub(super) fn evaluate(arguments: &Evaluate, progress: bool) -> Result<Output, Fail> {
    let stored = Stored::read(&arguments.model)?;
    let table = TableFile::open(&arguments.file)?;
    let bar = Bar::new(&table, progress);
    let (design, _) = stored.encoder.encode(&table, &mut |bytes| bar.at(bytes))?;
    drop(bar);
    let design = design.by_user(stored.task.is_classification());
    if design.rows() == 0 {
        return Err(Fail::new(
            Code::NoRows,
            format!("{} has no rows: give a table with data", table.path().display()),
        ));
    }
    let blank = vec![-1.0; design.rows()];
    let labels = if matches!(stored.task, Task::Classes { .. }) { &blank } else { design.labels() };
    let rows = unlabelled(&design, labels)?;
    let (found, lines) = match (&stored.model, &stored.task) {
        (Model::Binary(fit), Task::Number(bounds)) => {
            let score = evaluate_values(fit, &rows)?;
            value_lines(&score, bounds, design.rows())
        }
        (Model::Binary(fit), task) => {
            class_lines(&erm::evaluate(fit, &rows)?, &task.classes(), design.rows())
        }
        (Model::Multiclass(many), task) => {
            let of: Vec<u32> = design.labels().iter().map(|label| *label as u32).collect();
            class_lines(&evaluate_multiclass(many, &rows, &of)?, &task.classes(), design.rows())
        }
    };
    evaluated(&found, lines, arguments.json)
}

/// A line of an evaluation.
type Line = (&'static str, String);

/// An evaluation as JSON or text.
pub(crate) fn evaluated(found: &Value, lines: Vec<Line>, json: bool) -> Result<Output, Fail> {
    let stdout = if json {
        json_line(found)?
    } else {
        let mut lines: Vec<(String, String)> =
            lines.into_iter().map(|(label, text)| (label.to_owned(), text)).collect();
        lines.push(("note".to_owned(), NOTE.to_owned()));
        aligned(&lines) + &table_of(found)
    };
    Ok(Output { stdout, ..Output::default() })
}

/// What there is to say about predicted values.
pub(crate) fn value_lines(score: &ValueScore, bounds: &Bounds, rows: usize) -> (Value, Vec<Line>) {
    let [rmse, mae] = [score.rmse, score.mae].map(|error| unscaled(error, bounds));
    let mut lines = vec![("rmse", brief(rmse)), ("mean absolute error", brief(mae))];
    lines.extend(score.r2.map(|r2| ("variance explained", percent(r2))));
    (json!({"rows": rows, "rmse": rmse, "mae": mae, "r2": score.r2}), lines)
}

/// What there is to say about predicted classes.
pub(crate) fn class_lines(found: &Evaluation, names: &[String], rows: usize) -> (Value, Vec<Line>) {
    let each: Vec<Value> = found
        .classes
        .iter()
        .zip(names)
        .map(|(score, name)| {
            json!({"class": name, "rows": score.rows, "recall": score.recall, "precision": score.precision})
        })
        .collect();
    let value = json!({
        "rows": rows, "accuracy": found.accuracy, "majority": found.majority, "auc": found.auc, "classes": each,
    });
    let mut lines = vec![
        ("accuracy", format!("{} of {rows} rows", percent(found.accuracy))),
        ("largest class", percent(found.majority)),
    ];
    lines.extend(found.auc.map(|auc| ("AUC", format!("{auc:.4}"))));
    (value, lines)
}

/// The classes of an evaluation, one a line.
fn table_of(found: &Value) -> String {
    let Some(classes) = found["classes"].as_array() else { return String::new() };
    let share = |value: &Value| value.as_f64().map_or("none".to_owned(), percent);
    let line = |class: &Value| {
        let name = crate::fail::plain(class["class"].as_str().unwrap_or_default());
        format!(
            "  {name}: {} rows, recall {}, precision {}\n",
            class["rows"],
            share(&class["recall"]),
            share(&class["precision"])
        )
    };
    classes.iter().map(line).collect()
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn brief(value: f64) -> String {
    crate::digits::brief(value)
}
