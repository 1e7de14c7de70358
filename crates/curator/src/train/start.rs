//! Where the weights of a run start: public weights of a file, public word vectors, or a training on public data.
//!
//! All of it is declared to be made without the private data, and stands in the certificate. What a declaration cannot make true is
//! refused: weights of a run on the same data, and private data given as public ones.

use super::computing::Computing;
use super::course::Stepping;
use super::describe::is_file;
use super::kept::compare_paths;
use super::outcome::{InitSummary, PretrainSummary, StartSummary, VectorsSummary};
use super::reader::{Loaded, Reader};
use super::request::Train;
use super::settings::Budget;
use super::source::{Source, find};
use super::terms::usual_batch;
use crate::folder::layout::{FINGERPRINT_FILE, NETWORK_WEIGHTS_FILE, RUN_FILE};
use crate::folder::{Divided, Fingerprint, file_digest};
use crate::refusal::Refusal;
use crate::watch::{Watch, Work};
use reticent_core::{Code, Fact, PublicFile};
use reticent_data::text::{Vectors, Vocabulary};
use reticent_train::describe::{Layer, LayerKind};
use reticent_train::{
    Baseline, Batching, Description, Engine, GivenWeights, Layout, Mapping, Recipe, TrainError, Trainer,
    Units, WarmStart,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Epochs on public data unless another number is asked for.
const EPOCHS: f64 = 10.0;

/// Checks the fields of a start and fills in their defaults.
pub(super) fn settle(run: &mut Train, budget: Budget) -> Result<(), Refusal> {
    if run.init.is_none() {
        for (field, given) in [
            ("init_map", run.init_map.is_some()),
            ("init_partial", run.init_partial.is_some()),
            ("init_public", run.init_public.is_some()),
            ("init_digest", run.init_digest.is_some()),
        ] {
            if given {
                return Err(Refusal::about(Code::Conflict, field, "only with ⟦init⟧: leave it out"));
            }
        }
    }
    if let (None, Some(digest)) = (&run.vectors, &run.vectors_digest) {
        return Err(Refusal::conflict("vectors_digest", digest, "only with ⟦vectors⟧: leave it out"));
    }
    if let (Some(init), Some(_)) = (&run.init, &run.vectors) {
        let remedy = "give ⟦init⟧ or ⟦vectors⟧, not both";
        return Err(Refusal::conflict("init", init.display(), remedy));
    }
    if run.init.is_some() && budget != Budget::None && run.init_public != Some(true) {
        let remedy = "the guarantee holds only if the initial weights were made without the private data: declare it with ⟦init_public⟧";
        return Err(Refusal::missing("init_public", remedy));
    }
    match (&run.pretrain, run.pretrain_epochs) {
        (None, Some(epochs)) => {
            return Err(Refusal::conflict("pretrain_epochs", epochs, "only with ⟦pretrain⟧: leave it out"));
        }
        (Some(data), _) if run.federated.is_some() => {
            let remedy =
                "parties start from given weights: train on the public data by itself, and give ⟦init⟧";
            return Err(Refusal::conflict("pretrain", data.display(), remedy));
        }
        (Some(_), _) => {
            let epochs = *run.pretrain_epochs.get_or_insert(EPOCHS);
            if !(epochs > 0.0 && epochs <= 1e4) {
                let remedy = "give a number above 0 and at most 10000";
                return Err(Refusal::value("pretrain_epochs", epochs, remedy));
            }
        }
        (None, None) => {}
    }
    Ok(())
}

/// What a run starts from, read before any private example is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    init: Option<Init>,
    vectors: Option<(PathBuf, Vectors)>,
    /// The facts about the files.
    files: Vec<Fact>,
    pub(super) pretrain: Option<Source>,
}

#[derive(Debug, Clone)]
struct Init {
    file: PathBuf,
    /// Nothing where a checkpoint takes its place.
    weights: Option<GivenWeights>,
    mapping: Mapping,
    /// The folder of the run that made the weights, if they are our own.
    origin: Option<PathBuf>,
}

