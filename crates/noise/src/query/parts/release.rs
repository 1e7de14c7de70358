//! Noise for the sums of all groups at once.

use super::limits::{ContributionLimits, PartSensitivity};
use super::part::Part;
use crate::mechanism::{Accuracy, DiscreteLaplace, IntegerGaussian, Mechanism};
use crate::query::NoiseKind;
use crate::{NoiseError, Randomness, Releaser};
use reticent_core::{
    Confidence, Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, Sensitivity,
};

/// The δ at which the guarantee of Gaussian noise is stated; accountants use the event.
const STATED_DELTA: f64 = 1e-6;

/// The noise of a part, by what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PartNoise {
    /// Discrete Laplace noise of scale ℓ1 sensitivity / ε.
    Laplace {
        /// The ε.
        epsilon: Epsilon,
    },
    /// Gaussian noise of σ = noise multiplier · ℓ2 sensitivity.
    Gaussian {
        /// σ / ℓ2 sensitivity.
        noise_multiplier: NoiseMultiplier,
    },
}

impl PartNoise {
    /// Its kind.
    pub fn kind(&self) -> NoiseKind {
        match self {
            Self::Laplace { .. } => NoiseKind::Laplace,
            Self::Gaussian { .. } => NoiseKind::Gaussian,
        }
    }
}

/// The noise that was worked out for a part, its limits and a number of groups: what it costs and how far it errs, before anything
/// is read.
///
/// # Guarantee
/// For sums of `groups` groups whose units keep to the limits, under the neighbouring relation: the event, and (ε, δ) rounded up
/// (Gaussian noise: at δ = 10⁻⁶, with the share of the normal sampler). One event covers all groups: a unit's groups are in the
/// sensitivity.
///
/// # Reference
/// The proof of the parts; [`DiscreteLaplace`] and [`IntegerGaussian`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartMechanism {
    law: Law,
    noise: PartNoise,
    sensitivity: PartSensitivity,
    numbers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Law {
    Laplace(DiscreteLaplace),
    Gaussian(IntegerGaussian),
}

impl PartMechanism {
    /// Noise for the sums of `groups` groups.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there are no groups, the ℓ1 sensitivity is beyond 2⁵³ with Laplace noise, or the noise does not
    /// fit its grid.
    pub fn new(
        part: &Part,
        limits: &ContributionLimits,
        neighboring: Neighboring,
        noise: &PartNoise,
        groups: usize,
    ) -> Result<Self, NoiseError> {
        part.check()?;
        let numbers = groups.checked_mul(part.width()).filter(|numbers| (1..=1 << 32).contains(numbers));
        let numbers = numbers.ok_or_else(|| {
            NoiseError::invalid("groups", groups, "give at least one group, and at most 2^32 numbers in all")
        })?;
        let sensitivity = part.sensitivity(limits, neighboring, groups as u64)?;
        let law = match noise {
            PartNoise::Laplace { epsilon } => {
                if sensitivity.l1 > 1 << 53 {
                    return Err(NoiseError::invalid(
                        "rows_per_group",
                        limits.rows_per_group(),
                        "lower the limits or use Gaussian noise: the sensitivity is beyond 2^53",
                    ));
                }
                Law::Laplace(DiscreteLaplace::new(sensitivity.l1, *epsilon)?)
            }
            PartNoise::Gaussian { noise_multiplier } => {
                Law::Gaussian(IntegerGaussian::with_noise_multiplier(
                    Sensitivity::new(sensitivity.l2)?,
                    *noise_multiplier,
                    Delta::new(STATED_DELTA)?,
                    numbers,
                )?)
            }
        };
        Ok(Self { law, noise: *noise, sensitivity, numbers })
    }

    /// How far one unit moves the sums.
    pub fn sensitivity(&self) -> PartSensitivity {
        self.sensitivity
    }

    /// How many numbers are released.
    pub fn numbers(&self) -> usize {
        self.numbers
    }

    /// What the normal sampler adds to δ at this ε: 0 for Laplace noise. Claims that are computed from the event add it.
    pub fn sampler_delta_up(&self, epsilon: Epsilon) -> f64 {
        match self.law {
            Law::Laplace(_) => 0.0,
            Law::Gaussian(_) => crate::mechanism::sampler_delta_up(epsilon.get(), self.numbers),
        }
    }

    pub(super) fn law(&self) -> &Law {
        &self.law
    }
}

impl Accuracy for PartMechanism {
    fn error(&self, confidence: Confidence) -> f64 {
        match &self.law {
            Law::Laplace(noise) => noise.error(confidence),
            Law::Gaussian(noise) => noise.error(confidence),
        }
    }
}

