//! How much a model prefers a secret that was planted in its training data to all others of the same format.
//!
//! A secret is drawn uniformly from a set R of candidates. Its rank is its place among all of R by the model's loss, from 1. The
//! exposure is log₂|R| − log₂ rank, in bits: how much fewer guesses the model leaves than the format does. A model that has not seen
//! the secret ranks it uniformly, and its exposure is log₂ e ≈ 1.44 bits in the mean, whatever the size of R.
//!
//! # Reference
//! Carlini, Liu, Erlingsson, Kos, Song, *The secret sharer: evaluating and testing unintended memorization in neural networks*, 2019.

use crate::findings::Estimate;
use crate::{AuditError, interval};
use libm::log2;
use serde::{Deserialize, Serialize};

/// The largest set of candidates that is ranked in full.
pub const MOST_RANKED: u64 = 1_000_000;

/// The mean exposure of secrets that a model has not seen, in bits: log₂ e, approached from below as the set grows.
pub const UNSEEN: f64 = std::f64::consts::LOG2_E;

/// How a rank was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankMethod {
    /// All candidates were ranked.
    Exact,
    /// Some candidates were drawn uniformly, and the rank is estimated from those that rank before the secret.
    Estimated,
}

/// The exposure of one secret.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SecretExposure {
    /// How its rank was found.
    pub method: RankMethod,
    /// Its place among all candidates, from 1; candidates of the same loss count as before it.
    pub rank: f64,
    /// log₂|R| − log₂ rank, in bits, with the interval of an estimated rank; an exact rank has none to speak of.
    pub exposure: Estimate,
}

impl SecretExposure {
    /// The exposure of a secret that so many of all `candidates`, itself among them, do not exceed in loss.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for a rank of 0 or above the number of candidates.
    pub fn exact(rank: u64, candidates: u64) -> Result<Self, AuditError> {
        if rank == 0 || rank > candidates {
            let remedy = format!("give a place from 1 to {candidates}, the number of candidates");
            return Err(AuditError::setting("rank", rank, remedy));
        }
        let value = log2(candidates as f64) - log2(rank as f64);
        let exposure = Estimate { value, lower: value, upper: value, confidence: 1.0 };
        Ok(Self { method: RankMethod::Exact, rank: rank as f64, exposure })
    }

    /// The exposure of a secret among 2^`bits` candidates, of which `drawn` were drawn uniformly and `before` do not exceed its loss.
    ///
    /// The value is that of rank |R|·(before + 1)/(drawn + 1), and so log₂(drawn + 1) at most: no more can be seen with so many
    /// draws. The interval is that of Clopper and Pearson for the share of candidates before the secret.
    ///
    /// # Guarantee
    /// If candidates were drawn uniformly and independently, the interval covers the exposure with at least the stated confidence.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for no draws, more candidates before the secret than were drawn, and a confidence out of range.
    pub fn estimated(before: u64, drawn: u64, bits: f64, confidence: f64) -> Result<Self, AuditError> {
        if drawn == 0 || before > drawn {
            return Err(AuditError::setting(
                "drawn",
                drawn,
                "draw at least as many candidates as are counted",
            ));
        }
        if !(bits >= 0.0 && bits.is_finite()) {
            return Err(AuditError::setting("candidates", format!("2^{bits}"), "give at least one"));
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(AuditError::setting("confidence", confidence, "give a number between 0 and 1"));
        }
        let (low, high) = interval::two_sided(before, drawn, 1.0 - confidence);
        // A rank is at least 1; where the secret itself is not among the draws, it adds 1/|R| to the share.
        let of_share = |share: f64| (-log2(share.max(libm::exp2(-bits)))).clamp(0.0, bits);
        let value = of_share((before + 1) as f64 / (drawn + 1) as f64);
        let exposure = Estimate {
            value,
            lower: of_share(high + libm::exp2(-bits)).min(value),
            upper: of_share(low).max(value),
            confidence,
        };
        Ok(Self { method: RankMethod::Estimated, rank: libm::exp2(bits - value), exposure })
    }
}

/// How many of the candidates do not exceed a secret's loss; the secret itself is one of them.
///
/// # Errors
/// [`AuditError::Invalid`] for a loss that is not a number.
pub fn not_above(loss: f64, candidates: &[f64]) -> Result<u64, AuditError> {
    if loss.is_nan() || candidates.iter().any(|other| other.is_nan()) {
        return Err(AuditError::invalid("loss", "NaN", "a model whose loss is not a number ranks nothing"));
    }
    Ok(candidates.iter().filter(|other| **other <= loss).count() as u64)
}

