//! What attacks on attributes and whole records found, as text and as JSON.

use crate::Output;
use crate::digits::{RoundingSide, brief, confidence, significant, with_interval};
use crate::fail::{Fail, flags_named, warnings};
use crate::screen::present;
use crate::text::{aligned, json_line, spent};
use reticent::audit::disclosure::{Disclosure, DisclosureBound, DisclosureMeasure};
use reticent::audit::findings::Estimate;
use reticent::curator::audit::Disclosed;
use std::fmt::Write;

/// The findings of such an attack as JSON, or a summary as text.
pub(crate) fn shown(found: &Disclosed, json: bool) -> Result<Output, Fail> {
    let stdout = match json {
        true => {
            let named = |disclosure: &Disclosure| Disclosure {
                warnings: disclosure.warnings.iter().map(|warning| flags_named(warning)).collect(),
                ..disclosure.clone()
            };
            json_line(&Disclosed {
                disclosures: found.disclosures.iter().map(named).collect(),
                ..found.clone()
            })?
        }
        false => present(&summary(found)),
    };
    let all: Vec<String> = found.disclosures.iter().flat_map(|one| one.warnings.clone()).collect();
    Ok(Output { stdout, warnings: warnings(&all), ..Output::default() })
}

fn summary(found: &Disclosed) -> String {
    let mut text = String::new();
    for disclosure in &found.disclosures {
        let Disclosure { name, about, threat, records, measures, bound, .. } = disclosure;
        text += &aligned(&[
            ("attack".to_owned(), format!("{name}: {about}")),
            ("attacker".to_owned(), format!("sees {}; knows {}", threat.access, threat.knowledge)),
            ("records".to_owned(), records.to_string()),
        ]);
        text += &figures(measures);
        let _ = writeln!(text, "{}", aligned(&bound.iter().map(allowed).collect::<Vec<_>>()));
    }
    if let Some(certificate) = &found.certificate {
        let who =
            format!("{} ({}, {})", spent(&certificate.guarantee), certificate.unit, certificate.neighboring);
        text += &aligned(&[("certificate of the model".to_owned(), who)]);
    }
    if let Some(folder) = &found.out {
        let folder = folder.display();
        let pictures = if found.galleries.is_empty() {
            ""
        } else {
            "; the pictures show training records and are private"
        };
        let _ = writeln!(text, "Saved to {folder}/disclosures{pictures}\nNext: reticent report {folder}");
    }
    text
}

/// A block for everything that was measured, with a line for each condition.
fn figures(measures: &[DisclosureMeasure]) -> String {
    let mut text = String::new();
    let widest = measures.iter().map(|measure| measure.condition.chars().count()).max().unwrap_or(0);
    let mut last = None;
    for measure in measures {
        let DisclosureMeasure { what, condition, attack, baseline, difference, .. } = measure;
        if last != Some(what) {
            let sure = confidence(attack.confidence);
            let _ = writeln!(text, "{what} ({sure} % intervals)");
            last = Some(what);
        }
        let _ = write!(text, "  {condition:widest$}  {:24}", shown_estimate(attack));
        for (name, estimate) in [("without the model", baseline), ("difference", difference)] {
            if let Some(estimate) = estimate {
                let _ = write!(text, "  {name} {}", shown_estimate(estimate));
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn shown_estimate(estimate: &Estimate) -> String {
    let ends = [estimate.lower, estimate.upper];
    let [value, low, high] = with_interval(estimate.value, ends, false);
    format!("{value} ({low} to {high})")
}

/// What the certificate allows.
fn allowed(bound: &DisclosureBound) -> (String, String) {
    let success = significant(100.0 * bound.success, 3, RoundingSide::Up);
    let words = format!(
        "{success} % success at most, of an attack on one {} that succeeds with {} % without its data ({})",
        bound.unit,
        brief(100.0 * bound.prior),
        bound.neighboring
    );
    ("by the certificate".to_owned(), words)
}
