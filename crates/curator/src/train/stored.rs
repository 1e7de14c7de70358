//! A run's folder. `model.json` is written last: a folder that has it holds a finished model.

use super::{Computing, Input, Reader, Source, Train, kept, prepare};
use crate::folder::layout::{
    CERTIFICATE_FILE, DESCRIPTION_FILE, METRICS_FILE, MODEL_FILE, ModelKind, NETWORK_WEIGHTS_FILE, RUN_FILE,
    SCHEMA_FILE, SNAPSHOTS, VOCABULARY_FILE, is_beginning,
};
use crate::folder::{Divided, Fingerprint, Seal, Writer, certificate_text, whole};
use crate::refusal::Refusal;
use crate::watch::Watch;
use reticent_core::{Certificate, Code};
use reticent_data::Schema;
use reticent_data::text::{TokenKind, Vocabulary};
use reticent_files::append_line;
use reticent_train::{Description, Engine, Examples, Layout, TrainError, Weights};
use reticent_train::{load_weights, save_weights, scores};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::Path;

const FORMAT: u32 = 2;

/// What a stored model says about itself. Models of format 1 have no digests.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    format: u32,
    kind: ModelKind,
    input: Input,
    classes: Vec<String>,
    private: bool,
    #[serde(default)]
    digests: Seal,
}

impl About {
    /// Reads `model.json`.
    fn of(folder: &Path) -> Result<Self, Refusal> {
        let path = folder.join(MODEL_FILE);
        if !path.is_file() {
            let why = match is_beginning(folder) {
                true => {
                    "the training ended before its first step: start it again with 'reticent train --out'"
                }
                false => {
                    "the training is not finished: go on with 'reticent train --resume' and this folder, or end it where it \
                     stands with 'reticent train --finish'"
                }
            };
            return Err(Refusal::new(Code::NoModel, format!("{}: {why}", folder.display())));
        }
        let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| refuse(error.to_string()).because(error))?;
        let about: Self = serde_json::from_str(&text)
            .map_err(|error| refuse(format!("not a stored network ({error}): train again")).because(error))?;
        match about.format > FORMAT {
            true => Err(refuse(format!(
                "format {} is not supported by this version: use a newer one",
                about.format
            ))),
            false => Ok(about),
        }
    }
}

/// Refuses a folder without a finished network, or one whose files are not those that were stored with it.
pub(crate) fn verify(folder: &Path) -> Result<(), Refusal> {
    let about = About::of(folder)?;
    about.digests.check(folder, (ModelKind::Network, about.format), |_| None)
}

/// Writes what is public, after the ledger and before anything is drawn.
pub(crate) fn begin(
    writer: &mut Writer,
    request: Value,
    reader: &Reader,
    description: &Description,
) -> Result<(), Refusal> {
    writer.begin(request)?;
    write_public(writer, reader, description)
}

/// Writes what a model is made of that is public: schema, vocabulary and layers.
pub(crate) fn write_public(
    writer: &Writer,
    reader: &Reader,
    description: &Description,
) -> Result<(), Refusal> {
    if let Some(schema) = &reader.schema {
        writer.write(SCHEMA_FILE, schema.to_toml().as_bytes())?;
    }
    if let Some(vocabulary) = reader.vocabulary_text() {
        writer.write(VOCABULARY_FILE, vocabulary.as_bytes())?;
    }
    writer.write(DESCRIPTION_FILE, description.to_toml()?.as_bytes())
}

/// Writes the run with what was counted for it, and has the ledger state the count with the terms to come. Its paths lead to
/// the folder's own files.
pub(crate) fn write_run(writer: &mut Writer, run: &Train, reader: &Reader) -> Result<(), Refusal> {
    // The device is the machine's, and the folder may move to another one.
    let mut kept = Train { out: None, label: None, device: None, chunk: None, ..run.clone() };
    for path in [&mut kept.data, &mut kept.validation, &mut kept.data_dir, &mut kept.reference_data] {
        *path = whole(path.as_deref());
    }
    for path in [&mut kept.init, &mut kept.vectors, &mut kept.pretrain] {
        *path = whole(path.as_deref());
    }
    if reader.schema.is_some() {
        (kept.schema, kept.classes) = (Some(SCHEMA_FILE.into()), None);
    }
    if reader.vocabulary_text().is_some() {
        kept.vocabulary = Some(VOCABULARY_FILE.into());
    }
    if kept.model.as_ref().is_some_and(|model| model.ends_with(".toml")) {
        kept.model = Some(DESCRIPTION_FILE.to_owned());
    }
    writer.keep();
    kept::add_count(writer, run)?;
    writer.write(RUN_FILE, kept.to_toml()?.as_bytes())
}

