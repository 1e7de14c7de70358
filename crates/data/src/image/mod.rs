//! Labelled images in: MNIST and its relatives, and CIFAR-10.

mod cifar;

use std::path::{Path, PathBuf};

use crate::array::{Array, Values, read_idx};
use crate::error::{DataError, shown_path};

/// The part of a dataset that its authors set aside for training, or for testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatasetPart {
    /// For training.
    Train,
    /// For testing.
    Test,
}

/// Labelled images of one size, a byte per pixel and channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    channels: usize,
    height: usize,
    width: usize,
    /// Image by image, in it channel by channel, in that row by row.
    pixels: Vec<u8>,
    /// One per image.
    labels: Vec<u8>,
}

impl Images {
    /// Reads one part of the image set in a folder: idx files named as MNIST's are (gzipped or not), or
    /// CIFAR-10 as the batches of its binary version (`data_batch_1.bin`) or as lossless WebP mosaics
    /// with labels in idx files (`data_batch_1.webp`).
    ///
    /// # Errors
    /// If the folder has none of these, or a file of them is missing, corrupt or of the wrong size.
    pub fn read(folder: &Path, part: DatasetPart) -> Result<Self, DataError> {
        let prefix = match part {
            DatasetPart::Train => "train",
            DatasetPart::Test => "t10k",
        };
        if let Some(images) = idx_file(folder, &format!("{prefix}-images-idx3-ubyte")) {
            let labels = format!("{prefix}-labels-idx1-ubyte");
            let labels = idx_file(folder, &labels).unwrap_or_else(|| folder.join(format!("{labels}.gz")));
            return Self::read_idx(&images, &labels);
        }
        match cifar::read(folder, part)? {
            Some(images) => Ok(images),
            None => {
                let expected = "train-images-idx3-ubyte.gz or data_batch_1.bin";
                Err(DataError::NoImages { folder: shown_path(folder), expected })
            }
        }
    }

    /// Reads grey images and their labels from two idx files.
    ///
    /// # Errors
    /// As [`read_idx`], or if the shapes are not those of images and labels, or the numbers differ.
    pub fn read_idx(images: &Path, labels: &Path) -> Result<Self, DataError> {
        let array = read_idx(images)?;
        let &[_, height, width] = array.shape() else {
            let found = format!("an array of {} dimensions", array.shape().len());
            let advice = "give a file of images, which has three";
            return Err(DataError::Unsupported { file: shown_path(images), found, advice });
        };
        let pixels = bytes(array);
        Self::new((1, height, width), pixels, read_labels(labels)?, &shown_path(images))
    }

    /// Images in memory, of `channels` × `height` × `width` pixels each; `place` is what an error names.
    ///
    /// # Errors
    /// If the number of images is not that of the labels.
    pub fn new(
        (channels, height, width): (usize, usize, usize),
        pixels: Vec<u8>,
        labels: Vec<u8>,
        place: &str,
    ) -> Result<Self, DataError> {
        let size = channels.saturating_mul(height).saturating_mul(width);
        // Images without pixels have no number of their own.
        let images = pixels.len().checked_div(size).unwrap_or(0);
        if images != labels.len() {
            return Err(DataError::UnequalParts { folder: place.to_owned(), images, labels: labels.len() });
        }
        Ok(Self { channels, height, width, pixels, labels })
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many channels an image has: 1 for grey, 3 for red, green and blue.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// How many rows an image has.
    pub fn height(&self) -> usize {
        self.height
    }

    /// How many pixels a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All pixels: image by image, in it channel by channel, in that row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The pixels of one image.
    ///
    /// # Panics
    /// If there is no such image.
    pub fn image(&self, index: usize) -> &[u8] {
        let size = self.channels * self.height * self.width;
        &self.pixels[index * size..][..size]
    }

    /// The class of every image.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }
}

/// The file of that name, gzipped or not, if there is one.
fn idx_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let found = [folder.join(format!("{name}.gz")), folder.join(name)];
    found.into_iter().find(|path| path.exists())
}

/// Reads the labels of images.
fn read_labels(path: &Path) -> Result<Vec<u8>, DataError> {
    let array = read_idx(path)?;
    if array.shape().len() != 1 {
        let found = format!("an array of {} dimensions", array.shape().len());
        let advice = "give a file of labels, which has one";
        return Err(DataError::Unsupported { file: shown_path(path), found, advice });
    }
    Ok(bytes(array))
}

/// The bytes of an array from an idx file.
fn bytes(array: Array) -> Vec<u8> {
    match array.into_values() {
        Values::U8(bytes) => bytes,
        // An idx file is read as bytes only.
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
