//! Randomized response: every respondent randomises their own answer.

use super::Mechanism;
use crate::entropy::Bits;
use crate::sampler::uniform_below;
use crate::{NoiseError, Randomness};
use reticent_core::rounding::{div_up, ln_up, mul_up, sub_down};
use reticent_core::special::{clopper_pearson, normal_tail_quantile};
use reticent_core::{Code, Confidence, Epsilon, Event, Guarantee, Probability};
use std::hint::black_box;

/// k-ary randomized response: the true category with the keep probability, otherwise one of the
/// others, uniformly.
///
/// # Guarantee
/// For one respondent's answer replaced by any other (the local model): pure
/// ε = ln(keep·(k − 1)/(1 − keep)), rounded up. The keep probability is a double and the draw
/// realises exactly that probability.
///
/// # Reference
/// Warner, *Randomized Response* (1965); Kairouz, Oh, Viswanath, *Extremal mechanisms for local
/// differential privacy* (2014), for k categories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomizedResponse {
    keep: f64,
    categories: u64,
    epsilon: Epsilon,
}

/// An estimated share of the population, from randomised answers.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ShareEstimate {
    /// The unbiased estimate; sampling can carry it below 0 or above 1.
    pub value: f64,
    /// Its standard error, estimated from the answers.
    pub standard_error: f64,
    /// A two-sided interval with at least the requested coverage, cut to 0…1.
    pub interval: [f64; 2],
}

impl RandomizedResponse {
    /// The largest keep probability that gives ε for k categories: e^ε/(e^ε + k − 1), rounded down.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for fewer than 2 categories or ε = 0. An ε beyond what a keep
    /// probability below 1 can use is not used in full: the claim is what the draw gives.
    pub fn new(epsilon: Epsilon, categories: u64) -> Result<Self, NoiseError> {
        let e = epsilon.positive()?;
        check_categories(categories)?;
        // 1/(1 + (k − 1)e^{−ε}), stepped down until the claim it makes is within ε.
        let mut keep = 1.0 / (1.0 + (categories as f64 - 1.0) * libm::exp(-e));
        for _ in 0..64 {
            if epsilon_up(keep, categories) <= e {
                break;
            }
            keep = keep.next_down();
        }
        let built = Self::with_keep_probability(Probability::new(keep)?, categories)?;
        if built.epsilon > epsilon {
            return Err(NoiseError::invalid(
                "epsilon",
                e,
                "give a larger epsilon: this one is too fine for the keep probability",
            ));
        }
        Ok(built)
    }

    /// Answers kept with this probability.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless categories ≥ 2 and 1/categories < keep < 1.
    pub fn with_keep_probability(keep: Probability, categories: u64) -> Result<Self, NoiseError> {
        check_categories(categories)?;
        let keep = keep.get();
        if keep <= 1.0 / categories as f64 || keep >= 1.0 {
            return Err(NoiseError::invalid(
                "keep_probability",
                keep,
                format!("give a number above 1/{categories} and below 1 (a smaller epsilon lowers it)"),
            ));
        }
        Ok(Self { keep, categories, epsilon: Epsilon::new(epsilon_up(keep, categories))? })
    }

    /// The keep probability.
    pub fn keep_probability(&self) -> f64 {
        self.keep
    }

    /// The number of categories.
    pub fn categories(&self) -> u64 {
        self.categories
    }

    /// The probability of each category other than the true one.
    fn stray(&self) -> f64 {
        (1.0 - self.keep) / (self.categories as f64 - 1.0)
    }

    /// The share of respondents whose true answer is a category reported `reported` times in `total`.
    ///
    /// The estimate is (reported/total − stray)/(keep − stray). Its interval is the exact
    /// (Clopper–Pearson) interval of the reported share, mapped the same way. Respondents with
    /// different true answers make the count less variable than a binomial one, so the interval also
    /// holds for the share among these very respondents (Hoeffding 1956), at confidence ½ or more.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `total` is 0 or below `reported`.
    pub fn estimate(
        &self,
        reported: u64,
        total: u64,
        confidence: Confidence,
    ) -> Result<ShareEstimate, NoiseError> {
        if total == 0 || reported > total {
            return Err(NoiseError::invalid(
                "total",
                total,
                format!("give at least 1 answer, and no fewer than reported = {reported}"),
            ));
        }
        let (stray, spread) = (self.stray(), self.keep - self.stray());
        let share = reported as f64 / total as f64;
        let (low, high) = clopper_pearson(reported, total, confidence.beta() / 2.0);
        let back = |share: f64| (share - stray) / spread;
        Ok(ShareEstimate {
            value: back(share),
            standard_error: (share * (1.0 - share) / total as f64).sqrt() / spread,
            interval: [back(low).clamp(0.0, 1.0), back(high).clamp(0.0, 1.0)],
        })
    }