impl Start {
    /// Reads what is named, and has the request of a new run state the digests of the files. `is_stored` says that the run has a
    /// checkpoint, which takes the place of the weights.
    pub(super) fn read(
        run: &mut Train,
        source: &Source,
        reader: &Reader,
        (is_new, is_stored): (bool, bool),
    ) -> Result<Self, Refusal> {
        let init = run.init.as_deref().map(|path| Init::read(path, run, is_stored)).transpose()?;
        let vectors = match (&run.vectors, &reader.vocabulary) {
            (Some(path), Some(vocabulary)) => Some((path.clone(), vectors(path, vocabulary)?)),
            (Some(path), None) => {
                let remedy = "word vectors are for texts: give ⟦text_column⟧, or leave it out";
                return Err(Refusal::conflict("vectors", path.display(), remedy));
            }
            (None, _) => None,
        };
        let pretrain = run.pretrain.as_deref().map(|path| public(path, run, source)).transpose()?;
        let mut files = Vec::new();
        if let Some(init) = &init {
            let digest = &mut run.init_digest;
            if !is_stored {
                pin(digest, "init", &init.file, is_new)?;
            }
            files.push(Fact::InitialWeights(public_file(&init.file, digest)));
        }
        if let Some((path, _)) = &vectors {
            pin(&mut run.vectors_digest, "vectors", path, is_new)?;
            files.push(Fact::WordVectors(public_file(path, &run.vectors_digest)));
        }
        Ok(Self { init, vectors, files, pretrain })
    }

    /// Whether the weights start at random, as they do by default.
    fn is_plain(&self) -> bool {
        self.init.is_none() && self.vectors.is_none() && self.pretrain.is_none()
    }

    /// Gives the first layer of a preset the width of the vectors.
    pub(super) fn widen(&self, run: &Train, description: &mut Description) -> Result<(), Refusal> {
        let Some((path, vectors)) = &self.vectors else { return Ok(()) };
        let (width, is_own) = (vectors.width(), run.model.as_deref().is_some_and(is_file));
        let refuse = |remedy: String| Err(Refusal::conflict("vectors", path.display(), remedy));
        if run.model.as_deref() == Some("logistic") {
            return refuse("logistic has no room for vectors: give ⟦model⟧ bag-of-embeddings".to_owned());
        }
        match description.layers.first_mut().map(|layer| &mut layer.kind) {
            Some(LayerKind::Embedding { out, .. } | LayerKind::EmbeddingBag { out, .. }) => {
                if is_own && *out != width {
                    return refuse(format!(
                        "vectors of {width} numbers need out = {width} in the first layer"
                    ));
                }
                *out = width;
            }
            _ => return refuse("the network does not begin with an embedding".to_owned()),
        }
        Ok(description.check()?)
    }

    /// Refuses arrays that do not fit the network, before anything is charged.
    pub(super) fn fits(&self, layout: &Layout) -> Result<(), Refusal> {
        if let Some(Init { weights: Some(weights), mapping, .. }) = &self.init {
            weights.apply(mapping, layout, &mut vec![0.0; layout.weights()])?;
        }
        Ok(())
    }

    /// Refuses weights that were trained on these data, as far as their folder tells. That two data sets are equal is an exact fact about
    /// them: where a ledger is kept, paths are all that is compared, as they were before the data were read.
    pub(super) fn check_data(&self, data: Divided<'_>, is_open: bool) -> Result<(), Refusal> {
        let Some(Init { file, origin: Some(folder), .. }) = &self.init else { return Ok(()) };
        match Fingerprint::read(folder)? {
            Some(known) if is_open && known.is_from(data) => Err(same_origin(file, folder)),
            _ => Ok(()),
        }
    }

