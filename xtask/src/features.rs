//! What the optional back ends link: packages that the default build never sees.

use crate::shell::{Result, Shell, capture};

/// The member with optional back ends.
const MEMBER: &str = "reticent-train";

/// Its features that link other packages.
const FEATURES: &[&str] = &["burn", "cuda"];

/// The framework below those features.
const FRAMEWORK: &[&str] = &["--prune", "burn"];

/// A package that a feature links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Linked {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) feature: &'static str,
}

/// Everything that the features link, on any platform.
pub(crate) fn everything(shell: &Shell) -> Result<Vec<Linked>> {
    listed(shell, "normal,build", &[])
}

/// What the features link elsewhere than below the framework. The framework draws weights and dropout with generators of
/// its own; noise and sampling never ask it for randomness.
pub(crate) fn beside_framework(shell: &Shell) -> Result<Vec<Linked>> {
    listed(shell, "normal", FRAMEWORK)
}

fn listed(shell: &Shell, edges: &str, more: &[&str]) -> Result<Vec<Linked>> {
    let mut linked = Vec::new();
    for feature in FEATURES {
        let words = ["tree", "--package", MEMBER, "--features", feature, "--edges", edges];
        let form = ["--target", "all", "--prefix", "none", "--format", "{p}|{l}"];
        let text = capture(shell.cargo(&[&words[..], &form, more].concat()))?;
        linked.extend(parse(&text, feature));
    }
    linked.sort();
    linked.dedup_by(|a, b| (&a.name, &a.version) == (&b.name, &b.version));
    Ok(linked)
}

/// The packages in lines such as `name v1.0.0|MIT` or `name v1.0.0 (proc-macro)|MIT (*)`; those with a folder are our own.
fn parse(text: &str, feature: &'static str) -> Vec<Linked> {
    let parse = |line: &str| {
        let (package, license) = line.trim_end_matches(" (*)").rsplit_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
        if words.next().is_some_and(|word| word.starts_with("(/")) {
            return None;
        }
        let license = (!license.is_empty()).then(|| license.to_owned());
        Some(Linked { name: name.to_owned(), version: version.to_owned(), license, feature })
    };
    text.lines().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_tree_are_packages() {
        let text = "ours v0.1.0 (/w/ours)|MIT\nserde v1.0.1|MIT OR Apache-2.0\nderive v2.0.0 (proc-macro)|MIT (*)\nodd v3.0.0|\n";
        let linked = parse(text, "burn");
        let names: Vec<&str> = linked.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["serde", "derive", "odd"]);
        assert_eq!(linked[1].version, "2.0.0");
        assert_eq!(linked[1].license.as_deref(), Some("MIT"));
        assert_eq!(linked[2].license, None);
    }
}
