use super::*;
use reticent_core::profile::{gaussian_delta_down, gaussian_delta_up};
use reticent_core::{NoiseMultiplier, Probability, SamplingRate};

fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}
fn sgm(q: f64, z: f64, steps: u64) -> Event {
    let sampled = Event::PoissonSampled { rate: SamplingRate::new(q).unwrap(), event: Box::new(gaussian(z)) };
    Event::Repeated { count: steps, event: Box::new(sampled) }
}
fn account(events: &[Event]) -> TightAccountant {
    let mut account = TightAccountant::new(Neighboring::AddRemove);
    for event in events {
        account.compose(event, 1).unwrap();
    }
    account
}
fn epsilon_of(events: &[Event], delta: f64) -> Bracket {
    account(events).epsilon(Delta::new(delta).unwrap()).unwrap()
}

/// The bracket is narrow and holds the reference, which is known to `digits` (relative).
#[track_caller]
fn holds(bracket: Bracket, exact: f64, digits: f64) {
    assert!(
        bracket.lower <= exact * (1.0 + digits) && bracket.upper >= exact * (1.0 - digits),
        "{bracket:?} {exact}"
    );
    assert!(bracket.upper - bracket.lower <= 1e-6 * bracket.upper, "{bracket:?}");
}

#[test]
fn known_epsilons_of_private_training() {
    // Contour integrals confirmed with 34-digit arithmetic, as far as they are printed.
    holds(epsilon_of(&[sgm(0.01, 1.0, 10_000)], 1e-5), 6.187_712, 1e-7);
    holds(epsilon_of(&[sgm(0.01, 4.0, 10_000)], 1e-5), 0.946_867, 1e-6);
    holds(epsilon_of(&[sgm(256.0 / 6e4, 1.1, 14_040)], 1e-5), 2.379_555, 1e-6);
    holds(epsilon_of(&[sgm(1e-3, 0.6, 100_000)], 1e-6), 6.960_844, 1e-7);
    holds(epsilon_of(&[sgm(0.05, 2.0, 1_000_000)], 1e-7), 487.632_18, 1e-8);
    holds(epsilon_of(&[sgm(0.001, 8.0, 2000)], 1e-5), 0.014_31, 1e-3);
}

#[test]
fn tiny_deltas_keep_their_digits() {
    holds(account(&[sgm(0.01, 1.0, 1000)]).delta(Epsilon::new(4.0).unwrap()).unwrap(), 5.351_478_6e-13, 1e-7);
    holds(epsilon_of(&[sgm(0.01, 1.0, 1000)], 1e-14), 4.544, 1e-4);
    for delta in [1e-20, 1e-30] {
        let bracket = epsilon_of(&[sgm(0.01, 1.0, 1000)], delta);
        let back = account(&[sgm(0.01, 1.0, 1000)]).delta(Epsilon::new(bracket.upper).unwrap()).unwrap();
        holds(back, delta, 1e-6);
    }
}

#[test]
fn gaussians_match_the_closed_form() {
    for (z, epsilon) in [(1.0, 1.0), (5.0, 2.0), (0.5, 4.0), (20.0, 0.1)] {
        let bracket = account(&[gaussian(z)]).delta(Epsilon::new(epsilon).unwrap()).unwrap();
        let (e, z) = (Epsilon::new(epsilon).unwrap(), NoiseMultiplier::new(z).unwrap());
        assert!(
            bracket.upper >= gaussian_delta_down(e, z) && bracket.lower <= gaussian_delta_up(e, z),
            "{bracket:?}"
        );
        assert!(bracket.upper - bracket.lower <= 1e-6 * bracket.upper, "{bracket:?}");
    }
    // A full batch is no sampling, and n Gaussians are one of multiplier z/√n.
    let many = epsilon_of(&[sgm(1.0, 10.0, 100)], 1e-6);
    let one = epsilon_of(&[gaussian(1.0)], 1e-6);
    assert!((many.upper - one.upper).abs() < 1e-7);
}

