//! Poisson samples against exact distributions, and private training audited by a canary: every step of many runs is
//! looked at, with and without one unit whose gradient is a fixed unit vector. The samples must not prove more than the
//! certificate says, and must come close to it; trainings with one thing wrong are caught by the same tester.

use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::special::{clopper_pearson, normal_tail_quantile};
use reticent_core::{
    Delta, Neighboring, NoiseMultiplier, SamplingRate, Scale, Sensitivity, Unlimited, charge,
};
use reticent_noise::Entropy;
use reticent_noise::bulk::{BulkGaussian, Parallelism};
use reticent_noise::sampler::{Inclusion, uniform_below};
use reticent_testkit::budget::{ALPHA_PER_TEST, Ledger};
use reticent_testkit::free::Free;
use reticent_testkit::goodness::{binomial, chi_square, correlation};
use reticent_testkit::hockey::{Counts, bin, epsilon_lower};
use reticent_train::sampler::PoissonSampler;
use reticent_train::{
    ClippedSum, Clipping, Examples, Gradients, Inputs, Layout, OptimizerSettings, Parameter, PlanSettings,
    PrivacyPlan, Recipe, Resources, Schedule, Selection, Targets, TrainError, Trainer, Units, model_engine,
};
use std::sync::Arc;

/// Samples of `draws` steps from `count` units.
fn samples(rate: f64, count: usize, draws: usize, mut look: impl FnMut(&[usize])) {
    let mut entropy = Entropy::new().unwrap();
    let mut sampler = PoissonSampler::new(SamplingRate::new(rate).unwrap()).unwrap();
    let (units, mut selection) = (Units::examples(count), Selection::default());
    for _ in 0..draws {
        sampler.sample(&units, &mut entropy, &mut selection);
        look(selection.examples());
    }
}

#[test]
fn inclusion() {
    let mut ledger = Ledger::open("training::inclusion");
    for rate in [0.5, 0.01, 256.0 / 60_000.0, 1e-5] {
        let (count, draws) = (5000, 2000);
        let mut seen = vec![0u64; count];
        samples(rate, count, draws, |taken| taken.iter().for_each(|unit| seen[*unit] += 1));
        let total = seen.iter().sum();
        ledger.expect("all units", binomial(total, (count * draws) as u64, rate));
        ledger.expect("the first", binomial(seen[0], draws as u64, rate));
        // Where in a block of random words a unit lies makes no difference.
        let mut places = [0u64; 50];
        seen.iter().enumerate().for_each(|(unit, hits)| places[unit % 50] += hits);
        ledger.expect("places", chi_square(&places, &[0.02; 50]).p_value);
    }
}

#[test]
fn independence() {
    let mut ledger = Ledger::open("training::independence");
    for rate in [0.5, 0.1, 0.01] {
        // Neighbours in one step, units a block of words apart, and the same unit in two steps.
        let (count, draws) = (4200, 400);
        let mut together = [[0u64; 4]; 3];
        let mut last: Vec<bool> = Vec::new();
        samples(rate, count, draws, |taken| {
            let mut now = vec![false; count];
            taken.iter().for_each(|unit| now[*unit] = true);
            let both = |a: bool, b: bool| usize::from(a) + 2 * usize::from(b);
            for unit in (0..count - 1).step_by(2) {
                together[0][both(now[unit], now[unit + 1])] += 1;
            }
            for unit in 0..2048 {
                together[1][both(now[unit], now[unit + 2048])] += 1;
            }
            if last.is_empty() {
                last = now;
            } else {
                (0..count).for_each(|unit| together[2][both(last[unit], now[unit])] += 1);
                last.clear();
            }
        });
        let (yes, no) = (rate, 1.0 - rate);
        for pairs in together {
            ledger.expect("pairs", chi_square(&pairs, &[no * no, yes * no, no * yes, yes * yes]).p_value);
        }
    }
    assert!(correlation(0.5, 10_000) < 1e-9, "the tester can tell");
}

fn binomial_masses(n: u64, p: f64) -> Vec<f64> {
    let ln_factorial = |k: u64| libm::lgamma(k as f64 + 1.0);
    let mass = |k: u64| {
        let ways = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
        libm::exp(ways + k as f64 * libm::log(p) + (n - k) as f64 * libm::log1p(-p))
    };
    (0..=n).map(mass).collect()
}

