//! Fixed copies of images that are trained on together with them.

use crate::{Examples, Inputs, Targets, TrainError, Units};
use serde::{Deserialize, Serialize};

/// Which copies of an image are trained on beside it. All copies of an image are one privacy unit: what a step adds for the image is
/// bounded as without copies.
///
/// # Reference
/// De et al., *Unlocking high-accuracy differentially private image classification through scale* (2022), for gradients that are
/// averaged over copies before they are clipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Augmentation {
    /// The image alone.
    #[default]
    None,
    /// And its mirror image.
    Flip,
    /// And the image moved by one pixel to the left, to the right, up and down; what comes in is black.
    Shift,
}

impl Augmentation {
    /// The names of all kinds.
    pub const NAMES: [(&'static str, Self); 3] =
        [("none", Self::None), ("flip", Self::Flip), ("shift", Self::Shift)];

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Flip => "flip",
            Self::Shift => "shift",
        }
    }

    /// How many examples an image becomes.
    pub fn copies(self) -> usize {
        match self {
            Self::None => 1,
            Self::Flip => 2,
            Self::Shift => 5,
        }
    }

    /// Which pixel of the image every pixel of one copy shows; none for black.
    fn source(self, copy: usize, [height, width]: [usize; 2]) -> Vec<Option<usize>> {
        let moved = |place: usize| {
            let (row, column) = (place / width, place % width);
            let (row, column) = match (self, copy) {
                (Self::Flip, 1) => (Some(row), Some(width - 1 - column)),
                (Self::Shift, 1) => (Some(row), Some(column + 1).filter(|at| *at < width)),
                (Self::Shift, 2) => (Some(row), column.checked_sub(1)),
                (Self::Shift, 3) => (Some(row + 1).filter(|at| *at < height), Some(column)),
                (Self::Shift, 4) => (row.checked_sub(1), Some(column)),
                _ => (Some(row), Some(column)),
            };
            Some(row? * width + column?)
        };
        (0..height * width).map(moved).collect()
    }

    /// Every image followed by its copies. What is returned keeps the [raw](Examples::raw) images.
    ///
    /// # Errors
    /// [`TrainError::Shape`] for examples that are not images of pixels with classes.
    pub fn apply(self, examples: Examples) -> Result<Examples, TrainError> {
        if self == Self::None {
            return Ok(examples);
        }
        let (Inputs::Pixels { values, shift, scale }, Targets::Classes(classes), &[_, height, width]) =
            (examples.inputs(), examples.targets(), examples.shape())
        else {
            return Err(TrainError::Shape("copies are made of images: these are others".to_owned()));
        };
        let copies = self.copies();
        let sources: Vec<_> = (0..copies).map(|copy| self.source(copy, [height, width])).collect();
        let mut made = Vec::with_capacity(values.len() * copies);
        for image in values.chunks_exact(examples.size()) {
            for source in &sources {
                for plane in image.chunks_exact(height * width) {
                    made.extend(source.iter().map(|from| from.map_or(0, |from| plane[from])));
                }
            }
        }
        let classes = classes.iter().flat_map(|class| std::iter::repeat_n(*class, copies)).collect();
        let inputs = Inputs::Pixels { values: made, shift: shift.clone(), scale: scale.clone() };
        let shape = examples.shape().to_vec();
        examples.became(&shape, inputs, Targets::Classes(classes))
    }

    /// The units of so many images with their copies: an image with all its copies is one.
    ///
    /// # Errors
    /// None for these units.
    pub fn units(self, images: usize) -> Result<Units, TrainError> {
        if self == Self::None {
            return Ok(Units::examples(images));
        }
        let copies = self.copies();
        Units::users(&(0..images * copies).map(|example| example / copies).collect::<Vec<_>>(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images() -> Examples {
        let inputs = Inputs::Pixels { values: (1..=12).collect(), shift: vec![0.0], scale: vec![1.0] };
        Examples::new(&[1, 2, 3], inputs, Targets::Classes(vec![4, 7])).unwrap()
    }

    fn pixels(examples: &Examples) -> Vec<u8> {
        match examples.inputs() {
            Inputs::Pixels { values, .. } => values.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn copies_follow_their_image() {
        assert_eq!(Augmentation::None.apply(images()).unwrap(), images());
        let flipped = Augmentation::Flip.apply(images()).unwrap();
        assert_eq!(pixels(&flipped)[..12], [1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 5, 4]);
        assert_eq!(pixels(&flipped)[12..], [7, 8, 9, 10, 11, 12, 9, 8, 7, 12, 11, 10]);
        assert_eq!(flipped.targets(), &Targets::Classes(vec![4, 4, 7, 7]));
        let moved = Augmentation::Shift.apply(images()).unwrap();
        assert_eq!(pixels(&moved)[..6], [1, 2, 3, 4, 5, 6]);
        assert_eq!(pixels(&moved)[6..12], [2, 3, 0, 5, 6, 0]);
        assert_eq!(pixels(&moved)[12..18], [0, 1, 2, 0, 4, 5]);
        assert_eq!(pixels(&moved)[18..24], [4, 5, 6, 0, 0, 0]);
        assert_eq!(pixels(&moved)[24..30], [0, 0, 0, 1, 2, 3]);
        assert_eq!((moved.len(), pixels(&moved)[30]), (10, 7));
        assert_eq!((moved.raw(), moved.subset(&[0]).are_derived()), (&images(), false));
    }

    #[test]
    fn an_image_with_its_copies_is_one_unit() {
        for (_, kind) in Augmentation::NAMES {
            let units = kind.units(7).unwrap();
            assert_eq!((units.len(), units.example_count()), (7, 7 * kind.copies()));
            let mut selection = crate::Selection::default();
            units.push(3, &mut reticent_noise::entropy::Repeatable::new([0; 4]), &mut selection);
            let own: Vec<usize> = (3 * kind.copies()..4 * kind.copies()).collect();
            assert_eq!(selection.unit(0), own);
        }
    }

    #[test]
    fn only_images_have_copies() {
        let rows = Examples::new(&[1, 1, 2], Inputs::Real(vec![0.0; 2]), Targets::Classes(vec![0])).unwrap();
        assert!(Augmentation::Flip.apply(rows.clone()).is_err());
        assert_eq!(Augmentation::None.apply(rows.clone()).unwrap(), rows);
    }

    #[test]
    fn names_are_those_of_requests() {
        for (name, kind) in Augmentation::NAMES {
            assert_eq!((kind.word(), serde_json::to_value(kind).unwrap()), (name, name.into()));
        }
    }
}
