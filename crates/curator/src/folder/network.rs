//! A run's folder. `model.json` is written last: a folder that has it holds a finished model.

use super::{CERTIFICATE_FILE, can_be_made};
use crate::refusal::Refusal;
use crate::train::{Input, Reader, Source, Train};
use crate::watch::Watch;
use reticent_core::{Certificate, Code};
use reticent_data::text::Vocabulary;
use reticent_data::{Schema, append, write_atomic};
use reticent_train::{Description, Effort, Examples, Layout, Model, Network, TrainError};
use reticent_train::{load_weights, save_weights};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf, absolute};

pub(crate) const RUN_FILE: &str = "run.toml";
pub(crate) const DESCRIPTION_FILE: &str = "model.toml";
const WEIGHTS_FILE: &str = "model.safetensors";
const ABOUT_FILE: &str = "model.json";
const SCHEMA_FILE: &str = "schema.toml";
const VOCABULARY_FILE: &str = "vocabulary.txt";
const METRICS_FILE: &str = "metrics.jsonl";

const FORMAT: u32 = 1;

/// What a stored model says about itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    format: u32,
    /// Always `network`.
    kind: String,
    input: Input,
    classes: Vec<String>,
    private: bool,
}

/// Refuses a place where no run can begin.
pub(crate) fn check_new(folder: &Path) -> Result<(), Refusal> {
    let refuse = |code: Code, remedy: &str| Err(Refusal::value("out", folder.display(), remedy).coded(code));
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(true) => match folder.join(RUN_FILE).is_file() {
            true => refuse(Code::Taken, "it holds a run: go on with it by ⟦resume⟧, or give a new folder"),
            false => refuse(Code::Taken, "the folder is not empty: give a new one"),
        },
        Ok(false) => Ok(()),
        Err(_) if folder.exists() => refuse(Code::Taken, "not a folder: give a new one"),
        Err(_) => can_be_made(folder),
    }
}

/// Writes what is known before the first step. Paths in the run's copy lead to the folder's own files.
pub(crate) fn begin(
    folder: &Path,
    run: &Train,
    reader: &Reader,
    description: &Description,
) -> Result<(), Refusal> {
    fs::create_dir_all(folder).map_err(|error| {
        Refusal::value("out", folder.display(), format!("cannot be made: {error}")).coded(Code::Unwritable)
    })?;
    let mut kept = Train { out: None, label: None, ..run.clone() };
    let whole = |path: &mut Option<PathBuf>| {
        // The name of a dataset stays a name.
        if let Some(found) = path.as_deref().filter(|path| path.exists()).and_then(|path| absolute(path).ok())
        {
            *path = Some(found);
        }
    };
    whole(&mut kept.data);
    whole(&mut kept.validation);
    whole(&mut kept.data_dir);
    if let Some(schema) = &reader.schema {
        write_atomic(&folder.join(SCHEMA_FILE), schema.to_toml().as_bytes())?;
        (kept.schema, kept.classes) = (Some(SCHEMA_FILE.into()), None);
    }
    if let Some(vocabulary) = &reader.vocabulary {
        write_atomic(&folder.join(VOCABULARY_FILE), vocabulary.to_text().as_bytes())?;
        kept.vocabulary = Some(VOCABULARY_FILE.into());
    }
    if kept.model.as_ref().is_some_and(|model| model.ends_with(".toml")) {
        kept.model = Some(DESCRIPTION_FILE.to_owned());
    }
    write_atomic(&folder.join(DESCRIPTION_FILE), description.to_toml()?.as_bytes())?;
    Ok(write_atomic(&folder.join(RUN_FILE), kept.to_toml()?.as_bytes())?)
}

/// Writes what is guaranteed for everything in the folder.
pub(crate) fn write_certificate(folder: &Path, certificate: Option<&Certificate>) -> Result<(), Refusal> {
    let text = serde_json::to_string_pretty(&certificate)
        .map_err(|error| Refusal::internal(format!("cannot write the certificate: {error}")))?;
    Ok(write_atomic(&folder.join(CERTIFICATE_FILE), format!("{text}\n").as_bytes())?)
}

