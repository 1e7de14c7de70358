//! From what the data crate reads to examples.

use crate::{Examples, Inputs, Targets, TrainError, UNSCORED};
use reticent_data::schema::LabelKind;
use reticent_data::text::{PADDING, Sequences, Texts};
use reticent_data::{FeatureMatrix, Images};

/// Images, a byte per pixel, as `(pixel / 255 - shift) / scale` with public constants: one for all channels, or one per
/// channel.
///
/// # Errors
/// [`TrainError::Invalid`] for another number of constants; [`TrainError::Shape`] for images without pixels, or
/// constants without meaning.
pub fn images(images: &Images, shift: &[f32], scale: &[f32]) -> Result<Examples, TrainError> {
    let shape = [images.channels(), images.height(), images.width()];
    let classes = images.labels().iter().map(|label| u32::from(*label)).collect();
    pixels(shape, images.pixels().to_vec(), classes, shift, scale)
}

/// As [`images`], from pixels and classes.
///
/// # Errors
/// As [`images`].
pub fn pixels(
    shape: [usize; 3],
    values: Vec<u8>,
    classes: Vec<u32>,
    shift: &[f32],
    scale: &[f32],
) -> Result<Examples, TrainError> {
    let per_channel = |field: &'static str, given: &[f32]| match given {
        [one] => Ok(vec![*one; shape[0]]),
        several if several.len() == shape[0] => Ok(several.to_vec()),
        several => {
            let remedy = format!("give one number, or one for each of the {} channels", shape[0]);
            Err(TrainError::invalid(field, format!("{several:?}"), remedy))
        }
    };
    let (shift, scale) = (per_channel("shift", shift)?, per_channel("scale", scale)?);
    Examples::new(&shape, Inputs::Pixels { values, shift, scale }, Targets::Classes(classes))
}

/// Encoded rows of a table, every number times `scale`, a public constant. Without labels, all targets are 0.
///
/// # Errors
/// [`TrainError::Shape`] when the design has no features.
pub fn rows(design: &FeatureMatrix, target: &LabelKind, scale: f64) -> Result<Examples, TrainError> {
    let width = design.dimension();
    let mut values = vec![0.0; width * design.rows()];
    for row in 0..design.rows() {
        let (columns, entries) = design.row(row);
        for (column, value) in columns.iter().zip(entries) {
            values[row * width + *column as usize] = (value * scale) as f32;
        }
    }
    Examples::new(&[width], Inputs::Real(values), targets(design.labels(), target, design.rows()))
}

/// Texts as positions in a vocabulary, `length` each. Without labels, all targets are 0.
///
/// # Errors
/// [`TrainError::Shape`] for a length of 0, or another than the texts'.
pub fn texts(texts: Texts, target: &LabelKind, length: usize) -> Result<Examples, TrainError> {
    let count = texts.positions.len().checked_div(length).unwrap_or(0);
    let targets = targets(&texts.labels, target, count);
    Examples::new(&[length], Inputs::Tokens(texts.positions), targets)
}