    /// Reads the public data to train on first, and refuses the private ones in their place.
    pub(super) fn lesson(
        &self,
        reader: &Reader,
        network: &dyn Engine,
        (private, is_compared): (Divided<'_>, bool),
        watch: &dyn Watch,
    ) -> Result<Option<Loaded>, Refusal> {
        let Some(source) = &self.pretrain else { return Ok(None) };
        let loaded = reader.read(source, true, watch)?;
        if loaded.examples.is_empty() {
            return Err(Refusal::new(Code::NoRows, format!("{}: no examples: give data", source.name())));
        }
        let named = |error: TrainError| Refusal::from(error).within(&source.name());
        network.check(&loaded.examples).map_err(named)?;
        if is_compared && private.has(loaded.content())? {
            return Err(private_lesson(source));
        }
        Ok(Some(loaded))
    }

    /// Gives the run its start; none where the weights start at random.
    pub(super) fn apply(
        &self,
        trainer: &mut Stepping,
        reader: &Reader,
        teacher: &Teacher<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<StartSummary>, Refusal> {
        if self.is_plain() {
            return Ok(None);
        }
        let layout = trainer.layout().clone();
        let mut weights = trainer.weights()?;
        let mut summary = StartSummary::default();
        if let Some(Init { file, weights: Some(given), mapping, .. }) = &self.init {
            summary.init = Some(init_summary(file, given.apply(mapping, &layout, &mut weights)?));
        }
        if let (Some((path, vectors)), Some(vocabulary)) = (&self.vectors, &reader.vocabulary) {
            let table = layout.weight_range(0);
            let coverage = vectors.fill(vocabulary, &mut weights[table]);
            summary.vectors = Some(VectorsSummary {
                file: path.clone(),
                covered: coverage.found as u64,
                tokens: coverage.tokens as u64,
                width: vectors.width() as u64,
            });
        }
        if let (Some(source), Some(lesson)) = (&self.pretrain, teacher.lesson) {
            let (examples, epochs) = (lesson.examples.len() as u64, teacher.epochs);
            weights = teacher.teach(lesson, &layout, weights, watch)?;
            summary.pretrain = Some(PretrainSummary { data: source.name(), epochs, examples });
        }
        trainer.start_from(&weights)?;
        Ok(Some(summary))
    }

    /// What the certificate takes as public.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let mut facts = self.files.clone();
        facts.extend(self.pretrain.as_ref().map(|source| {
            let whole = source.name();
            Fact::Pretraining(own_name(Path::new(&whole)))
        }));
        facts
    }
}

/// Has the request of a new run state the digest of a public file, and refuses a file with another digest than is stated.
fn pin(stated: &mut Option<String>, field: &'static str, file: &Path, is_new: bool) -> Result<(), Refusal> {
    if stated.is_none() && !is_new {
        return Ok(());
    }
    let found = file_digest(file)?;
    match stated.as_ref().filter(|stated| **stated != found) {
        Some(other) => {
            let remedy = format!("its digest is {found}, not {other}: give the file that was meant");
            let refused = Refusal::conflict(field, file.display(), remedy);
            Err(if is_new { refused } else { refused.coded(Code::Changed) })
        }
        None => {
            *stated = Some(found);
            Ok(())
        }
    }
}

fn public_file(path: &Path, digest: &Option<String>) -> PublicFile {
    PublicFile { name: own_name(path), digest: digest.clone() }
}

/// The name of a file without its folder.
fn own_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.display().to_string())
}

impl Init {
    fn read(path: &Path, run: &Train, is_stored: bool) -> Result<Self, Refusal> {
        let is_folder = path.is_dir() || (path.extension().is_none() && !path.is_file());
        let file = if is_folder { path.join(NETWORK_WEIGHTS_FILE) } else { path.to_owned() };
        if !file.is_file() && !is_stored {
            let remedy = "no such file: give a safetensors file, or the folder of a run";
            return Err(Refusal::value("init", path.display(), remedy).coded(Code::NotFound));
        }
        let is_run =
            |folder: &&Path| [RUN_FILE, FINGERPRINT_FILE].iter().any(|name| folder.join(name).is_file());
        let absolute = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
        // Weights of a round lie one folder further down.
        let origin = absolute.ancestors().skip(1).take(2).find(is_run).map(Path::to_owned);
        if let Some(folder) =
            origin.as_ref().filter(|folder| run.is_private() && folder.join(RUN_FILE).is_file())
        {
            let theirs = Train::read(&folder.join(RUN_FILE))?;
            if compare_paths(&theirs, run).is_ok() {
                return Err(same_origin(&file, folder));
            }
        }
        let origin = origin.filter(|_| run.is_private());
        let weights = if is_stored { None } else { Some(GivenWeights::read(&file)?) };
        let names = run.init_map.clone().unwrap_or_default();
        let mapping = Mapping { names, is_partial: run.init_partial == Some(true) };
        Ok(Self { file, weights, mapping, origin })
    }
}

/// The refusal of weights from a run on the same data, whatever is declared about them.
fn same_origin(file: &Path, folder: &Path) -> Refusal {
    let remedy = format!(
        "these weights were trained on the same data (run {}), and the guarantee of this run would not count what that one cost: resume \
         that run, or give weights that were made without these data",
        folder.display()
    );
    Refusal::conflict("init", file.display(), remedy)
}

fn private_lesson(source: &Source) -> Refusal {
    let remedy = "these are the private training data, and training on them first is not covered by the guarantee: give public data";
    Refusal::conflict("pretrain", source.name(), remedy)
}

