//! Agreement with other libraries, checked by a script in an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};

use crate::build;
use crate::metadata::Metadata;
use crate::shell::{Failure, Result, Shell, capture, run};

const SCRIPT: &str = "bench/peers/agree.py";
const REQUIREMENTS: &str = "bench/peers/requirements.txt";

/// The copy of the requirements that an environment was made from.
const STAMP: &str = "installed-requirements.txt";

/// Runs the script with the path of the built command; skips loudly where its libraries cannot be had.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    if !shell.root.join(SCRIPT).is_file() {
        return Ok(format!("nothing to do ({SCRIPT} does not exist)"));
    }
    let python = match environment(shell) {
        Ok(python) => python,
        Err(failure) => {
            println!("\npeers: SKIPPED ({failure})\n");
            let text = failure.to_string();
            return Ok(format!("SKIPPED ({})", text.lines().next().unwrap_or_default()));
        }
    };
    let mut script = shell.program(python);
    script.arg(SCRIPT).arg(build::binary(shell)?);
    run(script)?;
    Ok("agreed".to_owned())
}

/// The Python of an environment that holds the requirements, made anew when they have changed.
fn environment(shell: &Shell) -> Result<PathBuf> {
    let requirements = shell.root.join(REQUIREMENTS);
    let wanted = fs::read_to_string(&requirements).map_err(|error| Failure::file(&requirements, &error))?;
    let folder = Metadata::of_members(shell)?.target_directory.join("peers");
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
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]);
    capture(install)?;
    fs::write(&stamp, &wanted).map_err(|error| Failure::file(&stamp, &error))?;
    Ok(python)
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
