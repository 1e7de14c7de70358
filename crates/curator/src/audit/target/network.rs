//! A stored network as the target of an audit.

use super::repeats::Repeats;
use crate::audit::case::{Case, Chosen, RecordChoice};
use crate::folder::layout::RUN_FILE;
use crate::folder::{Content, Divided, Fingerprint};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::stored::read_certificate;
use crate::train::{
    Computing, DataSources, Holders, Loaded, Reader, Settings, Source, Stored, Train, agree, divide,
    federated_terms, find, found, hold_out, read_parties, reference_source, settle, size, sources,
};
use crate::watch::Watch;
use reticent_attack::federated::FederatedSetup;
use reticent_attack::{NetworkLearner, NetworkTraining, Population};
use reticent_audit::Draw;
use reticent_core::{Certificate, Code};
use reticent_data::encode::Feature;
use reticent_train::{Baseline, Batching, Examples, TrainingTerms};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stored network and the run that made it.
pub(super) struct NetworkTarget {
    pub(super) folder: PathBuf,
    pub(super) stored: Stored,
    pub(super) run: Train,
    settings: Settings,
    pub(super) found: DataSources,
    /// The parties of a federated run that have data of their own.
    parties: Vec<Source>,
    pub(super) certificate: Option<Certificate>,
    computing: Computing,
}

/// A network with the examples and the terms of its training.
pub(super) struct Trained {
    stored: Stored,
    pub(super) examples: Examples,
    pub(super) training: NetworkTraining,
    /// The reference records of an adversarial training.
    pub(super) references: Option<Arc<Examples>>,
    pub(super) certificate: Option<Certificate>,
    pub(super) computing: Computing,
}

impl NetworkTarget {
    /// Reads a folder and finds the data that its run names; for attacks on single rows of a classifier.
    pub(super) fn open(folder: &Path, computing: Computing) -> Result<Self, Refusal> {
        let target = Self::open_any(folder, computing)?;
        if target.stored.reader.is_language() {
            let text = format!(
                "{}: a language model has no classes: audit it by author ('reticent audit', with a schema whose unit is a column), or plant \
                 secrets ('reticent attack exposure')",
                folder.display()
            );
            return Err(Refusal::new(Code::Premise, text));
        }
        if let Some(column) = target.unit_column() {
            let text = format!(
                "{}: the unit is all rows of one {column}, and this attack is on single rows: use 'reticent audit', which is by {column}",
                folder.display()
            );
            return Err(Refusal::new(Code::Premise, text));
        }
        Ok(target)
    }

