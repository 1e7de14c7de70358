//! Does the time of a release tell how much noise was added? (Jin et al. 2022; Spearman's rank
//! correlation of |noise| and time is 0.1 to 0.5 in other libraries.)

use reticent_core::{Delta, Epsilon, Scale, Sensitivity};
use reticent_noise::entropy::Bits;
use reticent_noise::mechanism::{
    DiscreteGaussian, DiscreteLaplace, Gaussian, IntegerGaussian, Laplace, PrivateSelection,
    RandomizedResponse, SelectionRule, StudentT,
};
use reticent_noise::sampler::{DiscreteGaussianSampler, DiscreteLaplaceSampler, Dyadic, rounded_normal};
use reticent_noise::{Entropy, Mechanism};
use reticent_testkit::budget::Ledger;
use reticent_testkit::free::Free;
use reticent_testkit::rank::spearman;
use std::hint::black_box;
use std::time::Instant;

const RELEASES: usize = 20_000;
const REPEATS: usize = 5;

/// What the release path must stay within.
const LIMIT: f64 = 0.05;

/// The median over repeats of the correlation between what `draw` returns and how long it takes.
///
/// With a true correlation of 0.03, one repeat exceeds 0.05 with probability 0.003 and the median of
/// five with probability 2·10⁻⁷; what is measured is closer to 0.
fn correlation(mut draw: impl FnMut() -> f64) -> f64 {
    let mut repeats: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let (noise, time): (Vec<f64>, Vec<f64>) = (0..RELEASES)
                .map(|_| {
                    let start = Instant::now();
                    let drawn = black_box(draw());
                    (drawn.abs(), start.elapsed().as_nanos() as f64)
                })
                .unzip();
            spearman(&noise, &time)
        })
        .collect();
    repeats.sort_by(f64::total_cmp);
    repeats[REPEATS / 2]
}

fn scale(value: f64) -> Scale {
    Scale::new(value).unwrap()
}

#[test]
fn time_does_not_tell_the_noise() {
    let mut ledger = Ledger::open("timing::release_path");
    let mut free = Free::new().unwrap();
    let one = Sensitivity::new(1.0).unwrap();
    let delta = Delta::new(1e-6).unwrap();
    let mut hold = |name: &str, rho: f64| {
        println!("release path, {name}: rho = {rho:+.4}");
        ledger.expect(name, if rho.abs() <= LIMIT { 1.0 } else { 0.0 });
    };
    for size in [1.0, 10.0, 100.0] {
        let mechanism = DiscreteLaplace::with_scale(1, scale(size)).unwrap();
        let mut draws = free.draws(&mechanism.event()).unwrap();
        let rho = correlation(|| draws.draw(&mechanism, &[0]).unwrap()[0] as f64);
        hold(&format!("discrete Laplace, scale {size}"), rho);
    }
    for size in [1.0, 100.0] {
        let mechanism = DiscreteGaussian::with_sigma(one, scale(size), delta).unwrap();
        let mut draws = free.draws(&mechanism.event()).unwrap();
        let rho = correlation(|| draws.draw(&mechanism, &[0]).unwrap()[0] as f64);
        hold(&format!("discrete Gaussian, sigma {size}"), rho);
    }
    let mechanism = Laplace::with_scale(one, scale(1.0), 1).unwrap();
    let mut draws = free.draws(&mechanism.event()).unwrap();
    hold("Laplace", correlation(|| draws.draw(&mechanism, &[0.0]).unwrap()[0]));
    let mechanism = Gaussian::with_sigma(one, scale(1.0), delta, 1).unwrap();
    let mut draws = free.draws(&mechanism.event()).unwrap();
    hold("Gaussian", correlation(|| draws.draw(&mechanism, &[0.0]).unwrap()[0]));
    let mechanism = IntegerGaussian::with_sigma(one, scale(10.0), delta, 1).unwrap();
    let mut draws = free.draws(&mechanism.event()).unwrap();
    hold("integer Gaussian", correlation(|| draws.draw(&mechanism, &[0]).unwrap()[0] as f64));
    let mechanism = StudentT::new(one, scale(1.0), 3, 1).unwrap();
    let mut draws = free.draws(&mechanism.event()).unwrap();
    hold("Student-t", correlation(|| draws.draw(&mechanism, &[0.0]).unwrap()[0]));
}

/// Whether a respondent's answer was kept must not show either.
#[test]
fn time_does_not_tell_whether_an_answer_was_kept() {
    let mut ledger = Ledger::open("timing::randomized_response");
    let mut free = Free::new().unwrap();
    for categories in [2, 5] {
        let response = RandomizedResponse::new(Epsilon::new(1.0).unwrap(), categories).unwrap();
        // The report itself is ranked (0 is the truth): a comparison in here would be timed along.
        let mut draws = free.draws(&response.event()).unwrap();
        let rho = correlation(|| draws.draw(&response, &0).unwrap() as f64);
        println!("release path, randomized response with {categories} answers: rho = {rho:+.4}");
        ledger.expect("randomized response", if rho.abs() <= LIMIT { 1.0 } else { 0.0 });
    }
}

/// For contrast only: bare samplers, and selections, which are not drawn ahead.
#[test]
fn bare_samplers_for_contrast() {
    let mut entropy = Entropy::new().unwrap();
    let mut free = Free::new().unwrap();
    let print = |name: &str, rho: f64| println!("bare sampler, {name}: rho = {rho:+.4}");
    for size in [1u128, 10, 100] {
        let laplace = DiscreteLaplaceSampler::new(Dyadic::integer(size));
        let rho = correlation(|| laplace.sample(&mut entropy) as f64);
        print(&format!("discrete Laplace, scale {size}"), rho);
        let gaussian = DiscreteGaussianSampler::new(Dyadic::integer(size));
        let rho = correlation(|| gaussian.sample(&mut entropy) as f64);
        print(&format!("discrete Gaussian, sigma {size}"), rho);
    }
    print("rounded normal", correlation(|| rounded_normal(&mut entropy, 1 << 32) as f64));
    print("one word", correlation(|| entropy.word() as f64));
    for rule in [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::ReportNoisyMax] {
        let selection = PrivateSelection::for_integers(rule, 1, Epsilon::new(1.0).unwrap()).unwrap();
        let scores: Vec<i128> = (0..20).map(|i| -i).collect();
        let mut draws = free.draws(&selection.event()).unwrap();
        let rho = correlation(|| draws.draw(&selection, &scores).unwrap() as f64);
        println!("selection, {rule:?}, rank chosen: rho = {rho:+.4}");
        // Mean time of the same answer on flat and on peaked scores.
        let mut mean = |scores: &[i128]| {
            let (mut total, mut times) = (0.0, 0.0);
            for _ in 0..RELEASES {
                let start = Instant::now();
                if black_box(draws.draw(&selection, scores).unwrap()) == 0 {
                    total += start.elapsed().as_nanos() as f64;
                    times += 1.0;
                }
            }
            total / times
        };
        let mut peaked = vec![-30; 200];
        peaked[0] = 0;
        let (flat, peaked) = (mean(&[0; 200]), mean(&peaked));
        println!("selection, {rule:?}: answer 0 of 200 after {flat:.0} ns flat, {peaked:.0} ns peaked");
    }
}
