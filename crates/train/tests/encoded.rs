//! Encoded gradients as engines add them up, and plans and trainings with them.

use crate::contract::{layout, weights};
use crate::model::{examples, model, model_of_many, private, recipe, settings};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring};
use reticent_testkit::contract::{Described, Subject, cases, hostile_under, network};
use reticent_train::engine::FixedGrid;
use reticent_train::{
    Baseline, Batching, Clipping, Denoising, MagnitudeProfile, NoiseLaw, PlanSettings, PrivacyPlan,
    QuantileClipping, Recipe, Selection, Trainer, Units,
};

const STUDENT: NoiseLaw = NoiseLaw::StudentT { degrees_of_freedom: 9 };

/// The bounds of every rank.
fn bounds(profile: &MagnitudeProfile) -> impl Iterator<Item = f64> + '_ {
    let levels = profile.levels().iter().zip(profile.counts());
    levels
        .flat_map(|(level, count)| std::iter::repeat_n(*level, *count as usize))
        .chain(std::iter::repeat(0.0))
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = numbers.map(f64::abs).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted
}

fn of(units: &[&[usize]]) -> Selection {
    let mut selection = Selection::default();
    units.iter().for_each(|unit| selection.push(unit.iter().copied()));
    selection
}

/// Every unit's vector has the magnitudes of the definition, in double precision, and the sum of units is the sum of their vectors.
#[test]
fn every_kind_of_layer_is_encoded_unit_by_unit() {
    let units: [&[usize]; 4] = [&[2], &[0, 3, 1], &[], &[5, 4]];
    for case in cases() {
        let layout = layout(&case.description);
        let own = weights(&layout, 7);
        let gradient = |unit: &[usize]| {
            let mut sum = vec![0.0f64; layout.gradients()];
            for example in unit {
                let one = network::pass(&case.description, &layout, &own, &case.examples, *example).gradient;
                sum.iter_mut().zip(one).for_each(|(sum, g)| *sum += g);
            }
            sum
        };
        for (threads, chunk, kept, gain) in [(1, 100, 1.0, 4.0), (2, 3, 0.4, 1.0)] {
            let rule = Clipping::encoded(0.5, gain, kept, layout.gradients()).unwrap();
            let profile = rule.profile().unwrap();
            let mut subject = Described::new(&case.description, own.clone(), threads, chunk).unwrap();
            let mut total = vec![0.0f64; layout.gradients()];
            for unit in units {
                let found = subject.sum(&case.examples, &of(&[unit]), Some(&rule)).unwrap();
                let magnitudes = sorted(found.iter().map(|x| f64::from(*x)));
                assert!(
                    magnitudes.iter().zip(bounds(profile)).all(|(x, bound)| *x <= bound),
                    "{}",
                    case.name
                );
                let mut truth = sorted(gradient(unit).into_iter());
                truth.truncate(profile.kept() as usize);
                let length = truth.iter().map(|x| x * x).sum::<f64>().sqrt();
                let factor = gain * (0.5 / length).min(1.0);
                for ((x, bound), found) in truth.iter().zip(bounds(profile)).zip(&magnitudes) {
                    assert!(((x * factor).min(bound) - found).abs() < 3e-5, "{}: {x} {found}", case.name);
                }
                total.iter_mut().zip(&found).for_each(|(total, x)| *total += f64::from(*x));
            }
            let together = subject.sum(&case.examples, &of(&units), Some(&rule)).unwrap();
            let apart: f64 = total.iter().zip(&together).map(|(a, b)| (a - f64::from(*b)).powi(2)).sum();
            // Numbers of nearly the same magnitude may change their ranks with the order of additions.
            assert!(apart.sqrt() < 1e-4 || case.name.contains("dropout"), "{}: {}", case.name, apart.sqrt());
            let held = hostile_under(&mut subject, &case.examples, std::slice::from_ref(&rule));
            assert_eq!(held, Ok(()), "{}", case.name);
        }
    }
}

fn encoded(steps: u64) -> PlanSettings {
    PlanSettings { clipping: Clipping::encoded(1.0, 4.0, 1.0, 9).unwrap(), ..settings(300, 0.05, steps) }
}

