//! The book: `docs/` as a site of pages, built by MkDocs in an environment of its own.

use std::fs;
use std::path::Path;

use crate::metadata::Metadata;
use crate::pages;
use crate::python;
use crate::shell::{Failure, Result, Shell, run};

const CONFIGURATION: &str = "mkdocs.yml";
const REQUIREMENTS: &str = "docs/requirements.txt";

/// Builds the book, warnings refused: a link that leads nowhere and a page that is in no menu are warnings. Skips loudly
/// where MkDocs cannot be had.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let findings = unlisted(shell)?;
    if !findings.is_empty() {
        return Failure::unless_empty(&findings, "");
    }
    let python = match python::environment(shell, "book-environment", REQUIREMENTS) {
        Ok(python) => python,
        Err(failure) => return Ok(python::skipped("book", &failure)),
    };
    let site = Metadata::of_members(shell)?.target_directory.join("book");
    let mut build = shell.program(python);
    build.args(["-m", "mkdocs", "--quiet", "build", "--strict", "--config-file", CONFIGURATION]);
    build.arg("--site-dir").arg(&site);
    // The site's address is unknown to the gate; nothing is asked of the network.
    build.env("NO_MKDOCS_2_WARNING", "1").env("DISABLE_MKDOCS_2_WARNING", "true");
    run(build)?;
    Ok(shell.relative(&site.join("index.html")))
}

/// Pages that no menu of the book names.
fn unlisted(shell: &Shell) -> Result<Vec<String>> {
    let path = shell.root.join(CONFIGURATION);
    let menu = fs::read_to_string(&path).map_err(|error| Failure::file(&path, &error))?;
    let docs = shell.root.join("docs");
    let named = |page: &Path| {
        let name = page.strip_prefix(&docs).unwrap_or(page).display().to_string();
        (!menu.contains(&name)).then(|| format!("docs/{name}: add it to the menu in {CONFIGURATION}"))
    };
    Ok(pages::of_docs(shell)?.iter().filter_map(|page| named(page)).collect())
}
