//! The settings of a fit, all of them public.

use crate::ErmError;
use crate::gradient::DescentSchedule;
use crate::loss::{Constants, MarginLoss};
use crate::problem::Problem;
use crate::rows::SparseRows;
use reticent_core::Neighboring;
use serde::{Deserialize, Serialize};

/// The constant feature behind the intercept unless another is asked for.
pub const INTERCEPT: f64 = 0.3;

/// Choices that are public and may change what is guaranteed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The neighbouring relation of the guarantee.
    pub neighboring: Neighboring,
    /// A public number near the number of rows, needed under add-remove, where the true one is private. Under
    /// replace-one the number of rows is public and this is left out.
    ///
    /// A fit whose solver cannot certify its result fails, and plans allow for twice this many rows: with far more,
    /// whether a fit fails depends on their private number. When in doubt, declare too many.
    pub size: Option<u64>,
    /// Λ of (1/n)Σℓ + (Λ/2)‖w‖²; none for the method's default.
    pub regularization: Option<f64>,
    /// The value of the constant feature of the intercept, from 0 (no intercept) to below 1.
    pub intercept: f64,
    /// The schedule of a descent; none for the default.
    pub schedule: Option<DescentSchedule>,
    /// The privacy unit, for the certificate.
    pub unit: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            neighboring: Neighboring::ReplaceOne,
            size: None,
            regularization: None,
            intercept: INTERCEPT,
            schedule: None,
            unit: "row".into(),
        }
    }
}

impl Settings {
    /// Defaults under add-remove with a public size.
    pub fn add_remove(size: u64) -> Self {
        Self { neighboring: Neighboring::AddRemove, size: Some(size), ..Self::default() }
    }
}

/// The public numbers that a plan is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scope {
    /// The public number of rows.
    pub size: u64,
    /// Number of weights, the intercept's included.
    pub width: usize,
    /// The public bound on the ℓ1 norm of a row.
    pub l1_bound: f64,
    /// The loss.
    pub loss: MarginLoss,
    /// The relation.
    pub neighboring: Neighboring,
    /// Λ where it was given.
    pub regularization: Option<f64>,
}

impl Scope {
    /// What a fit of these rows with this loss and these settings is planned from: public numbers alone.
    ///
    /// # Errors
    /// As [`fit`](crate::fit()) for rows, loss or settings without meaning.
    pub fn new(rows: &SparseRows<'_>, loss: MarginLoss, settings: &Settings) -> Result<Self, ErmError> {
        Self::of(&Problem::new(*rows, loss, settings.intercept)?, settings)
    }

    /// The scope of a problem under these settings.
    pub(crate) fn of(problem: &Problem<'_>, settings: &Settings) -> Result<Self, ErmError> {
        let n = problem.rows.len() as u64;
        let size = match (settings.neighboring, settings.size) {
            (Neighboring::AddRemove, None) => {
                return Err(ErmError::invalid(
                    "size",
                    "none",
                    "give a public number near the number of rows: under add-remove the true one is private",
                ));
            }
            (Neighboring::ReplaceOne, Some(size)) if size != n => {
                return Err(ErmError::invalid(
                    "size",
                    size,
                    format!("leave it out or give the number of rows, {n}: it is public under replace-one"),
                ));
            }
            (Neighboring::AddRemove, Some(size)) => size,
            (Neighboring::ReplaceOne, _) => n,
        };
        let scope = Self {
            size,
            width: problem.width(),
            l1_bound: problem.l1_bound(),
            loss: problem.loss,
            neighboring: settings.neighboring,
            regularization: settings.regularization,
        };
        scope.check()?;
        Ok(scope)
    }

    /// Checks that the numbers can describe a training set.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] naming the field that cannot.
    pub fn check(&self) -> Result<(), ErmError> {
        if self.size == 0 {
            return Err(ErmError::invalid("size", 0, "give at least one row"));
        }
        if self.width == 0 {
            return Err(ErmError::invalid("width", 0, "give at least one feature"));
        }
        if let Some(value) = self.regularization.filter(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(ErmError::invalid(
                "regularization",
                value,
                "give a number above 0: the proofs need strong convexity",
            ));
        }
        self.loss.check().map(|_| ())
    }

    /// The constants of the loss.
    pub fn constants(&self) -> Constants {
        self.loss.constants()
    }

    /// λ of the sum form for a given Λ.
    pub fn lambda(&self, regularization: f64) -> f64 {
        regularization * self.size as f64
    }

    /// How many records a neighbour differs in: 1 under add-remove, 2 (one out, one in) under replace-one.
    pub(crate) fn changes(&self) -> f64 {
        match self.neighboring {
            Neighboring::AddRemove => 1.0,
            Neighboring::ReplaceOne => 2.0,
        }
    }

    /// A bound on ‖argmin F_D − argmin F_D′‖₂ for neighbours, L/λ or 2L/λ, rounded up.
    ///
    /// # Guarantee
    /// For F = Σℓ + (λ/2)‖w‖² over all of space, under the scope's relation.
    ///
    /// # Reference
    /// Chaudhuri, Monteleoni, Sarwate (2011), corollary 8, with λ = nΛ; `proof.md` for add-remove.
    pub fn sensitivity_up(&self, lambda: f64) -> f64 {
        reticent_core::rounding::div_up(self.changes() * self.constants().lipschitz, lambda)
    }
}
