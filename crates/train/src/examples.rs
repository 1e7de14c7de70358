//! Labelled examples in memory, and which of them a step uses.

use crate::TrainError;
use crate::digest::{checksum, digest};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a network reads, example after example.
#[derive(Debug, Clone, PartialEq)]
pub enum Inputs {
    /// Real numbers.
    Real(Vec<f32>),
    /// A byte per pixel, as `(pixel / 255 - shift) / scale` with public constants per channel.
    Pixels {
        /// Example by example, in it channel by channel.
        values: Vec<u8>,
        /// One per channel.
        shift: Vec<f32>,
        /// One per channel, above 0.
        scale: Vec<f32>,
    },
    /// Positions in a public vocabulary.
    Tokens(Vec<u32>),
}

/// What a network should answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// A class per example, from 0.
    Classes(Vec<u32>),
    /// A number per example.
    Numbers(Vec<f32>),
    /// The next token of every position, as many per example as its input has tokens; [`UNSCORED`] where there is none.
    Next(Vec<u32>),
}

/// The entry of [`Targets::Next`] at a position that is not scored, such as padding.
pub const UNSCORED: u32 = u32::MAX;

/// A name for examples that were made together: those of the same name are equal. It says nothing about what they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity(u64);

impl Identity {
    fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether these are the same examples.
    pub(crate) fn is(self, other: Self) -> bool {
        self.0 == other.0
    }
}

// Examples are compared by what they hold.
impl PartialEq for Identity {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Examples of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    shape: Vec<usize>,
    inputs: Inputs,
    targets: Targets,
    /// The examples that these were made of, where they were: as many, or as copies of them.
    origin: Option<Arc<Examples>>,
    identity: Identity,
}

impl Examples {
    /// Examples whose inputs have this shape: `[features]`, `[channels, height, width]`, `[length]` of tokens or
    /// `[length, features]`.
    ///
    /// # Errors
    /// [`TrainError::Shape`] when the arrays' lengths do not belong together, and for pixels when there is not one
    /// finite shift and one positive scale per channel.
    pub fn new(shape: &[usize], inputs: Inputs, targets: Targets) -> Result<Self, TrainError> {
        let size: usize = shape.iter().product();
        if size == 0 {
            return Err(TrainError::Shape(format!("the shape {shape:?} has no numbers in it")));
        }
        let values = match &inputs {
            Inputs::Real(values) => values.len(),
            Inputs::Pixels { values, shift, scale } => {
                if shift.len() != shape[0] || scale.len() != shape[0] {
                    return Err(TrainError::Shape(format!(
                        "{} channels need as many shifts and scales, not {} and {}",
                        shape[0],
                        shift.len(),
                        scale.len()
                    )));
                }
                let usable = |s: &f32| s.is_finite() && *s > 0.0;
                if !shift.iter().all(|s| s.is_finite()) || !scale.iter().all(usable) {
                    return Err(TrainError::Shape(
                        "shifts must be finite and scales above 0 for every channel".to_owned(),
                    ));
                }
                values.len()
            }
            Inputs::Tokens(ids) => ids.len(),
        };
        let count = match &targets {
            Targets::Classes(classes) => classes.len(),
            Targets::Numbers(numbers) => numbers.len(),
            Targets::Next(next) => next.len() / size,
        };
        if let (Targets::Next(next), true) = (&targets, !matches!(inputs, Inputs::Tokens(_))) {
            return Err(TrainError::Shape(format!(
                "{} next tokens belong to tokens, not to numbers",
                next.len()
            )));
        }
        if let Targets::Next(next) = &targets
            && next.len() != values
        {
            return Err(TrainError::Shape(format!(
                "{values} tokens need as many next ones, not {}",
                next.len()
            )));
        }
        if count.checked_mul(size) != Some(values) {
            return Err(TrainError::Shape(format!(
                "{count} examples of {size} numbers need {} values, not {values}",
                count.saturating_mul(size)
            )));
        }
        Ok(Self { shape: shape.to_vec(), inputs, targets, origin: None, identity: Identity::fresh() })
    }

