//! Rows of features for a learner.

use crate::{AuditError, Features, Study};

/// The most classes that get a column each.
const MOST_CLASSES: usize = 10_000;

/// The features, and a column per class where there are labels.
pub(crate) fn with_labels(study: &Study) -> Result<Features, AuditError> {
    let parts = study.parts();
    let (columns, values) = parts.features.as_ref().map_or((0, &[][..]), |f| (f.columns, &f.values[..]));
    let classes = parts.labels.iter().flatten().map(|label| *label as usize + 1).max().unwrap_or(0);
    if classes > MOST_CLASSES {
        let remedy = format!("number the classes from 0; at most {MOST_CLASSES} are supported here");
        return Err(AuditError::invalid("label", classes - 1, remedy));
    }
    let mut all = Vec::with_capacity((columns + classes) * study.len());
    for record in 0..study.len() {
        all.extend_from_slice(&values[record * columns..(record + 1) * columns]);
        let from = all.len();
        all.resize(from + classes, 0.0);
        if let Some(labels) = &parts.labels {
            all[from + labels[record] as usize] = 1.0;
        }
    }
    Ok(Features { columns: columns + classes, values: all })
}

/// Some rows.
pub(crate) fn chosen(features: &Features, rows: &[usize]) -> Features {
    let columns = features.columns;
    let values = rows.iter().flat_map(|row| &features.values[row * columns..(row + 1) * columns]);
    Features { columns, values: values.copied().collect() }
}
