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
    assert!(bracket.upper - bracket.lower <= 1e-5 * bracket.upper, "{bracket:?}");
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
fn one_use_and_listed_outcomes_are_exact() {
    let z = |v| NoiseMultiplier::new(v).unwrap();
    let repeated = |count, event: Event| Event::Repeated { count, event: Box::new(event) };
    let pure = |e| Event::Pure { epsilon: Epsilon::new(e).unwrap() };
    let response = |keep, categories| Event::RandomizedResponse {
        keep_probability: Probability::new(keep).unwrap(),
        categories,
    };
    // Trinomial, binomial and subset sums in 40-digit arithmetic.
    holds(epsilon_of(&[repeated(10, response(0.625, 4))], 1e-6), 16.094_269_167_133_152, 1e-13);
    holds(epsilon_of(&[repeated(100, pure(0.1))], 1e-6), 4.774_567_588_107_986_5, 1e-13);
    holds(epsilon_of(&[pure(0.1), pure(0.2), pure(0.3)], 1e-3), 0.593_950_873_918_310_6, 1e-13);
    let discrete = account(&[Event::DiscreteGaussian {
        noise_multiplier: z(2.0),
        sensitivity: Some(reticent_core::Sensitivity::new(1.0).unwrap()),
    }]);
    holds(discrete.delta(Epsilon::new(0.5).unwrap()).unwrap(), 0.054_007_223_694_154_42, 1e-13);
    // One use of a sampled Gaussian: Φ differences.
    let single = account(&[sgm(0.01, 1.0, 1)]).delta(Epsilon::new(0.2).unwrap()).unwrap();
    let x = 0.5 + libm::log((libm::exp(0.2) - 0.99) / 0.01);
    let tail = reticent_core::special::normal_tail;
    holds(single, 0.99 * tail(x) + 0.01 * tail(x - 1.0) - libm::exp(0.2) * tail(x), 1e-9);
}

#[test]
fn laplace_noise_on_the_grid() {
    let laplace = |scale, count| Event::Repeated {
        count,
        event: Box::new(Event::Laplace { noise_multiplier: NoiseMultiplier::new(scale).unwrap() }),
    };
    // Mixtures of atoms and Irwin–Hall pieces, exactly.
    let delta = account(&[laplace(2.0, 3)]).delta(Epsilon::new(0.5).unwrap()).unwrap();
    assert!(delta.lower <= 0.147_066_259_779_109_25 && delta.upper >= 0.147_066_259_779_109_25, "{delta:?}");
    assert!(delta.upper <= 0.147_066_259_779_109_25 * 1.0001, "{delta:?}");
    let epsilon = epsilon_of(&[laplace(5.0, 4)], 0.01);
    assert!(
        epsilon.lower <= 0.650_846_920_209_005_5 && epsilon.upper >= 0.650_846_920_209_005_5,
        "{epsilon:?}"
    );
    assert!(epsilon.upper - epsilon.lower < 1e-4 * epsilon.upper, "{epsilon:?}");
}

/// The two ways to the same number, which share nothing but the losses.
#[test]
fn grid_and_contour_agree() {
    for (q, sigma, count, delta) in
        [(0.02, 1.5, 200.0, 1e-5), (0.1, 3.0, 500.0, 1e-12), (0.3, 0.9, 400.0, 1e-20)]
    {
        for direction in [Direction::Remove, Direction::Add] {
            let mut sum = Sum::default();
            sum.push(
                count,
                PrivacyLoss::Mixture { shifts: vec![0.0, 1.0], weights: vec![1.0 - q, q], sigma, direction },
            );
            let contour = epsilon_by_contour(&sum, delta, delta).unwrap();
            let grid = epsilon_by_grid(&sum, delta, delta).unwrap();
            assert!(grid.lower <= contour.upper && contour.lower <= grid.upper, "{grid:?} {contour:?}");
            assert!(grid.upper - grid.lower <= 5e-4 * grid.upper, "{grid:?} {contour:?}");
        }
    }
}

#[test]
fn few_steps_have_narrow_brackets() {
    for steps in [2, 3, 10] {
        let bracket = epsilon_of(&[sgm(0.1, 0.7, steps)], 1e-5);
        assert!(bracket.upper - bracket.lower <= 1e-4 * bracket.upper, "{bracket:?}");
    }
}