#[test]
fn mixed_lists_and_groups() {
    let laplace = Event::Laplace { noise_multiplier: NoiseMultiplier::new(20.0).unwrap() };
    let repeated = |event: Event, count| Event::Repeated { count, event: Box::new(event) };
    let bracket =
        epsilon_of(&[repeated(gaussian(10.0), 20), sgm(0.01, 1.0, 1000), repeated(laplace, 5)], 1e-6);
    assert!(bracket.lower >= 2.9898 && bracket.upper <= 2.992_83, "{bracket:?}");
    // Two people: how many of them are in a batch is binomial.
    let pair = Event::MixtureOfGaussians {
        sensitivities: vec![0.0, 1.0, 2.0],
        probabilities: vec![0.99 * 0.99, 2.0 * 0.99 * 0.01, 0.0001],
        noise_multiplier: NoiseMultiplier::new(2.0).unwrap(),
    };
    let bracket = epsilon_of(&[repeated(pair, 1000)], 1e-5);
    assert!(bracket.lower >= 1.332_56 && bracket.upper <= 1.352_57, "{bracket:?}");
}

#[test]
fn splitting_a_repetition_changes_nothing() {
    let whole = epsilon_of(&[sgm(0.02, 1.5, 3000)], 1e-6);
    let split = epsilon_of(&[sgm(0.02, 1.5, 1000), sgm(0.02, 1.5, 1999), sgm(0.02, 1.5, 1)], 1e-6);
    assert_eq!(whole, split);
}

#[test]
fn never_below_a_lower_end_nor_above_renyi() {
    for (q, z, steps, delta) in [(0.02, 1.5, 3000, 1e-6), (0.1, 3.0, 2000, 1e-8), (0.004, 0.8, 20_000, 1e-5)]
    {
        let tight = epsilon_of(&[sgm(q, z, steps)], delta);
        let mut renyi = crate::rdp::RdpAccountant::new(Neighboring::AddRemove);
        renyi.compose(&sgm(q, z, steps), 1).unwrap();
        assert!(renyi.epsilon_up(Delta::new(delta).unwrap()).unwrap().get() >= tight.lower);
        assert!(tight.upper <= renyi.epsilon_up(Delta::new(delta).unwrap()).unwrap().get());
        let more = epsilon_of(&[sgm(q, z, steps + 1)], delta);
        assert!(more.upper > tight.lower);
    }
}

#[test]
fn approximate_claims_add_their_deltas() {
    let claim = Event::Approximate { epsilon: Epsilon::new(0.01).unwrap(), delta: Delta::new(1e-7).unwrap() };
    let with = epsilon_of(&[sgm(0.01, 1.0, 10_000), claim.clone()], 1e-5);
    assert!(with.upper > 6.187_712 && with.upper < 6.22, "{with:?}");
    let many = Event::Repeated { count: 1000, event: Box::new(claim) };
    assert!(account(&[sgm(0.01, 1.0, 10_000), many]).epsilon(Delta::new(1e-5).unwrap()).is_err());
}

