//! The minimum of a [`Problem`] with a certified distance from it.
//!
//! Truncated Newton: conjugate gradients with a diagonal preconditioner on products with the sparse Hessian, or
//! its Cholesky factor where that is cheaper, then a search for the zero of the slope along the direction.
//! Everything is deterministic. Rows are sparse, so a product costs two passes over the non-zeros, and a
//! factor is only taken of small matrices: a dense matrix library would have nothing to do here.

use crate::ErmError;
use crate::dense;
use crate::problem::{Problem, dot, norm_up};

/// Newton steps before giving up.
const MOST_STEPS: usize = 200;

/// The share of the gradient's norm that is added to the Hessian of losses with flat parts.
const DAMPING: f64 = 0.03;

/// Trials of one line search.
const MOST_TRIALS: usize = 120;

/// Where the solver ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Solution {
    pub(crate) weights: Vec<f64>,
    /// A bound on ‖∇F(w)‖ in exact arithmetic, rounding errors included.
    pub(crate) gradient_norm: f64,
    /// Newton steps taken.
    pub(crate) steps: u32,
}

/// Minimises F(w) = Σℓ + (λ/2)‖w‖² + bᵀw until the certified gradient norm is at most `tolerance`.
///
/// `linear_error` bounds the distance of the given b from the exact one and is part of the certificate.
pub(crate) fn minimise(
    problem: &Problem<'_>,
    lambda: f64,
    linear: &[f64],
    linear_error: f64,
    tolerance: f64,
) -> Result<Solution, ErmError> {
    if !(lambda.is_finite() && lambda > 0.0) {
        return Err(ErmError::invalid(
            "regularization",
            lambda,
            "give a number above 0: without it the minimum need not exist",
        ));
    }
    let mut state = State::new(problem, lambda, linear);
    let mut best = f64::INFINITY;
    let mut first = None;
    for step in 0..MOST_STEPS {
        let mut gradient = state.gradient();
        if norm_up(&gradient.total) <= 4.0 * tolerance && state.refresh() {
            gradient = state.gradient();
        }
        let norm = norm_up(&gradient.total);
        let certified = norm
            + linear_error
            + problem.extent().gradient_error_up(
                norm_up(&state.weights),
                lambda,
                gradient.rows,
                norm_up(linear),
            );
        if state.fresh {
            best = best.min(certified);
        }
        if state.fresh && certified <= tolerance {
            return Ok(Solution { weights: state.weights, gradient_norm: certified, steps: step as u32 });
        }
        let first = *first.get_or_insert(norm);
        let forcing = libm::sqrt(norm / first).clamp(1e-8, 0.1).max(0.1 * tolerance / norm);
        // Where curvature can vanish, the Hessian is damped in proportion to the gradient; the damping ends with it.
        let damping = if problem.loss.has_flat_parts() { DAMPING * norm } else { 0.0 };
        let direction = state.newton_direction(&gradient.total, lambda + damping, forcing * norm);
        if !state.advance(&direction, &gradient.total) && !state.refresh() {
            break;
        }
    }
    Err(ErmError::NotConverged { reached: best, needed: tolerance })
}

struct Gradient {
    total: Vec<f64>,
    /// The norm of the part that comes from the rows.
    rows: f64,
}

struct State<'a, 'b> {
    problem: &'a Problem<'b>,
    lambda: f64,
    linear: &'a [f64],
    weights: Vec<f64>,
    margins: Vec<f64>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    /// Whether margins were computed from the weights at once, exactly, rather than carried along.
    fresh: bool,
    dense: bool,
}

impl<'a, 'b> State<'a, 'b> {
    fn new(problem: &'a Problem<'b>, lambda: f64, linear: &'a [f64]) -> Self {
        let n = problem.rows.len();
        let mut state = Self {
            problem,
            lambda,
            linear,
            weights: vec![0.0; problem.width()],
            margins: vec![0.0; n],
            slopes: Vec::with_capacity(n),
            curvatures: Vec::with_capacity(n),
            fresh: true,
            dense: dense::pays(problem),
        };
        problem.derivatives(&state.margins, &mut state.slopes, &mut state.curvatures);
        state
    }

