//! The direction of imports inside `crates/curator`: a record goes from a file to a report by rooms that know only those before
//! them.

use std::fs;
use std::path::Path;

use crate::modules::{Placed, Token, placed};
use crate::privacy::{is_mark, is_pair, sources, word};
use crate::shell::{Failure, Result, Shell};

/// The sources of the curator.
const CURATOR: &str = "crates/curator/src";

/// Where the rules are, for messages.
const WRITTEN: &str = "the order is in xtask/src/rooms.rs";

/// Rooms that any other may use, each only those before it.
const SHARED: &[&str] =
    &["refusal", "watch", "session", "quantity", "file", "budget", "table", "scan", "bill"];

/// What each room may use besides the shared ones.
const RULES: &[(&str, &[&str])] = &[
    ("account", &[]),
    ("perturb", &[]),
    ("release", &[]),
    ("page", &["release"]),
    ("sheet", &["page"]),
    ("schema", &[]),
    ("folder", &[]),
    ("fit", &["folder"]),
    ("train", &["folder", "fit"]),
    ("tune", &["folder", "fit", "train"]),
    ("stored", &["folder", "fit", "train"]),
    ("predict", &["folder", "fit", "train", "stored"]),
    ("evaluate", &["folder", "fit", "train", "stored", "predict"]),
    ("sample", &["folder", "train", "stored"]),
    ("audit", &["folder", "fit", "train", "stored", "page"]),
    ("report", &["folder", "fit", "train", "stored", "audit"]),
];

/// Checks every import between two rooms.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let root = shell.root.join(CURATOR);
    let (mut findings, mut imports) = (Vec::new(), 0);
    for file in sources(&root)? {
        let Some(room) = room(&root, &file) else { continue };
        let name = shell.relative(&file);
        if !SHARED.contains(&room.as_str()) && !RULES.iter().any(|(known, _)| *known == room) {
            findings.push(format!("{name}: `{room}` is not a known room: give it a row ({WRITTEN})"));
            continue;
        }
        let text = fs::read_to_string(&file).map_err(|error| Failure::file(&file, &error))?;
        for (line, other) in imported(&text) {
            imports += 1;
            if !allows(&room, &other) {
                findings.push(format!("{name}:{line}: `{room}` may not use `{other}` ({WRITTEN})"));
            }
        }
    }
    Failure::unless_empty(&findings, format!("{imports} imports"))
}

/// The room of a source: its folder or its name; none for the root and for files of tests.
fn room(root: &Path, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(root).ok()?;
    let first = inside.components().next()?.as_os_str().to_str()?;
    let room = first.trim_end_matches(".rs");
    let is_test = file.file_name().is_some_and(|name| name == "tests.rs");
    (room != "lib" && !is_test).then(|| room.to_owned())
}

/// Whether a room may use another.
fn allows(from: &str, to: &str) -> bool {
    let place = |room: &str| SHARED.iter().position(|shared| *shared == room);
    match (place(from), place(to)) {
        _ if from == to => true,
        (Some(from), Some(to)) => to < from,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (None, None) => RULES.iter().any(|(room, below)| *room == from && below.contains(&to)),
    }
}

/// The rooms that a source names after `crate::`, with the lines. Its tests, which come last, may use anything.
fn imported(source: &str) -> Vec<(usize, String)> {
    let tokens = placed(source);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if is_tests(&tokens, at) {
            break;
        }
        if word(&tokens, at) == Some("crate") && is_pair(&tokens, at + 1) {
            found.extend(heads(&tokens, at + 3));
        }
    }
    found
}

/// Whether `#[cfg(test)] mod` begins here.
fn is_tests(tokens: &[Placed], at: usize) -> bool {
    is_mark(tokens, at, '#')
        && word(tokens, at + 2) == Some("cfg")
        && word(tokens, at + 4) == Some("test")
        && is_mark(tokens, at + 6, ']')
        && word(tokens, at + 7) == Some("mod")
}

/// The modules at the head of the path, or of each path of the group, that begins here. What the root itself defines begins with a
/// capital letter.
fn heads(tokens: &[Placed], start: usize) -> Vec<(usize, String)> {
    let one = |at: usize| {
        let word = word(tokens, at).filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))?;
        Some((tokens[at].line, word.to_owned()))
    };
    if !is_mark(tokens, start, '{') {
        return one(start).into_iter().collect();
    }
    let (mut found, mut depth) = (Vec::new(), 0usize);
    for at in start..tokens.len() {
        match &tokens[at].token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') if depth == 1 => break,
            Token::Mark('}') => depth -= 1,
            _ if depth == 1 && (is_mark(tokens, at - 1, '{') || is_mark(tokens, at - 1, ',')) => {
                found.extend(one(at));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_in_paths_and_groups() {
        let source = "use crate::{Planned, fit::{Task, train}, train};\nlet x = crate::folder::verify(a);\n\
                      #[cfg(test)]\nmod tests { use crate::report; }";
        let found: Vec<(usize, String)> = imported(source);
        let expected = [(1, "fit"), (1, "train"), (2, "folder")].map(|(line, room)| (line, room.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn rooms_know_only_those_before_them() {
        for (from, to) in [
            ("train", "fit"),
            ("report", "audit"),
            ("evaluate", "predict"),
            ("fit", "bill"),
            ("scan", "watch"),
        ] {
            assert!(allows(from, to) && !allows(to, from), "{from} -> {to}");
        }
        assert!(!allows("audit", "predict") && !allows("release", "fit") && !allows("fit", "nowhere"));
    }

    #[test]
    fn a_source_belongs_to_its_folder() {
        let root = Path::new("src");
        let of = |file: &str| room(root, &root.join(file));
        assert_eq!(of("fit/plan.rs").as_deref(), Some("fit"));
        assert_eq!(of("stored.rs").as_deref(), Some("stored"));
        assert_eq!((of("lib.rs"), of("fit/tests.rs")), (None, None));
    }
}
