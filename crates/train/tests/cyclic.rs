//! Training without sampling: the noise that is released, and what is refused.

use super::model::{examples, model, permit, private, recipe, settings};
use reticent_core::Event;
use reticent_train::{
    Aggregation, ClippedSum, Clipping, CyclicBatches, Denoising, Examples, FederatedTerms, Federation,
    Gradients, Inputs, Layout, OptimizerSettings, Parameter, PlanSettings, PrivacyPlan, PrivateSteps, Recipe,
    Resources, Schedule, StopCause, Targets, TrainError, Trainer, Units, model_engine,
};
use std::sync::Arc;

/// A model whose gradient is the same number in every coordinate: the example's input.
struct Flat(Layout);

impl Flat {
    fn new(dimension: usize) -> Self {
        let parameter = Parameter { name: "w".to_owned(), shape: vec![dimension], group: 0, trainable: true };
        Self(Layout::new(vec![parameter]))
    }
}

impl Gradients for Flat {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; self.0.weights()])
    }

    fn check(&self, _: &Examples) -> Result<(), TrainError> {
        Ok(())
    }

    fn gradients(
        &mut self,
        _: &[f32],
        examples: &Examples,
        sink: &mut ClippedSum<'_>,
    ) -> Result<(), TrainError> {
        let mut input = [0.0f32];
        let selection = sink.selection();
        for unit in 0..selection.units() {
            examples.read(selection.unit(unit)[0], &mut input);
            sink.unit(unit, &vec![input[0]; self.0.gradients()])?;
        }
        Ok(())
    }

    fn outputs(&mut self, _: &[f32], _: &Examples, which: &[usize]) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; which.len()])
    }
}

const WIDTH: usize = 20_000;
const UNITS: usize = 60;

fn plan(batches: CyclicBatches, steps: u64, multiplier: f64) -> PrivacyPlan {
    let settings = PlanSettings {
        cyclic: Some(batches),
        dimension: WIDTH,
        clipping: Clipping::Flat { norm: 1.0 },
        ..settings(UNITS as u64, 1.0, steps)
    };
    PrivacyPlan::new(settings, multiplier, 1e-5).unwrap()
}

/// The noisy sums of every step, where each of the units has this number in every coordinate of its gradient.
fn released(plan: &PrivacyPlan, number: f32) -> Vec<Vec<f64>> {
    let inputs = Inputs::Real(vec![number; UNITS]);
    let data = Examples::new(&[1], inputs, Targets::Classes(vec![0; UNITS])).unwrap();
    let recipe = Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(1.0),
        average: None,
        denoise: None,
    };
    let engine = model_engine(Box::new(Flat::new(WIDTH)), Resources::SINGLE).unwrap();
    let units = Units::examples(UNITS);
    let mut trainer = private(engine, Arc::new(data), units, plan.clone(), recipe).unwrap();
    let (mut last, mut sums) = (vec![0.0f32; WIDTH], Vec::new());
    while !trainer.is_finished() {
        trainer.step().unwrap();
        let now = trainer.weights().unwrap();
        let moved = |(was, is): (&f32, &f32)| f64::from(was - is) * plan.expected_batch(0);
        sums.push(last.iter().zip(&now).map(moved).collect());
        last = now;
    }
    sums
}

/// The rows of C⁻¹.
fn inverse(batches: CyclicBatches, steps: u64) -> Vec<Vec<f64>> {
    let factor = batches.factor(steps).unwrap();
    let (steps, c) = (steps as usize, factor.coefficients());
    let mut first: Vec<f64> = Vec::new();
    for t in 0..steps {
        let own = if t == 0 { 1.0 } else { 0.0 };
        let past: f64 = (1..c.len().min(t + 1)).map(|d| c[d] * first[t - d]).sum();
        first.push((own - past) / c[0]);
    }
    (0..steps).map(|t| (0..steps).map(|s| if s <= t { first[t - s] } else { 0.0 }).collect()).collect()
}

/// Seven standard errors each: a false alarm has a probability below 10⁻¹⁰ in all.
#[test]
fn the_noise_of_the_sums_has_the_covariance_of_the_inverse() {
    let (batches, steps, sigma) = (CyclicBatches { per_epoch: 4, bands: 3 }, 6, 2.0);
    let sums = released(&plan(batches, steps, sigma), 0.0);
    let (rows, n) = (inverse(batches, steps), WIDTH as f64);
    let covariance =
        |s: usize, t: usize| sigma * sigma * rows[s].iter().zip(&rows[t]).map(|(a, b)| a * b).sum::<f64>();
    for s in 0..steps as usize {
        for t in 0..=s {
            let found = sums[s].iter().zip(&sums[t]).map(|(a, b)| a * b).sum::<f64>() / n;
            let truth = covariance(s, t);
            let error = ((covariance(s, s) * covariance(t, t) + truth * truth) / n).sqrt();
            assert!((found - truth).abs() < 7.0 * error, "{s} {t}: {found}, not {truth} ± {error}");
        }
    }
    // The test tells the factor from independent noise, and from the factor itself.
    let far = |wrong: f64, s: usize, t: usize| (wrong - covariance(s, t)).abs() > 0.3 * sigma * sigma;
    assert!(far(0.0, 1, 0) && far(sigma * sigma, 0, 0));
}

