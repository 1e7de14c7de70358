use super::*;

fn refused(formula: Formula) -> String {
    formula.evaluate().unwrap_err().to_string()
}

fn hair(mechanism: ChoiceMechanism, shortfall: Option<f64>) -> SelectionFormula {
    let counts = [("dark", 500.0), ("brown", 399.0), ("blond", 60.0), ("red", 40.0)];
    let choices = counts.map(|(name, count)| (name.to_owned(), count)).to_vec();
    let formula =
        Formula::Selection { choices, epsilon: 0.1, sensitivity: 1.0, mechanism, monotone: false, shortfall };
    let FormulaResult::Selection(found) = formula.evaluate().unwrap() else { unreachable!() };
    found
}

#[test]
fn hair_colours_have_the_numbers_of_the_course() {
    let found = hair(ChoiceMechanism::Exponential, Some(100.0));
    assert!((found.bound - 0.973_048_212).abs() < 1e-8, "{}", found.bound);
    assert!((found.candidates[0].probability - 0.993_631_484).abs() < 1e-9);
    let found = hair(ChoiceMechanism::PermuteAndFlip, None);
    assert_eq!(found.shortfall, 101.0);
    assert!((found.candidates[0].probability - 0.996_795_333).abs() < 1e-9);
}

#[test]
fn scores_that_are_not_whole_are_rounded_to_the_grid() {
    let choices = vec![("3".to_owned(), 6.0), ("3.01".to_owned(), 3.01)];
    let (mechanism, sensitivity) = (ChoiceMechanism::Exponential, 4.01);
    let formula =
        Formula::Selection { choices, epsilon: 1.0, sensitivity, mechanism, monotone: true, shortfall: None };
    let FormulaResult::Selection(found) = formula.evaluate().unwrap() else { unreachable!() };
    let exact = 1.0 / (1.0 + (-(6.0 - 3.01) / 4.01f64).exp());
    assert!((found.candidates[0].probability - exact).abs() < 1e-8, "{}", found.candidates[0].probability);
}

#[test]
fn gaussian_formulas_say_whether_they_hold() {
    let formulas = |epsilon| {
        let formula = Formula::Gaussian { epsilon, delta: 1e-5, sensitivity: 1.0 };
        let FormulaResult::Gaussian(found) = formula.evaluate().unwrap() else { unreachable!() };
        found.formulas
    };
    let near = |found: Option<f64>, value: f64| (found.unwrap() / value - 1.0).abs() < 1e-6;
    // σ and true δ by mpmath.
    let [analytic, classical, short] = &formulas(0.5)[..] else { unreachable!() };
    assert!(near(analytic.sigma, 7.031_826_675_6) && near(analytic.delta, 1e-5) && analytic.holds);
    assert!(
        near(classical.sigma, 9.689_610_525_2) && near(classical.delta, 1.607_853_99e-8) && classical.holds
    );
    assert!(near(short.sigma, 9.597_051_824_4) && near(short.delta, 2.064_469_59e-8) && short.holds);
    let [analytic, classical, short] = &formulas(10.0)[..] else { unreachable!() };
    assert!(analytic.holds && analytic.delta.is_some_and(|delta| delta <= 1e-5));
    assert!(!classical.holds && classical.sigma.is_none() && classical.reason.is_some());
    assert!(!short.holds && near(short.delta, 2.882_626_38e-5) && short.reason.is_some());
}

#[test]
fn sensitivities_of_the_course() {
    let rows = |counts, overlap, bounds, dataset_size| {
        let formula = Formula::Sensitivity { counts, overlap, bounds, dataset_size };
        let FormulaResult::Sensitivity(found) = formula.evaluate().unwrap() else { unreachable!() };
        found.sensitivities.iter().map(|row| row.l1).collect::<Vec<f64>>()
    };
    assert_eq!(rows(Some(1), None, None, None), [1.0, 1.0]);
    assert_eq!(rows(Some(2), None, None, None), [2.0, 2.0]);
    assert_eq!(rows(Some(4), Some(1), None, None), [1.0, 2.0]);
    assert_eq!(rows(None, None, Some([0.0, 5000.0]), Some(100)), [5000.0, 5000.0, 50.0]);
    let none = Formula::Sensitivity { counts: None, overlap: None, bounds: None, dataset_size: None };
    assert!(refused(none).contains("counts"));
    let mean = Formula::Sensitivity { counts: None, overlap: None, bounds: None, dataset_size: Some(10) };
    assert!(refused(mean).contains("bounds"));
}

