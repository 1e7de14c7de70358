//! Everything an audit says, as it is written to JSON. Field names are stable.

use crate::attacks::{AccessLevel, AttackKind};
use crate::disclosure::{Disclosure, ObservedRounds, Trajectory};
use crate::{AuditUnit, Overfitting};
use reticent_core::Neighboring;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of this layout, in the field `schema`.
pub const SCHEMA: &str = "reticent-audit/2";

/// A measured number with an interval that covers the true one with the stated confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// What was measured.
    pub value: f64,
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// How sure the interval is, e.g. 0.95.
    pub confidence: f64,
}

/// The true-positive rate at a false-positive rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateAt {
    /// The false-positive rate that was asked for.
    pub fpr: f64,
    /// The true-positive rate there, with an interval; none when it cannot be measured. Where scores tie across it, of an
    /// attacker who flags a random share of the tied records.
    pub tpr: Option<Estimate>,
    /// Non-members that are flagged; of tied records the mean number.
    pub false_positives: Option<u64>,
    /// Members that are flagged; of tied records the mean number.
    pub true_positives: Option<u64>,
    /// The share of members among the flagged at the declared prior.
    pub ppv: Option<Estimate>,
    /// Why there is no number.
    pub reason: Option<String>,
}

/// Counts of scores between edges. A bin holds at least 10 members and 10 non-members, unless it is the only one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// One more than there are bins.
    pub edges: Vec<f64>,
    /// Members per bin.
    pub members: Vec<u64>,
    /// Non-members per bin.
    pub non_members: Vec<u64>,
}

/// How well an attack tells members from non-members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Performance {
    /// What was scored and counted: records, or users.
    #[serde(default)]
    pub unit: AuditUnit,
    /// How many members were scored.
    pub members: u64,
    /// How many non-members were scored.
    pub non_members: u64,
    /// The area under the curve: the chance that a member scores above a non-member, ties counted half.
    pub auc: Estimate,
    /// The best mean of true-positive and true-negative rate over all thresholds.
    pub balanced_accuracy: Estimate,
    /// The best difference of true- and false-positive rate over all thresholds.
    pub advantage: Estimate,
    /// True-positive rates at the false-positive rates asked for.
    pub rates: Vec<RateAt>,
    /// The prior share of members for `ppv`, if one was declared.
    pub prior: Option<f64>,
    /// Corners of the curve as (false-positive rate, true-positive rate), from (0, 0) to (1, 1). A step passes at least 10 members and
    /// 10 non-members; only the last one may pass fewer, where it starts at one of `rates`.
    pub roc: Vec<(f64, f64)>,
    /// The scores, for drawing.
    pub histogram: Histogram,
}

/// A lower bound on ε that holds with the stated confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpsilonLower {
    /// The bound, rounded down; 0 when nothing is proven.
    pub value: f64,
    /// The δ it is for.
    pub delta: f64,
    /// How sure it is, e.g. 0.95.
    pub confidence: f64,
    /// How it follows, e.g. `one-run`.
    pub method: String,
    /// What paid for the choice of thresholds, e.g. `chosen on a held-out fifth`.
    pub correction: String,
    /// What must be true of the experiment for the bound to hold.
    pub premise: String,
    /// Whose data one coin decided on.
    #[serde(default)]
    pub unit: AuditUnit,
    /// The most records that one coin decided on.
    #[serde(default)]
    pub unit_records: u64,
    /// Whether a coin added the data or exchanged it for other data; null where the experiment does not tell.
    #[serde(default)]
    pub neighboring: Option<Neighboring>,
    /// The counts it rests on, such as guesses and correct guesses.
    pub counts: BTreeMap<String, u64>,
}

/// Who attacks and what they have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threat {
    /// What the attacker sees of the model, e.g. `probabilities of all classes`.
    pub access: String,
    /// What else they have, e.g. `16 models trained on data like the target's`.
    pub knowledge: String,
    /// What they want to learn.
    pub goal: String,
}

/// What one attack achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackFinding {
    /// A stable name, e.g. `lira-online`.
    pub name: String,
    /// The question it answers.
    #[serde(default)]
    pub kind: AttackKind,
    /// One line about what it does.
    pub about: String,
    /// Settings that were chosen, and how.
    pub settings: BTreeMap<String, String>,
    /// Who could run it.
    pub threat: Threat,
    /// How well it did.
    pub performance: Performance,
    /// What it proves about ε.
    pub epsilon_lower: Option<EpsilonLower>,
    /// How many records had no reference model on one side and were filled in from the others.
    #[serde(default)]
    pub filled_in: u64,
}

