//! What an audit knows that gives away who is a member. It goes into a file of its own, and into nothing that is shared.

use crate::findings::{ExposedRecord, Exposure, GroupFinding, RecordFindings};
use crate::metrics::FEWEST;
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
    /// Every audited author, where rows are authors: the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<PrivateAuthor>,
}

/// What only the owner of the data may know about an author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivateAuthor {
    /// The pseudonym on the page that may be shared.
    pub pseudonym: String,
    /// The id in the scores.
    pub id: String,
    /// The author, as the column has it.
    pub author: String,
    /// Whether the model was trained on the author.
    pub member: bool,
    /// The score of the headline attack, larger for members.
    pub score: f64,
    /// The samples that leak most, the largest leak first.
    pub samples: Vec<PrivateSample>,
}

/// One sample of an author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivateSample {
    /// The file it is in.
    pub from: String,
    /// Its row there, from 1.
    pub row: u64,
    /// How much likelier the target finds it than reference models without the author, in nats per token.
    pub leak: f64,
}

impl Private {
    /// The findings about single records, by this attack.
    pub fn new(attack: &str, records: RecordFindings) -> Self {
        Self {
            what: WHAT.to_owned(),
            schema: SCHEMA.to_owned(),
            attack: attack.to_owned(),
            records,
            authors: Vec::new(),
        }
    }
}

/// What may be shared of the findings about single records: how far reference models with and without them are apart, which no more
/// depends on the target's members than the references do. A list that is sorted by the attack's score names members, so none of
/// it is shared.
pub(crate) fn shared(records: &RecordFindings) -> Exposure {
    let RecordFindings { sorted_by, compared, worst, reason } = records;
    let (sorted_by, compared) = (sorted_by.clone(), *compared);
    if worst.iter().any(|record| record.separation.is_none()) {
        let reason = "too few reference models to compare any record with and without it (2 of each are needed), and a list sorted by \
                      the attack's score would tell who is a member: that one is in private.json alone";
        return Exposure { sorted_by, compared, worst: Vec::new(), reason: Some(reason.to_owned()) };
    }
    let shown = |(place, record): (u64, &crate::findings::RecordFinding)| ExposedRecord {
        place,
        separation: record.separation,
        accuracy: record.accuracy,
    };
    Exposure { sorted_by, compared, worst: (1..).zip(worst).map(shown).collect(), reason: reason.clone() }
}

/// What may be shared of the findings about groups: groups of few members or few non-members are counted together, with the next
/// smallest group where these would still be few, so that no group's numbers are those of a handful of records.
pub(crate) fn shared_groups(groups: Vec<GroupFinding>) -> Vec<GroupFinding> {
    let is_few = |members: u64, non_members: u64| members < FEWEST || non_members < FEWEST;
    let mut shared = Vec::with_capacity(groups.len());
    for column in groups.chunk_by(|a, b| a.column == b.column) {
        let mut order: Vec<&GroupFinding> = column.iter().collect();
        order.sort_by_key(|group| {
            (!is_few(group.members, group.non_members), group.members + group.non_members)
        });
        let (mut joined, mut members, mut non_members) = (0, 0, 0);
        for group in &order {
            if !is_few(group.members, group.non_members) && (joined == 0 || !is_few(members, non_members)) {
                break;
            }
            joined += 1;
            members += group.members;
            non_members += group.non_members;
        }
        if joined < 2 {
            shared.extend_from_slice(column);
            continue;
        }
        let kept = &order[joined..];
        shared.extend(
            column.iter().filter(|group| kept.iter().any(|other| other.group == group.group)).cloned(),
        );
        shared.push(GroupFinding {
            column: column[0].column.clone(),
            group: format!("{joined} groups together"),
            members,
            non_members,
            tpr: None,
            fpr: None,
            auc: None,
            advantage: None,
            others: None,
            reason: Some(format!(
                "groups with fewer than {FEWEST} members or {FEWEST} non-members are counted together"
            )),
        });
    }
    shared
}
