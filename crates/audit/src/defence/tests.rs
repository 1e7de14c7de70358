use super::*;

fn curve(name: &str, points: &[(f64, f64)]) -> DefenceCurve {
    let point = |(utility, leakage): &(f64, f64)| DefencePoint {
        strength: 1.0,
        utility: *utility,
        leakage: *leakage,
    };
    DefenceCurve::new(name, points.iter().map(point).collect()).unwrap()
}

#[test]
fn curves_are_compared_where_both_are_known() {
    // Lines of 0.5 + u and of a constant 0.9: apart by u − 0.4 from 0.2 to 0.5.
    let rising = curve("rising", &[(0.5, 1.0), (0.1, 0.6)]);
    let flat = curve("flat", &[(0.2, 0.9), (0.7, 0.9), (0.4, 0.9)]);
    let found = rising.beside(&flat);
    assert_eq!(found.utilities, Some([0.2, 0.5]));
    assert!((found.difference.unwrap() - (0.35 - 0.4)).abs() < 1e-12, "{found:?}");
    let [least, most] = found.range.unwrap();
    assert!((least + 0.2).abs() < 1e-12 && (most - 0.1).abs() < 1e-12, "{found:?}");
    let back = flat.beside(&rising);
    assert!((back.difference.unwrap() + found.difference.unwrap()).abs() < 1e-12);
    assert_eq!(compare_curves(&[rising, flat]).len(), 1);
}

#[test]
fn nothing_is_said_beyond_the_ends() {
    let (low, high) = (curve("low", &[(0.1, 0.5), (0.2, 0.6)]), curve("high", &[(0.3, 0.9), (0.4, 0.95)]));
    let found = low.beside(&high);
    assert_eq!((found.utilities, found.difference, found.range), (None, None, None));
    assert_eq!(low.leakage_at(0.25), None);
    assert_eq!(low.leakage_at(0.05), None);
    // One point is a curve of one utility.
    let one = curve("one", &[(0.2, 0.7)]);
    let found = one.beside(&low);
    assert_eq!(found.utilities, Some([0.2, 0.2]));
    assert!((found.difference.unwrap() - 0.1).abs() < 1e-12);
}

#[test]
fn of_models_of_one_utility_the_least_leakage_counts() {
    assert_eq!(curve("a", &[(0.3, 0.9), (0.3, 0.7)]).leakage_at(0.3), Some(0.7));
    assert!(DefenceCurve::new("none", Vec::new()).is_err());
    let odd = DefencePoint { strength: 1.0, utility: f64::NAN, leakage: 0.5 };
    assert!(DefenceCurve::new("odd", vec![odd]).is_err());
}
