//! A search carried out: trials one after the other, of which the best is kept.

use super::outcome::Tuned;
use super::plan::{SelectOn, TunePlan};
use super::price::Price;
use super::search::{Drawn, with};
use crate::Planned;
use crate::bill::{Counting, Main, Purchase};
use crate::fit::public_warnings;
use crate::folder::layout::TUNED_FILE;
use crate::folder::{ModelKind, Writer, store_fingerprint};
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use crate::train::{
    AgreedTerms, Budget, ExampleSets, HeldOut, HeldOutScore, HeldOutTest, Loaded, Reader, Size, Start, Train,
    TrainPlan, agree_by, counting, finish, hold_out, map_facts, network, settle, size, text_recipe,
    write_certificate, write_public, write_run,
};
use crate::watch::Work;
use reticent_core::{Certificate, Code, Fact, Guarantee, Permit, Plan};
use reticent_data::Schema;
use reticent_noise::NoiseSession;
use reticent_noise::sampler::TrialLaw;
use reticent_train::{
    Augmentation, Description, Engine, Examples, PlanSettings, PrivacyPlan, Trainer, TrainingTerms, Units,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What all trials share.
struct Shared<'a> {
    plan: &'a TunePlan,
    reader: &'a Reader,
    examples: Arc<Examples>,
    units: Units,
    held: Option<&'a Loaded>,
    public: Option<&'a Examples>,
    test: Option<HeldOutTest>,
    size: Size,
    start: &'a Start,
    /// The shape of examples as they are read.
    shape: Vec<usize>,
    augment: Augmentation,
    price: Price,
    /// Set when the search should stop.
    halt: &'a AtomicBool,
}

/// One trial.
struct Trial {
    merit: f64,
    drawn: Drawn,
    run: Train,
    description: Description,
    trainer: Trainer,
    agreement: AgreedTerms,
    score: Option<HeldOutScore>,
}

impl Shared<'_> {
    /// The network, the terms and the request of these settings, with the noise that the price of the search has for them.
    fn settle(&self, drawn: &Drawn) -> Result<(Train, Description, Box<dyn Engine>, AgreedTerms), Refusal> {
        let mut run = with(&self.plan.asked, drawn)?;
        let settings = settle(&mut run)?;
        let (description, engine) = network(&mut run, self.reader, self.start, &self.shape)?;
        let target = |settings: PlanSettings, left: Guarantee| -> Result<PrivacyPlan, Refusal> {
            let Some(own) = self.price.candidate(&settings) else {
                return Err(Refusal::internal("a trial that the search was not priced for"));
            };
            let plan = PrivacyPlan::at_least(settings, own.multiplier, left.delta.get())?;
            Ok(plan.claiming(own.multiplier)?)
        };
        let dimension = engine.layout().gradients();
        let mut agreement =
            agree_by(&mut run, &settings, self.reader, self.size.clone(), dimension, &target)?;
        // The test is part of a trial.
        agreement.test = None;
        agreement.facts = map_facts(&description, self.augment);
        Ok((run, description, engine, agreement))
    }

    /// Trains and scores with settings drawn at random.
    fn trial(&self, mut permit: Permit, payer: &mut NoiseSession) -> Result<Trial, Refusal> {
        let drawn = self.plan.search.draw(payer.entropy());
        let (mut run, description, engine, agreement) = self.settle(&drawn)?;
        let TrainingTerms::Private(plan) = &agreement.terms else {
            return Err(Refusal::internal("a trial without a plan"));
        };
        let settings = settle(&mut run.clone())?;
        let recipe = text_recipe(&mut run, &settings, agreement.size);
        let paid = self.test.as_ref().map(|test| permit.take(&test.event)).transpose();
        let mut paid = paid.map_err(Refusal::internal)?;
        // The permit has the steps of every candidate, and a trial takes those of one.
        let steps = plan.charges()?;
        let [steps] = steps.events() else {
            return Err(Refusal::internal("the steps of a trial are one event"));
        };
        let permit = permit.take(steps).map_err(Refusal::internal)?;
        let (examples, units) = (self.examples.clone(), self.units.clone());
        let mut trainer = Trainer::private(engine, examples, units, plan.clone(), recipe, permit)?;
        while !trainer.is_finished() {
            if self.halt.load(Ordering::SeqCst) {
                let text = "the search was stopped: nothing of it is kept, and its whole epsilon is spent";
                return Err(Refusal::new(Code::NoModel, text));
            }
            trainer.step()?;
        }
        let (merit, score) = match (self.plan.on, self.held, self.public) {
            (SelectOn::HeldOut, Some(loaded), _) => {
                let share = run.held_out.unwrap_or_default();
                let own = HeldOut { reader: self.reader, loaded, share, size: agreement.size };
                let score = own.score(&mut trainer, self.test.as_ref().zip(paid.as_mut()), payer)?;
                (score.merit(), Some(score))
            }
            (SelectOn::Validation, _, Some(public)) => {
                let found = trainer.evaluate(public)?;
                let merit = found.accuracy.unwrap_or(-found.loss);
                (if merit.is_nan() || !found.loss.is_finite() { f64::NEG_INFINITY } else { merit }, None)
            }
            _ => return Err(Refusal::internal("nothing to score trials on")),
        };
        Ok(Trial { merit, drawn, run, description, trainer, agreement, score })
    }
}

