//! The request for a network: the keys of `run.toml`, everything needed to repeat a run.

use super::computing::Computing;
use super::federated::Federated;
use super::plan::{TrainPlan, check_given, plan};
use super::settings::settle;
use super::source::TrainData;
use crate::Request;
use crate::bill::covers;
use crate::refusal::Refusal;
use reticent_accounting::Verdict;
use reticent_core::event::read;
use reticent_core::{Code, Epsilon, Event, Guarantee, Neighboring};
use reticent_data::Reading;
use reticent_data::text::TokenKind;
use reticent_train::{Augmentation, Device};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The training of a network; absent fields have defaults.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Train {
    /// A table, a folder of images, or the name of a dataset in `data_dir`; none for the bundled census records.
    pub data: Option<PathBuf>,
    /// How the files of a table are read: further files, the dialect of CSV text, derived columns. A validation table is read in
    /// the same way, without the further files.
    #[serde(skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// A folder of datasets.
    #[serde(alias = "data_dir")]
    pub data_dir: Option<PathBuf>,
    /// The public schema of the table.
    pub schema: Option<PathBuf>,
    /// Public labelled validation data, which are not protected.
    pub validation: Option<PathBuf>,
    /// The column that holds the texts.
    #[serde(alias = "text_column")]
    pub text_column: Option<String>,
    /// A public file with one token per line.
    pub vocabulary: Option<PathBuf>,
    /// The tokens of the texts: `words` of the vocabulary file, or `characters`, whose vocabulary is built in.
    pub tokens: Option<TokenKind>,
    /// Tokens per text; for a language model, tokens per piece of a text.
    pub length: Option<u64>,
    /// The column to predict, for texts without a schema.
    pub label: Option<String>,
    /// The public names of the classes, or for images their number.
    pub classes: Option<ClassNames>,
    /// Whether the classes are the labels that the data hold, which are thereby declared to be public.
    #[serde(alias = "observed_labels")]
    pub observed_labels: Option<bool>,
    /// Pixels are normalized to (pixel / 255 - shift) / scale.
    pub shift: Option<OneOrMore>,
    /// Pixels are normalized to (pixel / 255 - shift) / scale.
    pub scale: Option<OneOrMore>,
    /// The maximum number of rows of one user in a step, drawn at random; for a language model, the maximum number of pieces of one
    /// row or user.
    #[serde(alias = "examples_per_user")]
    pub examples_per_user: Option<u64>,
    /// The name of a network, or the path of its description.
    pub model: Option<String>,
    /// Frozen weights, by the names of layers or parameters; a `*` at the end stands for any ending.
    pub freeze: Option<Vec<String>>,
    /// Public weights to start from: a safetensors file, or the folder of a run on other data.
    pub init: Option<PathBuf>,
    /// Arrays of `init`, each with the parameter that it goes to.
    #[serde(alias = "init_map")]
    pub init_map: Option<BTreeMap<String, String>>,
    /// Whether parameters that `init` does not have, or has in another shape, stay at their random start.
    #[serde(alias = "init_partial")]
    pub init_partial: Option<bool>,
    /// Declares that the weights of `init` were made without the private data.
    #[serde(alias = "init_public")]
    pub init_public: Option<bool>,
    /// The digest of the file of `init`, such as `sha256:…`: a file with another one is refused. It is taken from the file if none is
    /// given.
    #[serde(alias = "init_digest")]
    pub init_digest: Option<String>,
    /// Public word vectors for the first layer. Their words are the vocabulary if none is given.
    pub vectors: Option<PathBuf>,
    /// The digest of the file of `vectors`, as `init_digest`.
    #[serde(alias = "vectors_digest")]
    pub vectors_digest: Option<String>,
    /// Public labelled data to train on first, without protection.
    pub pretrain: Option<PathBuf>,
    /// The number of epochs on them.
    #[serde(alias = "pretrain_epochs")]
    pub pretrain_epochs: Option<f64>,
    /// The privacy budget ε.
    pub epsilon: Option<f64>,
    /// The δ.
    pub delta: Option<f64>,
    /// The noise multiplier, σ / clipping norm, instead of ε.
    #[serde(alias = "noise_multiplier")]
    pub noise_multiplier: Option<f64>,
    /// Whether the training has no privacy.
    #[serde(alias = "non_private")]
    pub non_private: Option<bool>,
    /// The neighboring relation: `add-remove` or `replace-one`.
    pub neighboring: Option<String>,
    /// The public approximate number of units; without it, part of ε pays for a noisy count.
    #[serde(alias = "size", alias = "dataset_size")]
    pub dataset_size: Option<u64>,
    /// The clipping norm: the maximum L2 norm of one unit's gradient.
    pub clip: Option<f64>,
    /// The clipping mode: `flat`, `per-layer`, `automatic`, `quantile` or `encoded`.
    pub clipping: Option<String>,
    /// The share of units that quantile clipping leaves unclipped; 0.5 if none is given.
    #[serde(alias = "clip_quantile")]
    pub clip_quantile: Option<f64>,
    /// The share of the weights whose gradients are kept where they are encoded, the largest ones; 1 if none is given.
    #[serde(alias = "kept_share")]
    pub kept_share: Option<f64>,
    /// What encoded gradients are multiplied by before they are cut to the profile; 4 if none is given.
    #[serde(alias = "encoding_gain")]
    pub encoding_gain: Option<f64>,
    /// The law of the noise: `gaussian`, or `student-t` for encoded gradients.
    pub noise: Option<String>,
    /// The degrees of freedom of Student-t noise; 9 if none is given.
    #[serde(alias = "degrees_of_freedom")]
    pub degrees_of_freedom: Option<u64>,
    /// How noisy gradients are denoised: `james-stein`, `wiener` or `weighted`; not at all if none is given.
    pub denoise: Option<String>,
    /// The expected number of epochs.
    pub epochs: Option<f64>,
    /// The number of steps, instead of epochs.
    pub steps: Option<u64>,
    /// The expected batch size in units.
    #[serde(alias = "batch_size")]
    pub batch_size: Option<u64>,
    /// By what factor the expected batch size grows during a private run: a power of two. It doubles from stage to stage, and every stage
    /// sees about the same number of units. If none is given, all batches have one expected size.
    #[serde(alias = "batch_growth")]
    pub batch_growth: Option<u64>,
    /// How batches are made: `poisson` samples them (the default); `cyclic` draws them once, and they come round in every epoch, with
    /// noise that is correlated between steps (BandMF).
    pub batching: Option<String>,
    /// The bands of the correlated noise of cyclic batches, at most the number of batches; 1 for independent noise. If none is given, the
    /// power of two up to 64 with the least noise in running sums of gradients.
    pub bands: Option<u64>,
    /// The optimizer: `sgd`, `adam`, `adamw`, `adam-bc` or `adam-uncorrected`.
    pub optimizer: Option<String>,
    /// The peak learning rate.
    #[serde(alias = "learning_rate")]
    pub learning_rate: Option<f64>,
    /// The momentum of sgd.
    pub momentum: Option<f64>,
    /// The weight decay (L2).
    #[serde(alias = "weight_decay")]
    pub weight_decay: Option<f64>,
    /// The share of every label that the loss spreads evenly over all classes (label smoothing), from 0 to below 1. It changes the
    /// loss of each example by itself, so it goes with privacy too.
    #[serde(alias = "label_smoothing")]
    pub label_smoothing: Option<f64>,
    /// Copies of every image that are trained on with it: `none`, `flip` or `shift`. The gradient of an image is the mean over its
    /// copies, averaged before it is clipped, and the image stays the unit.
    pub augment: Option<Augmentation>,
    /// λ of adversarial regularisation: the network is trained against an inference network that tells members by its outputs. It
    /// goes with `non_private` and guarantees nothing.
    pub adversarial: Option<f64>,
    /// The share of the records that are held out as reference records of an adversarial training, by a keyed hash.
    #[serde(alias = "reference_share")]
    pub reference_share: Option<f64>,
    /// Reference records of their own, instead of a share of the data.
    #[serde(alias = "reference_data")]
    pub reference_data: Option<PathBuf>,
    /// The learning-rate schedule: `constant`, `linear`, `cosine` or `exponential`.
    pub schedule: Option<String>,
    /// The number of warm-up steps.
    pub warmup: Option<u64>,
    /// The decay of an exponential moving average of the weights, which replaces them.
    pub average: Option<f64>,
    /// The checkpoint interval: a number of steps, or of epochs as in `2epochs`.
    #[serde(alias = "checkpoint_every")]
    pub checkpoint_every: Option<String>,
    /// The number of threads.
    pub threads: Option<u64>,
    /// The device that computes the network: `cpu` or `cuda`. It is not stored with the run, which can be resumed on another one.
    pub device: Option<Device>,
    /// The number of examples that are computed at once; as many as fit if none is given. It is not stored with the run.
    pub chunk: Option<u64>,
    /// The run's folder, which must be new.
    pub out: Option<PathBuf>,
    /// Parties that train together; none for a training by one party.
    pub federated: Option<Federated>,
    /// After how many scores without a better one the training ends: on the validation data after every epoch, or without them on held-out
    /// units, with noise. The certificate is that of all planned steps and scores.
    pub patience: Option<u64>,
    /// The share of the units that is held out of the training by a keyed hash, to test on with noise.
    #[serde(alias = "held_out")]
    pub held_out: Option<f64>,
    /// The public key of that hash.
    #[serde(alias = "split_key")]
    pub split_key: Option<String>,
    /// The noisy count of units from the start of the run. The run writes it, and reads it again when it
    /// is resumed; a new run ignores it and pays for a count of its own.
    pub counted: Option<NoisyCount>,
}

