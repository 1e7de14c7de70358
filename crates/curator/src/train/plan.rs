//! A request to a checked plan. Files are opened; no example is read.

use super::federated::sources;
use super::reader::Reader;
use super::request::Train;
use super::resume::Resume;
use super::settings::{Settings, settle};
use super::source::{DataSources, GivenData, Source, TrainData, find};
use crate::folder::layout::{ModelKind, check_new};
use crate::refusal::Refusal;
use reticent_core::{Code, Neighboring};
use reticent_data::schema::PrivacyUnit;

/// A training with everything checked but its data.
#[derive(Debug, Clone)]
pub struct TrainPlan {
    /// What was asked for, with defaults filled in.
    pub(super) run: Train,
    /// For a run that goes on.
    pub(super) resume: Option<Resume>,
    pub(super) settings: Settings,
    pub(super) source: Source,
    pub(super) validation: Option<Source>,
    pub(super) reader: Reader,
    /// The parties that have data of their own.
    pub(super) parties: Vec<Source>,
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
    let settings = settle(&mut run)?;
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
    let is_by_user = reader.schema.as_ref().is_some_and(|schema| *schema.unit() != PrivacyUnit::Row);
    if is_by_user && settings.neighboring == Neighboring::ReplaceOne {
        let remedy = "the schema's unit is a column, which needs add-remove: give ⟦neighboring⟧ add-remove";
        return Err(Refusal::value("neighboring", "replace-one", remedy).coded(Code::Relation));
    }
    if let (Some(most), false) = (run.examples_per_user, is_by_user || reader.is_language()) {
        let remedy = "needs a schema whose unit is a column, such as unit = { column = \"user\" }";
        return Err(Refusal::conflict("examples_per_user", most, remedy));
    }
    let validation = match (public, &run.validation) {
        (Some(public), _) => public.map(Source::from),
        (None, Some(data)) => {
            let given = find(Some(data), run.data_dir.as_deref(), &run.reading.of_one_file())?;
            Some(given.official.filter(|part| matches!(part, Source::Images(..))).unwrap_or(given.source))
        }
        (None, None) => official,
    };
    if let Some(same) = validation.as_ref().filter(|given| {
        run.is_private() && (given.is_same(&source) || parties.iter().any(|party| given.is_same(party)))
    }) {
        return Err(same_data(same));
    }
    Ok(TrainPlan { run, resume, settings, source, validation, reader, parties })
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
