use crate::AttackError;
use reticent_audit::Features;
use reticent_train::{Examples, Inputs, Targets};

/// What is known of the records without any model.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// Unique names; empty for their numbers from 0.
    pub ids: Vec<String>,
    /// The true class of every record; empty where records are authors.
    pub labels: Vec<u32>,
    /// Whose record it is.
    pub users: Option<Vec<String>>,
    /// Where every record is an author with some samples: the most samples that one of them has.
    pub user_records: Option<u64>,
    /// Declared groups: the name of a column, and the group of every record.
    pub groups: Vec<(String, Vec<String>)>,
    /// What the baseline without a model looks at.
    pub features: Option<Features>,
}

impl Population {
    /// Records of these classes, which are also their groups.
    pub fn of_labels(labels: Vec<u32>) -> Self {
        let groups = vec![("class".to_owned(), labels.iter().map(ToString::to_string).collect())];
        Self { ids: Vec::new(), labels, users: None, user_records: None, groups, features: None }
    }

    /// The records of examples: their inputs are the features. Texts have none, since positions in a vocabulary are not
    /// quantities.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] when the targets are numbers: attacks here are on classifiers.
    pub fn of_examples(examples: &Examples) -> Result<Self, AttackError> {
        let mut population = Self::of_labels(classes_of(examples)?.to_vec());
        if !matches!(examples.inputs(), Inputs::Tokens(_)) {
            let columns = examples.size();
            let mut values = vec![0.0; columns * examples.len()];
            values.chunks_exact_mut(columns).enumerate().for_each(|(record, row)| examples.read(record, row));
            population.features = Some(Features { columns, values });
        }
        Ok(population)
    }

    /// Authors by these names, of whom one has `most` samples; nobody has a class.
    pub fn of_authors(ids: Vec<String>, most: u64, features: Features) -> Self {
        Self {
            ids,
            labels: Vec::new(),
            users: None,
            user_records: Some(most),
            groups: Vec::new(),
            features: Some(features),
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.labels.len().max(self.ids.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The classes of examples.
pub(crate) fn classes_of(examples: &Examples) -> Result<&[u32], AttackError> {
    match examples.targets() {
        Targets::Classes(classes) => Ok(classes),
        Targets::Numbers(_) => {
            Err(AttackError::premise("targets", "numbers", "give classes: attacks here are on classifiers"))
        }
        Targets::Next(_) => {
            let remedy = "give classes: attacks here are on classifiers";
            Err(AttackError::premise("targets", "next tokens", remedy))
        }
    }
}
