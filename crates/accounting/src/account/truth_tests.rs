//! Every method against mechanisms that are enumerated: never below one of them, and no lower end above the worst.

use super::*;
use reticent_core::{NoiseMultiplier, Probability, SamplingRate};

/// (P, Q) of every outcome.
type Outcomes = Vec<(f64, f64)>;

fn response(epsilon: f64) -> Outcomes {
    let stray = 1.0 / (1.0 + libm::exp(epsilon));
    vec![(1.0 - stray, stray), (stray, 1.0 - stray)]
}

/// Continuous noise seen through eight bins, which only hides something.
fn binned(cdf: impl Fn(f64) -> f64, scale: f64) -> Outcomes {
    let edges: Vec<f64> = (-3..=3).map(|i| 0.5 + f64::from(i) * scale).collect();
    let at = |i: usize, shift: f64| match i {
        0 => 0.0,
        i if i > edges.len() => 1.0,
        i => cdf((edges[i - 1] - shift) / scale),
    };
    (0..=edges.len()).map(|i| (at(i + 1, 1.0) - at(i, 1.0), at(i + 1, 0.0) - at(i, 0.0))).collect()
}

fn product(a: &Outcomes, b: &Outcomes) -> Outcomes {
    a.iter().flat_map(|(p, q)| b.iter().map(move |(r, s)| (p * r, q * s))).collect()
}

fn swapped(outcomes: &Outcomes) -> Outcomes {
    outcomes.iter().map(|(p, q)| (*q, *p)).collect()
}

