//! Noise as it should not be drawn: broken on purpose, so that a test can show it would notice.

use reticent_noise::Entropy;
use reticent_noise::entropy::Bits;
use std::f64::consts::TAU;

/// A uniform multiple of 2⁻⁵³ in [0, 1), as every common library draws one.
pub fn uniform(entropy: &mut Entropy) -> f64 {
    (entropy.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Laplace noise by the inverse of its distribution function, in doubles (Mironov 2012).
pub fn float_laplace(entropy: &mut Entropy, scale: f64) -> f64 {
    let u = uniform(entropy) - 0.5;
    -scale * u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln()
}

/// Two normals by Box and Muller's formula, in doubles (Jin et al. 2022).
pub fn box_muller(entropy: &mut Entropy) -> (f64, f64) {
    let radius = (-2.0 * (1.0 - uniform(entropy)).ln()).sqrt();
    let angle = TAU * uniform(entropy);
    (radius * angle.cos(), radius * angle.sin())
}

/// A value rounded to a grid as coarse as 1 with Laplace noise that does not pay for the rounding.
pub fn unpaid_rounding(value: f64, noise: i128) -> f64 {
    value.round_ties_even() + noise as f64
}

/// Randomized response by comparing a double with the keep probability.
pub fn sloppy_response(entropy: &mut Entropy, keep: f64, categories: u64, category: u64) -> u64 {
    if uniform(entropy) < keep {
        return category;
    }
    let other = entropy.word() % (categories - 1);
    if other >= category { other + 1 } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_look_right_at_a_glance() {
        let mut entropy = Entropy::new().unwrap();
        let n = 20_000;
        let laplace: f64 = (0..n).map(|_| float_laplace(&mut entropy, 2.0).abs()).sum::<f64>() / f64::from(n);
        let square: f64 = (0..n).map(|_| box_muller(&mut entropy).1.powi(2)).sum::<f64>() / f64::from(n);
        // Seven standard errors.
        assert!((laplace - 2.0).abs() < 0.1 && (square - 1.0).abs() < 0.07, "{laplace} {square}");
        assert_eq!(unpaid_rounding(1.6, -1), 1.0);
        let kept = (0..n).filter(|_| sloppy_response(&mut entropy, 0.75, 3, 1) == 1).count();
        assert!((14_500..15_500).contains(&kept), "{kept}");
    }
}
