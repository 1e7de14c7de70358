//! Reference values: mpmath with 60 digits for erfcx, SciPy for the beta distribution.

use super::*;

const ERFCX: &[(f64, f64)] = &[
    (0.0, 1.0),
    (0.1, 0.8964569799691267),
    (0.5, 0.6156903441929259),
    (1.0, 0.427583576155807),
    (1.5, 0.3215854164543175),
    (1.9375, 0.2622376065503814),
    (2.0, 0.25539567631050575),
    (2.5, 0.2108063640611436),
    (3.0, 0.17900115118138996),
    (4.0, 0.13699945762506138),
    (6.0, 0.09277656780053835),
    (10.0, 0.05614099274382259),
    (30.0, 0.01879588886141675),
    (1000.0, 0.0005641893014533876),
];

/// (a, b, x, I_x(a, b))
const BETA: &[(f64, f64, f64, f64)] = &[
    (1.0, 1.0, 0.3, 0.3),
    (2.0, 3.0, 0.4, 0.5247999999999999),
    (0.5, 0.5, 0.1, 0.20483276469913345),
    (50.0, 70.0, 0.45, 0.7717610017525626),
    (1000.0, 2000.0, 0.33, 0.3506326761341843),
    (5.0, 100000.0, 0.0001, 0.9707605515577975),
    (3.0, 1.0, 0.99, 0.970299),
    (200000.0, 100.0, 0.9995, 0.484718122310382),
];

/// (successes, trials, alpha of a side, lower, upper)
const CLOPPER_PEARSON: &[(u64, u64, f64, f64, f64)] = &[
    (0, 10, 0.025, 0.0, 0.30849710781876083),
    (3, 10, 0.025, 0.06673951117773447, 0.6524528500599973),
    (10, 10, 0.025, 0.6915028921812392, 1.0),
    (500, 1000, 0.005, 0.45885255330704494, 0.5411474466929551),
    (2, 1000000, 1e-06, 1.414881367919261e-09, 1.912900435609195e-05),
    (123456, 1000000, 1e-09, 0.12149162861870898, 0.1254386899305484),
];

#[test]
fn erfcx_matches() {
    for &(x, exact) in ERFCX {
        assert!((erfcx(x) / exact - 1.0).abs() < 2e-15, "{x}: {} {exact}", erfcx(x));
    }
}

#[test]
fn incomplete_beta_matches() {
    for &(a, b, x, exact) in BETA {
        assert!((beta_inc(a, b, x) - exact).abs() < 1e-11, "{a} {b} {x}: {} {exact}", beta_inc(a, b, x));
    }
}

#[test]
fn incomplete_beta_ends_at_the_turning_point() {
    // One ulp above (a + 1)/(a + b + 2), where both tails round to the far side of their mean.
    let value = beta_inc(3.639_060_670_703_775_4, 59.981_786_977_316_645, 0.070_694_921_461_346_32);
    assert!(value > 0.6 && value < 0.8, "{value}");
}

#[test]
fn clopper_pearson_matches_from_outside() {
    for &(k, n, alpha, low, high) in CLOPPER_PEARSON {
        let (lower, upper) = clopper_pearson(k, n, alpha);
        assert!(lower <= low && low - lower < 1e-9, "{k}/{n}: {lower} {low}");
        assert!(upper >= high && upper - high < 1e-9, "{k}/{n}: {upper} {high}");
    }
}

#[test]
fn normal_quantile_inverts_the_tail() {
    for p in [0.975, 0.5, 0.3, 0.025, 1e-3, 1e-10, 1e-100, 1e-300] {
        let t = normal_tail_quantile(p);
        assert!((normal_tail(t) / p - 1.0).abs() < 1e-11, "{p}: {t}");
    }
    assert!((normal_tail_quantile(0.025) - 1.959_963_984_540_054).abs() < 1e-12);
    assert_eq!(normal_tail_quantile(0.0), f64::INFINITY);
}
