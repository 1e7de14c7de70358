//! What something cost, in words.

use crate::fail::Fail;
use crate::text::{json_line, spent};
use reticent::core::{Certificate, Fact};
use std::path::Path;

/// The lines about cost that every release ends with; a certificate that is `kept` in a file is named, not printed.
pub(crate) fn cost(
    certificate: &Certificate,
    mechanism: String,
    kept: Option<&Path>,
) -> Result<Vec<(String, String)>, Fail> {
    let Certificate { guarantee, neighboring, unit, public, .. } = certificate;
    let mut lines = vec![
        ("privacy spent".to_owned(), format!("{} ({neighboring}, unit: {unit})", spent(guarantee))),
        ("mechanism".to_owned(), mechanism),
    ];
    if !public.is_empty() {
        lines.push(("taken as public".to_owned(), Fact::line(public)));
    }
    let certificate = match kept {
        Some(file) => file.display().to_string(),
        None => json_line(certificate)?.trim_end().to_owned(),
    };
    lines.push(("certificate".to_owned(), certificate));
    Ok(lines)
}
