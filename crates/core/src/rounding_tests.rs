use super::*;
use proptest::prelude::*;

#[test]
fn exact_results_collect_no_dust() {
    assert_eq!(add_up(0.5, 0.5), 1.0);
    assert_eq!(add_down(0.25, 0.5), 0.75);
    assert_eq!(mul_up(3.0, 0.125), 0.375);
    assert_eq!(div_up(1.0, 4.0), 0.25);
    assert_eq!(div_down(1.0, -4.0), -0.25);
    assert_eq!(sqrt_up(9.0), 3.0);
    assert_eq!(exp_up(0.0), 1.0);
    assert_eq!(ln_down(1.0), 0.0);
}

#[test]
fn inexact_results_move_to_their_side() {
    assert!(add_up(0.1, 0.2) > add_down(0.1, 0.2));
    assert!(div_up(1.0, 3.0) > div_down(1.0, 3.0));
    assert!(div_up(-1.0, 3.0) > div_down(-1.0, 3.0));
    assert!(mul_up(0.1, 0.1) > mul_down(0.1, 0.1));
    assert!(sqrt_up(2.0) > sqrt_down(2.0));
    assert!(add_up(f64::MAX, f64::MAX) == f64::INFINITY);
    assert!(mul_up(1e-200, 1e-200) > 0.0);
    assert!(div_up(1e-320, 7.0) >= 1e-320 / 7.0);
}

/// Compares a double with an exact ratio of integers: sign of `x·den − num` for moderate values.
fn cmp_ratio(x: f64, num: i128, den: i128) -> std::cmp::Ordering {
    let bits = x.abs().to_bits();
    let exponent = (bits >> 52) as i32 - 1075;
    let mantissa = ((bits & ((1 << 52) - 1)) | (1 << 52)) as i128 * x.signum() as i128;
    // x = mantissa·2^exponent
    if exponent >= 0 {
        ((mantissa << exponent) * den).cmp(&num)
    } else {
        (mantissa * den).cmp(&(num << -exponent))
    }
}

proptest! {
    #[test]
    fn quotients_bracket_the_exact_ratio(a in 1i32..1000, b in 1i32..1000, negative: bool) {
        let a = if negative { -a } else { a };
        let (x, y) = (f64::from(a), f64::from(b));
        prop_assert!(cmp_ratio(div_up(x, y), a.into(), b.into()).is_ge());
        prop_assert!(cmp_ratio(div_down(x, y), a.into(), b.into()).is_le());
        let width = div_up(x, y) - div_down(x, y);
        prop_assert!(width <= 2.0 * f64::EPSILON * (x / y).abs());
    }

    #[test]
    fn sums_bracket(a in -1e10f64..1e10, b in -1e10f64..1e10) {
        let (up, down) = (add_up(a, b), add_down(a, b));
        prop_assert!(down <= a + b && a + b <= up);
        prop_assert!(up == down || up == down.next_up());
    }

    #[test]
    fn products_bracket(a in -1e10f64..1e10, b in -1e10f64..1e10) {
        let (up, down) = (mul_up(a, b), mul_down(a, b));
        prop_assert!(down <= a * b && a * b <= up);
    }

    #[test]
    fn logarithm_undoes_exponential_outward(x in -20f64..20.0) {
        prop_assert!(ln_up(exp_up(x)) >= x);
        prop_assert!(ln_down(exp_down(x)) <= x);
    }
}
