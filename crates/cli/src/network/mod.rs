//! `reticent train`, `predict` and `evaluate` for networks.
//!
//! | file | step |
//! |---|---|
//! | `run` | flags and `run.toml` to one [`run::Run`] |
//! | `settings` | its numbers checked, before data are read |
//! | `source`, `reader` | where data are, and how they become examples |
//! | `describe` | the network |
//! | `terms` | size, steps and noise; the certificate around the trainer's |
//! | `training` | the steps |
//! | `folder` | the run's files |
//! | `predict`, `evaluate` | a stored network on other data |
//! | `target` | a stored network, what it was trained on and what not, for an audit |
//! | `render` | text and JSON |

mod describe;
mod evaluate;
mod folder;

mod predict;
mod reader;
mod render;
mod run;
mod settings;
mod source;
mod target;
mod terms;
mod training;

pub(crate) use evaluate::evaluate;
pub(crate) use folder::{is_network, last_accuracy, read_certificate};
pub(crate) use predict::predict;
pub(crate) use target::{canary_training, target};

use crate::Output;
use crate::args::learn::Train;
use crate::explain::Code;
use crate::fail::Fail;
use crate::file::CERTIFICATE_FILE;
use crate::interrupt;
use crate::learn::public_warnings;
use folder::RUN_FILE;
use reader::Reader;
use reticent::core::Neighboring;
use reticent::data::schema::Unit;
use reticent::noise::Entropy;
use reticent::train::{Effort, Model, Network, StopCause, Terms, TrainError, Trainer, Units};
use run::Run;
use source::Source;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use training::{Course, End};

/// Whether the arguments ask for a network rather than a linear model.
pub(crate) fn is_asked(arguments: &Train) -> Result<bool, Fail> {
    if let Some(model) = &arguments.model {
        describe::check(model)?;
        if describe::is_network(model) {
            return Ok(true);
        }
    }
    let flags = &arguments.network;
    let is_run = |file: &Path| file.extension().is_some_and(|extension| extension == "toml");
    let is_text = flags.vocabulary.is_some() || flags.text_column.is_some() || flags.length.is_some();
    if flags.resume.is_some()
        || flags.finish.is_some()
        || is_text
        || arguments.file.as_deref().is_some_and(is_run)
    {
        return Ok(true);
    }
    match &arguments.file {
        Some(file) if file.is_dir() => Ok(true),
        Some(file) => Ok(source::image_folder(file, arguments.data_dir.as_deref())?.is_some()),
        None => Ok(false),
    }
}

/// Refuses flags of networks that were given with a linear model.
pub(crate) fn refuse_flags(arguments: &Train) -> Result<(), Fail> {
    let flags = Run::of_flags(arguments)?;
    let common = Run {
        data: flags.data.clone(),
        data_dir: flags.data_dir.clone(),
        schema: flags.schema.clone(),
        model: flags.model.clone(),
        epsilon: flags.epsilon,
        delta: flags.delta,
        neighboring: flags.neighboring.clone(),
        size: flags.size,
        steps: flags.steps,
        learning_rate: flags.learning_rate,
        out: flags.out.clone(),
        ..Run::default()
    };
    if flags == common {
        return Ok(());
    }
    if flags.non_private.is_some() {
        return Err(Fail::new(
            Code::Conflict,
            "--non-private: goes with networks: give --method exact for a linear model without privacy",
        ));
    }
    let text = flags.to_toml()?;
    let own = common.to_toml()?;
    let key = text.lines().find(|line| !own.contains(line)).and_then(|line| line.split(' ').next());
    let flag = key.unwrap_or_default();
    let text =
        format!("--{flag}: goes with networks only: give --model mlp or another network, or leave it out");
    Err(Fail::new(Code::Conflict, text))
}

/// Refuses flags of linear models that were given with a network.
fn refuse_linear(arguments: &Train) -> Result<(), Fail> {
    let refuse = |flag: &str, remedy: &str| {
        Err(Fail::new(Code::Conflict, format!("{flag}: goes with linear models only: {remedy}")))
    };
    if arguments.method != "auto" {
        return refuse("--method", "leave it out, or give --non-private for a network without privacy");
    }
    for (flag, given, remedy) in [
        ("--regularization", arguments.regularization.is_some(), "give --weight-decay"),
        ("--no-intercept", arguments.no_intercept, "write a model.toml with bias = false"),
        ("--sampling-rate", arguments.sampling_rate.is_some(), "give --batch-size"),
        ("--test-share", arguments.test_share.is_some(), "give --validation with public data"),
        ("--test", arguments.test.is_some(), "give --validation with public data"),
    ] {
        if given {
            return refuse(flag, remedy);
        }
    }
    Ok(())
}

/// The run that the arguments ask for.
struct Asked {
    run: Run,
    /// Whether it is begun already.
    resumes: bool,
    /// The file that it was read from, with its text.
    file: Option<(PathBuf, String)>,
    /// The keys that flags gave, as the text of a file.
    flags: String,
}

