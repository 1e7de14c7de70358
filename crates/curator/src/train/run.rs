//! A plan carried out: data, the network, their number, the steps, the run's folder.

use super::course::{End, Stepping, TrainingLoop};
use super::describe::describe;
use super::evaluations::{self, Evaluations};
use super::federated::{read as read_parties, terms as federated_terms, unit};
use super::growth;
use super::held_out::{self, HeldOut};
use super::outcome::{
    AdversarialSummary, FederatedSummary, Finished, InterruptedTraining, NoiseSummary, Trained, drowned,
    exploded, lost,
};
use super::plan::TrainPlan;
use super::prepare::{ExampleSets, named, prepare};
use super::reader::Reader;
use super::reference;
use super::request::Train;
use super::source::Source;
use super::start::{Start, Teacher};
use super::terms::{PaidTerms, agree, pay, size};
use super::{kept, stored, text};
use crate::Planned;
use crate::bill::{Main, Purchase};
use crate::fit::public_warnings;
use crate::folder::layout::CHECKPOINT_FILE;
use crate::folder::{ModelKind, Writer, store_fingerprint};
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::Fact;
use reticent_data::Schema;
use reticent_train::federated::PARTY;
use reticent_train::{Augmentation, Description, Engine, StopCause, Trainer, TrainingTerms};
use std::sync::Arc;

/// The network for examples of this shape.
pub(crate) fn network(
    run: &mut Train,
    reader: &Reader,
    start: &Start,
    shape: &[usize],
) -> Result<(Description, Box<dyn Engine>), Refusal> {
    let mut description = describe(run, reader, shape)?;
    start.widen(run, &mut description)?;
    let network = run.computing().engine(&description)?;
    start.fits(network.layout())?;
    Ok((description, network))
}

/// What is public about the maps of each image before the first layer.
pub(crate) fn map_facts(description: &Description, augment: Augmentation) -> Vec<Fact> {
    let features = description.features.as_ref().map(ToString::to_string);
    let copies = match augment {
        Augmentation::None => None,
        kind => Some(format!(
            "{} fixed copies of each image, its own included ({}), as one unit",
            kind.copies(),
            kind.word()
        )),
    };
    features.into_iter().chain(copies).map(Fact::Other).collect()
}

impl Planned for TrainPlan {
    type Outcome = Trained;

