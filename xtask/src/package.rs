//! What would be published: every package can be made, and holds all that it compiles.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::metadata::{Metadata, Package};
use crate::shell::{Failure, Result, Shell, run};
use crate::sources;

/// Files that every published package must have beside its manifest.
const BESIDE: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE"];

/// Makes all packages without building them, and checks that no source reads a file outside its package.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let metadata = Metadata::of_members(shell)?;
    let (published, kept): (Vec<&Package>, Vec<&Package>) =
        metadata.members().partition(|package| package.published);
    let mut findings = Vec::new();
    for package in &published {
        for name in BESIDE.iter().filter(|name| !package.folder.join(name).is_file()) {
            findings.push(format!("package `{}`: {name} is missing beside its manifest", package.name));
        }
        for source in sources::below(&package.folder.join("src"))? {
            let text = fs::read_to_string(&source).map_err(|error| Failure::file(&source, &error))?;
            let from = source.parent().unwrap_or(&package.folder);
            for file in outside(&text, from, &package.folder) {
                findings.push(format!(
                    "{}: it includes {file}, which is not in the package: move the file into its folder",
                    shell.relative(&source)
                ));
            }
        }
    }
    Failure::unless_empty(&findings, String::new())?;
    // Whatever is needed has been downloaded to build the workspace.
    let mut command =
        shell.cargo(&["package", "--workspace", "--no-verify", "--allow-dirty", "--offline", "--quiet"]);
    for package in &kept {
        command.args(["--exclude", &package.name]);
    }
    run(command)?;
    Ok(format!("{} packages", published.len()))
}

/// The files outside `package` that a source in `folder` includes.
fn outside(source: &str, folder: &Path, package: &Path) -> Vec<String> {
    let given = ["include_str!(\"", "include_bytes!(\"", "include!(\""]
        .into_iter()
        .flat_map(|start| source.split(start).skip(1))
        .filter_map(|rest| rest.split('"').next());
    given.filter(|file| !plain(&folder.join(file)).starts_with(package)).map(str::to_owned).collect()
}

/// The path without `.` and `..`, as it is written: links are not followed.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_package_is_found() {
        let found =
            |source: &str| outside(source, Path::new("/w/crates/data/src/deep"), Path::new("/w/crates/data"));
        assert!(found(r#"include_str!("proof.md") include_bytes!("../../adult/a.bin")"#).is_empty());
        assert_eq!(found(r#"const A: &str = include_str!("../../../other/a.md");"#), ["../../../other/a.md"]);
        assert_eq!(found(r#"#[doc = include_str!("/etc/a.md")]"#), ["/etc/a.md"]);
        assert!(found("fn main() {}").is_empty());
    }
}
