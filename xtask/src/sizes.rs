//! Files that have grown too large to review.

use std::fs;
use std::path::Path;

use crate::shell::{Failure, Result, Shell, capture};

/// The most lines that a source file may have.
const MOST_LINES: usize = 800;

/// The most bytes that any file may have.
const MOST_BYTES: u64 = 1 << 20;

/// Checks every file that git tracks or would offer to track.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let mut git = shell.program("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    let listing = capture(git)?;
    let names: Vec<&str> = listing.split_terminator('\0').collect();
    let mut findings = Vec::new();
    for name in &names {
        findings.extend(finding(&shell.root, name)?);
    }
    Failure::unless_empty(&findings, format!("{} files", names.len()))
}

/// What is wrong with the size of one file; a file that git knows but that is gone has none.
fn finding(root: &Path, name: &str) -> Result<Option<String>> {
    let path = root.join(name);
    let Ok(metadata) = fs::symlink_metadata(&path) else {
        return Ok(None);
    };
    if !metadata.is_file() {
        return Ok(None);
    }
    if metadata.len() > MOST_BYTES {
        return Ok(Some(format!(
            "{name}: {} bytes, the most is {MOST_BYTES}: shrink it or keep it out of the repository",
            metadata.len()
        )));
    }
    if !path.extension().is_some_and(|extension| extension == "rs" || extension == "py") {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(|error| Failure::file(&path, &error))?;
    let lines = text.lines().count();
    Ok((lines > MOST_LINES).then(|| format!("{name}: {lines} lines, the most is {MOST_LINES}: split it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_themselves_are_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str, text: String| {
            fs::write(folder.path().join(name), text).unwrap();
            finding(folder.path(), name).unwrap()
        };
        assert_eq!(written("fits.rs", "x\n".repeat(MOST_LINES)), None);
        assert!(
            written("long.rs", "x\n".repeat(MOST_LINES + 1)).is_some_and(|text| text.contains("801 lines"))
        );
        assert!(written("long.py", "x\n".repeat(MOST_LINES + 1)).is_some());
        assert_eq!(written("long.csv", "x\n".repeat(MOST_LINES + 1)), None);
        assert_eq!(written("fits.bin", "x".repeat(1 << 20)), None);
        assert!(written("large.bin", "x".repeat((1 << 20) + 1)).is_some());
        assert_eq!(finding(folder.path(), "gone.rs").unwrap(), None);
    }
}
