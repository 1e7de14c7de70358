//! A linear model's folder.
//!
//! `model.json` holds everything that was drawn, weights and certificate too, and is the first file that does: a folder that has
//! it holds the model. The files of the weights and of the certificate follow, and are made from it where a process was killed
//! before them.

use super::{Fit, Task, kept};
use crate::folder::layout::{
    CERTIFICATE_FILE, FIT_FILE, LINEAR_WEIGHTS_FILE, MODEL_FILE, ModelKind, SCHEMA_FILE, check_new, sweep,
};
use crate::folder::{Seal, Writer, certificate_text};
use crate::refusal::Refusal;
use reticent_core::{Certificate, Code};
use reticent_data::{Encoder, Schema};
use reticent_erm::AnyModel;
use reticent_files::write_atomic;
use reticent_train::RunLock;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

const FORMAT: u32 = 2;

/// `model.json`.
#[derive(Serialize)]
struct About<'a> {
    format: u32,
    kind: ModelKind,
    private: bool,
    digests: &'a Seal,
    #[serde(flatten)]
    model: &'a AnyModel,
}

/// The same, read back. Models of format 1 have no other key than the model's.
#[derive(Deserialize)]
struct Read {
    #[serde(default = "first")]
    format: u32,
    #[serde(default)]
    digests: Seal,
    #[serde(flatten)]
    model: AnyModel,
}

fn first() -> u32 {
    1
}

/// Refuses a place where no model can go, before anything is read. A model whose process was killed is completed first.
pub(crate) fn check(folder: &Path) -> Result<(), Refusal> {
    if folder.join(MODEL_FILE).is_file() {
        complete(folder);
    }
    check_new(folder, ModelKind::Linear)
}

/// Writes what is public, after the ledger and before anything is drawn.
pub(crate) fn begin(writer: &mut Writer, schema: &Schema, fit: &Fit) -> Result<(), Refusal> {
    writer.begin(kept::request(fit, schema)?)?;
    writer.write(SCHEMA_FILE, schema.to_toml().as_bytes())?;
    writer.write(FIT_FILE, kept::text(fit)?.as_bytes())
}

/// Writes the model.
pub(crate) fn finish(
    writer: &mut Writer,
    model: &AnyModel,
    certificate: Option<&Certificate>,
) -> Result<(), Refusal> {
    let (weights, certificate) = (model.to_tensors()?, certificate_text(certificate)?);
    let mut seal = Seal::default();
    seal.add(LINEAR_WEIGHTS_FILE, &weights);
    seal.add(CERTIFICATE_FILE, certificate.as_bytes());
    seal.add_file(writer.folder(), SCHEMA_FILE)?;
    seal.add_file(writer.folder(), FIT_FILE)?;
    let about = About {
        format: FORMAT,
        kind: ModelKind::Linear,
        private: own(model).is_some(),
        digests: &seal,
        model,
    };
    let text = serde_json::to_string_pretty(&about).map_err(Refusal::internal)?;
    writer.keep();
    writer.write_durably(MODEL_FILE, format!("{text}\n").as_bytes())?;
    writer.write(LINEAR_WEIGHTS_FILE, &weights)?;
    writer.write_durably(CERTIFICATE_FILE, certificate.as_bytes())
}

/// The certificate that a model carries itself.
fn own(model: &AnyModel) -> Option<&Certificate> {
    match model {
        AnyModel::Binary(fit) => fit.certificate.as_ref(),
        AnyModel::Multiclass(many) => many.certificate.as_ref(),
    }
}

/// What a file that is made from `model.json` holds.
fn made(model: &AnyModel, name: &str) -> Option<Vec<u8>> {
    match name {
        LINEAR_WEIGHTS_FILE => model.to_tensors().ok(),
        CERTIFICATE_FILE => certificate_text(own(model)).ok().map(String::into_bytes),
        _ => None,
    }
}

/// Refuses a folder without a model, or one whose files are not those that were stored with it.
pub(crate) fn verify(folder: &Path) -> Result<(), Refusal> {
    Read::of(folder)?.check(folder)
}

