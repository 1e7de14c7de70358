use super::*;
use crate::{CyclicBatches, NoiseLaw, QuantileClipping};
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{Delta, Epsilon, Event, Fact, Guarantee, Neighboring, NoiseMultiplier, SamplingRate};

fn settings(factor: u64, rate: f64, steps: u64) -> PlanSettings {
    PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: 6000,
        sampling_rate: rate,
        steps,
        clipping: Clipping::Flat { norm: 0.5 },
        dimension: 1000,
        cyclic: None,
        growth: Some(BatchGrowth { factor }),
    }
}

fn constant(rate: f64, steps: u64) -> PlanSettings {
    PlanSettings { growth: None, ..settings(2, rate, steps) }
}

fn budget(epsilon: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(1e-5).unwrap() }
}

fn epsilon(plan: &PrivacyPlan, steps: u64) -> f64 {
    plan.epsilon(steps).unwrap().get()
}

/// Sampling rate and number of the steps of an event.
fn sampled(event: &Event) -> (f64, u64) {
    let Event::Repeated { count, event } = event else { panic!("{event:?}") };
    match &**event {
        Event::PoissonSampled { rate, .. } => (rate.get(), *count),
        _ => (1.0, *count),
    }
}

#[test]
fn every_stage_has_half_the_steps_of_the_one_before() {
    let own = |factor| BatchGrowth::new(factor).unwrap();
    assert_eq!(own(4).divided(700), [400, 200, 100]);
    assert_eq!(own(2).divided(3), [2, 1]);
    assert_eq!((own(4).divided(4), own(4).stages()), (vec![2, 1, 1], 3));
    for factor in [2u64, 4, 8, 64, 1 << 16] {
        for steps in [factor, factor + 1, 3 * factor - 1, 100_003 + factor, 1 << 40] {
            let stages = own(factor).divided(steps);
            assert_eq!(stages.iter().sum::<u64>(), steps);
            assert_eq!(stages.len() as u64, own(factor).stages());
            let whole = (2 * factor - 1) as f64;
            for (stage, own) in stages.iter().enumerate() {
                let ideal = steps as f64 * (factor >> stage) as f64 / whole;
                assert!(*own > 0 && (*own as f64 - ideal).abs() <= 1.0, "{factor} {steps}: {stages:?}");
            }
        }
    }
    for bad in [0, 1, 3, 12, 1 << 17] {
        assert!(
            BatchGrowth::new(bad).unwrap_err().to_string().starts_with(&format!("batch_growth = {bad}: "))
        );
    }
}

#[test]
fn a_step_has_the_rate_of_its_stage() {
    for (factor, steps) in [(2, 3), (4, 4), (4, 100), (8, 61)] {
        let settings = settings(factor, 0.01, steps);
        let rates: Vec<f64> = settings
            .stages()
            .into_iter()
            .flat_map(|Stage { rate, steps }| vec![rate; usize::try_from(steps).unwrap()])
            .collect();
        assert_eq!(rates.len() as u64, steps);
        assert_eq!((rates[0], *rates.last().unwrap()), (0.01, 0.01 * factor as f64));
        for taken in 0..=steps {
            let reached = settings.reached(taken);
            let own: f64 = reached.iter().map(|own| own.rate * own.steps as f64).sum();
            let sum: f64 = rates[..taken as usize].iter().sum();
            assert!((own - sum).abs() < 1e-9, "{taken}");
            assert_eq!(reached.iter().map(|own| own.steps).sum::<u64>(), taken);
            let batches = settings.growth.unwrap().in_first_batches(steps, taken);
            assert!((batches as f64 * 0.01 - sum).abs() < 1e-9);
        }
        for (step, rate) in rates.iter().enumerate() {
            assert_eq!(settings.rate(step as u64), *rate);
            assert_eq!(settings.expected_batch(step as u64), 6000.0 * rate);
        }
        // What follows the last step is of the last stage.
        assert_eq!(settings.rate(steps + 7), 0.01 * factor as f64);
        assert_eq!(
            settings.reached(steps + 7).last().unwrap().steps,
            settings.stages().last().unwrap().steps + 7
        );
    }
    assert_eq!(constant(0.01, 5).stages(), [Stage { rate: 0.01, steps: 5 }]);
    assert_eq!((constant(0.01, 5).rate(9), constant(0.01, 5).constant_rate().unwrap()), (0.01, 0.01));
    assert!(settings(2, 0.01, 5).constant_rate().unwrap_err().to_string().starts_with("batch_growth = 2"));
}

