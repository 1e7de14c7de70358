//! From a schema to TOML.

use super::{Bounds, Categories, FeatureKind, LabelKind, PrivacyUnit, Schema};

/// The width that lists of categories are broken at.
const WIDTH: usize = 100;

/// The schema as text that reads back as the same schema.
pub(super) fn toml(schema: &Schema) -> String {
    let mut out = match &schema.unit {
        PrivacyUnit::Row => "unit = \"row\"\n".to_owned(),
        PrivacyUnit::Column(column) => format!("unit = {{ column = {} }}\n", quoted(column)),
    };
    if schema.draft {
        out.push_str("draft = true\n");
    }
    if let Some(budget) = &schema.budget {
        out.push_str(&format!("budget = {}\n", quoted(budget)));
    }
    if let Some(label) = &schema.label {
        out.push_str(&format!("\n[label]\ncolumn = {}\n", quoted(&label.column)));
        match &label.target {
            LabelKind::Binary { positive } => out.push_str(&format!("positive = {}\n", quoted(positive))),
            LabelKind::Number(bounds) => out.push_str(&format!("{}\n", pair(bounds))),
            LabelKind::Classes { categories, other } => {
                out.push_str(&format!("{}\n", list(categories, 0)));
                if let Some(other) = categories.labels().get(*other).filter(|_| *other > 0) {
                    out.push_str(&format!("other = {}\n", quoted(other)));
                }
            }
        }
    }
    out.push_str("\n[columns]\n");
    for column in &schema.columns {
        let key = key(&column.name);
        let value = match &column.kind {
            FeatureKind::Ignored => "\"ignore\"".to_owned(),
            FeatureKind::Numeric(bounds) => format!("{{ {} }}", pair(bounds)),
            FeatureKind::Categorical(categories) => {
                format!("{{ {} }}", list(categories, key.chars().count() + 7))
            }
        };
        out.push_str(&format!("{key} = {value}\n"));
    }
    if let Some(spent) = &schema.spent {
        out.push_str(&format!(
            "\n[spent]\nepsilon = {}\ndelta = {}\nneighboring = {}\nevents = {}\n",
            number(spent.epsilon()),
            number(spent.delta()),
            quoted(spent.neighboring()),
            literal(spent.events())
        ));
    }
    out
}

fn pair(bounds: &Bounds) -> String {
    format!("bounds = [{}, {}]", number(bounds.low()), number(bounds.high()))
}

/// `categories = [...]` on one line where `before` other characters leave room for it, else on several.
fn list(categories: &Categories, before: usize) -> String {
    let items: Vec<String> = categories.labels().iter().map(|label| quoted(label)).collect();
    let line = format!("categories = [{}]", items.join(", "));
    if before + line.chars().count() <= WIDTH {
        return line;
    }
    let mut out = "categories = [".to_owned();
    let mut used = WIDTH;
    for item in items {
        let length = item.chars().count() + 2;
        if used + length > WIDTH {
            out.push_str("\n   ");
            used = 3;
        }
        out.push_str(&format!(" {item},"));
        used += length;
    }
    out.push_str("\n]");
    out
}

/// A float that reads back as the same number.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}

fn key(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(plain) { name.to_owned() } else { quoted(name) }
}

/// Text full of double quotes: a TOML literal string where it can be one.
fn literal(text: &str) -> String {
    if text.contains('\'') || text.chars().any(char::is_control) { quoted(text) } else { format!("'{text}'") }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            control if control.is_control() => out.push_str(&format!("\\U{:08X}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