impl TunePlan {
    /// What the search costs on so many units, with networks of at most so many weights.
    fn price(
        &self,
        reader: &Reader,
        size: &Size,
        test: Option<&HeldOutTest>,
        widest: usize,
    ) -> Result<Price, Refusal> {
        // A network may have a batch size of its own, so it is part of what decides the cost.
        let key = |run: &Train| (run.model.clone(), run.epochs, run.steps, run.batch_size);
        let (mut candidates, mut met) = (Vec::new(), Vec::new());
        for corner in &self.corners {
            let own = key(corner);
            if !met.contains(&own) {
                met.push(own);
                let mut run = corner.clone();
                let settings = settle(&mut run)?;
                candidates.push(size.plan_settings(&mut run, &settings, reader, widest)?);
            }
        }
        let left = size.left().ok_or_else(|| Refusal::internal("a search without a budget"))?;
        Price::of(&candidates, self.trials, test.map(|test| &test.event), left)
    }
}

impl Planned for TunePlan {
    type Outcome = Tuned;

    fn run(self, session: &mut Session) -> Result<Tuned, Refusal> {
        let TrainPlan { mut run, settings, source, validation, reader, start, .. } = self.base.clone();
        if reader.schema.as_ref().is_some_and(Schema::is_draft) {
            session.unprotected("a search with a draft schema")?;
        }
        let is_open = session.is_open();
        let protected = reader.unit();
        let out = run.out.clone();
        let mut writer = out.as_deref().map(|out| Writer::of_new(out, ModelKind::Network)).transpose()?;
        let Payment { payer, watch } = session.payment(&protected, settings.neighboring)?;
        let Budget::Target(whole) = settings.budget else {
            return Err(Refusal::missing("epsilon", "give a privacy budget for the whole search"));
        };
        let computing = run.computing();
        let opened = computing.open()?;
        let test_epsilon = self.trials.test_epsilon(whole.epsilon)?;
        let test = match self.on {
            SelectOn::HeldOut => HeldOutTest::of(&run, &reader, test_epsilon, None)?,
            SelectOn::Validation => None,
        };
        // The whole search is on record before a value is read; a process that is killed has spent it.
        let counting = counting(&run, &settings)?;
        let share = counting.as_ref().map_or(whole, |counting| counting.left);
        let before = counting.as_ref().map_or(&[][..], Counting::events);
        let mut purchase = Purchase::charge(before, Main::Share(share), None, payer)?.counting(counting);
        let (loaded, held) = hold_out(&run, reader.read(&source, true, watch)?)?;
        let public = validation.as_ref().map(|source| reader.read(source, true, watch)).transpose()?;
        let augment = run.augment.unwrap_or_default();
        let units = match augment {
            Augmentation::None => loaded.units(run.examples_per_user, true)?,
            kind => kind.units(loaded.examples.len())?,
        };
        let (mut widest, shape) = (0, loaded.examples.shape().to_vec());
        let mut models: Vec<&Train> = Vec::new();
        for corner in &self.corners {
            if !models.iter().any(|known| known.model == corner.model) {
                models.push(corner);
            }
        }
        let networks = models.into_iter().map(|corner| network(&mut corner.clone(), &reader, &start, &shape));
        let networks = networks.collect::<Result<Vec<_>, _>>()?;
        let Some((description, _)) = networks.first() else {
            return Err(Refusal::internal("a search without a network"));
        };
        if networks.iter().any(|(other, _)| other.features != description.features) {
            let remedy = "the networks of a search read the same features: search over one kind of networks";
            return Err(Refusal::about(Code::Conflict, "search", remedy));
        }
        // What the first layers read is computed once.
        let sets = ExampleSets { loaded, held, public: public.zip(validation.as_ref()), source: &source };
        let sets = sets.prepared(description, augment, &computing, watch)?;
        for (_, engine) in &networks {
            sets.check(&**engine)?;
            widest = widest.max(engine.layout().gradients());
        }
        drop(opened);
        if is_open {
            sets.check_validation()?;
        }
        if let Some(writer) = &mut writer {
            writer.begin(json!({"kind": ModelKind::Network, "tune": self.asked}))?;
            store_fingerprint(writer, sets.divided())?;
        }
        let ExampleSets { loaded, held, public, .. } = sets;
        let size = size(&mut run, &settings, &reader, units.len(), Some((&mut purchase, &mut *payer)))?;
        let price = self.price(&reader, &size, test.as_ref(), widest)?;
        let examples = Arc::new(loaded.examples);
        let shared = Shared {
            plan: &self,
            reader: &reader,
            examples,
            units,
            held: held.as_ref(),
            public: public.as_ref().map(|(public, _)| &public.examples),
            test,
            size,
            start: &start,
            shape,
            augment,
            price,
            halt: watch.halt(),
        };
        let price = &shared.price;
        let mut permit = purchase.into_main(settings.neighboring, &Plan::new(vec![price.event.clone()])?)?;
        let count = self.count.draw(payer.entropy());
        let permits = permit.take_trials(&price.event, count).map_err(Refusal::internal)?;
        let bar = watch.begin(Work::Thinking);
        bar.say("tuning");
        let mut best: Option<Trial> = None;
        for permit in permits {
            let trial = shared.trial(permit, payer)?;
            if best.as_ref().is_none_or(|best| trial.merit > best.merit) {
                best = Some(trial);
            }
        }
        drop(bar);
        let best = best.ok_or_else(|| Refusal::internal("a search without a trial"))?;
        let certificate = certificate(price, &best, &shared)?;
        outcome(&self, best, certificate, &shared, writer)
    }
}

