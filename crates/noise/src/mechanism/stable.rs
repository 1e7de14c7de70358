//! Counts of labels that are not known beforehand.

use super::{Accuracy, DiscreteLaplace, Mechanism};
use crate::{NoiseError, Randomness};
use reticent_core::rounding::{add_down, div_down, div_up, exp_down, exp_up, mul_up};
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, Neighboring};
use std::collections::BTreeMap;

/// The largest threshold: counts up to here are exact as doubles.
const MOST: u64 = 1 << 53;

/// The labels that occur in the data, each with its count and discrete Laplace noise; a label whose noisy
/// count is below a threshold is not named at all.
///
/// # Guarantee
/// For the counts of two data sets of which one has one row more (add-remove), or of which one row differs
/// (replace-one): (ε, δ), δ being the chance that a row that is the only one of its label betrays that label,
/// rounded up. With [`for_units`](Self::for_units) the same for privacy units that are counted once under each of several labels.
/// Labels come out in the order of their text, and a label without rows never does.
///
/// # Reference
/// Korolova, Kenthapadi, Mishra, Ntoulas, *Releasing search queries and clicks privately* (2009); Bun,
/// Nissim, Stemmer, *Simultaneous private learning of multiple concepts* (2016); Wilson et al., *Differentially Private SQL with
/// Bounded User Contribution* (2020), for several labels. The exact threshold for integer noise is
/// derived in the proof of the [queries](crate::query).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StableHistogram {
    noise: DiscreteLaplace,
    threshold: u64,
    /// How many labels one privacy unit can move.
    labels_moved: u64,
    guarantee: Guarantee,
    /// Whether the event says what is noise and what is the chance of a lone label, or (ε, δ) only.
    is_detailed: bool,
}

impl StableHistogram {
    /// The least noise that gives ε, and the least threshold that gives δ with it.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for ε = 0, δ = 0, or an ε so small that no threshold up to 2⁵³ gives δ.
    pub fn new(neighboring: Neighboring, epsilon: Epsilon, delta: Delta) -> Result<Self, NoiseError> {
        Self::build(1, neighboring, epsilon, delta, false)
    }

    /// The same for privacy units that count once under each of at most `labels` labels, such as people in groups.
    ///
    /// Its event states the noise and the chance of a lone label separately, so accountants compose the noise tightly.
    ///
    /// # Guarantee
    /// For counts of which at most `labels` differ, by one each (add-remove), or twice as many (replace-one): (ε, δ), δ being at
    /// least the chance that any of the labels that only this unit has is named.
    ///
    /// # Reference
    /// The proof of the [queries](crate::query).
    ///
    /// # Errors
    /// As [`new`](Self::new), and for labels outside 1…2³².
    pub fn for_units(
        labels: u64,
        neighboring: Neighboring,
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<Self, NoiseError> {
        if !(1..=1 << 32).contains(&labels) {
            return Err(NoiseError::invalid("groups", labels, "give a whole number from 1 to 2^32"));
        }
        Self::build(labels, neighboring, epsilon, delta, true)
    }

    fn build(
        labels: u64,
        neighboring: Neighboring,
        epsilon: Epsilon,
        delta: Delta,
        is_detailed: bool,
    ) -> Result<Self, NoiseError> {
        if delta.get() <= 0.0 {
            return Err(NoiseError::invalid(
                "delta",
                0,
                "give a delta above 0: with none, labels cannot be found in the data",
            ));
        }
        let labels_moved = match neighboring {
            Neighboring::AddRemove => labels,
            Neighboring::ReplaceOne => 2 * labels,
        };
        let noise = DiscreteLaplace::new(labels_moved, epsilon)?;
        let each = div_down(delta.get(), labels_moved as f64);
        let kept = |threshold: u64| Self::lone_label_up(&noise, threshold);
        if kept(MOST) > each {
            return Err(NoiseError::invalid(
                "epsilon",
                epsilon,
                "give a larger epsilon: no threshold within reach hides a single row at this one",
            ));
        }
        let (mut too_low, mut threshold) = (0, MOST);
        while threshold - too_low > 1 {
            let middle = too_low + (threshold - too_low) / 2;
            *(if kept(middle) <= each { &mut threshold } else { &mut too_low }) = middle;
        }
        let delta = Delta::new(mul_up(labels_moved as f64, kept(threshold)))?;
        let guarantee = Guarantee { epsilon: noise.guarantee().epsilon, delta };
        Ok(Self { noise, threshold, labels_moved, guarantee, is_detailed })
    }

    /// The least noisy count that is released; at least 1.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// P(1 + Z ≥ threshold) = a^(threshold − 1)/(1 + a) with a = e^(−1/scale), rounded up, for a threshold from 1.
    fn lone_label_up(noise: &DiscreteLaplace, threshold: u64) -> f64 {
        let (scale_down, scale_up) = (noise.scale(), noise.scale().next_up());
        let tail = exp_up(div_up(-(threshold.saturating_sub(1) as f64), scale_up));
        div_up(tail, add_down(1.0, exp_down(div_down(-1.0, scale_down)).max(0.0)))
    }
}

impl Accuracy for StableHistogram {
    fn error(&self, confidence: Confidence) -> f64 {
        self.noise.error(confidence)
    }
}

impl Mechanism for StableHistogram {
    type Input = BTreeMap<String, u64>;
    type Output = BTreeMap<String, i128>;

