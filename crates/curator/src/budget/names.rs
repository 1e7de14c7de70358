//! The names that a budget has for its data, and which of them a request is about.
//!
//! A file is named by its path from the folder of the budget, or by its absolute path if it lies elsewhere, so a budget can be
//! used from any folder and moved together with its data. A declared name may be a pattern: `*` stands for any characters of one
//! file or folder name, `?` for one of them. A declared folder covers the files below it.

use std::path::{Component, Path, PathBuf};

/// The name of tables that are handed over in memory.
pub const MEMORY: &str = "memory";
/// The name of the bundled census records.
pub const BUNDLED: &str = "bundled";
/// The name of standard input.
pub const STDIN: &str = "-";

/// The name that the budget in this file has for a path or a pattern.
pub(super) fn name(budget: &Path, data: &Path) -> String {
    let text = data.to_string_lossy();
    if [MEMORY, BUNDLED, STDIN].contains(&&*text) {
        return text.into_owned();
    }
    if text.is_empty() || text.starts_with("memory:") {
        return MEMORY.to_owned();
    }
    let (place, folder) = (settled(data), settled(budget));
    let folder = folder.parent().unwrap_or(Path::new("/")).to_path_buf();
    let inside = place.strip_prefix(&folder).map(Path::to_path_buf).unwrap_or(place);
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    match inside.is_absolute() {
        true => format!("/{}", parts[1..].join("/")),
        false => parts.join("/"),
    }
}

/// The absolute path without `.` and `..`. Links are not followed: a file is named as it was declared.
fn settled(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut settled = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::CurDir => {}
            // There is nothing above the root.
            Component::ParentDir => drop(settled.pop()),
            part => settled.push(part),
        }
    }
    settled
}

/// Whether a declared name covers the name of a request's data.
pub(super) fn covers(declared: &str, asked: &str) -> bool {
    let (declared_parts, asked_parts): (Vec<&str>, Vec<&str>) =
        (declared.split('/').collect(), asked.split('/').collect());
    // What lies below a declared folder belongs to it.
    declared_parts.len() <= asked_parts.len()
        && declared_parts.iter().zip(&asked_parts).all(|(pattern, part)| {
            fits(&pattern.chars().collect::<Vec<_>>(), &part.chars().collect::<Vec<_>>())
        })
}

/// Whether a pattern stands for a text. The text may be a pattern itself: everything it stands for must be covered, so its own
/// `*` is covered by `*` alone.
fn fits(pattern: &[char], text: &[char]) -> bool {
    // The places of the pattern that the text so far can have reached.
    let mut at = vec![false; pattern.len() + 1];
    at[0] = true;
    let skip = |at: &mut Vec<bool>| {
        for place in 0..pattern.len() {
            at[place + 1] |= at[place] && pattern[place] == '*';
        }
    };
    skip(&mut at);
    for letter in text {
        let mut next = vec![false; pattern.len() + 1];
        for place in 0..pattern.len() {
            let stays = pattern[place] == '*';
            let is_plain = !matches!(letter, '*' | '[');
            let goes = pattern[place] == *letter && *letter != '*' || pattern[place] == '?' && is_plain;
            next[place] |= at[place] && stays;
            next[place + 1] |= at[place] && goes;
        }
        at = next;
        skip(&mut at);
    }
    at[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_inside_of_one_name() {
        for (declared, asked) in [
            ("visits.csv", "visits.csv"),
            ("visits/*.parquet", "visits/jan.parquet"),
            ("visits/*.parquet", "visits/*.parquet"),
            ("visits/*.parquet", "visits/2026-*.parquet"),
            ("visits/20??.csv", "visits/2026.csv"),
            ("visits/20??.csv", "visits/202?.csv"),
            ("visits", "visits/jan.parquet"),
            ("*", "a.csv"),
            ("a*b*c", "abbc"),
        ] {
            assert!(covers(declared, asked), "{declared} {asked}");
        }
        for (declared, asked) in [
            ("visits.csv", "visits2.csv"),
            ("visits/*.parquet", "visits/old.csv"),
            ("visits/*.parquet", "other/jan.parquet"),
            ("visits/20??.csv", "visits/20*.csv"),
            ("visits/jan.parquet", "visits"),
            ("vis", "visits"),
            ("a*b", "ac"),
            ("visits/?.csv", "visits/[ab].csv"),
        ] {
            assert!(!covers(declared, asked), "{declared} {asked}");
        }
    }

    #[test]
    fn a_name_is_the_same_from_every_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("visits")).unwrap();
        let budget = root.join("hospital.budget");
        for (path, expected) in [
            (root.join("visits/jan.csv"), "visits/jan.csv"),
            (root.join("visits/../visits/jan.csv"), "visits/jan.csv"),
            (root.join("visits/*.csv"), "visits/*.csv"),
            (root.join("./new/*/a.csv"), "new/*/a.csv"),
            (PathBuf::from("memory:frame"), MEMORY),
            (PathBuf::new(), MEMORY),
            (PathBuf::from("-"), STDIN),
        ] {
            assert_eq!(name(&budget, &path), expected, "{}", path.display());
        }
        assert!(name(&budget, Path::new("/elsewhere/a.csv")).starts_with("/elsewhere"));
    }
}
