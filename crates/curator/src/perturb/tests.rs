use super::*;
use crate::Session;
use crate::budget::SharedBudget;
use reticent_core::{Code, Epsilon, Guarantee};
use std::collections::BTreeMap;

fn open() -> Session {
    Session::without_limit().unwrap()
}

#[test]
fn the_cost_is_that_of_the_mechanism_and_is_charged_first() {
    let limit = Guarantee::pure(Epsilon::new(1.0).unwrap());
    let budget = SharedBudget::new("visits", "patient", limit, Neighboring::AddRemove).unwrap();
    let noise = Perturb { epsilon: Some(0.75), ..Perturb::new(AdditiveMechanism::Laplace, 1.0) };
    let mut session = budget.session().unwrap();
    assert_eq!(noise.reals(&[3.0, 4.0], &mut session).unwrap().values.len(), 2);
    assert_eq!(noise.reals(&[3.0], &mut session).unwrap_err().code(), Code::Spent);
    // The scale is rounded up, so the event costs a little less than it may.
    assert!((budget.own().unwrap().left().unwrap().get() - 0.25).abs() < 1e-9);
    let other = Perturb { neighboring: Neighboring::ReplaceOne, ..noise };
    assert_eq!(other.reals(&[3.0], &mut session).unwrap_err().code(), Code::Relation);
}

#[test]
fn noise_has_one_of_two_strengths() {
    let laplace = Perturb::new(AdditiveMechanism::Laplace, 1.0);
    let refused = |noise: Perturb| noise.reals(&[1.0], &mut open()).unwrap_err();
    assert_eq!(refused(laplace.clone()).field(), Some("epsilon"));
    let both = Perturb { epsilon: Some(1.0), scale: Some(1.0), ..laplace.clone() };
    assert_eq!(refused(both).field(), Some("scale"));
    let delta = Perturb { epsilon: Some(1.0), delta: Some(1e-6), ..laplace.clone() };
    assert_eq!(refused(delta).field(), Some("delta"));
    let gaussian = Perturb { epsilon: Some(1.0), ..Perturb::new(AdditiveMechanism::Gaussian, 1.0) };
    assert_eq!(refused(gaussian.clone()).field(), Some("delta"));
    let gaussian = Perturb { delta: Some(1e-6), ..gaussian };
    assert_eq!(gaussian.integers(&[1], &mut open()).unwrap_err().code(), Code::Kind);
    for epsilon in [-1.0, f64::NAN, 0.0, f64::INFINITY] {
        assert!(Perturb { epsilon: Some(epsilon), ..laplace.clone() }.reals(&[1.0], &mut open()).is_err());
    }
    let scaled = Perturb { scale: Some(2.0), ..laplace }.reals(&[f64::NAN, f64::INFINITY], &mut open());
    let scaled = scaled.unwrap();
    assert!(scaled.values.iter().all(|value| value.is_finite()));
    assert!((scaled.guarantee.epsilon.get() - 0.5).abs() < 1e-6 && scaled.guarantee.epsilon.get() >= 0.5);
}

#[test]
fn another_request_is_not_answered_with_the_last_mechanism() {
    let noise = |epsilon: f64| Perturb {
        epsilon: Some(epsilon),
        delta: Some(1e-6),
        ..Perturb::new(AdditiveMechanism::Gaussian, 1.0)
    };
    let drawn = |epsilon: f64, values: &[f64]| noise(epsilon).reals(values, &mut open()).unwrap();
    let (first, again) = (drawn(1.0, &[1.0]), drawn(1.0, &[1.0]));
    assert!(first.event == again.event && first.values != again.values);
    assert_ne!(first.event, drawn(0.5, &[1.0]).event);
    let wide = drawn(0.5, &[1.0, 2.0]);
    assert!(wide.values.len() == 2 && wide.guarantee.epsilon.get() <= 0.5);
    let other = Perturb { delta: Some(1e-9), ..noise(0.5) };
    assert!(other.reals(&[1.0, 2.0], &mut open()).unwrap().scale > wide.scale);
}

#[test]
fn integers_stay_within_64_bits() {
    let noise = Perturb { scale: Some(1e6), ..Perturb::new(AdditiveMechanism::DiscreteLaplace, 1.0) };
    let noisy = noise.integers(&[i64::MAX, i64::MIN, 0], &mut open()).unwrap();
    assert_eq!(noisy.values.len(), 3);
    let half = Perturb { sensitivity: 0.5, ..noise };
    assert_eq!(half.integers(&[1], &mut open()).unwrap_err().field(), Some("sensitivity"));
}

#[test]
fn answers_are_randomized_one_by_one_and_shares_come_back() {
    let request = RandomizeAnswers { categories: 3, epsilon: Some(50.0), keep_probability: None };
    let answers = request.answers(&[0, 1, 2, 7], &mut open()).unwrap();
    // At this ε a change has probability below 1e-20.
    assert_eq!(answers.values[..3], [0, 1, 2]);
    // An answer that is not declared is drawn evenly: none of the three is missing except with probability below 1e-15.
    let strange = request.answers(&[7; 100], &mut open()).unwrap().values;
    assert!((0..3).all(|code| strange.contains(&code)) && strange.iter().all(|code| *code < 3));
    let shares = request.estimate(&[2, 1, 1], 0.95).unwrap();
    assert!((shares[0].value - 0.5).abs() < 1e-9);
    assert!(request.estimate(&[2, 1], 0.95).is_err());
}

#[test]
fn the_best_candidate_is_chosen_where_there_is_next_to_no_noise() {
    for rule in [ChoiceRule::Exponential, ChoiceRule::PermuteAndFlip, ChoiceRule::ReportNoisyMax] {
        let request = Choose {
            rule,
            sensitivity: 1.0,
            epsilon: 100.0,
            monotone: false,
            neighboring: Neighboring::AddRemove,
        };
        assert_eq!(request.one(&[1.0, 5.0, 2.0], &mut open()).unwrap().0, 1);
        assert_eq!(request.one(&[], &mut open()).unwrap_err().field(), Some("scores"));
    }
}

#[test]
fn rare_labels_stay_hidden() {
    let request =
        FindLabels { epsilon: 1.0, delta: 1e-9, confidence: 0.95, neighboring: Neighboring::AddRemove };
    let counts = BTreeMap::from([("common".to_owned(), 100_000), ("lone".to_owned(), 1)]);
    let found = request.of(&counts, &mut open()).unwrap();
    // The lone label comes out with probability 1e-9.
    assert_eq!(found.counts.keys().collect::<Vec<_>>(), ["common"]);
    assert!(found.threshold > 10 && found.guarantee.delta.get() <= 1e-9);
    let pure = FindLabels { delta: 0.0, ..request };
    assert_eq!(pure.of(&counts, &mut open()).unwrap_err().field(), Some("delta"));
}
