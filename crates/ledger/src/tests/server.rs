//! A PostgreSQL server for a test, from the packages of the system.

use super::Place;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server in a folder of its own, which listens on a socket there.
pub(super) struct Server {
    folder: tempfile::TempDir,
    child: Child,
}

fn skipped(why: &str) -> Option<Server> {
    let required = std::env::var_os("RETICENT_POSTGRES").is_some();
    assert!(!required, "RETICENT_POSTGRES asks for a server: {why}");
    // Past the harness, which keeps what a test prints to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}, so nothing was tested against PostgreSQL");
    None
}

/// A program of the server: on the path, or where Debian has it.
fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    folders.sort();
    let folders = folders.into_iter().rev().chain(std::env::split_paths(&paths));
    folders.map(|folder| folder.join(name)).find(|program| program.exists())
}

/// The program as somebody who may run it: the server refuses to run as root.
fn command(program: &Path) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout.trim_ascii() != b"0" {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(program);
    command
}

impl Server {
    /// A running server; none, and a line that says so, where there are no packages.
    pub(super) fn start() -> Option<Self> {
        let (Some(initdb), Some(postgres)) = (program("initdb"), program("postgres")) else {
            return skipped("initdb and postgres were not found");
        };
        let folder = tempfile::Builder::new().prefix("rt-pg").tempdir_in("/tmp").unwrap();
        Command::new("chmod").arg("777").arg(folder.path()).status().unwrap();
        let data = folder.path().join("data");
        let made = command(&initdb)
            .args(["-A", "trust", "-U", "postgres", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !made.is_ok_and(|status| status.success()) {
            return skipped("initdb failed");
        }
        let child = command(&postgres)
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "max_connections=150", "-k"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { folder, child };
        for _ in 0..600 {
            if postgres::Client::connect(&server.connection(), postgres::NoTls).is_ok() {
                return Some(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not answer")
    }

    fn connection(&self) -> String {
        format!("host={} user=postgres dbname=postgres", self.folder.path().display())
    }

    /// A place for a budget of this name.
    pub(super) fn place(&self, name: &str) -> Place {
        Place::Postgres { connection: self.connection(), name: name.to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its own shutdown, so that its other processes end and its shared memory is freed.
        let file = self.folder.path().join("data/postmaster.pid");
        let process =
            std::fs::read_to_string(file).ok().and_then(|text| text.lines().next().map(str::to_owned));
        if let Some(process) = process {
            let _ = Command::new("kill").args(["-INT", &process]).status();
        }
        let _ = self.child.wait();
    }
}
