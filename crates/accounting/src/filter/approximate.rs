//! The filter for (εᵢ, δᵢ) chosen as one goes: advanced composition, by zero-concentrated differential privacy.

use super::largest;
use crate::rdp::epsilon_up;
use reticent_core::{Delta, Epsilon};

/// The largest ρ with which ρ-zCDP is (ε, δ)-private, rounded down; 0 where there is none.
///
/// # Guarantee
/// An interaction with Σρᵢ ≤ the returned number on every path is (ε, δ)-private, and (ε, δ + δ″)-private when plans
/// leak with Σδᵢ ≤ δ″ on every path. An (εᵢ, δᵢ) mechanism has ρᵢ = εᵢ²/2 and leaks δᵢ.
///
/// # Reference
/// Whitehouse, Ramdas, Rogers, Wu, *Fully adaptive composition in differential privacy* (2023), theorem 1; the
/// conversion is that of Canonne, Kamath, Steinke (2020), never above theirs.
pub(super) fn limit(epsilon: Epsilon, delta: Delta) -> f64 {
    let fits = |rho: f64| {
        epsilon_up(|order| order * rho * (1.0 + 1e-15), delta).is_ok_and(|(found, _)| found <= epsilon)
    };
    largest(fits)
}
