//! The files that a path stands for: itself, those of a folder, or those that match a glob.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::file::{DASH, format_of};
use super::reading::{Format, Reading};
use crate::error::{DataError, shown_path};

/// The files of one path, in the order of their names. A path that names a file is that file, whatever signs it has.
pub(super) fn files(path: &Path, reading: &Reading) -> Result<Vec<PathBuf>, DataError> {
    if path.as_os_str() == DASH {
        return Ok(vec![path.to_owned()]);
    }
    if path.is_dir() {
        return folder(path, reading.format.unwrap_or(Format::Parquet));
    }
    let is_glob = path.to_str().is_some_and(|text| text.contains(['*', '?', '[']));
    if !is_glob || path.exists() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        found = step(&found, part)?;
    }
    let files: Vec<PathBuf> = found.into_iter().filter(|path| path.is_file()).collect();
    if files.is_empty() {
        return Err(DataError::NoMatch { pattern: shown_path(path) });
    }
    Ok(files)
}

/// Refuses a file that is named twice: by the same path, by another path, or by a link. A copy is another file.
pub(super) fn distinct_files(files: &[PathBuf]) -> Result<(), DataError> {
    let mut known: BTreeMap<FileIdentity, &PathBuf> = BTreeMap::new();
    for file in files {
        let keys = identities(file);
        if let Some(other) = keys.iter().find_map(|key| known.get(key)) {
            return Err(DataError::SameFile { file: shown_path(file), other: shown_path(other) });
        }
        known.extend(keys.into_iter().map(|key| (key, file)));
    }
    Ok(())
}

/// Whether two paths name one file, also through links.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let keys = identities(one);
    identities(other).iter().any(|key| keys.contains(key))
}

/// What tells a file from others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileIdentity {
    Path(PathBuf),
    /// The number of the device, and that of the file on it.
    Number(u64, u64),
}

fn identities(path: &Path) -> Vec<FileIdentity> {
    if path.as_os_str() == DASH {
        return vec![FileIdentity::Path(path.to_owned())];
    }
    let canonical = path.canonicalize().or_else(|_| std::path::absolute(path));
    let mut keys = vec![FileIdentity::Path(canonical.unwrap_or_else(|_| path.to_owned()))];
    #[cfg(unix)]
    if let Ok(about) = fs::metadata(path) {
        use std::os::unix::fs::MetadataExt;
        keys.push(FileIdentity::Number(about.dev(), about.ino()));
    }
    keys
}

/// Whether a file is a table by its name, or because a reading says so.
pub fn is_table_file(path: &Path, reading: &Reading) -> bool {
    reading.format.is_some() || format_of(path).is_ok()
}

/// Whether a folder has files that [`open_table_with`](crate::open_table_with) would read.
pub fn is_table_folder(path: &Path, reading: &Reading) -> bool {
    !matches!(folder(path, reading.format.unwrap_or(Format::Parquet)), Err(DataError::NoTables { .. }))
}

/// The files of a format in a folder. Names that start with `.` or `_` are notes of the program that wrote it.
fn folder(path: &Path, format: Format) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    for entry in entries(path)? {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if entry.is_dir() && name.contains('=') {
            return Err(DataError::Partitioned {
                folder: shown_path(path),
                part: crate::error::shown(&name),
            });
        }
        if entry.is_file() && format_of(&entry) == Ok(format) {
            files.push(entry);
        }
    }
    if files.is_empty() {
        return Err(DataError::NoTables { folder: shown_path(path) });
    }
    Ok(files)
}

/// The entries of a folder, in the order of their names.
fn entries(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    let failed = |error: std::io::Error| DataError::io(&shown_path(path), "read", &error);
    let listed: Result<Vec<PathBuf>, _> =
        fs::read_dir(path).map_err(failed)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut listed = listed.map_err(failed)?;
    listed.sort();
    Ok(listed)
}

/// The paths one component further down.
fn step(above: &[PathBuf], part: Component<'_>) -> Result<Vec<PathBuf>, DataError> {
    let pattern = match part {
        Component::Normal(name) => name.to_str().filter(|name| name.contains(['*', '?', '['])),
        _ => None,
    };
    let Some(pattern) = pattern else {
        return Ok(above.iter().map(|path| path.join(part)).collect());
    };
    let pattern: Vec<char> = pattern.chars().collect();
    let mut found = Vec::new();
    for path in above {
        let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        if !here.is_dir() {
            continue;
        }
        for entry in entries(here)? {
            let Some(name) = entry.file_name().and_then(|name| name.to_str()) else { continue };
            let letters: Vec<char> = name.chars().collect();
            // As in a shell, a hidden file is matched by its dot only.
            let hidden = name.starts_with('.') && pattern.first() != Some(&'.');
            if !hidden && matches(&pattern, &letters) {
                found.push(path.join(name));
            }
        }
    }
    Ok(found)
}

