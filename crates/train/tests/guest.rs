//! Noise on vectors of another framework, with an emulator for its GPU.
//!
//! Vectors are named by their addresses, which is unsafe: those of a test live until its end.
#![allow(unsafe_code)]

use reticent_core::Neighboring;
use reticent_noise::NoiseSession;
use reticent_testkit::emulator::Emulator;
use reticent_train::cuda::GuestSums;
use reticent_train::{Clipping, PlanSettings, PrivacyPlan, PrivateSteps, Team, TrainError, Units};

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
        growth: None,
    };
    let plan = PrivacyPlan::new(settings, 1.5, 1e-5).unwrap();
    let mut session = NoiseSession::without_limit("example", Neighboring::AddRemove).unwrap();
    let permit = plan.charge(&mut session).unwrap();
    PrivateSteps::new(plan, Units::examples(400), permit).unwrap()
}

/// Adds the noise of a step to the values.
fn add(steps: &mut PrivateSteps, guest: &mut GuestSums, values: &mut [f32]) -> Result<(), TrainError> {
    assert_eq!(guest.length(), values.len());
    // SAFETY: the values are as many, and the emulator has one stream and is done when it returns.
    unsafe { guest.place(values.as_mut_ptr() as u64, 0)? };
    steps.add_noise_on(guest)
}

fn guest(length: usize) -> GuestSums {
    GuestSums::on(Box::new(Emulator::new()), length).unwrap()
}

#[test]
fn a_vector_gets_the_noise_of_the_plan_once_for_every_sample() {
    let (mut steps, mut values) = (steps(2), vec![5.0f32; DIMENSION]);
    let mut guest = guest(DIMENSION);
    let refused = add(&mut steps, &mut guest, &mut values);
    assert!(refused.is_err_and(|error| error.to_string().contains("sample")));
    let mut drawn = Vec::new();
    for step in 1..=2 {
        steps.sample().unwrap();
        values.fill(5.0);
        add(&mut steps, &mut guest, &mut values).unwrap();
        assert_eq!(steps.counted(), step);
        let noise: Vec<f64> = values.iter().map(|value| f64::from(*value) - 5.0).collect();
        let (n, square) = (DIMENSION as f64, |x: &f64| x * x);
        let variance = noise.iter().map(square).sum::<f64>() / n;
        // σ is 1.5 × 2.
        assert!((variance / 9.0 - 1.0).abs() < 7.0 * (2.0 / n).sqrt(), "{variance}");
        assert!(add(&mut steps, &mut guest, &mut values).is_err());
        drawn.push(noise);
    }
    let product: f64 = drawn[0].iter().zip(&drawn[1]).map(|(a, b)| a * b).sum::<f64>() / DIMENSION as f64;
    assert!(product.abs() < 7.0 * 9.0 / (DIMENSION as f64).sqrt(), "{product}");
    assert!(matches!(steps.sample(), Err(TrainError::Finished { steps: 2 })));
    assert!(matches!(add(&mut steps, &mut guest, &mut values), Err(TrainError::Finished { steps: 2 })));
}

#[test]
fn a_vector_of_another_length_is_refused_and_nothing_counts() {
    let (mut steps, mut values) = (steps(1), vec![0.0f32; DIMENSION - 1]);
    steps.sample().unwrap();
    let refused = add(&mut steps, &mut guest(DIMENSION - 1), &mut values);
    assert!(refused.is_err_and(|error| error.to_string().contains("2999 numbers")));
    assert_eq!(steps.counted(), 0);
    assert!(values.iter().all(|value| *value == 0.0));
}

/// A vector is named for one step: noise does not go to memory that may be another's by now.
#[test]
fn a_vector_is_named_for_every_step() {
    let (mut steps, mut values) = (steps(3), vec![0.0f32; DIMENSION]);
    let mut guest = guest(DIMENSION);
    steps.sample().unwrap();
    add(&mut steps, &mut guest, &mut values).unwrap();
    steps.sample().unwrap();
    let before = values.clone();
    assert!(steps.add_noise_on(&mut guest).is_err_and(|error| error.to_string().contains("name the vector")));
    assert_eq!(values, before);
}

/// A run may go on with noise of the CPU: both are paid for alike.
#[test]
fn steps_of_both_kinds_are_paid_for() {
    let (mut steps, mut values) = (steps(2), vec![0.0f32; DIMENSION]);
    steps.sample().unwrap();
    steps.draw(Team::own(1)).unwrap();
    add(&mut steps, &mut guest(DIMENSION), &mut values).unwrap();
    steps.sample().unwrap();
    steps.add_noise(&mut values, Team::own(1)).unwrap();
    assert!(steps.sample().is_err());
}
