//! Surveys in the local model: every answer is randomized by itself, and population figures are
//! recovered afterwards.

use super::gather::Labels;
use super::plot;
use super::read;
use super::render::percent;
use crate::Output;
use crate::args;
use crate::cost::cost;
use crate::digits;
use crate::explain::Code;
use crate::fail::{Fail, plain};
use crate::file::Target;
use crate::scan::{Size, scan};
use crate::text::{aligned, json_line, quoted};
use reticent::core::{Certificate, Fact, Neighboring, Probability};
use reticent::data::{DataError, TableFile, write_csv_atomic};
use reticent::noise::mechanism::{Estimate, Mechanism, RandomizedResponse};
use reticent::noise::sampler::uniform_below;
use reticent::noise::{Entropy, Releaser};
use serde_json::json;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Below this ε answers are as good as coin flips.
const LEAST_EPSILON: f64 = 1e-6;
/// Rows handed to the writer at a time.
const BATCH: usize = 4096;

type Row = Vec<String>;

/// Writes a randomized copy of one column.
pub(super) fn randomize(arguments: &args::Randomize, progress: bool) -> Result<Output, Fail> {
    let categories = read::names("--categories", &arguments.categories, 2)?;
    let epsilon = read::epsilon(&arguments.epsilon, LEAST_EPSILON)?;
    let response = RandomizedResponse::new(epsilon, categories.len() as u64).map_err(|_| {
        Fail::flag("--epsilon", &arguments.epsilon, "every answer would be kept as it is: give a smaller one")
            .coded(Code::Useless)
    })?;
    let table = TableFile::open(&arguments.file)?;
    let column = arguments.column.as_str();
    table.column(column).map_err(Fail::data("--column"))?;
    let kept = match &arguments.keep_columns {
        Some(list) => read::names("--keep-columns", list, 1)?,
        None => Vec::new(),
    };
    for name in &kept {
        table.column(name).map_err(Fail::data("--keep-columns"))?;
        if name == column {
            return Err(Fail::conflict(
                "--keep-columns",
                name,
                "leave it out: the randomized column is always written",
            ));
        }
    }
    check_output(&arguments.out, &table)?;

    let columns: Vec<&str> = std::iter::once(column).chain(kept.iter().map(String::as_str)).collect();
    let rows = stream(&table, &columns, &categories, &response, &arguments.out, progress)?;
    let certificate = local_certificate(&response, &categories, &kept, rows);
    let keep = response.keep_probability();
    let output = arguments.out.display().to_string();
    let mut warnings = String::new();
    if !kept.is_empty() {
        let names = plain(&kept.join(", "));
        warnings = format!("warning: --keep-columns: copied without protection: {names}\n");
    }
    if arguments.json {
        let query = json!({"kind": "randomize", "column": column, "categories": categories});
        let stdout = json_line(&json!({
            "query": query, "out": output, "rows": rows, "keep_probability": keep, "certificate": certificate,
        }))?;
        return Ok(Output { stdout, warnings, ..Output::default() });
    }
    let again = format!(
        "reticent release estimate {} --column {} --categories {} --epsilon {}",
        quoted(&output),
        quoted(column),
        quoted(&read::written(&categories)),
        epsilon
    );
    let mechanism = format!("randomized response, each answer kept with probability {}", digits::brief(keep));
    let mut lines = vec![
        (format!("randomized {column}"), format!("{rows} answers written to {output}")),
        ("keep probability".to_owned(), keep.to_string()),
    ];
    lines.extend(cost(&certificate, mechanism, None)?);
    lines.push(("to estimate".to_owned(), again));
    Ok(Output { stdout: aligned(&lines), warnings, ..Output::default() })
}

