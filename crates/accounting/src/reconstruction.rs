//! How often a record, or an attribute of one, can be recovered from a release.
#![doc = include_str!("reconstruction.md")]

use crate::account::Profile;
use crate::tight::Direction;
use crate::tradeoff::{PowerLine, either_way, line, power};
use crate::{Accountant, AccountingError};
use reticent_core::{Neighboring, Probability};

/// Slopes of the lines that outline a curve: ε from −20 to 20.
const OUTLINED: i32 = 40;

/// What an account says about attacks that recover a record or an attribute, ready for many questions.
pub struct ReconstructionBound {
    profile: Profile,
    neighboring: Neighboring,
}

impl ReconstructionBound {
    /// The bound that follows from an account.
    ///
    /// # Errors
    /// As [`Accountant::delta`].
    pub fn of(accountant: &Accountant) -> Result<Self, AccountingError> {
        Ok(Self { profile: accountant.profile()?, neighboring: accountant.neighboring() })
    }

    /// The largest probability of success against the release, rounded up, of an attack that succeeds with probability `prior`
    /// against a release without the record: 1 − f(prior).
    ///
    /// # Guarantee
    /// For every attacker, also one who knows all other records and the mechanism, and every rule of what counts as success
    /// that is fixed beforehand. `prior` is that of the same attack against a release without the record (add-remove), or with a record
    /// in its place that does not depend on it (replace-one); it is not the rate of anything in a population. Rounded up, also
    /// for the smallest priors.
    ///
    /// # Reference
    /// Hayes, Mahloujifar, Balle, *Bounding training data reconstruction in DP-SGD* (2023), theorem 2; the proof is above.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] never, for a checked prior.
    pub fn success(&self, prior: Probability) -> Result<f64, AccountingError> {
        match self.neighboring {
            Neighboring::AddRemove => power(&self.profile, prior.get(), Direction::Remove),
            Neighboring::ReplaceOne => either_way(&self.profile, prior.get()),
        }
    }

    /// The most that the record can add to the probability of success, whatever the prior: the total variation distance, rounded
    /// up. It bounds the advantage of attribute inference.
    ///
    /// # Guarantee
    /// As [`success`](Self::success), for all priors at once.
    ///
    /// # Reference
    /// Yeom, Giacomelli, Fredrikson, Jha, *Privacy risk in machine learning* (2018), for the advantage.
    ///
    /// # Errors
    /// As [`success`](Self::success).
    pub fn advantage(&self) -> Result<f64, AccountingError> {
        Ok(line(&self.profile, 0.0, Direction::Remove)?.at(0.0))
    }

    /// Bounds at many priors, for drawing: minima of the same lines for all of them, so at most a little above
    /// [`success`](Self::success).
    ///
    /// # Errors
    /// As [`success`](Self::success).
    pub fn curve(&self, priors: &[f64]) -> Result<Vec<f64>, AccountingError> {
        let mut sides = vec![self.outline(Direction::Remove)?];
        if self.neighboring == Neighboring::ReplaceOne && !self.profile.is_symmetric() {
            sides.push(self.outline(Direction::Add)?);
        }
        let at = |prior: &f64| {
            let lowest =
                |lines: &Vec<PowerLine>| lines.iter().map(|line| line.at(*prior)).fold(1.0, f64::min);
            sides.iter().map(lowest).fold(0.0, f64::max)
        };
        Ok(priors.iter().map(at).collect())
    }