#[test]
fn sums_are_unbiased_and_every_unit_is_in_each_epoch_once() {
    let (batches, steps, sigma) = (CyclicBatches { per_epoch: 3, bands: 2 }, 6, 1.0);
    let number = 0.9 / (WIDTH as f32).sqrt();
    let sums = released(&plan(batches, steps, sigma), number);
    let means: Vec<f64> = sums.iter().map(|sum| sum.iter().sum::<f64>() / WIDTH as f64).collect();
    let rows = inverse(batches, steps);
    // A weighted sum of the means, against its exact value without noise.
    let check = |weights: [f64; 6], truth: f64| {
        let found: f64 = means.iter().zip(weights).map(|(mean, weight)| mean * weight).sum();
        let noise = |s: usize| (0..6).map(|t| weights[t] * rows[t][s]).sum::<f64>().powi(2);
        let error = sigma * ((0..6).map(noise).sum::<f64>() / WIDTH as f64).sqrt();
        assert!((found - truth).abs() < 7.0 * error, "{weights:?}: {found}, not {truth} ± {error}");
    };
    let all = UNITS as f64 * f64::from(number);
    check([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], all);
    check([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], all);
    for batch in 0..3 {
        // Each epoch has the same batches.
        check(
            std::array::from_fn(|t| {
                if t == batch {
                    1.0
                } else if t == batch + 3 {
                    -1.0
                } else {
                    0.0
                }
            }),
            0.0,
        );
    }
}

fn small(steps: u64) -> PrivacyPlan {
    let cyclic = Some(CyclicBatches { per_epoch: 5, bands: 4 });
    PrivacyPlan::new(PlanSettings { cyclic, ..settings(300, 1.0, steps) }, 1.0, 1e-5).unwrap()
}

fn trainer(plan: PrivacyPlan) -> Result<Trainer, TrainError> {
    private(model(), examples(300), Units::examples(300), plan, recipe())
}

#[test]
fn it_learns_and_its_certificate_is_that_of_the_plan() {
    let mut run = trainer(small(40)).unwrap();
    run.step().unwrap();
    let first = run.certificate().unwrap().unwrap();
    while !run.is_finished() {
        run.step().unwrap();
    }
    assert!(run.evaluate(&examples(300)).unwrap().accuracy.unwrap() > 0.8);
    let last = run.certificate().unwrap().unwrap();
    assert_eq!((&first.events, first.guarantee), (&last.events, last.guarantee));
    assert!(matches!(last.events[..], [Event::Gaussian { .. }]));
    let text = serde_json::to_string(&last).unwrap();
    for part in ["5 batches per epoch", "at most 8 steps, 5 apart", "4 bands", "one Gaussian event"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("Poisson"), "{text}");
    assert!(run.step().is_err_and(|error| matches!(error, TrainError::Finished { .. })));
}

#[test]
fn a_stopped_run_claims_the_whole_plan_and_does_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = trainer(small(20)).unwrap();
    run.begin_in(folder.path()).unwrap();
    for _ in 0..7 {
        run.step().unwrap();
    }
    run.save().unwrap();
    let (weights, whole) = (run.weights().unwrap(), run.certificate().unwrap().unwrap().guarantee);
    drop(run);
    // What is on disk: no array but weights, optimizer and average.
    let bytes = std::fs::read(folder.path().join("checkpoint.safetensors")).unwrap();
    let header = String::from_utf8_lossy(&bytes[8..]).into_owned();
    let arrays: Vec<&str> = ["weights.", "optimizer.", "average", "__metadata__"].to_vec();
    let end = header.find("}}").unwrap();
    let names = header[..end].matches("\"dtype\"").count();
    assert_eq!(
        names,
        arrays.iter().map(|name| header[..end].matches(&format!("\"{name}")).count()).sum::<usize>() - 1
    );
    let mut again = trainer(small(20)).unwrap();
    again.resume_from(folder.path()).unwrap();
    assert_eq!(again.weights().unwrap(), weights);
    let line = again.step().unwrap_err().to_string();
    assert!(line.contains("kept in no file"), "{line}");
    // Also a cause that did not depend on what was shown leaves the claim of all steps.
    again.stop(StopCause::Crash).unwrap();
    let certificate = again.certificate().unwrap().unwrap();
    assert_eq!(certificate.guarantee, whole);
    assert!(serde_json::to_string(&certificate).unwrap().contains("the claim is that of all 20 steps"));
}

#[test]
fn a_run_without_steps_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = trainer(small(20)).unwrap();
    run.begin_in(folder.path()).unwrap();
    drop(run);
    let mut again = trainer(small(20)).unwrap();
    again.resume_from(folder.path()).unwrap();
    again.step().unwrap();
}

#[test]
fn those_who_sample_refuse_it() {
    let plan = small(20);
    let line = |error: TrainError| error.to_string();
    let denoised = Recipe { denoise: Some(Denoising::Wiener), ..recipe() };
    let refused = private(model(), examples(300), Units::examples(300), plan.clone(), denoised);
    assert!(line(refused.err().unwrap()).starts_with("denoise"));
    let refused = PrivateSteps::new(plan.clone(), Units::examples(300), permit(&plan));
    assert!(line(refused.err().unwrap()).starts_with("batching = cyclic"));
    let parties = vec![examples(30), examples(30)];
    let (terms, paid) = (FederatedTerms::Records(plan.clone()), Some(permit(&plan)));
    let refused = Federation::new(&|| Ok(model()), parties, terms, recipe(), paid, None);
    assert!(line(refused.err().unwrap()).starts_with("batching = cyclic"));
    // The permit of the run pays for its one event, and for no second run.
    let mut paid = permit(&plan);
    paid.spend(plan.event().unwrap()).unwrap();
    assert!(Aggregation::private(model(), plan, recipe(), paid).is_err());
}
