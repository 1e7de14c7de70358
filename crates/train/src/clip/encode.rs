//! Gradients encoded by rank: the magnitudes of what a unit adds, sorted from the largest, stay below a public profile.

use crate::TrainError;
use crate::native::factored::squared;
use reticent_core::rounding::{add_up, mul_up, sqrt_up};
use reticent_core::special::normal_tail_quantile;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Levels of a profile that is made here.
const LEVELS: u64 = 16;

/// Levels that a profile may have at most: the accountant's cost grows with them.
const MOST_LEVELS: usize = 64;

/// Coordinates that a profile may have at most: places are numbers of 32 bits.
const MOST_COORDINATES: u64 = 1_000_000_000;

/// A public bound on the sorted magnitudes of a vector, as a staircase: the `counts[0]` largest are at most `levels[0]`, the next
/// `counts[1]` at most `levels[1]` and so on, and all others are 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MagnitudeProfile {
    levels: Vec<f64>,
    counts: Vec<u64>,
}

impl MagnitudeProfile {
    /// A profile with these levels, from the largest.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] unless there are 1 to 64 levels that fall strictly, each above 0 and with a count of at least 1.
    pub fn new(levels: Vec<f64>, counts: Vec<u64>) -> Result<Self, TrainError> {
        let profile = Self { levels, counts };
        profile.check()?;
        Ok(profile)
    }

    /// The shape of `dimension` normal numbers, sorted by magnitude: the share of them that is `kept`, with this ℓ2 norm. Its at most
    /// 16 levels are equally spaced, and each is the largest magnitude of its step.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for no dimension or more than 10⁹, a share outside (0, 1], or a norm that is not above 0.
    pub fn half_normal(dimension: usize, kept: f64, norm: f64) -> Result<Self, TrainError> {
        if dimension == 0 || dimension as u64 > MOST_COORDINATES {
            return Err(TrainError::invalid("dimension", dimension, "train 1 to 1e9 weights"));
        }
        if !(kept > 0.0 && kept <= 1.0) {
            return Err(TrainError::invalid("kept_share", kept, "give a share above 0 and at most 1"));
        }
        if !(norm > 0.0 && norm.is_finite()) {
            return Err(TrainError::invalid("clip", norm, "give a number above 0"));
        }
        let count = ((kept * dimension as f64).ceil() as u64).clamp(1, dimension as u64);
        // The expected place of the magnitude with this rank, from 1.
        let magnitude = |rank: u64| normal_tail_quantile((rank as f64 - 0.5) / (2.0 * dimension as f64));
        let (top, low) = (magnitude(1), magnitude(count));
        let mut starts: Vec<u64> = (0..LEVELS)
            .map(|step| {
                let goal = top - (top - low) * step as f64 / LEVELS as f64;
                first_at_most(count, |rank| magnitude(rank) <= goal)
            })
            .collect();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([count + 1]);
        let counts: Vec<u64> = starts.iter().zip(ends).map(|(start, end)| end - start).collect();
        let levels: Vec<f64> = starts.iter().map(|start| magnitude(*start)).collect();
        let whole = Self { levels, counts };
        let scale = norm / whole.norm_up() * (1.0 - 1e-12);
        Self::new(whole.levels.iter().map(|level| level * scale).collect(), whole.counts)
    }

