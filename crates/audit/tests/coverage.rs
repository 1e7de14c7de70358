//! Intervals of the metrics cover the truth as often as they say.
#![allow(clippy::unwrap_used)]

use reticent_audit::Membership;
use reticent_audit::findings::Estimate;
use reticent_audit::metrics::{MetricSettings, measure};
use reticent_core::special::{normal_cdf, normal_tail};
use reticent_noise::entropy::{Bits, SeededForTests};

fn uniform(bits: &mut SeededForTests) -> f64 {
    ((bits.word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

fn normal(bits: &mut SeededForTests) -> f64 {
    (-2.0 * uniform(bits).ln()).sqrt() * (std::f64::consts::TAU * uniform(bits)).cos()
}

/// 150 members from N(1, 1) and 200 non-members from N(0, 1), 1 000 times.
#[test]
fn intervals_cover_as_often_as_they_say() {
    let (area, advantage, prior) = (normal_cdf(0.5_f64.sqrt()), 2.0 * normal_cdf(0.5) - 1.0, 0.05);
    let settings = MetricSettings { rates: vec![0.1], prior: Some(prior), ..Default::default() };
    let mut missed = [0; 5];
    for seed in 0..1_000 {
        let mut bits = SeededForTests::new(seed);
        let members: Vec<f64> = (0..150).map(|_| 1.0 + normal(&mut bits)).collect();
        let mut others: Vec<f64> = (0..200).map(|_| normal(&mut bits)).collect();
        let truth = (0..350).map(|row| row < 150).collect();
        let scores = members.iter().chain(&others).copied().collect();
        let found = measure(&Membership::new(scores, truth).unwrap(), &settings).unwrap();
        let rate = &found.rates[0];
        // Just above the highest non-member that is not flagged.
        others.sort_unstable_by(|a, b| b.total_cmp(a));
        let threshold = others[rate.false_positives.unwrap() as usize];
        let (tpr, fpr) = (normal_tail(threshold - 1.0), normal_tail(threshold));
        let ppv = prior * tpr / (prior * tpr + (1.0 - prior) * fpr);
        let outside = |e: Estimate, truth: f64| usize::from(truth < e.lower || truth > e.upper);
        missed[0] += outside(found.auc, area);
        missed[1] += outside(found.advantage, advantage);
        missed[2] += outside(found.balanced_accuracy, 0.5 + 0.5 * advantage);
        missed[3] += outside(rate.tpr.unwrap(), tpr);
        missed[4] += outside(rate.ppv.unwrap(), ppv);
    }
    println!("area, advantage, balanced accuracy, rate, precision: {missed:?} of 1000 missed");
    // 5 % and three standard deviations.
    assert!(missed.iter().all(|missed| *missed <= 70), "{missed:?}");
}