    /// Which examples these are, as long as the process runs.
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// Refuses numbers of examples that there are not.
    pub(crate) fn check_numbers(&self, which: &[usize]) -> Result<(), TrainError> {
        match which.iter().find(|example| **example >= self.len()) {
            Some(example) => Err(TrainError::Shape(format!(
                "the selection names example {example}, and there are {} examples, numbered from 0",
                self.len()
            ))),
            None => Ok(()),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.targets {
            Targets::Classes(classes) => classes.len(),
            Targets::Numbers(numbers) => numbers.len(),
            Targets::Next(next) => next.len() / self.size(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of one input.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How many numbers or tokens one input has.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// All inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// All targets.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// These of them, in this order.
    ///
    /// # Panics
    /// If there is no such example.
    pub fn subset(&self, which: &[usize]) -> Self {
        let size = self.size();
        let inputs = match &self.inputs {
            Inputs::Real(values) => Inputs::Real(rows_of(values, size, which)),
            Inputs::Pixels { values, shift, scale } => Inputs::Pixels {
                values: rows_of(values, size, which),
                shift: shift.clone(),
                scale: scale.clone(),
            },
            Inputs::Tokens(ids) => Inputs::Tokens(rows_of(ids, size, which)),
        };
        let targets = match &self.targets {
            Targets::Classes(classes) => Targets::Classes(rows_of(classes, 1, which)),
            Targets::Numbers(numbers) => Targets::Numbers(rows_of(numbers, 1, which)),
            Targets::Next(next) => Targets::Next(rows_of(next, size, which)),
        };
        // Of copies it is not said which they are of.
        let raw = self.origin.as_ref().filter(|raw| raw.len() == self.len());
        let origin = raw.map(|raw| Arc::new(raw.subset(which)));
        Self { shape: self.shape.clone(), inputs, targets, origin, identity: Identity::fresh() }
    }

    /// These and then others of the same kind and shape.
    ///
    /// # Errors
    /// [`TrainError::Shape`] when the others are of another kind or shape, or their pixels have other constants.
    pub fn followed_by(mut self, other: &Self) -> Result<Self, TrainError> {
        let odd = || TrainError::Shape("examples to join must be of one kind and shape".to_owned());
        if self.shape != other.shape {
            return Err(odd());
        }
        match (&mut self.inputs, &other.inputs) {
            (Inputs::Real(own), Inputs::Real(more)) => own.extend_from_slice(more),
            (Inputs::Tokens(own), Inputs::Tokens(more)) => own.extend_from_slice(more),
            (
                Inputs::Pixels { values, shift, scale },
                Inputs::Pixels { values: more, shift: other_shift, scale: other_scale },
            ) if shift == other_shift && scale == other_scale => values.extend_from_slice(more),
            _ => return Err(odd()),
        }
        match (&mut self.targets, &other.targets) {
            (Targets::Classes(own), Targets::Classes(more)) => own.extend_from_slice(more),
            (Targets::Numbers(own), Targets::Numbers(more)) => own.extend_from_slice(more),
            (Targets::Next(own), Targets::Next(more)) => own.extend_from_slice(more),
            _ => return Err(odd()),
        }
        self.origin = match (self.origin.take(), &other.origin) {
            (Some(own), Some(more)) => Some(Arc::new(Arc::unwrap_or_clone(own).followed_by(more)?)),
            _ => None,
        };
        self.identity = Identity::fresh();
        Ok(self)
    }

    /// The examples as they were read, where these are features or copies of them; these themselves otherwise.
    pub fn raw(&self) -> &Self {
        self.origin.as_deref().unwrap_or(self)
    }

    /// How many of these stand for each [raw](Self::raw) example, one after the other: 1 unless they are copies of it.
    pub fn copies(&self) -> usize {
        (self.len() / self.raw().len().max(1)).max(1)
    }

    /// Whether these are features or copies of other examples.
    pub fn are_derived(&self) -> bool {
        self.origin.is_some()
    }

    /// These examples with other inputs, which were made of theirs one by one.
    pub(crate) fn replaced(self, shape: &[usize], values: Vec<f32>) -> Result<Self, TrainError> {
        let targets = self.targets.clone();
        self.became(shape, Inputs::Real(values), targets)
    }

    /// What these examples became, one by one.
    pub(crate) fn became(
        self,
        shape: &[usize],
        inputs: Inputs,
        targets: Targets,
    ) -> Result<Self, TrainError> {
        let made = Self::new(shape, inputs, targets)?;
        Ok(Self { origin: Some(self.origin.clone().unwrap_or_else(|| Arc::new(self))), ..made })
    }

    /// A short name for exactly these examples; it finds accidents, not forgers. That of features is made of what they are of, since
    /// their last bits may depend on the machine.
    pub fn digest(&self) -> String {
        if let Some(raw) = &self.origin {
            return digest(&("derived", &self.shape, self.len(), raw.digest()));
        }
        let numbers =
            |values: &[f32]| checksum(&values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        let words =
            |values: &[u32]| checksum(&values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        let inputs = match &self.inputs {
            Inputs::Real(values) => ("real", numbers(values), 0, 0),
            Inputs::Pixels { values, shift, scale } => {
                ("pixels", checksum(values), numbers(shift), numbers(scale))
            }
            Inputs::Tokens(ids) => ("tokens", words(ids), 0, 0),
        };
        let targets = match &self.targets {
            Targets::Classes(classes) => ("classes", words(classes)),
            Targets::Numbers(values) => ("numbers", numbers(values)),
            Targets::Next(next) => ("next", words(next)),
        };
        digest(&(&self.shape, inputs, targets))
    }

    /// One input as numbers; tokens become their positions as numbers.
    ///
    /// # Panics
    /// If there is no such example, or `into` has not [`size`](Self::size) places.
    pub fn read(&self, index: usize, into: &mut [f32]) {
        let range = index * self.size()..(index + 1) * self.size();
        match &self.inputs {
            Inputs::Real(values) => into.copy_from_slice(&values[range]),
            Inputs::Tokens(ids) => {
                for (place, id) in into.iter_mut().zip(&ids[range]) {
                    *place = *id as f32;
                }
            }
            Inputs::Pixels { values, shift, scale } => {
                let plane = self.size() / self.shape[0];
                let channels = into.chunks_exact_mut(plane).zip(values[range].chunks_exact(plane));
                for ((places, pixels), (shift, scale)) in channels.zip(shift.iter().zip(scale)) {
                    let (slope, offset) = (1.0 / (255.0 * scale), shift / scale);
                    for (place, pixel) in places.iter_mut().zip(pixels) {
                        *place = f32::from(*pixel) * slope - offset;
                    }
                }
            }
        }
    }
}

/// Rows of `size` values, one after the other.
fn rows_of<T: Copy>(values: &[T], size: usize, which: &[usize]) -> Vec<T> {
    let mut rows = Vec::with_capacity(size * which.len());
    which.iter().for_each(|row| rows.extend_from_slice(&values[row * size..(row + 1) * size]));
    rows
}

/// The units of one step, and the examples of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    examples: Vec<usize>,
    ends: Vec<usize>,
}

impl Selection {
    /// One unit per example.
    pub fn of_examples(examples: Vec<usize>) -> Self {
        let ends = (1..=examples.len()).collect();
        Self { examples, ends }
    }

    /// Takes all units out; the memory stays for the next step.
    pub fn clear(&mut self) {
        self.examples.clear();
        self.ends.clear();
    }

    /// Adds a unit with its examples.
    pub fn push(&mut self, examples: impl IntoIterator<Item = usize>) {
        self.examples.extend(examples);
        self.ends.push(self.examples.len());
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.ends.len()
    }

    /// The examples of all units, unit by unit.
    pub fn examples(&self) -> &[usize] {
        &self.examples
    }

    /// Where each unit's examples end in [`examples`](Self::examples).
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The examples of one unit.
    ///
    /// # Panics
    /// If there is no such unit.
    pub fn unit(&self, unit: usize) -> &[usize] {
        let start = if unit == 0 { 0 } else { self.ends[unit - 1] };
        &self.examples[start..self.ends[unit]]
    }
}
