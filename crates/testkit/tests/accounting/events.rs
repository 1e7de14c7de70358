//! Events by their numbers, and the lists that the suites run over.

use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{
    Delta, Epsilon, Event, Guarantee, Mu, Neighboring, NoiseMultiplier, Order, Probability, Rho,
    SamplingRate, Sensitivity,
};

pub(crate) fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}
pub(crate) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}
pub(crate) fn multiplier(value: f64) -> NoiseMultiplier {
    NoiseMultiplier::new(value).unwrap()
}
pub(crate) fn rate(value: f64) -> SamplingRate {
    SamplingRate::new(value).unwrap()
}
pub(crate) fn budget(e: f64, d: f64) -> Guarantee {
    Guarantee { epsilon: epsilon(e), delta: delta(d) }
}

pub(crate) fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: multiplier(z) }
}
pub(crate) fn clipped_sum(z: f64) -> Event {
    Event::ClippedSum { noise_multiplier: multiplier(z) }
}
pub(crate) fn laplace(z: f64) -> Event {
    Event::Laplace { noise_multiplier: multiplier(z) }
}
/// Whole numbers that move as far as stated, or by nobody knows how much.
pub(crate) fn discrete_gaussian(z: f64, moved: Option<f64>) -> Event {
    let sensitivity = moved.map(|s| Sensitivity::new(s).unwrap());
    Event::DiscreteGaussian { noise_multiplier: multiplier(z), sensitivity }
}
pub(crate) fn pure(e: f64) -> Event {
    Event::Pure { epsilon: epsilon(e) }
}
pub(crate) fn approximate(e: f64, d: f64) -> Event {
    Event::Approximate { epsilon: epsilon(e), delta: delta(d) }
}
pub(crate) fn zcdp(rho: f64) -> Event {
    Event::Zcdp { rho: Rho::new(rho).unwrap() }
}
pub(crate) fn gdp(mu: f64) -> Event {
    Event::Gdp { mu: Mu::new(mu).unwrap() }
}
pub(crate) fn response(keep: f64, categories: u64) -> Event {
    Event::RandomizedResponse { keep_probability: Probability::new(keep).unwrap(), categories }
}
pub(crate) fn poisson(q: f64, event: Event) -> Event {
    Event::PoissonSampled { rate: rate(q), event: Box::new(event) }
}
/// A Poisson-sampled Gaussian step.
pub(crate) fn sampled(q: f64, z: f64) -> Event {
    poisson(q, gaussian(z))
}
pub(crate) fn batch(dataset_size: u64, batch_size: u64, event: Event) -> Event {
    Event::SampledWithoutReplacement { dataset_size, batch_size, event: Box::new(event) }
}
pub(crate) fn truncated(q: f64, max_batch: u64, z: f64) -> Event {
    Event::TruncatedPoisson { dataset_size: 5000, rate: rate(q), max_batch, event: Box::new(gaussian(z)) }
}
pub(crate) fn shuffled(epochs: u64, z: f64) -> Event {
    Event::Shuffled { steps_per_epoch: 100, epochs, event: Box::new(gaussian(z)) }
}
pub(crate) fn balls(epochs: u64, z: f64) -> Event {
    Event::BallsInBins { bins: 20, epochs, event: Box::new(gaussian(z)) }
}
pub(crate) fn mixture(sensitivities: &[f64], probabilities: &[f64], z: f64) -> Event {
    Event::MixtureOfGaussians {
        sensitivities: sensitivities.to_vec(),
        probabilities: probabilities.to_vec(),
        noise_multiplier: multiplier(z),
    }
}
pub(crate) fn select(mean: f64, shape: f64, event: Event) -> Event {
    Event::RepeatAndSelect { mean, shape, event: Box::new(event) }
}
pub(crate) fn repeated(count: u64, event: Event) -> Event {
    Event::Repeated { count, event: Box::new(event) }
}
pub(crate) fn composed(events: Vec<Event>) -> Event {
    Event::Composed { events }
}
pub(crate) fn parallel(events: Vec<Event>) -> Event {
    Event::Parallel { events }
}

pub(crate) fn encoded(z: f64, degrees_of_freedom: u64) -> Event {
    Event::EncodedStudentT {
        noise_multiplier: multiplier(z),
        degrees_of_freedom,
        levels: vec![2.0, 1.0],
        counts: vec![5, 40],
    }
}

/// A relation and an event stated under it.
pub(crate) struct Kind {
    pub(crate) neighboring: Neighboring,
    pub(crate) event: Event,
}

