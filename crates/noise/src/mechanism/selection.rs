//! Choosing one of finitely many candidates by a score.

use super::Mechanism;
use super::utility::{exponential_probabilities, flip_probabilities};
use crate::grid::Grid;
use crate::sampler::{DiscreteLaplaceSampler, Dyadic, bernoulli_exp, big, uniform_below};
use crate::{NoiseError, Randomness};
use dashu_int::UBig;
use reticent_core::rounding::{div_down, div_up, exp_up, ln_up, mul_down, mul_up, sub_down};
use reticent_core::{Confidence, Epsilon, Event, Guarantee, Scale, Sensitivity};

/// How the choice is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionRule {
    /// Probability proportional to e^{ε·score/(2Δ)}.
    Exponential,
    /// Candidates in random order, each taken with probability e^{−ε·(best − score)/(2Δ)}; the same
    /// distribution as the largest score after exponential noise, and never worse on average than
    /// [`SelectionRule::Exponential`].
    PermuteAndFlip,
    /// The largest score after discrete Laplace noise of scale 2Δ/ε.
    ReportNoisyMax,
}

/// A private choice among a fixed list of candidates, by their scores.
///
/// # Guarantee
/// For score lists of equal length that differ by at most the sensitivity in every entry, under
/// whichever neighbouring relation the sensitivity was taken: pure ε. Scores enter as integers; real ones
/// are rounded to a grid by [`points`](Self::points), which the claim pays for. With
/// [`monotone`](Self::monotone) scores (all move the same way between neighbours) the noise is half
/// as large for the same ε. [`SelectionRule::Exponential`] moreover has privacy-loss range ε. All comparisons
/// are exact: no score, however extreme, makes a draw fail or underflow; a real score that is not a
/// number counts as 0.
///
/// # Reference
/// McSherry, Talwar, *Mechanism Design via Differential Privacy* (2007); McKenna, Sheldon,
/// *Permute-and-Flip* (2020); Ding et al., *The Permute-and-Flip Mechanism is Identical to
/// Report-Noisy-Max with Exponential Noise* (2021); Dwork, Roth (2014), claim 3.9.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateSelection {
    rule: SelectionRule,
    epsilon: Epsilon,
    /// ε rounded down to 40 bits: what the draw uses.
    rate: Dyadic,
    grid: Grid,
    /// In grid steps, as rounded neighbours can differ.
    moved: u64,
    sensitivity: f64,
    monotone: bool,
    laplace: DiscreteLaplaceSampler,
}

impl PrivateSelection {
    /// For real scores with a real sensitivity; [`points`](Self::points) brings them onto a grid.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for ε = 0 or a sensitivity too small for doubles.
    pub fn new(rule: SelectionRule, sensitivity: Sensitivity, epsilon: Epsilon) -> Result<Self, NoiseError> {
        let grid = Grid::for_scale(Scale::new(sensitivity.get())?, 30)?;
        let moved = grid.steps(sensitivity.get()).floor() as u64 + 1;
        Self::build(rule, grid, moved, sensitivity.get(), epsilon, false)
    }

    /// For scores that are whole numbers, with a whole sensitivity: nothing is lost to rounding.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for ε = 0 or sensitivity outside 1…2⁴⁰.
    pub fn for_integers(rule: SelectionRule, sensitivity: u64, epsilon: Epsilon) -> Result<Self, NoiseError> {
        if sensitivity == 0 || sensitivity > 1 << 40 {
            return Err(NoiseError::invalid(
                "sensitivity",
                sensitivity,
                "give a whole number from 1 to 2^40",
            ));
        }
        Self::build(rule, Grid::INTEGERS, sensitivity, sensitivity as f64, epsilon, false)
    }

    /// The same for scores that all move the same way between neighbours, such as counts under
    /// add-remove: half the noise.
    ///
    /// # Errors
    /// None beyond those of the constructors.
    pub fn monotone(self) -> Result<Self, NoiseError> {
        Self::build(self.rule, self.grid, self.moved, self.sensitivity, self.epsilon, true)
    }

    fn build(
        rule: SelectionRule,
        grid: Grid,
        moved: u64,
        sensitivity: f64,
        epsilon: Epsilon,
        monotone: bool,
    ) -> Result<Self, NoiseError> {
        let value = epsilon.positive()?;
        let rate = dyadic_at_most(value)?;
        let factor = if monotone { 1.0 } else { 2.0 };
        let scale = div_up(factor * moved as f64, value);
        let laplace = DiscreteLaplaceSampler::new(Dyadic::at_least("epsilon", scale, 53)?);
        Ok(Self { rule, epsilon, rate, grid, moved, sensitivity, monotone, laplace })
    }

