//! How likely membership is at a score, learnt from a few records: it only decides which guesses are made.

use reticent_core::special::normal_tail_quantile;

/// Penalties of the intercept, the slope and the bends of both tails.
const RIDGE: [f64; 4] = [1.0, 0.1, 5.0, 5.0];

/// Log-odds that are linear in the normal score, with a bend at one standard deviation on either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Logistic {
    weights: [f64; 4],
}

fn features(z: f64) -> [f64; 4] {
    [1.0, z, (z - 1.0).max(0.0), (-z - 1.0).max(0.0)]
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

impl Logistic {
    /// The penalised fit to pairs of a normal score and a membership. Without both kinds of records it is the one that
    /// trusts the scores.
    pub(super) fn fit(pairs: &[(f64, bool)]) -> Self {
        let members = pairs.iter().filter(|pair| pair.1).count();
        if members == 0 || members == pairs.len() {
            return Self { weights: [0.0, 1.0, 0.0, 0.0] };
        }
        let mut weights = [0.0; 4];
        for _ in 0..12 {
            let mut gradient = [0.0; 4];
            let mut hessian = [[0.0; 4]; 4];
            for place in 0..4 {
                gradient[place] = RIDGE[place] * weights[place];
                hessian[place][place] = RIDGE[place];
            }
            for (z, member) in pairs {
                let x = features(*z);
                let p = sigmoid(dot(&weights, &x));
                let residual = p - f64::from(u8::from(*member));
                for row in 0..4 {
                    gradient[row] += residual * x[row];
                    for column in 0..4 {
                        hessian[row][column] += p * (1.0 - p) * x[row] * x[column];
                    }
                }
            }
            let step = solve(hessian, gradient);
            let size = step.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
            let scale = if size > 2.0 { 2.0 / size } else { 1.0 };
            weights.iter_mut().zip(step).for_each(|(weight, step)| *weight -= scale * step);
            if size < 1e-6 {
                break;
            }
        }
        Self { weights }
    }

    /// The log-odds of membership at a normal score.
    pub(super) fn log_odds(&self, z: f64) -> f64 {
        dot(&self.weights, &features(z))
    }

    /// The chance that the better guess at these log-odds is right.
    pub(super) fn chance(log_odds: f64) -> f64 {
        sigmoid(log_odds.abs())
    }
}

fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The solution of a positive definite system, by elimination.
fn solve(mut a: [[f64; 4]; 4], mut b: [f64; 4]) -> [f64; 4] {
    for pivot in 0..4 {
        for row in pivot + 1..4 {
            let factor = a[row][pivot] / a[pivot][pivot];
            let above = a[pivot];
            a[row].iter_mut().zip(above).for_each(|(entry, above)| *entry -= factor * above);
            b[row] -= factor * b[pivot];
        }
    }
    for row in (0..4).rev() {
        let rest: f64 = (row + 1..4).map(|column| a[row][column] * b[column]).sum();
        b[row] = (b[row] - rest) / a[row][row];
    }
    b
}

/// Normal quantiles of the ranks, equal scores at their mean rank.
pub(super) fn normal_scores(scores: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let mut out = vec![0.0; scores.len()];
    let mut before = 0;
    for block in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
        let rank = before as f64 + 0.5 * block.len() as f64;
        let z = -quick_quantile(rank / scores.len() as f64);
        block.iter().for_each(|place| out[*place] = z);
        before += block.len();
    }
    out
}

/// The t with upper normal tail `p`: a rational start and two steps of Halley's method, to about 1e-14 of max(1, t).
pub(super) fn quick_quantile(p: f64) -> f64 {
    use reticent_core::special::{normal_pdf, normal_tail};
    if p > 0.5 {
        return -quick_quantile(1.0 - p);
    }
    if p < 1e-280 {
        return normal_tail_quantile(p);
    }
    // Abramowitz and Stegun 26.2.23, off by at most 4.5e-4.
    let s = (-2.0 * libm::log(p)).sqrt();
    let top = 2.515_517 + s * (0.802_853 + s * 0.010_328);
    let bottom = 1.0 + s * (1.432_788 + s * (0.189_269 + s * 0.001_308));
    let mut t = s - top / bottom;
    for _ in 0..2 {
        let newton = (normal_tail(t) - p) / normal_pdf(t);
        t += newton / (1.0 - 0.5 * t * newton);
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_quantile_is_the_quantile() {
        for p in [1e-250, 1e-30, 1e-9, 1e-4, 0.02, 0.3, 0.5, 0.7, 0.999] {
            let (quick, exact) = (quick_quantile(p), normal_tail_quantile(p));
            assert!((quick - exact).abs() < 1e-12 * exact.abs().max(1.0), "{p}: {quick} for {exact}");
        }
    }

    #[test]
    fn a_fit_finds_the_slope_of_logistic_data() {
        // At every place a share sigmoid(2z) of 200 records are members.
        let pairs: Vec<(f64, bool)> = (-20..=20)
            .flat_map(|place| {
                let z = f64::from(place) / 10.0;
                (0..200).map(move |i| (z, f64::from(i) + 0.5 < 200.0 * sigmoid(2.0 * z)))
            })
            .collect();
        let fit = Logistic::fit(&pairs);
        for z in [-1.5, 0.0, 0.5, 1.8] {
            assert!((fit.log_odds(z) - 2.0 * z).abs() < 0.1, "{z}: {}", fit.log_odds(z));
        }
        assert_eq!(Logistic::fit(&[(0.3, true)]).log_odds(1.0), 1.0);
    }

    #[test]
    fn ties_share_a_normal_score() {
        let z = normal_scores(&[f64::INFINITY, 1.0, 1.0, f64::NEG_INFINITY]);
        assert!(z[0] > 1.0 && z[1].abs() < 1e-12 && z[1] == z[2] && (z[0] + z[3]).abs() < 1e-12);
    }
}
