use super::*;
use proptest::prelude::*;
use reticent_core::{Delta, Epsilon, Probability, Scale, Sensitivity};

fn epsilon(v: f64) -> Epsilon {
    Epsilon::new(v).unwrap()
}
fn delta(v: f64) -> Delta {
    Delta::new(v).unwrap()
}
fn session() -> crate::NoiseSession {
    crate::NoiseSession::without_limit("row", reticent_core::Neighboring::AddRemove).unwrap()
}
fn sensitivity(v: f64) -> Sensitivity {
    Sensitivity::new(v).unwrap()
}

#[test]
fn claims_never_exceed_what_was_asked() {
    for e in [1e-3, 0.1, 0.3, 1.0, 3.0, 17.0] {
        assert!(DiscreteLaplace::new(3, epsilon(e)).unwrap().guarantee().epsilon.get() <= e);
        assert!(Laplace::new(sensitivity(0.7), epsilon(e), 5).unwrap().guarantee().epsilon.get() <= e);
        assert!(
            DiscreteGaussian::new(sensitivity(2.0), epsilon(e), delta(1e-6))
                .unwrap()
                .guarantee()
                .epsilon
                .get()
                <= e
        );
        assert!(RandomizedResponse::new(epsilon(e), 4).unwrap().guarantee().epsilon.get() <= e);
        assert!(
            StudentT::for_epsilon(sensitivity(1.0), epsilon(e), 3, 2).unwrap().guarantee().epsilon.get() <= e
        );
    }
}

#[test]
fn grid_noise_pays_for_rounding_and_little_more() {
    let laplace = Laplace::new(sensitivity(1.0), epsilon(1.0), 1).unwrap();
    assert!(laplace.scale() > 1.0 && laplace.scale() < 1.0 + 1e-12, "{}", laplace.scale());
    let exact =
        reticent_core::profile::gaussian_noise_multiplier_up(epsilon(1.0), delta(1e-6)).unwrap().get();
    let gaussian = Gaussian::new(sensitivity(1.0), epsilon(1.0), delta(1e-6), 1).unwrap();
    assert!(
        gaussian.sigma() > exact && gaussian.sigma() < exact * (1.0 + 1e-8),
        "{} {exact}",
        gaussian.sigma()
    );
    let Event::Gaussian { noise_multiplier } = gaussian.event() else { panic!() };
    assert!(noise_multiplier.get() >= exact * (1.0 - 1e-15));
}

#[test]
fn textbook_formulas_are_guarded() {
    let one = sensitivity(1.0);
    assert!((classical_sigma(one, epsilon(0.5), delta(1e-5)).unwrap().get() - 9.689_608).abs() < 1e-4);
    let message = classical_sigma(one, epsilon(1.0), delta(1e-5)).unwrap_err().to_string();
    assert!(message.contains("epsilon = 1") && message.contains("below 1"), "{message}");
    assert!((short_classical_sigma(one, epsilon(0.5), delta(1e-5)).unwrap().get() - 9.597_05).abs() < 1e-4);
    let message = short_classical_sigma(one, epsilon(10.0), delta(1e-5)).unwrap_err().to_string();
    assert!(message.contains("gives only epsilon = 12.17"), "{message}");
    // The analytic noise is never more than a textbook formula that holds.
    let analytic = Gaussian::new(one, epsilon(0.5), delta(1e-5), 1).unwrap().sigma();
    assert!(analytic < 9.597);
}

#[test]
fn short_classical_is_wrong_where_it_is_refused() {
    use reticent_core::profile::gaussian_delta_down;
    let sigma = (2.0 * (1e5f64).ln()).sqrt() / 10.0;
    assert!(gaussian_delta_down(epsilon(10.0), reticent_core::NoiseMultiplier::new(sigma).unwrap()) > 2.8e-5);
}

