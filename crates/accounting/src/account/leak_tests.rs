//! What events reveal outright is never lost, by any method and at any depth.

use super::*;
use reticent_core::{NoiseMultiplier, SamplingRate};

fn claim(epsilon: f64, delta: f64) -> Event {
    Event::Approximate { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}

fn parallel(events: Vec<Event>) -> Event {
    Event::Parallel { events }
}

fn asked(event: &Event, neighboring: Neighboring, method: CompositionMethod) -> Accountant {
    let mut account = Accountant::new(neighboring, method);
    account.compose(event, 1).unwrap();
    account
}

/// Events with the probability that they reveal everything under add-remove.
fn leaky() -> Vec<(Event, f64)> {
    let both = || parallel(vec![claim(0.1, 0.1), gaussian(5.0)]);
    let sampled = |rate, event| Event::PoissonSampled {
        rate: SamplingRate::new(rate).unwrap(),
        event: Box::new(event),
    };
    let batch =
        |event| Event::SampledWithoutReplacement { dataset_size: 10, batch_size: 5, event: Box::new(event) };
    let three = |event| Event::Repeated { count: 3, event: Box::new(event) };
    vec![
        (both(), 0.1),
        (parallel(vec![gaussian(5.0), claim(0.0, 0.1), claim(2.0, 0.05)]), 0.1),
        (parallel(vec![both(), gaussian(3.0)]), 0.1),
        (sampled(0.5, both()), 0.05),
        (sampled(1.0, both()), 0.1),
        (batch(both()), 0.05),
        (three(both()), 0.271),
        (three(sampled(0.5, both())), 0.142_625),
        (parallel(vec![three(both()), gaussian(5.0)]), 0.271),
        (
            parallel(vec![Event::Composed { events: vec![claim(0.1, 0.1), gaussian(9.0)] }, gaussian(5.0)]),
            0.1,
        ),
        (Event::Shuffled { steps_per_epoch: 4, epochs: 1, event: Box::new(both()) }, 0.1),
        (Event::BallsInBins { bins: 4, epochs: 3, event: Box::new(both()) }, 0.271),
        (Event::RepeatAndSelect { mean: 3.0, shape: 1.0, event: Box::new(both()) }, 0.1),
    ]
}

#[test]
fn a_delta_inside_other_events_is_never_lost() {
    for (event, revealed) in leaky() {
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            for method in CompositionMethod::ALL {
                let account = asked(&event, neighboring, method);
                for delta in [1e-12, 1e-6, 0.9 * revealed] {
                    let found = account.epsilon(Delta::new(delta).unwrap());
                    assert!(
                        matches!(found, Err(AccountingError::Impossible(_))),
                        "{method} {neighboring:?} {event:?}: {found:?}"
                    );
                }
                for epsilon in [0.0, 2.0, 50.0] {
                    if let Ok(found) = account.delta(Epsilon::new(epsilon).unwrap()) {
                        let truth = revealed * (1.0 - 1e-9);
                        assert!(
                            found.upper >= truth && found.lower >= truth,
                            "{method} {event:?}: {found:?}"
                        );
                    }
                }
            }
        }
    }
}

/// A refusal because of δ is a refusal by every method, and none because of a method is one by all.
#[test]
fn refusals_are_told_apart() {
    let one = asked(&claim(1.0, 1e-6), Neighboring::AddRemove, CompositionMethod::Pld);
    assert!(matches!(one.epsilon(Delta::new(9e-7).unwrap()), Err(AccountingError::Impossible(_))));
    // At the claim's own δ its ε is true.
    let at = one.epsilon(Delta::new(1e-6).unwrap()).unwrap();
    assert!(at.upper == 1.0, "{at:?}");
    // A hundred claims reveal 1 − 0.99¹⁰⁰, less than the sum of their deltas.
    let many = Event::Repeated { count: 100, event: Box::new(claim(0.1, 0.01)) };
    let revealed = 1.0 - 0.99f64.powi(100);
    for delta in [revealed * 1.01, 0.9] {
        let delta = Delta::new(delta).unwrap();
        assert!(asked(&many, Neighboring::AddRemove, CompositionMethod::Pld).epsilon(delta).is_ok());
        let sum = asked(&many, Neighboring::AddRemove, CompositionMethod::Basic).epsilon(delta);
        assert!(matches!(sum, Err(AccountingError::Invalid(_))), "{sum:?}");
    }
}
