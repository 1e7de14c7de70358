use super::*;
use crate::tight::PrivacyLoss;
use crate::{Accountant, AccountingError, CompositionMethod, calibrate};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, SamplingRate};

fn event(z: f64, nu: u64, levels: &[f64], counts: &[u64]) -> Event {
    Event::EncodedStudentT {
        noise_multiplier: NoiseMultiplier::new(z).unwrap(),
        degrees_of_freedom: nu,
        levels: levels.to_vec(),
        counts: counts.to_vec(),
    }
}

fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}

fn sampled(rate: f64, event: Event) -> Event {
    Event::PoissonSampled { rate: SamplingRate::new(rate).unwrap(), event: Box::new(event) }
}

fn account(event: &Event, count: u64) -> Accountant {
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    account.compose(event, count).unwrap();
    account
}

fn epsilon(event: &Event, count: u64, delta: f64) -> f64 {
    account(event, count).epsilon(Delta::new(delta).unwrap()).unwrap().upper
}

fn delta(event: &Event, epsilon: f64) -> f64 {
    account(event, 1).delta(Epsilon::new(epsilon).unwrap()).unwrap().upper
}

/// Noise whose location has the same Fisher information.
fn limit(z: f64, nu: f64) -> f64 {
    z * ((nu + 3.0) / (nu + 1.0)).sqrt()
}

/// ν, z, levels, counts, what is asked, and what lies below and above the answer.
type Case<Asked> = (u64, f64, &'static [f64], &'static [u64], Asked, f64, f64);

/// δ at ε, between losses of every coordinate rounded down and up to a grid of 2²⁰ points and added up by numpy's transform.
#[rustfmt::skip]
const ONE_USE: &[Case<f64>] = &[
        (3, 1.0, &[1.0], &[1], 0.2, 2.820799340944e-01, 2.820807428727e-01),
        (3, 1.0, &[1.0], &[1], 1.0, 2.265319873464e-02, 2.265375739316e-02),
        (1, 2.0, &[1.0], &[2], 0.3, 4.719814944800e-02, 4.719881987053e-02),
        (2, 0.7, &[2.0, 1.0], &[1, 1], 1.0, 1.489334208102e-01, 1.489354044799e-01),
        (9, 1.0, &[1.0], &[5], 1.0, 9.639389096393e-02, 9.640052784907e-02),
        (5, 0.8, &[3.0, 1.0], &[1, 4], 0.5, 2.795674385627e-01, 2.795769623838e-01),
        (30, 0.5, &[1.0], &[5], 2.0, 3.057931000686e-01, 3.058157798161e-01),
        (9, 1.0, &[1.0], &[1], 0.5, 2.170217978210e-01, 2.170228188637e-01),
];

/// ε for (rate, steps, δ), the worse of both directions, made in the same way: the pair of the total, and the loss of every step, rounded
/// down and up.
#[rustfmt::skip]
const SAMPLED: &[Case<(f64, u64, f64)>] = &[
        (3, 1.0, &[1.0], &[1], (0.1, 20, 1e-5), 1.624151719, 1.624388738),
        (9, 1.0, &[1.0], &[5], (0.05, 100, 1e-5), 2.686986887, 2.688415180),
        (5, 0.8, &[3.0, 1.0], &[1, 4], (0.02, 200, 1e-6), 1.934207226, 1.936693960),
        (9, 0.8, &[1.0], &[200], (0.01, 300, 1e-5), 1.516080901, 1.525844895),
        (2, 2.0, &[2.0, 1.0], &[3, 10], (0.2, 50, 1e-6), 2.798058431, 2.799226517),
];

#[test]
fn one_use_lies_between_losses_rounded_down_and_up() {
    for (nu, z, levels, counts, at, low, high) in ONE_USE {
        let found = delta(&event(*z, *nu, levels, counts), *at);
        assert!(found > *low && found < *high, "{nu} {z} {counts:?} {at}: {found} {low} {high}");
    }
}

#[test]
fn sampled_steps_lie_between_losses_rounded_down_and_up() {
    for (nu, z, levels, counts, (rate, steps, at), low, high) in SAMPLED {
        let found = epsilon(&sampled(*rate, event(*z, *nu, levels, counts)), *steps, *at);
        assert!(found > *low && found < *high, "{nu} {z} {counts:?} {rate} {steps}: {found} {low} {high}");
    }
}

