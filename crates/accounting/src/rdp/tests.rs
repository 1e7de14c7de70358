use super::*;
use reticent_core::{NoiseMultiplier, Order, Probability, SamplingRate};

fn multiplier(v: f64) -> NoiseMultiplier {
    NoiseMultiplier::new(v).unwrap()
}
fn delta(v: f64) -> Delta {
    Delta::new(v).unwrap()
}
fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: multiplier(z) }
}
fn sgm(q: f64, z: f64, steps: u64) -> Event {
    let sampled = Event::PoissonSampled { rate: SamplingRate::new(q).unwrap(), event: Box::new(gaussian(z)) };
    Event::Repeated { count: steps, event: Box::new(sampled) }
}
fn divergence(event: &Event, neighboring: Neighboring, order: f64) -> f64 {
    let mut account = RdpAccountant::new(neighboring);
    account.compose(event, 1).unwrap();
    account.divergence_up(order)
}

/// Values are upper bounds that exceed the reference by no more than the tolerance.
#[track_caller]
fn just_above(value: f64, exact: f64, tolerance: f64) {
    assert!(value >= exact * (1.0 - 1e-12) && value <= exact * (1.0 + tolerance), "{value} {exact}");
}

#[test]
fn curves_match_the_references() {
    let add_remove = Neighboring::AddRemove;
    just_above(
        divergence(&Event::Laplace { noise_multiplier: multiplier(2.0) }, add_remove, 1.5),
        0.155_977_878_485_739_5,
        1e-9,
    );
    let response = |keep, categories| Event::RandomizedResponse {
        keep_probability: Probability::new(keep).unwrap(),
        categories,
    };
    just_above(divergence(&response(0.6, 2), add_remove, 3.5), 0.234_794_654_452_243_96, 1e-9);
    // With probability ½ a uniform category out of four: kept with 0.625.
    just_above(divergence(&response(0.625, 4), Neighboring::ReplaceOne, 6.0), 1.515_462_789_042_168_8, 1e-9);
    just_above(
        divergence(&Event::Pure { epsilon: Epsilon::new(1.0).unwrap() }, add_remove, 3.5),
        0.875_685_599_047_803_1,
        1e-9,
    );
    just_above(
        divergence(
            &Event::TreeAggregation { noise_multiplier: multiplier(1.5), steps: 100 },
            add_remove,
            4.0,
        ),
        6.222_222_222_222_222,
        1e-9,
    );
    just_above(divergence(&sgm(0.01, 1.0, 1), add_remove, 1.5), 0.000_127_253_743_327_449_83, 1e-9);
    // The peers' fractional orders lose the alternating sign here: 7.53e-5 is right.
    just_above(divergence(&sgm(0.1, 10.0, 1), add_remove, 1.5), 7.53e-5, 1e-3);
}

