//! A request to a checked plan. Files are opened; no example is read.

use super::evaluations;
use super::federated::sources;
use super::held_out;
use super::reader::{Input, Reader};
use super::recipe;
use super::reference;
use super::request::Train;
use super::resume::Resume;
use super::settings::{Settings, settle};
use super::source::{DataSources, GivenData, Source, TrainData, find};
use super::start::Start;
use crate::folder::layout::{CHECKPOINT_FILE, ModelKind, check_new};
use crate::refusal::Refusal;
use reticent_core::{Code, Neighboring};
use reticent_data::schema::PrivacyUnit;

/// A training with everything checked but its data.
#[derive(Debug, Clone)]
pub struct TrainPlan {
    /// What was asked for, with defaults filled in.
    pub(crate) run: Train,
    /// For a run that goes on.
    pub(crate) resume: Option<Resume>,
    pub(crate) settings: Settings,
    pub(crate) source: Source,
    pub(crate) validation: Option<Source>,
    pub(crate) reader: Reader,
    /// The parties that have data of their own.
    pub(crate) parties: Vec<Source>,
    /// Reference records of their own, for an adversarial training.
    pub(crate) references: Option<Source>,
    /// What the weights start from.
    pub(crate) start: Start,
}

pub(super) fn plan(
    mut run: Train,
    resume: Option<Resume>,
    given: Option<TrainData>,
) -> Result<TrainPlan, Refusal> {
    // The request is stored with the model, and names where its data came from.
    if let Some(given) = &given {
        run.data = Some(given.train.origin());
        run.validation = given.validation.as_ref().map(GivenData::origin);
    }
    if resume.is_none() {
        recipe::fill(&mut run)?;
    }
    let mut settings = settle(&mut run)?;
    if let (Some(folder), None) = (&run.out, &resume) {
        check_new(folder, ModelKind::Network)?;
    }
    let (found, public) = match given {
        Some(TrainData { train, validation }) => {
            (DataSources { source: train.into(), official: None, schema: None }, Some(validation))
        }
        None => (found(&run)?, None),
    };
    let parties = sources(&mut run)?;
    let DataSources { source, official, schema } = found;
    let reader = Reader::of(&run, &source, schema)?;
    if let (Some(kind), false) = (run.augment, matches!(reader.input, Input::Images { .. })) {
        return Err(Refusal::conflict("augment", kind.word(), "only for images: leave it out"));
    }
    let is_by_user = reader.schema.as_ref().is_some_and(|schema| *schema.unit() != PrivacyUnit::Row);
    if is_by_user && settings.neighboring == Neighboring::ReplaceOne {
        let remedy = "the schema's unit is a column, which needs add-remove: give ⟦neighboring⟧ add-remove";
        return Err(Refusal::value("neighboring", "replace-one", remedy).coded(Code::Relation));
    }
    if let (Some(most), false) = (run.examples_per_user, is_by_user || reader.is_language()) {
        let remedy = "needs a schema whose unit is a column, such as unit = { column = \"user\" }";
        return Err(Refusal::conflict("examples_per_user", most, remedy));
    }
    held_out::check(&run, &reader)?;
    let validation = match (public, &run.validation) {
        (Some(public), _) => public.map(Source::from),
        (None, Some(data)) => {
            let given = find(Some(data), run.data_dir.as_deref(), &run.reading.of_one_file())?;
            Some(given.official.filter(|part| matches!(part, Source::Images(..))).unwrap_or(given.source))
        }
        (None, None) => official,
    };
    settings.evaluations = evaluations::planned(&run, validation.is_some())?;
    if let (Some(patience), None, None) = (run.patience, &validation, run.held_out) {
        let remedy = "a training ends early by a score: give ⟦held_out⟧ for noisy ones, ⟦validation⟧ with PUBLIC data, or leave it out";
        return Err(Refusal::conflict("patience", patience, remedy));
    }
    if let Some(same) = validation.as_ref().filter(|given| {
        run.is_private() && (given.is_same(&source) || parties.iter().any(|party| given.is_same(party)))
    }) {
        return Err(same_data(same));
    }
    if settings.adversarial.is_some() && reader.classes.is_empty() {
        let remedy = "adversarial training is for classifiers, and this network predicts numbers or tokens: leave it out";
        return Err(Refusal::conflict("adversarial", run.adversarial.unwrap_or_default(), remedy));
    }
    let references = reference::source(&run)?;
    if let Some(same) = references.as_ref().filter(|given| given.is_same(&source)) {
        let remedy = "these are the training records: give records that the model is not trained on";
        return Err(Refusal::conflict("reference_data", same.name(), remedy));
    }
    let is_stored = resume.as_ref().is_some_and(|resume| resume.folder.join(CHECKPOINT_FILE).is_file());
    let start = Start::read(&mut run, &source, &reader, (resume.is_none(), is_stored))?;
    Ok(TrainPlan { run, resume, settings, source, validation, reader, parties, references, start })
}

/// The data of a run; those of the first party where the parties have data of their own.
pub(crate) fn found(run: &Train) -> Result<DataSources, Refusal> {
    let first = run.federated.as_ref().and_then(|federated| federated.parties.first());
    match first {
        Some(party) => find(Some(&party.data), run.data_dir.as_deref(), &run.reading.of_one_file()),
        None => find(run.data.as_deref(), run.data_dir.as_deref(), &run.reading),
    }
}

/// The refusal of private data as public ones.
pub(super) fn same_data(source: &Source) -> Refusal {
    let remedy = "these are the private training data, and a score on them is not covered by the guarantee: give public data";
    Refusal::conflict("validation", source.name(), remedy)
}

/// Refuses a request that names data which are given beside it.
pub(super) fn check_given(run: &Train) -> Result<(), Refusal> {
    let named = [("data", &run.data), ("data_dir", &run.data_dir), ("validation", &run.validation)];
    match named.into_iter().find_map(|(field, path)| Some((field, path.as_ref()?))) {
        None => Ok(()),
        Some((field, path)) => {
            Err(Refusal::conflict(field, path.display(), "leave it out: it is given beside the request"))
        }
    }
}