#[test]
fn what_last_bits_decide_needs_a_model_that_separates_units() {
    let quantile = Clipping::Quantile(QuantileClipping::new(1.0));
    for clipping in [encoded(10).clipping, quantile] {
        let plan = PrivacyPlan::new(PlanSettings { clipping, ..settings(300, 0.05, 10) }, 1.0, 1e-5).unwrap();
        let train = |model| private(model, examples(300), Units::examples(300), plan.clone(), recipe());
        train(model()).unwrap();
        let refused = train(model_of_many()).err().unwrap().to_string();
        assert!(refused.starts_with("clipping = ") && refused.contains("separates_units"), "{refused}");
    }
    let flat = PrivacyPlan::new(settings(300, 0.05, 10), 1.0, 1e-5).unwrap();
    private(model_of_many(), examples(300), Units::examples(300), flat, recipe()).unwrap();
}

#[test]
fn a_plan_with_student_t_noise_needs_a_profile() {
    let flat = PrivacyPlan::with_law(settings(300, 0.05, 10), STUDENT, 1.0, 1e-5).unwrap_err().to_string();
    assert!(flat.starts_with("noise = student-t") && flat.contains("encoded"), "{flat}");
    let swap = PlanSettings { neighboring: Neighboring::ReplaceOne, ..encoded(10) };
    let swap = PrivacyPlan::with_law(swap, STUDENT, 1.0, 1e-5).unwrap_err().to_string();
    assert!(swap.contains("add-remove"), "{swap}");
    // A profile that leaves weights out bounds nothing there, and rounding of a sum may reach them.
    let narrow = PlanSettings { dimension: 10, ..encoded(10) };
    let refused = PrivacyPlan::with_law(narrow.clone(), STUDENT, 1.0, 1e-5).unwrap_err().to_string();
    assert!(refused.starts_with("profile = of 9 coordinates"), "{refused}");
    assert!(PrivacyPlan::new(narrow, 1.0, 1e-5).is_ok());
    let wide = PlanSettings { dimension: 5, ..encoded(10) };
    assert!(PrivacyPlan::new(wide, 1.0, 1e-5).unwrap_err().to_string().starts_with("profile"));
    // Gaussian noise costs what the profile's norm costs, as any clipping does.
    let gaussian = PrivacyPlan::new(encoded(10), 1.0, 1e-5).unwrap();
    let plain = PrivacyPlan::new(settings(300, 0.05, 10), 1.0, 1e-5).unwrap();
    assert_eq!(gaussian.event(), plain.event());
    let certificate = gaussian.certificate(10).unwrap();
    assert!(certificate.public.iter().any(|fact| fact.to_string().contains("profile of encoded gradients")));
    assert!(FixedGrid::of(&gaussian).unwrap_err().to_string().contains("several parties"));
}

#[test]
fn student_t_noise_is_calibrated_and_trained_with() {
    let budget = Guarantee { epsilon: Epsilon::new(2.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
    let plan = PrivacyPlan::target_with_law(encoded(30), STUDENT, budget).unwrap();
    let spent = plan.epsilon(30).unwrap().get();
    assert!(spent <= 2.0 && spent > 1.97, "{spent}");
    let Event::PoissonSampled { event, .. } = plan.event().unwrap() else { panic!() };
    assert!(matches!(**event, Event::EncodedStudentT { degrees_of_freedom: 9, .. }));
    let (scale, batch) = (plan.sigma(), plan.expected_batch(0));
    assert!((plan.noise_variance(0) / ((scale / batch).powi(2) * 9.0 / 7.0) - 1.0).abs() < 1e-12);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<PrivacyPlan>(&text).unwrap(), plan);
    for (_, rule) in Denoising::NAMES {
        let recipe = Recipe { denoise: Some(rule), ..recipe() };
        let mut trainer =
            private(model(), examples(300), Units::examples(300), plan.clone(), recipe).unwrap();
        for _ in 0..30 {
            trainer.step().unwrap();
        }
        assert!(trainer.is_finished() && trainer.step().is_err());
        let certificate = trainer.certificate().unwrap().unwrap();
        assert_eq!(certificate, plan.certificate(30).unwrap());
        assert!(trainer.final_weights().unwrap().iter().all(|weight| weight.is_finite()));
    }
}

#[test]
fn without_noise_there_is_nothing_to_denoise() {
    let baseline = Baseline::new(Batching::Shuffled { size: 30 }, 5);
    let recipe = Recipe { denoise: Some(Denoising::Wiener), ..recipe() };
    let refused = Trainer::non_private(model(), examples(300), Units::examples(300), baseline, recipe);
    assert!(refused.err().unwrap().to_string().starts_with("denoise = wiener"));
}