/// The claim about the best trial: that of the whole search.
fn certificate(price: &Price, best: &Trial, shared: &Shared<'_>) -> Result<Certificate, Refusal> {
    let plan = best.agreement.plan().ok_or_else(|| Refusal::internal("a trial without a plan"))?;
    let own = plan.certificate(plan.steps())?;
    let accountant = "Rényi divergences of the best of a random number of trials (Papernot and Steinke 2022)";
    let events = vec![price.event.clone()];
    let own =
        Certificate::compose(own.unit, own.neighboring, events, price.guarantee, accountant, own.public);
    let whole = best.agreement.certificate(own, shared.reader)?.taking(Fact::HiddenTrials);
    let whole = price.fact().into_iter().fold(whole, Certificate::taking);
    Ok(match &shared.test {
        Some(test) => whole.taking(test.fact()),
        None => whole,
    })
}

/// Stores the best trial, and tells of it.
fn outcome(
    plan: &TunePlan,
    mut best: Trial,
    certificate: Certificate,
    shared: &Shared<'_>,
    writer: Option<Writer>,
) -> Result<Tuned, Refusal> {
    let reader = shared.reader;
    let steps = best.agreement.plan().ok_or_else(|| Refusal::internal("a trial without a plan"))?;
    let (multiplier, delta, steps, clip) =
        (steps.noise_multiplier(), steps.delta(), steps.steps(), steps.settings().clipping.threshold());
    let select_on = match plan.on {
        SelectOn::HeldOut => "held-out",
        SelectOn::Validation => "validation",
    };
    let distribution = match plan.trials.law {
        TrialLaw::Geometric => "geometric",
        TrialLaw::Logarithmic => "logarithmic",
    };
    let clip = best.trainer.clipping_norm()?.unwrap_or(clip);
    let weights = best.trainer.final_weights()?;
    let found = shared.public.map(|public| best.trainer.evaluate(public)).transpose()?;
    let sizing = best.agreement.sizing(best.run.dataset_size);
    let out = best.run.out.clone();
    if let Some(mut writer) = writer {
        // A request that repeats one trial: its noise, and not the budget of the search.
        let is_hidden = plan.base.settings.neighboring == reticent_core::Neighboring::AddRemove;
        let kept = Train {
            epsilon: None,
            noise_multiplier: Some(multiplier),
            delta: Some(delta.get()),
            dataset_size: is_hidden.then_some(best.agreement.size),
            counted: None,
            ..best.run.clone()
        };
        write_public(&writer, reader, &best.description)?;
        write_run(&mut writer, &kept, reader)?;
        let text = json!({
            "chosen": best.drawn,
            "distribution": distribution,
            "held_out": best.score,
            "search": plan.search.to_text(),
            "select_on": select_on,
            "trials": plan.trials.mean,
        });
        writer.write(TUNED_FILE, format!("{text}\n").as_bytes())?;
        write_certificate(&writer, Some(&certificate))?;
        finish(&writer, reader, best.trainer.layout(), &weights, true)?;
    }
    let draft = reader.schema.as_ref().is_some_and(Schema::is_draft);
    let mut warnings = public_warnings(Some(certificate.guarantee), draft, best.agreement.size);
    warnings.push(match best.score.is_some() {
        true => "the held-out score is the best of several noisy ones, so it is too good on average: evaluate the model on other data".to_owned(),
        false => "the score is the best of several on the same validation data, so it is too good on average: evaluate the model on other data".to_owned(),
    });
    warnings.extend(best.score.iter().flat_map(|score| score.warnings.clone()));
    Ok(Tuned {
        accuracy: found.and_then(|found| found.accuracy),
        batch_size: best.agreement.batch,
        certificate,
        chosen: best.drawn,
        dataset_size: best.agreement.size,
        device: best.run.computing().device,
        distribution,
        held_out: best.score,
        loss: found.map(|found| found.loss),
        model: best.run.model.clone(),
        noise_multiplier: multiplier,
        out,
        select_on,
        steps,
        trials: plan.trials.mean,
        warnings,
        weights: best.trainer.layout().weights(),
        data: plan.base.source.name(),
        validation: plan.base.validation.as_ref().map(|source| source.name()),
        units: reader.unit_words(true),
        sizing,
        clipping: (clip, best.run.clipping.clone().unwrap_or_else(|| "flat".to_owned())),
    })
}
