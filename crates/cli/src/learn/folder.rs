//! A model's folder: the schema, the certificate, and the files of the model library.
//!
//! The model's own JSON is written last, so that a folder that has it is complete.

use super::fit::Trained;
use super::replay;
use super::task::Task;
use crate::args::learn::Train;
use crate::explain::Code;
use crate::fail::Fail;
use crate::file::{CERTIFICATE_FILE, can_be_made};
use reticent::data::{Encoder, Schema, write_atomic};
use reticent::erm::store::MODEL_FILE;
use reticent::erm::{Model, Rows};
use std::fs;
use std::path::Path;

const SCHEMA_FILE: &str = "schema.toml";

/// Refuses a place where no model can go, before anything is read.
pub(super) fn check(folder: &Path) -> Result<(), Fail> {
    let refuse = |code: Code, remedy: &str| {
        Err(Fail::flag("--out", &folder.display().to_string(), remedy).coded(code))
    };
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) if folder.join(MODEL_FILE).is_file() => refuse(
                Code::Taken,
                "it holds a model, whose certificate and audits would be lost: give a new folder",
            ),
            Some(_) => refuse(Code::Taken, "the folder holds something else: give a new one"),
        },
        Err(_) if folder.exists() => refuse(Code::Taken, "not a folder: give a new one"),
        Err(_) => can_be_made(folder),
    }
}

/// Writes everything about a model. One that was there is replaced.
pub(super) fn save(folder: &Path, trained: &Trained, schema: &Schema, arguments: &Train) -> Result<(), Fail> {
    let stopped = |error: std::io::Error| {
        Fail::flag("--out", &folder.display().to_string(), format!("cannot be written: {error}"))
            .coded(Code::Unwritable)
    };
    fs::create_dir_all(folder).map_err(stopped)?;
    let file = folder.join(MODEL_FILE);
    if file.exists() {
        fs::remove_file(&file).map_err(stopped)?;
    }
    let certificate = serde_json::to_string_pretty(&trained.certificate)
        .map_err(|error| Fail::new(Code::Internal, format!("cannot write the certificate: {error}")))?;
    write_atomic(&folder.join(SCHEMA_FILE), schema.to_toml().as_bytes())?;
    write_atomic(&folder.join(CERTIFICATE_FILE), format!("{certificate}\n").as_bytes())?;
    replay::save(folder, arguments)?;
    Ok(trained.model.save(folder)?)
}

/// A model that was read back.
pub(super) struct Stored {
    pub(super) model: Model,
    pub(super) encoder: Encoder,
    pub(super) task: Task,
}

impl Stored {
    pub(super) fn read(folder: &Path) -> Result<Self, Fail> {
        if !folder.join(MODEL_FILE).is_file() {
            let remedy = "no model there: give the folder that 'reticent train --out' wrote";
            return Err(Fail::new(Code::NoModel, format!("{}: {remedy}", folder.display())));
        }
        let schema = Schema::read(&folder.join(SCHEMA_FILE))?;
        let (encoder, task) = (Encoder::new(&schema)?, Task::of(&schema)?);
        let model = Model::load(folder)?;
        let (features, classes) = match &model {
            Model::Binary(fit) => (fit.weights.len(), 0),
            Model::Multiclass(many) => {
                (many.models.first().map_or(0, |model| model.weights.len()), many.models.len())
            }
        };
        let expected = match &task {
            Task::Classes { labels } => labels.len(),
            _ => 0,
        };
        let predicts_numbers = matches!(&model, Model::Binary(fit) if !fit.loss.is_classification());
        let fits_label = !matches!(task, Task::Number(_)) || predicts_numbers;
        if features != encoder.dimension() || classes != expected || !fits_label {
            let remedy = format!("{SCHEMA_FILE} is not the schema of this model: train it again");
            return Err(Fail::new(Code::Broken, format!("{}: {remedy}", folder.display())));
        }
        Ok(Self { model, encoder, task })
    }
}

/// Encoded rows without labels for the model library.
pub(super) fn unlabelled<'a>(design: &'a reticent::data::Design, blank: &'a [f64]) -> Result<Rows<'a>, Fail> {
    Ok(Rows::new(design.dimension(), design.offsets(), design.columns(), design.values(), blank)?)
}