#[test]
fn batch_sizes() {
    let mut ledger = Ledger::open("training::batch_sizes");
    for (rate, n) in [(0.05, 100u64), (0.3, 40)] {
        for count in [n - 1, n, n + 1] {
            let mut sizes = vec![0u64; count as usize + 1];
            samples(rate, count as usize, 30_000, |taken| sizes[taken.len()] += 1);
            assert!(rate > 0.1 || sizes[0] > 0, "empty batches happen");
            ledger.expect("sizes", chi_square(&sizes, &binomial_masses(count, rate)).p_value);
        }
    }
}

/// A model whose gradient is its input.
pub(crate) struct Given {
    layout: Layout,
}

impl Given {
    pub(crate) fn new(dimension: usize) -> Self {
        let parameter = Parameter { name: "w".to_owned(), shape: vec![dimension], group: 0, trainable: true };
        Self { layout: Layout::new(vec![parameter]) }
    }
}

impl Gradients for Given {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; self.layout.weights()])
    }

    fn check(&self, _: &Examples) -> Result<(), TrainError> {
        Ok(())
    }

    fn separates_units(&self) -> bool {
        true
    }

    fn gradients(
        &mut self,
        _: &[f32],
        examples: &Examples,
        sink: &mut ClippedSum<'_>,
    ) -> Result<(), TrainError> {
        let mut gradient = vec![0.0f32; self.layout.gradients()];
        let selection = sink.selection();
        for unit in 0..selection.units() {
            for example in selection.unit(unit) {
                examples.read(*example, &mut gradient);
            }
            sink.unit(unit, &gradient)?;
        }
        Ok(())
    }

    fn outputs(&mut self, _: &[f32], _: &Examples, which: &[usize]) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; which.len()])
    }
}

/// Units besides the canary, and runs with and without it.
const OTHERS: usize = 20;
const RUNS: usize = 10_000;

/// One setting: its plan, and what a step's sum in the canary's direction tells about it.
struct Setting {
    plan: PrivacyPlan,
}

impl Setting {
    fn new(rate: f64, steps: u64, multiplier: f64) -> Self {
        Self::under(Neighboring::AddRemove, rate, steps, multiplier)
    }

    fn under(neighboring: Neighboring, rate: f64, steps: u64, multiplier: f64) -> Self {
        let settings = PlanSettings {
            neighboring,
            unit: "example".to_owned(),
            size: OTHERS as u64 + u64::from(neighboring == Neighboring::ReplaceOne),
            sampling_rate: rate,
            steps,
            clipping: Clipping::Flat { norm: 1.0 },
            dimension: 2,
            cyclic: None,
            growth: None,
        };
        Self { plan: PrivacyPlan::new(settings, multiplier, 1e-5).unwrap() }
    }

    fn rate(&self) -> f64 {
        self.plan.settings().sampling_rate
    }

    /// Whether the canary's place is taken by its opposite, rather than empty.
    fn is_replaced(&self) -> bool {
        self.plan.settings().neighboring == Neighboring::ReplaceOne
    }

    fn steps(&self) -> usize {
        self.plan.steps() as usize
    }

    /// The logarithm of how much likelier the sums are with the canary than without.
    fn score(&self, sums: &[f64]) -> f64 {
        let (rate, variance) = (self.rate(), self.plan.sigma().powi(2));
        let with = |x: f64| libm::log1p(rate * libm::expm1((2.0 * x - 1.0) / (2.0 * variance)));
        let without = |x: f64| if self.is_replaced() { with(-x) } else { 0.0 };
        sums.iter().map(|x| with(*x) - without(*x)).sum()
    }

    /// The sums in the canary's direction of every step of one honest training.
    fn train(&self, has_canary: bool) -> Vec<f64> {
        let mut inputs: Vec<f32> = (0..OTHERS).flat_map(|i| [0.0, 0.3 * (i as f32).sin()]).collect();
        if has_canary || self.is_replaced() {
            inputs.extend([if has_canary { 1e6 } else { -1e6 }, 0.0]);
        }
        let count = inputs.len() / 2;
        let data = Examples::new(&[2], Inputs::Real(inputs), Targets::Classes(vec![0; count])).unwrap();
        let recipe = Recipe {
            optimizer: OptimizerSettings::sgd(0.0),
            schedule: Schedule::constant(1.0),
            average: None,
            denoise: None,
        };
        let model = model_engine(Box::new(Given::new(2)), Resources::SINGLE).unwrap();
        let units = Units::examples(count);
        let permit = charge(&mut Unlimited::new(), &self.plan.charges().unwrap()).unwrap();
        let plan = self.plan.clone();
        let mut trainer = Trainer::private(model, Arc::new(data), units, plan, recipe, permit).unwrap();
        let mut last = 0.0;
        let mut sums = Vec::new();
        while !trainer.is_finished() {
            trainer.step().unwrap();
            let now = f64::from(trainer.weights().unwrap()[0]);
            sums.push((last - now) * self.plan.expected_batch(0));
            last = now;
        }
        sums
    }