/// Whether a name matches: `*` stands for any characters, `?` for one, `[a-c]` for one of a set and `[!a-c]` for one outside.
fn matches(pattern: &[char], name: &[char]) -> bool {
    // The last star, and the first character that it has not swallowed yet.
    let mut star: Option<(usize, usize)> = None;
    let (mut at, mut from) = (0, 0);
    loop {
        if pattern.get(at) == Some(&'*') {
            star = Some((at + 1, from));
            at += 1;
            continue;
        }
        match (name.get(from), pattern.get(at)) {
            (None, None) => return true,
            (Some(letter), Some(_)) => {
                if let Some(next) = one(&pattern[at..], *letter) {
                    (at, from) = (at + next, from + 1);
                    continue;
                }
            }
            (None, Some(_)) => return false,
            (Some(_), None) => {}
        }
        match star {
            Some((after, swallowed)) => {
                (at, from) = (after, swallowed + 1);
                star = Some((after, swallowed + 1));
            }
            None => return false,
        }
    }
}

/// How much of the pattern a letter matches, if it matches.
fn one(pattern: &[char], letter: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['[', rest @ ..] => {
            // A bracket at the start of a set belongs to it; a set that is not closed is a bracket.
            let negated = usize::from(rest.first() == Some(&'!'));
            let close =
                rest.iter().skip(negated + 1).position(|sign| *sign == ']').map(|at| at + negated + 1);
            let Some(close) = close else { return (letter == '[').then_some(1) };
            let set = &rest[negated..close];
            let mut inside = false;
            let mut at = 0;
            while at < set.len() {
                if let [low, '-', high, ..] = set[at..] {
                    inside |= (low..=high).contains(&letter);
                    at += 3;
                } else {
                    inside |= set[at] == letter;
                    at += 1;
                }
            }
            (inside != (negated == 1)).then_some(close + 2)
        }
        [own, ..] => (*own == letter).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Folder;

    #[test]
    fn globs_match_as_in_a_shell() {
        let is = |pattern: &str, name: &str| {
            matches(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
        };
        for (pattern, name) in [
            ("*", ""),
            ("*.csv", ".csv"),
            ("a*b*c", "a-b-b-c"),
            ("visits-202?.csv", "visits-2024.csv"),
            ("[ab]x", "bx"),
            ("[a-c]*", "cat"),
            ("[!a-c]?", "dx"),
            ("[]]", "]"),
            ("[x", "[x"),
            ("é*", "étude"),
        ] {
            assert!(is(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("*.csv", "a.tsv"),
            ("?", ""),
            ("?", "ab"),
            ("[a-c]", "d"),
            ("[!a]", "a"),
            ("a*b", "ac"),
            ("", "a"),
        ] {
            assert!(!is(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn files_come_in_the_order_of_their_names() {
        let folder = Folder::new();
        for name in ["v/b.csv", "v/a.csv", "v/.c.csv", "w/a.csv", "w/note.txt", "x.csv"] {
            std::fs::create_dir_all(folder.path(name).parent().unwrap()).unwrap();
            folder.file(name, "a\n");
        }
        let names = |pattern: &str| {
            let root = folder.path("");
            let found = files(&folder.path(pattern), &Reading::default());
            found.map(|found| {
                found.iter().map(|path| shown_path(path.strip_prefix(&root).unwrap())).collect::<Vec<_>>()
            })
        };
        assert_eq!(names("v/*.csv").unwrap(), ["v/a.csv", "v/b.csv"]);
        assert_eq!(names("*/a.csv").unwrap(), ["v/a.csv", "w/a.csv"]);
        assert_eq!(names("[vw]/?.csv").unwrap(), ["v/a.csv", "v/b.csv", "w/a.csv"]);
        assert_eq!(
            folder.message(names("v/*.parquet").unwrap_err()),
            "v/*.parquet: no file matches: check the path"
        );
        assert!(matches!(names("v"), Err(DataError::NoTables { .. })));
        folder.file("odd*.csv", "a\n");
        folder.file("odder.csv", "a\n");
        assert_eq!(names("odd*.csv").unwrap(), ["odd*.csv"]);
    }

    #[test]
    fn a_folder_is_its_parquet_files() {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path("t/_temporary")).unwrap();
        for name in
            ["t/part-1.parquet", "t/part-0.snappy.parquet", "t/_SUCCESS", "t/.part-0.parquet.crc", "t/x.csv"]
        {
            folder.file(name, "x");
        }
        let found = files(&folder.path("t"), &Reading::default()).unwrap();
        assert_eq!(found, [folder.path("t/part-0.snappy.parquet"), folder.path("t/part-1.parquet")]);
        let csv = Reading { format: Some(Format::Csv), ..Reading::default() };
        assert_eq!(files(&folder.path("t"), &csv).unwrap(), [folder.path("t/x.csv")]);
        std::fs::create_dir(folder.path("t/year=2024")).unwrap();
        assert!(matches!(files(&folder.path("t"), &csv), Err(DataError::Partitioned { .. })));
    }
}
