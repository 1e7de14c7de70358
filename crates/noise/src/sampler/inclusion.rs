use crate::Entropy;
use crate::entropy::{Bits, Block, Stream};
use reticent_core::{InvalidValue, SamplingRate};

/// 2⁶⁴.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

/// Takes each of many records independently, all with the same probability.
///
/// # Guarantee
/// Every record is taken with probability exactly ⌊2⁶⁴·rate⌋/2⁶⁴, independently of all others and of earlier draws.
/// That is [`drawn_rate`](Self::drawn_rate), at most the rate that was asked for, and equal to it for rates from 2⁻¹¹ up:
/// doubles that large are multiples of 2⁻⁶⁴.
///
/// # Reference
/// `proof.md`, claim 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inclusion {
    /// The rate times 2⁶⁴; none for a rate of 1.
    threshold: Option<u64>,
}

impl Inclusion {
    /// Inclusion with this probability.
    ///
    /// # Errors
    /// [`InvalidValue`] when the rate is below 2⁻⁵³.
    pub fn new(rate: SamplingRate) -> Result<Self, InvalidValue> {
        let rate = rate.get();
        if rate < f64::EPSILON / 2.0 {
            return Err(InvalidValue::new("sampling_rate", rate, "give a number from 2^-53 to 1"));
        }
        // The conversion rounds towards 0, and nothing else is inexact.
        Ok(Self { threshold: (rate < 1.0).then_some((rate * WHOLE) as u64) })
    }

    /// The probability that is drawn with, exactly: the threshold has no more digits than the rate it was made from.
    pub fn drawn_rate(&self) -> f64 {
        self.threshold.map_or(1.0, |threshold| threshold as f64 / WHOLE)
    }

    /// The numbers below `count` that are taken, in order, in place of what `taken` held.
    pub fn draw(&self, count: usize, entropy: &mut Entropy, taken: &mut Vec<usize>) {
        taken.clear();
        let Some(threshold) = self.threshold else {
            taken.extend(0..count);
            return;
        };
        let mut stream = Stream::new(entropy);
        let mut block = Block::new();
        // A record's uniform number has a digit of 32 bits from the block; the second one is drawn when the first
        // does not decide.
        let (first, second) = ((threshold >> 32) as u32, threshold as u32);
        let mut start = 0;
        while start < count {
            stream.fill(&mut block);
            let digits = block.halves().into_iter().flatten();
            for (record, digit) in (start..count).zip(digits) {
                if *digit <= first && (*digit < first || ((stream.word() >> 32) as u32) < second) {
                    taken.push(record);
                }
            }
            start += 2 * Block::WORDS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inclusion(rate: f64) -> Inclusion {
        Inclusion::new(SamplingRate::new(rate).unwrap()).unwrap()
    }

    #[test]
    fn the_drawn_rate_is_never_above_the_stated_one() {
        for rate in [1.0, 0.5, 0.01, 1.0 / 3.0, 256.0 / 60_000.0, 1e-9, 3e-16] {
            let drawn = inclusion(rate).drawn_rate();
            assert!(drawn <= rate && drawn > rate * (1.0 - 1e-3), "{rate} {drawn}");
            assert!(rate < 1.0 / 2048.0 || drawn == rate);
        }
        assert!(Inclusion::new(SamplingRate::new(0.0).unwrap()).is_err());
        assert!(Inclusion::new(SamplingRate::new(1e-17).unwrap()).is_err());
    }

    #[test]
    fn everything_nothing_and_the_order() {
        let mut entropy = Entropy::new().unwrap();
        let mut taken = vec![7];
        inclusion(1.0).draw(3, &mut entropy, &mut taken);
        assert_eq!(taken, [0, 1, 2]);
        inclusion(1e-12).draw(1000, &mut entropy, &mut taken);
        assert!(taken.is_empty());
        inclusion(0.3).draw(0, &mut entropy, &mut taken);
        assert!(taken.is_empty());
        inclusion(0.3).draw(10_000, &mut entropy, &mut taken);
        assert!(taken.is_sorted() && taken.iter().all(|record| *record < 10_000));
        // Nine standard deviations.
        assert!((taken.len() as f64 - 3000.0).abs() < 9.0 * 46.0, "{}", taken.len());
    }

    #[test]
    fn the_second_digit_decides_ties() {
        // Below 2⁻³² the first digit of the threshold is 0: only ties can be taken.
        let mut entropy = Entropy::new().unwrap();
        let mut taken = Vec::new();
        let (mut total, rate, count) = (0, 0.75 * (2f64).powi(-31), 1 << 22);
        assert_eq!(inclusion(rate).threshold.map(|t| t >> 32), Some(1));
        for _ in 0..4 {
            inclusion(rate).draw(count, &mut entropy, &mut taken);
            total += taken.len();
        }
        // Expected 0.006; four or more have probability below 10⁻¹⁰.
        assert!(total < 4);
    }
}