#[test]
fn integer_orders_match_the_binomial_sum() {
    for (q, z, a) in
        [(0.01f64, 1.0f64, 2u32), (0.1, 0.6, 7), (0.001, 0.5, 20), (0.3, 5.0, 40), (0.01, 8.0, 200)]
    {
        let terms: Vec<f64> = (0..=a)
            .map(|i| {
                let (n, i) = (f64::from(a), f64::from(i));
                libm::lgamma(n + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(n - i + 1.0)
                    + (n - i) * (-q).ln_1p()
                    + i * q.ln()
                    + (i * i - i) / (2.0 * z * z)
            })
            .collect();
        let top = terms.iter().copied().fold(f64::MIN, f64::max);
        let exact = top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln();
        let ours = sampled_gaussian_log_moment(q, z, f64::from(a));
        assert!((ours - exact).abs() <= 1e-9 * exact.abs() + 3e-13, "q {q} z {z} α {a}: {ours} {exact}");
    }
}

#[test]
fn epsilons_match_and_beat_fixed_order_lists() {
    let cases = [
        (0.01, 1.0, 10_000, 1e-5, 6.187_712, 6.712_74),
        (0.01, 4.0, 10_000, 1e-5, 0.946_867, 1.035_49),
        (256.0 / 6e4, 1.1, 14_040, 1e-5, 2.379_555, 2.594_36),
        (1e-3, 0.6, 100_000, 1e-6, 6.960_844, 7.754_84),
        (0.05, 2.0, 1_000_000, 1e-7, 487.632_18, 498.908),
        (0.001, 8.0, 2000, 1e-5, 0.014_31, 0.016_50),
    ];
    for (q, z, steps, d, exact, listed) in cases {
        let mut account = RdpAccountant::new(Neighboring::AddRemove);
        account.compose(&sgm(q, z, steps), 1).unwrap();
        let epsilon = account.epsilon_up(delta(d)).unwrap().get();
        assert!(
            epsilon >= exact && epsilon <= listed * (1.0 + 1e-5),
            "q {q} z {z}: {epsilon} not in {exact}..{listed}"
        );
    }
}

#[test]
fn counts_and_repetitions_are_the_same() {
    let once = |event: &Event, n: u64| {
        let mut account = RdpAccountant::new(Neighboring::AddRemove);
        account.compose(event, n).unwrap();
        account.divergence_up(4.0)
    };
    let events = [
        gaussian(2.0),
        Event::Laplace { noise_multiplier: multiplier(3.0) },
        Event::RandomizedResponse { keep_probability: Probability::new(0.625).unwrap(), categories: 4 },
        Event::Exponential { epsilon: Epsilon::new(0.2).unwrap() },
        Event::Zcdp { rho: reticent_core::Rho::new(0.1).unwrap() },
        sgm(0.01, 1.0, 10),
    ];
    for event in events {
        let singles: f64 = (0..7).map(|_| once(&event, 1)).sum();
        just_above(once(&event, 7), singles, 1e-9);
        just_above(once(&Event::Repeated { count: 7, event: Box::new(event.clone()) }, 1), singles, 1e-9);
        just_above(once(&Event::Composed { events: vec![event; 7] }, 1), singles, 1e-9);
    }
}

#[test]
fn mixtures_are_bounded_both_ways() {
    let mixture = |s: &[f64], p: &[f64]| Event::MixtureOfGaussians {
        sensitivities: s.to_vec(),
        probabilities: p.to_vec(),
        noise_multiplier: multiplier(1.5),
    };
    let at = |event: &Event| divergence(event, Neighboring::AddRemove, 6.5);
    // A single component is a Gaussian in both directions; two are a Poisson sample.
    just_above(at(&mixture(&[1.0], &[1.0])), 6.5 / (2.0 * 2.25), 1e-9);
    just_above(at(&mixture(&[0.0, 1.0], &[0.9, 0.1])), at(&sgm(0.1, 1.5, 1)), 1e-9);
}

#[test]
fn conversions() {
    just_above(epsilon_at_order(0.5, 10.0, delta(1e-5)), 1.418_010_636_783_971_8, 1e-12);
    assert!(epsilon_by_mironov(0.5, 10.0, delta(1e-5)) > epsilon_at_order(0.5, 10.0, delta(1e-5)));
    let (zcdp, _) = epsilon_up(|order| 0.1 * order, delta(1e-6)).unwrap();
    assert!(zcdp.get() > 1.994_5 && zcdp.get() <= 2.141_941_1, "{zcdp}");
    assert!(epsilon_up(|order| order, Delta::ZERO).is_err());
    assert!(epsilon_up(|_| f64::INFINITY, delta(0.1)).is_err());
}

#[test]
fn bad_outcomes_match_the_course() {
    let range =
        bad_outcome(Order::new(5.0).unwrap(), Epsilon::new(0.1).unwrap(), Probability::new(0.01).unwrap())
            .unwrap();
    just_above(range.upper, 0.027_210_940_867_225_288, 1e-9);
    assert!(range.lower <= 0.002_861_347_153_139_552 && range.lower > 0.002_861_347_15);
    assert!(
        bayes_factor(Order::new(2.0).unwrap(), Epsilon::new(0.1).unwrap(), Probability::new(0.1).unwrap())
            .unwrap()
            > 11.0
    );
}

#[test]
fn sampling_without_replacement_is_valid_and_no_worse_than_the_peer() {
    let event = Event::SampledWithoutReplacement {
        dataset_size: 10_000,
        batch_size: 100,
        event: Box::new(gaussian(5.0)),
    };
    let mut account = RdpAccountant::new(Neighboring::ReplaceOne);
    account.compose(&event, 1000).unwrap();
    let at_eight = account.divergence_up(8.0) / 1000.0;
    assert!(at_eight > 1.636e-5 && at_eight < 6.58e-5, "{at_eight}");
    let between = account.divergence_up(8.5);
    assert!(between >= account.divergence_up(8.0) && between <= account.divergence_up(9.0));
    let mut wrong = RdpAccountant::new(Neighboring::AddRemove);
    assert!(wrong.compose(&event, 1).is_err());
}

#[test]
fn shuffled_batches_are_never_charged_as_poisson() {
    let shuffled = Event::Shuffled { steps_per_epoch: 10_000, epochs: 3, event: Box::new(gaussian(0.8)) };
    let once_an_epoch = 3.0 * divergence(&gaussian(0.8), Neighboring::AddRemove, 5.0);
    just_above(divergence(&shuffled, Neighboring::AddRemove, 5.0), once_an_epoch, 1e-12);
    assert!(divergence(&sgm(1e-4, 0.8, 30_000), Neighboring::AddRemove, 5.0) < once_an_epoch / 100.0);
}

#[test]
fn unsupported_events_say_so() {
    let mut account = RdpAccountant::new(Neighboring::AddRemove);
    let event = Event::Approximate { epsilon: Epsilon::new(1.0).unwrap(), delta: delta(1e-6) };
    let message = account.compose(&event, 1).unwrap_err().to_string();
    assert!(message.contains("approximate") && message.contains("rdp"), "{message}");
    assert_eq!(account.divergence_up(2.0), 0.0);
}

#[test]
fn closed_forms_at_the_ends() {
    let laplace = Event::Laplace { noise_multiplier: multiplier(2.0) };
    just_above(kullback_leibler(&laplace).unwrap(), 0.5 + (-0.5f64).exp() - 1.0, 1e-12);
    just_above(largest_loss(&laplace).unwrap(), 0.5, 1e-12);
    let near_one = divergence(&laplace, Neighboring::AddRemove, 1.0 + 1e-6);
    assert!((near_one - kullback_leibler(&laplace).unwrap()).abs() < 1e-6);
    assert!((divergence(&laplace, Neighboring::AddRemove, 1e6) - 0.5).abs() < 1e-5);
}

fn mixture(sensitivities: &[f64], probabilities: &[f64], z: f64) -> Event {
    Event::MixtureOfGaussians {
        sensitivities: sensitivities.to_vec(),
        probabilities: probabilities.to_vec(),
        noise_multiplier: NoiseMultiplier::new(z).unwrap(),
    }
}

fn epsilon(event: &Event, count: u64, delta: f64) -> f64 {
    let mut account = RdpAccountant::new(Neighboring::AddRemove);
    account.compose(event, count).unwrap();
    account.epsilon_up(Delta::new(delta).unwrap()).unwrap().get()
}

/// Whatever overflows is a large divergence, never a small one.
#[test]
fn mixtures_far_from_their_mean_stay_large() {
    // Exact values: 9.0 for the first, certified lower ends of the loss distributions for the others.
    assert!(epsilon(&mixture(&[1.0, 2.0], &[0.5, 0.5], 1.0), 1, 1e-5) > 9.0);
    assert!(epsilon(&mixture(&[1.0, 2.0], &[0.5, 0.5], 1.0), 100, 1e-5) > 186.86);
    assert!(epsilon(&mixture(&[0.0, 1.0], &[0.99, 0.01], 0.5), 100, 1e-5) > 6.47);
    assert!(epsilon(&mixture(&[0.0, 1.0], &[0.5, 0.5], 1.0), 10, 1e-5) > 10.458);
    assert!(epsilon(&mixture(&[0.0, 40.0], &[0.5, 0.5], 1.0), 10_000, 0.1) > 4.03e6);
    let curve = |order: f64| {
        let mut account = RdpAccountant::new(Neighboring::AddRemove);
        account.compose(&mixture(&[0.0, 1.0], &[0.99, 0.01], 0.5), 1).unwrap();
        account.divergence_up(order)
    };
    assert!(curve(200.0) >= curve(150.0) && curve(150.0) > 295.0);
}

#[test]
fn what_is_not_a_number_is_never_a_small_cost() {
    let gaussian = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(0.1).unwrap() };
    let alone = epsilon(&gaussian, 1, 1e-5);
    let nothing = |event: Event| Event::Repeated { count: 0, event: Box::new(event) };
    let point = Event::Rdp { order: Order::new(2.0).unwrap(), epsilon: Epsilon::new(1.0).unwrap() };
    let with = |event: Event| Event::Composed { events: vec![gaussian.clone(), event] };
    assert_eq!(epsilon(&with(nothing(point.clone())), 1, 1e-5), alone);
    let unused = Event::Shuffled { steps_per_epoch: 3, epochs: 0, event: Box::new(point) };
    assert_eq!(epsilon(&with(unused), 1, 1e-5), alone);
    let delta = Delta::new(1e-5).unwrap();
    for (divergence, order) in [(5.0, 1.0), (5.0, 0.5), (f64::NAN, 2.0), (1.0, f64::NAN)] {
        assert_eq!(epsilon_at_order(divergence, order, delta), f64::INFINITY);
        assert_eq!(epsilon_by_mironov(divergence, order, delta), f64::INFINITY);
        assert_eq!(delta_at_order(divergence, order, Epsilon::new(1.0).unwrap()), 1.0);
    }
}

#[test]
fn randomized_response_close_to_uniform_rounds_up() {
    let event = |keep, categories| Event::RandomizedResponse {
        keep_probability: Probability::new(keep).unwrap(),
        categories,
    };
    // ln(keep/stray) in 40 digits of the doubles given.
    let loss = largest_loss(&event(0.250_000_000_000_012_9, 4)).unwrap();
    assert!((6.868_5e-14..6.869e-14).contains(&loss), "{loss:e}");
    assert!(largest_loss(&event(1.0 / 3.0, 3)).unwrap() >= 0.0);
    let mut account = RdpAccountant::new(Neighboring::AddRemove);
    account.compose(&event(1.0 / 3.0, 3), 1).unwrap();
    assert!(account.divergence_up(1e6) >= 0.0);
}

#[test]
fn tiny_noise_without_replacement_ends() {
    for z in [0.02, 1e-3, 1e-8, 1e-160] {
        let batch = Event::SampledWithoutReplacement {
            dataset_size: 1000,
            batch_size: 10,
            event: Box::new(Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }),
        };
        let mut account = RdpAccountant::new(Neighboring::ReplaceOne);
        account.compose(&batch, 1).unwrap();
        assert!(account.divergence_up(4.0) > 1.0);
    }
}
