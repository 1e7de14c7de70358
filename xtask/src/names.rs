//! One meaning per name: no two crates have a public type of one name.

use std::collections::BTreeMap;
use std::fs;

use crate::metadata::Metadata;
use crate::shell::{Failure, Result, Shell};
use crate::sources;

/// The words before the name of a public type.
const KEYWORDS: [&str; 4] = ["pub struct ", "pub enum ", "pub trait ", "pub type "];

/// Checks the public types at the top level of every module of the crates that users see.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let metadata = Metadata::of_members(shell)?;
    let mut places: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for package in metadata.members().filter(|package| package.published) {
        for source in sources::below(&package.folder.join("src"))? {
            let text = fs::read_to_string(&source).map_err(|error| Failure::file(&source, &error))?;
            for name in public_types(&text) {
                let place = (package.name.clone(), shell.relative(&source));
                places.entry(name.to_owned()).or_default().push(place);
            }
        }
    }
    let shared = |places: &[(String, String)]| places.iter().any(|(package, _)| *package != places[0].0);
    let findings: Vec<String> = places
        .iter()
        .filter(|(_, places)| shared(places))
        .map(|(name, places)| {
            let places: Vec<&str> = places.iter().map(|(_, place)| place.as_str()).collect();
            format!("`{name}` is public in {}: give each meaning a name of its own", places.join(" and "))
        })
        .collect();
    Failure::unless_empty(&findings, format!("{} public types", places.len()))
}

/// The public types of a source that are not inside of anything.
fn public_types(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| {
        let rest = KEYWORDS.iter().find_map(|keyword| line.strip_prefix(keyword))?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        Some(&rest[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::public_types;

    #[test]
    fn types_at_the_top_are_found_and_no_others() {
        let source = "pub struct A<T>(T);\npub enum B {\n    C,\n}\npub(crate) struct D;\npub trait E: F {}\n\
                      mod m {\n    pub struct G;\n}\npub fn h() {}\npub type I = u8;\n";
        assert_eq!(public_types(source).collect::<Vec<_>>(), ["A", "B", "E", "I"]);
    }
}