/// One coordinate has δ in closed form; the atoms are never below it and hardly above.
#[test]
fn atoms_of_one_coordinate_are_never_below_its_profile() {
    for (nu, z) in [(1, 0.5), (3, 1.0), (3, 10.0), (9, 0.4), (50, 2.0)] {
        let atoms = encoded_student(z, nu, &[7.0], &[1]).unwrap();
        let total: f64 = atoms.iter().map(|(_, mass)| mass).sum();
        assert!((total - 1.0).abs() < 1e-12);
        let coordinate = Coordinate::new(1.0 / z, nu).unwrap();
        for i in 0..60 {
            let at = coordinate.largest * f64::from(i) / 58.0;
            let own =
                |(loss, mass): &(f64, f64)| if *loss > at { mass * -libm::expm1(at - loss) } else { 0.0 };
            let found: f64 = atoms.iter().map(own).sum();
            let truth = coordinate::tests::delta(nu as f64, 1.0 / z, at);
            // The closed form is a difference of numbers near 1.
            assert!(found > truth - 1e-13, "{nu} {z} {at}: {found} {truth}");
            assert!(
                found < truth * (1.0 + 1e-5) + 1e-7 * coordinate.largest,
                "{nu} {z} {at}: {found} {truth}"
            );
        }
    }
}

/// Many small entries: Gaussian noise of the same Fisher information, from whichever profile.
#[test]
fn many_entries_approach_gaussian_noise() {
    let spread: Vec<f64> = (0..20).map(|i| 0.9f64.powi(i)).collect();
    let counts: Vec<u64> = (0..20).map(|i| 100 * (i + 1)).collect();
    for (nu, z, levels, counts) in
        [(3, 1.0, vec![1.0], vec![26_000]), (9, 0.7, vec![1.0], vec![26_000]), (5, 1.2, spread, counts)]
    {
        let (own, near) = (event(z, nu, &levels, &counts), gaussian(limit(z, nu as f64)));
        for at in [0.1, 1.0, 3.0] {
            let (found, wanted) = (delta(&own, at), delta(&near, at));
            assert!((found / wanted - 1.0).abs() < 4e-3, "{nu} {at}: {found} {wanted}");
        }
        let (found, wanted) =
            (epsilon(&sampled(0.01, own), 1000, 1e-5), epsilon(&sampled(0.01, near), 1000, 1e-5));
        assert!((found / wanted - 1.0).abs() < 1e-3, "{nu}: {found} {wanted}");
    }
}

#[test]
fn many_degrees_of_freedom_approach_gaussian_noise() {
    for count in [1, 4] {
        for at in [0.2, 1.0] {
            let wanted = delta(&gaussian(1.5), at);
            let off = |nu| (delta(&event(1.5, nu, &[1.0], &[count]), at) / wanted - 1.0).abs();
            assert!(
                off(1000) < 1e-2 && off(1000) < 0.2 * off(100),
                "{count} {at}: {} {}",
                off(100),
                off(1000)
            );
        }
    }
}

#[test]
fn more_noise_costs_less() {
    let mut last = f64::INFINITY;
    for i in 0..12 {
        let z = 0.5 * 1.2f64.powi(i);
        let found = epsilon(&sampled(0.05, event(z, 4, &[2.0, 1.0], &[10, 200])), 100, 1e-5);
        assert!(found < last, "{z}: {found} {last}");
        last = found;
    }
}

