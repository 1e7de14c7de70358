//! Fixed features of images: maps that are chosen without any data, computed for each example by itself.
//!
//! | file | contents |
//! |---|---|
//! | `wavelet` | Morlet wavelets and the Gaussian low-pass filter |
//! | `scattering` | the scattering transform with them |
//! | `convolution` | random convolutions |
//!
//! # Guarantee
//! Features are no part of what is learned and cost no privacy: an example's features are a function of that example, the model's
//! description and nothing else, not even in their last bit. No two examples share a Fourier transform or a sum.

mod convolution;
mod scattering;
#[cfg(test)]
mod tests;
mod wavelet;

use crate::engine::{Resources, Threads};
use crate::{Description, Examples, Inputs, TrainError};
use convolution::RandomConvolutions;
use rayon::prelude::*;
use scattering::Scattering;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The largest side of an image whose features are computed.
const LARGEST_SIDE: usize = 1024;

/// The smallest side.
const SMALLEST_SIDE: usize = 8;

/// What keeps the deviation of a group above 0.
const STABILITY: f64 = 1e-5;

/// Examples between two reports of progress.
const CHUNK: usize = 256;

/// A fixed map from an image to features, which replace the image as the input of the first layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FixedFeatures {
    /// The scattering transform of order two: for every channel the local means of the image, of its wavelet moduli, and of the
    /// wavelet moduli of those. `[channels, height, width]` becomes `[channels · paths, height / 2^scales, width / 2^scales]` with
    /// 1 + JL + L²J(J−1)/2 paths, rounded down.
    ///
    /// # Reference
    /// Bruna and Mallat, *Invariant scattering convolution networks* (2013); Oyallon and Mallat, *Deep roto-translation scattering
    /// for object classification* (2015); for private learning Tramèr and Boneh, *Differentially private learning needs better
    /// features (or much more data)* (2021).
    Scatternet {
        /// J: wavelets double their width so many times, from 1 to 4.
        #[serde(default = "two")]
        scales: usize,
        /// L: orientations of the wavelets, from 1 to 16.
        #[serde(default = "eight")]
        orientations: usize,
        /// Groups of channels that are normalised, each to mean 0 and variance 1 in every example; as computed if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        groups: Option<usize>,
    },
    /// Convolution with Gaussian filters, the positive part, and the mean of each square. `[channels, height, width]` becomes
    /// `[filters, (height − size + 1) / pool, (width − size + 1) / pool]`, rounded down.
    RandomConvolutions {
        /// How many, from 1 to 65536.
        filters: usize,
        /// Height and width of a filter.
        #[serde(default = "six")]
        size: usize,
        /// Height and width of the squares whose mean is taken.
        pool: usize,
        /// The public number that the filters are a function of.
        #[serde(default)]
        seed: u64,
        /// Groups of channels that are normalised, each to mean 0 and variance 1 in every example; as computed if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        groups: Option<usize>,
    },
}

fn two() -> usize {
    2
}

fn six() -> usize {
    6
}

fn eight() -> usize {
    8
}

impl FixedFeatures {
    /// The name in a description.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Scatternet { .. } => "scatternet",
            Self::RandomConvolutions { .. } => "random-convolutions",
        }
    }

    /// The shape of the features of one example.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for inputs that are not images of a usable size, and for numbers without meaning.
    pub fn shape(&self, input: &[usize]) -> Result<Vec<usize>, TrainError> {
        let &[channels, height, width] = input else {
            let remedy = "features are of images: give input = [channels, height, width]";
            return Err(TrainError::invalid("input", format!("{input:?}"), remedy));
        };
        let usable = SMALLEST_SIDE..=LARGEST_SIDE;
        if !usable.contains(&height) || !usable.contains(&width) {
            let remedy = format!(
                "{} needs images from {SMALLEST_SIDE} x {SMALLEST_SIDE} to {LARGEST_SIDE} x {LARGEST_SIDE}",
                self.word()
            );
            return Err(TrainError::invalid("input", format!("{input:?}"), remedy));
        }
        let (shape, groups) = match *self {
            Self::Scatternet { scales, orientations, groups } => {
                if !(1..=4).contains(&scales) || (1 << scales) * 2 > height.min(width) {
                    let remedy = format!(
                        "give a number from 1 to 4, such that 2^(scales + 1) is at most {}, the shorter side of the image",
                        height.min(width)
                    );
                    return Err(TrainError::invalid("scales", scales, remedy));
                }
                if !(1..=16).contains(&orientations) {
                    return Err(TrainError::invalid(
                        "orientations",
                        orientations,
                        "give a number from 1 to 16",
                    ));
                }
                let paths = scattering::paths(scales, orientations);
                (vec![channels * paths, height >> scales, width >> scales], groups)
            }
            Self::RandomConvolutions { filters, size, pool, seed: _, groups } => {
                if !(1..=65536).contains(&filters) {
                    return Err(TrainError::invalid("filters", filters, "give a number from 1 to 65536"));
                }
                let most = height.min(width);
                if !(1..=most).contains(&size) {
                    return Err(TrainError::invalid("size", size, format!("give a number from 1 to {most}")));
                }
                let (rows, columns) = (height - size + 1, width - size + 1);
                let most = rows.min(columns);
                if !(1..=most).contains(&pool) {
                    return Err(TrainError::invalid("pool", pool, format!("give a number from 1 to {most}")));
                }
                (vec![filters, rows / pool, columns / pool], groups)
            }
        };
        match groups {
            Some(groups) if groups == 0 || shape[0] % groups != 0 => {
                let remedy = format!("give a divisor of the {} channels of the features", shape[0]);
                Err(TrainError::invalid("groups", groups, remedy))
            }
            _ => Ok(shape),
        }
    }

    /// The map for examples of this shape.
    fn map(&self, input: &[usize]) -> Result<(Map, Option<usize>), TrainError> {
        self.shape(input)?;
        let &[channels, height, width] = input else {
            return Err(TrainError::invalid("input", format!("{input:?}"), "give an image"));
        };
        Ok(match *self {
            Self::Scatternet { scales, orientations, groups } => {
                let transform = Scattering::new(channels, [height, width], scales, orientations);
                (Map::Scattering(Box::new(transform)), groups)
            }
            Self::RandomConvolutions { filters, size, pool, seed, groups } => {
                let shape = [channels, height, width];
                (Map::Convolutions(RandomConvolutions::new(shape, filters, size, pool, seed)), groups)
            }
        })
    }
}