impl Mechanism for PartMechanism {
    type Input = [i128];
    type Output = Vec<i128>;

    /// For Gaussian noise that of the multiplier that was asked for: what rounding to the grid adds to it depends on how many
    /// numbers are released, and the event does not.
    fn event(&self) -> Event {
        match (&self.law, self.noise) {
            (Law::Gaussian(_), PartNoise::Gaussian { noise_multiplier }) => {
                Event::Gaussian { noise_multiplier }
            }
            (Law::Gaussian(noise), PartNoise::Laplace { .. }) => noise.event(),
            (Law::Laplace(noise), _) => noise.event(),
        }
    }

    fn guarantee(&self) -> Guarantee {
        match &self.law {
            Law::Laplace(noise) => noise.guarantee(),
            Law::Gaussian(noise) => noise.guarantee(),
        }
    }

    fn distance(&self, a: &[i128], b: &[i128]) -> f64 {
        match &self.law {
            _ if a.len() != self.numbers => f64::INFINITY,
            Law::Laplace(noise) => noise.distance(a, b),
            Law::Gaussian(noise) => noise.distance(a, b),
        }
    }

    fn draw(&self, input: &[i128], draws: &mut Randomness<'_>) -> Vec<i128> {
        match &self.law {
            Law::Laplace(noise) => noise.draw(input, draws),
            Law::Gaussian(noise) => noise.draw(input, draws),
        }
    }
}

/// Sums of a part with noise, group after group; the figures of each group are computed from it.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyPart {
    part: Part,
    values: Vec<i128>,
    mechanism: PartMechanism,
}

impl NoisyPart {
    /// Sums as if this noise had been added to them already, for previews of public or made-up sums and for tests.
    ///
    /// # Guarantee
    /// None: no noise is added.
    ///
    /// # Reference
    /// [`release_part`] for sums about people.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless there are as many sums as the noise is for.
    pub fn without_noise(part: &Part, mechanism: PartMechanism, sums: Vec<i128>) -> Result<Self, NoiseError> {
        if sums.len() != mechanism.numbers
            || part.check().is_err()
            || !sums.len().is_multiple_of(part.width())
        {
            return Err(NoiseError::invalid(
                "sums",
                sums.len(),
                format!("give {} numbers", mechanism.numbers),
            ));
        }
        Ok(Self { part: part.clone(), values: sums, mechanism })
    }

    /// The part.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.values.len() / self.part.width().max(1)
    }

    /// All noisy sums, group after group.
    pub fn values(&self) -> &[i128] {
        &self.values
    }

    /// The noisy sums of one group; none for a group that is not there.
    pub fn group(&self, group: usize) -> &[i128] {
        let width = self.part.width();
        self.values.get(group * width..(group + 1) * width).unwrap_or(&[])
    }

    /// The noise.
    pub fn mechanism(&self) -> &PartMechanism {
        &self.mechanism
    }

    /// The error that one number exceeds with probability at most 1 − confidence, rounded up, in the units of the sums.
    pub fn error(&self, confidence: Confidence) -> f64 {
        self.mechanism.error(confidence)
    }

    /// What was charged.
    pub fn event(&self) -> Event {
        self.mechanism.event()
    }

    /// What it adds up to by itself.
    pub fn guarantee(&self) -> Guarantee {
        self.mechanism.guarantee()
    }
}

/// Adds noise to the sums of a part, all groups as one release.
///
/// `sums` are the [settled](Part::settled) sums, group after group.
///
/// # Guarantee
/// That of [`PartMechanism`].
///
/// # Reference
/// The proof of the parts.
///
/// # Errors
/// [`NoiseError::Invalid`] when the sums are not those of whole groups or the noise does not fit; [`NoiseError::Unpaid`] and what
/// charging refuses.
pub fn release_part(
    source: &mut impl Releaser,
    part: &Part,
    limits: &ContributionLimits,
    neighboring: Neighboring,
    noise: &PartNoise,
    sums: &[i128],
) -> Result<NoisyPart, NoiseError> {
    part.check()?;
    let width = part.width();
    if !sums.len().is_multiple_of(width) {
        return Err(NoiseError::invalid("sums", sums.len(), format!("give {width} numbers for each group")));
    }
    let mechanism = PartMechanism::new(part, limits, neighboring, noise, sums.len() / width)?;
    NoiseError::check_relation(source.neighboring(), neighboring)?;
    let released = source.release(&mechanism, sums)?;
    Ok(NoisyPart { part: part.clone(), values: released.value, mechanism })
}
