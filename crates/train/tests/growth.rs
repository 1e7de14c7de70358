//! Batches that grow: what is sampled, what it is divided by, what is counted, and what is refused.

use super::model::{examples, model, permit, private, recipe, settings};
use reticent_core::{Event, Neighboring, SamplingRate};
use reticent_noise::Entropy;
use reticent_train::sampler::PoissonSampler;
use reticent_train::{
    Adam, BatchGrowth, ClippedSum, Clipping, Contribution, Denoising, Engine, Examples, FederatedTerms,
    Federation, Gradients, Inputs, Layout, OptimizerSettings, Parameter, PlanSettings, PrivacyPlan,
    PrivateSteps, Recipe, Resources, Schedule, Selection, StopCause, Targets, TrainError, Trainer, Units,
    model_engine,
};
use std::sync::{Arc, Mutex};

/// A model whose gradient is 0, and which tells how many units were in each step.
struct Counting {
    layout: Layout,
    batches: Arc<Mutex<Vec<usize>>>,
}

impl Gradients for Counting {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; self.layout.weights()])
    }

    fn check(&self, _: &Examples) -> Result<(), TrainError> {
        Ok(())
    }

    fn gradients(&mut self, _: &[f32], _: &Examples, sink: &mut ClippedSum<'_>) -> Result<(), TrainError> {
        let units = sink.selection().units();
        self.batches.lock().unwrap().push(units);
        let nothing = vec![0.0; self.layout.gradients()];
        Ok((0..units).try_for_each(|unit| sink.unit(unit, &nothing))?)
    }

    fn outputs(&mut self, _: &[f32], _: &Examples, which: &[usize]) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; which.len()])
    }
}

const WIDTH: usize = 200;
const UNITS: usize = 20_000;
const STEPS: u64 = 28;

fn plan(neighboring: Neighboring) -> PrivacyPlan {
    let settings = PlanSettings {
        neighboring,
        dimension: WIDTH,
        growth: Some(BatchGrowth { factor: 4 }),
        ..settings(UNITS as u64, 0.05, STEPS)
    };
    PrivacyPlan::new(settings, 1.5, 1e-5).unwrap()
}

fn counting() -> (Box<dyn Engine>, Arc<Mutex<Vec<usize>>>) {
    let parameter = Parameter { name: "w".to_owned(), shape: vec![WIDTH], group: 0, trainable: true };
    let batches = Arc::new(Mutex::new(Vec::new()));
    let model = Counting { layout: Layout::new(vec![parameter]), batches: batches.clone() };
    (model_engine(Box::new(model), Resources::SINGLE).unwrap(), batches)
}

/// A run in which the weights move by the negative mean gradient, and how many units each step had.
fn trainer(plan: &PrivacyPlan) -> (Trainer, Arc<Mutex<Vec<usize>>>) {
    let inputs = Inputs::Real(vec![0.0; UNITS]);
    let data = Arc::new(Examples::new(&[1], inputs, Targets::Classes(vec![0; UNITS])).unwrap());
    let (optimizer, schedule) = (OptimizerSettings::sgd(0.0), Schedule::constant(1.0));
    let recipe = Recipe { optimizer, schedule, average: None, denoise: None };
    let (engine, batches) = counting();
    (private(engine, data, Units::examples(UNITS), plan.clone(), recipe).unwrap(), batches)
}

fn steps(trainer: &mut Trainer, count: u64) {
    for _ in 0..count {
        trainer.step().unwrap();
    }
}

/// The rate of every step that these events list.
fn rates(events: &[Event]) -> Vec<f64> {
    let each = |event: &Event| {
        let Event::Repeated { count, event } = event else { panic!("{event:?}") };
        let Event::PoissonSampled { rate, .. } = &**event else { panic!("{event:?}") };
        vec![rate.get(); usize::try_from(*count).unwrap()]
    };
    events.iter().flat_map(each).collect()
}

/// Whether batches have the sizes of samples at these rates: within seven standard deviations each.
fn are_samples(batches: &[usize], rates: &[f64]) -> bool {
    let is_one = |(units, rate): (&usize, &f64)| {
        let (mean, variance) = (UNITS as f64 * rate, UNITS as f64 * rate * (1.0 - rate));
        (*units as f64 - mean).abs() <= 7.0 * variance.sqrt()
    };
    batches.len() == rates.len() && batches.iter().zip(rates).all(is_one)
}

