//! What a public schema declares about columns and people, and what derived columns are bounded by.

use crate::bill;
use crate::refusal::Refusal;
use reticent_core::{Code, Guarantee, Neighboring};
use reticent_data::schema::{FeatureKind, LabelKind, PrivacyUnit};
use reticent_data::{Derivation, Schema};
use std::collections::BTreeMap;
use std::path::Path;

/// A schema, if there is one, and the bounds of derived columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Declared {
    schema: Option<Schema>,
    derived: BTreeMap<String, [f64; 2]>,
}

impl Declared {
    /// Reads the schema and the derivations of a request.
    ///
    /// # Errors
    /// [`Refusal`] when one cannot be read, or the schema is a draft that was read off the records.
    pub(super) fn read(path: Option<&Path>, derive: &[String]) -> Result<Self, Refusal> {
        let mut derived = BTreeMap::new();
        for text in derive {
            let derivation = Derivation::parse(text).map_err(Refusal::data("derive"))?;
            derived.insert(derivation.name().to_owned(), derivation.bounds());
        }
        let Some(path) = path else { return Ok(Self { schema: None, derived }) };
        let schema = Schema::read(path).map_err(Refusal::data("schema"))?;
        if schema.is_draft() {
            let remedy =
                "this schema is a draft computed from the data: replace its bounds with public ones first";
            return Err(Refusal::value("schema", path.display(), remedy).coded(Code::Schema));
        }
        Ok(Self { schema: Some(schema), derived })
    }

    /// The column of the privacy unit.
    pub(super) fn unit(&self) -> Option<&str> {
        match self.schema.as_ref()?.unit() {
            PrivacyUnit::Row => None,
            PrivacyUnit::Column(column) => Some(column),
        }
    }

    /// Whether there is a schema.
    pub(super) fn is_given(&self) -> bool {
        self.schema.is_some()
    }

    /// What learning the schema cost, if it was learnt from the data.
    ///
    /// # Errors
    /// [`Refusal`] when that was stated for another unit or relation than this page's.
    pub(super) fn spent(&self, is_row: bool, neighboring: Neighboring) -> Result<Option<Guarantee>, Refusal> {
        let Some(schema) = &self.schema else { return Ok(None) };
        let spent = bill::spent(schema, neighboring)?;
        if spent.is_some() && !is_row {
            let remedy = "[spent]: what learning the schema cost protects rows, and this page protects people: write the bounds \
                          and categories from public knowledge";
            return Err(Refusal::about(Code::Schema, "schema", remedy));
        }
        Ok(spent.map(|cost| cost.guarantee))
    }

    /// The bounds of a column.
    pub(super) fn bounds(&self, column: &str) -> Option<[f64; 2]> {
        if let Some(bounds) = self.derived.get(column) {
            return Some(*bounds);
        }
        let schema = self.schema.as_ref()?;
        if let Some(label) = schema.label().filter(|label| label.column == column) {
            return match &label.target {
                LabelKind::Number(bounds) => Some([bounds.low(), bounds.high()]),
                LabelKind::Binary { .. } | LabelKind::Classes { .. } => None,
            };
        }
        match &schema.columns().iter().find(|known| known.name == column)?.kind {
            FeatureKind::Numeric(bounds) => Some([bounds.low(), bounds.high()]),
            FeatureKind::Categorical(_) | FeatureKind::Ignored => None,
        }
    }

    /// The categories of a column.
    pub(super) fn categories(&self, column: &str) -> Option<Vec<String>> {
        let schema = self.schema.as_ref()?;
        if let Some(label) = schema.label().filter(|label| label.column == column) {
            return match &label.target {
                LabelKind::Classes { categories, .. } => Some(categories.labels().to_vec()),
                LabelKind::Binary { .. } | LabelKind::Number(_) => None,
            };
        }
        match &schema.columns().iter().find(|known| known.name == column)?.kind {
            FeatureKind::Categorical(categories) => Some(categories.labels().to_vec()),
            FeatureKind::Numeric(_) | FeatureKind::Ignored => None,
        }
    }
}
