//! The direction of dependencies: which crate of the workspace may use which.

use std::path::{Component, Path};

use crate::metadata::{Metadata, Package};
use crate::shell::{Failure, Result, Shell};

/// Where the rules are, for messages.
const WRITTEN: &str = "the rules are in xtask/src/layers.rs";

/// Every library below the facade.
const LIBRARIES: &[&str] = &[
    "core",
    "noise",
    "accounting",
    "ledger",
    "files",
    "data",
    "erm",
    "train",
    "attack",
    "audit",
    "report",
    "curator",
];

/// What the facade shows: those, and Burn modules behind a feature.
const FACADE: &[&str] = &[
    "core",
    "noise",
    "accounting",
    "ledger",
    "files",
    "data",
    "erm",
    "train",
    "burn",
    "attack",
    "audit",
    "report",
    "curator",
];

/// What each layer may depend on. A layer is named by its folder below `crates`.
const RULES: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("noise", &["core"]),
    ("accounting", &["core"]),
    ("ledger", &["core", "accounting"]),
    ("files", &["core"]),
    ("data", &["core", "files"]),
    ("erm", &["core", "noise", "accounting", "files"]),
    ("train", &["core", "noise", "accounting", "files", "data"]),
    ("burn", &["core", "noise", "train"]),
    ("audit", &["core", "accounting", "data"]),
    ("attack", &["core", "noise", "accounting", "files", "data", "erm", "train", "audit"]),
    ("report", &["core", "accounting", "audit"]),
    (
        "curator",
        &[
            "core",
            "noise",
            "accounting",
            "ledger",
            "files",
            "data",
            "erm",
            "train",
            "attack",
            "audit",
            "report",
        ],
    ),
    ("reticent", FACADE),
    ("cli", &["reticent"]),
    ("python", &["core", "accounting", "ledger", "audit", "data", "report", "curator"]),
    ("testkit", LIBRARIES),
    ("xtask", &[]),
];

/// What any layer may use in its tests, examples and benchmarks beyond [`RULES`].
const FOR_TESTS: &str = "testkit";

/// Layers whose tests simulate with the seeded generator of `noise`.
const SEEDED: &[&str] = &["audit"];

/// The layers of side-by-side measurements, which may depend on anything.
const BENCH: &str = "bench-";

/// Checks the name of every workspace member and every edge between two of them.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let metadata = Metadata::of_members(shell)?;
    let members: Vec<&Package> = metadata.members().collect();
    let mut findings = Vec::new();
    let mut edges = 0;
    for member in &members {
        let manifest = shell.relative(&member.folder.join("Cargo.toml"));
        let Some(layer) = layer(&shell.relative(&member.folder)) else {
            findings.push(format!(
                "{manifest}: `{}` is no known crate: give it a row in the table ({WRITTEN})",
                member.name
            ));
            continue;
        };
        let expected = package_name(&layer);
        if member.name != expected {
            findings
                .push(format!("{manifest}: rename package `{}` to `{expected}` ({WRITTEN})", member.name));
        }
        for dependency in &member.dependencies {
            let Some(other) = members.iter().find(|other| other.name == dependency.name) else {
                continue;
            };
            edges += 1;
            let allowed = self::layer(&shell.relative(&other.folder))
                .is_some_and(|other| allows(&layer, &other, dependency.dev));
            if !allowed {
                let kind = if dependency.dev { "a dev-dependency" } else { "a dependency" };
                findings.push(format!(
                    "{manifest}: `{}` may not have `{}` as {kind} ({WRITTEN})",
                    member.name, other.name
                ));
            }
        }
    }
    Failure::unless_empty(&findings, format!("{} crates, {edges} edges", members.len()))
}

/// The layer of a folder given from the repository root; none if the folder has no place in the table.
fn layer(folder: &str) -> Option<String> {
    let parts: Vec<_> = Path::new(folder)
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect::<Option<_>>()?;
    match parts.as_slice() {
        ["bench", name] => Some(format!("{BENCH}{name}")),
        ["crates", name] | [name @ ("xtask" | "python")] => {
            RULES.iter().any(|(layer, _)| layer == name).then(|| (*name).to_owned())
        }
        _ => None,
    }
}

/// The package name that a layer must have.
fn package_name(layer: &str) -> String {
    match layer {
        "reticent" | "xtask" => layer.to_owned(),
        _ => format!("reticent-{layer}"),
    }
}

/// Whether `from` may depend on `to`, in tests alone if `dev`.
fn allows(from: &str, to: &str, dev: bool) -> bool {
    from.starts_with(BENCH)
        || (dev && (to == FOR_TESTS || (to == "noise" && SEEDED.contains(&from))))
        || RULES.iter().any(|(layer, below)| *layer == from && below.contains(&to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_point_down() {
        for (from, to) in [
            ("noise", "core"),
            ("attack", "audit"),
            ("report", "audit"),
            ("reticent", "train"),
            ("reticent", "burn"),
            ("burn", "train"),
            ("cli", "reticent"),
            ("testkit", "noise"),
            ("bench-noise", "cli"),
        ] {
            assert!(allows(from, to, false), "{from} -> {to}");
            assert!(from == "bench-noise" || !allows(to, from, false), "{to} -> {from}");
        }
        for (from, to) in [
            ("data", "noise"),
            ("ledger", "noise"),
            ("ledger", "files"),
            ("cli", "core"),
            ("audit", "noise"),
            ("testkit", "reticent"),
            ("testkit", "burn"),
            ("curator", "burn"),
            ("xtask", "core"),
        ] {
            assert!(!allows(from, to, false), "{from} -> {to}");
        }
    }

    #[test]
    fn the_test_kit_is_for_tests() {
        assert!(allows("core", "testkit", true));
        assert!(!allows("core", "testkit", false));
        assert!(!allows("core", "noise", true));
        assert!(allows("audit", "noise", true) && !allows("audit", "noise", false));
    }

    #[test]
    fn the_table_has_no_cycle_and_no_unknown_name() {
        let mut ordered: Vec<&str> = Vec::new();
        while ordered.len() < RULES.len() {
            let before = ordered.len();
            for (layer, below) in RULES {
                if !ordered.contains(layer) && below.iter().all(|name| ordered.contains(name)) {
                    ordered.push(layer);
                }
            }
            assert!(ordered.len() > before, "no order exists beyond {ordered:?}");
        }
    }

    #[test]
    fn folders_give_layers_and_package_names() {
        assert_eq!(
            layer("crates/noise").map(|layer| package_name(&layer)).as_deref(),
            Some("reticent-noise")
        );
        assert_eq!(layer("crates/reticent").map(|layer| package_name(&layer)).as_deref(), Some("reticent"));
        assert_eq!(
            layer("bench/noise").map(|layer| package_name(&layer)).as_deref(),
            Some("reticent-bench-noise")
        );
        assert_eq!(layer("xtask").map(|layer| package_name(&layer)).as_deref(), Some("xtask"));
        assert_eq!(layer("crates/utils"), None);
        assert_eq!(layer("crates/noise/nested"), None);
    }
}