    fn run(self, session: &mut Session) -> Result<Trained, Refusal> {
        let Self { mut run, resume, settings, source, validation, reader, parties, references, start } = self;
        if !run.is_private() {
            session.unprotected("a training without privacy")?;
        }
        if reader.schema.as_ref().is_some_and(Schema::is_draft) {
            session.unprotected("a training with a draft schema")?;
        }
        let is_open = session.is_open();
        let protected = unit(&run, &settings).map_or_else(|| reader.unit(), str::to_owned);
        let out = run.out.clone();
        // Before anything is read: a second process is refused, having drawn and written nothing.
        let mut writer = match (&out, &resume) {
            (Some(out), Some(_)) => Some(Writer::of_run(out)?),
            (Some(out), None) => Some(Writer::of_new(out, ModelKind::Network)?),
            (None, _) => None,
        };
        let Payment { payer, watch } = session.payment(&protected, settings.neighboring)?;
        // A run that goes on was counted when it began.
        if let (Some(writer), Some(_)) = (&writer, &resume) {
            kept::take_count(writer, &mut run, &settings)?;
        }
        let known = reader.shape()?.map(|shape| network(&mut run, &reader, &start, &shape)).transpose()?;
        // A device that is not there is refused before anything is charged.
        let computing = run.computing();
        let opened = if known.is_some() { None } else { computing.open()? };
        // The count and the steps are on record as one plan before a value is read, unless a public number in the files decides
        // what the steps cost: then they are charged below, before the first draw.
        let dimension = known.as_ref().map(|(_, network)| network.layout().gradients());
        let (mut purchase, settled) = match pay(&run, &settings, &reader, dimension, resume.is_none(), payer)?
        {
            Some(PaidTerms { purchase, settled }) => (Some(purchase), settled),
            None => (None, None),
        };
        let (loaded, holders) = read_parties(&run, &reader, &source, &parties, is_open, watch)?;
        let (loaded, references) = reference::divide(&run, &reader, references.as_ref(), loaded, watch)?;
        let (loaded, held) = held_out::divide(&run, loaded)?;
        let public = validation.as_ref().map(|source| reader.read(source, true, watch)).transpose()?;
        let augment = run.augment.unwrap_or_default();
        let units = match augment {
            Augmentation::None => loaded.units(run.examples_per_user, run.is_private())?,
            kind => kind.units(loaded.examples.len())?,
        };
        let (description, network) = match known {
            Some(known) => known,
            None => network(&mut run, &reader, &start, loaded.examples.shape())?,
        };
        drop(opened);
        let references = references.map(|own| prepare(&description, own, &computing, watch)).transpose()?;
        let sets = ExampleSets { loaded, held, public: public.zip(validation.as_ref()), source: &source };
        let sets = sets.prepared(&description, augment, &computing, watch)?;
        sets.check(&*network)?;
        let content = sets.divided();
        // Equality is an exact fact about the examples: where a ledger is kept, paths are all that is compared.
        if run.is_private() && is_open {
            sets.check_validation()?;
        }
        start.check_data(content, is_open)?;
        let is_stored =
            resume.is_some() && out.as_ref().is_some_and(|out| out.join(CHECKPOINT_FILE).is_file());
        let lesson = match is_stored {
            true => None,
            false => start.lesson(&reader, &*network, (content, run.is_private() && is_open), watch)?,
        };
        let begun = match (&mut writer, &resume) {
            (Some(writer), Some(_)) => {
                if !is_open {
                    stored::check_paths(writer, &run)?;
                }
                Some(stored::check_same(
                    writer,
                    (&run, settings.evaluations),
                    &reader,
                    &description,
                    (&source.name(), content),
                )?)
            }
            (Some(writer), None) => {
                let request = kept::request(&run, settings.evaluations, &reader, &description)?;
                stored::begin(writer, request, &reader, &description)?;
                store_fingerprint(writer, content)?;
                None
            }
            (None, _) => None,
        };
        let mut agreement = match settled {
            Some((agreement, settled)) => {
                run = settled;
                agreement
            }
            None => {
                let counting = purchase.as_mut().map(|purchase| (purchase, &mut *payer));
                let size = size(&mut run, &settings, &reader, units.len(), counting)?;
                agree(&mut run, &settings, &reader, size, network.layout().gradients())?
            }
        };
        let ExampleSets { loaded, held, public, .. } = sets;
        agreement.facts = map_facts(&description, augment);
        let examples = Arc::new(loaded.examples);
        let references = references.map(Arc::new);
        let (permit, mut test_permit) = match &agreement.terms {
            TrainingTerms::Private(plan) => {
                let beside = agreement.test.as_ref().map(|test| test.event.clone());
                let mut purchase = match purchase {
                    Some(purchase) => purchase,
                    None => Purchase::charge(&[], Main::Events(plan.charges()?), beside.clone(), payer)?,
                };
                let test = beside.map(|event| purchase.permit().take(&event)).transpose();
                let test = test.map_err(Refusal::internal)?;
                (Some(purchase.into_main(settings.neighboring, &plan.charges()?)?), test)
            }
            TrainingTerms::NonPrivate(_) => (None, None),
        };
        let recipe = text::recipe(&mut run, &settings, agreement.size);
        let federated = run.federated.clone();
        let mut trainer = match (federated.as_ref().zip(holders.as_ref()), &agreement.terms, permit) {
            (Some((federated, holders)), agreed, permit) => {
                let (terms, own) =
                    (federated_terms(agreed, federated, settings.local), holders.divided(&examples));
                computing.federation(&description, own, terms, recipe, permit, None).map(Stepping::from)
            }
            (None, TrainingTerms::Private(plan), Some(permit)) => {
                Trainer::private(network, examples, units, plan.clone(), recipe, permit).map(Stepping::from)
            }
            (None, TrainingTerms::NonPrivate(baseline), None) => match references.clone() {
                Some(own) => Trainer::adversarial(network, examples, units, *baseline, recipe, own, None),
                None => Trainer::non_private(network, examples, units, *baseline, recipe),
            }
            .map(Stepping::from),
            _ => return Err(Refusal::internal("a permit without a plan")),
        }
        .map_err(|error| named(error, &source))?;
        let teacher = Teacher {
            lesson: lesson.as_ref(),
            computing: &computing,
            description: &description,
            recipe,
            epochs: run.pretrain_epochs.unwrap_or_default(),
        };
        let started = match is_stored {
            true => None,
            false => start.apply(&mut trainer, &reader, &teacher, watch)?,
        };
        match (&mut writer, &resume) {
            (Some(writer), Some(resume)) => {
                kept::add_count(writer, &run)?;
                trainer.resume_under(writer.hand_over()?)?;
                if let Some(begun) = &begun {
                    let is = kept::request(&run, settings.evaluations, &reader, &description)?;
                    kept::compare_budget(begun, &is)?;
                }
                resume.check_cause(trainer.is_finished())?;
                if let Some(cause) = resume.cause().filter(|_| !trainer.is_finished()) {
                    trainer.stop(cause)?;
                }
                // A run that has ended keeps the certificate that it has until the same one takes its place.
                if !trainer.is_finished() {
                    stored::drop_certificate(writer.folder())?;
                }
            }
            (Some(writer), None) => {
                stored::write_run(writer, &run, &reader)?;
                trainer.begin_under(writer.hand_over()?)?;
                // A run that goes on before its first checkpoint needs none of what it started from.
                if started.is_some() {
                    trainer.save()?;
                }
            }
            (None, _) => {}
        }
        watch.listen();
        let facts = start.facts();
        let evaluations = match (&held, run.held_out, settings.evaluations) {
            (Some(loaded), Some(share), Some(count)) => Some(Evaluations {
                held: HeldOut { reader: &reader, loaded, share, size: agreement.size },
                test: agreement.test.as_ref().zip(test_permit.as_mut()),
                payer: &mut *payer,
                count,
                drawn: out.as_deref().map(evaluations::stored).transpose()?.unwrap_or_default(),
                writer: writer.as_ref(),
            }),
            _ => None,
        };
        let mut course = TrainingLoop {
            facts: &facts,
            trainer: &mut trainer,
            agreement: &agreement,
            reader: &reader,
            validation: public.as_ref().map(|(public, _)| &public.examples),
            folder: out.as_deref(),
            federated: federated.as_ref(),
            every: settings.every,
            patience: run.patience,
            evaluations,
        };
        let end = course.run(watch)?;
        // Who asked for the end may have looked at what the run showed.
        let certificate = match &end {
            End::Finished(_) => course.certificate()?,
            End::Interrupted => course.certificate_if_stopped(StopCause::Choice)?,
        };
        if let Some(writer) = &writer {
            stored::write_certificate(writer, certificate.as_ref())?;
        }
        let evaluated = course.evaluations.map(|own| own.drawn).unwrap_or_default();
        let progress = trainer.progress();
        let End::Finished(metrics) = end else {
            return Ok(Trained::Interrupted(Box::new(InterruptedTraining::new(
                progress,
                certificate,
                out,
                !settings.is_cyclic,
            ))));
        };
        let weights = trainer.final_weights()?;
        let score = match (&held, run.held_out) {
            (Some(loaded), Some(share)) => {
                let known = out.as_deref().map(held_out::stored).transpose()?.flatten();
                let own = HeldOut { reader: &reader, loaded, share, size: agreement.size };
                let test = agreement.test.as_ref().zip(test_permit.as_mut());
                Some(match known {
                    Some(known) => known,
                    None => own.score(&mut trainer, test, payer)?,
                })
            }
            _ => None,
        };
        if let (Some(writer), Some(score)) = (&writer, &score) {
            held_out::store(writer, score)?;
        }
        if let Some(writer) = &writer {
            stored::finish(writer, &reader, trainer.layout(), &weights, certificate.is_some())?;
        }
        let draft = reader.schema.as_ref().is_some_and(|schema| schema.is_draft());
        let budget = certificate.as_ref().map(|certificate| certificate.guarantee);
        let mut warnings = public_warnings(budget, draft, agreement.size);
        warnings.extend(lost(progress));
        warnings.extend(exploded(&weights, &metrics));
        warnings.extend(evaluations::blind(&evaluated));
        warnings.extend(score.iter().flat_map(|score| score.warnings.clone()));
        warnings.extend(agreement.plan().and_then(|plan| drowned(plan, agreement.batch)));
        warnings.extend(growth::reduced(settings.growth, agreement.growth().as_ref()));
        let clipping_norm = trainer.clipping_norm()?;
        let adversarial = match (settings.adversarial, &references) {
            (Some(own), Some(references)) => Some(AdversarialSummary {
                inference_accuracy: trainer.inference_accuracy()?,
                references: references.len() as u64,
                strength: own.strength,
            }),
            _ => None,
        };
        Ok(Trained::Finished(Box::new(Finished {
            accuracy: metrics.validation_accuracy,
            adversarial,
            batch_growth: agreement.growth(),
            batch_size: agreement.batch,
            certificate,
            counted_steps: progress.counted,
            cyclic: agreement.plan().and_then(|plan| plan.settings().cyclic),
            dataset_size: agreement.size,
            device: computing.device,
            epochs: metrics.epoch,
            evaluations: evaluated,
            examples_per_second: metrics.examples_per_second,
            federated: holders.as_ref().zip(federated.as_ref()).map(|(holders, federated)| {
                FederatedSummary {
                    method: federated.method,
                    parties: holders.names.len() as u64,
                    rounds: federated.rounds,
                    unit: agreement.plan().map(|_| federated.protected()),
                }
            }),
            held_out: score,
            loss: metrics.validation_loss,
            perplexity: metrics.validation_loss.filter(|_| reader.is_language()).map(f64::exp),
            noise_multiplier: agreement.plan().map(|plan| plan.noise_multiplier()),
            out,
            start: started,
            steps: progress.taken,
            tested: match (&validation, agreement.test.is_some()) {
                (Some(_), _) => "public data, not protected",
                (None, true) => "held-out units, with noise",
                (None, false) if held.is_some() => "held-out units, not protected",
                (None, false) => "not at all",
            },
            trained_weights: Some(trainer.layout().gradients())
                .filter(|trained| *trained < trainer.layout().weights()),
            warnings,
            weights: trainer.layout().weights(),
            data: source.name(),
            validation: validation.as_ref().map(Source::name),
            units: match protected == PARTY {
                true => "parties",
                false => reader.unit_words(run.is_private() || run.examples_per_user.is_some()),
            },
            sizing: agreement.sizing(run.dataset_size),
            noise: agreement.plan().map(|plan| NoiseSummary {
                norm: clipping_norm.unwrap_or_else(|| plan.settings().clipping.norm())
                    / augment.copies() as f64,
                clipping: run.clipping.clone().unwrap_or_else(|| "flat".to_owned()),
                law: plan.law(),
                denoise: settings.recipe.denoise,
            }),
            model: run.model,
        })))
    }
}
