//! Where records lie, what is guessed of them without a model, and how near a guess is.

use crate::AttackError;
use crate::population::classes_of;
use reticent_train::{Examples, Inputs};

/// The most decibels that are stated: an error that no picture shows.
pub const MOST_DECIBELS: f64 = 100.0;

/// The side of the windows in which structure is compared.
const WINDOW: usize = 7;

/// The range of records and their mean, from public constants and from records that an attacker has.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSpace {
    shape: Vec<usize>,
    low: Vec<f32>,
    width: Vec<f32>,
    mean: Vec<f32>,
    /// The share of every class.
    classes: Vec<f64>,
}

impl RecordSpace {
    /// The space of records like these: the range of pixels is public, that of other numbers is what occurs among the records.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for tokens, for targets that are numbers, and for no records.
    pub fn of(records: &Examples) -> Result<Self, AttackError> {
        let (labels, size) = (classes_of(records)?, records.size());
        if labels.is_empty() {
            return Err(AttackError::invalid("records", 0, "give records like those that are attacked"));
        }
        let mut row = vec![0.0; size];
        let (mut low, mut high) = (vec![f32::INFINITY; size], vec![f32::NEG_INFINITY; size]);
        let mut sum = vec![0.0_f64; size];
        for record in 0..records.len() {
            records.read(record, &mut row);
            for (place, value) in row.iter().enumerate() {
                (low[place], high[place]) = (low[place].min(*value), high[place].max(*value));
                sum[place] += f64::from(*value);
            }
        }
        match records.inputs() {
            Inputs::Real(_) => {}
            Inputs::Pixels { shift, scale, .. } => {
                let plane = size / records.shape()[0];
                for (place, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                    let (shift, scale) = (shift[place / plane], scale[place / plane]);
                    (*low, *high) = (-shift / scale, (1.0 - shift) / scale);
                }
            }
            Inputs::Tokens(_) => {
                let remedy = "records of tokens have no gradient of their own: give images or numbers";
                return Err(AttackError::premise("records", "tokens", remedy));
            }
        }
        let mut classes = vec![0.0; labels.iter().max().map_or(0, |most| *most as usize + 1)];
        labels.iter().for_each(|label| classes[*label as usize] += 1.0 / labels.len() as f64);
        let width =
            low.iter().zip(&high).map(|(low, high)| if high > low { high - low } else { 1.0 }).collect();
        let mut space = Self { shape: records.shape().to_vec(), low, width, mean: Vec::new(), classes };
        let mean: Vec<f32> = sum.iter().map(|sum| (sum / records.len() as f64) as f32).collect();
        space.mean = space.unit(&mean);
        Ok(space)
    }

    /// How many numbers a record has.
    pub fn size(&self) -> usize {
        self.low.len()
    }

    /// The shape of a record.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The mean of the records, from 0 to 1: what is guessed without a model.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// The share of every class among the records.
    pub fn classes(&self) -> &[f64] {
        &self.classes
    }

    /// Channels, height and width of records that are images.
    pub fn image(&self) -> Option<[usize; 3]> {
        match self.shape[..] {
            [channels @ (1 | 3), height, width] => Some([channels, height, width]),
            _ => None,
        }
    }

    /// How a number of the network's input grows with one from 0 to 1.
    pub(super) fn widths(&self) -> impl Iterator<Item = f32> {
        self.width.iter().copied().cycle()
    }

    /// Records from 0 to 1 as the network reads them.
    pub(super) fn input(&self, units: &[f32]) -> Vec<f32> {
        let scale = self.low.iter().zip(&self.width).cycle();
        units.iter().zip(scale).map(|(unit, (low, width))| low + unit * width).collect()
    }

    /// Records as the network reads them, from 0 to 1; what lies outside of the range is put at its end, what is not a number in
    /// the middle.
    pub fn unit(&self, inputs: &[f32]) -> Vec<f32> {
        let scale = self.low.iter().zip(&self.width).cycle();
        let unit = |(value, (low, width)): (&f32, (&f32, &f32))| (value - low) / width;
        let held = |unit: f32| if unit.is_nan() { 0.5 } else { unit.clamp(0.0, 1.0) };
        inputs.iter().zip(scale).map(unit).map(held).collect()
    }