/// The number of classes, or their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClassNames {
    /// The number of classes, which are named 0, 1, ….
    Count(usize),
    /// The names of the classes.
    Names(Vec<String>),
}

/// A number for all channels, or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One for all.
    One(f32),
    /// One for each.
    More(Vec<f32>),
}

impl OneOrMore {
    pub(crate) fn values(&self) -> Vec<f32> {
        match self {
            Self::One(value) => vec![*value],
            Self::More(values) => values.clone(),
        }
    }
}

/// A noisy count of the rows, and its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyCount {
    /// The count.
    pub size: u64,
    /// The ε that it cost.
    pub epsilon: f64,
    /// Its events, as JSON.
    pub events: String,
}

impl NoisyCount {
    pub(crate) fn new(size: u64, guarantee: Guarantee, events: &[Event]) -> Result<Self, Refusal> {
        let events = serde_json::to_string(events).map_err(Refusal::internal)?;
        Ok(Self { size, epsilon: guarantee.epsilon.get(), events })
    }

    /// The events of the count and what they cost.
    ///
    /// # Errors
    /// [`Refusal`] when there are no events, or they cost more than the stated ε.
    pub(crate) fn cost(&self) -> Result<(Vec<Event>, Guarantee), Refusal> {
        let refuse = |why: &str| {
            let remedy = format!("{why}: give the JSON list of events");
            Refusal::value("counted.events", &self.events, remedy)
        };
        let events = read(&self.events).map_err(|problem| refuse(&problem.to_string()))?.events;
        if events.is_empty() {
            return Err(refuse("a noisy count has an event"));
        }
        let epsilon = Epsilon::new(self.epsilon)
            .map_err(|invalid| Refusal::value("counted.epsilon", self.epsilon, invalid.remedy))?;
        let stated = Guarantee::pure(epsilon);
        match covers(stated, &events, Neighboring::AddRemove)? {
            Verdict::Holds(_) => Ok((events, stated)),
            other => {
                let remedy = format!("as the cost of its events, this {other}: restore the original file");
                Err(Refusal::value("counted.epsilon", self.epsilon, remedy))
            }
        }
    }
}

