use super::*;
use crate::sampler::Units;
use crate::{NoiseLaw, Selection};
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{Delta, Epsilon, Event, Guarantee};
use reticent_noise::Entropy;

fn settings(per_epoch: u64, bands: u64, steps: u64) -> PlanSettings {
    PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: 600,
        sampling_rate: 1.0,
        steps,
        clipping: Clipping::Flat { norm: 0.5 },
        dimension: 1000,
        cyclic: Some(CyclicBatches { per_epoch, bands }),
        growth: None,
    }
}

/// C and its inverse as rows.
fn dense(factor: &BandedFactor) -> [Vec<Vec<f64>>; 2] {
    let (steps, c) = (factor.steps() as usize, factor.coefficients());
    let entry = |i: usize, j: usize| if i >= j && i - j < c.len() { c[i - j] } else { 0.0 };
    let matrix: Vec<Vec<f64>> = (0..steps).map(|i| (0..steps).map(|j| entry(i, j)).collect()).collect();
    // Forward substitution, row by row.
    let mut inverse: Vec<Vec<f64>> = Vec::new();
    for (i, row) in matrix.iter().enumerate() {
        let entry = |j: usize| {
            let own = if i == j { 1.0 } else { 0.0 };
            let past: f64 = inverse.iter().zip(row).map(|(before, c)| c * before[j]).sum();
            (own - past) / row[i]
        };
        let found = (0..steps).map(entry).collect();
        inverse.push(found);
    }
    [matrix, inverse]
}

/// A number from −1 to 1 that has no pattern.
fn odd(place: usize) -> f32 {
    ((place as f32 * 0.618_034).fract() * 2.0 - 1.0) * ((place * place % 17) as f32 / 17.0)
}

