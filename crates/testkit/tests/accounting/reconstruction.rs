//! Reconstruction of one record from sampled, noisy sums, simulated.

use super::events::sampled;
use reticent_accounting::reconstruction::ReconstructionBound;
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::special::{clopper_pearson, normal_tail_quantile};
use reticent_core::{Neighboring, Probability};
use reticent_noise::entropy::{Bits, SeededForTests};

/// Records that are equally likely: unit vectors, each in a direction of its own.
const CANDIDATES: usize = 10;
const TRIALS: u64 = 10_000;

fn uniform(bits: &mut SeededForTests) -> f64 {
    ((bits.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// How often the likeliest candidate is the right one.
fn recovered(rate: f64, sigma: f64, steps: usize, present: bool, bits: &mut SeededForTests) -> u64 {
    let won = |_| {
        let mut likelihoods = [0.0; CANDIDATES];
        for _ in 0..steps {
            let taken = present && uniform(bits) < rate;
            for (candidate, likelihood) in likelihoods.iter_mut().enumerate() {
                // By symmetry the record is the first candidate; others are known and subtracted.
                let mean = f64::from(u8::from(taken && candidate == 0));
                let seen = mean + sigma * normal_tail_quantile(uniform(bits));
                *likelihood +=
                    ((1.0 - rate) + rate * ((2.0 * seen - 1.0) / (2.0 * sigma * sigma)).exp()).ln();
            }
        }
        likelihoods[1..].iter().all(|other| *other < likelihoods[0])
    };
    (0..TRIALS).map(won).filter(|won| *won).count() as u64
}

#[test]
fn no_attack_recovers_more_than_the_bound_and_the_other_null_hypothesis_promises_too_much() {
    let mut bits = SeededForTests::new(21);
    let mut twins_caught = 0;
    for (rate, sigma, steps) in [(0.5, 0.3, 1), (0.1, 0.5, 8)] {
        // Without the record the guess is independent of it.
        let prior = 1.0 / CANDIDATES as f64;
        let absent = recovered(rate, sigma, steps, false, &mut bits);
        let (low, high) = clopper_pearson(absent, TRIALS, 5e-7);
        assert!(low <= prior && prior <= high, "{absent}");
        let found = recovered(rate, sigma, steps, true, &mut bits);
        let (certain, _) = clopper_pearson(found, TRIALS, 5e-7);
        let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
        account.compose(&sampled(rate, sigma), steps as u64).unwrap();
        let bound = ReconstructionBound::of(&account).unwrap();
        let most = bound.success(Probability::new(prior).unwrap()).unwrap();
        assert!(certain <= most, "{rate} {sigma} {steps}: {found} of {TRIALS}, at most {most}");
        assert!(
            found as f64 / TRIALS as f64 > prior + 0.5 * (most - prior),
            "{found}: the bound {most} is loose"
        );
        // With presence as null hypothesis and one step, no power exceeds κ/(1 − q).
        twins_caught += u32::from(steps == 1 && certain > prior / (1.0 - rate));
    }
    assert_eq!(twins_caught, 1);
}