#[test]
fn nonsense_is_a_typed_error_that_names_the_field() {
    let cases = [
        (DiscreteLaplace::new(0, epsilon(1.0)).map(drop), "sensitivity"),
        (DiscreteLaplace::new(1, epsilon(0.0)).map(drop), "epsilon"),
        (Laplace::new(sensitivity(1e-320), epsilon(1.0), 1).map(drop), "scale"),
        (Gaussian::new(sensitivity(1.0), epsilon(1.0), delta(0.0), 1).map(drop), "delta"),
        (Gaussian::new(sensitivity(1.0), epsilon(1.0), delta(1e-40), 1).map(drop), "delta"),
        (RandomizedResponse::new(epsilon(1.0), 1).map(drop), "categories"),
        (
            RandomizedResponse::with_keep_probability(Probability::new(0.2).unwrap(), 3).map(drop),
            "keep_probability",
        ),
        (
            PrivateSelection::for_integers(SelectionRule::Exponential, 0, epsilon(1.0)).map(drop),
            "sensitivity",
        ),
        (
            PrivateSelection::new(SelectionRule::Exponential, sensitivity(1.0), epsilon(0.0)).map(drop),
            "epsilon",
        ),
        (StudentT::new(sensitivity(1.0), Scale::new(1.0).unwrap(), 0, 1).map(drop), "degrees_of_freedom"),
    ];
    for (index, (result, field)) in cases.into_iter().enumerate() {
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with(field), "case {index}: {message}");
    }
}

#[test]
fn randomized_response_calibrates_both_ways() {
    let fair = RandomizedResponse::with_keep_probability(Probability::new(0.75).unwrap(), 2).unwrap();
    assert!(
        (fair.guarantee().epsilon.get() - 3f64.ln()).abs() < 1e-12
            && fair.guarantee().epsilon.get() >= 3f64.ln()
    );
    for e in [1e-6, 0.5, 1.0, 4.0, 30.0] {
        for k in [2, 3, 100] {
            let response = RandomizedResponse::new(epsilon(e), k).unwrap();
            let exact = 1.0 / (1.0 + (k as f64 - 1.0) * (-e).exp());
            assert!((response.keep_probability() - exact).abs() < 1e-14);
        }
    }
    // 40 % yes among 10 000, reported as expected: 0.75·0.4 + 0.25·0.6 = 0.45.
    let estimate = fair.estimate(4500, 10_000, Confidence::P95).unwrap();
    assert!((estimate.value - 0.4).abs() < 1e-12);
    assert!((estimate.standard_error - 0.00995).abs() < 1e-5);
    assert!(estimate.interval[0] < 0.4 - 0.019 && estimate.interval[1] > 0.4 + 0.019);
    assert!(fair.estimate(1, 0, Confidence::P95).is_err());
    let needed = RandomizedResponse::epsilon_for_error(10_000, 2, 0.01).unwrap();
    assert!((RandomizedResponse::new(needed, 2).unwrap().worst_standard_error(10_000) - 0.01).abs() < 1e-9);
    assert!(RandomizedResponse::epsilon_for_error(10_000, 2, 0.001).is_err());
}

