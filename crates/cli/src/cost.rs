//! What something cost, in words.

use crate::fail::Fail;
use crate::text::{json_line, spent};
use reticent::core::Certificate;

/// The lines about cost that every release ends with.
pub(crate) fn cost(certificate: &Certificate, mechanism: String) -> Result<Vec<(String, String)>, Fail> {
    let Certificate { guarantee, neighboring, unit, public, .. } = certificate;
    let mut lines = vec![
        ("privacy spent".to_owned(), format!("{} ({neighboring}, unit: {unit})", spent(guarantee))),
        ("mechanism".to_owned(), mechanism),
    ];
    if !public.is_empty() {
        lines.push(("taken as public".to_owned(), public.join("; ")));
    }
    lines.push(("certificate".to_owned(), json_line(certificate)?.trim_end().to_owned()));
    Ok(lines)
}
