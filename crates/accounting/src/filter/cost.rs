//! What a plan costs in the currency of each filter.

use crate::amplification::subsampled;
use crate::kind;
use crate::rdp::RdpAccountant;
use crate::{Accountant, AccountingError, CompositionMethod};
use reticent_core::rounding::{add_up, div_up, exp_up, mul_up};
use reticent_core::special::normal_tail_quantile;
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, Plan, SamplingRate};

/// Upper bounds on what an event loses, each infinite where none is known. The last three are about the event apart
/// from its leak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// The probability with which the event may reveal everything.
    pub(crate) leak: f64,
    /// ε of pure differential privacy.
    pub(crate) pure: f64,
    /// μ² of Gaussian differential privacy.
    pub(crate) gaussian: f64,
    /// ρ of zero-concentrated differential privacy.
    pub(crate) concentrated: f64,
}

impl Cost {
    pub(crate) const NONE: Self = Self { leak: 0.0, pure: 0.0, gaussian: 0.0, concentrated: 0.0 };
    pub(crate) const UNKNOWN: Self =
        Self { leak: 0.0, pure: f64::INFINITY, gaussian: f64::INFINITY, concentrated: f64::INFINITY };

    pub(crate) fn of_pure(epsilon: f64) -> Self {
        let mu = gaussian_of_pure(epsilon);
        let (own, square) = (square_up(mu), square_up(epsilon));
        Self { leak: 0.0, pure: epsilon, gaussian: own, concentrated: mul_up(0.5, square) }
    }

    /// The cost of Gaussian noise of this multiplier.
    pub(crate) fn of_noise(noise_multiplier: NoiseMultiplier) -> Self {
        Self::of_gaussian(div_up(1.0, noise_multiplier.get()))
    }

    /// The cost of anything with this μ.
    pub(crate) fn of_gaussian(mu: f64) -> Self {
        let square = square_up(mu);
        Self { gaussian: square, concentrated: mul_up(0.5, square), ..Self::UNKNOWN }
    }

    pub(crate) fn of_claim(claim: Guarantee) -> Self {
        Self { leak: claim.delta.get(), ..Self::of_pure(claim.epsilon.get()) }
    }

    /// The (ε, δ) that it is, if it is one.
    fn claim(&self) -> Option<Guarantee> {
        Some(Guarantee { epsilon: Epsilon::new(self.pure).ok()?, delta: Delta::new(self.leak).ok()? })
    }

    fn each(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            leak: join(self.leak, other.leak),
            pure: join(self.pure, other.pure),
            gaussian: join(self.gaussian, other.gaussian),
            concentrated: join(self.concentrated, other.concentrated),
        }
    }

    pub(crate) fn times(&self, count: u64) -> Self {
        // Above 2^53 the number is rounded to the nearest double.
        let n = (count as f64) * if count > 1 << 53 { 1.0 + f64::EPSILON } else { 1.0 };
        let known = |value: f64| if value == 0.0 { 0.0 } else { mul_up(n, value).min(f64::MAX) };
        self.each(self, |value, _| if value.is_finite() { known(value) } else { value })
    }

    /// What is known of an event.
    pub(crate) fn of(event: &Event, neighboring: Neighboring) -> Result<Self, AccountingError> {
        kind::of(event, |kind| kind.cost(neighboring))
    }

    /// Events in sequence on the same data.
    pub(crate) fn sum(events: &[Event], neighboring: Neighboring) -> Result<Self, AccountingError> {
        events.iter().try_fold(Self::NONE, |sum, event| Ok(sum.each(&Self::of(event, neighboring)?, add_up)))
    }

    /// Amplified by sampling where the event has an (ε, δ).
    pub(crate) fn sampled(&self, rate: SamplingRate) -> Result<Self, AccountingError> {
        match self.claim() {
            Some(claim) => Ok(Self::of_claim(subsampled(claim, rate)?)),
            None => Ok(Self { leak: self.leak, ..Self::UNKNOWN }),
        }
    }

    /// A record is in one part; under replace-one it may leave one and enter another.
    pub(crate) fn parallel(events: &[Event], neighboring: Neighboring) -> Result<Self, AccountingError> {
        let parts: Vec<Self> =
            events.iter().map(|event| Self::of(event, neighboring)).collect::<Result<_, _>>()?;
        let touched = |value: fn(&Self) -> f64| {
            let mut values: Vec<f64> = parts.iter().map(value).collect();
            values.sort_by(|a, b| b.total_cmp(a));
            let most = match neighboring {
                Neighboring::AddRemove => 1,
                Neighboring::ReplaceOne => 2,
            };
            values.into_iter().take(most).fold(0.0, add_up)
        };
        Ok(Self {
            leak: touched(|part| part.leak),
            pure: touched(|part| part.pure),
            gaussian: touched(|part| part.gaussian),
            concentrated: touched(|part| part.concentrated),
        })
    }
}