    /// The same, whatever the unit of the run is and whatever it predicts.
    pub(super) fn open_any(folder: &Path, computing: Computing) -> Result<Self, Refusal> {
        let stored = Stored::read(folder, &computing)?;
        let mut run = Train::read(&folder.join(RUN_FILE))?;
        // Records are attacked one by one: models like the target are trained on the images, without copies of them.
        run.augment = None;
        let settings = settle(&mut run)?;
        let found = found(&run)?;
        let parties = sources(&mut run)?;
        let certificate = read_certificate(folder)?;
        Ok(Self { folder: folder.to_owned(), stored, run, settings, found, parties, certificate, computing })
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> u32 {
        self.stored.reader.classes.len() as u32
    }

    /// Reads the examples, and the reference records of an adversarial training.
    pub(super) fn examples(&self, watch: &dyn Watch) -> Result<(Examples, Option<Examples>), Refusal> {
        let (examples, references, _) = self.read(watch)?;
        Ok((examples, references))
    }

    /// Reads the examples, and who holds which.
    pub(super) fn held(&self, watch: &dyn Watch) -> Result<(Examples, Option<Holders>), Refusal> {
        let (examples, _, holders) = self.read(watch)?;
        Ok((examples, holders))
    }

    fn read(&self, watch: &dyn Watch) -> Result<(Examples, Option<Examples>, Option<Holders>), Refusal> {
        let Self { stored, run, found, parties, .. } = self;
        let (loaded, holders) = read_parties(run, &stored.reader, &found.source, parties, true, watch)?;
        let (loaded, held) = hold_out(run, loaded)?;
        let own = reference_source(run)?;
        let (loaded, references) = divide(run, &stored.reader, own.as_ref(), loaded, watch)?;
        let held_out = held.as_ref().map(|held| Content::Examples(&held.examples, None));
        let data = Divided { training: Content::Examples(&loaded.examples, None), held_out };
        Fingerprint::check(&self.folder, &self.found.source.name(), data)?;
        let examples = stored.prepared(loaded.examples, &found.source, watch)?;
        let references = references
            .map(|records| stored.prepared(records, own.as_ref().unwrap_or(&found.source), watch))
            .transpose()?;
        Ok((examples, references, holders))
    }

    /// Reads the examples with their units.
    pub(super) fn loaded(&self, watch: &dyn Watch) -> Result<Loaded, Refusal> {
        let (mut loaded, held) =
            hold_out(&self.run, self.stored.reader.read(&self.found.source, true, watch)?)?;
        loaded.examples = self.stored.prepared(loaded.examples, &self.found.source, watch)?;
        let data = Divided { training: loaded.content(), held_out: held.as_ref().map(Loaded::content) };
        Fingerprint::check(&self.folder, &self.found.source.name(), data)?;
        Ok(loaded)
    }

    /// The federation that the run was, to be trained again; none where one party trained alone.
    pub(super) fn setup(
        &self,
        examples: &Examples,
        holders: &Holders,
        key: &str,
    ) -> Result<Option<FederatedSetup>, Refusal> {
        let Some(federated) = &self.run.federated else { return Ok(None) };
        let (mut run, Computing { device, resources }) = (self.run.clone(), self.computing);
        let dimension = self.stored.network.layout().gradients();
        let size = size(&mut run, &self.settings, &self.stored.reader, examples.len(), None)?;
        let agreement = agree(&mut run, &self.settings, &self.stored.reader, size, dimension)?;
        Ok(Some(FederatedSetup {
            description: self.stored.description.after_features()?,
            parties: holders.divided(examples),
            terms: federated_terms(&agreement.terms, federated, self.settings.local),
            recipe: self.settings.recipe,
            device,
            resources,
            key: key.to_owned(),
        }))
    }

    /// Whether the run protects parties, or nobody, by averages of their models.
    pub(super) fn is_averaged(&self) -> bool {
        self.settings.local.is_some()
    }

    /// Settles the terms as the run did, for so many units.
    pub(super) fn trained(
        self,
        (examples, references): (Examples, Option<Examples>),
        units: usize,
    ) -> Result<Trained, Refusal> {
        let Self { stored, mut run, settings, certificate, computing, .. } = self;
        let dimension = stored.network.layout().gradients();
        // The size was counted before the first step, and is taken over: nothing is drawn here.
        let size = size(&mut run, &settings, &stored.reader, units, None)?;
        let agreement = agree(&mut run, &settings, &stored.reader, size, dimension)?;
        let mut training = NetworkTraining {
            description: stored.description.after_features()?,
            terms: agreement.terms,
            recipe: settings.recipe,
        };
        // One party with all records, for as many passes over them: what an outsider would train.
        if let (Some(local), Some(federated)) = (settings.local, &run.federated) {
            let passes = federated.participation.unwrap_or(1.0) * (federated.rounds * local.epochs) as f64;
            let steps = (passes * examples.len() as f64 / local.batch as f64).ceil().max(1.0) as u64;
            let batches = Batching::Shuffled { size: local.batch };
            training.terms = TrainingTerms::NonPrivate(Baseline::new(batches, steps));
            training.recipe = local.recipe;
        }
        let references = references.map(Arc::new);
        Ok(Trained { stored, examples, training, references, certificate, computing })
    }
}

/// A network with its weights, the examples that it was trained on, and others.
pub(in crate::audit) struct TrainedExamples {
    pub(in crate::audit) examples: Examples,
    pub(in crate::audit) others: Option<Examples>,
    pub(in crate::audit) training: NetworkTraining,
    pub(in crate::audit) weights: Vec<f32>,
    /// What every number of an example says; nothing for images and texts.
    pub(in crate::audit) features: Vec<Feature>,
    pub(in crate::audit) certificate: Option<Certificate>,
}

impl NetworkTarget {
    /// Reads the examples and, where they are known, others.
    pub(super) fn with_examples(
        self,
        others: Option<&Path>,
        watch: &dyn Watch,
    ) -> Result<TrainedExamples, Refusal> {
        let source = match others.or(self.run.validation.as_deref()) {
            Some(data) => Some(source_of(data, &self.run)?),
            None => self.found.official.clone(),
        };
        let read = |source: &Source| -> Result<Examples, Refusal> {
            self.stored.prepared(self.stored.reader.read(source, true, watch)?.examples, source, watch)
        };
        let others = source.as_ref().map(read).transpose()?;
        let examples = self.examples(watch)?;
        let units = examples.0.len();
        let Trained { stored, examples, training, certificate, .. } = self.trained(examples, units)?;
        let features = stored.reader.features()?;
        Ok(TrainedExamples { examples, others, training, weights: stored.weights, features, certificate })
    }
}

/// A stored network beside data that it was not trained on.
pub(in crate::audit) struct Compared {
    pub(super) target: NetworkTarget,
    pub(super) source: Source,
    /// How the data came to be named.
    pub(super) flag: &'static str,
}

impl Compared {
    /// Reads a folder, and finds the data that its run and the request name.
    pub(super) fn open(folder: &Path, others: Option<&Path>, computing: Computing) -> Result<Self, Refusal> {
        let target = NetworkTarget::open_any(folder, computing)?;
        if target.stored.reader.is_language() && target.unit_column().is_none() {
            let text = format!(
                "{}: a language model is audited by author: train it with a schema whose unit is a column, such as \
                 unit = {{ column = \"author\" }}",
                folder.display()
            );
            return Err(Refusal::new(Code::Premise, text));
        }
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
        if let Some(column) = self.target.unit_column().map(str::to_owned) {
            return self.authors(&column, choice, session);
        }
        let Self { target, source, flag } = self;
        let name = format!("{} ({flag})", source.name());
        let examples = target.examples(session.watch())?;
        let (references_are_central, units) = (target.is_averaged(), examples.0.len());
        let trained = target.trained(examples, units)?;
        let reader: &Reader = &trained.stored.reader;
        let rest = reader.read(&source, true, session.watch())?.examples;
        let rest = trained.stored.prepared(rest, &source, session.watch())?;
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
        let learner = |examples: Arc<Examples>| -> Result<NetworkLearner, Refusal> {
            let learner = NetworkLearner::new(examples, trained.training.clone())?;
            // Models like the target have its defence: each an inference network of its own, and the same reference records.
            let learner = match &trained.references {
                Some(references) => learner.against(references.clone()),
                None => learner,
            };
            Ok(learner.computed_on(device, resources.chunk))
        };
        let (asked, learner) = (learner(Arc::new(audited))?, Box::new(learner(all)?));
        let wanted = choice.wanted(&*learner)?;
        let mut target = asked.artifact(trained.stored.weights.clone(), &wanted)?;
        if wanted.gradients {
            let inside: Vec<usize> = (0..chosen.trained).collect();
            let found = learner.influence(&trained.stored.weights, &inside, &chosen.audited);
            target.signals = target.signals.and(super::informed(found)?);
        }
        Ok(Case {
            learner,
            chosen,
            population,
            target,
            wanted,
            certificate: trained.certificate,
            draw,
            others: name,
            left_out: repeats.count(),
            references_are_central,
            authors: None,
        })
    }
}

pub(super) fn source_of(data: &Path, run: &Train) -> Result<Source, Refusal> {
    let given = find(Some(data), run.data_dir.as_deref(), &run.reading.of_one_file())?;
    let images = given.official.filter(|part| matches!(part, Source::Images(..)));
    Ok(images.unwrap_or(given.source))
}