    /// The shares of all categories, from how often each was reported; each interval holds by itself.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the number of counts is not the number of categories, or all are 0.
    pub fn estimate_histogram(
        &self,
        reported: &[u64],
        confidence: Confidence,
    ) -> Result<Vec<ShareEstimate>, NoiseError> {
        if reported.len() as u64 != self.categories {
            return Err(NoiseError::invalid(
                "reported",
                format!("{} counts", reported.len()),
                format!("give one count per category ({})", self.categories),
            ));
        }
        let total = reported.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
        reported.iter().map(|count| self.estimate(*count, total, confidence)).collect()
    }

    /// The largest standard error a share can have with this many respondents.
    pub fn worst_standard_error(&self, respondents: u64) -> f64 {
        0.5 / (respondents as f64).sqrt() / (self.keep - self.stray())
    }

    /// Half the width of the widest normal-theory interval of a share with this many respondents.
    pub fn error(&self, respondents: u64, confidence: Confidence) -> f64 {
        normal_tail_quantile(confidence.beta() / 2.0) * self.worst_standard_error(respondents)
    }

    /// The ε for which [`worst_standard_error`](Self::worst_standard_error) is `error`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is not above what even truthful answers would have.
    pub fn epsilon_for_error(respondents: u64, categories: u64, error: f64) -> Result<Epsilon, NoiseError> {
        let spread = 0.5 / (respondents as f64).sqrt() / error;
        if !(spread > 0.0 && spread < 1.0) {
            return Err(NoiseError::invalid(
                "error",
                error,
                format!(
                    "give an error above {}: truthful answers of {respondents} respondents have that much",
                    0.5 / (respondents as f64).sqrt()
                ),
            ));
        }
        // keep − (1 − keep)/(k − 1) = spread
        let others = categories as f64 - 1.0;
        let keep = (spread * others + 1.0) / (others + 1.0);
        Ok(Epsilon::new(epsilon_up(keep.next_up(), categories))?)
    }
}

fn check_categories(categories: u64) -> Result<(), NoiseError> {
    if (2..=1 << 32).contains(&categories) {
        return Ok(());
    }
    Err(NoiseError::coded(
        Code::List,
        "categories",
        categories,
        "give at least 2 categories (and at most 2^32)",
    ))
}

/// ln(keep·(k − 1)/(1 − keep)), rounded up, not below 0.
fn epsilon_up(keep: f64, categories: u64) -> f64 {
    let lost = sub_down(1.0, keep);
    if lost <= 0.0 {
        return f64::INFINITY;
    }
    // The odds are rounded up before the logarithm is.
    ln_up(div_up(mul_up(keep, categories as f64 - 1.0), lost)).max(0.0)
}

impl Mechanism for RandomizedResponse {
    type Input = u64;
    type Output = u64;

    fn event(&self) -> Event {
        let keep_probability =
            Probability::new(self.keep).unwrap_or_else(|_| unreachable!("checked when built"));
        Event::RandomizedResponse { keep_probability, categories: self.categories }
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::pure(self.epsilon)
    }

    /// Any two answers of one respondent are neighbours.
    fn distance(&self, a: &u64, b: &u64) -> f64 {
        f64::from(u8::from(a != b))
    }

    /// The reported category, counted from 0; one that does not exist counts as the last.
    ///
    /// Both outcomes are formed and one is masked out, so the time does not reveal which was taken.
    fn draw(&self, category: &u64, draws: &mut Randomness<'_>) -> u64 {
        let category = (*category).min(self.categories - 1);
        let other = uniform_below(draws, self.categories - 1);
        let other = other + u64::from(other >= category);
        // Out of the optimiser's sight, which would branch on it.
        let kept = black_box(u64::from(self.keeps(draws)).wrapping_neg());
        black_box((category & kept) | (other & !kept))
    }
}

impl RandomizedResponse {
    /// True with probability exactly `keep`, a double between 2⁻³³ and 1: a whole number of at most 86 bits,
    /// uniform, is below the numerator.
    fn keeps(&self, draws: &mut Randomness<'_>) -> bool {
        let bits = self.keep.to_bits();
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        let shift = 1075 - (bits >> 52);
        let uniform = ((u128::from(draws.word()) << 64) | u128::from(draws.word())) >> (128 - shift);
        uniform < u128::from(mantissa)
    }
}