/// The strongest attack of an attacker who sees so much of the model, chosen without the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccessFinding {
    /// What the attacker sees; each level includes those before it.
    pub access: AccessLevel,
    /// The attack, by its name in `attacks`.
    pub attack: String,
    /// How it was chosen.
    pub chosen: String,
}

/// An attack that was not run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotRun {
    /// Its name.
    pub name: String,
    /// The question it would have answered.
    #[serde(default)]
    pub kind: AttackKind,
    /// Why.
    pub reason: String,
}

/// How well members are told from non-members without any model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineFinding {
    /// None when it could not be measured.
    pub performance: Option<Performance>,
    /// What the classifier was, or why there is none.
    pub about: String,
    /// Whether members and non-members differ before any model is asked: attacks then measure that too.
    pub shift: Option<bool>,
}

/// How an attack did on one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupFinding {
    /// The column, e.g. `class` or `sex`.
    pub column: String,
    /// The group.
    pub group: String,
    /// Its members among the records.
    pub members: u64,
    /// Its non-members.
    pub non_members: u64,
    /// The true-positive rate at the attack's threshold for everybody; simultaneous over all groups.
    pub tpr: Option<Estimate>,
    /// The false-positive rate at that threshold; simultaneous over all groups.
    pub fpr: Option<Estimate>,
    /// The area under the group's own curve; simultaneous over all groups.
    pub auc: Option<Estimate>,
    /// The true- less the false-positive rate at that threshold: what a group whose scores are higher throughout does not have;
    /// simultaneous over all groups.
    #[serde(default)]
    pub advantage: Option<Estimate>,
    /// The mean area of the column's other groups, weighted by members; simultaneous over all groups.
    #[serde(default)]
    pub others: Option<Estimate>,
    /// Why there is no number.
    pub reason: Option<String>,
}

impl GroupFinding {
    /// Whether members of the group are surely told from non-members of the group better, or worse, than elsewhere. A group whose
    /// scores are higher for members and non-members alike does not stand out.
    pub fn stands_out(&self) -> bool {
        match (&self.auc, &self.others) {
            (Some(own), Some(others)) => own.lower > others.upper || own.upper < others.lower,
            _ => false,
        }
    }
}

/// How exposed one record is, with who it is and whether it was a member: private.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordFinding {
    /// Which one.
    pub id: String,
    /// Its score by the attack.
    pub score: f64,
    /// Whether it was a member of the target's data.
    pub member: bool,
    /// How far apart reference models with and without it are, in standard deviations.
    pub separation: Option<f64>,
    /// The share of reference models of which a threshold, made from other references, tells rightly whether they had this record;
    /// simultaneous over all records.
    pub accuracy: Option<Estimate>,
}

/// The records most at risk, by name: private.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordFindings {
    /// What they are sorted by.
    pub sorted_by: String,
    /// How many records were compared.
    pub compared: u64,
    /// The worst ones, the worst first.
    pub worst: Vec<RecordFinding>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// How exposed one record is, whether or not it was in the target's data. It tells neither who it is nor its score, since a score
/// tells who is a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExposedRecord {
    /// Its place among the most exposed, from 1; the private file says which record that is.
    pub place: u64,
    /// How far apart reference models with and without it are, in standard deviations.
    pub separation: Option<f64>,
    /// The share of reference models of which a threshold, made from other references, tells rightly whether they had this record;
    /// simultaneous over all records.
    pub accuracy: Option<Estimate>,
}

/// How exposed the most exposed records are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exposure {
    /// What they are sorted by.
    pub sorted_by: String,
    /// How many records were compared.
    pub compared: u64,
    /// The worst ones, the worst first.
    pub worst: Vec<ExposedRecord>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// How the headline attack came to be it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeadlineChoice {
    /// By a fixed rule from what the study holds, before a score of the target was computed.
    Rule,
    /// By the name that was asked for; whether results had been seen before is not known.
    Name,
}

