use super::*;
use crate::{Clipping, PlanSettings};
use reticent_noise::NoiseSession;

fn plan(steps: u64, size: u64) -> PrivacyPlan {
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size,
        sampling_rate: 0.25,
        steps,
        clipping: Clipping::Flat { norm: 2.0 },
        dimension: 1000,
        cyclic: None,
        growth: None,
    };
    PrivacyPlan::new(settings, 1.5, 1e-5).unwrap()
}

fn permit(plan: &PrivacyPlan) -> Permit {
    plan.charge(&mut NoiseSession::without_limit("example", Neighboring::AddRemove).unwrap()).unwrap()
}

fn steps(count: u64) -> PrivateSteps {
    let plan = plan(count, 400);
    let permit = permit(&plan);
    PrivateSteps::new(plan, Units::examples(400), permit).unwrap()
}

#[test]
fn noise_is_added_once_for_a_sample_and_as_often_as_was_paid_for() {
    let mut steps = steps(2);
    let mut sum = vec![0.0f32; 1000];
    assert!(steps.add_noise(&mut sum, Team::own(1)).is_err_and(|e| e.to_string().contains("sample")));
    for _ in 0..2 {
        steps.sample().unwrap();
        assert!(steps.add_noise(&mut sum[1..], Team::own(1)).is_err());
        sum.fill(0.0);
        steps.add_noise(&mut sum, Team::own(2)).unwrap();
        let variance = sum.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / 1000.0;
        assert!((variance / 9.0 - 1.0).abs() < 7.0 * (2.0f64 / 1000.0).sqrt(), "{variance}");
        assert!(steps.add_noise(&mut sum, Team::own(1)).is_err());
    }
    assert_eq!((steps.counted(), steps.allowed()), (2, 2));
    assert!(matches!(steps.sample(), Err(TrainError::Finished { steps: 2 })));
    let again = permit(steps.plan());
    steps.extend(again).unwrap();
    steps.sample().unwrap();
    steps.add_noise(&mut sum, Team::own(1)).unwrap();
    assert_eq!((steps.counted(), steps.allowed()), (3, 4));
    let longer = steps.certificate(StopCause::Choice).unwrap();
    assert_eq!(longer.guarantee.epsilon, steps.plan().epsilon(3).unwrap());
    assert!(longer.public.iter().any(|fact| fact.to_string().contains("declared not to depend")));
}

#[test]
fn samples_have_the_rate_of_the_plan() {
    let mut steps = steps(10);
    let mut seen = 0;
    for _ in 0..1000 {
        seen += steps.sample().unwrap().units();
    }
    // 100 000 expected, standard deviation 274.
    assert!(seen.abs_diff(100_000) < 2200, "{seen}");
}

#[test]
fn a_run_that_was_stopped_by_choice_claims_all_steps() {
    let mut steps = steps(50);
    let mut sum = vec![0.0f32; 1000];
    for _ in 0..3 {
        steps.sample().unwrap();
        steps.add_noise(&mut sum, Team::own(1)).unwrap();
    }
    let epsilon = |cause| steps.certificate(cause).unwrap().guarantee.epsilon;
    assert_eq!(epsilon(StopCause::Choice), steps.plan().epsilon(50).unwrap());
    assert_eq!(epsilon(StopCause::Crash), steps.plan().epsilon(3).unwrap());
    let tighter = steps.epsilon(Delta::new(1e-7).unwrap()).unwrap();
    assert!(tighter > steps.epsilon(Delta::new(1e-5).unwrap()).unwrap());
}

#[test]
fn a_killed_run_leaves_no_count_that_is_too_low() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("steps.json");
    let mut sum = vec![0.0f32; 1000];
    let mut first = steps(40);
    first.begin_in(&file).unwrap();
    assert!(steps(40).resume_in(&file).is_err_and(|e| e.to_string().contains("another process")));
    for taken in 1..=9 {
        first.sample().unwrap();
        first.add_noise(&mut sum, Team::own(1)).unwrap();
        let text: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert!(text["counted"].as_u64().unwrap() >= taken);
    }
    // What a kill leaves: the file as it is now.
    let killed = std::fs::read(&file).unwrap();
    drop(first);
    let mut settled = steps(40);
    settled.resume_in(&file).unwrap();
    assert_eq!(settled.counted(), 9);
    drop(settled);
    std::fs::write(&file, killed).unwrap();
    let mut second = steps(40);
    second.resume_in(&file).unwrap();
    assert!((9..=40).contains(&second.counted()));
    drop(second);
    assert!(steps(41).resume_in(&file).is_err_and(|e| matches!(e, TrainError::Changed { .. })));
    assert!(steps(40).begin_in(&file).is_err_and(|e| e.to_string().contains("holds a run")));
    std::fs::write(&file, "{}").unwrap();
    assert!(steps(40).resume_in(&file).is_err());
}
