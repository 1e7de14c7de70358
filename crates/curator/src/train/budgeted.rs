//! A training as a stored budget sees it.

use super::plan::TrainPlan;
use super::source::Source;
use super::{Resume, Train};
use crate::budget::{BUNDLED, Budgeted};
use crate::table::files;
use std::path::PathBuf;

impl TrainPlan {
    /// The private data.
    pub(crate) fn private(&self) -> Vec<PathBuf> {
        let own = |source: &Source| match source {
            Source::Images(folder, _) => vec![folder.clone()],
            Source::Pixels(file) => vec![file.clone()],
            Source::Memory(..) => vec![PathBuf::new()],
            Source::Table(_) if self.run.data.is_none() && self.parties.is_empty() => vec![BUNDLED.into()],
            Source::Table(table) => files(&**table),
        };
        match self.parties.is_empty() {
            true => own(&self.source),
            false => self.parties.iter().flat_map(own).collect(),
        }
    }
}

impl Budgeted for Train {
    fn about(&self) -> String {
        let data = self.data.as_ref().map_or_else(|| BUNDLED.to_owned(), |data| data.display().to_string());
        format!("network, {data}")
    }

    fn data(&self, planned: &TrainPlan) -> Vec<PathBuf> {
        planned.private()
    }
}

impl Budgeted for Resume {
    fn about(&self) -> String {
        format!("network, resumed: {}", self.folder.display())
    }

    fn data(&self, planned: &TrainPlan) -> Vec<PathBuf> {
        planned.private()
    }
}
