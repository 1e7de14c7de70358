//! What is printed beside what is documented.

use super::page::{FREE, Page, Row};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Compares answers with a heading's table, both ways; returns the fields that were printed.
pub(crate) fn check(page: &Page, heading: &str, answers: &[Value]) -> BTreeSet<String> {
    let rows = page.rows(heading);
    let mut look = Look { rows: &rows, seen: BTreeSet::new(), wrong: BTreeSet::new() };
    answers.iter().for_each(|answer| look.at("", answer));
    let Look { seen, mut wrong, .. } = look;
    for (path, _) in rows.iter().filter(|(path, row)| row.shape.is_none() && !seen.contains(*path)) {
        wrong.insert(format!("`{path}` is documented, and no answer had it"));
    }
    assert!(wrong.is_empty(), "{heading}: {wrong:#?}\nmend docs/reference/json.md or the command");
    seen
}

struct Look<'a> {
    rows: &'a BTreeMap<String, Row>,
    seen: BTreeSet<String>,
    wrong: BTreeSet<String>,
}

impl Look<'_> {
    fn at(&mut self, path: &str, value: &Value) {
        if !path.is_empty() && !self.fits(path, value) {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (name, below) in fields {
                    let any = join(path, "*");
                    let own = join(path, name);
                    let known = |own: &str| {
                        self.rows.keys().any(|row| row == own || row.starts_with(&format!("{own}[")))
                    };
                    match self.rows.contains_key(&any) && !known(&own) {
                        true => drop(self.fits(&any, below)),
                        false => self.at(&own, below),
                    }
                }
                for (row, _) in self.rows.iter().filter(|(_, row)| row.always) {
                    let Some(rest) = row.strip_prefix(&join(path, "")) else { continue };
                    let name = rest.split('[').next().unwrap_or_default();
                    if !name.is_empty() && !name.contains('.') && !fields.contains_key(name) {
                        self.wrong.insert(format!("`{row}` should always be there, and was not"));
                    }
                }
            }
            Value::Array(elements) => {
                self.seen.insert(format!("{path}[]"));
                elements.iter().for_each(|element| self.at(&format!("{path}[]"), element));
            }
            _ => {}
        }
    }

    /// Whether the value may stand there and is to be looked into.
    fn fits(&mut self, path: &str, value: &Value) -> bool {
        self.seen.insert(path.to_owned());
        let Some(row) = self.rows.get(path) else {
            // A list is described by its elements.
            let elements = self.rows.contains_key(&format!("{path}[]"));
            if !(value.is_array() && elements) {
                self.wrong.insert(format!("`{path}` was printed ({value:.40}) and is not documented"));
            }
            return true;
        };
        let is = |name: &String| match name.as_str() {
            "number" => value.is_number(),
            "integer" => value.is_u64() || value.is_i64(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "list" => value.is_array(),
            "object" => value.is_object(),
            FREE => true,
            other => panic!("{path}: no such type: {other}"),
        };
        if !row.types.iter().any(is) {
            self.wrong.insert(format!("`{path}` should be {:?} and was {value:.60}", row.types));
        }
        !row.types.iter().any(|name| name == FREE)
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
