//! Runs the commands that the documentation tells people to type.
//!
//! `README.md` runs in the repository root. A page of `docs` runs in an empty folder of its own below the target folder,
//! with links to what a reader has beside them in the root; its blocks run in order and see each other's files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::build;
use crate::metadata::Metadata;
use crate::shell::{Failure, Result, Shell, capture};
use crate::shown;
use crate::snippets::{Snippet, snippets};

/// What a page finds in its folder.
const LINKED: [&str; 6] = ["README.md", "bench", "crates", "docs", "examples", "testdata"];
/// A page whose pictures come from the benches.
const MEASURED: &str = "benchmarks.md";

/// What is done with what commands print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Compare,
    Write,
}

/// Runs every shell block of `README.md` and `docs`, with the built `reticent` on the path; checks that they print what
/// is shown and make the pictures beside the page, and that git sees no change afterwards.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    run(shell, &[])
}

/// The same for some pages only; none means all.
pub(crate) fn run(shell: &Shell, names: &[&str]) -> Result<String> {
    let before = git_status(shell)?;
    let detail = each(shell, names, Mode::Compare)?;
    let findings: Vec<String> = changes(&before, &git_status(shell)?)
        .map(|line| format!("git status `{line}`: a documented command changed this: write below `target`"))
        .collect();
    Failure::unless_empty(&findings, detail)
}

/// Runs the blocks of some pages, or of all, and puts what they print into the pages where it does not fit any more, and
/// their pictures beside them.
pub(crate) fn write(shell: &Shell, names: &[&str]) -> Result<String> {
    each(shell, names, Mode::Write)
}

fn each(shell: &Shell, names: &[&str], mode: Mode) -> Result<String> {
    let mut pages = of_docs(shell)?;
    pages.insert(0, shell.root.join("README.md"));
    if let Some(unknown) = names.iter().find(|name| !pages.contains(&shell.root.join(name))) {
        return Err(Failure::new(format!("{unknown}: no such page: give README.md or docs/...")));
    }
    pages.retain(|page| names.is_empty() || names.contains(&shell.relative(page).as_str()));
    let binary = build::binary(shell)?;
    let path = search_path(binary.parent().unwrap_or(Path::new("")))?;
    let results = side_by_side(&pages, |page| {
        let done = Page::read(shell, page, mode)?.run(shell, &path);
        done.map(|(done, report)| {
            print!("{report}");
            done
        })
    });
    let (mut run, mut skipped, mut findings) = (0, 0, Vec::new());
    for result in results {
        match result {
            Ok(done) => {
                run += done.run;
                skipped += done.skipped;
                findings.extend(done.findings);
            }
            Err(failure) => findings.push(failure.to_string()),
        }
    }
    Failure::unless_empty(&findings, format!("{run} blocks of documented commands run, {skipped} skipped"))
}

/// Does the work for every page, on as many threads as there are processors. Pages share nothing but the built command.
fn side_by_side<T: Send>(pages: &[PathBuf], work: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(pages.len().max(1));
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            while let Some((index, page)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, pages.get(index)?)))
            {
                own.push((index, work(page)));
            }
            own
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<(usize, T)>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        running.into_iter().flat_map(join).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What came of a page.
#[derive(Default)]
struct Done {
    run: usize,
    skipped: usize,
    findings: Vec<String>,
}

/// A page whose commands are to be run.
struct Page<'a> {
    file: &'a Path,
    name: String,
    text: String,
    folder: PathBuf,
    mode: Mode,
}

impl<'a> Page<'a> {
    fn read(shell: &Shell, file: &'a Path, mode: Mode) -> Result<Self> {
        let name = shell.relative(file);
        let text = fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
        Ok(Self { file, folder: folder(shell, &name)?, name, text, mode })
    }

    /// Runs the blocks in order; with what came of them, what is to be printed about them.
    fn run(&self, shell: &Shell, path: &OsString) -> Result<(Done, String)> {
        let name = &self.name;
        let blocks = snippets(&self.text).map_err(|error| Failure::new(format!("{name}:{error}")))?;
        let (mut done, mut report) = (Done::default(), String::new());
        let mut fresh: Vec<(&Snippet, String)> = Vec::new();
        for snippet in &blocks {
            let place = format!("{name}:{}", snippet.line);
            if let Some(reason) = snippet.skipped {
                report += &format!("{place}: skipped ({reason})\n");
                done.skipped += 1;
            }
            if snippet.script.is_empty() {
                continue;
            }
            let start = Instant::now();
            let printed = execute(shell, snippet, &place, path, &self.folder)?;
            report += &format!("{place}: ok in {:.1} s\n", start.elapsed().as_secs_f64());
            done.run += 1;
            let shown = snippet.output.as_ref();
            if shown.is_some_and(|output| !shown::matches(&output.text, &printed, output.exact)) {
                fresh.push((snippet, printed));
            }
        }
        match self.mode {
            Mode::Compare => done.findings = self.compared(&fresh),
            Mode::Write => report += &self.written(&fresh)?,
        }
        Ok((done, report))
    }