    /// The steps of a training that is written here, with one thing wrong: `step` makes a noisy sum of the samples'
    /// inclusion of the canary.
    fn twin(
        &self,
        samples: impl Fn(&mut Entropy) -> Vec<bool>,
        signal: f64,
        noise: f64,
    ) -> impl Fn(bool) -> Vec<f64> {
        let noise = Scale::new(noise).unwrap();
        move |has_canary| {
            let mut entropy = Entropy::new().unwrap();
            let taken = samples(&mut entropy);
            let mut sums: Vec<f32> =
                taken.iter().map(|taken| if has_canary && *taken { signal as f32 } else { 0.0 }).collect();
            let noise = BulkGaussian::new(Sensitivity::new(1.0).unwrap(), noise, sums.len()).unwrap();
            let mut free = Free::new().unwrap();
            let mut draws = free.draws(&noise.event()).unwrap();
            noise.add_noise(&mut sums, &mut draws, Parallelism { threads: 1 }).unwrap();
            sums.into_iter().map(f64::from).collect()
        }
    }

    /// Whether the canary is in each step, as it should be drawn.
    fn poisson(&self) -> impl Fn(&mut Entropy) -> Vec<bool> {
        let (rate, steps) = (SamplingRate::new(self.rate()).unwrap(), self.steps());
        move |entropy| {
            let mut taken = Vec::new();
            Inclusion::new(rate).unwrap().draw(steps, entropy, &mut taken);
            (0..steps).map(|step| taken.contains(&step)).collect()
        }
    }

    /// ε at this δ, by the accountant.
    fn claim(&self, delta: f64) -> f64 {
        let mut account = Accountant::new(self.plan.settings().neighboring, CompositionMethod::Pld);
        account.compose(self.plan.event().unwrap(), self.plan.steps()).unwrap();
        account.epsilon(Delta::new(delta).unwrap()).unwrap().upper
    }

    fn scores(&self, run: impl Fn(bool) -> Vec<f64>, has_canary: bool) -> Vec<f64> {
        (0..RUNS).map(|_| self.score(&run(has_canary))).collect()
    }
}

/// What the runs of a training prove at least.
struct Finding {
    /// ε at the plan's δ of the Gaussian law that separates the runs as well, its error rates bounded.
    gaussian: f64,
    /// (δ, ε claimed, ε proven) for every law.
    proven: Vec<(f64, f64, f64)>,
}

/// The tester. Every number it proves is wrong with probability at most the next `alpha`.
fn audit(
    setting: &Setting,
    run: impl Fn(bool) -> Vec<f64>,
    deltas: &[f64],
    mut alpha: impl FnMut() -> f64,
) -> Finding {
    let (with, without) = (setting.scores(&run, true), setting.scores(&run, false));
    let side = alpha() / 2.0;
    let missed = with.iter().filter(|score| **score <= 0.0).count() as u64;
    let alarms = without.iter().filter(|score| **score > 0.0).count() as u64;
    let (_, missed) = clopper_pearson(missed, RUNS as u64, side);
    let (_, alarms) = clopper_pearson(alarms, RUNS as u64, side);
    let mu = (normal_tail_quantile(alarms) + normal_tail_quantile(missed)).max(1e-3);
    let multiplier = NoiseMultiplier::new(1.0 / mu).unwrap();
    let gaussian = gaussian_epsilon_up(multiplier, setting.plan.delta()).unwrap().get();
    let gather = |scores: &[f64]| Counts::gather(160, scores.iter().map(|s| bin(*s, -8.0, 0.1, 160)));
    let (with, without) = (gather(&with), gather(&without));
    let mut prove =
        |delta: &f64| (*delta, setting.claim(*delta), epsilon_lower(&with, &without, *delta, alpha()));
    Finding { gaussian, proven: deltas.iter().map(&mut prove).collect() }
}

impl Finding {
    fn is_sound(&self) -> bool {
        self.proven.iter().all(|(_, claimed, proven)| proven <= claimed)
    }
}

/// The δ that whole trade-offs are looked at with, besides that of the plan.
const DELTAS: [f64; 3] = [1e-5, 0.1, 0.3];

