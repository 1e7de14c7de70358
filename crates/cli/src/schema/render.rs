//! Output: the schema as TOML under a head that says what it is worth, a summary, or one line of JSON.

use super::target;
use crate::Output;
use crate::args::schema::Infer;
use crate::fail::{Fail, flags_named, plain};
use crate::text::{aligned, json_line, spent};
use reticent::core::Certificate;
use reticent::curator::schema::LearntSchema;
use reticent::data::Schema;
use reticent::data::schema::Kind;
use serde::Serialize;
use std::path::Path;

/// What a draft must say, loudly.
const NOT_PRIVATE: [&str; 4] = [
    "THIS SCHEMA IS NOT PRIVATE: its bounds and categories were read off the records.",
    "Whatever is trained or released with it gives away the rows that set them, whatever epsilon it claims.",
    "Replace each bound and each list by what is publicly known (a questionnaire, a code book, the law),",
    "then delete the line draft = true; or learn the schema privately with --epsilon.",
];

#[derive(Serialize)]
struct Inferred<'a> {
    schema: &'a str,
    private: bool,
    certificate: Option<&'a Certificate>,
    out: Option<&'a Path>,
    warnings: &'a [String],
}

/// Prints the schema, or writes it and says so.
pub(super) fn output(arguments: &Infer, learnt: &LearntSchema) -> Result<Output, Fail> {
    let certificate = learnt.certificate.as_ref();
    let notes: Vec<String> = learnt.warnings.iter().map(|note| plain(&flags_named(note))).collect();
    let text = head(certificate, &notes) + "\n" + &learnt.schema.to_toml();
    let mut warnings = notes;
    if certificate.is_none() {
        warnings.insert(0, NOT_PRIVATE.join(" "));
    }
    let stdout = if arguments.json {
        let private = certificate.is_some();
        let out = arguments.out.as_deref();
        json_line(&Inferred { schema: &text, private, certificate, out, warnings: &warnings })?
    } else if arguments.out.is_some() {
        summary(arguments, &learnt.schema, certificate)
    } else {
        text.clone()
    };
    if let Some(target) = target(arguments) {
        target.write(&text)?;
    }
    let warnings = warnings.iter().map(|line| format!("warning: {line}\n")).collect();
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// The comment above a schema.
fn head(certificate: Option<&Certificate>, notes: &[String]) -> String {
    let mut lines: Vec<String> = match certificate {
        None => NOT_PRIVATE.map(str::to_owned).to_vec(),
        Some(certificate) => vec![
            format!("Learnt from the records with differential privacy: {}.", cost(certificate)),
            "Whatever is computed from the same records with this schema costs that on top: see [spent]."
                .to_owned(),
        ],
    };
    lines.extend(notes.iter().cloned());
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

fn cost(certificate: &Certificate) -> String {
    let Certificate { guarantee, neighboring, unit, .. } = certificate;
    format!("{} ({neighboring}, unit: {unit})", spent(guarantee))
}

/// What was written.
fn summary(arguments: &Infer, schema: &Schema, certificate: Option<&Certificate>) -> String {
    let count = |is: fn(&Kind) -> bool| schema.columns().iter().filter(|column| is(&column.kind)).count();
    let (numeric, ignored) =
        (count(|kind| matches!(kind, Kind::Numeric(_))), count(|kind| *kind == Kind::Ignored));
    let categorical = schema.columns().len() - numeric - ignored;
    let path = arguments.out.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let mut lines = vec![
        ("schema".to_owned(), format!("written to {path}")),
        ("columns".to_owned(), format!("{numeric} numeric, {categorical} categorical, {ignored} ignored")),
    ];
    if let Some(certificate) = certificate {
        lines.push(("privacy spent".to_owned(), cost(certificate)));
    }
    aligned(&lines)
}
