//! Linear models with a privacy guarantee: output, objective and gradient perturbation.
//!
//! J(w) = (1/n) Σ ℓ(wᵀx, y) + (Λ/2)‖w‖² over rows of norm at most 1. [`fit()`] takes checked [`SparseRows`], a [`MarginLoss`] that
//! knows its constants, a [`FitMethod`], a budget and public [`Settings`], and returns a [`FittedModel`]: weights, the
//! [`Event`](reticent_core::Event)s, and a [`Certificate`](reticent_core::Certificate).
//!
//! | room | what is in it |
//! |---|---|
//! | [`rows`] | sparse rows and what is checked about them |
//! | [`loss`] | logistic, rounded hinge, squared, with L and β |
//! | [`settings`] | the public side of a fit, and [`Scope`], what plans are made from |
//! | [`output`], [`objective`] | noise on the minimiser, noise in the objective: every number settled before a row is read |
//! | [`plan`] | running those plans: solver, certified gradient, finishing noise |
//! | [`gradient`] | noisy descent, on all rows or Poisson samples |
//! | [`method`] | methods by name, and the automatic choice |
//! | [`utility`] | proven excess risk, and "how many records do I need?" |
//! | [`risk`] | output perturbation by its closed formulas: sensitivity, sample size |
//! | [`store`] | models on disk |
//!
//! Plans are made from public numbers alone; running one is the only thing that reads rows, and needs a permit for its events:
//! [`fit()`] charges them to a session, [`prepare`] lets a caller charge them in a larger plan. No solver output leaves
//! a fit unprotected: the last step is always a mechanism of `reticent-noise`, so neither floating-point rounding nor
//! stopping early can void a guarantee.
//!
//! ```
//! use reticent_core::{Epsilon, Guarantee, Neighboring};
//! use reticent_erm::{MarginLoss, FitMethod, SparseRows, Settings, fit};
//! use reticent_noise::NoiseSession;
//!
//! let (offsets, columns) = ([0, 1, 2, 3, 4], [0, 1, 0, 1]);
//! let (values, labels) = ([1.0, 1.0, 0.5, 0.5], [1.0, -1.0, 1.0, -1.0]);
//! let rows = SparseRows::new(2, &offsets, &columns, &values, &labels)?;
//! let budget = Guarantee::pure(Epsilon::new(1.0)?);
//! let mut session = NoiseSession::without_limit("row", Neighboring::ReplaceOne)?;
//! let model = fit(&rows, MarginLoss::Logistic, FitMethod::Objective, budget, &Settings::default(), &mut session)?;
//! assert_eq!(model.weights.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("proof.md")]

mod dense;
mod draw;
mod error;
mod evaluate;
mod fit;
pub mod gradient;
pub mod loss;
pub mod method;
mod multiclass;
pub mod objective;
pub mod output;
pub mod plan;
mod predict;
mod problem;
pub mod risk;
pub mod rows;
mod rule;
pub mod settings;
mod solver;
pub mod store;
pub mod utility;

pub use draw::PerturbationLaw;
pub use error::ErmError;
pub use evaluate::{
    ClassMetrics, ClassificationReport, ValueMetrics, class_metrics, evaluate, evaluate_multiclass,
    evaluate_values, predicted_classes, value_metrics,
};
pub use fit::{EXACT_REGULARIZATION, FitReport, FittedModel, Prepared, fit, fit_exact, prepare};
pub use gradient::DescentSchedule;
pub use loss::MarginLoss;
pub use method::FitMethod;
pub use multiclass::{Classes, Multiclass, PreparedMulticlass, fit_multiclass, prepare_multiclass};
pub use predict::Linear;
pub use rows::SparseRows;
pub use settings::{Scope, Settings};
pub use store::AnyModel;

#[cfg(test)]
mod tests;