/// Refuses a run that goes on with something else than it began with: another request, other data, or files of the folder that
/// were changed meanwhile. Returns what it began with, whose budget is compared once more when the trainer has compared its own.
pub(crate) fn check_same(
    writer: &Writer,
    (run, evaluations): (&Train, Option<u64>),
    reader: &Reader,
    description: &Description,
    data: (&str, Divided<'_>),
) -> Result<Value, Refusal> {
    let folder = writer.folder();
    let is = kept::request(run, evaluations, reader, description)?;
    let stored = Train::read(&folder.join(RUN_FILE))?;
    let was = match writer.request() {
        Some(was) => was.clone(),
        // A run from before the ledger kept the request: what the file says is all that is known.
        None => kept::request(&stored, None, reader, description)?,
    };
    kept::compare(&was, &is)?;
    // A ledger without terms gets them from the trainer, which has nothing to compare them with.
    if !writer.has_run() {
        kept::compare_budget(&was, &is)?;
    }
    let on_disk = folder.join(DESCRIPTION_FILE);
    let known = Description::from_toml(&text(&on_disk)?, &on_disk.display().to_string())?;
    let schema = reader.schema.as_ref().map(|_| Schema::read(&folder.join(SCHEMA_FILE))).transpose()?;
    let changed = |what: &str| {
        let text = format!(
            "the run was started with a different {what}: {}: undo the change, restore the file, or start a new run",
            folder.display()
        );
        Refusal::about(Code::Changed, "resume", text)
    };
    if known.to_toml()? != description.to_toml()? {
        return Err(changed("model"));
    }
    if schema.map(|schema| schema.to_toml()) != reader.schema.as_ref().map(Schema::to_toml) {
        return Err(changed("schema"));
    }
    match Fingerprint::read(folder)? {
        // A run from before there were fingerprints.
        None if writer.request().is_none() => kept::compare_paths(&stored, run).map(|()| was),
        None => Err(Fingerprint::missing(folder)),
        Some(known) if known.is_of(data.1) => Ok(was),
        Some(_) => {
            let text = format!(
                "the run was started with data other than {}: give the original data, or start a new run",
                data.0
            );
            Err(Refusal::about(Code::Changed, "resume", text))
        }
    }
}

/// Refuses a run that goes on with data from another place than it began with.
pub(crate) fn check_paths(writer: &Writer, run: &Train) -> Result<(), Refusal> {
    let began = writer.request().map(|was| serde_json::from_value::<Train>(was["request"].clone()));
    match began.transpose() {
        Ok(Some(began)) => kept::compare_paths(&began, run),
        Ok(None) => kept::compare_paths(&Train::read(&writer.folder().join(RUN_FILE))?, run),
        Err(error) => Err(Refusal::new(Code::Broken, format!("ledger.json: {error}")).because(error)),
    }
}

fn text(path: &Path) -> Result<String, Refusal> {
    fs::read_to_string(path).map_err(|error| {
        Refusal::new(Code::Broken, format!("{}: cannot be read: {error}", path.display())).because(error)
    })
}

/// Writes what is guaranteed for everything in the folder.
pub(crate) fn write_certificate(writer: &Writer, certificate: Option<&Certificate>) -> Result<(), Refusal> {
    writer.write(CERTIFICATE_FILE, certificate_text(certificate)?.as_bytes())
}

/// Takes away the certificate of a run that goes on: it does not count the steps to come, and would stay if the process
/// is killed. The ledger's next write puts this on disk, before a checkpoint is there.
pub(crate) fn drop_certificate(folder: &Path) -> Result<(), Refusal> {
    let path = folder.join(CERTIFICATE_FILE);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Refusal::new(Code::Unwritable, format!("{}: cannot be replaced: {error}", path.display()))
                .because(error))
        }
        _ => Ok(()),
    }
}

/// Writes the finished model, bound to the certificate that is there.
pub(crate) fn finish(
    writer: &Writer,
    reader: &Reader,
    layout: &Layout,
    weights: &[f32],
    private: bool,
) -> Result<(), Refusal> {
    let folder = writer.folder();
    save_weights(&folder.join(NETWORK_WEIGHTS_FILE), layout, weights)?;
    let mut digests = Seal::default();
    for name in [NETWORK_WEIGHTS_FILE, CERTIFICATE_FILE, DESCRIPTION_FILE, RUN_FILE] {
        digests.add_file(folder, name)?;
    }
    if reader.schema.is_some() {
        digests.add_file(folder, SCHEMA_FILE)?;
    }
    if reader.vocabulary_text().is_some() {
        digests.add_file(folder, VOCABULARY_FILE)?;
    }
    let about = About {
        format: FORMAT,
        kind: ModelKind::Network,
        input: reader.input.clone(),
        classes: reader.classes.clone(),
        private,
        digests,
    };
    let text = serde_json::to_string_pretty(&about).map_err(Refusal::internal)?;
    writer.write_durably(MODEL_FILE, format!("{text}\n").as_bytes())
}

