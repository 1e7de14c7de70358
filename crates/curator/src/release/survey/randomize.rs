//! A column of answers, each randomized by itself.

use super::super::lists::names;
use super::LEAST_EPSILON;
use crate::file::OutputFile;
use crate::quantity;
use crate::refusal::Refusal;
use crate::scan::{Size, scan};
use crate::session::{Payment, Session};
use crate::watch::Watch;
use crate::{Planned, Request};
use reticent_core::{Certificate, Code, Epsilon, Event, Fact, Neighboring, Plan};
use reticent_data::{DataError, LabelCodes, Reading, Table, open_table_with, write_csv_atomic};
use reticent_noise::mechanism::{Mechanism, RandomizedResponse};
use reticent_noise::sampler::uniform_below;
use reticent_noise::{Entropy, PaidSource};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Rows handed to the writer at a time.
const BATCH: usize = 4096;

type Row = Vec<String>;

/// A randomized copy of one column, written as CSV.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Randomize {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, a glob, or `-` for standard input.
    pub file: PathBuf,
    /// How its files are read: further files, the dialect of CSV text, derived columns.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// The column of answers.
    pub column: String,
    /// The possible answers, at least two.
    pub categories: Vec<String>,
    /// The ε of each answer.
    pub epsilon: f64,
    /// Where the randomized column is written, as CSV.
    pub out: PathBuf,
    /// Other columns to copy: they are not protected.
    #[serde(default, alias = "keep-columns")]
    pub keep_columns: Option<Vec<String>>,
}

impl Randomize {
    /// The column randomized at this ε, without others.
    pub fn new(
        file: impl Into<PathBuf>,
        column: &str,
        categories: Vec<String>,
        epsilon: f64,
        out: impl Into<PathBuf>,
    ) -> Self {
        let (file, out, column) = (file.into(), out.into(), column.to_owned());
        let reading = Reading::default();
        Self { file, reading, column, categories, epsilon, out, keep_columns: None }
    }
}

/// A checked randomization; only the data are unread.
#[derive(Debug, Clone)]
pub struct PlannedRandomize {
    pub(in crate::release) table: Arc<dyn Table>,
    column: String,
    categories: Vec<String>,
    epsilon: Epsilon,
    response: RandomizedResponse,
    out: PathBuf,
    kept: Vec<String>,
}

/// A written table of randomized answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Randomized {
    /// The column.
    pub column: String,
    /// The possible answers.
    pub categories: Vec<String>,
    /// The path of the table.
    pub out: PathBuf,
    /// How many answers there are.
    pub rows: u64,
    /// The probability that an answer was kept.
    pub keep_probability: f64,
    /// The certificate of each answer.
    pub certificate: Certificate,
    /// The requested ε.
    pub epsilon: Epsilon,
    /// The columns that were copied without protection.
    pub kept: Vec<String>,
}

impl Serialize for Randomized {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let query = json!({"kind": "randomize", "column": self.column, "categories": self.categories});
        json!({
            "query": query,
            "out": self.out.display().to_string(),
            "rows": self.rows,
            "keep_probability": self.keep_probability,
            "certificate": self.certificate,
        })
        .serialize(serializer)
    }
}

impl Request for Randomize {
    type Planned = PlannedRandomize;

    fn check(&self) -> Result<PlannedRandomize, Refusal> {
        let categories = names("categories", &self.categories, 2)?;
        let epsilon = quantity::epsilon(self.epsilon, LEAST_EPSILON)?;
        let response = RandomizedResponse::new(epsilon, categories.len() as u64).map_err(|_| {
            let remedy = "every answer would be kept as it is: give a smaller one";
            Refusal::value("epsilon", self.epsilon, remedy).coded(Code::Useless)
        })?;
        let table = open_table_with(&self.file, &self.reading)?;
        table.check_values(&self.column, &categories).map_err(Refusal::data("categories"))?;
        table.column(&self.column).map_err(Refusal::data("column"))?;
        let kept = match &self.keep_columns {
            Some(list) => names("keep_columns", list, 1)?,
            None => Vec::new(),
        };
        for name in &kept {
            table.column(name).map_err(Refusal::data("keep_columns"))?;
            if *name == self.column {
                let remedy = "leave it out: the randomized column is always written";
                return Err(Refusal::conflict("keep_columns", name, remedy));
            }
        }
        check_output(&self.out, &table)?;
        let (column, out) = (self.column.clone(), self.out.clone());
        Ok(PlannedRandomize { table, column, categories, epsilon, response, out, kept })
    }
}

/// Refuses an output that is not a CSV file of its own in a folder that exists.
fn check_output(output: &Path, table: &dyn Table) -> Result<(), Refusal> {
    OutputFile { field: "out", path: output, extension: "csv" }.check()?;
    if let Ok(found) = output.canonicalize()
        && table.files().iter().any(|input| input.canonicalize().is_ok_and(|input| input == found))
    {
        let remedy = "this is the input: give another name";
        return Err(Refusal::value("out", output.display(), remedy).coded(Code::Taken));
    }
    Ok(())
}

impl PlannedRandomize {
    /// What each answer will cost, by itself. No value is read.
    pub fn events(&self) -> Vec<Event> {
        vec![self.response.event()]
    }