    fn gradient(&self) -> Gradient {
        let mut total = self.problem.combine(&self.slopes);
        let rows = norm_up(&total);
        for ((g, w), b) in total.iter_mut().zip(&self.weights).zip(self.linear) {
            *g += self.lambda * w + b;
        }
        Gradient { total, rows }
    }

    /// Takes margins afresh from the weights; false when they are already.
    fn refresh(&mut self) -> bool {
        if self.fresh {
            return false;
        }
        self.problem.margins_exactly(&self.weights, &mut self.margins);
        self.problem.derivatives(&self.margins, &mut self.slopes, &mut self.curvatures);
        self.fresh = true;
        true
    }

    /// An approximate solution of (Σ curvature·xxᵀ + shift·I)·p = −∇F, to a residual of norm `goal`.
    fn newton_direction(&self, gradient: &[f64], shift: f64, goal: f64) -> Vec<f64> {
        let width = self.problem.width();
        if self.dense
            && let Some(factor) = dense::Factor::new(self.problem, &self.curvatures, shift)
        {
            return factor.solve(gradient.iter().map(|g| -g).collect());
        }
        let diagonal = self.problem.diagonal(&self.curvatures, shift);
        let mut p = vec![0.0; width];
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut z: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
        let mut search = z.clone();
        let mut product = vec![0.0; width];
        let mut rz = dot(&residual, &z);
        for _ in 0..2 * width + 20 {
            self.problem.hessian_times(&self.curvatures, shift, &search, &mut product);
            let curvature = dot(&search, &product);
            if !(curvature > 0.0 && rz > 0.0) {
                break;
            }
            let step = rz / curvature;
            for index in 0..width {
                p[index] += step * search[index];
                residual[index] -= step * product[index];
            }
            if dot(&residual, &residual) <= goal * goal {
                break;
            }
            for index in 0..width {
                z[index] = residual[index] / diagonal[index];
            }
            let next = dot(&residual, &z);
            let keep = next / rz;
            rz = next;
            for index in 0..width {
                search[index] = z[index] + keep * search[index];
            }
        }
        p
    }

    /// Moves along `direction` to where the slope has (nearly) vanished; false when nothing moves any more.
    fn advance(&mut self, direction: &[f64], gradient: &[f64]) -> bool {
        let start = dot(direction, gradient);
        if start.is_nan() || start >= 0.0 {
            return false;
        }
        let mut moved = Vec::with_capacity(self.margins.len());
        self.problem.margins(direction, &mut moved);
        let base = self.margins.clone();
        let (quadratic, linear) =
            (self.lambda * dot(direction, direction), start - dot(&self.slopes, &moved));
        // The slope of F along the direction rises with t; (0, start) is on its left end.
        let (mut low, mut low_slope, mut high) = (0.0, start, None::<(f64, f64)>);
        let mut t = 1.0;
        for trial in 0..MOST_TRIALS {
            for ((margin, base), q) in self.margins.iter_mut().zip(&base).zip(&moved) {
                *margin = base + t * q;
            }
            self.problem.derivatives(&self.margins, &mut self.slopes, &mut self.curvatures);
            let slope = dot(&self.slopes, &moved) + linear + t * quadratic;
            let noise: f64 = self.slopes.iter().zip(&moved).map(|(s, q)| (s * q).abs()).sum::<f64>();
            let settled = slope.abs() <= 32.0 * f64::EPSILON * (noise + linear.abs() + t * quadratic);
            if settled || (slope <= -0.02 * start && slope >= 0.5 * start) {
                break;
            }
            if slope > 0.0 {
                high = Some((t, slope));
            } else {
                (low, low_slope) = (t, slope);
            }
            // Damped directions can be far too short.
            let Some((right, right_slope)) = high else {
                t *= 4.0;
                continue;
            };
            let secant = low + (right - low) * low_slope / (low_slope - right_slope);
            let (left_most, right_most) = (low + 0.1 * (right - low), low + 0.9 * (right - low));
            // Every third trial halves the interval: the search ends however sharp the corner is.
            t = if trial % 3 == 2 { 0.5 * (low + right) } else { secant.clamp(left_most, right_most) };
        }
        let mut changed = false;
        for (w, p) in self.weights.iter_mut().zip(direction) {
            let next = *w + t * p;
            changed |= next != *w;
            *w = next;
        }
        self.fresh = false;
        changed
    }
}