/// What is claimed is never below what samples of the pair show, at a confidence of 1 − 10⁻⁹, and a claim that takes the norm for a
/// single coordinate, or forgets how many there are, is caught.
#[test]
fn samples_of_the_pair_show_no_more_and_catch_broken_twins() {
    const SAMPLES: u32 = 200_000;
    let (nu, z, counts, at) = (3u64, 1.0, 20u64, 1.2);
    let shift = 1.0 / (z * (counts as f64).sqrt());
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let mut normal =
        move || (-2.0 * libm::log(uniform())).sqrt() * libm::cos(2.0 * std::f64::consts::PI * uniform());
    let mut total = 0.0;
    for _ in 0..SAMPLES {
        let mut loss = 0.0;
        for _ in 0..counts {
            let below: f64 = (0..nu).map(|_| normal().powi(2)).sum();
            let noise = normal() / (below / nu as f64).sqrt();
            let log = |x: f64| -0.5 * (nu as f64 + 1.0) * libm::log1p(x * x / nu as f64);
            loss += log(noise) - log(noise + shift);
        }
        if loss > at {
            total += -libm::expm1(at - loss);
        }
    }
    // Hoeffding's inequality.
    let (mean, doubt) = (total / f64::from(SAMPLES), (libm::log(1e9) / (2.0 * f64::from(SAMPLES))).sqrt());
    let found = delta(&event(z, nu, &[1.0], &[counts]), at);
    assert!(found > mean - doubt && found < mean + doubt, "{found} {mean} {doubt}");
    let whole_norm_at_once = delta(&event(z, nu, &[1.0], &[1]), at);
    assert!(whole_norm_at_once < mean - doubt, "{whole_norm_at_once} {mean}");
    let without_counts = delta(&event(z * (counts as f64).sqrt(), nu, &[1.0], &[1]), at);
    assert!(without_counts < mean - doubt, "{without_counts} {mean}");
}

#[test]
fn hardly_anything_counts_as_revealed() {
    for (nu, z, counts) in
        [(9, 1.0, 1), (9, 1.0, 5), (3, 1.0, 60), (3, 0.5, 1000), (9, 2.0, 26_000), (9, 1.0, 10_000_000)]
    {
        let loss = PrivacyLoss::Atoms(encoded_student(z, nu, &[1.0], &[counts]).unwrap());
        assert!(loss.far() < 1e-11, "{nu} {counts}: {}", loss.far());
    }
}

#[test]
fn noise_is_found_for_a_budget() {
    let budget = Guarantee { epsilon: Epsilon::new(3.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
    let plan = |z: f64| sampled(0.02, event(z, 9, &[1.0], &[26_000]));
    let found = calibrate::noise_multiplier(budget, |z| Ok(account(&plan(z), 500))).unwrap();
    assert!(epsilon(&plan(found), 500, 1e-5) <= 3.0);
    let near =
        calibrate::noise_multiplier(budget, |z| Ok(account(&sampled(0.02, gaussian(z)), 500))).unwrap();
    assert!((limit(found, 9.0) / near - 1.0).abs() < 1e-3, "{found} {near}");
    // Whatever the budget, hardly any noise is an answer or an error, at once.
    assert!(encoded_student(1e-4, 9, &[1.0], &[26_000]).is_none());
}

#[test]
fn replacing_a_record_is_refused_but_for_its_curve() {
    let own = event(2.0, 9, &[1.0], &[100]);
    let ask = |neighboring, method, event: &Event| {
        let mut account = Accountant::new(neighboring, method);
        account.compose(event, 1)?;
        account.epsilon(Delta::new(1e-6)?).map(|found| found.upper)
    };
    let on_sample = sampled(0.1, own.clone());
    let refused = ask(Neighboring::ReplaceOne, CompositionMethod::Pld, &on_sample).unwrap_err();
    assert!(matches!(refused, AccountingError::Unsupported { .. }), "{refused}");
    let mut tight = crate::tight::TightAccountant::new(Neighboring::ReplaceOne);
    let refused = tight.compose(&on_sample, 1).unwrap_err().to_string();
    assert!(refused.contains("add-remove"), "{refused}");
    let refused = tight.compose(&own, 1).unwrap_err().to_string();
    assert!(refused.contains("add-remove"), "{refused}");
    // Twice the norm, and nothing else.
    let half =
        Event::StudentT { noise_multiplier: NoiseMultiplier::new(1.0).unwrap(), degrees_of_freedom: 9 };
    assert_eq!(
        ask(Neighboring::ReplaceOne, CompositionMethod::Rdp, &own).unwrap(),
        ask(Neighboring::ReplaceOne, CompositionMethod::Rdp, &half).unwrap()
    );
    // On a sample there is no curve.
    assert!(ask(Neighboring::AddRemove, CompositionMethod::Rdp, &on_sample).is_err());
}