/// Whose data was used: scores gathered per user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserFinding {
    /// How the scores of a user were gathered.
    pub about: String,
    /// None when it could not be measured.
    pub performance: Option<Performance>,
    /// Why not.
    pub reason: Option<String>,
}

/// Which samples of an author the auditor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthorSamples {
    /// The very samples that a model with the author is trained on.
    TrainedOn,
    /// Other samples of the same author, which no model is trained on.
    Fresh,
}

impl AuthorSamples {
    /// What the auditor has, in words.
    pub const fn premise(self) -> &'static str {
        match self {
            Self::TrainedOn => {
                "the auditor has the samples that a model with the author is trained on: the attacks ask whether these texts were used"
            }
            Self::Fresh => {
                "the auditor has other samples of the author, which no model is trained on: the attacks ask whether any text of the \
                 author was used"
            }
        }
    }
}

/// An audit by author: on whom it rests, and who of them is most exposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuthorsFinding {
    /// The column that names the author of a sample.
    pub column: String,
    /// How many authors were audited, members and others.
    pub authors: u64,
    /// Which samples the auditor has of each.
    pub samples: AuthorSamples,
    /// The same in words: the premise of every figure.
    pub premise: String,
    /// The most samples of each that the auditor uses; null for all.
    pub samples_per_author: Option<u64>,
    /// The fewest samples that the auditor has of an author.
    pub fewest_samples: u64,
    /// The most.
    pub most_samples: u64,
    /// 1 over the number of authors that the model was trained on: a guarantee with a δ that is not far below it allows everything about
    /// one of them.
    pub one_author: f64,
    /// The authors most at risk, the worst first; no name, and nothing that depends on who was in the target.
    pub pages: Vec<AuthorPage>,
}

/// What may be shared about one author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuthorPage {
    /// A pseudonym: a hash under a key that is in no file that may be shared.
    pub author: String,
    /// Its place by separation, from 1.
    pub place: u64,
    /// How far apart reference models with and without the author are, in standard deviations.
    pub separation: Option<f64>,
    /// How often a reference model is told to be one with the author or without.
    pub accuracy: Option<Estimate>,
    /// The samples that leak most: how much likelier reference models with the author find each than those without, in nats per
    /// token; the largest first.
    pub gains: Vec<f64>,
}

/// Everything an audit says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the library.
    pub version: String,
    /// The attack of `auc`, `tpr_at_fpr` and `epsilon_lower`.
    pub headline: String,
    /// How it came to be the headline.
    pub headline_choice: HeadlineChoice,
    /// The same in words, with what reference models in the place of the target showed.
    #[serde(default)]
    pub headline_chosen: String,
    /// Its area under the curve.
    pub auc: f64,
    /// Its true-positive rates by false-positive rate; null where they cannot be measured.
    pub tpr_at_fpr: BTreeMap<String, Option<f64>>,
    /// What it proves about ε; null when no bound was asked for or the design supports none.
    pub epsilon_lower: Option<EpsilonLower>,
    /// All attacks that were run.
    pub attacks: Vec<AttackFinding>,
    /// The strongest attack by what the attacker sees of the model; empty where no attack saw more than its predictions.
    #[serde(default)]
    pub by_access: Vec<AccessFinding>,
    /// All that were not, and why.
    pub not_run: Vec<NotRun>,
    /// Attacks on attributes and whole records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disclosures: Vec<Disclosure>,
    /// How signals of members and of non-members develop over a training.
    #[serde(default)]
    pub trajectories: Vec<Trajectory>,
    /// How much an observer of a federation learns from which rounds.
    #[serde(default)]
    pub observed: Vec<ObservedRounds>,
    /// What is told without a model.
    pub baseline: BaselineFinding,
    /// The headline attack by group.
    pub groups: Vec<GroupFinding>,
    /// Accuracy on members and non-members beside the simplest attack: the target first, then the reference models.
    #[serde(default)]
    pub overfitting: Vec<Overfitting>,
    /// How exposed the most exposed records are.
    pub records: Option<Exposure>,
    /// The headline attack by user.
    pub users: Option<UserFinding>,
    /// Whose texts were used, where every audited row is an author with all samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authors: Option<AuthorsFinding>,
    /// The key of every split that was made.
    pub key: String,
    /// What a reader should know before believing a number.
    pub warnings: Vec<String>,
}
