//! Python environments for checks that need other people's packages.

use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::shell::{Failure, Result, Shell, capture};

/// The copy of the requirements that an environment was made from.
const STAMP: &str = "installed-requirements.txt";

/// The Python of the environment `name` below the target folder, which holds the requirements; made anew when they have
/// changed.
pub(crate) fn environment(shell: &Shell, name: &str, requirements: &str) -> Result<PathBuf> {
    let file = shell.root.join(requirements);
    let wanted = fs::read_to_string(&file).map_err(|error| Failure::file(&file, &error))?;
    let folder = Metadata::of_members(shell)?.target_directory.join(name);
    let (python, stamp) = (folder.join("bin").join("python3"), folder.join(STAMP));
    if is_current(&stamp, &wanted) && capture(version(shell, &python)).is_ok() {
        return Ok(python);
    }
    if capture(version(shell, Path::new("python3"))).is_err() {
        return Err(Failure::new("python3 is missing"));
    }
    let mut create = shell.program("python3");
    create.args(["-m", "venv", "--clear"]).arg(&folder);
    capture(create)?;
    let mut install = shell.program(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]);
    capture(install)?;
    fs::write(&stamp, &wanted).map_err(|error| Failure::file(&stamp, &error))?;
    Ok(python)
}

/// Says loudly that a step was skipped because its environment could not be made.
pub(crate) fn skipped(step: &str, failure: &Failure) -> String {
    println!("\n{step}: SKIPPED ({failure})\n");
    let text = failure.to_string();
    format!("SKIPPED ({})", text.lines().next().unwrap_or_default())
}

/// Whether the environment was made from these requirements.
fn is_current(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|installed| installed == wanted)
}

fn version(shell: &Shell, python: &Path) -> std::process::Command {
    let mut command = shell.program(python);
    command.arg("--version");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_reused_only_for_the_same_requirements() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join(STAMP);
        assert!(!is_current(&stamp, "a==1\n"));
        fs::write(&stamp, "a==1\n").unwrap();
        assert!(is_current(&stamp, "a==1\n"));
        assert!(!is_current(&stamp, "a==2\n"));
    }
}
