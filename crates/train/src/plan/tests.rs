use super::*;

fn settings() -> PlanSettings {
    PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: 60_000,
        sampling_rate: 600.0 / 60_000.0,
        steps: 1000,
        clipping: Clipping::Flat { norm: 0.5 },
        dimension: 26_010,
        cyclic: None,
        growth: None,
    }
}

fn budget(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

#[test]
fn a_target_is_met_and_not_undercut_by_much() {
    let plan = PrivacyPlan::target(settings(), budget(3.0, 1e-5)).unwrap();
    let spent = plan.epsilon(1000).unwrap().get();
    assert!(spent <= 3.0 && spent > 2.999, "{spent}");
    assert!(plan.epsilon(500).unwrap().get() < spent);
    assert_eq!(plan.steps_within(budget(3.0, 1e-5)).unwrap(), 1000);
    assert_eq!(plan.steps_within(budget(1e-3, 1e-5)).unwrap(), 0);
    assert_eq!(plan.epsilon(0).unwrap().get(), 0.0);
    let certificate = plan.certificate(1000).unwrap();
    assert_eq!(certificate.guarantee.epsilon.get(), spent);
    assert_eq!(certificate.events.len(), 1);
    assert!(plan.certificate(0).unwrap().events.is_empty());
    let swap = PlanSettings { neighboring: Neighboring::ReplaceOne, steps: 200, ..settings() };
    let spent = PrivacyPlan::target(swap, budget(3.0, 1e-5)).unwrap().epsilon(200).unwrap().get();
    assert!(spent <= 3.0 && spent > 2.999, "{spent}");
}

/// σ/C under both relations: the same noise, and what replacing a unit costs is that of its own pair.
#[test]
fn the_noise_multiplier_is_over_the_clipping_norm() {
    let add = PrivacyPlan::new(settings(), 1.0, 1e-5).unwrap();
    let swap = PlanSettings { neighboring: Neighboring::ReplaceOne, ..settings() };
    let swap = PrivacyPlan::new(swap, 1.0, 1e-5).unwrap();
    assert_eq!((add.sigma(), swap.sigma()), (0.5, 0.5));
    assert_eq!((add.noise_multiplier(), swap.noise_multiplier()), (1.0, 1.0));
    let Event::PoissonSampled { event, .. } = swap.event().unwrap() else { panic!() };
    assert!(matches!(**event, Event::ClippedSum { .. }));
    let (added, replaced) = (add.epsilon(1000).unwrap().get(), swap.epsilon(1000).unwrap().get());
    assert!(replaced > 2.8434 && replaced < 2.8436 && added < replaced, "{added} {replaced}");
}

/// What was stored under replace-one says σ: the noise and the claims of a run do not depend on how it was asked for.
#[test]
fn a_stored_plan_keeps_its_noise() {
    let text = r#"{"settings":{"neighboring":"replace-one","unit":"example","size":60000,"sampling_rate":0.01,"steps":1000,
        "clipping":{"flat":{"norm":0.5}},"dimension":26010},"sigma":1.0,"delta":1e-5}"#;
    let plan: PrivacyPlan = serde_json::from_str(text).unwrap();
    assert_eq!((plan.sigma(), plan.noise_multiplier()), (1.0, 2.0));
    let event = Event::Repeated { count: 1000, event: Box::new(plan.event().unwrap().clone()) };
    assert_eq!(plan.certificate(1000).unwrap().events, vec![event]);
}

#[test]
fn the_event_pays_for_the_noise_grid() {
    let plan = PrivacyPlan::new(settings(), 1.1, 1e-5).unwrap();
    let Event::PoissonSampled { rate, event } = plan.event().unwrap() else { panic!() };
    let Event::Gaussian { noise_multiplier } = **event else { panic!() };
    assert_eq!(rate.get(), 0.01);
    assert!(noise_multiplier.get() < 1.1 && noise_multiplier.get() > 1.0999);
    let full = PlanSettings { sampling_rate: 1.0, steps: 3, ..settings() };
    assert!(matches!(PrivacyPlan::new(full, 5.0, 1e-5).unwrap().event().unwrap(), Event::Gaussian { .. }));
}

#[test]
fn the_divisor_is_public() {
    let plan = PrivacyPlan::new(settings(), 1.0, 1e-5).unwrap();
    assert_eq!(plan.expected_batch(0), 600.0);
    assert!((plan.noise_variance(0) - (0.5f64 / 600.0).powi(2)).abs() < 1e-18);
}

#[test]
fn numbers_without_meaning_are_refused_by_name() {
    let with = |change: fn(&mut PlanSettings)| {
        let mut settings = settings();
        change(&mut settings);
        let error = PrivacyPlan::new(settings.clone(), 1.0, 1e-5).unwrap_err().to_string();
        assert_eq!(PrivacyPlan::target(settings, budget(1.0, 1e-5)).unwrap_err().to_string(), error);
        error
    };
    assert!(with(|s| s.sampling_rate = 1.01).starts_with("sampling_rate = 1.01: "));
    assert!(with(|s| s.sampling_rate = 0.0).starts_with("sampling_rate"));
    assert!(with(|s| s.sampling_rate = f64::NAN).starts_with("sampling_rate"));
    assert!(with(|s| s.steps = 0).starts_with("steps"));
    assert!(with(|s| s.size = 0).starts_with("size"));
    assert!(with(|s| s.dimension = 0).starts_with("dimension"));
    assert!(with(|s| s.unit.clear()).starts_with("unit"));
    assert!(with(|s| s.clipping = Clipping::Flat { norm: 0.0 }).starts_with("clip"));
    assert!(with(|s| s.clipping = Clipping::Flat { norm: -1.0 }).starts_with("clip"));
    for multiplier in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = PrivacyPlan::new(settings(), multiplier, 1e-5).unwrap_err().to_string();
        assert!(error.starts_with("noise_multiplier"), "{error}");
    }
    for delta in [0.0, 1.0, -1e-5, f64::NAN] {
        assert!(PrivacyPlan::new(settings(), 1.0, delta).unwrap_err().to_string().starts_with("delta"));
    }
    assert!(PrivacyPlan::target(settings(), budget(0.0, 1e-5)).is_err());
    assert!(PrivacyPlan::target(settings(), budget(1.0, 0.0)).is_err());
    assert!(
        PrivacyPlan::target(settings(), budget(1.0, 1e-35)).unwrap_err().to_string().starts_with("delta")
    );
    // So little noise that nothing would be claimed.
    assert!(PrivacyPlan::new(settings(), 1e-6, 1e-5).is_err());
}

#[test]
fn a_plan_is_stored_and_a_change_is_named() {
    let plan = PrivacyPlan::target(settings(), budget(3.0, 1e-5)).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    let again: PrivacyPlan = serde_json::from_str(&text).unwrap();
    assert_eq!((&again, again.digest()), (&plan, plan.digest()));
    assert_eq!(plan.difference(&again), None);
    let other =
        PrivacyPlan::new(PlanSettings { steps: 999, ..settings() }, plan.noise_multiplier(), 1e-5).unwrap();
    assert_ne!(other.digest(), plan.digest());
    let (what, was, is) = plan.difference(&other).unwrap();
    assert_eq!((&what[..], &was[..], &is[..]), ("settings.steps", "1000", "999"));
    let bad = text.replace("\"sampling_rate\":0.01", "\"sampling_rate\":1.5");
    assert!(serde_json::from_str::<PrivacyPlan>(&bad).unwrap_err().to_string().contains("sampling_rate"));
}
