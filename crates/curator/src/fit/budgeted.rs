//! A fit as a stored budget sees it.

use super::{Fit, FitPlan};
use crate::budget::{BUNDLED, Budgeted};
use crate::table::files;
use reticent_data::Reading;
use std::path::PathBuf;

impl Budgeted for Fit {
    fn about(&self) -> String {
        let data = self.data.as_ref().map_or_else(|| BUNDLED.to_owned(), |data| data.display().to_string());
        format!("linear model, {data}")
    }

    fn reading(&self, planned: &FitPlan) -> Option<Reading> {
        Some(planned.table.reading())
    }

    fn data(&self, planned: &FitPlan) -> Vec<PathBuf> {
        match self.data {
            None if planned.request.data.is_none() => vec![BUNDLED.into()],
            _ => files(&*planned.table),
        }
    }
}
