//! What an audit knows that gives away who is a member. It goes into a file of its own, and into nothing that is shared.

use crate::findings::{ExposedRecord, Exposure, RecordFindings};
use serde::{Deserialize, Serialize};

/// The name of this layout, in the field `schema`.
pub const SCHEMA: &str = "reticent-audit-private/1";

/// The first field of the file.
const WHAT: &str = "PRIVATE: this file says which records were in the training data. Do not share it.";

/// The records most at risk, with who they are and whether they were members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Private {
    /// What this is.
    pub what: String,
    /// [`SCHEMA`].
    pub schema: String,
    /// The attack whose scores these are.
    pub attack: String,
    /// The records most at risk, in the order of [`Exposure::worst`] where that lists them.
    pub records: RecordFindings,
}

impl Private {
    /// The findings about single records, by this attack.
    pub fn new(attack: &str, records: RecordFindings) -> Self {
        Self { what: WHAT.to_owned(), schema: SCHEMA.to_owned(), attack: attack.to_owned(), records }
    }
}

/// What may be shared of the findings about single records: how far reference models with and without them are apart, which no more
/// depends on the target's members than the references do. A list that is sorted by the attack's score names members, so none of
/// it is shared.
pub(crate) fn shared(records: &RecordFindings) -> Exposure {
    let RecordFindings { sorted_by, compared, worst, reason } = records;
    let (sorted_by, compared) = (sorted_by.clone(), *compared);
    if worst.iter().any(|record| record.separation.is_none()) {
        let reason = "without reference models records are sorted by the attack's score, which tells who is a member: that list \
                      is in private.json alone";
        return Exposure { sorted_by, compared, worst: Vec::new(), reason: Some(reason.to_owned()) };
    }
    let shown = |(place, record): (u64, &crate::findings::RecordFinding)| ExposedRecord {
        place,
        separation: record.separation,
        accuracy: record.accuracy,
    };
    Exposure { sorted_by, compared, worst: (1..).zip(worst).map(shown).collect(), reason: reason.clone() }
}
