//! The tables of docs/reference/json.md.

use std::collections::BTreeMap;
use std::path::Path;

/// A documented field.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Names of types and shapes.
    pub(crate) types: Vec<String>,
    pub(crate) always: bool,
    /// The shape whose table has it; none for a command's own.
    pub(crate) shape: Option<String>,
}

/// The tables by heading.
pub(crate) struct Page(BTreeMap<String, Vec<(String, Row)>>);

/// Whatever is below it is described elsewhere.
pub(crate) const FREE: &str = "event";

impl Page {
    pub(crate) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (mut tables, mut heading) = (BTreeMap::<String, Vec<(String, Row)>>::new(), String::new());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("## ").or(line.strip_prefix("### ")) {
                heading = name.to_owned();
                assert!(tables.insert(heading.clone(), Vec::new()).is_none(), "{heading} stands twice");
            }
            let Some(cells) = line.strip_prefix("| `") else { continue };
            let cells: Vec<&str> = cells.trim_end_matches(" |").split(" | ").collect();
            let [path, types, always, meaning] = cells[..] else { panic!("{line}: four cells are needed") };
            assert!(!meaning.is_empty() && ["yes", "no"].contains(&always), "{line}");
            let row =
                Row { types: types.split(" or ").map(plain).collect(), always: always == "yes", shape: None };
            tables.get_mut(&heading).unwrap().push((path.trim_end_matches('`').to_owned(), row));
        }
        // A shape is the whole of what some commands print.
        for (name, rows) in &mut tables {
            for shape in ["findings", "page", "disclosures"] {
                if rows.is_empty() && text.contains(&format!("## {name}\n\nThe [{shape}](#{shape}).\n")) {
                    let row = Row { types: vec![shape.to_owned()], always: true, shape: None };
                    rows.push((String::new(), row));
                }
            }
        }
        Self(tables)
    }

    pub(crate) fn headings(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, rows)| !rows.is_empty()).map(|(name, _)| name.as_str())
    }

    /// Every field below a heading, shapes included.
    pub(crate) fn rows(&self, heading: &str) -> BTreeMap<String, Row> {
        let own = self.0.get(heading).unwrap_or_else(|| panic!("docs/reference/json.md has no ## {heading}"));
        let mut found = BTreeMap::new();
        for (path, row) in own {
            for shape in row.types.iter().filter(|name| self.0.contains_key(*name)) {
                for (below, inner) in self.rows(shape) {
                    let joined = if path.is_empty() { below } else { format!("{path}.{below}") };
                    found.insert(joined, Row { shape: inner.shape.or(Some(shape.clone())), ..inner });
                }
            }
            if !path.is_empty() {
                let types = row.types.iter().map(|name| match self.0.contains_key(name) || name == FREE {
                    true if name == FREE => FREE.to_owned(),
                    true => "object".to_owned(),
                    false => name.clone(),
                });
                found.insert(path.clone(), Row { types: types.collect(), ..row.clone() });
            }
        }
        found
    }
}

/// `[certificate](#certificate)` is `certificate`.
fn plain(name: &str) -> String {
    name.split(']').next().unwrap_or_default().trim_start_matches('[').to_owned()
}
