//! Losses with the constants that the proofs use.

use crate::ErmError;
use crate::rows::NORM_SLACK;
use libm::{exp, log1p};
use serde::{Deserialize, Serialize};

/// What a proof may know of a loss ℓ(m, y), m = wᵀx, for rows of norm at most 1 + 10⁻¹².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// A bound on ‖∇ℓ‖ = |∂ℓ/∂m|·‖x‖.
    pub lipschitz: f64,
    /// A bound on the only eigenvalue of ∇²ℓ that is not 0, |∂²ℓ/∂m²|·‖x‖².
    pub smoothness: f64,
    /// Whether y·∂ℓ/∂m is never positive, so that a record can push only one way along its own features.
    pub monotone: bool,
}

/// A convex loss of the margin m = wᵀx and the label y.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarginLoss {
    /// ln(1 + e^{−ym}), labels ±1: L = 1, β = 1/4.
    Logistic,
    /// The hinge with its corner rounded over a width of 2h, labels ±1: L = 1, β = 1/(2h).
    Huber {
        /// Half the width of the rounded corner.
        h: f64,
    },
    /// ½(m − y)² while |m − y| ≤ 1 + radius and a straight line beyond: the squared loss for every w of norm
    /// at most `radius` and labels in [−1, 1], with L = 1 + radius and β = 1 everywhere.
    Squared {
        /// The radius of the ball of weights in which the loss is the squared loss.
        radius: f64,
    },
}

impl std::fmt::Display for MarginLoss {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Logistic => formatter.write_str("logistic"),
            Self::Huber { h } => write!(formatter, "hinge rounded by {h}"),
            Self::Squared { radius } => write!(formatter, "squared for weights of norm at most {radius}"),
        }
    }
}

impl MarginLoss {
    /// The rounded hinge with the corner of Chaudhuri, Monteleoni and Sarwate's experiments, h = ½.
    pub const SVM: Self = Self::Huber { h: 0.5 };

    /// Checks the parameter.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] when it is not positive and finite.
    pub fn check(self) -> Result<Self, ErmError> {
        let (name, value) = match self {
            Self::Logistic => return Ok(self),
            Self::Huber { h } => ("h", h),
            Self::Squared { radius } => ("radius", radius),
        };
        if value.is_finite() && value > 1e-6 && value < 1e6 {
            Ok(self)
        } else {
            Err(ErmError::invalid(name, value, "give a number between 1e-6 and 1e6"))
        }
    }

    /// Whether labels must be −1 or 1.
    pub fn is_classification(self) -> bool {
        !matches!(self, Self::Squared { .. })
    }

    /// Whether the curvature is 0 somewhere.
    pub(crate) fn has_flat_parts(self) -> bool {
        !matches!(self, Self::Logistic)
    }

    /// The constants, with the slack of the rows' norms included.
    pub fn constants(self) -> Constants {
        let (smoothness, monotone) = match self {
            Self::Logistic => (0.25, true),
            Self::Huber { h } => (0.5 / h, true),
            Self::Squared { .. } => (1.0, false),
        };
        let norm = 1.0 + 4.0 * NORM_SLACK;
        Constants { lipschitz: self.steepest() * norm, smoothness: smoothness * norm * norm, monotone }
    }

    /// The largest |∂ℓ/∂m|.
    fn steepest(self) -> f64 {
        match self {
            Self::Logistic | Self::Huber { .. } => 1.0,
            Self::Squared { radius } => 1.0 + radius,
        }
    }

    /// The largest ℓ(0, y) over the labels.
    pub(crate) fn at_zero(self) -> f64 {
        match self {
            Self::Logistic | Self::Huber { .. } => self.value(0.0, 1.0),
            Self::Squared { .. } => 0.5,
        }
    }

    /// ∂ℓ/∂m, held to its bound whatever the margin is, and 0 where it is not a number.
    #[inline]
    pub(crate) fn bounded_slope(self, margin: f64, label: f64) -> f64 {
        let (slope, _) = self.derivatives(margin, label);
        if slope.is_nan() { 0.0 } else { slope.clamp(-self.steepest(), self.steepest()) }
    }

    /// ℓ(m, y).
    #[inline]
    pub fn value(self, margin: f64, label: f64) -> f64 {
        match self {
            Self::Logistic => {
                let t = label * margin;
                log1p(exp(-t.abs())) + (-t).max(0.0)
            }
            Self::Huber { h } => {
                let t = 1.0 - label * margin;
                if t < -h {
                    0.0
                } else if t <= h {
                    (t + h) * (t + h) / (4.0 * h)
                } else {
                    t
                }
            }
            Self::Squared { radius } => {
                let (r, edge) = ((margin - label).abs(), 1.0 + radius);
                if r <= edge { 0.5 * r * r } else { edge * (r - 0.5 * edge) }
            }
        }
    }

    /// ∂ℓ/∂m and ∂²ℓ/∂m², the second as a value of the generalised derivative where it jumps.
    #[inline]
    pub fn derivatives(self, margin: f64, label: f64) -> (f64, f64) {
        match self {
            Self::Logistic => {
                let t = label * margin;
                let e = exp(-t.abs());
                let small = e / (1.0 + e);
                let p = if t >= 0.0 { small } else { 1.0 / (1.0 + e) };
                (-label * p, small / (1.0 + e))
            }
            Self::Huber { h } => {
                let t = 1.0 - label * margin;
                if t < -h {
                    (0.0, 0.0)
                } else if t <= h {
                    (-label * (t + h) / (2.0 * h), 0.5 / h)
                } else {
                    (-label, 0.0)
                }
            }
            Self::Squared { radius } => {
                let (r, edge) = (margin - label, 1.0 + radius);
                if r.abs() <= edge { (r, 1.0) } else { (edge * r.signum(), 0.0) }
            }
        }
    }

    /// P(y = 1) for the logistic loss; none for the others.
    pub fn probability(self, margin: f64) -> Option<f64> {
        matches!(self, Self::Logistic).then(|| {
            let e = exp(-margin.abs());
            if margin >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
        })
    }

    /// A bound on the error of the computed ∂ℓ/∂m at a margin that is itself known to `margin_error`.
    pub(crate) fn slope_error(self, margin_error: f64) -> f64 {
        let constants = self.constants();
        constants.smoothness * margin_error + 16.0 * f64::EPSILON * constants.lipschitz
    }
}