    fn event(&self) -> Event {
        let Guarantee { epsilon, delta } = self.guarantee;
        match Epsilon::new(0.0) {
            Ok(none) if self.is_detailed => Event::Composed {
                events: vec![self.noise.event(), Event::Approximate { epsilon: none, delta }],
            },
            _ => Event::Approximate { epsilon, delta },
        }
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// At most 1 if no label's count moves by more than 1 and no more labels move than one unit can.
    fn distance(&self, a: &BTreeMap<String, u64>, b: &BTreeMap<String, u64>) -> f64 {
        let count = |counts: &BTreeMap<String, u64>, label| counts.get(label).copied().unwrap_or(0);
        let labels = a.keys().chain(b.keys().filter(|label| !a.contains_key(*label)));
        let moves = labels.map(|label| count(a, label).abs_diff(count(b, label)) as f64);
        let (total, largest) = moves.fold((0.0, 0f64), |(total, largest), by| (total + by, largest.max(by)));
        largest.max(total / self.labels_moved as f64)
    }

    fn draw(&self, input: &BTreeMap<String, u64>, draws: &mut Randomness<'_>) -> BTreeMap<String, i128> {
        let present = || input.iter().filter(|(_, count)| **count > 0);
        let counts: Vec<i128> = present().map(|(_, count)| i128::from(*count)).collect();
        let noisy = self.noise.draw(&counts, draws);
        let named = present().zip(noisy).map(|((label, _), noisy)| (label, noisy));
        let kept = named.filter(|(_, noisy)| *noisy >= i128::from(self.threshold));
        kept.map(|(label, noisy)| (label.clone(), noisy)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];

    fn stable(neighboring: Neighboring, epsilon: f64, delta: f64) -> Result<StableHistogram, NoiseError> {
        StableHistogram::new(neighboring, Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap())
    }

    /// P(c + Z = k) for k in a wide window, summed by hand from P(Z = z) = (1 − a)/(1 + a)·a^|z|.
    fn distribution(count: i64, threshold: i64, scale: f64) -> (f64, Vec<f64>) {
        let a = (-1.0 / scale).exp();
        let mass = |k: i64| (1.0 - a) / (1.0 + a) * a.powi((k - count).unsigned_abs() as i32);
        let window = (40.0 * scale) as i64 + 2;
        let kept: Vec<f64> = (threshold..threshold.max(count) + window).map(mass).collect();
        (1.0 - kept.iter().sum::<f64>(), kept)
    }

    /// The largest P(S) − e^ε·Q(S), both ways round, of two such distributions.
    fn hockey_stick(a: &(f64, Vec<f64>), b: &(f64, Vec<f64>), epsilon: f64) -> f64 {
        let pad = |p: &(f64, Vec<f64>), k: usize| p.1.get(k).copied().unwrap_or(0.0);
        let gap = |p: &(f64, Vec<f64>), q: &(f64, Vec<f64>)| {
            let kept = (0..p.1.len()).map(|k| (pad(p, k) - epsilon.exp() * pad(q, k)).max(0.0));
            (p.0 - epsilon.exp() * q.0).max(0.0) + kept.sum::<f64>()
        };
        gap(a, b).max(gap(b, a))
    }

    #[test]
    fn the_threshold_is_the_least_that_hides_a_lone_label() {
        for neighboring in BOTH {
            for epsilon in [0.01, 0.1, 0.5, 1.0, 3.0, 20.0] {
                for delta in [0.3, 1e-2, 1e-6, 1e-12, 1e-300] {
                    let mechanism = stable(neighboring, epsilon, delta).unwrap();
                    let units = if neighboring == Neighboring::AddRemove { 1.0 } else { 2.0 };
                    let a = libm::exp(-epsilon / units);
                    let exact = |t: u64| units * a.powf(t as f64 - 1.0) / (1.0 + a);
                    let t = mechanism.threshold();
                    let claimed = mechanism.guarantee().delta.get();
                    assert!(exact(t) <= claimed * (1.0 + 1e-9) && claimed <= delta, "{epsilon} {delta}");
                    assert!((claimed / exact(t) - 1.0).abs() < 1e-9, "{claimed} {}", exact(t));
                    assert!(
                        t == 1 || exact(t - 1) > delta * (1.0 - 1e-9),
                        "{epsilon} {delta}: {t} is too high"
                    );
                    assert!(mechanism.guarantee().epsilon.get() <= epsilon);
                }
            }
        }
    }

    #[test]
    fn known_thresholds() {
        // a = 1/e: P(Z ≥ T − 1) = e^(1 − T)/(1 + 1/e) ≤ 10⁻⁶ first at T − 1 = 14.
        assert_eq!(stable(Neighboring::AddRemove, 1.0, 1e-6).unwrap().threshold(), 15);
        // a = 1/2 at ε = ln 2: 2^(1 − T)/1.5 ≤ 1/12 first at T − 1 = 3, where it is equal; 0.0833 is just below it.
        assert_eq!(stable(Neighboring::AddRemove, 2f64.ln(), 0.084).unwrap().threshold(), 4);
        assert_eq!(stable(Neighboring::AddRemove, 2f64.ln(), 0.0833).unwrap().threshold(), 5);
        assert_eq!(stable(Neighboring::AddRemove, 1.0, 0.9).unwrap().threshold(), 1);
    }

    #[test]
    fn neighbours_are_as_close_as_claimed_and_a_lower_threshold_is_caught() {
        for (epsilon, delta) in [(0.5, 1e-2), (1.0, 1e-4), (2.0, 1e-3), (0.2, 0.05)] {
            let mechanism = stable(Neighboring::AddRemove, epsilon, delta).unwrap();
            let (scale, t) = (mechanism.noise.scale(), mechanism.threshold() as i64);
            let claim = mechanism.guarantee();
            let absent = (1.0, Vec::new());
            let spent = |threshold: i64, more: i64| {
                let with = distribution(more, threshold, scale);
                let fewer = more - 1;
                let without = if fewer == 0 { absent.clone() } else { distribution(fewer, threshold, scale) };
                hockey_stick(&with, &without, claim.epsilon.get())
            };
            for more in 1..=t + 5 {
                assert!(spent(t, more) <= claim.delta.get() + 1e-12, "{epsilon} {delta}: count {more}");
            }
            // Where a count was there before, nothing is left of δ.
            assert!((2..=t + 5).all(|more| spent(t, more) < 1e-12));
            // The twin whose threshold is one too small loses more than was asked for.
            assert!(spent(t - 1, 1) > delta, "{epsilon} {delta}: the twin is not caught");
        }
    }

    /// Every outcome of one label with its probability on both sides: not named, or named with a count.
    fn outcomes(with: i64, without: i64, threshold: i64, scale: f64) -> Vec<(f64, f64)> {
        let side = |count: i64| {
            if count == 0 { (1.0, Vec::new()) } else { distribution(count, threshold, scale) }
        };
        let (a, b) = (side(with), side(without));
        let pad = |p: &(f64, Vec<f64>), k: usize| p.1.get(k).copied().unwrap_or(0.0);
        let mut all = vec![(a.0, b.0)];
        all.extend((0..a.1.len().max(b.1.len())).map(|k| (pad(&a, k), pad(&b, k))));
        all.retain(|(p, q)| p + q > 1e-15);
        all
    }

    /// The largest P(S) − e^ε·Q(S) over events of independent labels, both ways round.
    fn product_hockey_stick(labels: &[Vec<(f64, f64)>], epsilon: f64) -> f64 {
        let mut joint = vec![(1.0, 1.0)];
        for label in labels {
            joint = joint.iter().flat_map(|(p, q)| label.iter().map(move |(a, b)| (p * a, q * b))).collect();
        }
        let gap = |flip: bool| -> f64 {
            let sides = joint.iter().map(|(p, q)| if flip { (*q, *p) } else { (*p, *q) });
            sides.map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
        };
        gap(false).max(gap(true))
    }

    #[test]
    fn several_labels_are_as_close_as_claimed_and_broken_twins_are_caught() {
        for (labels, epsilon, delta) in
            [(1, 1.0, 1e-2), (2, 1.0, 1e-2), (2, 3.0, 1e-4), (3, 3.0, 0.05), (3, 6.0, 1e-3)]
        {
            let claimed = |neighboring| {
                let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
                StableHistogram::for_units(labels, neighboring, epsilon, delta).unwrap()
            };
            let mechanism = claimed(Neighboring::AddRemove);
            let (scale, t) = (mechanism.noise.scale(), mechanism.threshold() as i64);
            let Guarantee { epsilon: own, delta: claim } = mechanism.guarantee();
            assert!(own.get() <= epsilon && claim.get() <= delta);
            // One more row under a label that had 0 (nobody), 1, or about as many as the threshold.
            let before = [0, 1, t - 1, t];
            let kinds = |threshold: i64| before.map(|count| outcomes(count + 1, count, threshold, scale));
            let ours = kinds(t);
            let mut mixes = vec![vec![]];
            for _ in 0..labels {
                mixes = mixes
                    .into_iter()
                    .flat_map(|mix: Vec<usize>| {
                        (0..before.len()).map(move |kind| [mix.clone(), vec![kind]].concat())
                    })
                    .filter(|mix| mix.is_sorted())
                    .collect();
            }
            let noise_alone = |epsilon: f64| {
                let window = (45.0 * scale) as i64;
                let a = (-1.0 / scale).exp();
                let mass = |k: i64| (1.0 - a) / (1.0 + a) * a.powi(k.unsigned_abs() as i32);
                let moved = labels as i64;
                (-window..window).map(|k| (mass(k) - epsilon.exp() * mass(k - moved)).max(0.0)).sum::<f64>()
            };
            for mix in &mixes {
                let product: Vec<Vec<(f64, f64)>> = mix.iter().map(|kind| ours[*kind].clone()).collect();
                assert!(product_hockey_stick(&product, own.get()) <= claim.get() + 1e-11, "{labels} {mix:?}");
                // The event says more: noise on `labels` numbers, then (0, δ).
                for share in [0.0, 0.25, 0.5, 0.75] {
                    let smaller = own.get() * share;
                    let event = claim.get() + (1.0 - claim.get()) * noise_alone(smaller);
                    assert!(
                        product_hockey_stick(&product, smaller) <= event + 1e-11,
                        "{labels} {mix:?} {share}"
                    );
                }
            }
            // Twins: a threshold one too low, and the noise and threshold of a single label.
            let lone = |threshold: i64, scale: f64| vec![outcomes(1, 0, threshold, scale); labels as usize];
            let lowered = product_hockey_stick(&lone(t - 1, scale), own.get());
            assert!(lowered > delta * (1.0 - delta), "{labels}: {lowered}");
            if labels > 1 {
                let single = stable(Neighboring::AddRemove, epsilon, delta).unwrap();
                let (scale, t) = (single.noise.scale(), single.threshold() as i64);
                let seen = vec![outcomes(t + 1, t, t, scale); labels as usize];
                assert!(product_hockey_stick(&seen, own.get()) > delta, "{labels}: the noise of one label");
            }
            // The threshold that hides one lone label, but not as many as a unit has.
            let a = (-1.0 / scale).exp();
            if labels as f64 * a > 1.2 {
                let single = (1..).find(|t| a.powi(t - 1) / (1.0 + a) <= delta).unwrap_or(1);
                let seen = product_hockey_stick(&lone(i64::from(single), scale), own.get());
                assert!(seen > delta, "{labels}: {seen}");
            }
            // Replaced: each label of the unit is left, and as many others are entered.
            let replaced = claimed(Neighboring::ReplaceOne);
            if labels == 1 {
                let (scale, t) = (replaced.noise.scale(), replaced.threshold() as i64);
                for (left, entered) in [(0, 0), (0, 1), (1, 1), (t - 1, t)] {
                    let product =
                        [outcomes(left + 1, left, t, scale), outcomes(entered, entered + 1, t, scale)];
                    let claim = replaced.guarantee();
                    assert!(
                        product_hockey_stick(&product, claim.epsilon.get()) <= claim.delta.get() + 1e-11,
                        "{left} {entered}"
                    );
                }
            }
        }
    }

    #[test]
    fn events_of_units_state_noise_and_chance() {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let one = StableHistogram::new(Neighboring::AddRemove, epsilon, delta).unwrap();
        let units = StableHistogram::for_units(1, Neighboring::AddRemove, epsilon, delta).unwrap();
        assert_eq!((one.threshold(), one.guarantee()), (units.threshold(), units.guarantee()));
        let Event::Composed { events } = units.event() else { panic!("{:?}", units.event()) };
        assert_eq!(events[0], DiscreteLaplace::new(1, epsilon).unwrap().event());
        assert!(matches!(one.event(), Event::Approximate { .. }));
        assert!(StableHistogram::for_units(0, Neighboring::AddRemove, epsilon, delta).is_err());
    }

    #[test]
    fn only_labels_with_rows_come_out_and_in_order() {
        let mut session = crate::NoiseSession::without_limit("row", Neighboring::AddRemove).unwrap();
        for neighboring in BOTH {
            let mechanism = stable(neighboring, 1.0, 1e-6).unwrap();
            assert!(session.release(&mechanism, &BTreeMap::new()).unwrap().value.is_empty());
            let counts = [("b", 100_000), ("a", 100_000), ("rare", 1), ("none", 0)];
            let counts: BTreeMap<String, u64> = counts.map(|(label, n)| (label.to_owned(), n)).into();
            let out = session.release(&mechanism, &counts).unwrap().value;
            // A hundred thousand rows go missing with probability below e^(−49000).
            let frequent: Vec<&str> =
                out.keys().map(String::as_str).filter(|label| *label != "rare").collect();
            assert_eq!(frequent, ["a", "b"]);
            assert!(out.values().all(|count| *count >= i128::from(mechanism.threshold())));
        }
        // The threshold is 1: noise on a label without rows would reach it every other time.
        let zero = BTreeMap::from([("none".to_owned(), 0)]);
        let eager = stable(Neighboring::AddRemove, 0.1, 0.9).unwrap();
        assert!((0..200).all(|_| session.release(&eager, &zero).unwrap().value.is_empty()));
    }

    #[test]
    fn distances_are_in_rows() {
        let counts = |list: &[(&str, u64)]| list.iter().map(|(l, n)| ((*l).to_owned(), *n)).collect();
        let (a, b): (BTreeMap<_, _>, BTreeMap<_, _>) = (counts(&[("x", 3)]), counts(&[("x", 2), ("y", 1)]));
        let by = |neighboring, a: &BTreeMap<_, _>, b: &BTreeMap<_, _>| {
            stable(neighboring, 1.0, 1e-6).unwrap().distance(a, b)
        };
        assert_eq!(by(Neighboring::AddRemove, &a, &b), 2.0);
        assert_eq!(by(Neighboring::ReplaceOne, &a, &b), 1.0);
        assert_eq!(by(Neighboring::ReplaceOne, &b, &a), 1.0);
        assert_eq!(by(Neighboring::ReplaceOne, &a, &counts(&[("x", 1)])), 2.0);
        assert_eq!(by(Neighboring::AddRemove, &a, &counts(&[("x", 3), ("y", 0)])), 0.0);
    }

    #[test]
    fn bad_parameters_name_the_field() {
        for (epsilon, delta, field) in [(1.0, 0.0, "delta"), (0.0, 0.1, "epsilon"), (1e-15, 1e-9, "epsilon")]
        {
            let message = stable(Neighboring::AddRemove, epsilon, delta).unwrap_err().to_string();
            assert!(message.starts_with(field), "{message}");
        }
    }
}