#[test]
fn sampled_laplace_lies_between_its_bounds() {
    let laplace = Event::Laplace { noise_multiplier: NoiseMultiplier::new(1.0).unwrap() };
    let sampled =
        Event::PoissonSampled { rate: SamplingRate::new(0.01).unwrap(), event: Box::new(laplace.clone()) };
    let many = |event: &Event| Event::Repeated { count: 1000, event: Box::new(event.clone()) };
    let bracket = epsilon_of(&[many(&sampled)], 1e-5);
    // Amplified pure claims, optimally composed, are worse; a tenth of the rate is better.
    let amplified = libm::log1p(0.01 * libm::expm1(1.0));
    let pure = Event::Pure { epsilon: Epsilon::new(amplified).unwrap() };
    assert!(bracket.upper < epsilon_of(&[many(&pure)], 1e-5).lower);
    let rarer = Event::PoissonSampled { rate: SamplingRate::new(0.001).unwrap(), event: Box::new(laplace) };
    assert!(bracket.lower > epsilon_of(&[many(&rarer)], 1e-5).upper);
    assert!(bracket.upper - bracket.lower <= 1e-4 * bracket.upper, "{bracket:?}");
}

#[test]
fn replacing_a_record_costs_more_than_sampling_alone() {
    let batch = Event::SampledWithoutReplacement {
        dataset_size: 10_000,
        batch_size: 100,
        event: Box::new(gaussian(5.0)),
    };
    let mut account = TightAccountant::new(Neighboring::ReplaceOne);
    account.compose(&batch, 1000).unwrap();
    let bracket = account.epsilon(Delta::new(1e-5).unwrap()).unwrap();
    // Poisson sampling with the same noise is a lower bound; the Rényi bound without replacement an upper one.
    assert!(bracket.lower > 0.211 && bracket.lower < 0.212, "{bracket:?}");
    assert!(bracket.upper < 0.23 && bracket.upper > bracket.lower, "{bracket:?}");
}

#[test]
fn shuffled_batches_are_never_charged_as_sampled() {
    let shuffled = Event::Shuffled { steps_per_epoch: 10_000, epochs: 1, event: Box::new(gaussian(0.4)) };
    let bracket = account(&[shuffled]).delta(Epsilon::new(4.0).unwrap()).unwrap();
    assert!(
        bracket.lower >= 0.226_055 && bracket.upper >= 0.243_819 && bracket.upper < 0.243_821,
        "{bracket:?}"
    );
    let poisson = account(&[sgm(1e-4, 0.4, 10_000)]).delta(Epsilon::new(4.0).unwrap()).unwrap();
    // A contour of 8000 points in steps of 0.05.
    let exact = 1.168_318_004e-5;
    assert!(poisson.lower <= exact && exact <= poisson.upper && poisson.upper < 1.05 * exact, "{poisson:?}");
}

#[test]
fn truncated_batches_cost_a_little_more() {
    let truncated = |max_batch| {
        let event = Event::TruncatedPoisson {
            dataset_size: 20_000,
            rate: SamplingRate::new(0.01).unwrap(),
            max_batch,
            event: Box::new(gaussian(1.4)),
        };
        epsilon_of(&[Event::Repeated { count: 1000, event: Box::new(event) }], 1e-5)
    };
    let poisson = epsilon_of(&[sgm(0.01, 1.4, 1000)], 1e-5);
    // Hardly ever full: hardly more than Poisson. Always full: nothing but a bound for twice the sensitivity.
    assert!(truncated(400).upper >= poisson.lower && truncated(400).upper <= poisson.upper * 1.000_1);
    assert!(truncated(240).upper > poisson.upper && truncated(240).upper < 1.5);
    assert!(truncated(100).upper <= epsilon_of(&[sgm(0.01, 0.7, 1000)], 1e-5).upper * 1.000_01);
}

#[test]
fn what_has_no_loss_distribution_says_so() {
    let message = |event: Event| {
        TightAccountant::new(Neighboring::AddRemove).compose(&event, 1).unwrap_err().to_string()
    };
    assert!(message(Event::Zcdp { rho: reticent_core::Rho::new(0.1).unwrap() }).contains("zcdp"));
    let batch =
        Event::SampledWithoutReplacement { dataset_size: 10, batch_size: 2, event: Box::new(gaussian(1.0)) };
    assert!(message(batch).contains("replace-one"));
    assert!(account(&[gaussian(1.0)]).epsilon(Delta::ZERO).is_err());
    assert_eq!(account(&[]).epsilon(Delta::new(1e-5).unwrap()).unwrap().upper, 0.0);
}