/// The median exposure of several secrets with its interval of order statistics; the least and the greatest where they are too few.
///
/// # Guarantee
/// If secrets are exchangeable, the interval covers the median of their distribution with at least the stated confidence; with too few
/// of them the confidence is that of the range, 1 − 2^(1−n), and is stated.
///
/// # Errors
/// [`AuditError::NotMeasurable`] without secrets.
pub fn median_exposure(secrets: &[SecretExposure], confidence: f64) -> Result<Estimate, AuditError> {
    let mut values: Vec<f64> = secrets.iter().map(|secret| secret.exposure.value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else {
        return Err(AuditError::not_measurable("there are no secrets to rank"));
    };
    if let Some((lower, value, upper)) = interval::median(&values, 1.0 - confidence) {
        return Ok(Estimate { value, lower, upper, confidence });
    }
    let middle = values.len() / 2;
    let value =
        if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) };
    let covered = 1.0 - libm::exp2(1.0 - values.len() as f64);
    Ok(Estimate { value, lower: *least, upper: *most, confidence: covered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_data::keyed_hash;

    #[test]
    fn the_formula_on_a_small_example() {
        let losses = [3.0, 1.0, 2.0, 2.0, 5.0, 4.0, 7.0, 6.0];
        // The secret is the third: one candidate is below it, one ties with it.
        let rank = not_above(losses[2], &losses).unwrap();
        assert_eq!(rank, 3);
        let found = SecretExposure::exact(rank, 8).unwrap();
        assert!((found.exposure.value - (8.0f64 / 3.0).log2()).abs() < 1e-12);
        assert_eq!(SecretExposure::exact(1, 1024).unwrap().exposure.value, 10.0);
        assert_eq!(SecretExposure::exact(1024, 1024).unwrap().exposure.value, 0.0);
        assert!(SecretExposure::exact(0, 8).is_err() && SecretExposure::exact(9, 8).is_err());
        assert!(not_above(f64::NAN, &losses).is_err());
    }

    #[test]
    fn a_model_that_saw_nothing_has_a_mean_of_about_one_and_a_half_bits() {
        let candidates = 10_000_u64;
        let every = |rank: u64| SecretExposure::exact(rank, candidates).unwrap().exposure.value;
        let mean = (1..=candidates).map(every).sum::<f64>() / candidates as f64;
        assert!((mean - UNSEEN).abs() < 2e-3, "{mean}");
        // A rank that is off by one at the low end is not that: the broken twin would be 0 for the last and infinite for the first.
        let shifted = |rank: u64| candidates as f64 / (rank as f64 + 0.5 * candidates as f64);
        let broken = (1..=candidates).map(|rank| shifted(rank).log2()).sum::<f64>() / candidates as f64;
        assert!((broken - UNSEEN).abs() > 0.5, "{broken}");
    }

    #[test]
    fn estimated_ranks_have_intervals_that_hold() {
        let bits = 10.0;
        for rank in [1.0, 40.0, 512.0, 1024.0] {
            let truth = bits - f64::log2(rank);
            let mut covered = 0;
            for run in 0..200 {
                let before = (0..500)
                    .filter(|draw| {
                        keyed_hash("exposure", format!("{rank} {run} {draw}").as_bytes()) % 1024 < rank as u64
                    })
                    .count();
                let found = SecretExposure::estimated(before as u64, 500, bits, 0.95).unwrap();
                assert!(found.exposure.lower <= found.exposure.value);
                assert!(found.exposure.upper >= found.exposure.value);
                covered +=
                    u32::from(found.exposure.lower <= truth + 1e-9 && truth <= found.exposure.upper + 1e-9);
            }
            // 190 of 200 are expected at least; five deviations of 3.1 below that.
            assert!(covered >= 175, "{rank}: {covered}");
        }
        let none = SecretExposure::estimated(0, 1000, 60.0, 0.95).unwrap();
        assert!((none.exposure.value - 1001f64.log2()).abs() < 1e-9 && none.exposure.upper == 60.0);
        assert_eq!(none.method, RankMethod::Estimated);
        assert!(SecretExposure::estimated(3, 2, 8.0, 0.95).is_err());
        assert!(SecretExposure::estimated(0, 0, 8.0, 0.95).is_err());
    }

    #[test]
    fn few_secrets_state_their_own_confidence() {
        let secret = |rank| SecretExposure::exact(rank, 16).unwrap();
        let found = median_exposure(&[secret(1), secret(4), secret(16)], 0.95).unwrap();
        assert_eq!((found.lower, found.value, found.upper, found.confidence), (0.0, 2.0, 4.0, 0.75));
        let many: Vec<SecretExposure> = (1..=16).map(secret).collect();
        let found = median_exposure(&many, 0.95).unwrap();
        assert!(found.confidence == 0.95 && found.lower < found.value && found.value < found.upper);
        assert!(median_exposure(&[], 0.95).is_err());
    }
}