#[test]
fn epochs_are_divided_among_the_stages() {
    for (factor, epochs) in [(2, 10.0), (4, 3.0), (8, 20.0), (4, 0.7)] {
        let (own, per_epoch) = (BatchGrowth::new(factor).unwrap(), 1000.0);
        let stages = own.divided(own.steps_for(epochs * per_epoch));
        for (stage, steps) in stages.iter().enumerate() {
            let seen = *steps as f64 * (1u64 << stage) as f64 / per_epoch;
            let part = epochs / own.stages() as f64;
            assert!((seen - part).abs() <= (1u64 << stage) as f64 / per_epoch, "{seen} of {part}");
        }
    }
    // Six epochs of 1000 batches in two stages: 3000 and 1500 steps.
    assert_eq!(BatchGrowth::new(2).unwrap().steps_for(6000.0), 4500);
    assert_eq!(BatchGrowth::new(8).unwrap().steps_for(1e-6), 1);
}

/// What a plan claims for every prefix is what the accountant makes of the steps that were sampled, one by one.
#[test]
fn a_prefix_costs_what_its_steps_cost() {
    for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
        let settings = PlanSettings { neighboring, ..settings(4, 0.02, 40) };
        let plan = PrivacyPlan::new(settings.clone(), 1.1, 1e-5).unwrap();
        let mut before = 0.0;
        for taken in [1, 5, 22, 23, 24, 30, 34, 35, 40] {
            let certificate = plan.certificate(taken).unwrap();
            let listed: Vec<(f64, u64)> = certificate.events.iter().map(sampled).collect();
            let reached: Vec<(f64, u64)> = settings
                .reached(taken)
                .into_iter()
                .filter(|own| own.steps > 0)
                .map(|own| (own.rate, own.steps))
                .collect();
            assert_eq!(listed, reached);
            // One step after the other, each at its own rate.
            let mut account = Accountant::new(neighboring, CompositionMethod::Pld);
            let Event::Repeated { event, .. } = &certificate.events[0] else { panic!() };
            let Event::PoissonSampled { event, .. } = &**event else { panic!() };
            for step in 0..taken {
                let rate = SamplingRate::new(settings.rate(step)).unwrap();
                account.compose(&Event::PoissonSampled { rate, event: event.clone() }, 1).unwrap();
            }
            let exact = account.epsilon(Delta::new(1e-5).unwrap()).unwrap();
            let stated = epsilon(&plan, taken);
            assert!(stated >= exact.lower && stated <= exact.upper * 1.0001, "{taken}: {stated} {exact:?}");
            assert_eq!(certificate.guarantee.epsilon.get(), stated);
            assert!(stated > before, "{taken}");
            before = stated;
        }
        assert!(plan.certificate(0).unwrap().events.is_empty());
        assert_eq!(plan.charges().unwrap().events(), plan.certificate(40).unwrap().events);
        // No step is cheaper than one at the smallest rate, and none dearer than one at the largest.
        let other = |rate| {
            let settings = PlanSettings { growth: None, sampling_rate: rate, ..settings.clone() };
            epsilon(&PrivacyPlan::new(settings, 1.1, 1e-5).unwrap(), 40)
        };
        assert!(other(0.02) < before && before < other(0.08), "{before}");
    }
}

#[test]
fn a_target_is_met_from_below() {
    for (neighboring, law, clipping) in [
        (Neighboring::AddRemove, NoiseLaw::Gaussian, Clipping::Flat { norm: 0.5 }),
        (Neighboring::ReplaceOne, NoiseLaw::Gaussian, Clipping::Flat { norm: 0.5 }),
        (
            Neighboring::AddRemove,
            NoiseLaw::StudentT { degrees_of_freedom: 9 },
            Clipping::encoded(1.0, 4.0, 1.0, 1000).unwrap(),
        ),
    ] {
        let settings = PlanSettings { neighboring, clipping, ..settings(4, 0.02, 100) };
        let plan = PrivacyPlan::target_with_law(settings.clone(), law, budget(2.0)).unwrap();
        let spent = epsilon(&plan, 100);
        assert!(spent <= 2.0 && spent > 1.998, "{spent}");
        assert_eq!(plan.steps_within(budget(2.0)).unwrap(), 100);
        let part = plan.steps_within(budget(1.5)).unwrap();
        assert!(part > 0 && part < 100 && epsilon(&plan, part) <= 1.5 && epsilon(&plan, part + 1) > 1.5);
        assert_eq!(plan.steps_within(budget(1e-3)).unwrap(), 0);
        // It takes more noise than the smallest rate in every step, and less than the largest.
        let other = |rate| {
            let settings = PlanSettings { growth: None, sampling_rate: rate, ..settings.clone() };
            PrivacyPlan::target_with_law(settings, law, budget(2.0)).unwrap().noise_multiplier()
        };
        let own = plan.noise_multiplier();
        assert!(other(0.02) < own && own < other(0.08), "{own}");
    }
    // The last stage may take everything.
    let whole = PrivacyPlan::target(settings(4, 0.25, 7), budget(2.0)).unwrap();
    let listed: Vec<(f64, u64)> = whole.certificate(7).unwrap().events.iter().map(sampled).collect();
    assert_eq!(listed, [(0.25, 4), (0.5, 2), (1.0, 1)]);
    assert!(epsilon(&whole, 7) <= 2.0);
}