/// A square that is known, if only to be beyond every limit.
fn square_up(value: f64) -> f64 {
    mul_up(value, value).min(f64::MAX)
}

/// The least μ for which every ε-private mechanism is μ-GDP: 2Φ⁻¹(e^ε/(1 + e^ε)), at most ε√(π/2). Rounded up.
pub(super) fn gaussian_of_pure(epsilon: f64) -> f64 {
    // √(π/2) = 1.2533141373155002…
    let line = mul_up(1.253_314_137_315_501, epsilon);
    if !(0.5..600.0).contains(&epsilon) {
        return line;
    }
    // The quantile is good to 10⁻¹².
    line.min(2.0 * normal_tail_quantile(1.0 / (1.0 + exp_up(epsilon))) * (1.0 + 1e-9))
}

/// A plan as the filters see it.
pub(super) struct Price {
    /// What its events add up to.
    pub(super) cost: Cost,
    /// Its events, to be added up by the tight accountant.
    pub(super) account: Accountant,
    /// The Rényi curve of what does not leak; none where an event has none.
    curve: Option<RdpAccountant>,
    /// Whether it is a single use of a single event.
    pub(super) is_single: bool,
    /// Whether the basic filter takes the events' own sum alone, which is far faster than the tight account.
    pub(super) is_quick: bool,
}

impl Price {
    pub(super) fn new(plan: &Plan, neighboring: Neighboring) -> Result<Self, AccountingError> {
        let mut account = Accountant::new(neighboring, CompositionMethod::Pld);
        plan.events().iter().try_for_each(|event| account.compose(event, 1))?;
        let (mut cost, mut curve) = (Cost::NONE, Some(RdpAccountant::new(neighboring)));
        for (count, event) in account.tally().parts() {
            cost = cost.each(&Cost::of(event, neighboring)?.times(*count), add_up);
            let otherwise = kind::of(event, |kind| kind.apart());
            let kept = otherwise.as_ref().map_or(event, |(_, otherwise)| otherwise);
            let composed = curve.as_mut().map(|curve| curve.compose(kept, *count));
            match composed {
                None | Some(Ok(())) => {}
                Some(Err(AccountingError::Unsupported { .. })) => curve = None,
                Some(Err(error)) => return Err(error),
            }
        }
        let is_single =
            account.tally().parts().iter().map(|(count, _)| *count).fold(0, u64::saturating_add) <= 1;
        Ok(Self { cost, account, curve, is_single, is_quick: false })
    }

    /// D_α of what does not leak; infinite where no bound is known.
    pub(super) fn divergence(&self, order: f64) -> f64 {
        self.curve.as_ref().map_or(f64::INFINITY, |curve| curve.divergence_up(order))
    }

    /// The plain sum of the events' own ε and δ, where each has one.
    pub(super) fn plain(&self) -> Option<Guarantee> {
        self.cost.claim()
    }
}