#[test]
fn composition_stands_beside_the_other_theorems() {
    let formula = |count| Formula::Composition { epsilon: 0.01, count, delta: 1e-5, probability: Some(1e-6) };
    let FormulaResult::Composition(found) = formula(1000).evaluate().unwrap() else { unreachable!() };
    // 4·0.01·√(2000·ln(10⁵)) and exp(0.02·√(1000·ln(10⁶)))·10⁻⁶.
    assert!((found.renyi.unwrap() - 6.069_708_5).abs() < 1e-6, "{:?}", found.renyi);
    let outcome = found.outcome.unwrap();
    assert!((outcome.renyi - 1.049_383_56e-5).abs() < 1e-12 && outcome.tight < outcome.renyi);
    assert!(found.pld < found.advanced && found.advanced < found.renyi.unwrap() && found.basic >= 10.0);
    // ln(10⁵) < 0.01²·200 000.
    let FormulaResult::Composition(found) = formula(200_000).evaluate().unwrap() else { unreachable!() };
    assert!(found.renyi.is_none() && found.reason.is_some());
}

#[test]
fn learning_has_its_noise_and_its_records() {
    let (epsilon, delta, lipschitz) = (0.5, 1e-5, 1.0);
    let formula =
        Formula::OutputPerturbation { epsilon, delta, dataset_size: 32_561, regularization: 0.01, lipschitz };
    let FormulaResult::OutputPerturbation(found) = formula.evaluate().unwrap() else { unreachable!() };
    assert!((found.sensitivity - 2.0 / 325.61).abs() < 1e-12);
    assert!((found.classical_sigma.unwrap() - 0.059_516_7).abs() < 1e-6, "{:?}", found.classical_sigma);
    assert!(found.sigma < found.classical_sigma.unwrap());
    let (excess, failure, dimension, radius) = (0.1, 0.05, 14, 1.0);
    let formula = Formula::SampleSize { epsilon, delta, excess, failure, dimension, radius, lipschitz };
    let FormulaResult::SampleSize(found) = formula.evaluate().unwrap() else { unreachable!() };
    assert_eq!((found.dataset_size, found.failure_probability), (25_411, 0.1));
    let descent =
        |steps, epsilon| Formula::ProjectedSgd { epsilon, delta, dataset_size: 1000, steps, lipschitz };
    let FormulaResult::ProjectedSgd(found) = descent(10_000, 1.0).evaluate().unwrap() else { unreachable!() };
    assert!(found.pld < 1.0 && found.sigma > 8.0);
    assert!(refused(descent(2560, 1.0)).contains("at least 2561 steps"));
    assert!(refused(descent(10_000, 2.0)).contains("at most 1"));
}

#[test]
fn requests_are_read_from_json() {
    let text = r#"{"random-record": {"dataset_size": 1000}}"#;
    let formula: Formula = serde_json::from_str(text).unwrap();
    assert_eq!(formula, Formula::RandomRecord { dataset_size: 1000 });
    let hyphens = r#"{"random-record": {"dataset-size": 1000}}"#;
    assert_eq!(serde_json::from_str::<Formula>(hyphens).unwrap(), formula);
    let FormulaResult::RandomRecord(found) = formula.evaluate().unwrap() else { unreachable!() };
    assert_eq!((found.epsilon, found.delta), (0.0, 0.001));
    assert!(refused(Formula::RandomRecord { dataset_size: 1 }).contains("dataset_size"));
}
