use image_webp::{ColorType, WebPEncoder};

use super::*;
use crate::fixture::Folder;

/// A byte that tells where it came from.
fn pixel(batch: usize, image: usize, channel: usize, row: usize, column: usize) -> u8 {
    (batch * 101 + image * 53 + channel * 17 + row * 7 + column * 3) as u8
}

/// Two by three images as one interleaved picture.
fn mosaic(batch: usize) -> Vec<u8> {
    let (across, down) = (2, 3);
    let mut picture = Vec::new();
    for y in 0..down * 32 {
        for x in 0..across * 32 {
            let image = y / 32 * across + x / 32;
            picture.extend((0..3).map(|channel| pixel(batch, image, channel, y % 32, x % 32)));
        }
    }
    webp(&picture, across * 32, down * 32, ColorType::Rgb8)
}

fn webp(picture: &[u8], width: usize, height: usize, color: ColorType) -> Vec<u8> {
    let mut bytes = Vec::new();
    WebPEncoder::new(&mut bytes).encode(picture, width as u32, height as u32, color).unwrap();
    bytes
}

fn idx(shape: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, shape.len() as u8];
    shape.iter().for_each(|length| bytes.extend(length.to_be_bytes()));
    [&bytes, data].concat()
}

fn cifar() -> Folder {
    let folder = Folder::new();
    for batch in 1..=5 {
        folder.file(&format!("data_batch_{batch}.webp"), mosaic(batch));
    }
    folder.file("test_batch.webp", mosaic(6));
    folder.file("train-labels-idx1-ubyte", idx(&[30], &(0..30).collect::<Vec<u8>>()));
    folder.file("test-labels-idx1-ubyte", idx(&[6], &[9; 6]));
    folder
}

#[test]
fn grey_images_are_read_with_their_labels() {
    let folder = Folder::new();
    folder.file("train-images-idx3-ubyte", idx(&[2, 2, 3], &(0..12).collect::<Vec<u8>>()));
    folder.file("train-labels-idx1-ubyte", idx(&[2], &[7, 1]));
    let images = Images::read(&folder.path(""), DatasetPart::Train).unwrap();
    assert_eq!((images.len(), images.channels(), images.height(), images.width()), (2, 1, 2, 3));
    assert_eq!((images.image(1), images.labels()), (&[6, 7, 8, 9, 10, 11][..], &[7, 1][..]));
    assert!(!images.is_empty() && images.pixels().len() == 12);
    let error = Images::read(&folder.path(""), DatasetPart::Test).unwrap_err();
    assert_eq!(
        folder.message(error),
        ": no images found: expected files such as train-images-idx3-ubyte.gz or data_batch_1.bin"
    );
}

#[test]
fn images_and_labels_must_fit() {
    let folder = Folder::new();
    let images = folder.file("train-images-idx3-ubyte", idx(&[2, 1, 1], &[1, 2]));
    let read = |labels: Vec<u8>| {
        let labels = folder.file("train-labels-idx1-ubyte", labels);
        folder.message(Images::read_idx(&images, &labels).unwrap_err())
    };
    assert_eq!(
        read(idx(&[3], &[1, 2, 3])),
        "train-images-idx3-ubyte: there are 2 images and 3 labels: fetch the files again"
    );
    assert!(read(idx(&[1, 2], &[1, 2])).contains("give a file of labels, which has one"));
    std::fs::remove_file(folder.path("train-labels-idx1-ubyte")).unwrap();
    let error = Images::read(&folder.path(""), DatasetPart::Train).unwrap_err();
    assert_eq!(folder.message(error), "train-labels-idx1-ubyte.gz: no such file");
    let flat = folder.file("flat", idx(&[2], &[1, 2]));
    let error = Images::read_idx(&flat, &flat).unwrap_err();
    assert!(folder.message(error).contains("give a file of images, which has three"));
    let none = folder.file("none", idx(&[5, 0, 3], &[]));
    let labels = folder.file("labels", idx(&[5], &[0; 5]));
    assert!(Images::read_idx(&none, &labels).is_err());
}

