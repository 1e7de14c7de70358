//! Hardly any noise, and hardly any loss: answers stay on the right side at both ends.

use super::events::*;
use reticent_accounting::{AccountingError, CompositionMethod};
use reticent_core::{Event, Neighboring};

type Noise = fn(f64) -> Event;
type Run = fn(Event) -> Event;

/// Every kind of noise, by its multiplier, and claims as strong as that.
pub(crate) const NOISES: &[(&str, Noise)] = &[
    ("gaussian", gaussian),
    ("laplace", laplace),
    ("discrete gaussian", |z| discrete_gaussian(z, None)),
    ("discrete gaussian of large numbers", |z| discrete_gaussian(z, Some(100.0))),
    ("discrete laplace", |z| Event::DiscreteLaplace { noise_multiplier: multiplier(z), sensitivity: None }),
    ("student", |z| Event::StudentT { noise_multiplier: multiplier(z), degrees_of_freedom: 3 }),
    ("pure claim", |z| pure(1.0 / z)),
    ("gaussian claim", |z| gdp(1.0 / z)),
    ("concentrated claim", |z| zcdp((0.5 / (z * z)).min(1e300))),
    ("mixture", |z| mixture(&[0.0, 1.0], &[0.01, 0.99], z)),
    ("tree", |z| Event::TreeAggregation { noise_multiplier: multiplier(z), steps: 3 }),
];

/// Every way to run it, with the probability that a record is met in one use.
pub(crate) const RUNS: &[(&str, f64, Run)] = &[
    ("itself", 1.0, |event| event),
    ("poisson", 0.01, |event| poisson(0.01, event)),
    ("batch", 0.01, |event| batch(1000, 10, event)),
    ("truncated", 0.01, |event| Event::TruncatedPoisson {
        dataset_size: 1000,
        rate: rate(0.01),
        max_batch: 30,
        event: Box::new(event),
    }),
    ("shuffled", 1.0, |event| Event::Shuffled { steps_per_epoch: 50, epochs: 1, event: Box::new(event) }),
    ("parts", 1.0, |event| parallel(vec![event.clone(), event])),
    ("best of runs", 1.0, |event| select(3.0, 1.0, event)),
];

/// With next to no noise a record that is met is seen: δ is at least the chance of that.
#[test]
fn next_to_no_noise_is_never_a_small_cost() {
    let mut wrong = Vec::new();
    for (noise, make) in NOISES {
        for (run, met, wrap) in RUNS {
            for z in [1e-300] {
                let event = wrap(make(z));
                if event.validate().is_err() {
                    continue;
                }
                for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
                    for (method, count) in [(CompositionMethod::Pld, 20), (CompositionMethod::Rdp, 20)] {
                        let seen = 1.0 - (1.0 - met).powi(count as i32);
                        let account = account(neighboring, method, &[(count, event.clone())]);
                        let least = 0.95 * seen;
                        let what =
                            || format!("{noise} of {z:e} in {run} x {count} by {method} under {neighboring}");
                        match account.delta(epsilon(1.0)) {
                            Ok(answer) if answer.upper >= least && answer.lower <= answer.upper => {}
                            Err(AccountingError::Unsupported { .. }) => {}
                            other => wrong.push(format!("{}: δ {other:?}", what())),
                        }
                        // Where it is met with a probability above δ, ε is about 1/z at least.
                        match account.epsilon(delta(0.5 * seen)) {
                            Ok(answer) if answer.upper >= 10.0 && answer.lower <= answer.upper => {}
                            Err(_) => {}
                            other => wrong.push(format!("{}: ε {other:?}", what())),
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are:\n{}", wrong.len(), wrong.join("\n"));
}

/// With very much noise nothing is lost, and no method makes more of it than its own smallest answer.
#[test]
fn very_much_noise_costs_next_to_nothing() {
    let mut wrong = Vec::new();
    for (noise, make) in NOISES {
        for z in [1e6, 1e15, 1e150] {
            let account = account(Neighboring::AddRemove, CompositionMethod::Pld, &[(3, make(z))]);
            match account.epsilon(delta(1e-6)) {
                Ok(answer) if answer.upper <= 1e-3 && answer.lower <= answer.upper => {}
                other => wrong.push(format!("{noise} of {z:e}: {other:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} do:\n{}", wrong.len(), wrong.join("\n"));
}