#[test]
fn what_cannot_be_certified_says_so() {
    let response =
        Event::RandomizedResponse { keep_probability: Probability::new(0.75).unwrap(), categories: 2 };
    let message = account(&[response]).epsilon(Delta::new(1e-5).unwrap()).unwrap_err().to_string();
    assert!(message.contains("rdp accountant"), "{message}");
    let shuffled = Event::Shuffled { steps_per_epoch: 10, epochs: 1, event: Box::new(gaussian(1.0)) };
    assert!(TightAccountant::new(Neighboring::AddRemove).compose(&shuffled, 1).is_err());
    let mut replace = TightAccountant::new(Neighboring::ReplaceOne);
    assert!(replace.compose(&sgm(0.01, 1.0, 10), 1).is_err());
    assert!(account(&[gaussian(1.0)]).epsilon(Delta::ZERO).is_err());
}
#[test]
fn scratch() {
    use std::time::Instant;
    let z = |v| NoiseMultiplier::new(v).unwrap();
    let rep = |count, event: Event| Event::Repeated { count, event: Box::new(event) };
    let lap = |v| Event::Laplace { noise_multiplier: z(v) };
    let rr =
        |p, c| Event::RandomizedResponse { keep_probability: Probability::new(p).unwrap(), categories: c };
    let samp = |q, e| Event::PoissonSampled { rate: SamplingRate::new(q).unwrap(), event: Box::new(e) };
    let pure = |e| Event::Pure { epsilon: Epsilon::new(e).unwrap() };
    let show = |name: &str, b: Result<Bracket, crate::AccountingError>, t: Instant| match b {
        Ok(b) => println!(
            "{name}: {:.12} .. {:.12} rel {:.2e} {:?} {:?}",
            b.lower,
            b.upper,
            (b.upper - b.lower) / b.upper,
            b.direction,
            t.elapsed()
        ),
        Err(e) => println!("{name}: {e} {:?}", t.elapsed()),
    };
    let d = |v| Delta::new(v).unwrap();
    let e = |v| Epsilon::new(v).unwrap();
    let go = |name: &str, ev: &[Event], delta: f64| {
        let t = Instant::now();
        show(name, account(ev).epsilon(d(delta)), t);
    };
    let god = |name: &str, ev: &[Event], eps: f64| {
        let t = Instant::now();
        show(name, account(ev).delta(e(eps)), t);
    };
    god("laplace delta .14706625977910925", &[rep(3, lap(2.0))], 0.5);
    go("laplace eps .6508469202090055", &[rep(4, lap(5.0))], 0.01);
    go("kary 16.094269167133152", &[rep(10, rr(0.625, 4))], 1e-6);
    go("kary100 128.5", &[rep(100, rr(0.625, 4))], 1e-6);
    go("kov 4.7745675881079865", &[rep(100, pure(0.1))], 1e-6);
    go("mv .5939508739183106", &[pure(0.1), pure(0.2), pure(0.3)], 1e-3);
    god("dgauss .05400722369415442", &[Event::DiscreteGaussian { noise_multiplier: z(2.0) }], 0.5);
    go("expo kov 6.8839", &[rep(50, Event::Exponential { epsilon: e(0.2) })], 1e-6);
    for t in [1, 2, 5, 20] {
        go(&format!("sgm T={t}"), &[sgm(0.01, 1.0, t)], 1e-5);
    }
    for t in [1, 2, 5, 20] {
        go(&format!("sgm .1 .7 T={t}"), &[sgm(0.1, 0.7, t)], 1e-5);
    }
    go("samplap T=1", &[samp(0.01, lap(1.0))], 1e-5);
    go("samplap T=1000", &[rep(1000, samp(0.01, lap(1.0)))], 1e-5);
    go("samplap T=1e6", &[rep(1_000_000, samp(0.01, lap(1.0)))], 1e-5);
    go("laplace T=1e4", &[rep(10_000, lap(100.0))], 1e-5);
    go("laplace T=1e4 d-20", &[rep(10_000, lap(100.0))], 1e-20);
    go("rr T=1e9", &[rep(1_000_000_000, pure(1e-4))], 1e-5);
    go("rr T=1e12", &[rep(1_000_000_000_000, pure(1e-6))], 1e-5);
    go("many pure", &[rep(1000, pure(0.01)), rep(300, pure(0.02)), rep(10, pure(0.5))], 1e-5);
    go(
        "trunc",
        &[rep(
            1000,
            Event::TruncatedPoisson {
                dataset_size: 20000,
                rate: SamplingRate::new(0.01).unwrap(),
                max_batch: 240,
                event: Box::new(gaussian(1.4)),
            },
        )],
        1e-5,
    );
    go("pois same", &[sgm(0.01, 1.4, 1000)], 1e-5);
    let mut w = TightAccountant::new(Neighboring::ReplaceOne);
    w.compose(
        &Event::SampledWithoutReplacement {
            dataset_size: 10000,
            batch_size: 100,
            event: Box::new(gaussian(5.0)),
        },
        1000,
    )
    .unwrap();
    let t = Instant::now();
    show("wor .211", w.epsilon(d(1e-5)), t);
    let t = Instant::now();
    show("sgm d 10k", account(&[sgm(0.01, 1.0, 10000)]).delta(e(6.0)), t);
    for direction in [Direction::Remove, Direction::Add] {
        let mut s = Sum::default();
        s.push(
            10000.0,
            Loss::Mixture { shifts: vec![0.0, 1.0], weights: vec![0.99, 0.01], sigma: 1.0, direction },
        );
        let t = Instant::now();
        let b = epsilon_by_grid(&s, 1e-5, 1e-5).unwrap();
        println!("grid sgm {direction:?} {} {} {:?}", b.lower, b.upper, t.elapsed());
        let b = epsilon_by_grid(&s, 1e-30, 1e-30).unwrap();
        let c = epsilon_by_contour(&s, 1e-30, 1e-30).unwrap();
        println!("grid sgm 1e-30 {direction:?} {} {} vs {} {}", b.lower, b.upper, c.lower, c.upper);
    }
    go("hetero", &[rep(20, gaussian(10.0)), sgm(0.01, 1.0, 1000), rep(5, lap(20.0))], 1e-6);
    go(
        "shuffled",
        &[Event::Shuffled { steps_per_epoch: 10000, epochs: 1, event: Box::new(gaussian(0.4)) }],
        0.24,
    );
}