#[test]
fn accuracy_goes_both_ways() {
    let p95 = Confidence::P95;
    let e = DiscreteLaplace::epsilon_for_error(1, 10.0, p95).unwrap();
    assert!(DiscreteLaplace::new(1, e).unwrap().error(p95) <= 10.0);
    assert!(DiscreteLaplace::new(1, epsilon(e.get() * 0.98)).unwrap().error(p95) > 10.0);
    let e = Laplace::epsilon_for_error(sensitivity(2.0), 0.1, p95).unwrap();
    assert!((Laplace::new(sensitivity(2.0), e, 1).unwrap().error(p95) / 0.1 - 1.0).abs() < 1e-9);
    let e = Gaussian::epsilon_for_error(sensitivity(2.0), delta(1e-6), 5.0, p95).unwrap();
    let error = Gaussian::new(sensitivity(2.0), e, delta(1e-6), 1).unwrap().error(p95);
    assert!(error <= 5.0 * (1.0 + 1e-9) && error > 5.0 * 0.999, "{error}");
    let e = IntegerGaussian::epsilon_for_error(sensitivity(1.0), delta(1e-6), 7.0, p95).unwrap();
    assert_eq!(IntegerGaussian::new(sensitivity(1.0), e, delta(1e-6), 1).unwrap().error(p95), 7.0);
    let e = DiscreteGaussian::epsilon_for_error(sensitivity(1.0), delta(1e-6), 9.0, p95).unwrap();
    assert_eq!(DiscreteGaussian::new(sensitivity(1.0), e, delta(1e-6)).unwrap().error(p95), 9.0);
    let e = StudentT::epsilon_for_error(sensitivity(1.0), 3.0, p95, 4, 2).unwrap();
    let error = StudentT::for_epsilon(sensitivity(1.0), e, 4, 2).unwrap().error(p95);
    assert!(error <= 3.0 && error > 2.9999, "{error}");
    // Student-t with one degree of freedom is Cauchy: its 97.5 % quantile is tan(0.475π).
    let cauchy = StudentT::new(sensitivity(1.0), Scale::new(1.0).unwrap(), 1, 1).unwrap();
    assert!((cauchy.error(p95) - 12.7062).abs() < 1e-3);
    let e = PrivateSelection::epsilon_for_error(sensitivity(1.0), 5.0, 100, 1, p95).unwrap();
    let rule = PrivateSelection::for_integers(SelectionRule::Exponential, 1, e).unwrap();
    let shortfall = rule.shortfall(100, 1, p95).unwrap();
    assert!(shortfall <= 5.0 && shortfall > 4.999, "{shortfall}");
    assert!(rule.shortfall(100, 0, p95).is_err());
    assert!(rule.shortfall(100, 10, p95).unwrap() < shortfall);
}

#[test]
fn rules_are_compared() {
    // Two candidates, gap of two units: closed forms for both mechanisms.
    let gap: f64 = 2.0;
    let errors = compare_rules(&[10.0, 8.0], sensitivity(1.0), epsilon(2.0), false).unwrap();
    let w = (-gap).exp();
    assert!((errors.exponential - gap * w / (1.0 + w)).abs() < 1e-9);
    assert!((errors.permute_and_flip - gap * w / 2.0).abs() < 1e-6, "{errors:?}");
    // Laplace difference: P(L2 − L1 > g) = ½e^{−g}(1 + g/2).
    assert!((errors.report_noisy_max - gap * 0.5 * w * (1.0 + gap / 2.0)).abs() < 1e-4, "{errors:?}");
    assert_eq!(errors.best(), SelectionRule::PermuteAndFlip);
    assert!(compare_rules(&[], sensitivity(1.0), epsilon(1.0), false).is_err());
}

#[test]
fn student_bound_is_the_supremum() {
    for (nu, t) in [(1u32, 0.5), (3, 1.0), (10, 4.0)] {
        let n = f64::from(nu);
        let loss = |x: f64| (n + 1.0) / 2.0 * ((n + (x + t).powi(2)) / (n + x * x)).ln();
        let most = (-100_000..100_000).map(|i| loss(f64::from(i) * 1e-3)).fold(f64::MIN, f64::max);
        let claim = (n + 1.0) * (t / (2.0 * n.sqrt())).asinh();
        assert!((most - claim).abs() < 1e-5, "{nu} {t}: {most} {claim}");
    }
}

#[test]
fn lengths_do_not_depend_on_the_input() {
    let mut session = session();
    let laplace = Laplace::new(sensitivity(1.0), epsilon(1.0), 3).unwrap();
    assert_eq!(session.release(&laplace, &[]).unwrap().value.len(), 3);
    assert_eq!(session.release(&laplace, &[1.0; 10]).unwrap().value.len(), 3);
    assert_eq!(laplace.distance(&[1.0], &[1.0]), f64::INFINITY);
    assert_eq!(laplace.distance(&[1.0, 0.0, 0.0], &[0.5, 0.5, 0.0]), 1.0);
}