#[test]
fn every_step_samples_at_the_rate_that_is_accounted_for() {
    for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
        let plan = plan(neighboring);
        let (mut run, batches) = trainer(&plan);
        for taken in 1..=STEPS {
            run.step().unwrap();
            if [1, 16, 17, 24, 25, STEPS].contains(&taken) {
                let listed = rates(&run.certificate().unwrap().unwrap().events);
                assert!(are_samples(&batches.lock().unwrap(), &listed), "{taken}");
            }
        }
        assert!(run.step().is_err_and(|error| matches!(error, TrainError::Finished { .. })));
        let listed = rates(plan.charges().unwrap().events());
        assert_eq!((listed.len() as u64, listed[0], listed[STEPS as usize - 1]), (STEPS, 0.05, 0.2));
        assert!(are_samples(&batches.lock().unwrap(), &listed));
        // Broken twins, which claim the same list: every step at the largest rate, and stages that begin a step early.
        let drawn = |rate: &f64| {
            let mut sampler = PoissonSampler::new(SamplingRate::new(*rate).unwrap()).unwrap();
            let mut selection = Selection::default();
            sampler.sample(&Units::examples(UNITS), &mut Entropy::new().unwrap(), &mut selection);
            selection.units()
        };
        let largest: Vec<usize> = listed.iter().map(|_| drawn(&0.2)).collect();
        assert!(!are_samples(&largest, &listed));
        let early: Vec<usize> = listed[1..].iter().chain(&[0.2]).map(drawn).collect();
        assert!(!are_samples(&early, &listed));
        let honest: Vec<usize> = listed.iter().map(drawn).collect();
        assert!(are_samples(&honest, &listed));
    }
}

/// The gradient is 0: what moves the weights is the noise of the plan over the step's own divisor.
#[test]
fn every_step_is_divided_by_its_own_expected_batch() {
    let plan = plan(Neighboring::AddRemove);
    let (mut run, _) = trainer(&plan);
    let (mut last, mut squares) = (vec![0.0f32; WIDTH], [0.0f64; 3]);
    for step in 0..STEPS {
        run.step().unwrap();
        let now = run.weights().unwrap();
        let moved = |(was, is): (&f32, &f32)| f64::from(was - is).powi(2);
        let stage = [16, 24].iter().filter(|end| step >= **end).count();
        squares[stage] += last.iter().zip(&now).map(moved).sum::<f64>();
        last = now;
    }
    for ((squares, steps), batch) in
        squares.into_iter().zip([16.0, 8.0, 4.0]).zip([1000.0f64, 2000.0, 4000.0])
    {
        let numbers = steps * WIDTH as f64;
        let found = squares / numbers * (batch / plan.sigma()).powi(2);
        // Within seven standard errors of 1.
        assert!((found - 1.0).abs() < 7.0 * (2.0 / numbers).sqrt(), "{batch}: {found}");
    }
}

#[test]
fn a_resumed_run_goes_on_in_its_stage() {
    let plan = plan(Neighboring::AddRemove);
    for (saved, seen) in [(15, 15), (16, 16), (14, 17), (3, 25)] {
        let folder = tempfile::tempdir().unwrap();
        let (mut first, batches) = trainer(&plan);
        first.begin_in(folder.path()).unwrap();
        steps(&mut first, saved);
        first.save().unwrap();
        steps(&mut first, seen - saved);
        // From here on all of them may have been seen.
        first.weights().unwrap();
        drop(first);
        let (mut second, more) = trainer(&plan);
        second.resume_from(folder.path()).unwrap();
        let progress = second.progress();
        assert_eq!((progress.taken, progress.counted), (saved, seen));
        while !second.is_finished() {
            second.step().unwrap();
        }
        // All steps of both processes, in their order, are those that are accounted for.
        let all = [&batches.lock().unwrap()[..], &more.lock().unwrap()[..]].concat();
        let certificate = second.certificate().unwrap().unwrap();
        assert_eq!(certificate, plan.certificate(STEPS).unwrap());
        assert!(are_samples(&all, &rates(&certificate.events)), "{saved} {seen}");
        assert_eq!(second.progress().taken, STEPS - (seen - saved));
    }
}