/// The real trainer: nothing proven beyond the certificate, and at least 70 % of it.
fn honest(ledger: &mut Ledger, setting: &Setting) {
    let found = audit(setting, |has| setting.train(has), &DELTAS, || ledger.alpha());
    let claimed = setting.plan.epsilon(setting.plan.steps()).unwrap().get();
    println!("certificate {claimed:.3}, Gaussian estimate {:.3}, {:?}", found.gaussian, found.proven);
    assert!(found.is_sound(), "{:?}", found.proven);
    assert!(found.gaussian <= claimed, "{} of {claimed}", found.gaussian);
    assert!(found.gaussian >= 0.7 * claimed, "the audit is too weak: {} of {claimed}", found.gaussian);
}

#[test]
fn full_batches() {
    let mut ledger = Ledger::open("training::full_batches");
    honest(&mut ledger, &Setting::new(1.0, 4, 1.25));
}

#[test]
fn poisson_batches() {
    let mut ledger = Ledger::open("training::poisson_batches");
    honest(&mut ledger, &Setting::new(0.8, 8, 1.4));
}

#[test]
fn replaced_units() {
    let mut ledger = Ledger::open("training::replaced_units");
    honest(&mut ledger, &Setting::under(Neighboring::ReplaceOne, 0.8, 8, 1.4));
}

/// One inclusion or none matters most: little noise, an expected one of eight steps.
fn rare() -> Setting {
    Setting::new(0.125, 8, 0.3)
}

const RARE_DELTAS: [f64; 3] = [0.3, 0.5, 0.7];

#[test]
fn rare_inclusion() {
    let mut ledger = Ledger::open("training::rare_inclusion");
    let setting = rare();
    let found = audit(&setting, |has| setting.train(has), &RARE_DELTAS, || ledger.alpha());
    println!("{:?}", found.proven);
    assert!(found.is_sound(), "{:?}", found.proven);
    // The twin: batches of a shuffle, where the canary is in exactly one of the eight.
    let steps = setting.steps();
    let shuffled = |entropy: &mut Entropy| {
        let place = uniform_below(entropy, steps as u64) as usize;
        (0..steps).map(|step| step == place).collect()
    };
    let found =
        audit(&setting, setting.twin(shuffled, 1.0, setting.plan.sigma()), &RARE_DELTAS, || ALPHA_PER_TEST);
    println!("broken twin, shuffled: {:?}", found.proven);
    assert!(!found.is_sound(), "shuffled batches accounted as Poisson: not caught, {:?}", found.proven);
}

#[test]
fn noise_for_the_mean_on_the_sum_is_caught() {
    for setting in [Setting::new(1.0, 4, 1.25), Setting::new(0.8, 8, 1.4)] {
        let noise = setting.plan.sigma() / setting.plan.expected_batch(0);
        let found = audit(&setting, setting.twin(setting.poisson(), 1.0, noise), &DELTAS, || ALPHA_PER_TEST);
        assert!(!found.is_sound(), "{:?}", found.proven);
        // The other way round, noise for the sum on the mean, protects more than is claimed: it is not tight.
        let signal = 1.0 / setting.plan.expected_batch(0);
        let twin = setting.twin(setting.poisson(), signal, setting.plan.sigma());
        let found = audit(&setting, twin, &DELTAS, || ALPHA_PER_TEST);
        assert!(found.gaussian < 0.7 * setting.plan.epsilon(setting.plan.steps()).unwrap().get());
    }
}

#[test]
fn clipping_after_averaging_is_caught() {
    // A canary of length 10⁶ is the mean's whole length after clipping to 1: it moves the sum by the batch size.
    for setting in [Setting::new(1.0, 4, 1.25), Setting::new(0.8, 8, 1.4)] {
        let signal = setting.plan.expected_batch(0);
        let twin = setting.twin(setting.poisson(), signal, setting.plan.sigma());
        let found = audit(&setting, twin, &DELTAS, || ALPHA_PER_TEST);
        assert!(!found.is_sound(), "{:?}", found.proven);
    }
}

#[test]
fn the_twin_with_nothing_wrong_is_not_caught() {
    let mut ledger = Ledger::open("training::honest_twin");
    let setting = Setting::new(0.8, 8, 1.4);
    let twin = setting.twin(setting.poisson(), 1.0, setting.plan.sigma());
    let found = audit(&setting, twin, &DELTAS, || ledger.alpha());
    assert!(found.is_sound() && found.gaussian > 0.7 * setting.claim(1e-5), "{:?}", found.proven);
}
