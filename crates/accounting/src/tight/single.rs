//! δ(ε) of one use at any real ε, without differences of nearly equal numbers where the loss comes from sampling.

use super::contour::Bounds;
use super::loss::{Direction, PrivacyLoss};
use reticent_core::profile::{gaussian_delta_down, gaussian_delta_up};
use reticent_core::{Epsilon, NoiseMultiplier};

/// What a handful of roundings may do, relative.
const FEW_ULPS: f64 = 16.0 * f64::EPSILON;

impl PrivacyLoss {
    /// Upper and lower bounds on δ at ε; ε may be negative.
    pub(super) fn delta(&self, epsilon: f64) -> Bounds {
        match self {
            Self::Gaussian(sigma) => gaussian(epsilon, *sigma),
            Self::Mixture { shifts, weights, sigma, direction } => match (&shifts[..], &weights[..]) {
                ([unmoved, shift], [_, rate]) if *unmoved == 0.0 && *shift > 0.0 && *rate > 0.0 => {
                    sampled(*rate, *direction, epsilon, &|e| gaussian(e, sigma / shift))
                }
                _ => self.by_tails(epsilon),
            },
            Self::Sampled { rate, inner, direction } => {
                sampled(*rate, *direction, epsilon, &|e| inner.delta(e))
            }
            Self::Swapped { rate, inner } => {
                let direction = if epsilon >= 0.0 { Direction::Remove } else { Direction::Add };
                sampled(*rate, direction, epsilon, &|e| inner.delta(e))
            }
            Self::Blend(parts) => {
                let (mut lower, mut upper) = (0.0, 0.0);
                for (weight, part) in parts {
                    let bounds = part.delta(epsilon);
                    lower += weight * bounds.lower;
                    upper += weight * bounds.upper;
                }
                widened(Bounds { lower, upper })
            }
            Self::Laplace(_)
            | Self::Response { .. }
            | Self::Atoms(_)
            | Self::Replaced { .. }
            | Self::Envelope { .. } => self.by_tails(epsilon),
        }
    }

    /// P(L > ε) − e^ε·Q(L > ε).
    fn by_tails(&self, epsilon: f64) -> Bounds {
        let tails = self.tails(epsilon);
        let (p, q) = (tails.p_above, libm::exp(epsilon) * tails.q_above);
        // A normal tail at x, to a relative x times the error of x, and x is at most 40 where it counts.
        let sharp = 1600.0 + 40.0 * self.sharpness();
        let relative = (64.0 + 8.0 * epsilon.abs() + 16.0 * sharp) * f64::EPSILON;
        // What underflows is known to the smallest number only.
        let lost = f64::MIN_POSITIVE * (1.0 + libm::exp(epsilon));
        let (value, error) = (p - q, relative * (p + q) + lost);
        if value.is_nan() || !error.is_finite() {
            return Bounds { lower: 0.0, upper: 1.0 };
        }
        Bounds { lower: (value - error).max(0.0), upper: (value + error).clamp(0.0, 1.0) }
    }
}

fn widened(bounds: Bounds) -> Bounds {
    if bounds.lower.is_nan() || bounds.upper.is_nan() {
        return Bounds { lower: 0.0, upper: 1.0 };
    }
    Bounds {
        lower: (bounds.lower * (1.0 - FEW_ULPS)).clamp(0.0, 1.0),
        upper: (bounds.upper * (1.0 + FEW_ULPS) + f64::MIN_POSITIVE).min(1.0),
    }
}

/// Below 0 the profile follows from the one above: δ(−ε) = 1 − e^{−ε} + e^{−ε}·δ(ε) for a loss that is the same both ways.
fn gaussian(epsilon: f64, sigma: f64) -> Bounds {
    let above = match (Epsilon::new(epsilon.abs()), NoiseMultiplier::new(sigma)) {
        (Ok(epsilon), Ok(noise)) => {
            Bounds { lower: gaussian_delta_down(epsilon, noise), upper: gaussian_delta_up(epsilon, noise) }
        }
        _ => return Bounds { lower: 0.0, upper: 1.0 },
    };
    if epsilon >= 0.0 {
        return above;
    }
    let (rest, factor) = (-libm::expm1(epsilon), libm::exp(epsilon));
    widened(Bounds { lower: rest + factor * above.lower, upper: rest + factor * above.upper })
}

/// What sampling makes of the profile of a loss that is the same both ways.
///
/// Remove: E_Q[(1 − q + q·r − e^ε)₊] = q·E_Q[(r − e^{ε′})₊] with e^{ε′} = 1 + (e^ε − 1)/q. Add:
/// E_Q[(1 − e^ε(1 − q + q·r))₊] = q·e^ε·v·δ(−ln v) with v = 1 + (e^{−ε} − 1)/q. No term is negative.
fn sampled(rate: f64, direction: Direction, epsilon: f64, inner: &dyn Fn(f64) -> Bounds) -> Bounds {
    let toward = |x: f64, side: f64| x + side * FEW_ULPS * x.abs();
    // The end below the truth for side = 1: ε′ is rounded up, v down.
    let end = |side: f64| {
        let pick = |bounds: Bounds| if side < 0.0 { bounds.upper } else { bounds.lower };
        match direction {
            Direction::Remove => {
                let ratio = toward(libm::expm1(epsilon) / rate, side);
                if ratio <= -1.0 {
                    // All losses are above ε, or all but a share of a few units in the last place.
                    return toward(-libm::expm1(epsilon), -4.0 * side);
                }
                let at = if ratio.is_finite() { libm::log1p(ratio) } else { epsilon - libm::log(rate) };
                rate * pick(inner(toward(at, side)))
            }
            Direction::Add => {
                let ratio = toward(libm::expm1(-epsilon) / rate, -side);
                if ratio <= -1.0 {
                    return 0.0;
                }
                let log_v = toward(libm::log1p(ratio), -side);
                rate * libm::exp(epsilon + log_v) * pick(inner(-log_v))
            }
        }
    };
    let exponents = FEW_ULPS * epsilon.abs().min(1e3);
    let (lower, upper) = (end(1.0), end(-1.0));
    widened(Bounds { lower: lower * (1.0 - exponents), upper: upper * (1.0 + exponents) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_tails_where_those_are_accurate() {
        let mixture = |direction| PrivacyLoss::Mixture {
            shifts: vec![0.0, 1.0],
            weights: vec![0.7, 0.3],
            sigma: 0.9,
            direction,
        };
        let laplace = |direction| PrivacyLoss::Sampled {
            rate: 0.3,
            inner: Box::new(PrivacyLoss::Laplace(0.8)),
            direction,
        };
        let swapped = PrivacyLoss::Swapped { rate: 0.3, inner: Box::new(PrivacyLoss::Gaussian(0.9)) };
        for loss in [
            mixture(Direction::Remove),
            mixture(Direction::Add),
            laplace(Direction::Remove),
            laplace(Direction::Add),
            swapped,
            PrivacyLoss::Gaussian(0.9),
        ] {
            for i in -60..60 {
                let epsilon = f64::from(i) * 0.021;
                let (here, there) = (loss.delta(epsilon), loss.by_tails(epsilon));
                assert!(here.lower <= there.upper && there.lower <= here.upper, "{loss:?} {epsilon}");
                assert!(here.upper - here.lower <= 1e-10, "{loss:?} {epsilon} {here:?}");
            }
        }
    }
}
