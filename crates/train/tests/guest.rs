//! Noise on vectors of another framework, with an emulator for its GPU.
//!
//! Vectors are named by their addresses, which is unsafe: those of a test live until its end.
#![allow(unsafe_code)]

use reticent_core::Neighboring;
use reticent_noise::NoiseSession;
use reticent_testkit::emulator::Emulator;
use reticent_train::cuda::GuestVector;
use reticent_train::{Clipping, PlanSettings, PrivacyPlan, PrivateSteps, TrainError, Units};

const DIMENSION: usize = 3000;

fn steps(count: u64) -> PrivateSteps {
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: 400,
        sampling_rate: 0.25,
        steps: count,
        clipping: Clipping::Flat { norm: 2.0 },
        dimension: DIMENSION,
        cyclic: None,
    };
    let plan = PrivacyPlan::new(settings, 1.5, 1e-5).unwrap();
    let mut session = NoiseSession::without_limit("example", Neighboring::AddRemove).unwrap();
    let permit = plan.charge(&mut session).unwrap();
    PrivateSteps::new(plan, Units::examples(400), permit).unwrap()
}

fn vector(values: &mut [f32]) -> GuestVector {
    // SAFETY: the values outlive the vector in every test here.
    unsafe { GuestVector::on(Box::new(Emulator::new()), values.as_mut_ptr() as u64, values.len()).unwrap() }
}

#[test]
fn a_vector_gets_the_noise_of_the_plan_once_for_every_sample() {
    let (mut steps, mut values) = (steps(2), vec![5.0f32; DIMENSION]);
    let mut sum = vector(&mut values);
    assert!(steps.add_noise_on(&mut sum).is_err_and(|error| error.to_string().contains("sample")));
    let mut drawn = Vec::new();
    for step in 1..=2 {
        steps.sample().unwrap();
        values.fill(5.0);
        // SAFETY: the emulator has one stream.
        unsafe { sum.follow(0).unwrap() };
        steps.add_noise_on(&mut sum).unwrap();
        assert_eq!(steps.counted(), step);
        let noise: Vec<f64> = values.iter().map(|value| f64::from(*value) - 5.0).collect();
        let (n, square) = (DIMENSION as f64, |x: &f64| x * x);
        let variance = noise.iter().map(square).sum::<f64>() / n;
        // σ is 1.5 × 2.
        assert!((variance / 9.0 - 1.0).abs() < 7.0 * (2.0 / n).sqrt(), "{variance}");
        assert!(steps.add_noise_on(&mut sum).is_err());
        drawn.push(noise);
    }
    let product: f64 = drawn[0].iter().zip(&drawn[1]).map(|(a, b)| a * b).sum::<f64>() / DIMENSION as f64;
    assert!(product.abs() < 7.0 * 9.0 / (DIMENSION as f64).sqrt(), "{product}");
    assert!(matches!(steps.sample(), Err(TrainError::Finished { steps: 2 })));
    assert!(matches!(steps.add_noise_on(&mut sum), Err(TrainError::Finished { steps: 2 })));
}

#[test]
fn a_vector_of_another_length_is_refused_and_nothing_counts() {
    let (mut steps, mut values) = (steps(1), vec![0.0f32; DIMENSION - 1]);
    let mut sum = vector(&mut values);
    steps.sample().unwrap();
    assert!(steps.add_noise_on(&mut sum).is_err_and(|error| error.to_string().contains("2999 numbers")));
    assert_eq!(steps.counted(), 0);
    assert!(values.iter().all(|value| *value == 0.0));
}

/// A run may go on with noise of the CPU: both are paid for alike.
#[test]
fn steps_of_both_kinds_are_paid_for() {
    let (mut steps, mut values) = (steps(2), vec![0.0f32; DIMENSION]);
    let mut sum = vector(&mut values);
    steps.sample().unwrap();
    steps.draw(1).unwrap();
    steps.add_noise_on(&mut sum).unwrap();
    steps.sample().unwrap();
    steps.add_noise(&mut values, 1).unwrap();
    assert!(steps.sample().is_err());
}