/// Adds a line of metrics.
pub(crate) fn add_metrics(folder: &Path, line: &impl Serialize) -> Result<(), Refusal> {
    let path = folder.join(METRICS_FILE);
    let text = serde_json::to_string(line)
        .map_err(|error| Refusal::internal(format!("cannot write JSON: {error}")).because(error))?;
    Ok(append_line(&path, &text)?)
}

/// Keeps the weights after a round.
pub(crate) fn add_snapshot(
    folder: &Path,
    round: u64,
    layout: &Layout,
    weights: &[f32],
) -> Result<(), Refusal> {
    let place = folder.join(SNAPSHOTS);
    fs::create_dir_all(&place).map_err(|error| {
        Refusal::new(Code::Unwritable, format!("{}: cannot be made: {error}", place.display())).because(error)
    })?;
    Ok(save_weights(&place.join(snapshot_name(round)), layout, weights)?)
}

/// The weights after each of these rounds.
pub(crate) fn snapshots(folder: &Path, rounds: &[u64], layout: &Layout) -> Result<Vec<Vec<f32>>, Refusal> {
    let read = |round: &u64| {
        let path = folder.join(SNAPSHOTS).join(snapshot_name(*round));
        if !path.is_file() {
            let remedy =
                format!("no weights of this round were kept in {}", folder.join(SNAPSHOTS).display());
            return Err(Refusal::value("rounds", round, remedy));
        }
        Ok(load_weights(&path, layout)?)
    };
    rounds.iter().map(read).collect()
}

fn snapshot_name(round: u64) -> String {
    format!("round-{round:06}.safetensors")
}

/// A finished model that was read back.
pub(crate) struct Stored {
    pub(crate) description: Description,
    pub(crate) network: Box<dyn Engine>,
    pub(crate) weights: Vec<f32>,
    pub(crate) reader: Reader,
    computing: Computing,
}

impl Stored {
    pub(crate) fn read(folder: &Path, computing: &Computing) -> Result<Self, Refusal> {
        let path = folder.join(MODEL_FILE);
        let refuse =
            |path: &Path, why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
        let about = About::of(folder)?;
        let (format, digests) = (about.format, about.digests);
        let (schema, vocabulary) = match about.input {
            Input::Images { .. } => (None, None),
            Input::Table => (Some(Schema::read(&folder.join(SCHEMA_FILE))?), None),
            Input::Text { tokens, .. } | Input::Language { tokens, .. } => (
                Some(Schema::read(&folder.join(SCHEMA_FILE))?),
                Some(match tokens {
                    TokenKind::Words => Vocabulary::read(&folder.join(VOCABULARY_FILE))?,
                    TokenKind::Characters => Vocabulary::characters(),
                }),
            ),
        };
        let description = folder.join(DESCRIPTION_FILE);
        let text = fs::read_to_string(&description)
            .map_err(|error| refuse(&description, error.to_string()).because(error))?;
        let description = Description::from_toml(&text, &description.display().to_string())?;
        let (input, classes) = (about.input, about.classes);
        let reader = Reader { input, classes, schema, vocabulary, observed_labels: false };
        if description.outputs()? != reader.outputs() {
            return Err(refuse(&path, "its classes are not those of model.toml: train again".to_owned()));
        }
        if let Err(why) = reader.fits(&description.input) {
            return Err(refuse(&path, format!("{why}: train again")));
        }
        let mut network = computing.engine(&description)?;
        let weights = load_weights(&folder.join(NETWORK_WEIGHTS_FILE), network.layout())?;
        digests.check(folder, (ModelKind::Network, format), |_| None)?;
        network.load_weights(&weights)?;
        Ok(Self { description, network, weights, reader, computing: *computing })
    }

    /// Examples that were read, as the network reads them.
    ///
    /// # Errors
    /// [`Refusal`] naming their source where they do not fit.
    pub(crate) fn prepared(
        &self,
        examples: Examples,
        source: &Source,
        watch: &dyn Watch,
    ) -> Result<Examples, Refusal> {
        let named = |refusal: Refusal| refusal.within(&source.name());
        let examples = prepare(&self.description, examples, &self.computing, watch).map_err(named)?;
        self.network.check(&examples).map_err(|error| named(error.into()))?;
        Ok(examples)
    }

    /// The scores of other data that are read by the same rules, and what the network read: with copies, several examples for each.
    pub(crate) fn scores(
        &mut self,
        source: &Source,
        labelled: bool,
        watch: &dyn Watch,
    ) -> Result<(Vec<f32>, Examples), Refusal> {
        let named = |error: TrainError| Refusal::from(error).within(&source.name());
        let read = self.reader.read(source, labelled, watch)?.examples;
        let copied = self.reader.augment().apply(read).map_err(named)?;
        let examples = self.prepared(copied, source, watch)?;
        let all: Vec<usize> = (0..examples.raw().len()).collect();
        let mut found = Vec::new();
        for which in all.chunks(self.computing.rows()) {
            let part = scores(&mut *self.network, Weights::Current, &examples, which);
            found.extend(part.map_err(named)?);
        }
        Ok((found, examples))
    }
}