/// Whole texts as pieces of `length` tokens for the next-token loss, and the number of each piece's text.
///
/// [`PADDING`] stands before the first token and after the last, so every token and the end of the text are scored once, in one of its
/// pieces. The first position of a later piece reads the last token of the piece before it. A text without tokens has one piece, in
/// which its end is scored.
///
/// # Errors
/// [`TrainError::Invalid`] for a length below 2.
pub fn pieces(texts: &Sequences, length: usize) -> Result<(Examples, Vec<u32>), TrainError> {
    if length < 2 {
        return Err(TrainError::invalid("length", length, "give at least 2 tokens per piece"));
    }
    let (mut inputs, mut next, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for (owner, text) in texts.texts().enumerate() {
        let mut before = PADDING;
        // The tokens and the end of the text.
        let wanted: Vec<u32> = text.iter().copied().chain([PADDING]).collect();
        for piece in wanted.chunks(length) {
            inputs.push(before);
            inputs.extend_from_slice(&piece[..piece.len() - 1]);
            next.extend_from_slice(piece);
            inputs.extend(std::iter::repeat_n(PADDING, length - piece.len()));
            next.extend(std::iter::repeat_n(UNSCORED, length - piece.len()));
            before = piece[piece.len() - 1];
            owners.push(owner as u32);
        }
    }
    Ok((Examples::new(&[length], Inputs::Tokens(inputs), Targets::Next(next))?, owners))
}

/// Labels as a [`FeatureMatrix`] has them: classes from 0, or numbers from -1 to 1.
fn targets(labels: &[f64], target: &LabelKind, count: usize) -> Targets {
    let label = |index: usize| labels.get(index).copied().unwrap_or(0.0);
    match target {
        LabelKind::Number(_) => Targets::Numbers((0..count).map(|index| label(index) as f32).collect()),
        LabelKind::Binary { .. } => {
            Targets::Classes((0..count).map(|index| u32::from(label(index) > 0.0)).collect())
        }
        // The encoder wrote the position.
        LabelKind::Classes { .. } => Targets::Classes((0..count).map(|index| label(index) as u32).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_data::schema::{Bounds, Categories};

    #[test]
    fn rows_become_dense_and_labels_classes() {
        let design = FeatureMatrix::sparse(
            3,
            vec![0, 1, 3],
            vec![1, 0, 2],
            vec![0.5, 0.25, 0.5],
            vec![-1.0, 1.0],
            1.0,
        );
        let design = design.unwrap();
        let binary = LabelKind::Binary { positive: "yes".to_owned() };
        let found = rows(&design, &binary, 2.0).unwrap();
        assert_eq!(found.inputs(), &Inputs::Real(vec![0.0, 1.0, 0.0, 0.5, 0.0, 1.0]));
        assert_eq!(found.targets(), &Targets::Classes(vec![0, 1]));
        let number = LabelKind::Number(Bounds::new(0.0, 10.0).unwrap());
        assert_eq!(rows(&design, &number, 1.0).unwrap().targets(), &Targets::Numbers(vec![-1.0, 1.0]));
    }

    #[test]
    fn texts_keep_their_order() {
        let target = LabelKind::Classes { categories: Categories::new(["a", "b", "c"]).unwrap(), other: 0 };
        let read = Texts { positions: vec![0, 2, 3, 1], labels: vec![2.0, 1.0], users: None };
        let found = texts(read.clone(), &target, 2).unwrap();
        assert_eq!((found.len(), found.targets()), (2, &Targets::Classes(vec![2, 1])));
        assert!(texts(read.clone(), &target, 0).is_err());
        let bare = texts(Texts { labels: vec![], ..read }, &target, 2).unwrap();
        assert_eq!(bare.targets(), &Targets::Classes(vec![0, 0]));
    }

    #[test]
    fn every_token_of_a_text_is_scored_once() {
        let mut read = Sequences::default();
        [&[5, 6, 7, 8][..], &[], &[9, 9]].into_iter().for_each(|text| read.push(text));
        let (found, owners) = pieces(&read, 3).unwrap();
        assert_eq!(owners, [0, 0, 1, 2]);
        assert_eq!(found.inputs(), &Inputs::Tokens(vec![0, 5, 6, 7, 8, 0, 0, 0, 0, 0, 9, 9]));
        let none = UNSCORED;
        assert_eq!(found.targets(), &Targets::Next(vec![5, 6, 7, 8, 0, none, 0, none, none, 9, 9, 0]));
        assert!(pieces(&read, 1).unwrap_err().to_string().contains("length"));
        assert_eq!(pieces(&Sequences::default(), 3).unwrap().0.len(), 0);
    }

    #[test]
    fn constants_are_for_all_channels_or_for_each() {
        let make = |shift: &[f32]| pixels([3, 1, 1], vec![0, 255, 51], vec![4], shift, &[0.5]);
        let mut values = [0.0; 3];
        make(&[0.5]).unwrap().read(0, &mut values);
        assert!(values.iter().zip([-1.0, 1.0, -0.6]).all(|(a, b)| (a - b).abs() < 1e-6), "{values:?}");
        make(&[0.0, 0.5, 0.2]).unwrap().read(0, &mut values);
        assert!(values.iter().zip([0.0, 1.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{values:?}");
        assert!(make(&[0.5, 0.5]).unwrap_err().to_string().contains("3 channels"));
    }
}