#[test]
fn mosaics_are_cut_into_images() {
    let folder = cifar();
    let images = Images::read(&folder.path(""), DatasetPart::Train).unwrap();
    assert_eq!((images.len(), images.channels(), images.height(), images.width()), (30, 3, 32, 32));
    assert_eq!(images.labels(), (0..30).collect::<Vec<u8>>());
    for image in 0..30 {
        for (at, value) in images.image(image).iter().enumerate() {
            let (channel, row, column) = (at / 1024, at / 32 % 32, at % 32);
            assert_eq!(*value, pixel(1 + image / 6, image % 6, channel, row, column));
        }
    }
    let test = Images::read(&folder.path(""), DatasetPart::Test).unwrap();
    assert_eq!((test.len(), test.labels()), (6, &[9; 6][..]));
}

#[test]
fn the_binary_version_holds_the_same() {
    let (folder, mosaics) = (Folder::new(), cifar());
    for batch in 1..=5 {
        let record = |image: usize| {
            let pixels = (0..3072).map(move |at| pixel(batch, image, at / 1024, at / 32 % 32, at % 32));
            std::iter::once((image % 10) as u8).chain(pixels)
        };
        let records: Vec<u8> = (0..6).flat_map(record).collect();
        folder.file(&format!("data_batch_{batch}.bin"), records);
    }
    let images = Images::read(&folder.path(""), DatasetPart::Train).unwrap();
    assert_eq!(images.pixels(), Images::read(&mosaics.path(""), DatasetPart::Train).unwrap().pixels());
    assert_eq!(images.labels()[..7], [0, 1, 2, 3, 4, 5, 0]);
    for bytes in [vec![0; 3072], vec![10; 3073]] {
        folder.file("data_batch_3.bin", bytes);
        let error = Images::read(&folder.path(""), DatasetPart::Train).unwrap_err();
        assert!(folder.message(error).contains("its size or a label is not CIFAR-10's"));
    }
    std::fs::remove_file(folder.path("data_batch_3.bin")).unwrap();
    let error = Images::read(&folder.path(""), DatasetPart::Train).unwrap_err();
    assert_eq!(folder.message(error), "data_batch_3.bin: no such file");
}

#[test]
fn other_pictures_are_refused() {
    let folder = cifar();
    let refused = |bytes: Vec<u8>| {
        folder.file("test_batch.webp", bytes);
        folder.message(Images::read(&folder.path(""), DatasetPart::Test).unwrap_err())
    };
    let odd = refused(webp(&vec![0; 33 * 32 * 3], 33, 32, ColorType::Rgb8));
    assert!(odd.contains("a picture of 33 x 32 pixels cannot be read"), "{odd}");
    let transparent = refused(webp(&vec![7; 32 * 32 * 4], 32, 32, ColorType::Rgba8));
    assert!(transparent.contains("without transparency"), "{transparent}");
    let fewer = refused(webp(&vec![0; 32 * 32 * 3], 32, 32, ColorType::Rgb8));
    assert!(fewer.ends_with("there are 1 images and 6 labels: fetch the files again"), "{fewer}");
    let text = refused(b"not a picture".to_vec());
    assert!(text.contains("not a readable WebP file"), "{text}");
}

#[test]
fn damaged_pictures_never_panic() {
    let folder = cifar();
    let whole = mosaic(6);
    let read = |bytes: &[u8]| {
        // To replace a file is slow.
        std::fs::remove_file(folder.path("test_batch.webp")).unwrap();
        folder.file("test_batch.webp", bytes);
        Images::read(&folder.path(""), DatasetPart::Test)
    };
    for at in (0..whole.len()).step_by(whole.len() / 64) {
        assert!(read(&whole[..at]).is_err(), "cut to {at}");
    }
    let near_the_start = 0..whole.len().min(80) * 8;
    let beyond = (near_the_start.end..whole.len() * 8).step_by(977);
    for bit in near_the_start.chain(beyond) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Err(error) = read(&bytes) {
            assert!(
                !folder.message(error).contains("it cannot be decoded"),
                "the decoder panicked at bit {bit}"
            );
        }
    }
}