/// At least one event of every kind, under every relation it has a bound for.
pub(crate) fn kinds() -> Vec<Kind> {
    let either = [
        gaussian(8.0),
        clipped_sum(16.0),
        laplace(20.0),
        response(0.55, 2),
        response(0.3, 4),
        Event::Exponential { epsilon: epsilon(0.1) },
        discrete_gaussian(6.0, None),
        discrete_gaussian(6.0, Some(2.0)),
        discrete_gaussian(6.0, Some(1.0)),
        Event::DiscreteLaplace { noise_multiplier: multiplier(15.0), sensitivity: None },
        Event::DiscreteLaplace { noise_multiplier: multiplier(15.0), sensitivity: Some(3) },
        Event::StudentT { noise_multiplier: multiplier(9.0), degrees_of_freedom: 5 },
        encoded(9.0, 5),
        pure(0.08),
        approximate(0.05, 1e-9),
        zcdp(0.004),
        Event::Rdp { order: Order::new(24.0).unwrap(), epsilon: epsilon(0.01) },
        gdp(0.11),
        Event::TreeAggregation { noise_multiplier: multiplier(20.0), steps: 30 },
        select(4.0, 1.0, gaussian(12.0)),
        shuffled(1, 9.0),
        balls(1, 9.0),
        parallel(vec![gaussian(9.0), gaussian(12.0)]),
        parallel(vec![laplace(20.0), gaussian(9.0)]),
        composed(vec![gaussian(15.0), laplace(30.0)]),
        repeated(3, gaussian(15.0)),
    ];
    let added = [
        sampled(0.05, 1.5),
        poisson(0.05, clipped_sum(1.5)),
        poisson(0.1, laplace(2.0)),
        poisson(0.1, pure(0.5)),
        poisson(0.1, gdp(0.7)),
        truncated(0.02, 130, 2.0),
        mixture(&[0.0, 1.0, 2.0], &[0.9, 0.07, 0.03], 3.0),
    ];
    let replaced = [
        batch(1000, 20, gaussian(3.0)),
        batch(1000, 20, clipped_sum(6.0)),
        batch(1000, 20, laplace(4.0)),
        poisson(0.02, clipped_sum(1.5)),
    ];
    let both = [Neighboring::AddRemove, Neighboring::ReplaceOne];
    let mut kinds = Vec::new();
    for neighboring in both {
        kinds.extend(either.iter().map(|event| Kind { neighboring, event: event.clone() }));
    }
    kinds.extend(added.map(|event| Kind { neighboring: Neighboring::AddRemove, event }));
    kinds.extend(replaced.map(|event| Kind { neighboring: Neighboring::ReplaceOne, event }));
    kinds
}

/// The event's name on the wire.
pub(crate) fn name(event: &Event) -> &'static str {
    event.name()
}

/// How many kinds [`name`] tells apart.
pub(crate) const KINDS: usize = Event::KINDS.len();

/// An account of counted events.
pub(crate) fn account(
    neighboring: Neighboring,
    method: CompositionMethod,
    list: &[(u64, Event)],
) -> Accountant {
    let mut account = Accountant::new(neighboring, method);
    for (count, event) in list {
        account.compose(event, *count).unwrap();
    }
    account
}

/// A list for the suites: what is composed, and under which relation.
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) neighboring: Neighboring,
    pub(crate) list: Vec<(u64, Event)>,
}

/// Lists of one kind and of several, short and long.
pub(crate) fn plans() -> Vec<Plan> {
    let plan = |name, neighboring, list| Plan { name, neighboring, list };
    let add = Neighboring::AddRemove;
    let replace = Neighboring::ReplaceOne;
    vec![
        plan("one gaussian", add, vec![(1, gaussian(1.5))]),
        plan("gaussians", replace, vec![(40, gaussian(9.0))]),
        plan("laplaces", add, vec![(12, laplace(15.0))]),
        plan("training", add, vec![(2000, sampled(0.01, 1.1))]),
        plan("sampled laplaces", add, vec![(300, poisson(0.02, laplace(1.0)))]),
        plan("batches", replace, vec![(500, batch(2000, 20, gaussian(4.0)))]),
        plan("responses", replace, vec![(30, response(0.3, 4))]),
        plan("pure claims", add, vec![(100, pure(0.05))]),
        plan("unequal claims", add, vec![(3, pure(0.2)), (5, pure(0.31)), (2, approximate(0.11, 1e-8))]),
        plan("concentrated claims", add, vec![(4, zcdp(0.01)), (2, gdp(0.3))]),
        plan("selections", add, vec![(40, Event::Exponential { epsilon: epsilon(0.1) })]),
        plan("tree", add, vec![(1, Event::TreeAggregation { noise_multiplier: multiplier(5.0), steps: 90 })]),
        plan("group", add, vec![(400, mixture(&[0.0, 1.0, 2.0], &[0.96, 0.03, 0.01], 2.5))]),
        plan("truncated", add, vec![(300, truncated(0.02, 140, 1.5))]),
        plan("shuffled", add, vec![(1, shuffled(2, 2.0))]),
        plan("balls", add, vec![(1, balls(3, 2.0))]),
        plan("tuned", add, vec![(1, select(5.0, 0.5, gaussian(6.0)))]),
        plan("parts", replace, vec![(3, parallel(vec![gaussian(4.0), gaussian(6.0), gaussian(5.0)]))]),
        plan(
            "mixed",
            add,
            vec![(6, gaussian(7.0)), (800, sampled(0.02, 1.5)), (3, laplace(12.0)), (2, response(0.6, 2))],
        ),
        plan(
            "mixed with claims",
            add,
            vec![(500, sampled(0.01, 1.0)), (2, approximate(0.1, 1e-8)), (1, zcdp(0.01)), (5, pure(0.02))],
        ),
    ]
}
