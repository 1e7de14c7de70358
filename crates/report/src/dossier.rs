//! The content of a report, as it is written to JSON. Field names are stable.

use crate::picture::Gallery;
use reticent_audit::Findings;
use reticent_audit::attacks::AttackKind;
use reticent_audit::defence::DefenceComparison;
use reticent_core::{Certificate, InvalidValue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was measured, what was declared, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dossier {
    /// What the audit measured.
    pub findings: Findings,
    /// The certificate of the training run, if it is private.
    pub certificate: Option<Certificate>,
    /// What people declare about the model and its use.
    pub declared: Declared,
    /// The course of the training.
    pub training: Option<TrainingSummary>,
    /// How to reproduce the report.
    pub provenance: ReportProvenance,
    /// The model beside others with other defences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defences: Option<DefenceComparison>,
    /// Kinds of attack that do not apply to the model, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inapplicable: BTreeMap<AttackKind, String>,
    /// Training records beside what was recovered of them. They are private: the page has them if they are given, JSON never.
    #[serde(skip)]
    pub galleries: Vec<Gallery>,
}

/// What people declare about the model; absent values are shown as not declared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Declared {
    /// The title of the report.
    pub title: Option<String>,
    /// What the model is called.
    pub model: Option<String>,
    /// What it is for.
    pub purpose: Option<String>,
    /// Who has access to it.
    pub release: ModelAccess,
    /// The attacker's prior: the probability, before any attack, that a record was used; between 0 and 1.
    pub prior: Option<f64>,
    /// How many people's data the model was trained on.
    pub subjects: Option<u64>,
    /// How many records a person has, on average or at most.
    pub records_per_subject: Option<f64>,
    /// How sensitive the data is, in words.
    pub sensitivity: Option<String>,
    /// Who wrote the report.
    pub author: Option<String>,
    /// How to reach them.
    pub contact: Option<String>,
    /// Anything else.
    pub notes: Vec<String>,
}

/// Who has access to a model: the context of EDPB Opinion 28/2024, paragraph 46.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelAccess {
    /// Only people in the organization.
    Internal,
    /// Outsiders, by queries.
    QueryApi,
    /// Anyone who downloads the weights.
    OpenWeights,
    /// Not declared.
    #[default]
    Undeclared,
}

/// The course of a training run, as it was reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingSummary {
    /// What `at` counts: `step` or `epoch`.
    pub unit: TrainingUnit,
    /// Points of the curves, in order.
    pub curve: Vec<TrainingPoint>,
    /// Accuracy on the training data at the end, from 0 to 1.
    pub train_accuracy: Option<f64>,
    /// Accuracy on held-out data at the end, from 0 to 1.
    pub test_accuracy: Option<f64>,
}

/// The unit of the horizontal axis of training curves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainingUnit {
    /// Updates of the weights.
    #[default]
    Step,
    /// Passes over the data.
    Epoch,
}

/// One point of the training curves; any number may be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingPoint {
    /// The step or epoch.
    pub at: f64,
    /// The ε spent so far.
    pub epsilon: Option<f64>,
    /// The loss on the training data.
    pub train_loss: Option<f64>,
    /// The loss on held-out data.
    pub test_loss: Option<f64>,
    /// The accuracy on the training data.
    pub train_accuracy: Option<f64>,
    /// The accuracy on held-out data.
    pub test_accuracy: Option<f64>,
}

/// How to reproduce the report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportProvenance {
    /// The version of the tool that made the report.
    pub tool: Option<String>,
    /// The date, as the caller gives it.
    pub date: Option<String>,
    /// The command line.
    pub command: Option<String>,
    /// Keys and seeds by purpose.
    pub seeds: BTreeMap<String, String>,
    /// The files that were read.
    pub files: Vec<FileDigest>,
    /// Versions by component.
    pub versions: BTreeMap<String, String>,
    /// The machine.
    pub machine: Option<String>,
}

/// A file and the digest of its contents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    /// Its name.
    pub name: String,
    /// The digest with its kind, e.g. `sha256:…`.
    pub digest: String,
}

impl Declared {
    /// Checks the declared numbers.
    ///
    /// # Errors
    /// [`InvalidValue`] for a prior that is not between 0 and 1, for 0 subjects, and for a number of records per subject
    /// that is not above 0.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if let Some(prior) = self.prior
            && !(prior > 0.0 && prior < 1.0)
        {
            return Err(InvalidValue::new("prior", prior, "give a number between 0 and 1, such as 0.01"));
        }
        if self.subjects == Some(0) {
            return Err(InvalidValue::new("subjects", 0, "give at least 1, or leave it out"));
        }
        if let Some(records) = self.records_per_subject
            && !(records > 0.0 && records.is_finite())
        {
            let remedy = "give a number above 0, or leave it out";
            return Err(InvalidValue::new("records_per_subject", records, remedy));
        }
        Ok(())
    }
}
