//! A plan carried out: data, the network, their number, the steps, the run's folder.

use super::course::{Course, End};
use super::describe::describe;
use super::outcome::{Finished, Interrupted, Noise, Trained, drowned, exploded, lost};
use super::plan::TrainPlan;
use super::source::Source;
use super::terms::{agree, size};
use crate::Planned;
use crate::fit::public_warnings;
use crate::folder::network as folder;
use crate::refusal::Refusal;
use crate::session::Session;
use reticent_core::Code;
use reticent_train::{Effort, Model, Network, StopCause, Terms, TrainError, Trainer, Units};
use std::sync::Arc;

impl Planned for TrainPlan {
    type Outcome = Trained;

    fn run(self, session: &mut Session) -> Result<Trained, Refusal> {
        let Self { mut run, resume, settings, source, validation, reader } = self;
        let out = run.out.clone();
        let loaded = reader.read(&source, true, session.watch())?;
        let public =
            validation.as_ref().map(|source| reader.read(source, true, session.watch())).transpose()?;
        let units = match &loaded.users {
            Some(users) => Units::users(users, run.examples_per_user.map(|most| most as usize))?,
            None => Units::examples(loaded.examples.len()),
        };
        let description = describe(&mut run, &reader, loaded.examples.shape())?;
        let usual = Effort::default();
        let threads =
            run.threads.map_or(usual.threads, |threads| usize::try_from(threads).unwrap_or(usize::MAX));
        let network = Network::new(description.clone(), Effort { threads, ..usual })?;
        if let (Some(public), Some(source)) = (&public, &validation) {
            if public.examples.is_empty() {
                let text = format!("{}: no examples to validate on: give data", source.name());
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
        let dimension = network.layout().gradients();
        // First what the count costs; then, with the size it gave, what the steps cost.
        let size = size(&mut run, &settings, &reader, units.len(), session.entropy())?;
        let agreement = agree(&mut run, &settings, &reader, size, dimension)?;
        let (model, examples) = (Box::new(network), Arc::new(loaded.examples));
        let mut trainer = match &agreement.terms {
            Terms::Private(plan) => Trainer::private(model, examples, units, plan.clone(), settings.recipe),
            Terms::NonPrivate(baseline) => {
                Trainer::non_private(model, examples, units, *baseline, settings.recipe)
            }
        }
        .map_err(named)?;
        match (&out, &resume) {
            (Some(out), Some(resume)) => {
                trainer.resume_from(out)?;
                resume.check_cause(trainer.is_finished())?;
                folder::drop_certificate(out)?;
                if let Some(cause) = resume.cause().filter(|_| !trainer.is_finished()) {
                    trainer.stop(cause)?;
                }
            }
            (Some(out), None) => {
                folder::begin(out, &run, &reader, &description)?;
                trainer.begin_in(out)?;
            }
            (None, _) => {}
        }
        session.watch().listen();
        let mut course = Course {
            trainer: &mut trainer,
            agreement: &agreement,
            reader: &reader,
            validation: public.as_ref().map(|public| &public.examples),
            folder: out.as_deref(),
            every: settings.every,
        };
        let end = course.run(session.watch())?;
        // Who asked for the end may have looked at what the run showed.
        let certificate = match &end {
            End::Finished(_) => course.certificate()?,
            End::Interrupted => course.certificate_if_stopped(StopCause::Choice)?,
        };
        if let Some(out) = &out {
            folder::write_certificate(out, certificate.as_ref())?;
        }
        let progress = trainer.progress();
        let End::Finished(metrics) = end else {
            return Ok(Trained::Interrupted(Box::new(Interrupted::new(progress, certificate, out))));
        };
        let weights = trainer.final_weights()?;
        if let Some(out) = &out {
            folder::finish(out, &reader, trainer.layout(), &weights, certificate.is_some())?;
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
            epochs: metrics.epoch,
            examples_per_second: metrics.examples_per_second,
            loss: metrics.validation_loss,
            noise_multiplier: agreement.plan().map(|plan| plan.noise_multiplier()),
            out,
            steps: progress.taken,
            tested: validation.as_ref().map_or("not at all", |_| "public data, not protected"),
            warnings,
            weights: trainer.layout().weights(),
            data: source.name(),
            validation: validation.as_ref().map(Source::name),
            units: reader.unit_words(),
            sizing: agreement.sizing(run.dataset_size),
            noise: agreement.plan().map(|plan| Noise {
                norm: plan.settings().clipping.norm(),
                clipping: run.clipping.clone().unwrap_or_else(|| "flat".to_owned()),
            }),
            model: run.model,
        })))
    }
}