    /// The score shortfall that is exceeded with probability at most 1 − confidence, when `best` of
    /// the `candidates` share the top score: (2Δ/ε)·ln(candidates/(β·best)), Δ/ε if monotone.
    /// [`SelectionRule::ReportNoisyMax`] has twice ln(candidates/β).
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless 1 ≤ best ≤ candidates.
    pub fn shortfall(&self, candidates: u64, best: u64, confidence: Confidence) -> Result<f64, NoiseError> {
        if best == 0 || best > candidates {
            return Err(NoiseError::invalid(
                "best",
                best,
                format!("give a number from 1 to candidates = {candidates}"),
            ));
        }
        let factor = if self.monotone { 1.0 } else { 2.0 };
        let unit = div_up(mul_up(factor, self.sensitivity), self.rate.to_f64_down()) * (1.0 + 1e-9);
        let logs = match self.rule {
            SelectionRule::Exponential | SelectionRule::PermuteAndFlip => {
                ln_up(candidates as f64 / best as f64 / confidence.beta() * (1.0 + 1e-12))
            }
            SelectionRule::ReportNoisyMax => {
                2.0 * ln_up(candidates as f64 / confidence.beta() * (1.0 + 1e-12))
            }
        };
        Ok(mul_up(unit, logs.max(0.0)))
    }

    /// A lower bound on the probability that the chosen score is less than `shortfall` below the best, for any scores:
    /// 1 − candidates·e^{−ε·shortfall/(2Δ)} (Δ if monotone, 4Δ and 2Δ for [`SelectionRule::ReportNoisyMax`]).
    ///
    /// # Guarantee
    /// The utility theorem of the rule, rounded down; at least 0. It says nothing about privacy.
    ///
    /// # Reference
    /// Dwork, Roth (2014), corollary 3.12, for the exponential mechanism; McKenna, Sheldon (2020) for permute-and-flip,
    /// which is never worse.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `shortfall` is not a finite number of at least 0 or there are no candidates.
    pub fn success_bound_down(&self, candidates: u64, shortfall: f64) -> Result<f64, NoiseError> {
        if !(shortfall.is_finite() && shortfall >= 0.0) {
            return Err(NoiseError::invalid("shortfall", shortfall, "give a finite number of at least 0"));
        }
        if candidates == 0 {
            return Err(NoiseError::invalid("candidates", 0, "give at least one"));
        }
        let noisy_max = if self.rule == SelectionRule::ReportNoisyMax { 2.0 } else { 1.0 };
        let factor = noisy_max * if self.monotone { 1.0 } else { 2.0 };
        // Rounding to the grid costs less than the relative 1e-8.
        let unit = mul_up(mul_up(factor, self.sensitivity), 1.0 + 1e-8);
        let exponent = div_down(mul_down(self.rate.to_f64_down(), shortfall), unit);
        Ok(sub_down(1.0, mul_up(candidates as f64, exp_up(-exponent))).max(0.0))
    }

    /// The probability of every candidate, for scores that are public or assumed. It is computed from the scores without noise, so
    /// it must not be published for private ones.
    ///
    /// # Guarantee
    /// Of the distribution that [`Mechanism::draw`] samples, within 10⁻⁹ (absolute) for up to 10 000 candidates. No privacy
    /// follows: this is a fact about the mechanism on the given scores.
    ///
    /// # Reference
    /// McSherry, Talwar (2007) for the exponential mechanism; McKenna, Sheldon (2020) for permute-and-flip.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there are no scores, or more than 10 000, and for [`SelectionRule::ReportNoisyMax`], whose
    /// probabilities have no closed form here.
    pub fn probabilities_of_public(&self, scores: &[i128]) -> Result<Vec<f64>, NoiseError> {
        const MOST: usize = 10_000;
        if scores.is_empty() || scores.len() > MOST {
            return Err(NoiseError::invalid("scores", scores.len(), format!("give 1 to {MOST} scores")));
        }
        let factor = if self.monotone { 1.0 } else { 2.0 };
        let rate = self.rate.to_f64_down() / (factor * self.moved as f64);
        let gaps: Vec<f64> = Self::gaps(scores).into_iter().map(|gap| gap as f64 * rate).collect();
        match self.rule {
            SelectionRule::Exponential => Ok(exponential_probabilities(&gaps)),
            SelectionRule::PermuteAndFlip => Ok(flip_probabilities(&gaps)),
            SelectionRule::ReportNoisyMax => Err(NoiseError::invalid(
                "mechanism",
                "report-noisy-max",
                "give exponential or permute-and-flip: their probabilities have a closed form",
            )),
        }
    }

    /// The ε for which [`shortfall`](Self::shortfall) of the exponential mechanism is `error`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is not positive or `best` is not in 1…candidates.
    pub fn epsilon_for_error(
        sensitivity: Sensitivity,
        error: f64,
        candidates: u64,
        best: u64,
        confidence: Confidence,
    ) -> Result<Epsilon, NoiseError> {
        NoiseError::check_error(error)?;
        if best == 0 || best > candidates {
            return Err(NoiseError::invalid(
                "best",
                best,
                format!("give a number from 1 to candidates = {candidates}"),
            ));
        }
        let logs = ln_up(candidates as f64 / best as f64 / confidence.beta());
        Ok(Epsilon::new(div_up(mul_up(2.0 * sensitivity.get(), logs), error) * (1.0 + 1e-8))?)
    }

