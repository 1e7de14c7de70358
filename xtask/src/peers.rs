//! Agreement with other libraries, checked by a script in an environment of its own.

use crate::build;
use crate::python;
use crate::shell::{Result, Shell, run};

const SCRIPT: &str = "bench/peers/agree.py";
const REQUIREMENTS: &str = "bench/peers/requirements.txt";

/// Runs the script with the path of the built command; skips loudly where its libraries cannot be had.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    if !shell.root.join(SCRIPT).is_file() {
        return Ok(format!("nothing to do ({SCRIPT} does not exist)"));
    }
    let python = match python::environment(shell, "peers", REQUIREMENTS) {
        Ok(python) => python,
        Err(failure) => return Ok(python::skipped("peers", &failure)),
    };
    let mut script = shell.program(python);
    script.arg(SCRIPT).arg(build::binary(shell)?);
    run(script)?;
    Ok("agreed".to_owned())
}