/// Refuses an output that is not a CSV file of its own in a folder that exists.
fn check_output(output: &Path, table: &TableFile) -> Result<(), Fail> {
    Target::csv(output).check()?;
    if let (Ok(input), Ok(found)) = (table.path().canonicalize(), output.canonicalize())
        && input == found
    {
        let remedy = "this is the input: give another name";
        return Err(Fail::flag("--out", &output.display().to_string(), remedy).coded(Code::Taken));
    }
    Ok(())
}

/// Randomizes row by row, reading on one thread and writing on this one.
///
/// The file gets its name only after the reader has said it is done: should it fail, the writer is
/// handed a row too long for the header, which makes it give up and leave nothing behind.
fn stream(
    table: &TableFile,
    columns: &[&str],
    categories: &[String],
    response: &RandomizedResponse,
    output: &Path,
    progress: bool,
) -> Result<u64, Fail> {
    let (sender, receiver) = sync_channel(4);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || read_rows(table, columns, categories, response, &sender, progress));
        let written = write_csv_atomic(output, columns, rows_until_done(receiver, columns.len()));
        match (reader.join(), written) {
            (Err(_), _) => Err(Fail::new(Code::Internal, "internal error while reading: please report it")),
            (Ok(Ok(_)), Ok(rows)) => Ok(rows),
            // The writer stops only because the reader failed, unless writing itself failed.
            (Ok(Err(failure)), Err(DataError::OutputRow { .. })) => Err(failure),
            (_, Err(error)) => Err(Fail::data("--out")(error)),
            (Ok(Err(failure)), Ok(_)) => Err(failure),
        }
    })
}

/// Rows from the reader; one that is too long if it ends without an empty batch.
fn rows_until_done(receiver: Receiver<Vec<Row>>, width: usize) -> impl Iterator<Item = Row> {
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let batch = receiver.recv().unwrap_or_else(|_| vec![vec![String::new(); width + 1]]);
        done = batch.is_empty();
        Some(batch)
    })
    .flatten()
}

/// Sends randomized rows in batches and, when all went well, an empty batch.
fn read_rows(
    table: &TableFile,
    columns: &[&str],
    categories: &[String],
    response: &RandomizedResponse,
    sender: &SyncSender<Vec<Row>>,
    progress: bool,
) -> Result<u64, Fail> {
    let labels = Labels::new(categories);
    let mut entropy = Entropy::new()?;
    let mut batch = Vec::with_capacity(BATCH);
    let send = |batch: Vec<Row>| {
        sender.send(batch).map_err(|_| Fail::new(Code::Unwritable, "--out: writing stopped"))
    };
    let count = categories.len() as u64;
    let rows = scan(table, columns, Size::Public, progress, &mut |_, cells| {
        // No answer becomes any one: with probability 1/k each, which is between the least and the largest that an answer gives.
        let answer =
            labels.index(&cells[0]).map_or_else(|| uniform_below(&mut entropy, count), |at| at as u64);
        let reported = entropy.release(response, &answer)?.value;
        let reported = categories[(reported as usize).min(categories.len() - 1)].clone();
        let copied = cells[1..].iter().map(|cell| cell.csv_text().into_owned());
        batch.push(std::iter::once(reported).chain(copied).collect());
        if batch.len() == BATCH {
            send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
        }
        Ok(())
    })?;
    if !batch.is_empty() {
        send(batch)?;
    }
    send(Vec::new())?;
    Ok(rows)
}

/// A table of randomized answers that holds something else. It is released already: nothing in it is private.
fn undeclared(column: &str, row: u64) -> Fail {
    let place = format!("column \"{column}\", row {row}");
    let remedy = "declare every value, or fix the row";
    Fail::new(Code::Row, format!("--categories: {place} has a missing or undeclared value: {remedy}"))
}

fn local_certificate(
    response: &RandomizedResponse,
    categories: &[String],
    kept: &[String],
    rows: u64,
) -> Certificate {
    let mut public = vec![Fact::Categories(categories.to_vec()), Fact::Rows(rows)];
    if !kept.is_empty() {
        public.push(Fact::Copied(kept.to_vec()));
    }
    let (events, guarantee) = (vec![response.event()], response.guarantee());
    let accountant = "stated by the mechanism, for each answer by itself (local model)";
    Certificate::compose("answer", Neighboring::ReplaceOne, events, guarantee, accountant, public)
}

