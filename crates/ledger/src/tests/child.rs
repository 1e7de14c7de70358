//! What other processes do: the test binary runs again with a task in its environment.

use super::twins::{Late, Outside};
use super::{Place, pure, question};
use crate::{BudgetStore, SqliteBudget, StoreOptions};
use reticent_core::Coded;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TASK: &str = "RETICENT_LEDGER_TASK";

/// Which store a process uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Right,
    /// Reads the state outside of the transaction.
    Outside,
    /// Commits after the permit.
    Late,
}

/// What a process does.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) place: Place,
    pub(super) which: Which,
    pub(super) seals: Option<PathBuf>,
    /// Charges to try; as many as fit where it is 0.
    pub(super) charges: u64,
    pub(super) epsilon: f64,
    /// The file that permits are written to.
    pub(super) log: PathBuf,
    /// The file that says that all may begin.
    pub(super) gate: Option<PathBuf>,
    /// What its charges are called.
    pub(super) name: String,
}

impl Task {
    fn text(&self) -> String {
        let path =
            |path: &Option<PathBuf>| path.as_ref().map_or(String::new(), |path| path.display().to_string());
        [
            self.place.line(),
            format!("{:?}", self.which),
            path(&self.seals),
            self.charges.to_string(),
            self.epsilon.to_string(),
            self.log.display().to_string(),
            path(&self.gate),
            self.name.clone(),
        ]
        .join("\n")
    }

    fn read(text: &str) -> Self {
        let words: Vec<&str> = text.split('\n').collect();
        let [place, which, seals, charges, epsilon, log, gate, name] = words[..] else { panic!("{text}") };
        let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
        let which = match which {
            "Outside" => Which::Outside,
            "Late" => Which::Late,
            _ => Which::Right,
        };
        Self {
            place: Place::read(place),
            which,
            seals: path(seals),
            charges: charges.parse().unwrap(),
            epsilon: epsilon.parse().unwrap(),
            log: PathBuf::from(log),
            gate: path(gate),
            name: name.to_owned(),
        }
    }

    /// The command of a process that does it, after these words of a shell.
    pub(super) fn command(&self, shell: Option<&str>) -> Command {
        let binary = std::env::current_exe().unwrap();
        let test = ["tests::child::task", "--exact", "--nocapture", "--test-threads=1"];
        let mut command = match shell {
            None => Command::new(binary),
            Some(words) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(format!("{words}; exec \"$0\" \"$@\"")).arg(binary);
                command
            }
        };
        command.args(test).env(TASK, self.text()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(super) fn spawn(&self) -> Child {
        self.command(None).spawn().unwrap()
    }
}

fn append(path: &Path, line: &str) {
    // One write, which is whole or not there when the process is killed.
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Not a test: the body of other processes.
#[test]
fn task() {
    let Ok(text) = std::env::var(TASK) else { return };
    let task = Task::read(&text);
    let mut options = StoreOptions::default().waiting(Duration::from_secs(120));
    options.seals.clone_from(&task.seals);
    let mut store: Box<dyn BudgetStore> = match (task.which, &task.place) {
        (Which::Outside, Place::Sqlite(path)) => {
            Box::new(Outside(SqliteBudget::open(path, options).unwrap()))
        }
        (Which::Late, Place::Sqlite(path)) => Box::new(Late::new(SqliteBudget::open(path, options).unwrap())),
        (_, place) => match place.open(options) {
            Ok(store) => store,
            Err(error) => return append(&task.log, &format!("failed {} {error}", error.code())),
        },
    };
    if let Some(gate) = &task.gate {
        append(gate.with_extension("ready").as_path(), &task.name);
        while !gate.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let mut tried = 0;
    while task.charges == 0 || tried < task.charges {
        let about = format!("{}-{tried}", task.name);
        tried += 1;
        match store.reserve(&question(pure(task.epsilon), &about)) {
            Ok(entry) => {
                append(&task.log, &format!("permit {about}"));
                match store.commit(entry, Some(about.as_bytes())) {
                    Ok(()) => append(&task.log, &format!("answer {about}")),
                    Err(error) => append(&task.log, &format!("failed {} {about}: {error}", error.code())),
                }
            }
            Err(crate::StoreError::Exceeded { .. }) => append(&task.log, &format!("refused {about}")),
            Err(error) => {
                append(&task.log, &format!("failed {} {about}: {error}", error.code()));
                if task.charges == 0 {
                    break;
                }
            }
        }
    }
}
