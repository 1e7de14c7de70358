//! Runs the commands that the documentation tells people to type.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::build;
use crate::shell::{Failure, Result, Shell, capture};
use crate::snippets::{Snippet, snippets};

/// Runs every shell block of `README.md` and `docs/*.md` in the repository root, with the built
/// `reticent` on the path, and checks that git sees no change afterwards.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let binary = build::binary(shell)?;
    let path = search_path(binary.parent().unwrap_or(Path::new("")))?;
    let before = git_status(shell)?;
    let (mut run, mut skipped) = (0, 0);
    for page in pages(shell)? {
        let name = shell.relative(&page);
        let text = fs::read_to_string(&page).map_err(|error| Failure::file(&page, &error))?;
        let blocks = snippets(&text).map_err(|error| Failure::new(format!("{name}:{error}")))?;
        for snippet in &blocks {
            let place = format!("{name}:{}", snippet.line);
            if let Some(reason) = snippet.skipped {
                println!("{place}: skipped ({reason})");
                skipped += 1;
            }
            if !snippet.script.is_empty() {
                let start = Instant::now();
                execute(shell, snippet, &place, &path)?;
                println!("{place}: ok in {:.1} s", start.elapsed().as_secs_f64());
                run += 1;
            }
        }
    }
    let findings: Vec<String> = changes(&before, &git_status(shell)?)
        .map(|line| format!("git status `{line}`: a documented command changed this: write below `target`"))
        .collect();
    Failure::unless_empty(&findings, format!("{run} blocks run, {skipped} skipped"))
}

/// `README.md` and the pages of `docs`, in order.
fn pages(shell: &Shell) -> Result<Vec<PathBuf>> {
    let docs = shell.root.join("docs");
    let mut pages = Vec::new();
    if docs.is_dir() {
        for entry in fs::read_dir(&docs).map_err(|error| Failure::file(&docs, &error))? {
            let page = entry.map_err(|error| Failure::file(&docs, &error))?.path();
            if page.extension().is_some_and(|extension| extension == "md") {
                pages.push(page);
            }
        }
    }
    pages.sort();
    pages.insert(0, shell.root.join("README.md"));
    Ok(pages)
}

/// The search path with `folder` in front.
fn search_path(folder: &Path) -> Result<OsString> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders)
        .map_err(|error| Failure::new(format!("{}: cannot be on the PATH: {error}", folder.display())))
}

fn git_status(shell: &Shell) -> Result<String> {
    let mut git = shell.program("git");
    git.args(["status", "--porcelain", "--untracked-files=all"]);
    capture(git)
}

/// The lines that only one of two statuses has.
fn changes<'a>(before: &'a str, after: &'a str) -> impl Iterator<Item = &'a str> {
    let gone = before.lines().filter(|line| !after.lines().any(|other| other == *line));
    let new = after.lines().filter(|line| !before.lines().any(|other| other == *line));
    gone.chain(new)
}

/// Runs one block; on failure prints what it ran and what it said.
fn execute(shell: &Shell, snippet: &Snippet, place: &str, path: &OsString) -> Result<()> {
    let mut bash = shell.program("bash");
    bash.args(["-euo", "pipefail", "-c", &snippet.script]);
    bash.env("RETICENT_IN_XTASK", "1").env("PATH", path);
    let output =
        bash.output().map_err(|error| Failure::new(format!("{place}: bash did not start: {error}")))?;
    if output.status.code() == Some(snippet.exit) {
        return Ok(());
    }
    println!("{}", snippet.script);
    print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(Failure::new(format!(
        "{place}: the block above gave {}, expected status {}: correct it, or mark it `no-run` or `exit=N`",
        output.status, snippet.exit
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_changes_either_way_is_noticed() {
        let all = |before, after| changes(before, after).collect::<Vec<_>>();
        assert!(all("?? a\n M b\n", " M b\n?? a\n").is_empty());
        assert_eq!(all("?? a\n", "?? b\n"), ["?? a", "?? b"]);
    }
}