/// Mechanisms that an event allows, with the record against without it.
fn options(event: &Event, neighboring: Neighboring) -> Vec<Outcomes> {
    match event {
        Event::Pure { epsilon } => vec![response(epsilon.get())],
        Event::Approximate { epsilon, delta } => {
            let d = delta.get();
            let mut all: Outcomes =
                response(epsilon.get()).iter().map(|(p, q)| ((1.0 - d) * p, (1.0 - d) * q)).collect();
            all.extend([(d, 0.0), (0.0, d)]);
            vec![all]
        }
        Event::RandomizedResponse { keep_probability, categories } => {
            let (keep, k) = (keep_probability.get(), *categories as f64);
            let stray = (1.0 - keep) / (k - 1.0);
            vec![vec![(keep, stray), (stray, keep), ((k - 2.0) * stray, (k - 2.0) * stray)]]
        }
        // Two candidates whose scores move against each other.
        Event::Exponential { epsilon } => [0.25, 0.5, 0.75]
            .map(|share| {
                let (e, t) = (epsilon.get(), share * epsilon.get());
                let p = (libm::exp(e) - libm::exp(t)) / libm::expm1(e);
                let q = p * libm::exp(-t);
                vec![(p, q), (1.0 - p, 1.0 - q)]
            })
            .to_vec(),
        Event::Gaussian { noise_multiplier } => {
            vec![binned(reticent_core::special::normal_cdf, noise_multiplier.get())]
        }
        Event::Laplace { noise_multiplier } => {
            let cdf = |x: f64| if x < 0.0 { 0.5 * libm::exp(x) } else { 1.0 - 0.5 * libm::exp(-x) };
            vec![binned(cdf, noise_multiplier.get())]
        }
        Event::Composed { events } => events.iter().fold(vec![vec![(1.0, 1.0)]], |all, event| {
            let own = options(event, neighboring);
            all.iter().flat_map(|a| own.iter().map(move |b| product(a, b))).collect()
        }),
        Event::Repeated { count, event } => {
            options(&Event::Composed { events: vec![(**event).clone(); *count as usize] }, neighboring)
        }
        Event::Parallel { events } => {
            let own: Vec<Vec<Outcomes>> = events.iter().map(|event| options(event, neighboring)).collect();
            let mut all = own.concat();
            if neighboring == Neighboring::ReplaceOne {
                for (i, left) in own.iter().enumerate() {
                    for entered in own.iter().enumerate().filter(|(j, _)| *j != i).flat_map(|(_, e)| e) {
                        all.extend(left.iter().map(|left| product(left, &swapped(entered))));
                    }
                }
            }
            all
        }
        Event::PoissonSampled { rate, event } => {
            let q = rate.get();
            let mix = |all: &Outcomes| all.iter().map(|(a, b)| ((1.0 - q) * b + q * a, *b)).collect();
            options(event, neighboring).iter().map(mix).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// δ at e^ε of a sequence in which every mechanism is chosen by what came before.
fn chosen(rest: &[Vec<Outcomes>], p: f64, q: f64, factor: f64) -> f64 {
    let Some((first, rest)) = rest.split_first() else { return (p - factor * q).max(0.0) };
    let value = |option: &Outcomes| option.iter().map(|(a, b)| chosen(rest, p * a, q * b, factor)).sum();
    first.iter().map(value).fold(0.0, f64::max)
}

fn truth(events: &[Event], neighboring: Neighboring, epsilon: f64) -> f64 {
    let forth: Vec<Vec<Outcomes>> = events.iter().map(|event| options(event, neighboring)).collect();
    let back: Vec<Vec<Outcomes>> = forth.iter().map(|all| all.iter().map(swapped).collect()).collect();
    let factor = libm::exp(epsilon);
    chosen(&forth, 1.0, 1.0, factor).max(chosen(&back, 1.0, 1.0, factor))
}

/// The same trees in every run.
struct Trees(u64);

impl Trees {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, most: u64) -> u64 {
        (self.unit() * most as f64) as u64
    }

    fn leaf(&mut self) -> Event {
        let epsilon = Epsilon::new(0.05 + 1.5 * self.unit()).unwrap();
        let noise_multiplier = NoiseMultiplier::new(0.5 + 4.0 * self.unit()).unwrap();
        match self.below(7) {
            0 => Event::Gaussian { noise_multiplier },
            1 => Event::Laplace { noise_multiplier },
            2 => Event::Exponential { epsilon },
            3 => Event::RandomizedResponse {
                keep_probability: Probability::new(0.35 + 0.5 * self.unit()).unwrap(),
                categories: 3,
            },
            4 => Event::Pure { epsilon },
            _ => {
                let delta = libm::exp(-12.0 * self.unit() - 1.0);
                Event::Approximate { epsilon, delta: Delta::new(delta).unwrap() }
            }
        }
    }

    fn tree(&mut self, depth: u32) -> Event {
        let several = |trees: &mut Self| (0..=1 + trees.below(2)).map(|_| trees.tree(depth - 1)).collect();
        match self.below(if depth == 0 { 1 } else { 5 }) {
            1 | 2 => Event::Parallel { events: several(self) },
            3 => Event::Repeated { count: 2, event: Box::new(self.tree(depth - 1)) },
            4 => Event::PoissonSampled {
                rate: SamplingRate::new(0.1 + 0.9 * self.unit()).unwrap(),
                event: Box::new(self.tree(depth - 1)),
            },
            _ => self.leaf(),
        }
    }
}

/// Whether every mechanism of [`options`] is the event's worst, and not one seen through bins.
fn is_listed(event: &Event) -> bool {
    match event {
        Event::Gaussian { .. } | Event::Laplace { .. } => false,
        Event::Parallel { events } | Event::Composed { events } => events.iter().all(is_listed),
        Event::Repeated { event, .. } | Event::PoissonSampled { event, .. } => is_listed(event),
        _ => true,
    }
}

#[test]
fn no_method_answers_below_the_truth_and_no_floor_is_above_it() {
    let mut trees = Trees(20_261_116);
    let mut answered = 0;
    while answered < 400 {
        let events: Vec<Event> = (0..=trees.below(2)).map(|_| trees.tree(2)).collect();
        let size: f64 = events
            .iter()
            .map(|e| options(e, Neighboring::ReplaceOne).iter().map(Vec::len).sum::<usize>() as f64)
            .product();
        if size > 3e3 {
            continue;
        }
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            for method in CompositionMethod::ALL {
                let log = EventLog { neighboring, events: events.clone() };
                let account = Accountant::of_log(&log, method).unwrap();
                let at = 2.0 * trees.unit();
                if let Ok(found) = account.delta(Epsilon::new(at).unwrap()) {
                    answered += 1;
                    let exact = truth(&events, neighboring, at);
                    assert!(
                        found.upper >= exact * (1.0 - 1e-9),
                        "{method} δ({at}) {found:?} {exact} {log:?}"
                    );
                    let is_floor =
                        !events.iter().all(is_listed) || found.lower <= exact * (1.0 + 1e-9) + 1e-14;
                    assert!(is_floor, "{method} δ({at}) {found:?} {exact} {log:?}");
                }
                let delta = libm::exp(-9.0 * trees.unit() - 0.5);
                if let Ok(found) = account.epsilon(Delta::new(delta).unwrap()) {
                    answered += 1;
                    let exact = truth(&events, neighboring, found.upper);
                    assert!(exact <= delta * (1.0 + 1e-9), "{method} ε({delta}) {found:?} {exact} {log:?}");
                    let exact = truth(&events, neighboring, (found.lower - 1e-9).max(0.0));
                    let is_floor =
                        found.lower < 1e-9 || !events.iter().all(is_listed) || exact >= delta * (1.0 - 1e-9);
                    assert!(is_floor, "{method} ε({delta}) {found:?} {exact} {log:?}");
                }
            }
        }
    }
}

fn noise(z: f64) -> NoiseMultiplier {
    NoiseMultiplier::new(z).unwrap()
}

/// What is run once on everything is no better for being wrapped in an event that changes nothing.
#[test]
fn a_wrapping_does_not_raise_the_floor() {
    let epsilon = Epsilon::new(0.1).unwrap();
    let kinds = [
        Event::Exponential { epsilon },
        Event::Pure { epsilon },
        Event::Gaussian { noise_multiplier: noise(10.0) },
        Event::Laplace { noise_multiplier: noise(10.0) },
        Event::DiscreteLaplace { noise_multiplier: noise(10.0), sensitivity: None },
        Event::DiscreteGaussian { noise_multiplier: noise(10.0), sensitivity: None },
        Event::Zcdp { rho: reticent_core::Rho::new(0.005).unwrap() },
        Event::Gdp { mu: reticent_core::Mu::new(0.1).unwrap() },
        Event::Rdp { order: reticent_core::Order::new(8.0).unwrap(), epsilon },
        Event::StudentT { noise_multiplier: noise(10.0), degrees_of_freedom: 4 },
        Event::RandomizedResponse { keep_probability: Probability::new(0.3).unwrap(), categories: 4 },
        Event::TreeAggregation { noise_multiplier: noise(10.0), steps: 8 },
        Event::RepeatAndSelect { mean: 2.0, shape: 1.0, event: Box::new(Event::Pure { epsilon }) },
    ];
    let delta = Delta::new(1e-6).unwrap();
    for event in kinds {
        let own = || Box::new(event.clone());
        let wrapped = [
            Event::Parallel { events: vec![event.clone()] },
            Event::Parallel {
                events: vec![event.clone(), Event::Pure { epsilon: Epsilon::new(1e-9).unwrap() }],
            },
            Event::Parallel { events: vec![Event::Repeated { count: 1, event: own() }] },
            Event::PoissonSampled { rate: SamplingRate::new(0.999_999_99).unwrap(), event: own() },
            Event::SampledWithoutReplacement { dataset_size: 1_000_000, batch_size: 999_999, event: own() },
            Event::Shuffled { steps_per_epoch: 1, epochs: 1, event: own() },
            Event::BallsInBins { bins: 1, epochs: 1, event: own() },
        ];
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            let plain = |method: CompositionMethod, event: &Event| {
                let mut account = Accountant::new(neighboring, method);
                account.compose(event, 1000).unwrap();
                account.epsilon(delta)
            };
            let uppers = CompositionMethod::ALL.iter().filter_map(|method| plain(*method, &event).ok());
            let least = uppers.map(|answer| answer.upper).fold(f64::INFINITY, f64::min);
            for nested in &wrapped {
                // A second part may be met too where a record can change parts.
                let moved = if neighboring == Neighboring::ReplaceOne { 1e-3 } else { 0.0 };
                if let Ok(answer) = plain(CompositionMethod::Pld, nested) {
                    let most = least * (1.0 + 1e-5) + moved;
                    assert!(answer.lower <= most, "{neighboring:?} {nested:?}: {answer:?} against {least}");
                }
            }
        }
    }
}

