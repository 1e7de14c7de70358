//! A page as a stored budget sees it: what it asks, what it reads, what it would cost at another ε.

use super::outcome::PageOutcome;
use super::plan::PlannedPage;
use super::request::{BudgetSplit, GroupBy, Keys, Page};
use super::suggest::{PlannedLimits, SuggestLimits};
use crate::budget::{Budgeted, CanonicalQuestion, Pricing, Remembered};
use crate::refusal::Refusal;
use crate::table::{named_files, place};
use reticent_core::Plan;
use reticent_data::Reading;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the data are, in words.
fn in_words(file: &Path) -> String {
    match file.as_os_str().is_empty() {
        true => "table in memory".to_owned(),
        false => file.display().to_string(),
    }
}

impl Budgeted for Page {
    fn about(&self) -> String {
        let questions = match self.questions.len() {
            1 => "1 question".to_owned(),
            several => format!("{several} questions"),
        };
        let groups = self.group_by.as_ref().map(|groups| format!(" by {}", groups.columns.join(", ")));
        let filter = self.filter.as_ref().map(|filter| format!(" where {filter}"));
        let (groups, filter) = (groups.unwrap_or_default(), filter.unwrap_or_default());
        format!("page of {questions}{groups}{filter}, {}", in_words(&self.file))
    }

    fn about_planned(&self, planned: &PlannedPage) -> String {
        let place = place(&self.file, &*planned.table);
        Self { file: place.into(), ..self.clone() }.about()
    }

    fn reading(&self, planned: &PlannedPage) -> Option<Reading> {
        Some(planned.table.reading())
    }

    fn public_files(&self) -> Vec<(&'static str, PathBuf)> {
        match &self.group_by {
            Some(GroupBy { keys: Some(Keys::File(file)), .. }) => vec![("keys", file.clone())],
            _ => Vec::new(),
        }
    }

    fn data(&self, planned: &PlannedPage) -> Vec<PathBuf> {
        named_files(&self.file, &self.reading, &*planned.table)
    }

    fn pricing(&self, planned: &PlannedPage) -> Option<Pricing> {
        // Wanted errors decide the cost by themselves.
        let by_error = self.split == Some(BudgetSplit::ByError)
            || self.split.is_none() && self.questions.iter().any(|question| question.error.is_some());
        if by_error {
            return None;
        }
        let request = Self { file: PathBuf::new(), reading: Reading::default(), ..self.clone() };
        let table = Arc::clone(&planned.table);
        Some(Pricing {
            // With a δ, the tight accountant adds the parts up for every ε that is tried.
            is_quick: self.delta.is_none(),
            noun: "page".to_owned(),
            plan_at: Box::new(move |epsilon| {
                let request = Self { epsilon: Some(epsilon), ..request.clone() };
                let events =
                    request.check_table(Arc::clone(&table)).and_then(|planned| planned.events()).ok()?;
                Plan::new(events).ok()
            }),
        })
    }
}

impl Remembered for Page {
    fn question(&self, planned: &PlannedPage, data: &[String]) -> Result<CanonicalQuestion, Refusal> {
        let filter = planned.filter.as_ref().map_or(Value::Null, |filter| json!(filter.canonical()));
        // Public files are part of the question by what they say.
        let schema = self.schema.as_deref().map(CanonicalQuestion::digest_of).transpose()?;
        let groups = match &self.group_by {
            Some(GroupBy { columns, keys: Some(Keys::File(file)) }) => {
                json!({"columns": columns, "keys": {"file": CanonicalQuestion::digest_of(file)?}})
            }
            groups => json!(groups),
        };
        let replaced = [
            ("file", json!(data)),
            ("reading", CanonicalQuestion::reading_of(&*planned.table)),
            ("filter", filter),
            ("schema", json!(schema)),
            ("group_by", groups),
        ];
        CanonicalQuestion::new("page", self, &replaced)
    }

    fn keep(outcome: &PageOutcome) -> Option<Value> {
        serde_json::to_value(outcome).ok()
    }

    fn recall(kept: Value) -> Option<PageOutcome> {
        serde_json::from_value(kept).ok()
    }
}

impl Budgeted for SuggestLimits {
    fn about(&self) -> String {
        format!("limits per {}, {}", self.unit, in_words(&self.file))
    }

    fn about_planned(&self, planned: &PlannedLimits) -> String {
        let place = place(&self.file, &*planned.table);
        Self { file: place.into(), ..self.clone() }.about()
    }

    fn reading(&self, planned: &PlannedLimits) -> Option<Reading> {
        Some(planned.table.reading())
    }

    fn data(&self, planned: &PlannedLimits) -> Vec<PathBuf> {
        named_files(&self.file, &self.reading, &*planned.table)
    }
}