    /// Checks the levels and counts.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(&self) -> Result<(), TrainError> {
        let refuse = |value: String, remedy: &str| Err(TrainError::invalid("profile", value, remedy));
        if self.levels.is_empty() || self.levels.len() > MOST_LEVELS || self.levels.len() != self.counts.len()
        {
            let given = format!("{} levels and {} counts", self.levels.len(), self.counts.len());
            return refuse(given, "give 1 to 64 levels and as many counts");
        }
        if let Some(odd) = self.levels.iter().find(|level| !(1e-30..=1e30).contains(*level)) {
            return refuse(odd.to_string(), "give levels from 1e-30 to 1e30");
        }
        if let Some(pair) = self.levels.windows(2).find(|pair| pair[0] <= pair[1]) {
            return refuse(pair[1].to_string(), "give each level once, from the largest");
        }
        if self.counts.contains(&0) || self.kept() > MOST_COORDINATES {
            return refuse(
                format!("{} coordinates", self.kept()),
                "give counts of at least 1, at most 1e9 in all",
            );
        }
        Ok(())
    }

    /// The magnitudes, from the largest.
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// How many coordinates have each of them.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Coordinates that may differ from 0.
    pub fn kept(&self) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// The ℓ2 norm of a vector that reaches the profile everywhere, rounded up.
    pub fn norm_up(&self) -> f64 {
        let squares = self
            .levels
            .iter()
            .zip(&self.counts)
            .map(|(level, count)| mul_up(mul_up(*level, *level), *count as f64));
        sqrt_up(squares.fold(0.0, add_up))
    }

    /// The largest magnitude in single precision, rounded down.
    pub fn largest_down(&self) -> f32 {
        self.levels.first().map_or(0.0, |level| down(*level))
    }

    /// Encodes a unit's vector in place: all but the [`kept`](Self::kept) largest magnitudes become 0, what is left is shortened to
    /// the norm where it is longer, multiplied by the gain and cut to the profile, rank by rank. A vector with a number that is not
    /// finite becomes 0. `keys` is working space.
    ///
    /// # Guarantee
    /// The sorted magnitudes of the result are at most those of the profile, as numbers in the machine and whatever the vector held.
    ///
    /// # Reference
    /// Nasr, Shokri, Houmansadr, *Improving deep learning with differential privacy using gradient encoding and denoising* (2020).
    pub(crate) fn encode(&self, norm: f64, gain: f64, vector: &mut [f32], keys: &mut Vec<u64>) {
        let kept = usize::try_from(self.kept()).unwrap_or(usize::MAX);
        let largest = vector.iter().fold(0, |most: u32, x| most.max(x.abs().to_bits()));
        if vector.len() > u32::MAX as usize || !f32::from_bits(largest).is_finite() {
            return vector.fill(0.0);
        }
        if kept < vector.len() {
            fill(keys, vector, -1.0);
            keys.select_nth_unstable(kept);
            keys[kept..].iter().for_each(|key| vector[place(*key)] = 0.0);
        }
        let length = squared(vector).sqrt();
        // Factors below 10⁻³⁰ would lose their digits in single precision.
        if length > 1e30 * norm {
            return vector.fill(0.0);
        }
        let factor = (if length > norm { gain * norm / length } else { gain }) as f32;
        vector.iter_mut().for_each(|x| *x *= factor);
        let stairs: Vec<(usize, f32)> = (self.counts.iter().zip(&self.levels))
            .map(|(count, level)| (usize::try_from(*count).unwrap_or(usize::MAX), down(*level)))
            .collect();
        // Magnitudes up to the lowest level are within the profile at every rank.
        fill(keys, vector, stairs.last().map_or(0.0, |(_, level)| *level));
        cut(vector, keys, &stairs);
    }
}

impl fmt::Display for MagnitudeProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(largest), Some(least)) = (self.levels.first(), self.levels.last()) else { return Ok(()) };
        write!(
            f,
            "the profile of encoded gradients: {} coordinates, {} levels from {largest:.3e} to {least:.3e}",
            self.kept(),
            self.levels.len()
        )
    }
}

