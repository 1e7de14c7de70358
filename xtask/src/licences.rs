//! Licences of every dependency, and the dependencies that no crate may link.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use crate::features::{self, Linked};
use crate::metadata::{Metadata, Package};
use crate::shell::{Failure, Result, Shell, run};
use crate::spdx::satisfiable;

/// The licences that a dependency may be used under.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Licences that are accepted behind an optional feature only: copyleft by file, of packages that are linked unchanged.
const ALLOWED_BEHIND_FEATURES: &[&str] = &["MPL-2.0"];

/// The licence of every workspace member.
const OWN: &str = "MIT OR Apache-2.0";

/// Packages that nothing below `crates` may link, but for Burn behind its feature: Burn draws starting weights and dropout
/// with generators of its own, which affects no guarantee; noise and sampling never ask it for randomness.
const BANNED: &[&str] = &["rand"];
const BANNED_BECAUSE: &str = "randomness comes only through reticent_noise::entropy";

/// A member below `crates` that only tests use, so that what it links reaches no user.
const ONLY_IN_TESTS: &str = "reticent-testkit";

/// Checks licences and banned packages, then advisories where cargo-deny can.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let metadata = Metadata::of_everything(shell)?;
    let mut findings: Vec<String> = metadata
        .packages
        .iter()
        .filter_map(
            |package| {
                if metadata.members.contains(&package.id) { own(package) } else { foreign(package) }
            },
        )
        .collect();
    let crates = shell.root.join("crates");
    let starts = metadata
        .members()
        .filter(|package| package.folder.starts_with(&crates) && package.name != ONLY_IN_TESTS)
        .map(|package| package.id.as_str());
    findings.extend(banned(&metadata, starts));
    findings.extend(features::everything(shell)?.iter().filter_map(optional));
    findings.extend(features::beside_framework(shell)?.iter().filter_map(beside));
    let detail = Failure::unless_empty(&findings, format!("{} packages", metadata.packages.len()))?;
    Ok(format!("{detail}; advisories: {}", advisories(shell)?))
}

/// What is wrong with the licence of a workspace member.
fn own(package: &Package) -> Option<String> {
    (package.license.as_deref() != Some(OWN)).then(|| {
        format!("package `{}`: its licence must be `{OWN}`: set `license.workspace = true`", package.name)
    })
}

/// What is wrong with the licence of a dependency.
fn foreign(package: &Package) -> Option<String> {
    refused(&package.name, &package.version, package.license.as_deref(), &[])
}

/// What is wrong with the licence of a dependency behind a feature.
fn optional(linked: &Linked) -> Option<String> {
    let finding = refused(&linked.name, &linked.version, linked.license.as_deref(), ALLOWED_BEHIND_FEATURES)?;
    Some(format!("feature `{}`: {finding}", linked.feature))
}

/// A banned package that a feature links outside the framework, the one place where it may be.
fn beside(linked: &Linked) -> Option<String> {
    BANNED.contains(&linked.name.as_str()).then(|| {
        format!(
            "`{}` is banned beside the framework of the feature `{}` ({BANNED_BECAUSE})",
            linked.name, linked.feature
        )
    })
}

fn refused(name: &str, version: &str, license: Option<&str>, also: &[&str]) -> Option<String> {
    let reason = match license {
        None => "states no SPDX licence".to_owned(),
        Some(text) => {
            let listed = |list: &[&str], licence: &str| list.iter().any(|l| l.eq_ignore_ascii_case(licence));
            let allowed = |licence: &str| listed(ALLOWED, licence) || listed(also, licence);
            match satisfiable(text, allowed) {
                Ok(true) => return None,
                Ok(false) => format!("is under `{text}`, which is not allowed"),
                Err(error) => format!("has the malformed licence `{text}` ({error})"),
            }
        }
    };
    Some(format!(
        "dependency `{name} {version}` {reason}: replace it; the allowed licences are in xtask/src/licences.rs"
    ))
}

