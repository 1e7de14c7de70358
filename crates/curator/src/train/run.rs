//! A plan carried out: data, the network, their number, the steps, the run's folder.

use super::course::{End, Stepping, TrainingLoop};
use super::describe::describe;
use super::federated::{read as read_parties, terms as federated_terms, unit};
use super::outcome::{
    FederatedSummary, Finished, InterruptedTraining, NoiseSummary, Trained, drowned, exploded, lost,
};
use super::plan::{TrainPlan, same_data};
use super::reader::Reader;
use super::request::Train;
use super::source::Source;
use super::terms::{PaidTerms, agree, pay, size};
use super::{kept, stored};
use crate::Planned;
use crate::fit::public_warnings;
use crate::folder::{Content, ModelKind, Writer, is_same, store_fingerprint};
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::Code;
use reticent_data::Schema;
use reticent_train::federated::PARTY;
use reticent_train::{Description, Engine, StopCause, TrainError, Trainer, TrainingTerms};
use std::sync::Arc;

/// The network for examples of this shape.
fn network(
    run: &mut Train,
    reader: &Reader,
    shape: &[usize],
) -> Result<(Description, Box<dyn Engine>), Refusal> {
    let description = describe(run, reader, shape)?;
    let network = run.computing().engine(&description)?;
    Ok((description, network))
}

impl Planned for TrainPlan {
    type Outcome = Trained;

    fn run(self, session: &mut Session) -> Result<Trained, Refusal> {
        let Self { mut run, resume, settings, source, validation, reader, parties } = self;
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
        let known = reader.shape()?.map(|shape| network(&mut run, &reader, &shape)).transpose()?;
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
        let public = validation.as_ref().map(|source| reader.read(source, true, watch)).transpose()?;
        let units = loaded.units(run.examples_per_user, run.is_private())?;
        let (description, network) = match known {
            Some(known) => known,
            None => network(&mut run, &reader, loaded.examples.shape())?,
        };
        drop(opened);
        if let (Some(public), Some(source)) = (&public, &validation) {
            if public.examples.is_empty() {
                let text = format!("{}: no examples for validation: give data", source.name());
                return Err(Refusal::new(Code::NoRows, text));
            }
            let named = |error: TrainError| Refusal::from(error).within(&source.name());
            network.check(&public.examples).map_err(named)?;
        }
        let named = |error: TrainError| match error {
            TrainError::Example { .. } | TrainError::Shape(_) => Refusal::from(error).within(&source.name()),
            other => other.into(),
        };
        network.check(&loaded.examples).map_err(named)?;
        let content = Content::Examples(&loaded.examples, loaded.users.as_deref());
        // Equality is an exact fact about the examples: where a ledger is kept, paths are all that is compared.
        if let (Some(public), Some(source), true) = (&public, &validation, run.is_private() && is_open)
            && is_same(Content::Examples(&public.examples, public.users.as_deref()), content)?
        {
            return Err(same_data(source));
        }
        let begun = match (&mut writer, &resume) {
            (Some(writer), Some(_)) => {
                if !is_open {
                    stored::check_paths(writer, &run)?;
                }
                Some(stored::check_same(writer, &run, &reader, &description, (&source.name(), content))?)
            }
            (Some(writer), None) => {
                let request = kept::request(&run, &reader, &description)?;
                stored::begin(writer, request, &reader, &description)?;
                store_fingerprint(writer, content, None)?;
                None
            }
            (None, _) => None,
        };
        let agreement = match settled {
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
        let examples = Arc::new(loaded.examples);
        let permit = match &agreement.terms {
            TrainingTerms::Private(plan) => Some(match purchase {
                Some(purchase) => purchase.into_main(settings.neighboring, &plan.charges()?)?,
                None => plan.charge(payer)?,
            }),
            TrainingTerms::NonPrivate(_) => None,
        };
        let (recipe, federated) = (settings.recipe, run.federated.clone());
        let mut trainer = match (federated.as_ref().zip(holders.as_ref()), &agreement.terms, permit) {
            (Some((federated, holders)), agreed, permit) => {
                let (terms, own) =
                    (federated_terms(agreed, federated, settings.local), holders.divided(&examples));
                computing.federation(&description, own, terms, recipe, permit, None).map(Stepping::from)
            }
            (None, TrainingTerms::Private(plan), Some(permit)) => {
                Trainer::private(network, examples, units, plan.clone(), recipe, permit).map(Stepping::from)
            }
            (None, TrainingTerms::NonPrivate(baseline), None) => {
                Trainer::non_private(network, examples, units, *baseline, recipe).map(Stepping::from)
            }
            _ => return Err(Refusal::internal("a permit without a plan")),
        }
        .map_err(named)?;
        match (&mut writer, &resume) {
            (Some(writer), Some(resume)) => {
                kept::add_count(writer, &run)?;
                trainer.resume_under(writer.hand_over()?)?;
                if let Some(begun) = &begun {
                    kept::compare_budget(begun, &kept::request(&run, &reader, &description)?)?;
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
            }
            (None, _) => {}
        }
        watch.listen();
        let mut course = TrainingLoop {
            trainer: &mut trainer,
            agreement: &agreement,
            reader: &reader,
            validation: public.as_ref().map(|public| &public.examples),
            folder: out.as_deref(),
            federated: federated.as_ref(),
            every: settings.every,
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
        let progress = trainer.progress();
        let End::Finished(metrics) = end else {
            return Ok(Trained::Interrupted(Box::new(InterruptedTraining::new(progress, certificate, out))));
        };
        let weights = trainer.final_weights()?;
        if let Some(writer) = &writer {
            stored::finish(writer, &reader, trainer.layout(), &weights, certificate.is_some())?;
        }
        let draft = reader.schema.as_ref().is_some_and(|schema| schema.is_draft());
        let budget = certificate.as_ref().map(|certificate| certificate.guarantee);
        let mut warnings = public_warnings(budget, draft, agreement.size);
        warnings.extend(lost(progress));
        warnings.extend(exploded(&weights, &metrics));
        warnings.extend(agreement.plan().and_then(|plan| drowned(plan, agreement.batch)));
        Ok(Trained::Finished(Box::new(Finished {
            accuracy: metrics.validation_accuracy,
            batch_size: agreement.batch,
            certificate,
            counted_steps: progress.counted,
            dataset_size: agreement.size,
            device: computing.device,
            epochs: metrics.epoch,
            examples_per_second: metrics.examples_per_second,
            federated: holders.as_ref().zip(federated.as_ref()).map(|(holders, federated)| {
                FederatedSummary {
                    method: federated.method,
                    parties: holders.names.len() as u64,
                    rounds: federated.rounds,
                    unit: agreement.plan().map(|_| federated.protected()),
                }
            }),
            loss: metrics.validation_loss,
            perplexity: metrics.validation_loss.filter(|_| reader.is_language()).map(f64::exp),
            noise_multiplier: agreement.plan().map(|plan| plan.noise_multiplier()),
            out,
            steps: progress.taken,
            tested: validation.as_ref().map_or("not at all", |_| "public data, not protected"),
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
                norm: plan.settings().clipping.norm(),
                clipping: run.clipping.clone().unwrap_or_else(|| "flat".to_owned()),
            }),
            model: run.model,
        })))
    }
}
