//! Licences of every dependency, and the dependencies that no crate may link.

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

/// Licences that are accepted below Burn only: copyleft by file, of packages that are linked unchanged.
const ALLOWED_BELOW_BURN: &[&str] = &["MPL-2.0"];

/// The licence of every workspace member.
const OWN: &str = "MIT OR Apache-2.0";

/// Packages that nothing below `crates` may link, but for Burn: it draws initial weights and dropout with generators of
/// its own, which affects no guarantee; noise and sampling never ask it for randomness.
const BANNED: &[&str] = &["rand"];
const BANNED_BECAUSE: &str = "randomness comes only through reticent_noise::entropy";

/// A member below `crates` that only tests use, so that what it links reaches no user.
const ONLY_IN_TESTS: &str = "reticent-testkit";

/// Checks licences and banned packages, then advisories where cargo-deny can.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let metadata = Metadata::of_members(shell)?;
    let (others, below_burn) = (features::without_burn(shell)?, features::below_burn(shell)?);
    let mut findings: Vec<String> = metadata.members().filter_map(own).collect();
    findings.extend(others.iter().filter_map(foreign));
    findings.extend(below_burn.iter().filter_map(optional));
    let crates = shell.root.join("crates");
    let used: Vec<&str> = metadata
        .members()
        .filter(|package| package.folder.starts_with(&crates))
        .map(|package| package.name.as_str())
        .filter(|name| ![ONLY_IN_TESTS, features::MEMBER].contains(name))
        .collect();
    findings.extend(features::linked_by(shell, &used)?.iter().filter_map(banned));
    findings.extend(features::beside_framework(shell)?.iter().filter_map(beside));
    let count = others.len() + below_burn.iter().filter(|linked| !has(&others, linked)).count();
    let detail = Failure::unless_empty(&findings, format!("{count} packages"))?;
    Ok(format!("{detail}; advisories: {}", advisories(shell)?))
}

/// Whether a package is in a list.
fn has(list: &[Linked], linked: &Linked) -> bool {
    list.iter().any(|other| (&other.name, &other.version) == (&linked.name, &linked.version))
}

/// What is wrong with the licence of a workspace member.
fn own(package: &Package) -> Option<String> {
    (package.license.as_deref() != Some(OWN)).then(|| {
        format!("package `{}`: its licence must be `{OWN}`: set `license.workspace = true`", package.name)
    })
}

/// What is wrong with the licence of a dependency.
fn foreign(linked: &Linked) -> Option<String> {
    refused(&linked.name, &linked.version, linked.license.as_deref(), &[])
}

/// What is wrong with the licence of a dependency of the crate for Burn.
fn optional(linked: &Linked) -> Option<String> {
    let finding = refused(&linked.name, &linked.version, linked.license.as_deref(), ALLOWED_BELOW_BURN)?;
    Some(format!("{}, features {}: {finding}", features::MEMBER, linked.feature))
}

/// A banned package that the crate for Burn links outside the framework, the one place where it may be.
fn beside(linked: &Linked) -> Option<String> {
    BANNED.contains(&linked.name.as_str()).then(|| {
        format!(
            "`{}` is banned in {} beside Burn, features {} ({BANNED_BECAUSE})",
            linked.name,
            features::MEMBER,
            linked.feature
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

/// A banned package that a published crate links.
fn banned(linked: &Linked) -> Option<String> {
    BANNED.contains(&linked.name.as_str()).then(|| {
        format!(
            "`{0}` is banned: `cargo tree --invert {0}` says what to drop ({BANNED_BECAUSE})",
            linked.name
        )
    })
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
            license: license.map(str::to_owned),
            published: true,
            folder: PathBuf::new(),
            dependencies: Vec::new(),
            roots: Vec::new(),
        }
    }

    fn linked(name: &str, license: Option<&str>) -> Linked {
        Linked {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            feature: "cuda",
        }
    }

    #[test]
    fn permissive_licences_pass_and_others_do_not() {
        for text in ["MIT", "Unlicense/MIT", "mit OR GPL-3.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert_eq!(foreign(&linked("a", Some(text))), None, "{text}");
        }
        for text in [Some("MPL-2.0"), Some("LGPL-3.0-or-later"), Some("MIT AND"), None] {
            let finding = foreign(&linked("a", text));
            assert!(finding.is_some_and(|line| line.contains("`a 1.0.0`")), "{text:?}");
        }
        assert_eq!(own(&package("a", Some(OWN))), None);
        assert!(own(&package("a", Some("MIT"))).is_some());
    }

    #[test]
    fn what_only_burn_links_is_held_to_rules_of_its_own() {
        assert_eq!(optional(&linked("a", Some("MIT"))), None);
        assert_eq!(optional(&linked("a", Some("MPL-2.0"))), None);
        assert!(optional(&linked("a", Some("GPL-3.0"))).is_some_and(|line| line.contains("features cuda")));
        assert_eq!(beside(&linked("a", Some("MIT"))), None);
        assert!(beside(&linked("rand", Some("MIT"))).is_some_and(|line| line.contains("`rand` is banned")));
    }

    #[test]
    fn banned_packages_are_named() {
        assert_eq!(banned(&linked("rand_core", Some("MIT"))), None);
        assert!(banned(&linked("rand", Some("MIT"))).is_some_and(|line| line.contains("--invert rand")));
    }
}
