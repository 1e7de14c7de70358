//! The steps of the gate, in order, and the loop that runs them.

use std::time::Instant;

use crate::shell::{Result, Shell};
use crate::{book, build, floor, layers, licences, orphans, package, pages, peers, privacy, rooms, sizes};

/// One check.
pub(crate) struct Step {
    /// What to type after `cargo xtask`.
    pub(crate) name: &'static str,
    about: &'static str,
    check: fn(&Shell) -> Result<String>,
}

/// Every step, in the order `cargo xtask check` runs them.
pub(crate) const STEPS: [Step; 16] = [
    Step { name: "format", about: "the sources are formatted", check: build::format },
    Step { name: "layers", about: "dependencies between crates point down", check: layers::check },
    Step { name: "rooms", about: "imports between rooms of the curator point down", check: rooms::check },
    Step { name: "orphans", about: "every .rs file belongs to a target", check: orphans::check },
    Step { name: "privacy", about: "the command holds no privacy decision", check: privacy::check },
    Step { name: "sizes", about: "no source over 800 lines, no file over 1 MiB", check: sizes::check },
    Step { name: "licences", about: "dependencies are permissive, none is banned", check: licences::check },
    Step { name: "clippy", about: "no warnings in any target", check: build::clippy },
    Step { name: "tests", about: "unit and integration tests pass", check: build::tests },
    Step { name: "doctests", about: "the examples in the documentation pass", check: build::doctests },
    Step { name: "docs", about: "the documentation builds without warnings", check: build::docs },
    Step { name: "package", about: "every package can be made and is whole", check: package::check },
    Step { name: "floor", about: "the number of tests has not fallen", check: floor::check },
    Step {
        name: "pages",
        about: "the commands in README.md and docs/ print what is shown",
        check: pages::check,
    },
    Step { name: "book", about: "docs/ builds as a book", check: book::check },
    Step { name: "peers", about: "results agree with other libraries", check: peers::check },
];

/// The last step of `check --quick`.
const LAST_QUICK: &str = "clippy";

/// The steps of `check --quick`.
pub(crate) fn quick() -> &'static [Step] {
    let end = STEPS.iter().position(|step| step.name == LAST_QUICK).map_or(STEPS.len(), |last| last + 1);
    &STEPS[..end]
}

/// The step with this name.
pub(crate) fn named(name: &str) -> Option<&'static Step> {
    STEPS.iter().find(|step| step.name == name)
}

/// One line per step.
pub(crate) fn listing() -> String {
    STEPS.iter().map(|step| format!("{:<10} {}\n", step.name, step.about)).collect()
}

/// A row of the summary: step, seconds, outcome.
type Row = (&'static str, f64, String);

/// Runs the steps until one fails, then prints the summary; true when all passed.
pub(crate) fn run(shell: &Shell, steps: &'static [Step]) -> bool {
    let mut rows: Vec<Row> = Vec::new();
    let mut passed = true;
    for (index, step) in steps.iter().enumerate() {
        println!("[{}/{}] {}: {}", index + 1, steps.len(), step.name, step.about);
        let start = Instant::now();
        let result = (step.check)(shell);
        let seconds = start.elapsed().as_secs_f64();
        passed = result.is_ok();
        let outcome = match result {
            Ok(detail) => detail,
            Err(failure) => {
                println!("{failure}");
                "FAILED".to_owned()
            }
        };
        let word = if passed { "ok" } else { "FAILED" };
        println!("[{}/{}] {}: {word} in {seconds:.1} s\n", index + 1, steps.len(), step.name);
        rows.push((step.name, seconds, outcome));
        if !passed {
            break;
        }
    }
    print!("{}", summary(&rows, steps.len()));
    passed
}

fn summary(rows: &[Row], steps: usize) -> String {
    let mut table = format!("{:<10} {:>8}\n", "step", "seconds");
    for (name, seconds, outcome) in rows {
        table.push_str(format!("{name:<10} {seconds:>8.1}  {outcome}").trim_end());
        table.push('\n');
    }
    let total: f64 = rows.iter().map(|row| row.1).sum();
    table + &format!("{:<10} {total:>8.1}  {} of {steps} steps run\n", "total", rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_ends_with_clippy_and_every_step_has_its_own_name() {
        assert_eq!(quick().len(), 8);
        assert_eq!(quick().last().map(|step| step.name), Some("clippy"));
        for step in &STEPS {
            assert!(named(step.name).is_some_and(|found| found.about == step.about));
        }
    }

    #[test]
    fn the_summary_adds_up() {
        let text = summary(&[("format", 1.0, String::new()), ("layers", 0.5, "3 crates".into())], 12);
        assert!(text.contains("layers          0.5  3 crates\n"), "{text}");
        assert!(text.ends_with("total           1.5  2 of 12 steps run\n"), "{text}");
    }
}