/// The text of a file.
pub(crate) fn text_of(path: &Path) -> Result<String, Refusal> {
    std::fs::read_to_string(path).map_err(|error| {
        let (code, why) = match error.kind() {
            ErrorKind::NotFound => (Code::NotFound, "no such file: check the path".to_owned()),
            _ => (Code::Unreadable, format!("cannot be read: {error}")),
        };
        Refusal::new(code, format!("{}: {why}", path.display()))
    })
}

impl Train {
    /// Reads a `run.toml`; relative paths in it start at its folder.
    ///
    /// # Errors
    /// [`Refusal`] with the place of what is wrong.
    pub fn read(path: &Path) -> Result<Self, Refusal> {
        Self::parse(&text_of(path)?, path)
    }

    /// Reads the text of the file at `path`.
    fn parse(text: &str, path: &Path) -> Result<Self, Refusal> {
        let mut run: Self = reticent_data::toml::read(text, &path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from = |path: &mut Option<PathBuf>| {
            if let Some(path) = path {
                *path = folder.join(&*path);
            }
        };
        for path in [&mut run.data_dir, &mut run.schema, &mut run.vocabulary, &mut run.out] {
            from(path);
        }
        for path in [&mut run.init, &mut run.vectors] {
            from(path);
        }
        for path in [&mut run.data, &mut run.validation, &mut run.reference_data, &mut run.pretrain] {
            // The name of a dataset is not a path.
            if path.as_ref().is_some_and(|path| folder.join(path).exists() || path.extension().is_some()) {
                from(path);
            }
        }
        for path in run.reading.also.iter_mut().filter(|path| path.as_os_str() != "-") {
            *path = folder.join(&*path);
        }
        for party in run.federated.iter_mut().flat_map(|federated| &mut federated.parties) {
            party.data = folder.join(&party.data);
        }
        if let Some(model) = run.model.as_mut().filter(|model| model.ends_with(".toml")) {
            *model = folder.join(&*model).display().to_string();
        }
        Ok(run)
    }

    /// These fields where they are given, the file's otherwise.
    ///
    /// # Errors
    /// [`Refusal`] for a defect of the program.
    pub fn over(self, mut file: Self) -> Result<Self, Refusal> {
        // One way to say how much privacy there is replaces another.
        if self.non_private == Some(true) {
            (file.epsilon, file.delta, file.noise_multiplier) = (None, None, None);
            (file.dataset_size, file.counted) = (None, None);
            (file.noise, file.degrees_of_freedom, file.denoise) = (None, None, None);
            (file.batch_growth, file.batching, file.bands) = (None, None, None);
            if file.clipping.as_deref() == Some("encoded") {
                (file.clipping, file.kept_share, file.encoding_gain) = (None, None, None);
            }
        }
        // A digest is that of the file beside it.
        if self.init.is_some() {
            file.init_digest = None;
        }
        if self.vectors.is_some() {
            file.vectors_digest = None;
        }
        if self.clipping.as_deref().is_some_and(|rule| rule != "encoded") {
            (file.kept_share, file.encoding_gain) = (None, None);
        }
        if self.noise.as_deref() == Some("gaussian") {
            file.degrees_of_freedom = None;
        }
        if self.batching.as_deref() == Some("poisson") {
            file.bands = None;
        }
        if self.reference_data.is_some() {
            file.reference_share = None;
        }
        if self.reference_share.is_some() {
            file.reference_data = None;
        }
        if self.noise_multiplier.is_some() {
            file.epsilon = None;
        }
        if self.epsilon.is_some() {
            (file.noise_multiplier, file.non_private) = (None, None);
        }
        if self.steps.is_some() {
            file.epochs = None;
        }
        if self.epochs.is_some() {
            file.steps = None;
        }
        let strange = |error: serde_json::Error| Refusal::internal(format!("run.toml: {error}"));
        let mut all = serde_json::to_value(file).map_err(strange)?;
        let given = serde_json::to_value(self).map_err(strange)?;
        if let (Some(all), Some(given)) = (all.as_object_mut(), given.as_object()) {
            for (key, value) in given.iter().filter(|(_, value)| !value.is_null()) {
                all.insert(key.clone(), value.clone());
            }
        }
        serde_json::from_value(all).map_err(strange)
    }

    /// The text of a `run.toml`.
    ///
    /// # Errors
    /// [`Refusal`] for a defect of the program.
    pub fn to_toml(&self) -> Result<String, Refusal> {
        toml::to_string(self).map_err(|error| Refusal::internal(format!("run.toml: {error}")))
    }

    /// Checks the numbers and names alone, before any file is opened.
    ///
    /// # Errors
    /// [`Refusal`] naming the field and the remedy.
    pub fn check_values(&self) -> Result<(), Refusal> {
        settle(&mut self.clone()).map(|_| ())
    }

    pub(crate) fn is_private(&self) -> bool {
        self.non_private != Some(true)
    }

    /// What computes the network.
    pub(crate) fn computing(&self) -> Computing {
        Computing::new(self.device.unwrap_or_default(), self.threads, self.chunk)
    }
}

impl Request for Train {
    type Planned = TrainPlan;

