//! Rows of features for a learner.

use crate::encode::encode;
use crate::{Features, Study};

/// The most classes that get a column each.
const MOST_CLASSES: usize = 64;

/// The features and the label, where there are any: a column per class, or one of class numbers when there are many.
pub(crate) fn with_labels(study: &Study) -> Features {
    let parts = study.parts();
    let (columns, values) = parts.features.as_ref().map_or((0, &[][..]), |f| (f.columns, &f.values[..]));
    let classes = parts.labels.iter().flatten().map(|label| *label as usize + 1).max().unwrap_or(0);
    let own = if classes > MOST_CLASSES { 1 } else { classes };
    let mut all = Vec::with_capacity((columns + own) * study.len());
    for record in 0..study.len() {
        all.extend_from_slice(&values[record * columns..(record + 1) * columns]);
        let from = all.len();
        all.resize(from + own, 0.0);
        match &parts.labels {
            Some(labels) if own == classes => all[from + labels[record] as usize] = 1.0,
            Some(labels) => all[from] = labels[record] as f32,
            None => {}
        }
    }
    Features { columns: columns + own, values: all }
}

/// All that is known of records without a model: features, label and groups, and the groups that are mostly different texts.
pub(crate) fn with_groups(study: &Study) -> (Features, Vec<String>) {
    let own = with_labels(study);
    let (mut columns, mut free_text) = (Vec::new(), Vec::new());
    for (name, groups) in &study.parts().groups {
        let found = encode(groups);
        if found.is_free_text {
            free_text.push(name.clone());
        }
        columns.extend(found.columns);
    }
    if columns.is_empty() {
        return (own, free_text);
    }
    let mut values = Vec::with_capacity((own.columns + columns.len()) * study.len());
    for record in 0..study.len() {
        values.extend_from_slice(&own.values[record * own.columns..(record + 1) * own.columns]);
        values.extend(columns.iter().map(|column| column[record]));
    }
    (Features { columns: own.columns + columns.len(), values }, free_text)
}

/// Some rows.
pub(crate) fn chosen(features: &Features, rows: &[usize]) -> Features {
    let columns = features.columns;
    let values = rows.iter().flat_map(|row| &features.values[row * columns..(row + 1) * columns]);
    Features { columns, values: values.copied().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Signals, StudyParts};

    fn study(labels: Vec<u32>) -> Study {
        let features = Some(Features { columns: 1, values: vec![0.5, 1.5] });
        let (members, signals) = (vec![true, false], Signals::of_scores(vec![0.0, 1.0]));
        Study::new(StudyParts { members, signals, features, labels: Some(labels), ..StudyParts::default() })
            .unwrap()
    }

    #[test]
    fn few_classes_have_a_column_each() {
        let found = with_labels(&study(vec![1, 0]));
        assert_eq!((found.columns, found.values), (3, vec![0.5, 0.0, 1.0, 1.5, 1.0, 0.0]));
    }

    #[test]
    fn many_classes_share_one() {
        let found = with_labels(&study(vec![4_000_000, 7]));
        assert_eq!((found.columns, found.values), (2, vec![0.5, 4_000_000.0, 1.5, 7.0]));
    }

    #[test]
    fn rows_are_chosen_in_order() {
        let features = Features { columns: 2, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        assert_eq!(chosen(&features, &[2, 0]).values, [5.0, 6.0, 1.0, 2.0]);
    }
}
