//! What a stored model says about rows without labels.
//!
//! ```
//! use reticent_curator::fit::Fit;
//! use reticent_curator::predict::Predict;
//! use reticent_curator::{Planned, Request, Session};
//!
//! # let folder = tempfile::tempdir().map_err(reticent_curator::Refusal::internal)?;
//! # let (model, data) = (folder.path().join("model"), folder.path().join("adult.parquet"));
//! # std::fs::write(&data, reticent_data::bundled::ADULT).map_err(reticent_curator::Refusal::internal)?;
//! let mut session = Session::without_limit()?;
//! Fit { epsilon: Some(1.0), out: Some(model.clone()), ..Fit::default() }.check()?.run(&mut session)?;
//! let predicted = Predict::new(model, data).check()?.run(&mut session)?;
//! assert_eq!((predicted.rows, predicted.predictions.len()), (32_561, 32_561));
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```

mod linear;
mod network;

use crate::file::check_no_model;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::stored::{Stored, is_proven};
use crate::train::{Computing, Device, GivenData, Source, SourcePart, part_source};
use crate::{Planned, Request};
use linear::LinearPlan;
use reticent_core::Code;
use reticent_data::{Reading, Table, open_table_with, write_csv_atomic};
use reticent_files::check_regular;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use network::{likeliest, unusable};

/// Rows for a stored model to predict.
///
/// The rows are the asker's own, and nothing protects them. The model may be one of the session's data: a session with a limit
/// therefore takes a model with a certificate, of which predictions are a consequence, and no other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Predict {
    /// The model's folder.
    pub model: PathBuf,
    /// A table, a folder of images or a file of images; labels are not needed.
    pub data: PathBuf,
    /// How the files of a table are read: further files, the dialect of CSV text, derived columns.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// The part of a set of images or of a dataset, for networks; none for the test part, where there is one.
    #[serde(default)]
    pub part: Option<SourcePart>,
    /// The number of threads, for networks; none for all processors.
    #[serde(default)]
    pub threads: Option<u64>,
    /// The device that computes a network: `cpu` or `cuda`.
    #[serde(default)]
    pub device: Device,
    /// The number of examples that are computed at once, for networks; none for as many as fit.
    #[serde(default)]
    pub chunk: Option<u64>,
    /// The `.csv` file to write the predictions to.
    #[serde(default)]
    pub out: Option<PathBuf>,
}

impl Predict {
    /// Predictions for all of the data.
    pub fn new(model: impl Into<PathBuf>, data: impl Into<PathBuf>) -> Self {
        let reading = Reading::default();
        let (model, data, device) = (model.into(), data.into(), Device::Cpu);
        Self { model, data, reading, part: None, threads: None, device, chunk: None, out: None }
    }
}

/// The predictions, row by row. Their JSON leaves out what was written to a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// The file that they were written to.
    pub out: Option<PathBuf>,
    /// The predicted labels or numbers; empty where a network has no finite score.
    pub predictions: Vec<String>,
    /// Of the positive class for models of two classes, of the predicted class for networks with more; none where the
    /// model has no probabilities.
    pub probabilities: Option<Vec<f64>>,
    /// The names of the classes; none where numbers are predicted.
    pub classes: Vec<String>,
    /// Row by row, what the predictions follow from: a network's logits, one per class; a linear model's margins, one per class
    /// where there are more than two; or the predicted number.
    pub scores: Vec<f64>,
    /// How many there are.
    pub rows: usize,
    /// Caveats.
    pub warnings: Vec<String>,
}

impl Serialize for Predicted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_here = self.out.is_none();
        let fields = 2 + 2 * usize::from(is_here) + usize::from(!self.warnings.is_empty());
        let mut fields = serializer.serialize_struct("Predicted", fields)?;
        fields.serialize_field("out", &self.out)?;
        if is_here {
            fields.serialize_field("predictions", &self.predictions)?;
            fields.serialize_field("probabilities", &self.probabilities)?;
        }
        fields.serialize_field("rows", &self.rows)?;
        if !self.warnings.is_empty() {
            fields.serialize_field("warnings", &self.warnings)?;
        }
        fields.end()
    }
}

/// The prediction of one row.
struct Said {
    prediction: String,
    probability: Option<f64>,
}

impl Predicted {
    fn new(said: Vec<Said>, classes: Vec<String>, scores: Vec<f64>, warnings: Vec<String>) -> Self {
        let probabilities = said.iter().map(|said| said.probability).collect();
        let predictions: Vec<String> = said.into_iter().map(|said| said.prediction).collect();
        Self { out: None, rows: predictions.len(), predictions, probabilities, classes, scores, warnings }
    }

    /// The table of predictions: its header, and its rows.
    pub fn table(&self) -> (&'static [&'static str], impl Iterator<Item = impl Iterator<Item = String>>) {
        let probabilities = self.probabilities.as_deref().filter(|all| !all.is_empty());
        let header: &[&str] = match probabilities {
            Some(_) => &["prediction", "probability"],
            None => &["prediction"],
        };
        let rows = self.predictions.iter().enumerate().map(move |(row, prediction)| {
            let probability = probabilities.and_then(|all| all.get(row)).map(f64::to_string);
            [Some(prediction.clone()), probability].into_iter().flatten()
        });
        (header, rows)
    }

    /// The same, written to the file that the request wants.
    fn written(mut self, out: Option<PathBuf>) -> Result<Self, Refusal> {
        if let Some(path) = &out {
            let (header, rows) = self.table();
            write_csv_atomic(path, header, rows).map_err(Refusal::data("out"))?;
        }
        self.out = out;
        Ok(self)
    }
}

/// A stored model with the data to predict, which are not read yet.
pub struct PredictPlan {
    /// The model's folder.
    model: PathBuf,
    kind: Kind,
    out: Option<PathBuf>,
}

enum Kind {
    Linear(Box<LinearPlan>),
    Network(Box<crate::train::Stored>, Source),
}

impl Request for Predict {
    type Planned = PredictPlan;

    fn check(&self) -> Result<PredictPlan, Refusal> {
        self.checked(None)
    }
}

impl Predict {
    /// As [`check`](Request::check), about rows that are given beside the request, such as rows in memory. The request's `data` must
    /// be empty.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names data too.
    pub fn check_data(&self, data: GivenData) -> Result<PredictPlan, Refusal> {
        not_named(&self.data, self.part)?;
        self.checked(Some(data))
    }

    fn checked(&self, given: Option<GivenData>) -> Result<PredictPlan, Refusal> {
        if let Some(path) = &self.out {
            check_regular(path).map_err(Refusal::data("out"))?;
            check_no_model("out", path)?;
        }
        let computing = Computing::new(self.device, self.threads, self.chunk);
        let kind = match Stored::read(&self.model, &computing)? {
            Stored::Linear(stored) => Kind::Linear(Box::new(LinearPlan::new(
                *stored,
                linear_table(given, &self.data, &self.reading)?,
            )?)),
            Stored::Network(stored) => match given {
                Some(given) => Kind::Network(stored, given.into()),
                None => Kind::Network(stored, part_source(&self.data, self.part, &self.reading)?),
            },
        };
        Ok(PredictPlan { model: self.model.clone(), kind, out: self.out.clone() })
    }
}

/// The table for a linear model: the given one, or the file's.
pub(crate) fn linear_table(
    given: Option<GivenData>,
    file: &Path,
    reading: &Reading,
) -> Result<Arc<dyn Table>, Refusal> {
    match given {
        Some(GivenData::Table(table)) => Ok(table),
        Some(GivenData::Images(name, _)) => {
            Err(Refusal::new(Code::Misfit, format!("{name}: these are images, and the model is of a table")))
        }
        None => Ok(open_table_with(file, reading)?),
    }
}

/// Refuses a request that names what is given beside it.
pub(crate) fn not_named(data: &Path, part: Option<SourcePart>) -> Result<(), Refusal> {
    let remedy = "leave it out: the data are given beside the request";
    if !data.as_os_str().is_empty() {
        return Err(Refusal::conflict("data", data.display(), remedy));
    }
    match part {
        Some(_) => Err(Refusal::about(Code::Conflict, "part", remedy)),
        None => Ok(()),
    }
}

impl Planned for PredictPlan {
    type Outcome = Predicted;

    fn run(self, session: &mut Session) -> Result<Predicted, Refusal> {
        if let Err(refusal) = session.unprotected("predictions of a model without a certificate")
            && !is_proven(&self.model)
        {
            return Err(refusal);
        }
        let predicted = match self.kind {
            Kind::Linear(plan) => plan.run(session.watch())?,
            Kind::Network(stored, source) => network::predict(*stored, &source, session.watch())?,
        };
        predicted.written(self.out)
    }
}