proptest! {
    #[test]
    fn any_input_gives_a_finite_output(x in any::<f64>(), log_scale in -290f64..290.0) {
        let mut session = session();
        let scale = Scale::new(10f64.powf(log_scale)).unwrap();
        let s = sensitivity(scale.get());
        prop_assert!(session.release(&Laplace::with_scale(s, scale, 1).unwrap(), &[x]).unwrap().value[0].is_finite());
        prop_assert!(session.release(&Gaussian::with_sigma(s, scale, delta(1e-6), 1).unwrap(), &[x]).unwrap().value[0].is_finite());
        prop_assert!(session.release(&StudentT::new(s, scale, 3, 1).unwrap(), &[x]).unwrap().value[0].is_finite());
        let choice = PrivateSelection::new(SelectionRule::PermuteAndFlip, s, epsilon(1.0)).unwrap();
        prop_assert!(session.release(&choice, &choice.points(&[x, 0.0, -x])).unwrap().value < 3);
    }
}

#[test]
fn selection_probabilities_are_exact() {
    // Hair colours at ε = 0.1: the sums over all orders of the candidates, in 30 digits.
    let counts = [500, 399, 60, 40];
    let choice = |rule, monotone: bool| {
        let choice = PrivateSelection::for_integers(rule, 1, epsilon(0.1)).unwrap();
        if monotone { choice.monotone().unwrap() } else { choice }
    };
    let close = |rule, monotone, scores: &[i128], expected: [f64; 4]| {
        let found = choice(rule, monotone).probabilities_of_public(scores).unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-10, "{rule:?}: {found} for {expected}");
        }
    };
    use SelectionRule::{Exponential, PermuteAndFlip};
    close(Exponential, false, &counts, [0.993_631_484_116_46, 0.006_368_515_504_40, 2.771_7e-10, 1.02e-10]);
    close(PermuteAndFlip, false, &counts, [0.996_795_333_086_9, 0.003_204_666_722_72, 1.39e-10, 5.1e-11]);
    close(Exponential, true, &counts, [0.999_958_922_132_235, 4.107_786_776e-5, 0.0, 0.0]);
    close(PermuteAndFlip, true, &counts, [0.999_979_460_222_387, 2.053_977_761e-5, 0.0, 0.0]);
    let near = [0.287_389_134_545_16, 0.267_851_047_194_88, 0.250_383_051_243_01, 0.194_376_767_016_95];
    close(PermuteAndFlip, false, &[6, 5, 4, 0], near);
    let alone = choice(PermuteAndFlip, false).probabilities_of_public(&[7]).unwrap();
    assert_eq!(alone, [1.0]);
    // Equal scores: each candidate alike, also far above the number of nodes.
    let equal = choice(PermuteAndFlip, false).probabilities_of_public(&[3; 9000]).unwrap();
    assert!(equal.iter().all(|share| (share * 9000.0 - 1.0).abs() < 1e-9));
    let refused = |rule, scores: &[i128]| choice(rule, false).probabilities_of_public(scores).is_err();
    assert!(refused(Exponential, &[]) && refused(SelectionRule::ReportNoisyMax, &counts));
}

#[test]
fn the_bound_on_a_choice_is_below_its_probability() {
    let choice = PrivateSelection::for_integers(SelectionRule::Exponential, 1, epsilon(0.1)).unwrap();
    let bound = choice.success_bound_down(4, 100.0).unwrap();
    // 1 − 4e⁻⁵.
    assert!(bound <= 0.973_048_212_003_658 && bound > 0.973_048_2 - 1e-8, "{bound}");
    for rule in [SelectionRule::Exponential, SelectionRule::PermuteAndFlip] {
        for (scores, gap) in
            [([500, 399, 399, 399], 101.0), ([40, 38, 20, 0], 2.0), ([200, 140, 140, 3], 60.0)]
        {
            let choice = PrivateSelection::for_integers(rule, 1, epsilon(0.1)).unwrap();
            let exact = choice.probabilities_of_public(&scores).unwrap()[0];
            let bound = choice.success_bound_down(4, gap).unwrap();
            assert!(bound <= exact, "{rule:?} {scores:?}: {bound} above {exact}");
        }
    }
    assert_eq!(choice.success_bound_down(4, 0.0).unwrap(), 0.0);
    assert!(choice.success_bound_down(4, f64::NAN).is_err() && choice.success_bound_down(0, 1.0).is_err());
}
