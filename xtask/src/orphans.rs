//! Source files that no target reaches.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::modules::{Link, links};
use crate::shell::{Failure, Result, Shell};
use crate::sources;

/// The folders of a package that hold the sources of its targets.
const SOURCE_FOLDERS: [&str; 4] = ["src", "tests", "examples", "benches"];

/// Checks that every `.rs` file of every workspace member is a target or reached from one.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let metadata = Metadata::of_members(shell)?;
    let roots: Vec<PathBuf> = metadata.members().flat_map(|package| package.roots.clone()).collect();
    let mut sources = BTreeSet::new();
    for package in metadata.members() {
        for folder in SOURCE_FOLDERS {
            sources.extend(canonical_below(&package.folder.join(folder))?);
        }
    }
    let reached = reachable(roots)?;
    let findings: Vec<String> = sources
        .difference(&reached)
        .map(|path| {
            format!("{}: no target reaches it: declare it with `mod` or delete it", shell.relative(path))
        })
        .collect();
    Failure::unless_empty(&findings, format!("{} files", sources.len()))
}

/// Every `.rs` file below `folder`, which need not exist.
fn canonical_below(folder: &Path) -> Result<Vec<PathBuf>> {
    sources::below(folder)?.iter().map(|path| canonical(path)).collect()
}

/// Every file that the roots lead to, themselves included.
fn reachable(roots: Vec<PathBuf>) -> Result<BTreeSet<PathBuf>> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<File> = roots.into_iter().map(File::owner).collect();
    while let Some(file) = pending.pop() {
        if !file.path.is_file() || !reached.insert(canonical(&file.path)?) {
            continue;
        }
        let source = fs::read_to_string(&file.path).map_err(|error| Failure::file(&file.path, &error))?;
        pending.extend(links(&source).iter().flat_map(|link| file.candidates(link)));
    }
    Ok(reached)
}

/// A source file and where its modules lie.
struct File {
    path: PathBuf,
    /// Whether its modules lie beside it, rather than in a folder of its own name.
    owns_folder: bool,
}

impl File {
    fn owner(path: PathBuf) -> Self {
        Self { path, owns_folder: true }
    }

    /// The files that may stand behind `link`.
    fn candidates(&self, link: &Link) -> Vec<File> {
        let beside = self.path.parent().unwrap_or(Path::new("")).to_path_buf();
        match link {
            Link::Include(file) => vec![File::owner(beside.join(file))],
            Link::Module { inside, path: Some(path), .. } if inside.is_empty() => {
                vec![File::owner(beside.join(path))]
            }
            Link::Module { inside, name, path } => {
                let stem = self.path.file_stem().unwrap_or_default();
                let mut folder = if self.owns_folder { beside } else { beside.join(stem) };
                folder.extend(inside);
                match path {
                    Some(path) => vec![File::owner(folder.join(path))],
                    None => vec![
                        File { path: folder.join(format!("{name}.rs")), owns_folder: false },
                        File::owner(folder.join(name).join("mod.rs")),
                    ],
                }
            }
        }
    }
}

fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| Failure::file(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files, walks from the first and returns those not reached.
    fn orphans(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, source) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, source).unwrap();
        }
        let sources: BTreeSet<PathBuf> = canonical_below(&root).unwrap().into_iter().collect();
        let reached = reachable(vec![root.join(files[0].0)]).unwrap();
        sources
            .difference(&reached)
            .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn both_file_layouts_are_followed() {
        let files = [
            ("src/lib.rs", "pub mod a; mod b;"),
            ("src/a.rs", "mod deep;"),
            ("src/a/deep.rs", "#[cfg(test)] mod tests;"),
            ("src/a/deep/tests.rs", ""),
            ("src/b/mod.rs", "pub(crate) mod c;"),
            ("src/b/c.rs", ""),
        ];
        assert!(orphans(&files).is_empty());
    }

    #[test]
    fn files_without_a_declaration_are_orphans() {
        let files = [
            ("src/lib.rs", "mod a; // mod lost;"),
            ("src/a.rs", ""),
            ("src/lost.rs", "mod child;"),
            ("src/lost/child.rs", ""),
            ("src/deep.rs", ""),
            ("src/a/mod.rs.txt", ""),
        ];
        assert_eq!(orphans(&files), ["src/deep.rs", "src/lost/child.rs", "src/lost.rs"]);
    }

    #[test]
    fn a_declaration_reaches_only_its_own_folder() {
        let files = [("src/lib.rs", "mod a;"), ("src/a.rs", "mod b;"), ("src/b.rs", ""), ("src/a/b.rs", "")];
        assert_eq!(orphans(&files), ["src/b.rs"]);
    }

    #[test]
    fn paths_inline_modules_and_includes_are_followed() {
        let files = [
            ("src/main.rs", "#[path = \"x/odd.rs\"] mod a; mod inline { mod b; } include!(\"table.rs\");"),
            ("src/x/odd.rs", "mod beside;"),
            ("src/x/beside.rs", "mod outer { #[path = \"z.rs\"] mod q; }"),
            ("src/x/beside/outer/z.rs", ""),
            ("src/inline/b.rs", ""),
            ("src/table.rs", ""),
        ];
        assert!(orphans(&files).is_empty());
    }
}
