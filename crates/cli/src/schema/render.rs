//! Output: the schema as TOML, a summary, or one line of JSON.

use crate::Output;
use crate::fail::{Fail, words};
use crate::text::{aligned, json_line, spent};
use reticent::curator::schema::LearntSchema;
use reticent::data::schema::Kind;
use std::path::Path;

/// Prints the schema, or says where it was written.
pub(super) fn output(mut learnt: LearntSchema, json: bool) -> Result<Output, Fail> {
    learnt.warnings.iter_mut().for_each(|warning| *warning = words(warning));
    let stdout = match &learnt.out {
        _ if json => json_line(&learnt)?,
        Some(path) => summary(path, &learnt),
        None => learnt.to_toml(),
    };
    let warnings = learnt.warnings.iter().map(|line| format!("warning: {line}\n")).collect();
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// What was written.
fn summary(path: &Path, learnt: &LearntSchema) -> String {
    let columns = learnt.schema.columns();
    let count = |is: fn(&Kind) -> bool| columns.iter().filter(|column| is(&column.kind)).count();
    let (numeric, ignored) =
        (count(|kind| matches!(kind, Kind::Numeric(_))), count(|kind| *kind == Kind::Ignored));
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
    aligned(&lines)
}
