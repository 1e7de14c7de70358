//! Output: the schema as TOML, a summary, or one line of JSON.

use crate::Output;
use crate::budget;
use crate::fail::{Fail, words};
use crate::screen::present;
use crate::text::{aligned, spent};
use reticent::curator::budget::BudgetStanding;
use reticent::curator::schema::LearntSchema;
use reticent::data::schema::FeatureKind;
use std::path::Path;

/// The schema, or a summary of the file it was written to.
pub(super) fn output(
    mut learnt: LearntSchema,
    json: bool,
    standing: Option<&BudgetStanding>,
) -> Result<Output, Fail> {
    learnt.warnings.iter_mut().for_each(|warning| *warning = words(warning));
    let stdout = match &learnt.out {
        _ if json => budget::json(&learnt, standing)?,
        Some(path) => summary(path, &learnt, standing),
        None => learnt.to_toml(),
    };
    let warnings = learnt.warnings.iter().map(|line| format!("warning: {line}\n")).collect();
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// A summary of the written schema.
fn summary(path: &Path, learnt: &LearntSchema, standing: Option<&BudgetStanding>) -> String {
    let columns = learnt.schema.columns();
    let count = |is: fn(&FeatureKind) -> bool| columns.iter().filter(|column| is(&column.kind)).count();
    let (numeric, ignored) =
        (count(|kind| matches!(kind, FeatureKind::Numeric(_))), count(|kind| *kind == FeatureKind::Ignored));
    let categorical = columns.len() - numeric - ignored;
    let mut lines = vec![
        ("schema".to_owned(), format!("written to {}", path.display())),
        ("columns".to_owned(), format!("{numeric} numeric, {categorical} categorical, {ignored} ignored")),
    ];
    lines.extend(learnt.certificate.as_ref().map(|certificate| {
        let cost = spent(&certificate.guarantee);
        let (neighboring, unit) = (certificate.neighboring, &certificate.unit);
        ("privacy spent".to_owned(), format!("{cost} ({neighboring}, unit: {unit})"))
    }));
    lines.extend(budget::lines(standing));
    present(&aligned(&lines))
}