    /// The pictures that its commands make.
    fn pictures(&self) -> Vec<&str> {
        let made = self.name.starts_with("docs/") && !self.name.ends_with(MEASURED);
        if made { pictures(&self.text) } else { Vec::new() }
    }

    fn compared(&self, fresh: &[(&Snippet, String)]) -> Vec<String> {
        let name = &self.name;
        let outputs = fresh.iter().map(|(snippet, printed)| {
            format!(
                "{name}:{}: it prints something else now: see to it, then `cargo xtask pages --write {name}`:\n{printed}",
                snippet.line
            )
        });
        let missing = self.pictures().into_iter().filter(|picture| !self.folder.join(picture).is_file());
        outputs
            .chain(missing.map(|picture| format!("{name}: no command of the page makes {picture}")))
            .collect()
    }

    fn written(&self, fresh: &[(&Snippet, String)]) -> Result<String> {
        let (name, mut report) = (&self.name, String::new());
        if !fresh.is_empty() {
            let rewritten = rewritten(&self.text, fresh);
            fs::write(self.file, rewritten).map_err(|error| Failure::file(self.file, &error))?;
            report += &format!("{name}: {} outputs written\n", fresh.len());
        }
        for picture in self.pictures() {
            let made = self.folder.join(picture);
            fs::copy(&made, self.file.with_file_name(picture))
                .map_err(|error| Failure::file(&made, &error))?;
            report += &format!("{name}: {picture} written\n");
        }
        Ok(report)
    }
}

/// The page with new outputs.
fn rewritten(page: &str, fresh: &[(&Snippet, String)]) -> String {
    let mut lines: Vec<&str> = page.lines().collect();
    for (snippet, printed) in fresh.iter().rev() {
        if let Some(output) = &snippet.output {
            lines.splice(output.line..output.line + output.lines, printed.trim_end().lines());
        }
    }
    lines.join("\n") + "\n"
}

/// The pictures of a page that stand beside it.
fn pictures(page: &str) -> Vec<&str> {
    page.split("![")
        .skip(1)
        .filter_map(|rest| rest.split_once("](")?.1.split_once(')'))
        .map(|(link, _)| link)
        .filter(|link| link.ends_with(".svg") && !link.contains('/'))
        .collect()
}

/// The pages of `docs` and its folders, in order.
pub(crate) fn of_docs(shell: &Shell) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    let mut folders = vec![shell.root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| Failure::file(&folder, &error))? {
            let path = entry.map_err(|error| Failure::file(&folder, &error))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// Where the commands of a page run: an empty folder with links, or the root for pages outside `docs`.
fn folder(shell: &Shell, name: &str) -> Result<PathBuf> {
    let Some(page) = name.strip_prefix("docs/") else { return Ok(shell.root.clone()) };
    let target = Metadata::of_members(shell)?.target_directory;
    let folder = target.join("pages").join(page.trim_end_matches(".md").replace('/', "-"));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| Failure::file(&folder, &error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, &error))?;
    for linked in LINKED {
        let (from, to) = (shell.root.join(linked), folder.join(linked));
        link(&from, &to).map_err(|error| Failure::file(&to, &error))?;
    }
    Ok(folder)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("the pages run where folders can be linked"))
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

/// Runs one block and returns what it printed; on failure prints what it ran and what it said.
fn execute(shell: &Shell, snippet: &Snippet, place: &str, path: &OsString, folder: &Path) -> Result<String> {
    let mut bash = shell.program("bash");
    bash.args(["-euo", "pipefail", "-c", &format!("exec 2>&1\n{}", snippet.script)]);
    bash.env("RETICENT_IN_XTASK", "1").env("RETICENT_QUIET", "1").env("PATH", path).current_dir(folder);
    let output =
        bash.output().map_err(|error| Failure::new(format!("{place}: bash did not start: {error}")))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() == Some(snippet.exit) {
        return Ok(printed);
    }
    println!("{}\n{printed}", snippet.script);
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

    #[test]
    fn every_page_is_worked_on_once_and_results_keep_their_order() {
        let pages: Vec<PathBuf> = (0..40).map(|page| PathBuf::from(page.to_string())).collect();
        let names = side_by_side(&pages, |page| page.display().to_string());
        assert_eq!(names, (0..40).map(|page| page.to_string()).collect::<Vec<_>>());
        assert!(side_by_side(&[], |page| page.display().to_string()).is_empty());
    }

    #[test]
    fn pictures_beside_the_page_are_found() {
        assert_eq!(pictures("![a](x.svg) ![b](../y.svg)\n![c](z.png)\n![d](w.svg)"), ["x.svg", "w.svg"]);
    }

    #[test]
    fn outputs_are_replaced_and_nothing_else() {
        let page = "# T\n```sh\necho 1\n```\n```text\nold\nold\n```\nend\n";
        let blocks = snippets(page).unwrap();
        let fresh = [(&blocks[0], "new\n".to_owned())];
        assert_eq!(rewritten(page, &fresh), "# T\n```sh\necho 1\n```\n```text\nnew\n```\nend\n");
    }
}