#[test]
fn the_exponential_mechanism_has_the_floor_of_a_selection() {
    let event = Event::Exponential { epsilon: Epsilon::new(0.1).unwrap() };
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    let mut sampled = account.clone();
    let rate = SamplingRate::new(0.999_999_99).unwrap();
    sampled.compose(&Event::PoissonSampled { rate, event: Box::new(event.clone()) }, 1000).unwrap();
    account.compose(&Event::Parallel { events: vec![event] }, 1000).unwrap();
    for account in [account, sampled] {
        let answer = account.epsilon(Delta::new(1e-6).unwrap()).unwrap();
        assert!(answer.upper < 8.847 && answer.lower < answer.upper, "{answer:?}");
    }
}

#[test]
fn disjoint_parts_of_different_kinds_cost_the_worst_at_every_epsilon() {
    let laplace = Event::Laplace { noise_multiplier: noise(10.0) };
    let gaussian = Event::Gaussian { noise_multiplier: noise(10.0) };
    let delta = Delta::new(1e-6).unwrap();
    let ask = |neighboring, list: &[(u64, Event)]| {
        let mut account = Accountant::new(neighboring, CompositionMethod::Pld);
        list.iter().for_each(|(count, event)| account.compose(event, *count).unwrap());
        account.epsilon(delta).unwrap()
    };
    let parts = |events: &[&Event]| Event::Parallel { events: events.iter().map(|e| (*e).clone()).collect() };
    let both = parts(&[&laplace, &gaussian]);
    let add = Neighboring::AddRemove;
    let one = ask(add, &[(1, both.clone())]);
    let alone = ask(add, &[(1, gaussian.clone())]);
    assert!(
        (one.upper - alone.upper).abs() < 1e-9 && (alone.upper - 0.39686).abs() < 1e-5,
        "{one:?} {alone:?}"
    );
    // In sequence it costs no less than either part and little more where one of them is worse nearly everywhere.
    for count in [2, 10, 100] {
        let many = ask(add, &[(count, both.clone())]);
        let each = [&laplace, &gaussian].map(|event| ask(add, &[(count, event.clone())]));
        let worst = each[0].upper.max(each[1].upper);
        assert!(many.upper >= worst * (1.0 - 1e-6), "{count}: {many:?} {each:?}");
        assert!(many.upper <= 1.35 * worst, "{count}: {many:?} {each:?}");
        assert!(many.lower > 0.5 * worst && many.lower <= many.upper, "{count}: {many:?} {each:?}");
    }
    // Under replace-one a record may leave one part and enter the other.
    let replaced = ask(Neighboring::ReplaceOne, &[(1, both.clone())]);
    let sequence = ask(add, &[(1, laplace.clone()), (1, gaussian.clone())]);
    assert!((replaced.upper - sequence.upper).abs() < 1e-9, "{replaced:?} {sequence:?}");
    // Parts that are sequences themselves.
    let nested = parts(&[&Event::Composed { events: vec![laplace.clone(), gaussian.clone()] }, &gaussian]);
    assert!((ask(add, &[(1, nested.clone())]).upper - sequence.upper).abs() < 1e-6);
    let (twice, split) = (ask(add, &[(2, nested)]), ask(add, &[(2, laplace), (2, gaussian)]));
    assert!(twice.upper >= split.lower && twice.upper <= 1.001 * split.upper, "{twice:?} {split:?}");
}
