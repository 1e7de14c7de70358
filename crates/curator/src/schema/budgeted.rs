//! A schema as a stored budget sees it.

use super::{LearnSchema, PlannedSchema};
use crate::budget::{Budgeted, Pricing};
use crate::table::named_files;
use reticent_core::{Event, Plan};
use reticent_data::Reading;
use std::path::PathBuf;
use std::sync::Arc;

impl Budgeted for LearnSchema {
    fn about(&self) -> String {
        match self.file.as_os_str().is_empty() {
            true => "schema, table in memory".to_owned(),
            false => format!("schema, {}", self.file.display()),
        }
    }

    fn data(&self, planned: &PlannedSchema) -> Vec<PathBuf> {
        named_files(&self.file, &self.reading, &*planned.table)
    }

    fn reading(&self, planned: &PlannedSchema) -> Option<Reading> {
        Some(planned.table.reading())
    }

    fn pricing(&self, planned: &PlannedSchema) -> Option<Pricing> {
        self.epsilon?;
        let request = Self { file: PathBuf::new(), reading: Reading::default(), out: None, ..self.clone() };
        let table = Arc::clone(&planned.table);
        Some(Pricing {
            is_quick: true,
            noun: "schema".to_owned(),
            plan_at: Box::new(move |epsilon| {
                let request = Self { epsilon: Some(epsilon), ..request.clone() };
                let events =
                    request.check_table(Arc::clone(&table)).and_then(|planned| planned.events()).ok()?;
                Plan::new(vec![Event::Composed { events }]).ok()
            }),
        })
    }
}
