//! What `cargo metadata` says, reduced to what the checks read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::shell::{Failure, Result, Shell, capture};

/// A package, of the workspace or not.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) license: Option<String>,
    /// Whether it may be published.
    pub(crate) published: bool,
    /// The folder of its manifest.
    pub(crate) folder: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    /// The root source file of each target.
    pub(crate) roots: Vec<PathBuf>,
}

/// A dependency as the manifest states it.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only tests, examples and benchmarks see it.
    pub(crate) dev: bool,
}

/// The members.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    /// Identifiers of the workspace members.
    pub(crate) members: BTreeSet<String>,
    pub(crate) target_directory: PathBuf,
}

impl Metadata {
    /// The workspace members alone.
    pub(crate) fn of_members(shell: &Shell) -> Result<Self> {
        parse(&capture(shell.cargo(&["metadata", "--format-version", "1", "--no-deps"]))?)
    }

    /// The workspace members.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.members.contains(&package.id))
    }
}

fn parse(json: &str) -> Result<Metadata> {
    let value: Value = serde_json::from_str(json)
        .map_err(|error| Failure::new(format!("`cargo metadata`: its output is not JSON: {error}")))?;
    let packages = list(&value, "packages")?.iter().map(package).collect::<Result<_>>()?;
    let members = list(&value, "workspace_members")?.iter().filter_map(Value::as_str);
    Ok(Metadata {
        packages,
        members: members.map(str::to_owned).collect(),
        target_directory: text(&value, "target_directory")?.into(),
    })
}

fn package(value: &Value) -> Result<Package> {
    let manifest = PathBuf::from(text(value, "manifest_path")?);
    let dependencies = list(value, "dependencies")?.iter().map(|dependency| {
        Ok(Dependency { name: text(dependency, "name")?, dev: dependency["kind"] == "dev" })
    });
    let roots = list(value, "targets")?.iter().map(|target| text(target, "src_path").map(PathBuf::from));
    Ok(Package {
        id: text(value, "id")?,
        name: text(value, "name")?,
        license: value["license"].as_str().map(str::to_owned),
        // An empty list of registries.
        published: value["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
        folder: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
        dependencies: dependencies.collect::<Result<_>>()?,
        roots: roots.collect::<Result<_>>()?,
    })
}

fn text(value: &Value, key: &str) -> Result<String> {
    value[key].as_str().map(str::to_owned).ok_or_else(|| missing(key))
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().ok_or_else(|| missing(key))
}

fn missing(key: &str) -> Failure {
    Failure::new(format!("`cargo metadata`: its output lacks `{key}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_with_their_dependencies() {
        let metadata = parse(
            r#"{"packages": [{"id": "a", "name": "a", "version": "1.0.0", "license": null,
                  "manifest_path": "/w/a/Cargo.toml", "targets": [{"src_path": "/w/a/src/lib.rs"}],
                  "dependencies": [{"name": "b", "kind": "dev"}, {"name": "c", "kind": null}]}],
                "workspace_members": ["a"], "target_directory": "/w/target"}"#,
        )
        .unwrap();
        let package = metadata.members().next().unwrap();
        assert_eq!(package.folder, Path::new("/w/a"));
        assert!(package.dependencies[0].dev && !package.dependencies[1].dev);
    }

    #[test]
    fn a_missing_field_is_named() {
        let message = parse(r#"{"packages": []}"#).unwrap_err().to_string();
        assert!(message.contains("`workspace_members`"), "{message}");
    }
}
