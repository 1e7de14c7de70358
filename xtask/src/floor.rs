//! The number of tests, which may grow but not fall.

use std::fs;

use serde_json::Value;

use crate::shell::{Failure, Result, Shell, capture};

/// Holds the least number of tests.
const FILE: &str = "xtask/test-floor.txt";

/// Checks that there are at least as many tests as the floor says.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let (floor, count) = (read(shell)?, count(shell)?);
    compare(floor, count)
}

/// Raises the floor to the present number of tests; never lowers it.
pub(crate) fn raise(shell: &Shell) -> Result<String> {
    let path = shell.root.join(FILE);
    let floor = if path.exists() { read(shell)? } else { 0 };
    let count = count(shell)?;
    compare(floor, count)?;
    fs::write(&path, format!("{count}\n")).map_err(|error| Failure::file(&path, &error))?;
    Ok(format!("{FILE}: raised from {floor} to {count}"))
}

fn compare(floor: usize, count: usize) -> Result<String> {
    if count < floor {
        return Err(Failure::new(format!(
            "{FILE}: the floor is {floor} but there are {count} tests: restore the missing ones, \
             or write the smaller number there and say why"
        )));
    }
    let hint = if count > floor { " (raise it: `cargo xtask floor --raise`)" } else { "" };
    Ok(format!("{count} tests, floor {floor}{hint}"))
}

fn read(shell: &Shell) -> Result<usize> {
    let path = shell.root.join(FILE);
    let text = fs::read_to_string(&path).map_err(|error| {
        Failure::new(format!("{FILE}: {error}: write it with `cargo xtask floor --raise`"))
    })?;
    text.trim().parse().map_err(|_| Failure::new(format!("{FILE}: must hold one whole number")))
}

/// Counts unit and integration tests, ignored ones included.
fn count(shell: &Shell) -> Result<usize> {
    if shell.has_subcommand("nextest") {
        let listing = capture(shell.cargo(&["nextest", "list", "--workspace", "--message-format", "json"]))?;
        count_in_json(&listing)
    } else {
        let arguments = ["test", "--workspace", "--lib", "--bins", "--tests", "--", "--list"];
        Ok(count_in_text(&capture(shell.cargo(&arguments))?))
    }
}

fn count_in_json(listing: &str) -> Result<usize> {
    let value: Option<Value> = serde_json::from_str(listing).ok();
    value
        .and_then(|value| value["test-count"].as_u64())
        .and_then(|count| usize::try_from(count).ok())
        .ok_or_else(|| Failure::new("`cargo nextest list`: its output lacks `test-count`"))
}

fn count_in_text(listing: &str) -> usize {
    listing.lines().filter(|line| line.ends_with(": test")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fall_fails() {
        assert!(compare(10, 9).is_err());
        assert_eq!(compare(10, 10).unwrap(), "10 tests, floor 10");
        assert!(compare(10, 11).unwrap().contains("floor --raise"));
    }

    #[test]
    fn both_listings_are_counted() {
        assert_eq!(count_in_json(r#"{"test-count": 3, "rust-suites": {}}"#).unwrap(), 3);
        assert!(count_in_json("{}").is_err());
        assert!(count_in_json("nothing").is_err());
        assert_eq!(count_in_text("a::b: test\nc: test\n\n2 tests, 1 benchmark\nd: benchmark\n"), 2);
    }
}