/// Recovers the shares of all categories from randomized answers.
pub(super) fn estimate(arguments: &args::Estimate, progress: bool) -> Result<Output, Fail> {
    if let Some(path) = &arguments.plot {
        Target::plot(path).check()?;
    }
    let categories = read::names("--categories", &arguments.categories, 2)?;
    let (count, confidence) = (categories.len() as u64, read::confidence(&arguments.confidence)?);
    let response = match (&arguments.epsilon, &arguments.keep_probability) {
        (Some(text), _) => {
            RandomizedResponse::new(read::epsilon(text, LEAST_EPSILON)?, count).map_err(|_| {
                Fail::flag(
                    "--epsilon",
                    text,
                    "no answer would have been randomized: give the epsilon of the randomization",
                )
                .coded(Code::Useless)
            })?
        }
        (None, Some(text)) => {
            let keep = Probability::new(read::number("--keep-probability", text)?)?;
            RandomizedResponse::with_keep_probability(keep, count)?
        }
        (None, None) => {
            return Err(Fail::missing(
                "--epsilon",
                "give that of the randomization, or its --keep-probability",
            ));
        }
    };
    let table = TableFile::open(&arguments.file)?;
    let column = arguments.column.as_str();
    table.column(column).map_err(Fail::data("--column"))?;
    let labels = Labels::new(&categories);
    let mut reported = vec![0u64; categories.len()];
    let rows = scan(&table, &[column], Size::Public, progress, &mut |row, cells| {
        let index = labels.index(&cells[0]).ok_or_else(|| undeclared(column, row))?;
        reported[index] += 1;
        Ok(())
    })?;
    let shares = response.estimate_histogram(&reported, confidence)?;
    if let Some(path) = &arguments.plot {
        let answers: Vec<(String, f64, [f64; 2])> = categories
            .iter()
            .zip(&shares)
            .map(|(name, share)| (name.clone(), share.value, share.interval))
            .collect();
        let of = format!("from {rows} randomized answers, {}", percent(confidence.get()));
        let svg = plot::rows(&format!("estimated shares of {column}"), &of, "share", &answers, false);
        Target::plot(path).write(&svg)?;
    }
    let stdout = if arguments.json {
        let pick = |part: fn(&Estimate) -> f64| shares.iter().map(part).collect::<Vec<_>>();
        json_line(&json!({
            "query": {"kind": "estimate", "column": column, "categories": categories},
            "value": pick(|share| share.value),
            "standard_error": pick(|share| share.standard_error),
            "interval": shares.iter().map(|share| share.interval).collect::<Vec<_>>(),
            "confidence": confidence.get(),
            "rows": rows,
            "keep_probability": response.keep_probability(),
        }))?
    } else {
        let level = percent(confidence.get());
        let mut lines =
            vec![(format!("estimated shares of {column}"), format!("from {rows} randomized answers"))];
        lines.extend(categories.iter().zip(&shares).map(|(name, share)| {
            let Estimate { value, standard_error, interval } = *share;
            let [value, low, high] = digits::with_interval(value, interval, false);
            let spread = digits::error(standard_error);
            (format!("  {name}"), format!("{value}  ({level}: {low} to {high}; standard error {spread})"))
        }));
        let keep = digits::brief(response.keep_probability());
        lines.push((
            "privacy spent".to_owned(),
            format!("none: the answers were randomized already (kept with probability {keep})"),
        ));
        if let Some(path) = &arguments.plot {
            lines.push(("plot".to_owned(), path.display().to_string()));
        }
        aligned(&lines)
    };
    Ok(Output { stdout, ..Output::default() })
}
