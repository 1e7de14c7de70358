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
