//! Lists of names for messages, and the closest known name.

use std::fmt::Write as _;

use reticent_files::shown;

/// How many column names an error message lists.
const LISTED: usize = 12;

/// The first names and how many more there are, or the words for none.
pub(super) fn listed(names: &[String], none: &str) -> String {
    let mut list = names.iter().take(LISTED).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        // Writing to a string cannot fail.
        let _ = write!(list, " and {} more", names.len() - LISTED);
    }
    if list.is_empty() { none.to_owned() } else { list }
}

/// The question at the end of a message about an unknown name.
pub(crate) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!(" (did you mean \"{}\"?)", shown(name))).unwrap_or_default()
}

/// The name in `known` closest to `wanted`, if at most a third of its letters differ; case does not count.
pub fn closest<'a>(wanted: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    known
        .iter()
        .filter_map(|name| {
            let name = name.as_ref();
            let letters: Vec<char> = name.to_lowercase().chars().collect();
            let distance = edit_distance(&wanted, &letters);
            (distance <= wanted.len().max(letters.len()) / 3).then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein distance.
pub(super) fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = above[0];
        above[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = above[j + 1];
            above[j + 1] = substituted.min(above[j] + 1).min(diagonal + 1);
        }
    }
    above[b.len()]
}