    fn outline(&self, direction: Direction) -> Result<Vec<PowerLine>, AccountingError> {
        (-OUTLINED..=OUTLINED)
            .map(|step| {
                // Close together around 0, where lines differ most.
                let place = f64::from(step) / f64::from(OUTLINED);
                line(&self.profile, 20.0 * place * place.abs(), direction)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CompositionMethod;
    use reticent_core::{Delta, Epsilon, Event, NoiseMultiplier, SamplingRate};

    fn gaussian(noise_multiplier: f64) -> Event {
        Event::Gaussian { noise_multiplier: NoiseMultiplier::new(noise_multiplier).unwrap() }
    }

    fn sampled(rate: f64, noise_multiplier: f64) -> Event {
        let event = Box::new(gaussian(noise_multiplier));
        Event::PoissonSampled { rate: SamplingRate::new(rate).unwrap(), event }
    }

    fn account(event: &Event, count: u64, neighboring: Neighboring) -> Accountant {
        let mut account = Accountant::new(neighboring, CompositionMethod::Pld);
        account.compose(event, count).unwrap();
        account
    }

    fn bound(event: &Event, count: u64) -> ReconstructionBound {
        ReconstructionBound::of(&account(event, count, Neighboring::AddRemove)).unwrap()
    }

    fn success(bound: &ReconstructionBound, prior: f64) -> f64 {
        bound.success(Probability::new(prior).unwrap()).unwrap()
    }

    #[track_caller]
    fn just_above(value: f64, exact: f64, relative: f64) {
        assert!(value >= exact && value <= exact * (1.0 + relative), "{value:e} for {exact:e}");
    }

    /// Exact values by mpmath with 40 digits: Φ(Φ⁻¹(κ) + 1/σ).
    #[test]
    fn a_gaussian_release_has_its_closed_form() {
        for (sigma, prior, exact) in [
            (1.0, 0.01, 0.092_362_248_073_693_94),
            (5.0, 1e-9, 3.3593852086105876e-9),
            (1.0 / 3.0, 0.5, 0.998_650_101_968_369_9),
            (2.0, 1e-30, 2.8455417397536687e-28),
        ] {
            just_above(success(&bound(&gaussian(sigma), 1), prior), exact, 1e-7);
        }
    }

    /// Exact values by mpmath: one step is (1 − q)κ + qΦ(Φ⁻¹(κ) + 1/σ), two steps an integral over the first.
    #[test]
    fn sampled_steps_are_bounded_tightly_with_absence_as_null_hypothesis() {
        for (rate, sigma, steps, prior, exact, other) in [
            (0.1, 0.5, 1, 0.01, 0.046_208_058_543_549_43, Some(0.011110103095152092)),
            (0.01, 1.0, 1, 1e-6, 1.862176101403892e-6, Some(1.0100563098555617e-6)),
            (0.3, 2.0, 1, 0.25, 0.304_222_087_804_569, Some(0.29352312368709376)),
            (0.1, 0.5, 2, 0.01, 0.065269650104986, None),
            (0.2, 1.0, 2, 0.001, 0.0057718103122645, None),
        ] {
            let bound = bound(&sampled(rate, sigma), steps);
            just_above(success(&bound, prior), exact, 1e-5);
            // The broken twin with presence as null hypothesis promises too much.
            let twin = power(&bound.profile, prior, Direction::Add).unwrap();
            assert!(twin < exact, "{twin}");
            if let Some(other) = other {
                just_above(twin, other, 1e-5);
            }
        }
    }

    #[test]
    fn pure_and_approximate_claims_give_their_lines() {
        let pure = Event::Pure { epsilon: Epsilon::new(1.0).unwrap() };
        just_above(success(&bound(&pure, 1), 0.01), 0.01f64 * 1f64.exp(), 1e-6);
        just_above(success(&bound(&pure, 1), 0.9), 1.0 - 0.1 / 1f64.exp(), 1e-6);
        let claim =
            Event::Approximate { epsilon: Epsilon::new(1.0).unwrap(), delta: Delta::new(1e-3).unwrap() };
        just_above(success(&bound(&claim, 1), 0.0), 1e-3, 1e-6);
        for event in [&pure, &claim] {
            assert_eq!(success(&bound(event, 1), 1.0), 1.0);
        }
    }

    #[test]
    fn the_advantage_is_the_largest_over_all_priors() {
        for (event, count) in [(gaussian(1.0), 1), (sampled(0.1, 0.5), 1)] {
            let bound = bound(&event, count);
            let most = bound.advantage().unwrap();
            let priors: Vec<f64> = (0..=24).map(|step| f64::from(step) / 24.0).collect();
            let over: Vec<f64> = priors.iter().map(|prior| success(&bound, *prior) - prior).collect();
            let largest = over.iter().copied().fold(0.0, f64::max);
            assert!(largest <= most + 1e-12 && largest > most - 2e-2, "{largest} {most}");
            // The drawn curve is never below the bound, and close.
            for (drawn, (prior, gain)) in bound.curve(&priors).unwrap().iter().zip(priors.iter().zip(&over)) {
                assert!(*drawn >= prior + gain - 1e-12 && *drawn < prior + gain + 1e-2, "{prior}: {drawn}");
            }
        }
    }

    #[test]
    fn replacing_a_record_is_bounded_whichever_record_is_the_null_hypothesis() {
        let event = sampled(0.1, 0.5);
        let replaced = account(&event, 1, Neighboring::ReplaceOne);
        let bound = ReconstructionBound::of(&replaced).unwrap();
        for prior in [1e-6, 0.01, 0.3] {
            let both =
                [Direction::Remove, Direction::Add].map(|way| power(&bound.profile, prior, way).unwrap());
            assert_eq!(success(&bound, prior), both[0].max(both[1]));
        }
    }
}
