//! CIFAR-10: six batches of colour images of 32 × 32 pixels.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::thread;

use image_webp::WebPDecoder;

use super::{DatasetPart, Images, idx_file, read_labels};
use crate::error::{DataError, shown_path};
use crate::source::Source;

/// The side of an image.
const SIDE: usize = 32;
const CHANNELS: usize = 3;
const SIZE: usize = CHANNELS * SIDE * SIDE;
/// The most pixels along one side of a mosaic: 128 images.
const MOST_SIDE: usize = 128 * SIDE;
/// The most bytes that a decoder may hold besides the picture.
const MEMORY: usize = 1 << 28;

/// The pixels and, where they stand in the same file, the labels of one batch.
type Batch = Result<(Vec<u8>, Vec<u8>), DataError>;

/// Reads one part; `None` if the folder does not hold CIFAR-10.
pub(super) fn read(folder: &Path, part: DatasetPart) -> Result<Option<Images>, DataError> {
    let (names, labels): (&[&str], _) = match part {
        DatasetPart::Train => {
            let names = &["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"];
            (names, "train-labels-idx1-ubyte")
        }
        DatasetPart::Test => (&["test_batch"], "test-labels-idx1-ubyte"),
    };
    let paths = |extension: &str| -> Vec<PathBuf> {
        names.iter().map(|name| folder.join(name).with_extension(extension)).collect()
    };
    let has = |paths: &[PathBuf]| paths.iter().any(|path| path.exists());
    let (binary, mosaics) = (paths("bin"), paths("webp"));
    let (pixels, labels) = if has(&binary) {
        together(&binary, records)?
    } else if has(&mosaics) {
        let labels = idx_file(folder, labels).unwrap_or_else(|| folder.join(format!("{labels}.gz")));
        // The labels come first: they are quick to read.
        let labels = read_labels(&labels)?;
        (together(&mosaics, |path| Ok((mosaic(path)?, Vec::new())))?.0, labels)
    } else {
        return Ok(None);
    };
    Images::new((CHANNELS, SIDE, SIDE), pixels, labels, &shown_path(folder)).map(Some)
}

/// Reads all batches, each in a thread of its own, and puts them together in order.
fn together(paths: &[PathBuf], read: impl Fn(&Path) -> Batch + Sync) -> Batch {
    let batches: Vec<Batch> = thread::scope(|scope| {
        let running: Vec<_> = paths.iter().map(|path| scope.spawn(|| read(path))).collect();
        let joined = running.into_iter().zip(paths).map(|(thread, path)| {
            let failed = |_| DataError::malformed(&shown_path(path), "CIFAR-10", "it cannot be decoded");
            thread.join().map_err(failed).and_then(|batch| batch)
        });
        joined.collect()
    });
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for batch in batches {
        let (more_pixels, more_labels) = batch?;
        pixels.extend(more_pixels);
        labels.extend(more_labels);
    }
    Ok((pixels, labels))
}

/// The binary version: per image a byte for its label, then the red, green and blue pixels.
fn records(path: &Path) -> Batch {
    let bytes = whole(path, "CIFAR-10")?;
    let (records, rest) = bytes.as_chunks::<{ 1 + SIZE }>();
    if !rest.is_empty() || records.iter().any(|record| record[0] > 9) {
        let reason = "its size or a label is not CIFAR-10's";
        return Err(DataError::malformed(&shown_path(path), "CIFAR-10", reason));
    }
    let mut pixels = Vec::with_capacity(records.len() * SIZE);
    records.iter().for_each(|record| pixels.extend_from_slice(&record[1..]));
    Ok((pixels, records.iter().map(|record| record[0]).collect()))
}

/// A mosaic of images, row by row, as one lossless WebP picture.
fn mosaic(path: &Path) -> Result<Vec<u8>, DataError> {
    const FORMAT: &str = "WebP";
    let file = shown_path(path);
    let bytes = whole(path, FORMAT)?;
    let broken = |error: image_webp::DecodingError| DataError::malformed(&file, FORMAT, &error.to_string());
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(broken)?;
    decoder.set_memory_limit(MEMORY);
    let (width, height) = decoder.dimensions();
    let (width, height) = (width as usize, height as usize);
    let fits = |side: usize| side.is_multiple_of(SIDE) && (SIDE..=MOST_SIDE).contains(&side);
    if decoder.is_animated() || decoder.is_lossy() || decoder.has_alpha() || !fits(width) || !fits(height) {
        let found = format!("a picture of {width} x {height} pixels");
        let advice = "give a lossless mosaic of images of 32 x 32 pixels, without transparency";
        return Err(DataError::Unsupported { file, found, advice });
    }
    let mut picture = vec![0; width * height * CHANNELS];
    decoder.read_image(&mut picture).map_err(broken)?;
    Ok(tiles(&picture, width, height))
}

/// Cuts a picture of interleaved channels into images of separate ones.
fn tiles(picture: &[u8], width: usize, height: usize) -> Vec<u8> {
    let mut pixels = vec![0; picture.len()];
    let across = width / SIDE;
    for (index, image) in pixels.chunks_exact_mut(SIZE).enumerate().take(across * (height / SIDE)) {
        let (top, left) = (index / across * SIDE, index % across * SIDE);
        for row in 0..SIDE {
            let line = &picture[((top + row) * width + left) * CHANNELS..][..SIDE * CHANNELS];
            for (column, pixel) in line.chunks_exact(CHANNELS).enumerate() {
                for (channel, value) in pixel.iter().enumerate() {
                    image[(channel * SIDE + row) * SIDE + column] = *value;
                }
            }
        }
    }
    pixels
}

/// All bytes of a file that is not too large to be a batch.
fn whole(path: &Path, format: &'static str) -> Result<Vec<u8>, DataError> {
    let most = (MOST_SIDE * MOST_SIDE * CHANNELS) as u64;
    let (opened, bytes) = crate::source::open(path, format)?;
    if bytes > most {
        return Err(DataError::TooLarge { file: shown_path(path), bytes, most });
    }
    let mut source = Source::new(shown_path(path), format, opened, bytes, true);
    source.values(bytes, |[byte]: [u8; 1]| byte)
}
