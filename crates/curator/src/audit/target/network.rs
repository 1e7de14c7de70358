//! A stored network as the target of an audit.

use super::repeats::Repeats;
use crate::audit::case::{Case, Chosen, RecordChoice};
use crate::folder::layout::RUN_FILE;
use crate::folder::{Content, Fingerprint};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::stored::read_certificate;
use crate::train::{
    Computing, DataSources, Reader, Settings, Source, Stored, Train, agree, find, settle, size,
};
use crate::watch::Watch;
use reticent_attack::{NetworkLearner, NetworkTraining, Population, network_outputs};
use reticent_audit::Draw;
use reticent_core::{Certificate, Code};
use reticent_data::schema::PrivacyUnit;
use reticent_train::Examples;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stored network and the run that made it.
pub(super) struct NetworkTarget {
    folder: PathBuf,
    stored: Stored,
    run: Train,
    settings: Settings,
    found: DataSources,
    certificate: Option<Certificate>,
    computing: Computing,
}

/// A network with the examples and the terms of its training.
pub(super) struct Trained {
    stored: Stored,
    pub(super) examples: Examples,
    pub(super) training: NetworkTraining,
    certificate: Option<Certificate>,
    computing: Computing,
}

impl NetworkTarget {
    /// Reads a folder and finds the data that its run names.
    pub(super) fn open(folder: &Path, computing: Computing) -> Result<Self, Refusal> {
        let stored = Stored::read(folder, &computing)?;
        let mut run = Train::read(&folder.join(RUN_FILE))?;
        let settings = settle(&mut run)?;
        if let Some(PrivacyUnit::Column(column)) = stored.reader.schema.as_ref().map(|schema| schema.unit()) {
            let text = format!(
                "{}: the unit is all rows of one {column}, and references here leave out single rows: audit it from a score \
                 table with a column user (⟦scores⟧)",
                folder.display()
            );
            return Err(Refusal::new(Code::Premise, text));
        }
        let found = find(run.data.as_deref(), run.data_dir.as_deref(), &run.reading)?;
        let certificate = read_certificate(folder)?;
        Ok(Self { folder: folder.to_owned(), stored, run, settings, found, certificate, computing })
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> u32 {
        self.stored.reader.classes.len() as u32
    }

    /// Reads the examples.
    pub(super) fn examples(&self, watch: &dyn Watch) -> Result<Examples, Refusal> {
        let examples = self.stored.reader.read(&self.found.source, true, watch)?.examples;
        self.stored.network.check(&examples)?;
        let content = Content::Examples(&examples, None);
        Fingerprint::check(&self.folder, &self.found.source.name(), content, None)?;
        Ok(examples)
    }

    /// Settles the terms as the run did.
    pub(super) fn trained(self, examples: Examples) -> Result<Trained, Refusal> {
        let Self { stored, mut run, settings, certificate, computing, .. } = self;
        let dimension = stored.network.layout().gradients();
        // The size was counted before the first step, and is taken over: nothing is drawn here.
        let size = size(&mut run, &settings, &stored.reader, examples.len(), None)?;
        let agreement = agree(&mut run, &settings, &stored.reader, size, dimension)?;
        let training = NetworkTraining {
            description: stored.description.clone(),
            terms: agreement.terms,
            recipe: settings.recipe,
        };
        Ok(Trained { stored, examples, training, certificate, computing })
    }
}

/// A stored network beside data that it was not trained on.
pub(in crate::audit) struct Compared {
    target: NetworkTarget,
    source: Source,
    /// How the data came to be named.
    flag: &'static str,
}

impl Compared {
    /// Reads a folder, and finds the data that its run and the request name.
    pub(super) fn open(folder: &Path, others: Option<&Path>, computing: Computing) -> Result<Self, Refusal> {
        let target = NetworkTarget::open(folder, computing)?;
        let (source, flag) = match (others, &target.run.validation, &target.found.official) {
            (Some(data), _, _) => (source_of(data, &target.run)?, "⟦non_members⟧"),
            (None, Some(data), _) => (source_of(data, &target.run)?, "validation"),
            (None, None, Some(official)) => (official.clone(), "test part"),
            (None, None, None) => {
                return Err(Refusal::missing(
                    "non_members",
                    "give data of the same kind that the model was not trained on: attacks compare members with them",
                ));
            }
        };
        Ok(Self { target, source, flag })
    }

    /// Reads both, and chooses whom to audit.
    pub(super) fn case(self, choice: &RecordChoice, session: &mut Session) -> Result<Case, Refusal> {
        let Self { target, source, flag } = self;
        let name = format!("{} ({flag})", source.name());
        let examples = target.examples(session.watch())?;
        let trained = target.trained(examples)?;
        let reader: &Reader = &trained.stored.reader;
        let rest = reader.read(&source, true, session.watch())?.examples;
        trained.stored.network.check(&rest)?;
        let members = Content::Examples(&trained.examples, None);
        // Of equal examples it is not known which is a member: none of them is audited.
        let repeats = Repeats::of(members, Content::Examples(&rest, None))?;
        if repeats.holds_training_data {
            return Err(super::same_data(&source.name()));
        }
        let members = trained.examples.len();
        let draw = choice.declared.unwrap_or(Draw::Undeclared);
        let chosen = Chosen::of((members, rest.len()), draw, choice.most, &choice.key, |place| {
            !repeats.is_repeated[place]
        })?;
        let all = Arc::new(trained.examples.followed_by(&rest)?);
        let audited = all.subset(&chosen.audited);
        let mut population = Population::of_examples(&audited)?;
        population.ids = chosen.ids(&choice.key);
        let classes = &reader.classes;
        population.groups = vec![(
            "class".to_owned(),
            population
                .labels
                .iter()
                .map(|label| classes.get(*label as usize).cloned().unwrap_or_default())
                .collect(),
        )];
        let Computing { device, resources } = trained.computing;
        let (description, weights) = (&trained.training.description, &trained.stored.weights);
        let outputs = network_outputs(description, weights, &audited, device, resources)?;
        let learner = NetworkLearner::new(all, trained.training)?.computed_on(device, resources.chunk);
        let learner = Box::new(learner);
        Ok(Case {
            learner,
            chosen,
            population,
            outputs,
            certificate: trained.certificate,
            draw,
            others: name,
            left_out: repeats.count(),
        })
    }
}

fn source_of(data: &Path, run: &Train) -> Result<Source, Refusal> {
    let given = find(Some(data), run.data_dir.as_deref(), &run.reading.of_one_file())?;
    let images = given.official.filter(|part| matches!(part, Source::Images(..)));
    Ok(images.unwrap_or(given.source))
}
