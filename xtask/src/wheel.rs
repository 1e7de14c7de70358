//! The Python package: installed into an environment of its own as a user would, tested, its types checked, its notebooks run.

use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::python;
use crate::shell::{Failure, Result, Shell, capture, run};

/// The folder of the package.
const PACKAGE: &str = "python";

/// What its tests need.
const REQUIREMENTS: &str = "python/requirements.txt";

/// The name of the environment below the target folder.
const ENVIRONMENT: &str = "python-package";

/// Installs the package from the working tree, and builds its wheel. Both with the profile of the tests, whose dependencies are
/// built already.
pub(crate) fn install(shell: &Shell) -> Result<String> {
    let python = match environment(shell) {
        Ok(python) => python,
        Err(failure) => return Ok(python::skipped("wheel", &failure)),
    };
    let mut pip = shell.program(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall"]);
    pip.args(["--no-deps", "--no-build-isolation"]).arg(format!("./{PACKAGE}"));
    pip.env("MATURIN_PEP517_ARGS", "--profile dev").env("PATH", path_with(&python)?);
    capture(pip)?;
    let wheels = Metadata::of_members(shell)?.target_directory.join("wheels-checked");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).map_err(|error| Failure::file(&wheels, &error))?;
    }
    let mut maturin = shell.program(&python);
    maturin.args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--out"]).arg(&wheels);
    maturin.args(["--manifest-path", &format!("{PACKAGE}/Cargo.toml")]).env("PATH", path_with(&python)?);
    capture(maturin)?;
    let entries = std::fs::read_dir(&wheels).map_err(|error| Failure::file(&wheels, &error))?;
    let names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    match names.as_slice() {
        [name] if name.contains("-cp310-abi3-") => Ok(name.clone()),
        other => Err(Failure::new(format!("not one wheel for Python 3.10 and later: {other:?}"))),
    }
}

/// The tests, and the examples in the documentation of the modules.
pub(crate) fn tests(shell: &Shell) -> Result<String> {
    let Ok(python) = environment(shell) else { return Ok("SKIPPED (no environment)".to_owned()) };
    let mut pytest = shell.program(&python);
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--doctest-modules", "--pyargs", "reticent"]);
    pytest.arg(shell.root.join(PACKAGE).join("tests"));
    pytest.arg("-c").arg(shell.root.join(PACKAGE).join("pyproject.toml")).current_dir(elsewhere(&python));
    let printed = capture(pytest)?;
    let last = printed.lines().rev().find(|line| line.contains(" passed")).unwrap_or_default();
    println!("{last}");
    Ok(last.trim_matches(['=', ' ']).to_owned())
}

/// `mypy --strict` over the package and its examples, and `stubtest` over the native module.
pub(crate) fn types(shell: &Shell) -> Result<String> {
    let Ok(python) = environment(shell) else { return Ok("SKIPPED (no environment)".to_owned()) };
    let mut mypy = shell.program(&python);
    mypy.args(["-m", "mypy", "--strict", "reticent", "examples"]).current_dir(shell.root.join(PACKAGE));
    run(mypy)?;
    let mut stubs = shell.program(&python);
    stubs.args(["-m", "mypy.stubtest", "reticent._native"]).current_dir(elsewhere(&python));
    run(stubs)?;
    Ok(String::new())
}

/// Runs the notebooks at their small sizes.
pub(crate) fn notebooks(shell: &Shell) -> Result<String> {
    let Ok(python) = environment(shell) else { return Ok("SKIPPED (no environment)".to_owned()) };
    let mut script = shell.program(&python);
    script.arg("notebooks/run.py").env("RETICENT_QUICK", "1").current_dir(shell.root.join(PACKAGE));
    let printed = capture(script)?;
    println!("{}", printed.trim_end());
    Ok(format!("{} notebooks", printed.lines().filter(|line| line.starts_with("ran ")).count()))
}

/// A folder from which Python finds the installed package, not the sources.
fn elsewhere(python: &Path) -> &Path {
    python.parent().unwrap_or(Path::new("/"))
}

fn environment(shell: &Shell) -> Result<PathBuf> {
    python::environment(shell, ENVIRONMENT, REQUIREMENTS)
}

/// The search path with the programs of the environment first.
fn path_with(python: &Path) -> Result<std::ffi::OsString> {
    let own = python.parent().unwrap_or(Path::new("")).to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&rest)))
        .map_err(|error| Failure::new(error.to_string()))
}