#[test]
fn a_certificate_states_the_stages() {
    let plan = PrivacyPlan::new(settings(4, 0.01, 70), 1.1, 1e-5).unwrap();
    let certificate = plan.certificate(50).unwrap();
    let divisor = Fact::StagedDivisor(vec![(40, 60.0), (20, 120.0), (10, 240.0)]);
    assert!(certificate.public.contains(&divisor), "{:?}", certificate.public);
    assert!(!certificate.public.iter().any(|fact| matches!(fact, Fact::Divisor(_))));
    assert_eq!(certificate.events.iter().map(|own| sampled(own).1).collect::<Vec<_>>(), [40, 10]);
    assert_eq!(
        (plan.expected_batch(39), plan.expected_batch(40), plan.expected_batch(69)),
        (60.0, 120.0, 240.0)
    );
    assert!((plan.noise_variance(40) / plan.noise_variance(0) - 0.25).abs() < 1e-12);
}

/// The noise in the second moment of Adam, against the recursion that makes it.
#[test]
fn a_second_moment_has_the_noise_of_its_steps() {
    let plan = PrivacyPlan::new(settings(4, 0.01, 70), 1.1, 1e-5).unwrap();
    let (decay, mut moment): (f64, f64) = (0.9, 0.0);
    for step in 0..70u32 {
        moment = decay * moment + (1.0 - decay) * plan.noise_variance(step.into());
        let mean = moment / (1.0 - decay.powi(step as i32 + 1));
        assert!((plan.decayed_variance(step.into(), decay) / mean - 1.0).abs() < 1e-9, "{step}");
        assert!(
            (plan.decayed_variance(step.into(), 0.0) / plan.noise_variance(step.into()) - 1.0).abs() < 1e-12
        );
    }
    let plain = PrivacyPlan::new(constant(0.01, 70), 1.1, 1e-5).unwrap();
    assert_eq!(plain.decayed_variance(33, 0.999), plain.noise_variance(0));
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let with = |change: fn(&mut PlanSettings)| {
        let mut settings = settings(4, 0.02, 100);
        change(&mut settings);
        let error = PrivacyPlan::new(settings.clone(), 3.0, 1e-5).unwrap_err().to_string();
        assert_eq!(PrivacyPlan::target(settings, budget(1.0)).unwrap_err().to_string(), error);
        error
    };
    let cyclic = with(|s| {
        (s.cyclic, s.sampling_rate) = (Some(CyclicBatches { per_epoch: 20, bands: 4 }), 0.25);
    });
    assert!(cyclic.starts_with("batch_growth = 4: cyclic"), "{cyclic}");
    let quantile = with(|s| s.clipping = Clipping::Quantile(QuantileClipping::new(1.0)));
    assert!(quantile.starts_with("batch_growth = 4: quantile"), "{quantile}");
    assert!(with(|s| s.sampling_rate = 0.2501).starts_with("batch_growth = 4: the last stage"));
    assert!(with(|s| s.growth = Some(BatchGrowth { factor: 6 })).starts_with("batch_growth = 6: "));
    let short = with(|s| s.steps = 3);
    assert!(short.starts_with("steps = 3: each of the 3 stages") && short.contains("at least 4"), "{short}");
    let plan = PrivacyPlan::new(settings(4, 0.02, 100), 3.0, 1e-5).unwrap();
    for error in [
        plan.event().unwrap_err().to_string(),
        plan.clone().claiming(1.0).unwrap_err().to_string(),
        plan.settings().event(NoiseMultiplier::new(1.0).unwrap()).unwrap_err().to_string(),
    ] {
        assert!(error.contains("batch_growth"), "{error}");
    }
}

#[test]
fn a_plan_is_stored_with_its_growth_and_without_as_ever() {
    let plan = PrivacyPlan::new(settings(4, 0.02, 100), 1.0, 1e-5).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    let again: PrivacyPlan = serde_json::from_str(&text).unwrap();
    assert_eq!((&again, again.digest()), (&plan, plan.digest()));
    let other = PrivacyPlan::new(settings(2, 0.02, 100), 1.0, 1e-5).unwrap();
    let found = plan.difference(&other).unwrap();
    assert_eq!(found, ("settings.growth.factor".to_owned(), "4".to_owned(), "2".to_owned()));
    let plain = PrivacyPlan::new(constant(0.02, 100), 1.0, 1e-5).unwrap();
    assert_eq!(plan.difference(&plain).unwrap().0, "settings.growth");
    assert!(!serde_json::to_string(&plain).unwrap().contains("growth"));
    let bad = text.replace("\"factor\":4", "\"factor\":64");
    assert!(serde_json::from_str::<PrivacyPlan>(&bad).unwrap_err().to_string().contains("batch_growth"));
}