/// The public data of a path or name.
fn public(path: &Path, run: &Train, source: &Source) -> Result<Source, Refusal> {
    let found = find(Some(path), run.data_dir.as_deref(), &run.reading.of_one_file())?.source;
    match run.is_private() && found.is_same(source) {
        true => Err(private_lesson(&found)),
        false => Ok(found),
    }
}

/// The vectors of a file, for a vocabulary.
fn vectors(path: &Path, vocabulary: &Vocabulary) -> Result<Vectors, Refusal> {
    let named = Refusal::data("vectors");
    match extension(path) {
        Some("npy") => Vectors::read_array(path, vocabulary).map_err(named),
        Some("safetensors") => {
            let given = GivenWeights::read(path)?;
            let (shape, values) = given.matrix()?;
            Vectors::of_rows(path, vocabulary, shape, values.to_vec()).map_err(named)
        }
        _ => Vectors::read(path).map_err(named),
    }
}

/// The words of a file of vectors, where they are the vocabulary.
pub(super) fn vector_words(path: &Path) -> Result<Vocabulary, Refusal> {
    if let Some(extension) = extension(path).filter(|known| ["npy", "safetensors"].contains(known)) {
        let remedy = format!("a {extension} file has no words: give their ⟦vocabulary⟧, a line for each row");
        return Err(Refusal::conflict("vectors", path.display(), remedy));
    }
    let found = Vectors::read(path).map_err(Refusal::data("vectors"))?;
    Vocabulary::of_words(found.words(), &path.display().to_string()).map_err(Refusal::data("vectors"))
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

fn init_summary(file: &Path, start: WarmStart) -> InitSummary {
    let WarmStart { taken, random, unused } = start;
    InitSummary { file: file.to_owned(), taken, random, unused }
}

/// What trains on public data.
pub(super) struct Teacher<'a> {
    pub(super) lesson: Option<&'a Loaded>,
    pub(super) computing: &'a Computing,
    pub(super) description: &'a Description,
    pub(super) recipe: Recipe,
    pub(super) epochs: f64,
}

impl Teacher<'_> {
    /// Trains all weights without protection, frozen ones included, from these.
    fn teach(
        &self,
        lesson: &Loaded,
        layout: &Layout,
        mut weights: Vec<f32>,
        watch: &dyn Watch,
    ) -> Result<Vec<f32>, Refusal> {
        let engine = self.computing.engine(&unfrozen(self.description))?;
        let own = engine.layout().clone();
        let examples = Arc::new(lesson.examples.clone());
        let count = examples.len() as u64;
        let size = usual_batch(count);
        // At most 10⁴ epochs of 2⁵⁰ examples.
        let steps = (self.epochs * count as f64 / size as f64).ceil().max(1.0) as u64;
        let baseline = Baseline::new(Batching::Shuffled { size: size as usize }, steps);
        let units = Units::examples(examples.len());
        let mut trainer = Trainer::non_private(engine, examples, units, baseline, self.recipe)?;
        let mut start = trainer.weights()?;
        copy_named((layout, &weights), (&own, &mut start));
        trainer.start_from(&start)?;
        let bar = watch.begin(Work::Steps(steps));
        bar.say("public data");
        while !trainer.is_finished() {
            bar.at(trainer.step()?.taken);
        }
        copy_named((&own, &trainer.final_weights()?), (layout, &mut weights));
        Ok(weights)
    }
}

/// The same network with all weights trained and without low-rank updates.
fn unfrozen(description: &Description) -> Description {
    fn layers(all: &[Layer]) -> Vec<Layer> {
        let own = |layer: &Layer| {
            let kind = match &layer.kind {
                LayerKind::Residual { layer } => LayerKind::Residual { layer: layers(layer) },
                kind => kind.clone(),
            };
            Layer { frozen: false, lora: None, kind, name: layer.name.clone() }
        };
        all.iter().map(own).collect()
    }
    Description { freeze: Vec::new(), layers: layers(&description.layers), ..description.clone() }
}

/// Copies the weights of parameters that both have.
fn copy_named((from, weights): (&Layout, &[f32]), (to, into): (&Layout, &mut [f32])) {
    for (place, parameter) in to.parameters().iter().enumerate() {
        let known = from.parameters().iter().position(|own| own.name == parameter.name);
        if let Some(own) = known.filter(|own| from.parameters()[*own].shape == parameter.shape) {
            into[to.weight_range(place)].copy_from_slice(&weights[from.weight_range(own)]);
        }
    }
}
