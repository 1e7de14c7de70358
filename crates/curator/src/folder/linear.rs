//! A model's folder: the schema, the certificate, and the files of the model library.
//!
//! The model's own JSON is written last, so that a folder that has it is complete.

use super::{CERTIFICATE_FILE, can_be_made, request};
use crate::fit::{Fit, Task};
use crate::refusal::Refusal;
use reticent_core::{Certificate, Code};
use reticent_data::{Encoder, Schema, write_atomic};
use reticent_erm::Model;
use reticent_erm::store::MODEL_FILE;
use std::fs;
use std::path::Path;

const SCHEMA_FILE: &str = "schema.toml";

/// Refuses a place where no model can go, before anything is read.
pub(crate) fn check(folder: &Path) -> Result<(), Refusal> {
    let refuse = |code: Code, remedy: &str| Err(Refusal::value("out", folder.display(), remedy).coded(code));
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
pub(crate) fn save(
    folder: &Path,
    model: &Model,
    certificate: Option<&Certificate>,
    schema: &Schema,
    fit: &Fit,
) -> Result<(), Refusal> {
    let stopped = |error: std::io::Error| {
        Refusal::value("out", folder.display(), format!("cannot be written: {error}")).coded(Code::Unwritable)
    };
    fs::create_dir_all(folder).map_err(stopped)?;
    let file = folder.join(MODEL_FILE);
    if file.exists() {
        fs::remove_file(&file).map_err(stopped)?;
    }
    let certificate = serde_json::to_string_pretty(&certificate)
        .map_err(|error| Refusal::internal(format!("cannot write the certificate: {error}")))?;
    write_atomic(&folder.join(SCHEMA_FILE), schema.to_toml().as_bytes())?;
    write_atomic(&folder.join(CERTIFICATE_FILE), format!("{certificate}\n").as_bytes())?;
    request::save(folder, fit)?;
    Ok(model.save(folder)?)
}

/// A model that was read back.
pub(crate) struct Stored {
    pub(crate) model: Model,
    pub(crate) encoder: Encoder,
    pub(crate) task: Task,
}

impl Stored {
    pub(crate) fn read(folder: &Path) -> Result<Self, Refusal> {
        if !folder.join(MODEL_FILE).is_file() {
            let remedy = "no model there: give the folder that 'reticent train --out' wrote";
            return Err(Refusal::new(Code::NoModel, format!("{}: {remedy}", folder.display())));
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
            return Err(Refusal::new(Code::Broken, format!("{}: {remedy}", folder.display())));
        }
        Ok(Self { model, encoder, task })
    }
}
