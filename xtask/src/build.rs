//! The steps that are one cargo command each.

use std::path::PathBuf;

use crate::metadata::Metadata;
use crate::shell::{Result, Shell, capture, run};

/// `cargo fmt`.
pub(crate) fn format(shell: &Shell) -> Result<String> {
    run(shell.cargo(&["fmt", "--all", "--check"])).map(|()| String::new())
}

/// `cargo clippy` over every target, warnings refused.
pub(crate) fn clippy(shell: &Shell) -> Result<String> {
    run(shell.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
        .map(|()| String::new())
}

/// The tests, by nextest where it is installed. Processes are killed only where there is `strace`, and the engine of GPUs runs on an
/// emulator only where there is no GPU.
pub(crate) fn tests(shell: &Shell) -> Result<String> {
    let how = if shell.has_subcommand("nextest") {
        run(shell.cargo(&["nextest", "run", "--workspace"]))?;
        "by nextest"
    } else {
        run(shell.cargo(&["test", "--workspace", "--lib", "--bins", "--tests"]))?;
        "by cargo test (nextest is not installed)"
    };
    let has = |program: &str, argument: &str| {
        let mut command = shell.program(program);
        command.arg(argument);
        capture(command).is_ok()
    };
    let kills = if has("strace", "-V") { "" } else { "; kills SKIPPED (strace is not installed)" };
    let gpu = if has("nvidia-smi", "-L") {
        ""
    } else {
        "; GPU SKIPPED (none here: its engine ran on the emulator)"
    };
    Ok(format!("{how}{kills}{gpu}"))
}

/// The examples in the documentation.
pub(crate) fn doctests(shell: &Shell) -> Result<String> {
    let printed = capture(shell.cargo(&["test", "--workspace", "--doc"]))?;
    Ok(format!("{} examples in the documentation", passed(&printed)))
}

/// How many tests `cargo test` says have passed.
fn passed(printed: &str) -> usize {
    let count = |line: &str| line.strip_prefix("test result: ok. ")?.split_once(' ')?.0.parse::<usize>().ok();
    printed.lines().filter_map(count).sum()
}

/// The documentation, warnings refused.
pub(crate) fn docs(shell: &Shell) -> Result<String> {
    let mut command = shell.cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run(command).map(|()| String::new())
}

/// Builds the `reticent` command and returns where it lies. After the tests there is nothing left to build.
pub(crate) fn binary(shell: &Shell) -> Result<PathBuf> {
    // With the features of the whole workspace, as the tests were built.
    run(shell.cargo(&["build", "--quiet", "--workspace", "--bin", "reticent"]))?;
    let target = Metadata::of_members(shell)?.target_directory;
    Ok(target.join("debug").join(format!("reticent{}", std::env::consts::EXE_SUFFIX)))
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn results_of_several_crates_add_up() {
        let printed = "test result: ok. 3 passed; 0 failed;\nother\ntest result: ok. 12 passed; 0 failed;\n";
        assert_eq!(passed(printed), 15);
        assert_eq!(passed("test result: FAILED. 3 passed; 1 failed;"), 0);
    }
}
