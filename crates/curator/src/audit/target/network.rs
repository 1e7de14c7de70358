//! A stored network as the target of an audit.

use crate::audit::{Case, Chosen, Wanted};
use crate::folder::network::{RUN_FILE, Stored};
use crate::folder::{Content, Fingerprint, is_same, read_certificate};
use crate::refusal::Refusal;
use crate::train::{Reader, Source, Train, agree, find, settle, size};
use crate::watch::Watch;
use reticent_attack::{NetworkLearner, NetworkTraining, Population, network_outputs};
use reticent_audit::Draw;
use reticent_core::{Certificate, Code};
use reticent_data::schema::Unit;
use reticent_noise::Entropy;
use reticent_train::{Effort, Examples, Model};
use std::path::Path;
use std::sync::Arc;

/// How a stored network was trained, and on what.
struct Trained {
    stored: Stored,
    run: Train,
    examples: Examples,
    training: NetworkTraining,
    official: Option<Source>,
    certificate: Option<Certificate>,
}

/// Reads a folder, and the data it names.
fn read(folder: &Path, watch: &dyn Watch) -> Result<Trained, Refusal> {
    let stored = Stored::read(folder)?;
    let mut run = Train::read(&folder.join(RUN_FILE))?;
    let settings = settle(&mut run)?;
    if let Some(Unit::Column(column)) = stored.reader.schema.as_ref().map(|schema| schema.unit()) {
        let text = format!(
            "{}: the unit is all rows of one {column}, and references here leave out single rows: audit it from a score \
             table with a column user (reticent audit --scores)",
            folder.display()
        );
        return Err(Refusal::new(Code::Premise, text));
    }
    let found = find(run.data.as_deref(), run.data_dir.as_deref())?;
    let examples = stored.reader.read(&found.source, true, watch)?.examples;
    stored.network.check(&examples)?;
    Fingerprint::check(folder, &found.source.name(), Content::Examples(&examples, None), None)?;
    let dimension = stored.network.layout().gradients();
    // The size was counted before the first step, and is taken over: nothing is drawn here.
    let size = size(&mut run, &settings, &stored.reader, examples.len(), &mut Entropy::new()?)?;
    let agreement = agree(&mut run, &settings, &stored.reader, size, dimension)?;
    let training = NetworkTraining {
        description: stored.network.description().clone(),
        terms: agreement.terms,
        recipe: settings.recipe,
    };
    let certificate = read_certificate(folder)?;
    Ok(Trained { stored, run, examples, training, official: found.official, certificate })
}

/// The network of a folder with its members and non-members.
pub(crate) fn target(folder: &Path, wanted: &Wanted<'_>) -> Result<Case, Refusal> {
    let trained = read(folder, wanted.watch)?;
    let (source, flag) = match (wanted.others, &trained.run.validation, &trained.official) {
        (Some(data), _, _) => (source_of(data, &trained.run)?, "--non-members"),
        (None, Some(data), _) => (source_of(data, &trained.run)?, "validation"),
        (None, None, Some(official)) => (official.clone(), "test part"),
        (None, None, None) => {
            return Err(Refusal::missing(
                "non_members",
                "give data of the same kind that the model was not trained on: attacks compare members with them",
            ));
        }
    };
    let name = format!("{} ({flag})", source.name());
    let reader: &Reader = &trained.stored.reader;
    let rest = reader.read(&source, true, wanted.watch)?.examples;
    trained.stored.network.check(&rest)?;
    if is_same(Content::Examples(&trained.examples, None), Content::Examples(&rest, None))? {
        return Err(super::same_data(&name));
    }
    let members = trained.examples.len();
    let draw = wanted.declared.unwrap_or(Draw::Undeclared);
    let chosen = Chosen::of((members, rest.len()), draw, wanted.most, wanted.key, |_| true)?;
    let all = Arc::new(trained.examples.followed_by(&rest)?);
    let audited = all.subset(&chosen.audited);
    let mut population = Population::of_examples(&audited)?;
    population.ids = chosen.ids(wanted.key);
    let classes = &reader.classes;
    population.groups = vec![(
        "class".to_owned(),
        population
            .labels
            .iter()
            .map(|label| classes.get(*label as usize).cloned().unwrap_or_default())
            .collect(),
    )];
    let effort = Effort::default();
    let outputs = network_outputs(&trained.training.description, &trained.stored.weights, &audited, effort)?;
    let learner = Box::new(NetworkLearner::new(all, trained.training)?);
    Ok(Case {
        learner,
        chosen,
        population,
        outputs,
        certificate: trained.certificate,
        draw,
        others: name,
        left_out: 0,
    })
}

fn source_of(data: &Path, run: &Train) -> Result<Source, Refusal> {
    let given = find(Some(data), run.data_dir.as_deref())?;
    let images = given.official.filter(|part| matches!(part, Source::Images(..)));
    Ok(images.unwrap_or(given.source))
}

/// What a folder's network was trained on, how many classes it has, and how it was trained.
///
/// # Errors
/// [`Refusal`] when the folder or the data it names cannot be read.
pub fn canary_training(
    folder: &Path,
    watch: &dyn Watch,
) -> Result<(Examples, u32, NetworkTraining), Refusal> {
    let trained = read(folder, watch)?;
    let classes = trained.stored.reader.classes.len() as u32;
    Ok((trained.examples, classes, trained.training))
}