impl Asked {
    fn of(arguments: &Train) -> Result<Self, Fail> {
        let mut flags = Run::of_flags(arguments)?;
        let given = flags.to_toml()?;
        let known = &arguments.network;
        let stored = known.resume.as_ref().map(|folder| ("--resume", folder));
        let stored = stored.or_else(|| known.finish.as_ref().map(|folder| ("--finish", folder)));
        let (file, resumes) = if let Some((flag, folder)) = stored {
            if let Some(out) = &arguments.out {
                let remedy = "leave it out: a resumed run stays where it is";
                return Err(Fail::conflict("--out", &out.display().to_string(), remedy));
            }
            let file = folder.join(RUN_FILE);
            if !file.is_file() {
                let remedy = "no run there: give the folder that 'reticent train --out' began";
                let folder = folder.display().to_string();
                return Err(Fail::flag(flag, &folder, remedy).coded(Code::NoModel));
            }
            flags.out = Some(folder.clone());
            (file, true)
        } else {
            let is_run = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "toml");
            let Some(file) = flags.data.take_if(|file| is_run(file)) else {
                return Ok(Self { run: flags, resumes: false, file: None, flags: given });
            };
            (file, false)
        };
        let text = run::text_of(&file)?;
        let run = flags.over(Run::parse(&text, &file)?)?;
        Ok(Self { run, resumes, file: Some((file, text)), flags: given })
    }
}

/// Trains a network.
pub(crate) fn train(arguments: &Train, progress: bool) -> Result<Output, Fail> {
    refuse_linear(arguments)?;
    let Asked { run, resumes, file, flags } = Asked::of(arguments)?;
    begin(arguments, run, resumes, progress).map_err(|failure| match &file {
        // A flag replaces what the file says, and is refused as a flag.
        Some((file, text)) if !failure.is_about_key(&flags) => {
            failure.in_file(&file.display().to_string(), text)
        }
        _ => failure,
    })
}

/// Why a run that is to be finished was stopped; none for one that goes on.
fn stop_cause(arguments: &Train) -> Result<Option<StopCause>, Fail> {
    let flags = &arguments.network;
    if flags.finish.is_none() {
        return match &flags.stopped_by {
            Some(given) => Err(Fail::conflict("--stopped-by", given, "goes with --finish: leave it out")),
            None => Ok(None),
        };
    }
    let Some(given) = flags.stopped_by.as_deref() else { return Ok(Some(StopCause::Choice)) };
    match StopCause::NAMES.iter().find(|(name, _)| *name == given) {
        Some((_, cause)) => Ok(Some(*cause)),
        None => Err(Fail::unknown("--stopped-by", given, "unknown: give time-limit, crash or choice")),
    }
}

/// Refuses a cause that the folder itself refutes: a run that ended has its cause, and one that stored its certificate did
/// not crash.
fn check_cause(given: &str, cause: Option<StopCause>, folder: &Path, is_finished: bool) -> Result<(), Fail> {
    if is_finished {
        let remedy = "the run has ended already, and its certificate stands: leave it out";
        return Err(Fail::conflict("--stopped-by", given, remedy));
    }
    if cause == Some(StopCause::Crash) && folder.join(CERTIFICATE_FILE).exists() {
        let remedy = "this run did not crash: it was stopped (Ctrl-C) and stored its certificate; give choice, or time-limit if \
                      a limit that was set before it began stopped it";
        return Err(Fail::conflict("--stopped-by", given, remedy));
    }
    Ok(())
}