impl Read {
    /// Reads `model.json`.
    fn of(folder: &Path) -> Result<Self, Refusal> {
        let path = folder.join(MODEL_FILE);
        if !path.is_file() {
            let remedy = "no model in this folder: give a folder written by 'reticent train --out'";
            return Err(Refusal::new(Code::NoModel, format!("{}: {remedy}", folder.display())));
        }
        let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
        let text = fs::read(&path).map_err(|error| refuse(error.to_string()).because(error))?;
        let read: Self =
            serde_json::from_slice(&text).map_err(|error| refuse(error.to_string()).because(error))?;
        match read.format > FORMAT {
            true => Err(refuse(format!(
                "format {} is not supported by this version: use a newer one",
                read.format
            ))),
            false => Ok(read),
        }
    }

    /// Refuses files other than those that were stored with the model. The weights or the certificate may be missing where this
    /// holds the same ones.
    fn check(&self, folder: &Path) -> Result<(), Refusal> {
        let made = |name: &str| made(&self.model, name).filter(|_| self.format >= FORMAT);
        self.digests.check(folder, (ModelKind::Linear, self.format), made)
    }
}

/// The certificate in the model's own file; none if the file does not exist.
pub(crate) fn certificate(folder: &Path) -> Option<Option<Certificate>> {
    let read: Read = serde_json::from_slice(&fs::read(folder.join(MODEL_FILE)).ok()?).ok()?;
    Some(own(&read.model).cloned())
}

/// Writes the files that a killed process has not, from the model's own.
fn complete(folder: &Path) {
    let is_whole = [LINEAR_WEIGHTS_FILE, CERTIFICATE_FILE].iter().all(|name| folder.join(name).is_file());
    let Some(read) = Read::of(folder).ok().filter(|read| read.format >= FORMAT) else { return };
    // While another process is at it, or where nothing can be written, it stays as it is: it can be read all the same.
    let Ok(_run_lock) = RunLock::take(folder) else { return };
    sweep(folder);
    if is_whole || read.check(folder).is_err() {
        return;
    }
    for name in [LINEAR_WEIGHTS_FILE, CERTIFICATE_FILE] {
        if let (false, Some(bytes)) = (folder.join(name).exists(), made(&read.model, name)) {
            let _ = write_atomic(&folder.join(name), &bytes);
        }
    }
}

/// A model that was read back.
pub(crate) struct Stored {
    pub(crate) model: AnyModel,
    pub(crate) encoder: Encoder,
    pub(crate) task: Task,
}

impl Stored {
    pub(crate) fn read(folder: &Path) -> Result<Self, Refusal> {
        let read = Read::of(folder)?;
        let schema = Schema::read(&folder.join(SCHEMA_FILE))?;
        let (encoder, task) = (Encoder::new(&schema)?, Task::of(&schema)?);
        let model = model(folder, &read)?;
        let (features, classes) = match &model {
            AnyModel::Binary(fit) => (fit.weights.len(), 0),
            AnyModel::Multiclass(many) => {
                (many.models.first().map_or(0, |model| model.weights.len()), many.models.len())
            }
        };
        let expected = match &task {
            Task::Classes { labels } => labels.len(),
            _ => 0,
        };
        let predicts_numbers = matches!(&model, AnyModel::Binary(fit) if !fit.loss.is_classification());
        let fits_label = !matches!(task, Task::Number(_)) || predicts_numbers;
        if features != encoder.dimension() || classes != expected || !fits_label {
            let remedy = format!("{SCHEMA_FILE} is not the schema of this model: train again");
            return Err(Refusal::new(Code::Broken, format!("{}: {remedy}", folder.display())));
        }
        read.check(folder)?;
        Ok(Self { model, encoder, task })
    }
}

/// A model with the weights of their file.
fn model(folder: &Path, read: &Read) -> Result<AnyModel, Refusal> {
    let weights = folder.join(LINEAR_WEIGHTS_FILE);
    match fs::read(&weights) {
        Ok(bytes) => Ok(read.model.clone().with_tensors(&weights, &bytes)?),
        // Killed before it was written: the model has them.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && read.format == FORMAT => {
            Ok(read.model.clone())
        }
        Err(error) => {
            Err(Refusal::new(Code::Broken, format!("{}: {error}", weights.display())).because(error))
        }
    }
}