/// The banned packages that `starts` link, each with one shortest way to it.
fn banned<'a>(metadata: &'a Metadata, starts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeMap<&str, &str> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
    let name = |id: &'a str| names.get(id).copied().unwrap_or(id);
    let mut came_from: BTreeMap<&str, Option<&str>> = starts.map(|id| (id, None)).collect();
    let mut pending: VecDeque<&str> = came_from.keys().copied().collect();
    let mut findings = Vec::new();
    while let Some(id) = pending.pop_front() {
        if BANNED.contains(&name(id)) {
            let mut way: Vec<&str> =
                std::iter::successors(Some(id), |id| came_from.get(id).copied().flatten())
                    .map(name)
                    .collect();
            way.reverse();
            findings.push(format!("`{}` is banned: drop {} ({BANNED_BECAUSE})", name(id), way.join(" -> ")));
        }
        for next in metadata.links.get(id).into_iter().flatten() {
            if !came_from.contains_key(next.as_str()) {
                came_from.insert(next, Some(id));
                pending.push_back(next);
            }
        }
    }
    findings
}

/// Asks cargo-deny about known vulnerabilities; says so when it cannot.
fn advisories(shell: &Shell) -> Result<String> {
    let reason = if !shell.has_subcommand("deny") {
        "cargo-deny is not installed"
    } else if !database_exists() {
        "there is no local advisory database: run `cargo deny fetch`"
    } else {
        run(shell.cargo(&["deny", "check", "--disable-fetch", "advisories"]))?;
        return Ok("none".to_owned());
    };
    println!("advisories: not checked ({reason})");
    Ok("not checked".to_owned())
}

/// Whether cargo-deny's default folder holds a database.
fn database_exists() -> bool {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    home.and_then(|home| home.join("advisory-dbs").read_dir().ok())
        .is_some_and(|mut entries| entries.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, license: Option<&str>) -> Package {
        Package {
            id: format!("id-{name}"),
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            published: true,
            folder: PathBuf::new(),
            dependencies: Vec::new(),
            roots: Vec::new(),
        }
    }

    #[test]
    fn permissive_licences_pass_and_others_do_not() {
        for text in ["MIT", "Unlicense/MIT", "mit OR GPL-3.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert_eq!(foreign(&package("a", Some(text))), None, "{text}");
        }
        for text in [Some("MPL-2.0"), Some("LGPL-3.0-or-later"), Some("MIT AND"), None] {
            let finding = foreign(&package("a", text));
            assert!(finding.is_some_and(|line| line.contains("`a 1.0.0`")), "{text:?}");
        }
        assert_eq!(own(&package("a", Some(OWN))), None);
        assert!(own(&package("a", Some("MIT"))).is_some());
    }

    #[test]
    fn what_a_feature_links_is_held_to_the_same_rules() {
        let linked = |name: &str, license: &str| Linked {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: Some(license.to_owned()),
            feature: "burn",
        };
        assert_eq!(optional(&linked("a", "MIT")), None);
        assert_eq!(optional(&linked("a", "MPL-2.0")), None);
        assert!(foreign(&package("a", Some("MPL-2.0"))).is_some());
        assert!(optional(&linked("a", "GPL-3.0")).is_some_and(|line| line.contains("feature `burn`")));
        assert_eq!(beside(&linked("a", "MIT")), None);
        assert!(beside(&linked("rand", "MIT")).is_some_and(|line| line.contains("`rand` is banned")));
    }

    #[test]
    fn a_banned_package_is_reported_with_the_way_to_it() {
        let mut metadata = Metadata {
            packages: ["ours", "theirs", "rand", "rand_core"].map(|name| package(name, Some("MIT"))).into(),
            ..Metadata::default()
        };
        metadata.links.insert("id-ours".into(), vec!["id-theirs".into()]);
        metadata.links.insert("id-theirs".into(), vec!["id-rand".into(), "id-rand_core".into()]);
        let findings = banned(&metadata, ["id-ours"].into_iter());
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("ours -> theirs -> rand ("), "{findings:?}");
        assert!(banned(&metadata, ["id-rand_core"].into_iter()).is_empty());
    }
}