fn begin(arguments: &Train, mut run: Run, resumes: bool, progress: bool) -> Result<Output, Fail> {
    let cause = stop_cause(arguments)?;
    let settings = settings::settle(&mut run)?;
    let folder = run.out.clone();
    match &folder {
        Some(folder) if !resumes => folder::check_new(folder)?,
        None if !arguments.json => {
            return Err(Fail::missing("--out", "say where the run is kept, e.g. --out runs/first"));
        }
        _ => {}
    }
    let found = source::find(run.data.as_deref(), run.data_dir.as_deref())?;
    let reader = Reader::of(&run, &found.source, found.schema)?;
    let is_by_user = reader.schema.as_ref().is_some_and(|schema| *schema.unit() != Unit::Row);
    if is_by_user && settings.neighboring == Neighboring::ReplaceOne {
        let remedy = "the schema's unit is a column: whose rows there are is hidden by add-remove only";
        return Err(Fail::flag("--neighboring", "replace-one", remedy).coded(Code::Relation));
    }
    if let (Some(most), false) = (run.examples_per_user, is_by_user) {
        let remedy = "goes with a schema whose unit is a column, such as unit = { column = \"user\" }";
        return Err(Fail::conflict("--examples-per-user", &most.to_string(), remedy));
    }
    let validation = match &run.validation {
        Some(data) => {
            let given = source::find(Some(data), run.data_dir.as_deref())?;
            Some(given.official.filter(|part| matches!(part, Source::Images(..))).unwrap_or(given.source))
        }
        None => found.official,
    };
    if let Some(source) =
        validation.as_ref().filter(|source| run.is_private() && source.is_same(&found.source))
    {
        let remedy =
            "these are the private data themselves, and a score on them is not covered: give public data";
        return Err(Fail::flag("--validation", &source.name(), remedy).coded(Code::Conflict));
    }
    let quiet = !progress || arguments.json;
    let loaded = reader.read(&found.source, true, !quiet)?;
    let public = validation.as_ref().map(|source| reader.read(source, true, !quiet)).transpose()?;
    let units = match &loaded.users {
        Some(users) => Units::users(users, run.examples_per_user.map(|most| most as usize))?,
        None => Units::examples(loaded.examples.len()),
    };
    let description = describe::describe(&mut run, &reader, loaded.examples.shape())?;
    let usual = Effort::default();
    let threads = run.threads.map_or(usual.threads, |threads| usize::try_from(threads).unwrap_or(usize::MAX));
    let network = Network::new(description.clone(), Effort { threads, ..usual })?;
    if let (Some(public), Some(source)) = (&public, &validation) {
        if public.examples.is_empty() {
            return Err(Fail::new(
                Code::NoRows,
                format!("{}: no examples to validate on: give data", source.name()),
            ));
        }
        let named = |error: TrainError| Fail::from(error).within(&source.name());
        network.check(&public.examples).map_err(named)?;
    }
    let named = |error: TrainError| match error {
        TrainError::Example { .. } | TrainError::Shape(_) => Fail::from(error).within(&found.source.name()),
        other => other.into(),
    };
    network.check(&loaded.examples).map_err(named)?;
    let dimension = network.layout().gradients();
    let mut entropy = Entropy::new()?;
    let agreement = terms::agree(&mut run, &settings, &reader, units.len(), dimension, &mut entropy)?;
    let (model, examples) = (Box::new(network), Arc::new(loaded.examples));
    let mut trainer = match &agreement.terms {
        Terms::Private(plan) => {
            let permit = plan.charge(&mut entropy)?;
            Trainer::private(model, examples, units, plan.clone(), settings.recipe, permit)
        }
        Terms::NonPrivate(baseline) => {
            Trainer::non_private(model, examples, units, *baseline, settings.recipe)
        }
    }
    .map_err(named)?;
    match &folder {
        Some(folder) if resumes => {
            trainer.resume_from(folder)?;
            if let Some(given) = &arguments.network.stopped_by {
                check_cause(given, cause, folder, trainer.is_finished())?;
            }
            folder::drop_certificate(folder)?;
            if let Some(cause) = cause.filter(|_| !trainer.is_finished()) {
                trainer.stop(cause)?;
            }
        }
        Some(folder) => {
            folder::begin(folder, &run, &reader, &description)?;
            trainer.begin_in(folder)?;
        }
        None => {}
    }
    interrupt::listen();
    let mut course = Course {
        trainer: &mut trainer,
        agreement: &agreement,
        reader: &reader,
        validation: public.as_ref().map(|public| &public.examples),
        folder: folder.as_deref(),
        every: settings.every,
    };
    let end = course.run(!quiet)?;
    // Who pressed Ctrl-C may have looked at what the run showed.
    let certificate = match &end {
        End::Finished(_) => course.certificate()?,
        End::Interrupted => course.certificate_if_stopped(StopCause::Choice)?,
    };
    if let Some(folder) = &folder {
        folder::write_certificate(folder, certificate.as_ref())?;
    }
    let progress = trainer.progress();
    let End::Finished(metrics) = end else {
        return render::interrupted(progress, certificate.as_ref(), folder.as_deref(), arguments.json);
    };
    let weights = trainer.final_weights()?;
    if let Some(folder) = &folder {
        folder::finish(folder, &reader, trainer.layout(), &weights, certificate.is_some())?;
    }
    let draft = reader.schema.as_ref().is_some_and(|schema| schema.is_draft());
    let budget = certificate.as_ref().map(|certificate| certificate.guarantee);
    let mut warnings = public_warnings(budget, draft, agreement.size);
    warnings.extend(render::lost(progress));
    warnings.extend(render::exploded(&weights, &metrics));
    warnings.extend(agreement.plan().and_then(|plan| render::drowned(plan, agreement.batch)));
    render::Finished {
        run: &run,
        data: found.source.name(),
        validation: validation.as_ref().map(Source::name),
        reader: &reader,
        agreement: &agreement,
        weights: trainer.layout().weights(),
        progress,
        metrics,
        certificate,
        folder: folder.as_deref(),
        warnings,
        json: arguments.json,
    }
    .render()
}