    fn check(&self) -> Result<TrainPlan, Refusal> {
        plan(Self { counted: None, ..self.clone() }, None, None)
    }
}

impl Train {
    /// As [`check`](Request::check), about data that are given beside the request, such as data in memory. The request's `data`,
    /// `data_dir` and `validation` must be left out.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names data.
    pub fn check_data(&self, data: TrainData) -> Result<TrainPlan, Refusal> {
        check_given(self)?;
        plan(Self { counted: None, ..self.clone() }, None, Some(data))
    }
}

#[cfg(test)]
mod tests {
    use super::super::resume::Resume;
    use super::*;

    #[test]
    fn a_run_that_goes_on_keeps_its_count() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("run.toml"), "epsilon = 3\ndelta = 1e-6\n").unwrap();
        let counted = NoisyCount { size: 60, epsilon: 0.0, events: "[]".to_owned() };
        let changes = Train { counted: Some(counted), ..Train::default() };
        let resume = Resume { folder: folder.path().to_owned(), changes, finish: false, stopped_by: None };
        let refusal = resume.check().unwrap_err();
        assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("counted")));
    }

    #[test]
    fn a_count_is_held_to_its_own_events() {
        let counted =
            |epsilon: f64, events: &str| NoisyCount { size: 60, epsilon, events: events.to_owned() };
        let events = r#"[{"discrete_laplace":{"noise_multiplier":50.0}}]"#;
        let (listed, cost) = counted(0.02, events).cost().unwrap();
        assert_eq!((listed.len(), cost.epsilon.get(), cost.delta.get()), (1, 0.02, 0.0));
        for (epsilon, events, field) in [
            (0.0, "[]", "counted.events"),
            (0.02, "{", "counted.events"),
            (0.02, r#"[{"discrete_laplace":{"noise_multiplier":-1.0}}]"#, "counted.events"),
            (0.0, events, "counted.epsilon"),
            (0.019, events, "counted.epsilon"),
            (-1.0, events, "counted.epsilon"),
        ] {
            assert_eq!(
                counted(epsilon, events).cost().unwrap_err().field(),
                Some(field),
                "{epsilon} {events}"
            );
        }
    }

    #[test]
    fn flags_replace_what_the_file_says() {
        let file: Train =
            toml::from_str("epsilon = 3\ndelta = 1e-5\nepochs = 4\nclip = 0.1\nclasses = [\"a\", \"b\"]")
                .unwrap();
        let flags = Train { epsilon: Some(1.0), steps: Some(7), ..Train::default() };
        let run = flags.over(file.clone()).unwrap();
        assert_eq!((run.epsilon, run.delta, run.clip), (Some(1.0), Some(1e-5), Some(0.1)));
        assert_eq!((run.epochs, run.steps), (None, Some(7)));
        let plain = Train { non_private: Some(true), ..Train::default() }.over(file).unwrap();
        assert!(plain.epsilon.is_none() && plain.delta.is_none() && !plain.is_private());
        let text = run.to_toml().unwrap();
        assert_eq!(toml::from_str::<Train>(&text).unwrap(), run, "{text}");
    }
}
