//! Child processes, run from the repository root without a standard input.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a step did not pass: one line per finding, each naming the place and what to do.
#[derive(Debug)]
pub(crate) struct Failure(String);

/// The result of anything that can stop the gate.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure to read or write `path`.
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }

    /// Success with `detail` when there are no findings, else all of them, one a line.
    pub(crate) fn unless_empty(findings: &[String], detail: impl Into<String>) -> Result<String> {
        if findings.is_empty() { Ok(detail.into()) } else { Err(Self(findings.join("\n"))) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The repository and the cargo that runs the gate.
pub(crate) struct Shell {
    /// The workspace root.
    pub(crate) root: PathBuf,
    cargo: OsString,
}

impl Shell {
    /// Finds the workspace that contains the current directory.
    pub(crate) fn locate() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut shell = Self { root: PathBuf::from("."), cargo };
        let manifest = capture(shell.cargo(&["locate-project", "--workspace", "--message-format", "plain"]))?;
        let manifest = PathBuf::from(manifest.trim());
        shell.root = manifest.parent().map(Path::to_path_buf).ok_or_else(|| {
            Failure::new(format!("{}: a workspace manifest needs a parent folder", manifest.display()))
        })?;
        Ok(shell)
    }

    /// A cargo command in the repository root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(&self.cargo);
        command.args(arguments);
        command
    }

    /// Any other command in the repository root.
    pub(crate) fn program(&self, name: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(name);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// Whether `cargo <subcommand> --version` works.
    pub(crate) fn has_subcommand(&self, subcommand: &str) -> bool {
        capture(self.cargo(&[subcommand, "--version"])).is_ok()
    }

    /// `path` as it reads from the repository root, for messages.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

/// Runs a command whose output goes straight to the terminal.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{}`: {status}; its output above says why", line(&command))))
    }
}

/// Lines of a failed command's standard output that its failure shows.
const SHOWN: usize = 60;

/// Runs a command and returns its standard output; on failure the message has the end of it, and then its standard error.
pub(crate) fn capture(mut command: Command) -> Result<String> {
    let output = command.output().map_err(|error| not_started(&command, &error))?;
    if output.status.success() {
        String::from_utf8(output.stdout)
            .map_err(|_| Failure::new(format!("`{}`: its output is not UTF-8", line(&command))))
    } else {
        let (printed, reason) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let lines: Vec<&str> = printed.lines().collect();
        let end: String =
            lines[lines.len().saturating_sub(SHOWN)..].iter().flat_map(|line| [*line, "\n"]).collect();
        Err(Failure::new(format!("`{}`: {}\n{end}{}", line(&command), output.status, reason.trim_end())))
    }
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` did not start: {error}", line(command)))
}

/// The command as a person would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_with_its_status_and_reason() {
        let mut command = Command::new("bash");
        command.args(["-c", "seq 100 200; echo why >&2; exit 7"]);
        let message = capture(command).unwrap_err().to_string();
        assert!(message.starts_with("`bash -c"), "{message}");
        assert!(message.contains('7') && message.ends_with("\n199\n200\nwhy"), "{message}");
        assert!(message.contains("\n141\n") && !message.contains("\n140\n"), "{message}");
    }

    #[test]
    fn a_missing_program_is_a_failure() {
        let message = run(Command::new("no-such-program-here")).unwrap_err().to_string();
        assert!(message.contains("`no-such-program-here` did not start"), "{message}");
    }
}
