//! Arithmetic with a stated rounding side: `x_up(..)` is never below the exact result and
//! `x_down(..)` never above it.
//!
//! Sums, products, quotients and square roots are exact when the exact result is a double, so
//! budgets such as 0.5 + 0.5 collect no dust. Exponentials and logarithms come from `libm`, whose
//! error is below one unit in the last place; two units are added. Where the error term itself
//! could underflow, the result is widened unconditionally.

/// Below this magnitude the error term of a product or quotient may itself underflow.
const TINY: f64 = 1e-290;

fn widen_up(nearest: f64, error_sign: f64) -> f64 {
    if error_sign > 0.0 || error_sign.is_nan() { nearest.next_up() } else { nearest }
}

fn widen_down(nearest: f64, error_sign: f64) -> f64 {
    if error_sign < 0.0 || error_sign.is_nan() { nearest.next_down() } else { nearest }
}

/// The rounding error of `a + b`, exactly (Knuth's two-sum).
fn sum_error(a: f64, b: f64) -> f64 {
    let s = a + b;
    let bb = s - a;
    (a - (s - bb)) + (b - bb)
}

/// Sign of `exact(a·b) − fl(a·b)`; NaN when it cannot be told.
fn product_error(a: f64, b: f64) -> f64 {
    let p = a * b;
    if p.is_finite() && (p == 0.0 && (a == 0.0 || b == 0.0)) {
        0.0
    } else if p.abs() < TINY || !p.is_finite() {
        f64::NAN
    } else {
        libm::fma(a, b, -p)
    }
}

/// Sign of `exact(a/b) − fl(a/b)`; NaN when it cannot be told.
fn quotient_error(a: f64, b: f64) -> f64 {
    let q = a / b;
    if a == 0.0 && b != 0.0 {
        0.0
    } else if q.abs() < TINY || a.abs() < TINY || !q.is_finite() || !b.is_finite() {
        f64::NAN
    } else {
        -libm::fma(q, b, -a) * b.signum()
    }
}

/// a + b, rounded up.
pub fn add_up(a: f64, b: f64) -> f64 {
    widen_up(a + b, sum_error(a, b))
}

/// a + b, rounded down.
pub fn add_down(a: f64, b: f64) -> f64 {
    widen_down(a + b, sum_error(a, b))
}

/// a − b, rounded up.
pub fn sub_up(a: f64, b: f64) -> f64 {
    add_up(a, -b)
}

/// a − b, rounded down.
pub fn sub_down(a: f64, b: f64) -> f64 {
    add_down(a, -b)
}

/// a · b, rounded up.
pub fn mul_up(a: f64, b: f64) -> f64 {
    widen_up(a * b, product_error(a, b))
}

/// a · b, rounded down.
pub fn mul_down(a: f64, b: f64) -> f64 {
    widen_down(a * b, product_error(a, b))
}

/// a / b, rounded up.
pub fn div_up(a: f64, b: f64) -> f64 {
    widen_up(a / b, quotient_error(a, b))
}

/// a / b, rounded down.
pub fn div_down(a: f64, b: f64) -> f64 {
    widen_down(a / b, quotient_error(a, b))
}

/// √a, rounded up.
pub fn sqrt_up(a: f64) -> f64 {
    let root = a.sqrt();
    let error = if a == 0.0 {
        0.0
    } else if a < TINY {
        f64::NAN
    } else {
        -libm::fma(root, root, -a)
    };
    widen_up(root, error)
}

/// √a, rounded down.
pub fn sqrt_down(a: f64) -> f64 {
    let root = a.sqrt();
    let error = if a == 0.0 {
        0.0
    } else if a < TINY {
        f64::NAN
    } else {
        -libm::fma(root, root, -a)
    };
    widen_down(root, error)
}

macro_rules! transcendental {
    ($($(#[$doc:meta])* $up:ident $down:ident = $f:path, fixed $x0:literal => $y0:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// Rounded up.
        pub fn $up(x: f64) -> f64 {
            if x == $x0 { $y0 } else { $f(x).next_up().next_up() }
        }

        $(#[$doc])*
        ///
        /// Rounded down.
        pub fn $down(x: f64) -> f64 {
            if x == $x0 { $y0 } else { $f(x).next_down().next_down() }
        }
    )*};
}

transcendental! {
    /// eˣ.
    exp_up exp_down = libm::exp, fixed 0.0 => 1.0;
    /// eˣ − 1.
    exp_m1_up exp_m1_down = libm::expm1, fixed 0.0 => 0.0;
    /// ln x.
    ln_up ln_down = libm::log, fixed 1.0 => 0.0;
    /// ln(1 + x).
    ln_1p_up ln_1p_down = libm::log1p, fixed 0.0 => 0.0;
}

#[cfg(test)]
#[path = "rounding_tests.rs"]
mod tests;
