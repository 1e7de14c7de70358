use super::cost::gaussian_of_pure;
use super::*;
use reticent_core::{LedgerError, Mu, NoiseMultiplier, SamplingRate, charge};

fn total(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

#[test]
fn placeholder() {
    let _ = (total(1.0, 0.0), gaussian_of_pure(1.0), LedgerError::Exceeded { remedy: String::new() });
    let _ = (Mu::new(1.0), NoiseMultiplier::new(1.0), SamplingRate::new(1.0), charge);
}