    /// Randomizes every answer through `source` and writes the table: what [`run`](Planned::run) does after the plan is paid
    /// for, and where a test puts a recorder in place of the generator. `coins` stand in for missing answers.
    ///
    /// # Guarantee
    /// Answers reach the table through the releases of `source` alone, one for each row. The number of rows and the kept
    /// columns are public.
    ///
    /// # Errors
    /// [`Refusal`] when the table cannot be read or written; then nothing is left behind.
    pub fn run_with(
        &self,
        source: &mut impl PaidSource,
        coins: &mut Entropy,
        watch: &dyn Watch,
    ) -> Result<Randomized, Refusal> {
        let rows = self.stream(&mut |answer| self.report(answer, source, coins), watch)?;
        Ok(Randomized {
            column: self.column.clone(),
            categories: self.categories.clone(),
            out: self.out.clone(),
            rows,
            keep_probability: self.response.keep_probability(),
            certificate: self.certificate(rows),
            epsilon: self.epsilon,
            kept: self.kept.clone(),
        })
    }

    /// One answer, randomized.
    fn report(
        &self,
        answer: Option<usize>,
        source: &mut impl PaidSource,
        coins: &mut Entropy,
    ) -> Result<String, Refusal> {
        let count = self.categories.len();
        // No answer becomes any one: with probability 1/k each, which is between the least and the largest that an answer gives.
        let answer = answer.map_or_else(|| uniform_below(coins, count as u64), |at| at as u64);
        let reported = source.release(&self.response, &answer)?.value;
        Ok(self.categories[(reported as usize).min(count - 1)].clone())
    }

    /// Randomizes row by row, reading on this thread and writing on another.
    ///
    /// The file gets its name only after the reader has said it is done: should it fail, the writer is
    /// handed a row too long for the header, which makes it give up and leave nothing behind.
    fn stream(
        &self,
        report: &mut dyn FnMut(Option<usize>) -> Result<String, Refusal>,
        watch: &dyn Watch,
    ) -> Result<u64, Refusal> {
        let columns: Vec<&str> =
            std::iter::once(self.column.as_str()).chain(self.kept.iter().map(String::as_str)).collect();
        let (sender, receiver) = sync_channel(4);
        std::thread::scope(|scope| {
            let (header, out) = (columns.clone(), self.out.as_path());
            let writer = std::thread::Builder::new()
                .spawn_scoped(scope, move || {
                    write_csv_atomic(out, &header, rows_until_done(receiver, header.len()))
                })
                .map_err(|error| {
                    Refusal::new(Code::Thread, format!("cannot start a thread for writing: {error}"))
                        .because(error)
                })?;
            let read = self.read_rows(&columns, report, &sender, watch);
            drop(sender);
            match (read, writer.join()) {
                (_, Err(panic)) => std::panic::resume_unwind(panic),
                (Ok(_), Ok(Ok(rows))) => Ok(rows),
                // The writer stops only because the reader failed, unless writing itself failed.
                (Err(refusal), Ok(Err(DataError::OutputRow { .. }))) => Err(refusal),
                (_, Ok(Err(error))) => Err(Refusal::data("out")(error)),
                (Err(refusal), Ok(Ok(_))) => Err(refusal),
            }
        })
    }

    /// Sends randomized rows in batches and, when all went well, an empty batch.
    fn read_rows(
        &self,
        columns: &[&str],
        report: &mut dyn FnMut(Option<usize>) -> Result<String, Refusal>,
        sender: &SyncSender<Vec<Row>>,
        watch: &dyn Watch,
    ) -> Result<u64, Refusal> {
        let labels = LabelCodes::new(self.categories.iter().map(String::as_str));
        let mut batch = Vec::with_capacity(BATCH);
        let send = |batch: Vec<Row>| {
            sender.send(batch).map_err(|_| Refusal::about(Code::Unwritable, "out", "writing stopped"))
        };
        let rows = scan(&self.table, columns, Size::Public, watch, &mut |_, cells| {
            let copied = cells[1..].iter().map(|cell| cell.csv_text().into_owned());
            batch.push(std::iter::once(report(labels.position(&cells[0]))?).chain(copied).collect());
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

    fn certificate(&self, rows: u64) -> Certificate {
        let mut public = vec![Fact::Categories(self.categories.clone()), Fact::Rows(rows)];
        if !self.kept.is_empty() {
            public.push(Fact::Copied(self.kept.clone()));
        }
        let (events, guarantee) = (self.events(), self.response.guarantee());
        let accountant = "stated by the mechanism, for each answer by itself (local model)";
        Certificate::compose("answer", Neighboring::ReplaceOne, events, guarantee, accountant, public)
    }
}

impl Planned for PlannedRandomize {
    type Outcome = Randomized;

    fn run(self, session: &mut Session) -> Result<Randomized, Refusal> {
        if !self.kept.is_empty() {
            session.unprotected("a table with copied columns")?;
        }
        let mut coins = Entropy::new()?;
        // Replacing a row replaces one answer and nothing else that is released: what protects answers protects rows.
        let unit = if session.unit() == "row" { "row" } else { "answer" };
        let Payment { payer, watch } = session.payment(unit, Neighboring::ReplaceOne)?;
        // On record before a value is read. Every answer is somebody else's, and is released once: the event is what each of
        // them pays.
        let event = self.response.event();
        let mut permit = payer.charge(&Plan::new(vec![event.clone()])?)?;
        let mut paid = payer.with(&mut permit);
        self.run_with(&mut paid.per_record(&event)?, &mut coins, watch)
    }
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
