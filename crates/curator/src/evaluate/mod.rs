//! Evaluation of a stored model on labelled rows. The scores are exact, so the rows are not protected.
//!
//! ```
//! use reticent_curator::evaluate::{Evaluate, Scores};
//! use reticent_curator::fit::Fit;
//! use reticent_curator::{Planned, Request, Session};
//!
//! # let folder = tempfile::tempdir().map_err(reticent_curator::Refusal::internal)?;
//! # let (model, data) = (folder.path().join("model"), folder.path().join("adult.parquet"));
//! # std::fs::write(&data, reticent_data::bundled::ADULT).map_err(reticent_curator::Refusal::internal)?;
//! let mut session = Session::without_limit()?;
//! Fit { epsilon: Some(1.0), out: Some(model.clone()), ..Fit::default() }.check()?.run(&mut session)?;
//! let evaluated = Evaluate::new(model, data).check()?.run(&mut session)?;
//! assert!(matches!(evaluated.scores, Scores::Classes(found) if found.accuracy > 0.8));
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```

mod linear;
mod network;

use crate::fit::unscaled;
use crate::predict::{linear_table, not_named};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::stored::Stored;
use crate::train::{Computing, Device, GivenData, Source, SourcePart, part_source};
use crate::{Planned, Request};
use reticent_data::schema::Bounds;
use reticent_data::{Reading, Table};
use reticent_erm::{ClassificationReport, ValueMetrics};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Labelled data to score a stored model on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Evaluate {
    /// The model's folder.
    pub model: PathBuf,
    /// The labelled table or folder of images, which is not protected.
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
}

impl Evaluate {
    /// Scores on all of the data.
    pub fn new(model: impl Into<PathBuf>, data: impl Into<PathBuf>) -> Self {
        let reading = Reading::default();
        let (model, data, device) = (model.into(), data.into(), Device::Cpu);
        Self { model, data, reading, part: None, threads: None, device, chunk: None }
    }
}

/// The evaluation of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// Its scores.
    #[serde(flatten)]
    pub scores: Scores,
    /// Caveats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Scores by what is predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Scores {
    /// Of predicted numbers.
    Values(ValueScores),
    /// Of predicted classes.
    Classes(ClassScores),
    /// Of predicted next tokens.
    Texts(TextScores),
}

/// Scores of a language model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextScores {
    /// The proportion of tokens that the model gave the largest probability, ends of texts included.
    pub accuracy: f64,
    /// The mean of −ln probability of the next token.
    pub loss: f64,
    /// e to the loss.
    pub perplexity: f64,
    /// The number of texts.
    pub rows: usize,
    /// The number of scored tokens: all of the texts, and the end of each.
    pub tokens: u64,
}

/// Scores of predicted numbers, in the label's own unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueScores {
    /// The mean absolute error.
    pub mae: f64,
    /// The coefficient of determination R²; none if the labels do not vary.
    pub r2: Option<f64>,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The number of rows.
    pub rows: usize,
}

/// Scores of predicted classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScores {
    /// The accuracy.
    pub accuracy: f64,
    /// The area under the ROC curve, for two classes.
    pub auc: Option<f64>,
    /// Class by class.
    pub classes: Vec<ClassScore>,
    /// The proportion of the largest class.
    pub majority: f64,
    /// The number of rows.
    pub rows: usize,
}

/// Scores of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScore {
    /// Its name.
    pub class: String,
    /// The precision.
    pub precision: Option<f64>,
    /// The recall.
    pub recall: Option<f64>,
    /// The number of its rows.
    pub rows: u64,
}

impl Evaluated {
    fn values(score: &ValueMetrics, bounds: &Bounds, rows: usize) -> Self {
        let [rmse, mae] = [score.rmse, score.mae].map(|error| unscaled(error, bounds));
        let scores = Scores::Values(ValueScores { mae, r2: score.r2, rmse, rows });
        Self { scores, warnings: Vec::new() }
    }

    fn classes(found: &ClassificationReport, names: &[String], rows: usize) -> Self {
        let classes = found.classes.iter().zip(names).map(|(score, name)| ClassScore {
            class: name.clone(),
            precision: score.precision,
            recall: score.recall,
            rows: score.rows,
        });
        let scores = Scores::Classes(ClassScores {
            accuracy: found.accuracy,
            auc: found.auc,
            classes: classes.collect(),
            majority: found.majority,
            rows,
        });
        Self { scores, warnings: Vec::new() }
    }
}

/// A stored model with the data that it is scored on, which are not read yet.
pub struct EvaluatePlan(Kind);

enum Kind {
    Linear(Box<crate::fit::Stored>, Arc<dyn Table>),
    Network(Box<crate::train::Stored>, Source),
}

impl Request for Evaluate {
    type Planned = EvaluatePlan;

    fn check(&self) -> Result<EvaluatePlan, Refusal> {
        self.checked(None)
    }
}

impl Evaluate {
    /// As [`check`](Request::check), about labelled data that are given beside the request, such as data in memory. The request's
    /// `data` must be empty.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names data too.
    pub fn check_data(&self, data: GivenData) -> Result<EvaluatePlan, Refusal> {
        not_named(&self.data, self.part)?;
        self.checked(Some(data))
    }

    fn checked(&self, given: Option<GivenData>) -> Result<EvaluatePlan, Refusal> {
        let computing = Computing::new(self.device, self.threads, self.chunk);
        Ok(EvaluatePlan(match Stored::read(&self.model, &computing)? {
            Stored::Linear(stored) => Kind::Linear(stored, linear_table(given, &self.data, &self.reading)?),
            Stored::Network(stored) => match given {
                Some(given) => Kind::Network(stored, given.into()),
                None => Kind::Network(stored, part_source(&self.data, self.part, &self.reading)?),
            },
        }))
    }
}

impl Planned for EvaluatePlan {
    type Outcome = Evaluated;

    fn run(self, session: &mut Session) -> Result<Evaluated, Refusal> {
        session.unprotected("the score of a model on labelled rows")?;
        match self.0 {
            Kind::Linear(stored, table) => linear::evaluate(&stored, &table, session.watch()),
            Kind::Network(stored, source) => network::evaluate(*stored, &source, session.watch()),
        }
    }
}
