//! Processes that are killed at a system call: the next one goes on or begins anew, nothing is lost and nothing is left over.
//!
//! A verb runs once under `strace`, which notes its calls (open, write, fsync, rename, unlink, lock, mkdir) that touch the test's folder; then it
//! runs again and again and is killed on entering one of them. `RETICENT_KILLS` says how often in all (`cargo xtask kills`).

use super::{Folder, PEOPLE, files, leftovers, linear, network, reticent, stdout};
use std::process::{Command, Stdio};

/// Kills in all, unless `RETICENT_KILLS` says otherwise.
const KILLS: usize = 30;

const CALLS: &[&str] =
    &["openat", "write", "fsync", "rename", "unlink", "flock", "mkdir", "rmdir", "fchmod", "chmod", "close"];

/// Something that writes files.
struct Verb {
    name: &'static str,
    /// Makes what the verb needs.
    prepare: fn(&Folder),
    words: fn(&Folder) -> Vec<String>,
    /// What comes after the kill: the next runs, which must leave all in order.
    then: fn(&Folder),
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn run(words: &[String]) -> std::process::Output {
    reticent(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The folder holds a model with its certificate, and nothing else.
fn is_whole(folder: &Folder, name: &str) {
    let place = folder.path(name);
    assert_eq!(leftovers(&place), Vec::<String>::new());
    assert_eq!(stdout(&["predict", &place, PEOPLE]).lines().count(), 241);
    let names: Vec<String> = files(&place).into_keys().collect();
    for file in ["certificate.json", "fingerprint.json", "ledger.json", "model.json", "schema.toml"] {
        assert!(names.iter().any(|name| name == file), "{file}: {names:?}");
    }
    let certificate: serde_json::Value =
        serde_json::from_str(&folder.read(&format!("{name}/certificate.json"))).unwrap();
    assert!(certificate["epsilon"].as_f64().unwrap() <= 4.0);
}

const LINEAR: Verb = Verb {
    name: "train, linear",
    prepare: |_| {},
    words: |folder| owned(&linear(PEOPLE, &folder.path("model"))),
    then: |folder| {
        let output = reticent(&linear(PEOPLE, &folder.path("model")));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || said.contains("it holds a model"), "{said}");
        is_whole(folder, "model");
    },
};

const NETWORK: Verb = Verb {
    name: "train, network",
    prepare: |_| {},
    words: |folder| owned(&network(PEOPLE, &folder.path("model"))),
    then: |folder| {
        let place = folder.path("model");
        match files(&place).contains_key("run.toml") {
            true => stdout(&["train", "--resume", &place]),
            false => stdout(&network(PEOPLE, &place)),
        };
        is_whole(folder, "model");
    },
};

/// A run in the middle: one of more steps, killed after its first checkpoint.
fn half(folder: &Folder) {
    let place = folder.path("model");
    let mut words = network(PEOPLE, &place);
    words.extend(["--checkpoint-every", "1"]);
    let step = words.iter().position(|word| *word == "--steps").unwrap();
    words[step + 1] = "40";
    let mut child = super::command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let checkpoint = folder.path("model/checkpoint.safetensors");
    while !std::path::Path::new(&checkpoint).exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
}

const RESUME: Verb = Verb {
    name: "train --resume",
    prepare: half,
    words: |folder| owned(&["train", "--resume", &folder.path("model"), "--checkpoint-every", "20"]),
    then: |folder| {
        stdout(&["train", "--resume", &folder.path("model")]);
        is_whole(folder, "model");
    },
};

const FINISHED: Verb = Verb {
    name: "train --resume, finished",
    prepare: |folder| drop(stdout(&network(PEOPLE, &folder.path("model")))),
    words: |folder| owned(&["train", "--resume", &folder.path("model")]),
    then: |folder| {
        // Before anything else runs: a run that has ended keeps its certificate.
        assert!(files(&folder.path("model")).contains_key("certificate.json"));
        stdout(&["train", "--resume", &folder.path("model")]);
        is_whole(folder, "model");
    },
};

const PREDICT: Verb = Verb {
    name: "predict --out",
    prepare: |folder| drop(stdout(&linear(PEOPLE, &folder.path("model")))),
    words: |folder| owned(&["predict", &folder.path("model"), PEOPLE, "--out", &folder.path("said.csv")]),
    then: |folder| {
        stdout(&["predict", &folder.path("model"), PEOPLE, "--out", &folder.path("said.csv")]);
        assert_eq!(folder.read("said.csv").lines().count(), 241);
    },
};

const AUDIT: Verb = Verb {
    name: "audit",
    prepare: |folder| drop(stdout(&linear(PEOPLE, &folder.path("model")))),
    words: |folder| {
        owned(&["audit", &folder.path("model"), "--references", "2", "--out", &folder.path("audit")])
    },
    then: |folder| {
        let place = folder.path("audit");
        stdout(&["audit", &folder.path("model"), "--references", "2", "--out", &place]);
        assert_eq!(leftovers(&place), Vec::<String>::new());
        assert_eq!(leftovers(&folder.path("audit/references")), Vec::<String>::new());
        assert!(files(&place).contains_key("audit.json"));
    },
};

const SCHEMA_OUT: Verb = Verb {
    name: "schema infer --out",
    prepare: |_| {},
    words: |folder| owned(&["schema", "infer", PEOPLE, "--label", "rich", "--out", &folder.path("s.toml")]),
    then: |folder| {
        let words = ["schema", "infer", PEOPLE, "--label", "rich", "--out", &folder.path("s.toml")];
        match files(&folder.path("")).contains_key("s.toml") {
            true => assert!(folder.read("s.toml").contains("[label]")),
            false => drop(stdout(&words)),
        }
    },
};

const PLOT: Verb = Verb {
    name: "release --plot",
    prepare: |_| {},
    words: |folder| plot(&folder.path("bars.svg")),
    then: |folder| {
        let output = run(&plot(&folder.path("bars.svg")));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(folder.read("bars.svg").contains("</svg>"));
    },
};

fn plot(path: &str) -> Vec<String> {
    let words = ["release", "histogram", PEOPLE, "--column", "kind", "--categories", "a,b,c"];
    owned(&[&words[..], &["--epsilon", "1", "--plot", path]].concat())
}

/// Those with few calls first.
const VERBS: &[Verb] = &[SCHEMA_OUT, PLOT, PREDICT, AUDIT, LINEAR, FINISHED, NETWORK, RESUME];

/// A call of the main thread that touches the folder: which one, and the how-manieth of its kind.
type Call = (&'static str, usize);

/// The calls that change something, and the others.
fn calls(verb: &Verb) -> (Vec<Call>, Vec<Call>) {
    let folder = Folder::new();
    (verb.prepare)(&folder);
    let log = folder.path("calls.log");
    let trace = format!("trace={}", CALLS.join(","));
    let flags = ["-f", "-y", "-qq", "-s", "0", "-e", &trace, "-e", "signal=none", "-o", &log];
    let status = traced(&flags, &(verb.words)(&folder));
    assert!(status, "{}", verb.name);
    let text = std::fs::read_to_string(&log).unwrap();
    let main = text.split_whitespace().next().unwrap_or_default().to_owned();
    let mut counts = vec![0; CALLS.len()];
    let (mut changing, mut others) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let Some((thread, line)) = line.split_once(' ') else { continue };
        let line = line.trim_start();
        let Some(kind) = CALLS.iter().position(|call| line.starts_with(&format!("{call}("))) else {
            continue;
        };
        if thread == main {
            counts[kind] += 1;
            if line.contains(&folder.path("")) {
                let reads = CALLS[kind] == "close" || (CALLS[kind] == "openat" && line.contains("O_RDONLY"));
                if reads { &mut others } else { &mut changing }.push((CALLS[kind], counts[kind]));
            }
        }
    }
    (changing, others)
}

/// So many of them, evenly.
fn some(calls: &[Call], count: usize) -> impl Iterator<Item = Call> {
    let count = count.min(calls.len());
    (0..count).map(move |index| calls[(2 * index + 1) * calls.len() / (2 * count)])
}

fn traced(flags: &[&str], words: &[String]) -> bool {
    let mut command = Command::new("strace");
    command.args(flags).arg(env!("CARGO_BIN_EXE_reticent")).args(words);
    command.env_remove("RETICENT_DATA").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().success()
}

#[test]
fn whoever_comes_next_finds_all_in_order() {
    let has_strace = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    if !has_strace.is_ok_and(|status| status.success()) {
        eprintln!("no strace here: nothing was killed");
        return;
    }
    let all = std::env::var("RETICENT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let (mut kills, mut counted) = (0, Vec::new());
    for (place, verb) in VERBS.iter().enumerate() {
        let (changing, others) = calls(verb);
        assert!(!changing.is_empty(), "{}", verb.name);
        // What is left is shared evenly by the verbs that are left; one with fewer calls gives its share away.
        let share = (all - kills).div_ceil(VERBS.len() - place);
        let more = share.saturating_sub(changing.len());
        for (call, when) in some(&changing, share).chain(some(&others, more)) {
            let folder = Folder::new();
            (verb.prepare)(&folder);
            let inject = format!("inject={call}:signal=KILL:when={when}");
            let trace = format!("trace={call}");
            let flags = ["-f", "-qq", "-e", &trace, "-e", &inject, "-o", "/dev/null"];
            let survived = traced(&flags, &(verb.words)(&folder));
            let told = format!("{}: killed on {call} number {when}", verb.name);
            eprintln!("{told}{}", if survived { " (not reached)" } else { "" });
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (verb.then)(&folder);
                assert_eq!(leftovers(&folder.path("")), Vec::<String>::new());
            }));
            assert!(checked.is_ok(), "{told}");
            kills += usize::from(!survived);
        }
        let total = changing.len() + others.len();
        counted.push(format!("{}: {} of {total} calls", verb.name, share.min(total)));
    }
    println!("{kills} kills ({})", counted.join("; "));
}