impl fmt::Display for FixedFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = match self {
            Self::Scatternet { scales, orientations, groups } => {
                write!(
                    f,
                    "features of each image by a fixed map: scatternet, {scales} scales, {orientations} orientations"
                )?;
                groups
            }
            Self::RandomConvolutions { filters, size, pool, seed, groups } => {
                write!(
                    f,
                    "features of each image by a fixed map: random-convolutions, {filters} filters of {size} x {size}, pool {pool}, \
                     seed {seed}"
                )?;
                groups
            }
        };
        groups.map_or(Ok(()), |groups| write!(f, ", {groups} groups normalised"))
    }
}

/// A map with its tables.
enum Map {
    Scattering(Box<Scattering>),
    Convolutions(RandomConvolutions),
}

/// What a map writes on while it works.
enum Scratch {
    Scattering(Box<scattering::Scratch>),
    Convolutions(Vec<f32>),
}

impl Map {
    fn scratch(&self) -> Scratch {
        match self {
            Self::Scattering(map) => Scratch::Scattering(Box::new(map.scratch())),
            Self::Convolutions(map) => Scratch::Convolutions(map.scratch()),
        }
    }

    fn apply(&self, image: &[f32], out: &mut [f32], scratch: &mut Scratch) {
        match (self, scratch) {
            (Self::Scattering(map), Scratch::Scattering(scratch)) => map.apply(image, out, scratch),
            (Self::Convolutions(map), Scratch::Convolutions(scratch)) => map.apply(image, out, scratch),
            // A map makes its own scratch.
            _ => out.fill(f32::NAN),
        }
    }
}

/// Every group of channels to mean 0 and variance 1.
fn normalise(values: &mut [f32], groups: usize) {
    let size = values.len() / groups;
    for group in values.chunks_exact_mut(size) {
        let count = group.len() as f64;
        let mean = group.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
        let variance = group.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>() / count;
        let slope = 1.0 / (variance + STABILITY).sqrt();
        group.iter_mut().for_each(|value| *value = ((f64::from(*value) - mean) * slope) as f32);
    }
}

impl Description {
    /// The shape that the first layer reads: that of the features where there are any, and that of the input otherwise.
    ///
    /// # Errors
    /// As [`FixedFeatures::shape`].
    pub fn first_shape(&self) -> Result<Vec<usize>, TrainError> {
        self.features.as_ref().map_or_else(|| Ok(self.input.clone()), |features| features.shape(&self.input))
    }

    /// The same layers on examples that are features already, as [`prepared`](Self::prepared) makes them.
    ///
    /// # Errors
    /// As [`first_shape`](Self::first_shape).
    pub fn after_features(&self) -> Result<Self, TrainError> {
        Ok(Self { input: self.first_shape()?, features: None, ..self.clone() })
    }

    /// Examples as the first layer reads them: their features where the network has any, and themselves otherwise. `report` is told
    /// how many are done. What is returned keeps the [raw](Examples::raw) examples.
    ///
    /// # Guarantee
    /// What is made of an example depends on it alone.
    ///
    /// # Errors
    /// [`TrainError::Shape`] for examples of another shape than the input's.
    pub fn prepared(
        &self,
        examples: Examples,
        resources: Resources,
        report: &mut dyn FnMut(usize),
    ) -> Result<Examples, TrainError> {
        let Some(features) = &self.features else { return Ok(examples) };
        resources.check()?;
        if examples.shape() != self.input || matches!(examples.inputs(), Inputs::Tokens(_)) {
            return Err(TrainError::Shape(format!(
                "the network reads images of the shape {:?}, the examples have the shape {:?}",
                self.input,
                examples.shape()
            )));
        }
        let shape = features.shape(&self.input)?;
        let (map, groups) = features.map(&self.input)?;
        let size: usize = shape.iter().product();
        let mut values = vec![0.0; size * examples.len()];
        let threads = Threads::new(resources.threads)?;
        let start = || (map.scratch(), vec![0.0; examples.size()]);
        for (chunk, out) in values.chunks_mut(CHUNK * size).enumerate() {
            let first = chunk * CHUNK;
            threads.run(|| {
                let each = out.par_chunks_exact_mut(size).enumerate();
                each.for_each_init(start, |(scratch, image), (place, out)| {
                    examples.read(first + place, image);
                    map.apply(image, out, scratch);
                    if let Some(groups) = groups {
                        normalise(out, groups);
                    }
                });
            });
            report((first + CHUNK).min(examples.len()));
        }
        examples.replaced(&shape, values)
    }
}