    /// Real scores as the integers the draw works on: the nearest points of the grid.
    pub fn points(&self, scores: &[f64]) -> Vec<i128> {
        scores.iter().map(|score| self.grid.round(*score)).collect()
    }

    /// The number of grid steps each score lies below the best.
    fn gaps(scores: &[i128]) -> Vec<u128> {
        let best = scores.iter().copied().max().unwrap_or(0);
        scores.iter().map(|score| best.abs_diff(*score)).collect()
    }

    /// True with probability e^{−ε·gap/(2Δ)} (e^{−ε·gap/Δ} if monotone).
    fn keep(&self, gap: u128, draws: &mut Randomness<'_>) -> bool {
        if gap == 0 {
            return true;
        }
        let factor = if self.monotone { 1 } else { 2 };
        let den = (factor * u128::from(self.moved)) << self.rate.shift;
        match gap.checked_mul(self.rate.numerator) {
            Some(num) => bernoulli_exp(draws, num, den),
            None => big::bernoulli_exp(
                draws,
                &(UBig::from(gap) * UBig::from(self.rate.numerator)),
                &UBig::from(den),
            ),
        }
    }

    fn exponential(&self, gaps: &[u128], draws: &mut Randomness<'_>) -> usize {
        loop {
            let candidate = uniform_below(draws, gaps.len() as u64) as usize;
            if self.keep(gaps[candidate], draws) {
                return candidate;
            }
        }
    }

    fn permute_and_flip(&self, gaps: &[u128], draws: &mut Randomness<'_>) -> usize {
        let mut order: Vec<usize> = (0..gaps.len()).collect();
        for done in 0..order.len() {
            let pick = done + uniform_below(draws, (order.len() - done) as u64) as usize;
            order.swap(done, pick);
            if self.keep(gaps[order[done]], draws) {
                return order[done];
            }
        }
        // Not reached: a candidate with gap 0 is always kept.
        0
    }

    fn report_noisy_max(&self, gaps: &[u128], draws: &mut Randomness<'_>) -> usize {
        let mut best = (0, i128::MIN);
        for (candidate, gap) in gaps.iter().enumerate() {
            // Saturation happens only beyond 2^126 steps; ties go to the first.
            let noisy = self.laplace.sample(draws).saturating_sub(i128::try_from(*gap).unwrap_or(i128::MAX));
            if noisy > best.1 {
                best = (candidate, noisy);
            }
        }
        best.0
    }
}

/// The largest dyadic of 40 significant bits that is at most `value`.
fn dyadic_at_most(value: f64) -> Result<Dyadic, NoiseError> {
    if !(value >= (2f64).powi(-20) && value <= (2f64).powi(20)) {
        return Err(NoiseError::invalid(
            "epsilon",
            value,
            "give a number from 2^-20 to 2^20 for a private choice",
        ));
    }
    let shift = (39 - libm::ilogb(value)) as u32;
    Ok(Dyadic { numerator: libm::scalbn(value, shift as i32).floor() as u128, shift })
}

impl Mechanism for PrivateSelection {
    type Input = [i128];
    type Output = usize;

    fn event(&self) -> Event {
        match self.rule {
            SelectionRule::Exponential => Event::Exponential { epsilon: self.epsilon },
            SelectionRule::PermuteAndFlip | SelectionRule::ReportNoisyMax => {
                Event::Pure { epsilon: self.epsilon }
            }
        }
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::pure(self.epsilon)
    }

    /// The largest change of a score; infinite if lengths differ or monotone scores move both ways.
    fn distance(&self, a: &[i128], b: &[i128]) -> f64 {
        let (up, down) = (a.iter().zip(b).any(|(x, y)| y > x), a.iter().zip(b).any(|(x, y)| y < x));
        if a.len() != b.len() || (self.monotone && up && down) {
            return f64::INFINITY;
        }
        a.iter().zip(b).map(|(x, y)| x.abs_diff(*y)).max().unwrap_or(0) as f64 / self.moved as f64
    }

    /// The index of the chosen candidate; 0 for an empty list.
    fn draw(&self, scores: &[i128], draws: &mut Randomness<'_>) -> usize {
        if scores.is_empty() {
            return 0;
        }
        let gaps = Self::gaps(scores);
        match self.rule {
            SelectionRule::Exponential => self.exponential(&gaps, draws),
            SelectionRule::PermuteAndFlip => self.permute_and_flip(&gaps, draws),
            SelectionRule::ReportNoisyMax => self.report_noisy_max(&gaps, draws),
        }
    }
}
