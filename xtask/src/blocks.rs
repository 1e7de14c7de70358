//! Code blocks of the documentation: wider ones scroll in the book. Blocks of `text` are what commands print, and are not checked.

use std::fs;

use crate::pages;
use crate::shell::{Failure, Result, Shell};

/// The width of the book.
const COLUMNS: usize = 80;

/// Checks that every line of a fenced block of code or commands in `README.md` and `docs` fits the width of the book.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let mut pages = pages::of_docs(shell)?;
    pages.push(shell.root.join("README.md"));
    let (mut findings, mut blocks) = (Vec::new(), 0);
    for page in &pages {
        let text = fs::read_to_string(page).map_err(|error| Failure::file(page, &error))?;
        let name = shell.relative(page);
        let (found, wide) = wide(&text);
        blocks += found;
        findings.extend(wide.into_iter().map(|(line, columns)| {
            format!("{name}:{line}: {columns} columns: break the line before column {COLUMNS}")
        }));
    }
    Failure::unless_empty(&findings, format!("{blocks} blocks"))
}

/// How many fenced blocks there are, and the lines in them that are too wide, with their widths.
fn wide(page: &str) -> (usize, Vec<(usize, usize)>) {
    let (mut blocks, mut wide, mut fence) = (0, Vec::new(), None::<(usize, bool)>);
    for (index, line) in page.lines().enumerate() {
        let body = line.trim_start();
        let marks = body.len() - body.trim_start_matches('`').len();
        match fence {
            None if marks >= 3 && !body[marks..].contains('`') => {
                let is_output = body[marks..].split_whitespace().next() == Some("text");
                fence = Some((marks, is_output));
                blocks += usize::from(!is_output);
            }
            Some((open, _)) if marks >= open && body[marks..].trim().is_empty() => fence = None,
            Some((_, false)) if line.chars().count() > COLUMNS => {
                wide.push((index + 1, line.chars().count()))
            }
            _ => {}
        }
    }
    (blocks, wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_inside_of_blocks_count() {
        let long = "x".repeat(81);
        let page = format!(
            "{long}\n```sh\n{long}\n{}\n```\n{long}\n````json\n```\n{long}\n````\n```text exact\n{long}\n```\n",
            "é".repeat(80)
        );
        assert_eq!(wide(&page), (2, vec![(3, 81), (9, 81)]));
        assert_eq!(wide("`a` and ```b```\n"), (0, vec![]));
    }
}