/// The first rank from 1 that holds; all ranks after it do, and the last one does.
fn first_at_most(last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (1, last);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// The largest number of single precision that is at most this one.
fn down(level: f64) -> f32 {
    let near = level as f32;
    if f64::from(near) <= level { near } else { near.next_down() }
}

/// Keys of the numbers whose magnitudes are above a bound. The smallest key is that of the largest magnitude.
fn fill(keys: &mut Vec<u64>, vector: &[f32], above: f32) {
    keys.resize(vector.len(), 0);
    let mut count = 0;
    // Every key is written and most are written over: that takes no branch.
    for (place, x) in vector.iter().enumerate() {
        keys[count] = (u64::from(!x.abs().to_bits()) << 32) | place as u64;
        count += usize::from(x.abs() > above);
    }
    keys.truncate(count);
}

/// The place of a key's number.
fn place(key: u64) -> usize {
    (key & u64::from(u32::MAX)) as usize
}

/// Cuts the numbers of these keys to the levels: as many of the largest as the first step counts to its level, and so on. Keys beyond
/// the last step become 0.
fn cut(vector: &mut [f32], keys: &mut [u64], stairs: &[(usize, f32)]) {
    let (before, after) = match stairs {
        [] => return keys.iter().for_each(|key| vector[place(*key)] = 0.0),
        [(count, level)] => {
            let (own, beyond) = apart(keys, *count);
            for key in own {
                let x = &mut vector[place(*key)];
                *x = x.abs().min(*level).copysign(*x);
            }
            return beyond.iter().for_each(|key| vector[place(*key)] = 0.0);
        }
        _ => stairs.split_at(stairs.len() / 2),
    };
    let count = before.iter().fold(0usize, |sum, (count, _)| sum.saturating_add(*count));
    let (larger, smaller) = apart(keys, count);
    cut(vector, larger, before);
    if !smaller.is_empty() {
        cut(vector, smaller, after);
    }
}

/// The keys of so many of the largest magnitudes, and the others.
fn apart(keys: &mut [u64], count: usize) -> (&mut [u64], &mut [u64]) {
    if count >= keys.len() {
        return (keys, &mut []);
    }
    keys.select_nth_unstable(count);
    keys.split_at_mut(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether the sorted magnitudes are at most the profile's, exactly.
    fn is_below(profile: &MagnitudeProfile, vector: &[f32]) -> bool {
        let mut magnitudes: Vec<f64> = vector.iter().map(|x| f64::from(x.abs())).collect();
        magnitudes.sort_by(|a, b| b.total_cmp(a));
        let levels = profile.levels.iter().zip(&profile.counts);
        let bounds = levels.flat_map(|(level, count)| std::iter::repeat_n(*level, *count as usize));
        magnitudes.iter().zip(bounds.chain(std::iter::repeat(0.0))).all(|(x, bound)| *x <= bound)
    }

    /// The rule by its definition, with a full sort.
    fn by_sorting(profile: &MagnitudeProfile, norm: f64, gain: f64, vector: &[f32]) -> Vec<f32> {
        let sorted = |vector: &[f32]| {
            let mut order: Vec<usize> = (0..vector.len()).collect();
            order.sort_by(|a, b| vector[*b].abs().total_cmp(&vector[*a].abs()).then(a.cmp(b)));
            order.truncate(profile.kept() as usize);
            order
        };
        let mut kept = vec![0.0f32; vector.len()];
        sorted(vector).into_iter().for_each(|place| kept[place] = vector[place]);
        let length = squared(&kept).sqrt();
        let factor = (if length > norm { gain * norm / length } else { gain }) as f32;
        kept.iter_mut().for_each(|x| *x *= factor);
        let bounds = profile.levels.iter().zip(&profile.counts);
        let bounds = bounds.flat_map(|(level, count)| std::iter::repeat_n(down(*level), *count as usize));
        let mut encoded = vec![0.0; vector.len()];
        for (place, bound) in sorted(&kept).into_iter().zip(bounds) {
            encoded[place] = kept[place].abs().min(bound).copysign(kept[place]);
        }
        encoded
    }

    fn odd() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => -3.0f32..3.0,
            4 => (-1.0f32..1.0).prop_map(|x| x.powi(15)),
            2 => Just(0.5f32),
            1 => prop_oneof![Just(0.0f32), Just(-0.0), Just(1e-40), Just(-1e-45), Just(1e18), Just(f32::MAX)],
        ]
    }

    proptest! {
        #[test]
        fn sorted_magnitudes_stay_below_the_profile(
            mut vector in prop::collection::vec(odd(), 1..200),
            (kept, norm, gain) in (0.05f64..=1.0, prop_oneof![Just(1e-3), Just(1.0), Just(40.0)], 0.5f64..6.0),
        ) {
            let profile = MagnitudeProfile::half_normal(vector.len(), kept, norm).unwrap();
            prop_assert!(profile.norm_up() <= norm && profile.norm_up() > 0.999 * norm);
            let expected = by_sorting(&profile, norm, gain, &vector);
            let is_huge = vector.iter().any(|x| f64::from(x.abs()) > 1e30 * norm);
            let mut keys = Vec::new();
            profile.encode(norm, gain, &mut vector, &mut keys);
            prop_assert!(is_below(&profile, &vector), "{vector:?}");
            if is_huge {
                prop_assert!(vector.iter().all(|x| *x == 0.0));
            } else {
                prop_assert_eq!(&vector, &expected);
            }
        }

        #[test]
        fn what_is_not_finite_becomes_0(
            mut vector in prop::collection::vec(odd(), 1..50),
            at in any::<prop::sample::Index>(),
            which in 0usize..3,
        ) {
            let place = at.index(vector.len());
            vector[place] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][which];
            let profile = MagnitudeProfile::half_normal(vector.len(), 1.0, 1.0).unwrap();
            profile.encode(1.0, 4.0, &mut vector, &mut Vec::new());
            prop_assert!(vector.iter().all(|x| x.to_bits() == 0));
        }
    }

    #[test]
    fn the_profile_is_that_of_sorted_normal_numbers() {
        let profile = MagnitudeProfile::half_normal(26_010, 1.0, 0.1).unwrap();
        assert_eq!(profile.levels.len(), 16);
        assert_eq!(profile.kept(), 26_010);
        // The largest of so many is about 4.3 standard deviations; the steps are a sixteenth of that apart.
        let top = profile.levels[0];
        assert!((15.0..20.0).contains(&(top / profile.levels[15])), "{}", top / profile.levels[15]);
        // 68 % of normal numbers are within one standard deviation of 0.
        let deviation = top / 4.27;
        let inside: u64 = profile
            .levels
            .iter()
            .zip(&profile.counts)
            .filter(|(l, _)| **l <= deviation)
            .map(|(_, n)| n)
            .sum();
        assert!((0.55..0.75).contains(&(inside as f64 / 26_010.0)), "{inside}");
        let tenth = MagnitudeProfile::half_normal(26_010, 0.1, 1.0).unwrap();
        assert_eq!(tenth.kept(), 2601);
        assert!(tenth.levels[15] / tenth.levels[0] > 0.3);
        let one = MagnitudeProfile::half_normal(1, 1.0, 2.0).unwrap();
        assert_eq!((one.counts(), one.levels().len()), (&[1][..], 1));
    }

    #[test]
    fn profiles_without_meaning_are_refused() {
        for (levels, counts) in [
            (vec![], vec![]),
            (vec![1.0], vec![1, 2]),
            (vec![1.0, 1.0], vec![1, 1]),
            (vec![1.0, 2.0], vec![1, 1]),
            (vec![1.0, 0.0], vec![1, 1]),
            (vec![f64::NAN], vec![1]),
            (vec![1.0], vec![0]),
            (vec![1.0], vec![u64::MAX]),
            ((1..=65).rev().map(f64::from).collect(), vec![1; 65]),
        ] {
            assert!(MagnitudeProfile::new(levels, counts).is_err());
        }
        for (dimension, kept, norm) in
            [(0, 1.0, 1.0), (5, 0.0, 1.0), (5, 1.1, 1.0), (5, f64::NAN, 1.0), (5, 1.0, 0.0)]
        {
            assert!(MagnitudeProfile::half_normal(dimension, kept, norm).is_err());
        }
    }
}