#[test]
fn a_run_that_ends_in_a_stage_counts_the_steps_of_it() {
    let plan = plan(Neighboring::AddRemove);
    let (mut run, _) = trainer(&plan);
    steps(&mut run, 18);
    let blind = run.certificate_if_stopped(StopCause::Crash).unwrap().unwrap();
    assert_eq!(blind.events, plan.events(18));
    let chosen = run.certificate_if_stopped(StopCause::Choice).unwrap().unwrap();
    assert_eq!(chosen.events, plan.events(STEPS));
    assert!(blind.guarantee.epsilon < chosen.guarantee.epsilon);
}

fn small() -> PrivacyPlan {
    let growth = Some(BatchGrowth { factor: 4 });
    PrivacyPlan::new(PlanSettings { growth, ..settings(3000, 0.05, 70) }, 1.0, 1e-5).unwrap()
}

#[test]
fn it_learns() {
    for optimizer in [OptimizerSettings::sgd(0.9), OptimizerSettings::Adam(Adam::default())] {
        let rate = if matches!(optimizer, OptimizerSettings::Sgd { .. }) { 0.5 } else { 0.05 };
        let recipe = Recipe { optimizer, schedule: Schedule::constant(rate), ..recipe() };
        let mut run = private(model(), examples(3000), Units::examples(3000), small(), recipe).unwrap();
        while !run.is_finished() {
            run.step().unwrap();
        }
        assert!(run.evaluate(&examples(300)).unwrap().accuracy.unwrap() > 0.9, "{optimizer:?}");
    }
}

#[test]
fn a_permit_for_other_stages_pays_for_nothing() {
    let plan = small();
    let other = PlanSettings { growth: Some(BatchGrowth { factor: 2 }), ..plan.settings().clone() };
    let constant = PlanSettings { growth: None, ..plan.settings().clone() };
    for other in [other, constant] {
        let paid = permit(&PrivacyPlan::new(other, 1.0, 1e-5).unwrap());
        let refused =
            Trainer::private(model(), examples(3000), Units::examples(3000), plan.clone(), recipe(), paid);
        assert!(matches!(refused.err().unwrap(), TrainError::Noise(_)));
    }
}

#[test]
fn those_who_sample_at_one_rate_refuse_it() {
    let plan = small();
    let line = |error: TrainError| error.to_string();
    let refused = PrivateSteps::new(plan.clone(), Units::examples(3000), permit(&plan));
    assert!(line(refused.err().unwrap()).starts_with("batch_growth = 4"));
    let (terms, paid) = (FederatedTerms::Records(plan.clone()), Some(permit(&plan)));
    let parties = vec![examples(30), examples(30)];
    let refused = Federation::new(&|| Ok(model()), parties, terms, recipe(), paid, None);
    assert!(line(refused.err().unwrap()).starts_with("batch_growth = 4"));
    let grid = reticent_train::engine::FixedGrid::of(&plan).unwrap();
    let refused = Contribution::new(model(), examples(30), Units::examples(30), &plan, grid, 30);
    assert!(line(refused.err().unwrap()).starts_with("batch_growth = 4"));
    let sum = reticent_train::engine::FixedSum::new(grid, 30).unwrap();
    let mut run = private(model(), examples(3000), Units::examples(3000), plan.clone(), recipe()).unwrap();
    assert!(line(run.step_with(&[sum]).unwrap_err()).starts_with("batch_growth = 4"));
    let recipe = Recipe { denoise: Some(Denoising::Wiener), ..recipe() };
    let refused = private(model(), examples(3000), Units::examples(3000), plan, recipe);
    assert!(line(refused.err().unwrap()).starts_with("denoise"));
}

/// The clipping norm that is added up stays what every step's event says, whatever its batch is.
#[test]
fn noise_and_clipping_are_those_of_every_step() {
    let plan = small();
    assert_eq!(plan.settings().clipping, Clipping::Flat { norm: 1.0 });
    let multipliers: Vec<f64> = plan
        .events(70)
        .iter()
        .map(|event| {
            let Event::Repeated { event, .. } = event else { panic!() };
            let Event::PoissonSampled { event, .. } = &**event else { panic!() };
            let Event::Gaussian { noise_multiplier } = **event else { panic!() };
            noise_multiplier.get()
        })
        .collect();
    assert!(multipliers.len() == 3 && multipliers.iter().all(|own| *own == multipliers[0] && *own <= 1.0));
}
