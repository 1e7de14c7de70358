//! Records with the same content, of which it is not known which is a member.

use crate::folder::{Content, Key};
use crate::refusal::Refusal;
use std::collections::HashMap;

/// What members and others have in common.
pub(super) struct Repeats {
    /// Which records have the content of another one: members first, then others.
    pub(super) is_repeated: Vec<bool>,
    /// Whether the training data are among the others, record by record.
    pub(super) holds_training_data: bool,
}

impl Repeats {
    /// Compares all records, hashed under a key that is thrown away.
    pub(super) fn of(members: Content<'_>, others: Content<'_>) -> Result<Self, Refusal> {
        let key = Key::draw()?;
        let (own, rest) = (key.records(members), key.records(others));
        let mut counts: HashMap<[u8; 32], [usize; 2]> = HashMap::new();
        own.iter().for_each(|hash| counts.entry(*hash).or_default()[0] += 1);
        rest.iter().for_each(|hash| counts.entry(*hash).or_default()[1] += 1);
        let is_repeated = |hash| counts.get(hash).is_some_and(|[own, rest]| own + rest > 1);
        Ok(Self {
            is_repeated: own.iter().chain(&rest).map(is_repeated).collect(),
            holds_training_data: !own.is_empty() && counts.values().all(|[own, rest]| rest >= own),
        })
    }

    /// How many records have the content of another one.
    pub(super) fn count(&self) -> usize {
        self.is_repeated.iter().filter(|repeated| **repeated).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_data::FeatureMatrix;
    use reticent_train::{Examples, Inputs, Targets};

    fn examples(values: &[f32], classes: &[u32]) -> Examples {
        Examples::new(&[1], Inputs::Real(values.to_vec()), Targets::Classes(classes.to_vec())).unwrap()
    }

    #[test]
    fn the_training_data_and_one_more_are_still_the_training_data() {
        let members = examples(&[1.0, 2.0, 2.0], &[0, 1, 1]);
        let found = |others: &Examples| {
            Repeats::of(Content::Examples(&members, None), Content::Examples(others, None)).unwrap()
        };
        let more = found(&examples(&[9.0, 2.0, 1.0, 2.0], &[0, 1, 0, 1]));
        assert!(more.holds_training_data);
        assert_eq!(more.is_repeated, [true, true, true, false, true, true, true]);
        // The one that is there twice must be among the others twice.
        let fewer = found(&examples(&[9.0, 2.0, 1.0], &[0, 1, 0]));
        assert!(!fewer.holds_training_data && fewer.count() == 5);
        // Another label is another record.
        let others = found(&examples(&[1.0, 3.0], &[1, 1]));
        assert!(!others.holds_training_data);
        assert_eq!(others.is_repeated, [false, true, true, false, false]);
    }

    #[test]
    fn rows_are_compared_with_their_labels() {
        let design =
            |values: &[f64], labels: &[f64]| FeatureMatrix::dense(1, values, labels.to_vec(), 1.0).unwrap();
        let (members, others) = (design(&[0.1, 0.2], &[1.0, -1.0]), design(&[0.1, 0.2], &[1.0, 1.0]));
        let found = Repeats::of(Content::Rows(&members), Content::Rows(&others)).unwrap();
        assert_eq!(found.is_repeated, [true, false, true, false]);
        assert!(!found.holds_training_data);
    }
}
