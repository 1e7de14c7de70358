//! Processes that are killed at a system call: the next one goes on or begins anew, nothing is lost and nothing is left over.
//!
//! A verb runs once under `strace`, which notes its calls (open, write, fsync, rename, unlink, link, lock, mkdir) that touch the test's folder; then it
//! runs again and again and is killed on entering one of them. `RETICENT_KILLS` says how often in all (`cargo xtask kills`); then a
//! machine without `strace` is an error.

mod verbs;

use super::{Folder, leftovers};
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::process::{Command, Stdio};
use verbs::{VERBS, Verb};

/// Kills in all, unless `RETICENT_KILLS` says otherwise.
const KILLS: usize = 30;

#[rustfmt::skip]
const CALLS: &[&str] = &[
    "openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "link", "unlink", "flock", "mkdir", "rmdir", "fchmod",
    "chmod", "close",
];

/// A call that touches the folder: which one, and the how-manieth of its kind in its thread, which is how `strace` counts.
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
    let mut counts: HashMap<(&str, usize), usize> = HashMap::new();
    let (mut changing, mut others, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for line in text.lines() {
        let Some((thread, line)) = line.split_once(' ') else { continue };
        let line = line.trim_start();
        let Some(kind) = CALLS.iter().position(|call| line.starts_with(&format!("{call}("))) else {
            continue;
        };
        let count = counts.entry((thread, kind)).or_default();
        *count += 1;
        // Two threads with as many calls are killed at the same one.
        if line.contains(&folder.path("")) && seen.insert((kind, *count)) {
            let reads = CALLS[kind] == "close" || (CALLS[kind] == "openat" && line.contains("O_RDONLY"));
            if reads { &mut others } else { &mut changing }.push((CALLS[kind], *count));
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
    let asked = std::env::var("RETICENT_KILLS").ok();
    let has_strace = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    if !has_strace.is_ok_and(|status| status.success()) {
        assert!(asked.is_none(), "RETICENT_KILLS asks for kills, and strace is not installed");
        // Past the harness, which keeps what a test prints to itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: strace is not installed, so nothing was killed");
        return;
    }
    let all = asked.map_or(KILLS, |text| text.parse().unwrap());
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