#[test]
fn rows_and_noisy_sums_are_those_of_the_dense_matrices() {
    for (bands, steps) in [(1, 1), (1, 5), (2, 7), (4, 4), (5, 23)] {
        let batches = CyclicBatches { per_epoch: 30, bands };
        let [matrix, inverse] = dense(&batches.factor(steps).unwrap());
        let (steps, width) = (steps as usize, 3);
        let sum = |t: usize, i: usize| odd(7 * t + i);
        let noise = |t: usize, i: usize| 10.0 * odd(1000 + 11 * t + i);
        let mut own = Correlation::new(batches, steps as u64).unwrap();
        let (mut rows, mut given) = (Vec::new(), Vec::new());
        for t in 0..steps {
            assert!(!own.is_torn() && own.rows() == t as u64);
            let exact: Vec<f32> = (0..width).map(|i| sum(t, i)).collect();
            let row = own.row(&exact);
            assert!(own.is_torn(), "a row without its noise is the last one");
            let noisy: Vec<f32> = row.iter().enumerate().map(|(i, y)| y + noise(t, i)).collect();
            rows.push(row);
            given.push(own.release(exact, &noisy));
        }
        let (mut variances, mut most) = (0.0, 0.0f64);
        for t in 0..steps {
            for i in 0..width {
                let row: f64 = (0..steps).map(|s| matrix[t][s] * f64::from(sum(s, i))).sum();
                let noisy: f64 = (0..steps).map(|s| inverse[t][s] * f64::from(noise(s, i))).sum();
                assert!((f64::from(rows[t][i]) - row).abs() < 1e-6, "{bands} {t}");
                let error = (f64::from(given[t][i]) - f64::from(sum(t, i)) - noisy).abs();
                assert!(error < 2e-5, "{bands} {t}: {error}");
                most = most.max(noisy.abs());
            }
            variances += inverse[t].iter().map(|x| x * x).sum::<f64>();
        }
        assert!(most > 1.0 && (own.mean_variance() / (variances / steps as f64) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_run_is_one_gaussian_event_of_sigma_over_the_sensitivity() {
    for (per_epoch, bands, steps) in [(40, 8, 200), (40, 1, 200), (7, 7, 20), (50, 5, 20)] {
        let settings = settings(per_epoch, bands, steps);
        let batches = settings.cyclic.unwrap();
        let sensitivity = batches.factor(steps).unwrap().sensitivity(batches.participation(steps)).unwrap();
        let plan = PrivacyPlan::new(settings, 3.0, 1e-5).unwrap();
        let Event::Gaussian { noise_multiplier } = plan.event().unwrap() else { panic!() };
        let ideal = 3.0 / sensitivity;
        assert!(noise_multiplier.get() < ideal && noise_multiplier.get() > ideal * (1.0 - 1e-4));
        let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
        let event = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(ideal).unwrap() };
        account.compose(&event, 1).unwrap();
        let exact = account.epsilon(Delta::new(1e-5).unwrap()).unwrap();
        let stated = plan.epsilon(steps).unwrap().get();
        assert!(stated >= exact.lower && stated < exact.upper * 1.001, "{stated} {exact:?}");
        // A part of the run costs what all of it does.
        assert_eq!(plan.epsilon(1).unwrap().get(), stated);
        let certificate = plan.certificate(1).unwrap();
        assert_eq!(certificate.events, [plan.event().unwrap().clone()]);
        assert_eq!(certificate.guarantee.epsilon.get(), stated);
        assert_eq!(plan.charges().unwrap().events(), [plan.event().unwrap().clone()]);
        assert_eq!(plan.expected_batch(0), 600.0 / per_epoch as f64);
    }
}

/// Independent noise in batches that come round costs what as many Gaussian mechanisms as a unit's steps cost.
#[test]
fn one_band_is_the_composition_of_a_units_steps() {
    let plan = PrivacyPlan::new(settings(40, 1, 200), 3.0, 1e-5).unwrap();
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    account.compose(&Event::Gaussian { noise_multiplier: NoiseMultiplier::new(3.0).unwrap() }, 5).unwrap();
    let composed = account.epsilon(Delta::new(1e-5).unwrap()).unwrap();
    let stated = plan.epsilon(200).unwrap().get();
    assert!(stated >= composed.lower && stated < composed.upper * 1.001, "{stated} {composed:?}");
}

#[test]
fn a_target_is_met_and_a_plan_is_stored() {
    let budget = Guarantee { epsilon: Epsilon::new(2.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
    let plan = PrivacyPlan::target(settings(20, 8, 100), budget).unwrap();
    let spent = plan.epsilon(100).unwrap().get();
    assert!(spent <= 2.0 && spent > 1.999, "{spent}");
    assert_eq!(plan.steps_within(budget).unwrap(), 100);
    let less = Guarantee { epsilon: Epsilon::new(1.9).unwrap(), ..budget };
    assert_eq!(plan.steps_within(less).unwrap(), 0);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<PrivacyPlan>(&text).unwrap(), plan);
    let other = text.replace("\"bands\":8", "\"bands\":21");
    assert!(serde_json::from_str::<PrivacyPlan>(&other).unwrap_err().to_string().contains("bands"));
    assert!(plan.claiming(0.1).is_err());
    assert!(settings(20, 8, 100).event(NoiseMultiplier::new(1.0).unwrap()).is_err());
}

#[test]
fn what_the_proof_does_not_cover_is_refused() {
    let with = |change: fn(&mut PlanSettings)| {
        let mut settings = settings(20, 8, 100);
        change(&mut settings);
        PrivacyPlan::new(settings, 3.0, 1e-5).unwrap_err().to_string()
    };
    let batches = |per_epoch, bands| Some(CyclicBatches { per_epoch, bands });
    assert!(with(|s| s.neighboring = Neighboring::ReplaceOne).starts_with("neighboring = replace-one"));
    assert!(with(|s| s.sampling_rate = 0.05).starts_with("sampling_rate = 0.05"));
    assert!(
        with(|s| s.clipping = Clipping::Quantile(crate::QuantileClipping::new(1.0))).contains("quantile")
    );
    assert!(with(|s| s.clipping = Clipping::encoded(1.0, 4.0, 1.0, 1000).unwrap()).contains("encoded"));
    assert!(with(|s| s.steps = 7).starts_with("bands = 8"));
    let of = |cyclic| PrivacyPlan::new(PlanSettings { cyclic, ..settings(20, 8, 100) }, 3.0, 1e-5);
    for (own, field) in
        [(batches(7, 8), "bands = 8"), (batches(20, 0), "bands = 0"), (batches(0, 1), "batching")]
    {
        assert!(of(own).unwrap_err().to_string().starts_with(field));
    }
    assert!(of(batches(601, 8)).unwrap_err().to_string().starts_with("batching = 601"));
    let law = NoiseLaw::StudentT { degrees_of_freedom: 9 };
    assert!(PrivacyPlan::with_law(settings(20, 8, 100), law, 3.0, 1e-5).is_err());
}

#[test]
fn usual_bands_have_the_least_error() {
    let error = |per_epoch, bands, steps| {
        let own = CyclicBatches { per_epoch, bands };
        own.factor(steps).unwrap().running_sum_variance(own.participation(steps)).unwrap()
    };
    for (per_epoch, steps) in [(1, 1), (1, 10), (5, 50), (40, 40), (40, 400), (100, 2000), (300, 100)] {
        let usual = CyclicBatches::usual_bands(per_epoch, steps).unwrap();
        assert!(usual <= per_epoch.min(steps).min(64) && usual.is_power_of_two());
        for bands in [1, 2, 4, 8, 16, 32, 64] {
            if bands <= per_epoch.min(steps) {
                assert!(error(per_epoch, usual, steps) <= error(per_epoch, bands, steps));
            }
        }
        println!(
            "{per_epoch} batches, {steps} steps: {usual} bands, {} of the variance",
            error(per_epoch, usual, steps) / error(per_epoch, 1, steps)
        );
    }
    assert!(CyclicBatches::usual_bands(0, 5).is_err());
}

#[test]
fn every_unit_comes_round() {
    let (units, mut entropy) = (Units::examples(5000), Entropy::new().unwrap());
    let mut sampler = CyclicSampler::new(4, 5000, &mut entropy);
    let mut selection = Selection::default();
    let mut epochs = Vec::new();
    for step in 0..8 {
        sampler.set_step(step);
        sampler.sample(&units, &mut entropy, &mut selection);
        epochs.push(selection.examples().to_vec());
    }
    assert_eq!(epochs[..4], epochs[4..]);
    let mut all = epochs[..4].concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..5000));
    // 1250 each with standard deviation 31; neighbours are together in a quarter of the cases, 1250 with 31 as well.
    assert!(epochs[..4].iter().all(|batch| batch.len().abs_diff(1250) < 250));
    let batch_of = |unit: usize| epochs.iter().position(|batch| batch.contains(&unit));
    let together = (0..4999).filter(|unit| batch_of(*unit) == batch_of(unit + 1)).count();
    assert!(together.abs_diff(1250) < 250, "{together}");
}