#[test]
fn tiny_noise_is_never_a_small_cost() {
    for z in [1e-7, 1e-15, 1e-50, 1e-300] {
        match account(&[gaussian(z)]).epsilon(Delta::new(1e-5).unwrap()) {
            Ok(bracket) => assert!(bracket.upper >= 0.5 / (z * z), "{z} {bracket:?}"),
            Err(error) => assert!(error.to_string().contains("pld"), "{error}"),
        }
        let delta = account(&[gaussian(z), sgm(0.5, 1.0, 10)]).delta(Epsilon::new(1.0).unwrap());
        assert!(delta.map_or(true, |bracket| bracket.upper >= 0.999_999), "{z}");
    }
}

/// Rounding grows with the number of steps and must stay inside the bracket.
#[test]
fn brackets_of_very_many_steps_hold_the_truth() {
    // δ at these ε is below (above) the target by long-double contours.
    let upper = epsilon_of(&[sgm(0.01, 2.0, 100_000_000_000)], 1e-5).upper;
    assert!(upper > 1_422_957.038_056, "{upper}");
    let lower = epsilon_of(&[sgm(0.000_1, 1.0, 1_000_000_000_000)], 1e-5).lower;
    assert!(lower < 9147.181, "{lower}");
    let whole =
        account(&[sgm(0.055_190_623, 7.727_400_9, 6_948_508)]).delta(Epsilon::new(0.0).unwrap()).unwrap();
    assert!(whole.lower <= whole.upper && whole.upper <= 1.0, "{whole:?}");
}

/// A component that hardly ever happens changes hardly anything.
#[test]
fn far_components_do_not_hide_near_ones() {
    let mixture = |sensitivities: &[f64], probabilities: &[f64]| Event::MixtureOfGaussians {
        sensitivities: sensitivities.to_vec(),
        probabilities: probabilities.to_vec(),
        noise_multiplier: NoiseMultiplier::new(1.0).unwrap(),
    };
    let delta = |event: Event| account(&[event, gaussian(0.1)]).delta(Epsilon::new(785.14).unwrap()).unwrap();
    let with = delta(mixture(&[0.0, 31.0, 77.6], &[0.5, 0.5, 1e-320]));
    let without = delta(mixture(&[0.0, 31.0], &[0.5, 0.5]));
    assert!(
        with.upper >= without.lower * (1.0 - 1e-9) && with.lower <= without.upper,
        "{with:?} {without:?}"
    );
}

#[test]
fn claims_whose_deltas_nearly_use_up_the_total() {
    let claim = |delta: f64| Event::Approximate {
        epsilon: Epsilon::new(0.0).unwrap(),
        delta: Delta::new(delta).unwrap(),
    };
    let steps = sgm(0.01, 1.0, 1000);
    let near = Event::Repeated { count: 3, event: Box::new(claim(3.333_344_444_505_840_2e-6)) };
    if let Ok(bracket) = account(&[steps.clone(), near.clone()]).epsilon(Delta::new(1e-5).unwrap()) {
        let back = account(&[steps.clone(), near]).delta(Epsilon::new(bracket.upper).unwrap()).unwrap();
        assert!(back.lower <= 1e-5, "{bracket:?} {back:?}");
    }
    let mut many = account(&[steps]);
    for _ in 0..100_000 {
        many.compose(&claim(3e-9), 1).unwrap();
    }
    let bracket = many.delta(Epsilon::new(4.0).unwrap()).unwrap();
    let exact = 2.999_550_054_845_149e-4;
    assert!(bracket.lower <= exact && exact <= bracket.upper, "{bracket:?}");
}

#[test]
fn brackets_are_as_narrow_as_asked_for_and_no_narrower_ones_contradict_them() {
    // Few steps, where the grid answers.
    let delta = Delta::new(1e-5).unwrap();
    let at = |width: f64| account(&[sgm(0.01, 1.0, 10)]).with_width(width).unwrap().epsilon(delta).unwrap();
    let brackets = [0.1, 1e-2, 1e-3, 1e-4, 1e-5].map(|width| {
        let bracket = at(width);
        assert!(bracket.upper - bracket.lower <= width * bracket.upper, "{width}: {bracket:?}");
        bracket
    });
    for pair in brackets.windows(2) {
        assert!(pair[0].lower <= pair[1].upper && pair[1].lower <= pair[0].upper, "{pair:?}");
    }
    for width in [0.0, -1.0, f64::NAN, 1.0, 1e-12] {
        assert!(TightAccountant::new(Neighboring::AddRemove).with_width(width).is_err());
    }
}
