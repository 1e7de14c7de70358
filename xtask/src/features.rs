//! What members link, by `cargo tree`: the crate for Burn modules apart from all others, whose features it would unite with its own.

use crate::shell::{Result, Shell, capture};

/// The member that links the framework.
pub(crate) const MEMBER: &str = "reticent-burn";

/// Its sets of features, each with a name for messages.
const FEATURES: &[(&str, &[&str])] = &[("none", &[]), ("cuda", &["--features", "cuda"])];

/// The framework.
const FRAMEWORK: &[&str] = &["--prune", "burn"];

/// A package that a member links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Linked {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) feature: &'static str,
}

/// Everything that the crate for Burn modules links with any features, on any platform.
pub(crate) fn below_burn(shell: &Shell) -> Result<Vec<Linked>> {
    with_features(shell, "normal,build", &[])
}

/// What it links elsewhere than below the framework. The framework draws weights and dropout with generators of
/// its own; noise and sampling never ask it for randomness.
pub(crate) fn beside_framework(shell: &Shell) -> Result<Vec<Linked>> {
    with_features(shell, "normal", FRAMEWORK)
}

/// Everything that all other members build with, on any platform.
pub(crate) fn without_burn(shell: &Shell) -> Result<Vec<Linked>> {
    listed(shell, &["--workspace", "--exclude", MEMBER, "--edges", "normal,build,dev"], "none")
}

/// What these members link, on any platform.
pub(crate) fn linked_by(shell: &Shell, members: &[&str]) -> Result<Vec<Linked>> {
    let packages = members.iter().flat_map(|member| ["--package", member]);
    listed(shell, &packages.chain(["--edges", "normal"]).collect::<Vec<_>>(), "none")
}

fn with_features(shell: &Shell, edges: &str, more: &[&str]) -> Result<Vec<Linked>> {
    let mut linked = Vec::new();
    for (feature, words) in FEATURES {
        let member = ["--package", MEMBER, "--edges", edges];
        linked.extend(listed(shell, &[&member[..], words, more].concat(), feature)?);
    }
    linked.sort();
    linked.dedup_by(|a, b| (&a.name, &a.version) == (&b.name, &b.version));
    Ok(linked)
}

fn listed(shell: &Shell, words: &[&str], feature: &'static str) -> Result<Vec<Linked>> {
    let form = ["--target", "all", "--prefix", "none", "--format", "{p}|{l}"];
    let mut linked = parse(&capture(shell.cargo(&[&["tree"], words, &form].concat()))?, feature);
    linked.sort();
    linked.dedup();
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
        let linked = parse(text, "none");
        let names: Vec<&str> = linked.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["serde", "derive", "odd"]);
        assert_eq!(linked[1].version, "2.0.0");
        assert_eq!(linked[1].license.as_deref(), Some("MIT"));
        assert_eq!(linked[2].license, None);
    }
}