    /// The peak signal-to-noise ratio of a guess in decibels, at most [`MOST_DECIBELS`]; both from 0 to 1.
    pub fn decibels(&self, record: &[f32], guess: &[f32]) -> f64 {
        let error = squared_distance(record, guess) / record.len().max(1) as f64;
        (-10.0 * libm::log10(error)).min(MOST_DECIBELS)
    }

    /// The mean structural similarity of two images over windows of 7 × 7 pixels and all channels, from -1 to 1; none for records
    /// that are not images.
    ///
    /// # Reference
    /// Wang, Bovik, Sheikh, Simoncelli, *Image quality assessment: from error visibility to structural similarity* (2004), with flat
    /// windows.
    pub fn similarity(&self, record: &[f32], guess: &[f32]) -> Option<f64> {
        let [_, height, width] = self.image()?;
        let (rows, columns) = (WINDOW.min(height), WINDOW.min(width));
        let (mut total, mut windows) = (0.0, 0.0);
        for (a, b) in record.chunks_exact(height * width).zip(guess.chunks_exact(height * width)) {
            for top in 0..=height - rows {
                for left in 0..=width - columns {
                    let places = (top..top + rows)
                        .flat_map(|row| (left..left + columns).map(move |column| row * width + column));
                    total += structure(places.map(|place| (f64::from(a[place]), f64::from(b[place]))));
                    windows += 1.0;
                }
            }
        }
        Some(total / windows)
    }
}

/// Σ (a − b)².
pub(super) fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum()
}

/// The structural similarity of one window.
fn structure(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut n, mut a, mut b, mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in pairs {
        n += 1.0;
        (a, b) = (a + x, b + y);
        (aa, bb, ab) = (aa + x * x, bb + y * y, ab + x * y);
    }
    let (a, b) = (a / n, b / n);
    let (aa, bb, ab) = (aa / n - a * a, bb / n - b * b, ab / n - a * b);
    let (c1, c2) = (1e-4, 9e-4);
    (2.0 * a * b + c1) * (2.0 * ab + c2) / ((a * a + b * b + c1) * (aa + bb + c2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_train::Targets;

    #[test]
    fn distances_are_those_of_their_definitions() {
        let values = vec![0_u8, 255, 51, 0, 255, 255, 0, 0];
        let (shift, scale) = (vec![0.5], vec![0.25]);
        let inputs = Inputs::Pixels { values, shift, scale };
        let records = Examples::new(&[1, 2, 2], inputs, Targets::Classes(vec![0, 2])).unwrap();
        let space = RecordSpace::of(&records).unwrap();
        assert_eq!(space.classes(), [0.5, 0.0, 0.5]);
        let expected = [0.5, 1.0, 0.1, 0.0];
        assert!(space.mean().iter().zip(expected).all(|(own, mean)| (own - mean).abs() < 1e-6));
        let mut row = vec![0.0; 4];
        records.read(0, &mut row);
        let unit = space.unit(&row);
        assert!(squared_distance(&space.input(&unit), &row) < 1e-10);
        assert_eq!(space.decibels(&unit, &unit), MOST_DECIBELS);
        let off: Vec<f32> = unit.iter().map(|value| value + 0.1).collect();
        assert!((space.decibels(&unit, &off) - 20.0).abs() < 1e-4);
        assert!((space.similarity(&unit, &unit).unwrap() - 1.0).abs() < 1e-12);
        // One window by hand: means 0.3 and 0.55, variances 0.17 and 0.0025, covariance 0.015.
        let (a, b) = ([0.0, 1.0, 0.2, 0.0], [0.5, 0.6, 0.6, 0.5]);
        let by_hand =
            (2.0 * 0.165 + 1e-4) * (2.0 * 0.015 + 9e-4) / ((0.09 + 0.3025 + 1e-4) * (0.17 + 0.0025 + 9e-4));
        assert!(
            (space.similarity(&a, &b).unwrap() - by_hand).abs() < 1e-6,
            "{}",
            space.similarity(&a, &b).unwrap()
        );
        assert!(
            RecordSpace::of(
                &Examples::new(&[2], Inputs::Tokens(vec![0, 1]), Targets::Classes(vec![0])).unwrap()
            )
            .is_err()
        );
    }
}
