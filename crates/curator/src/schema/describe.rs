//! From findings to a schema, with notes about entries to review.

use super::plan::PlannedSchema;
use super::{Finding, Learnt};
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_data::schema::{
    Bounds, Categories, Column, FeatureKind, Label, LabelKind, PrivacyUnit, SchemaProblem, SpentBudget,
};
use reticent_data::{ColumnInfo, ColumnKind, DataError, Schema};

/// The schema of the findings, and what to mind about it.
pub(super) fn describe(plan: &PlannedSchema, learnt: &Learnt) -> Result<(Schema, Vec<String>), Refusal> {
    let mut notes = Vec::new();
    let label = label(plan, learnt, &mut notes)?;
    let mut columns = Vec::new();
    for column in plan.table.columns() {
        let name = &column.name;
        let is_unit = matches!(&plan.unit, PrivacyUnit::Column(unit) if unit == name);
        if is_unit || plan.label.as_ref() == Some(name) {
            continue;
        }
        let kind = if plan.ignored.contains(name) {
            FeatureKind::Ignored
        } else {
            kind(&finding(plan, learnt, column)).unwrap_or_else(|reason| {
                notes.push(format!("column \"{name}\" is ignored: {reason}"));
                FeatureKind::Ignored
            })
        };
        columns.push(Column { name: name.clone(), kind });
    }
    let schema = Schema::new(plan.unit.clone(), label, columns).map_err(DataError::from)?;
    let schema = match &learnt.certificate {
        None => schema.as_draft(),
        Some(certificate) => {
            let (guarantee, relation) = (certificate.guarantee, certificate.neighboring.to_string());
            let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
            let events = serde_json::to_string(&certificate.events)
                .map_err(|error| Refusal::internal(format!("cannot write JSON: {error}")))?;
            schema
                .with_spent(SpentBudget::new(epsilon, delta, &relation, &events).map_err(Refusal::internal)?)
        }
    };
    Ok((schema, notes))
}

/// What was found in a column, or what its type alone says.
fn finding(plan: &PlannedSchema, learnt: &Learnt, column: &ColumnInfo) -> Finding {
    let found = plan.subjects.iter().zip(&learnt.findings).find(|(subject, _)| subject.name == column.name);
    match (found, &column.kind) {
        (Some((_, finding)), _) => finding.clone(),
        (None, ColumnKind::Boolean) => Finding::Labels(["false", "true"].map(str::to_owned).to_vec()),
        (None, ColumnKind::Other(kind)) => {
            Finding::Nothing(format!("a column of type {kind} cannot be read"))
        }
        (None, _) => Finding::Nothing("it was not read".to_owned()),
    }
}

fn kind(finding: &Finding) -> Result<FeatureKind, String> {
    match finding {
        Finding::Numbers([low, high]) => Bounds::new(*low, *high).map(FeatureKind::Numeric).map_err(in_words),
        Finding::Labels(labels) => Categories::new(labels).map(FeatureKind::Categorical).map_err(in_words),
        Finding::Nothing(reason) => Err(reason.clone()),
    }
}

fn in_words(problem: SchemaProblem) -> String {
    problem.to_string()
}

/// The label. One that cannot be told from the findings is refused in a draft; after a budget was spent it is left out.
fn label(plan: &PlannedSchema, learnt: &Learnt, notes: &mut Vec<String>) -> Result<Option<Label>, Refusal> {
    let Some(column) = &plan.label else { return Ok(None) };
    if let Some(positive) = &plan.positive {
        return Ok(Some(Label {
            column: column.clone(),
            target: LabelKind::Binary { positive: positive.clone() },
        }));
    }
    match target(&finding(plan, learnt, plan.table.column(column)?)) {
        Ok((target, note)) => {
            notes.extend(note.map(|note| format!("label \"{column}\": {note}")));
            Ok(Some(Label { column: column.clone(), target }))
        }
        Err(reason) if learnt.certificate.is_some() => {
            notes.push(format!("label \"{column}\" is left out: {reason}: declare it by hand"));
            Ok(None)
        }
        Err(reason) => {
            let remedy = format!("{reason}: give ⟦positive⟧ or another column");
            Err(Refusal::value("label", column, remedy).coded(Code::Schema))
        }
    }
}

/// What a label is read as, with a note if that was a guess.
fn target(finding: &Finding) -> Result<(LabelKind, Option<String>), String> {
    match finding {
        Finding::Numbers([low, high]) => {
            let note = "predicted as a number: give ⟦positive⟧ if its values are classes";
            let bounds = Bounds::new(*low, *high).map_err(in_words)?;
            Ok((LabelKind::Number(bounds), Some(note.to_owned())))
        }
        Finding::Labels(labels) => match &labels[..] {
            [] | [_] => Err("only one class was found".to_owned()),
            [other, last] => {
                let note = format!(
                    "\"{last}\" is taken as the positive class, against \"{other}\": give ⟦positive⟧ to choose"
                );
                Ok((LabelKind::Binary { positive: last.clone() }, Some(note)))
            }
            several => {
                let categories = Categories::new(several).map_err(in_words)?;
                Ok((LabelKind::Classes { categories, other: 0 }, None))
            }
        },
        Finding::Nothing(reason) => Err(reason.clone()),
    }
}
