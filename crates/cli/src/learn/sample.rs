//! Text and JSON of texts that were drawn.

use super::warned;
use crate::Output;
use crate::fail::Fail;
use crate::text::json_line;
use reticent::curator::sample::Sampled;
use std::mem::take;

/// Texts as JSON, or one after the other with a line between them.
pub(super) fn printed(mut sampled: Sampled, json: bool) -> Result<Output, Fail> {
    let warnings = warned(&take(&mut sampled.warnings));
    let stdout = match json {
        true => json_line(&sampled)?,
        false => {
            let texts: Vec<String> = sampled.texts.iter().map(|text| shown(&text.text)).collect();
            texts.join("---\n")
        }
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// A text for a terminal, with line breaks but without other control characters.
fn shown(text: &str) -> String {
    let kept: String = text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect();
    kept + "\n"
}