/// Takes away the certificate of a run that goes on: it does not count the steps to come, and would stay if the process
/// is killed. The ledger's next write puts this on disk, before a checkpoint is there.
pub(crate) fn drop_certificate(folder: &Path) -> Result<(), Refusal> {
    let path = folder.join(CERTIFICATE_FILE);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Refusal::new(Code::Unwritable, format!("{}: cannot be replaced: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// What is guaranteed for the folder; none without privacy.
///
/// # Errors
/// [`Refusal`] when the folder has no such thing, or it cannot be read.
pub fn read_certificate(folder: &Path) -> Result<Option<Certificate>, Refusal> {
    let path = folder.join(CERTIFICATE_FILE);
    let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| refuse(format!("not a certificate: {error}")))
}

/// Writes the finished model.
pub(crate) fn finish(
    folder: &Path,
    reader: &Reader,
    layout: &Layout,
    weights: &[f32],
    private: bool,
) -> Result<(), Refusal> {
    save_weights(&folder.join(WEIGHTS_FILE), layout, weights)?;
    let about = About {
        format: FORMAT,
        kind: "network".to_owned(),
        input: reader.input.clone(),
        classes: reader.classes.clone(),
        private,
    };
    let text = serde_json::to_string_pretty(&about).map_err(Refusal::internal)?;
    Ok(write_atomic(&folder.join(ABOUT_FILE), format!("{text}\n").as_bytes())?)
}

/// Adds a line of metrics.
pub(crate) fn add_metrics(folder: &Path, line: &impl Serialize) -> Result<(), Refusal> {
    let path = folder.join(METRICS_FILE);
    let text = serde_json::to_string(line)
        .map_err(|error| Refusal::internal(format!("cannot write JSON: {error}")))?;
    Ok(append(&path, format!("{text}\n").as_bytes())?)
}

/// The accuracy on validation data when a run ended.
///
/// # Errors
/// [`Refusal`] when the folder has no such thing, or it cannot be read.
pub fn last_accuracy(folder: &Path) -> Result<f64, Refusal> {
    let path = folder.join(METRICS_FILE);
    let refuse = |why: String| Refusal::new(Code::Unreadable, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let last = text.lines().last().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let accuracy = last.and_then(|line| line["validation_accuracy"].as_f64());
    accuracy.ok_or_else(|| refuse("no accuracy in its last line: train with ⟦validation⟧".to_owned()))
}

/// Whether a folder is one of a network, finished or not.
pub fn is_network(folder: &Path) -> bool {
    folder.join(DESCRIPTION_FILE).is_file()
}

/// A finished model that was read back.
pub(crate) struct Stored {
    pub(crate) network: Network,
    pub(crate) weights: Vec<f32>,
    pub(crate) reader: Reader,
}

impl Stored {
    pub(crate) fn read(folder: &Path) -> Result<Self, Refusal> {
        let path = folder.join(ABOUT_FILE);
        if !path.is_file() {
            let why = "the training is not finished: go on with 'reticent train --resume' and this folder, or end it where it \
                       stands with 'reticent train --finish'";
            return Err(Refusal::new(Code::NoModel, format!("{}: {why}", folder.display())));
        }
        let refuse =
            |path: &Path, why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| refuse(&path, error.to_string()))?;
        let about: About = serde_json::from_str(&text)
            .map_err(|error| refuse(&path, format!("not a stored network ({error}): train it again")))?;
        if about.format != FORMAT {
            return Err(refuse(
                &path,
                format!("format {} is not known here: use a newer version", about.format),
            ));
        }
        let (schema, vocabulary) = match about.input {
            Input::Images { .. } => (None, None),
            Input::Table => (Some(Schema::read(&folder.join(SCHEMA_FILE))?), None),
            Input::Text { .. } => (
                Some(Schema::read(&folder.join(SCHEMA_FILE))?),
                Some(Vocabulary::read(&folder.join(VOCABULARY_FILE))?),
            ),
        };
        let description = folder.join(DESCRIPTION_FILE);
        let text =
            fs::read_to_string(&description).map_err(|error| refuse(&description, error.to_string()))?;
        let description = Description::from_toml(&text, &description.display().to_string())?;
        let reader = Reader { input: about.input, classes: about.classes, schema, vocabulary };
        if description.outputs()? != reader.outputs() {
            return Err(refuse(&path, "its classes are not those of model.toml: train it again".to_owned()));
        }
        if let Err(why) = reader.fits(&description.input) {
            return Err(refuse(&path, format!("{why}: train it again")));
        }
        let network = Network::new(description, Effort::default())?;
        let weights = load_weights(&folder.join(WEIGHTS_FILE), network.layout())?;
        Ok(Self { network, weights, reader })
    }

    /// What was trained, and read by the same rules from other data.
    pub(crate) fn scores(
        &mut self,
        source: &Source,
        labelled: bool,
        watch: &dyn Watch,
    ) -> Result<(Vec<f32>, Examples), Refusal> {
        const CHUNK: usize = 512;
        let examples = self.reader.read(source, labelled, watch)?.examples;
        let named = |error: TrainError| Refusal::from(error).within(&source.name());
        self.network.check(&examples).map_err(named)?;
        let all: Vec<usize> = (0..examples.len()).collect();
        let mut scores = Vec::new();
        for which in all.chunks(CHUNK) {
            scores.extend(self.network.outputs(&self.weights, &examples, which).map_err(named)?);
        }
        Ok((scores, examples))
    }
}
