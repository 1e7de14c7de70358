//! A release as a stored budget sees it: what it asks, what it reads, what it would cost at another ε.

use super::ReleasedAnswer;
use super::kept::KeptAnswer;
use super::plan::PlannedRelease;
use super::request::{Release, ReleaseQuestion};
use super::survey::{PlannedRandomize, Randomize};
use crate::budget::{Budgeted, CanonicalQuestion, Pricing, Remembered};
use crate::refusal::Refusal;
use crate::table::{named_files, place};
use reticent_data::Reading;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

impl ReleaseQuestion {
    /// What is asked for, in one word.
    fn noun(&self) -> &'static str {
        match self {
            Self::Count { .. } => "count",
            Self::Sum { .. } => "sum",
            Self::Mean { .. } => "mean",
            Self::Histogram { .. } => "histogram",
            Self::Quantile { .. } => "quantile",
            Self::Mode { .. } => "mode",
            Self::Proportion { .. } => "proportion",
        }
    }

    fn column(&self) -> Option<&str> {
        match self {
            Self::Count { column, .. } => column.as_deref(),
            Self::Sum { column, .. }
            | Self::Mean { column, .. }
            | Self::Histogram { column, .. }
            | Self::Quantile { column, .. }
            | Self::Mode { column, .. }
            | Self::Proportion { column, .. } => Some(column),
        }
    }

    /// The same question without a target error, for a stated ε.
    fn by_epsilon(&self) -> Self {
        let mut question = self.clone();
        if let Self::Count { error, .. } | Self::Sum { error, .. } = &mut question {
            *error = None;
        }
        question
    }
}

impl Budgeted for Release {
    fn about(&self) -> String {
        let mut words = self.question.noun().to_owned();
        if let Some(column) = self.question.column() {
            words += &format!(" of {column}");
        }
        if let Some(filter) = &self.filter {
            words += &format!(" where {filter}");
        }
        match self.file.as_os_str().is_empty() {
            true => words + ", table in memory",
            false => words + &format!(", {}", self.file.display()),
        }
    }

    fn about_planned(&self, planned: &PlannedRelease) -> String {
        let place = place(&self.file, &*planned.table);
        Self { file: place.into(), ..self.clone() }.about()
    }

    fn data(&self, planned: &PlannedRelease) -> Vec<PathBuf> {
        named_files(&self.file, &self.reading, &*planned.table)
    }

    fn reading(&self, planned: &PlannedRelease) -> Option<Reading> {
        Some(planned.table.reading())
    }

    fn pricing(&self, planned: &PlannedRelease) -> Option<Pricing> {
        let question = self.question.by_epsilon();
        let request = Self { file: PathBuf::new(), reading: Reading::default(), question, ..self.clone() };
        let table = Arc::clone(&planned.table);
        Some(Pricing {
            is_quick: true,
            noun: self.question.noun().to_owned(),
            plan_at: Box::new(move |epsilon| {
                let request = Self { epsilon: Some(epsilon), ..request.clone() };
                request.check_table(Arc::clone(&table)).and_then(|planned| planned.charges()).ok()
            }),
        })
    }
}

impl Remembered for Release {
    fn question(&self, planned: &PlannedRelease, data: &[String]) -> Result<CanonicalQuestion, Refusal> {
        // Two ways to write a condition are one question.
        let filter = planned.filter.as_ref().map_or(Value::Null, |filter| json!(filter.canonical()));
        // A schema decides warnings only.
        let mut question = serde_json::to_value(&self.question).map_err(Refusal::internal)?;
        if let Some(fields) = question.as_object_mut() {
            fields.remove("schema");
        }
        let replaced = [
            ("file", json!(data)),
            ("reading", CanonicalQuestion::reading_of(&*planned.table)),
            ("filter", filter),
            ("question", question),
            ("threads", Value::Null),
        ];
        CanonicalQuestion::new("release", self, &replaced)
    }

    fn keep(outcome: &ReleasedAnswer) -> Option<Value> {
        serde_json::to_value(KeptAnswer::from(outcome)).ok()
    }

    fn recall(kept: Value) -> Option<ReleasedAnswer> {
        serde_json::from_value::<KeptAnswer>(kept).ok().map(ReleasedAnswer::from)
    }
}

impl Budgeted for Randomize {
    fn about(&self) -> String {
        format!("randomized answers of {}, {}", self.column, self.file.display())
    }

    fn data(&self, planned: &PlannedRandomize) -> Vec<PathBuf> {
        named_files(&self.file, &self.reading, &*planned.table)
    }

    fn reading(&self, planned: &PlannedRandomize) -> Option<Reading> {
        Some(planned.table.reading())
    }
}
