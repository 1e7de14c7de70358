//! What is killed: every verb that writes files.

use super::super::{Folder, PEOPLE, command, files, leftovers, linear, network, reticent, stdout};
use std::process::Stdio;

/// Something that writes files.
pub(super) struct Verb {
    pub(super) name: &'static str,
    /// Makes what the verb needs.
    pub(super) prepare: fn(&Folder),
    pub(super) words: fn(&Folder) -> Vec<String>,
    /// What comes after the kill: the next runs, which must leave all in order.
    pub(super) then: fn(&Folder),
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
        assert!(output.status.success() || said.contains("contains a model"), "{said}");
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
    let mut child = command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
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
        is_audit(&place);
        assert!(files(&place).contains_key("records.csv"));
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

/// The folder holds an audit, and nothing that a writer left.
fn is_audit(place: &str) {
    let names = files(place);
    for file in ["audit.json", "private.json", "scores.csv"] {
        assert!(names.contains_key(file), "{file}: {:?}", names.keys());
    }
    assert!(!names.contains_key("audit.lock"), "the lock is given back");
    assert_eq!(leftovers(place), Vec::<String>::new());
    assert_eq!(leftovers(&format!("{place}/references")), Vec::<String>::new());
}

const REPORT: Verb = Verb {
    name: "report",
    prepare: |folder| {
        stdout(&linear(PEOPLE, &folder.path("model")));
        stdout(&["audit", &folder.path("model"), "--references", "0"]);
    },
    words: |folder| owned(&["report", &folder.path("model")]),
    then: |folder| {
        stdout(&["report", &folder.path("model")]);
        is_audit(&folder.path("model-audit"));
        assert!(folder.read("model-audit/report.html").contains("</html>"));
        assert!(serde_json::from_str::<serde_json::Value>(&folder.read("model-audit/report.json")).is_ok());
        is_whole(folder, "model");
    },
};

fn job(folder: &Folder) -> Vec<String> {
    let (model, out) = (folder.path("model"), folder.path("jobs"));
    let words = ["attack", "fit", &model, "--index", "0", "--of", "1", "--references", "4", "--out", &out];
    owned(&[&words[..], &["--threads", "2"]].concat())
}

fn collected(folder: &Folder) -> Vec<String> {
    let (model, out) = (folder.path("model"), folder.path("jobs"));
    owned(&["attack", "collect", &model, "--references", "4", "--out", &out])
}

/// Runs what must succeed.
fn done(words: &[String]) {
    let output = run(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

const JOB: Verb = Verb {
    name: "attack fit",
    prepare: |folder| drop(stdout(&linear(PEOPLE, &folder.path("model")))),
    words: job,
    then: |folder| {
        done(&job(folder));
        done(&collected(folder));
        is_audit(&folder.path("jobs"));
        assert_eq!(files(&folder.path("jobs/references")).len(), 4);
    },
};

const COLLECT: Verb = Verb {
    name: "attack collect",
    prepare: |folder| {
        stdout(&linear(PEOPLE, &folder.path("model")));
        done(&job(folder));
    },
    words: collected,
    then: |folder| {
        done(&collected(folder));
        is_audit(&folder.path("jobs"));
    },
};

fn canaries(folder: &Folder) -> Vec<String> {
    let (model, out) = (folder.path("model"), folder.path("canaries"));
    owned(&["attack", "canary", &model, "--canaries", "20", "--out", &out])
}

const CANARIES: Verb = Verb {
    name: "attack canary",
    prepare: |folder| drop(stdout(&network(PEOPLE, &folder.path("model")))),
    words: canaries,
    then: |folder| {
        done(&canaries(folder));
        is_audit(&folder.path("canaries"));
        is_whole(folder, "model");
    },
};

/// A table of scores.
fn scores(folder: &Folder) -> String {
    let row = |place: usize| format!("{},{}\n", (place * 37 % 101) as f64 / 101.0, place % 2);
    folder.file("scores.csv", "score,member\n".to_owned() + &(0..60).map(row).collect::<String>())
}

const TABLE: Verb = Verb {
    name: "audit --scores",
    prepare: |folder| drop(scores(folder)),
    words: |folder| {
        let (table, out, plot) = (folder.path("scores.csv"), folder.path("audit"), folder.path("roc.svg"));
        owned(&["audit", "--scores", &table, "--out", &out, "--plot", &plot])
    },
    then: |folder| {
        done(&(TABLE.words)(folder));
        is_audit(&folder.path("audit"));
        assert!(folder.read("roc.svg").contains("</svg>"));
    },
};

const SINGLE: Verb = Verb {
    name: "attack run --out",
    prepare: |folder| drop(scores(folder)),
    words: |folder| {
        let (table, out) = (folder.path("scores.csv"), folder.path("scored.csv"));
        owned(&["attack", "run", "given-score", "--scores", &table, "--out", &out])
    },
    then: |folder| {
        done(&(SINGLE.words)(folder));
        assert_eq!(folder.read("scored.csv").lines().count(), 61);
    },
};

const RANDOMIZE: Verb = Verb {
    name: "release randomize --out",
    prepare: |_| {},
    words: |folder| {
        let words = ["release", "randomize", PEOPLE, "--column", "kind", "--categories", "a,b,c"];
        owned(&[&words[..], &["--epsilon", "1", "--out", &folder.path("kinds.csv")]].concat())
    },
    then: |folder| {
        done(&(RANDOMIZE.words)(folder));
        assert_eq!(folder.read("kinds.csv").lines().count(), 241);
    },
};

/// A budget of ε = 1 for the table.
fn create(folder: &Folder) -> Vec<String> {
    owned(&["budget", "create", &folder.path("people.budget"), "--epsilon", "1", "--data", PEOPLE])
}

const CREATE: Verb = Verb {
    name: "budget create",
    prepare: |_| {},
    words: create,
    then: |folder| {
        // It is there as a whole, or it is not there.
        match files(&folder.path("")).contains_key("people.budget") {
            true => assert_eq!(run(&create(folder)).status.code(), Some(2)),
            false => done(&create(folder)),
        }
        in_order(folder);
    },
};

/// The record of the budget is in order.
fn in_order(folder: &Folder) {
    done(&owned(&["budget", "verify", &folder.path("people.budget")]));
}

/// A question that fits once.
fn asked(folder: &Folder) -> Vec<String> {
    owned(&[
        "release",
        "count",
        PEOPLE,
        "--epsilon",
        "0.6",
        "--budget",
        &folder.path("people.budget"),
        "--json",
    ])
}

const CHARGED: Verb = Verb {
    name: "release --budget",
    prepare: |folder| done(&create(folder)),
    words: asked,
    then: |folder| {
        in_order(folder);
        let said = run(&asked(folder));
        let shown: serde_json::Value =
            serde_json::from_str(&stdout(&["budget", "show", &folder.path("people.budget"), "--json"]))
                .unwrap();
        assert_eq!(shown["charges"], 1, "{shown}");
        match said.status.success() {
            // Nothing was charged before, or the answer is remembered.
            true => assert_eq!((&shown["unanswered"], &shown["answers"]), (&0.into(), &1.into()), "{shown}"),
            // The charge was on record and its answer was not: it counts as spent.
            false => {
                assert!(String::from_utf8_lossy(&said.stderr).contains("R405"));
                assert_eq!((&shown["unanswered"], &shown["answers"]), (&1.into(), &0.into()), "{shown}");
            }
        }
        in_order(folder);
    },
};

/// Those with few calls first.
pub(super) const VERBS: &[Verb] = &[
    SCHEMA_OUT, CREATE, CHARGED, PLOT, RANDOMIZE, SINGLE, PREDICT, TABLE, REPORT, COLLECT, AUDIT, JOB,
    CANARIES, LINEAR, FINISHED, NETWORK, RESUME,
];
