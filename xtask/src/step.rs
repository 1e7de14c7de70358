//! The steps of the gate, in order, the lanes they belong to, and the loop that runs them.

use std::fs;
use std::time::Instant;

use crate::shell::{Failure, Result, Shell};
use crate::{
    blocks, book, build, floor, layers, ledger, licences, names, orphans, package, pages, peers, privacy,
    rooms, sizes, wheel,
};

/// One check.
pub(crate) struct Step {
    /// What to type after `cargo xtask`.
    pub(crate) name: &'static str,
    /// The lane it belongs to.
    pub(crate) lane: &'static str,
    about: &'static str,
    check: fn(&Shell) -> Result<String>,
}

const fn step(
    lane: &'static str,
    name: &'static str,
    about: &'static str,
    check: fn(&Shell) -> Result<String>,
) -> Step {
    Step { name, lane, about, check }
}

/// The lanes: groups of steps that can be run by themselves.
pub(crate) const LANES: [(&str, &str); 6] = [
    ("quick", "format, layout, licences and lints: an answer within minutes of an edit"),
    ("rust", "tests, documentation and packages"),
    ("ledger", "stored budgets: a thousand kills, and a PostgreSQL server"),
    ("book", "the commands of the documentation, and the book made of it"),
    ("peers", "agreement with other libraries"),
    ("python", "the Python package: its wheel, tests, types and notebooks"),
];

/// Every step, in the order `cargo xtask check` runs them.
pub(crate) const STEPS: [Step; 23] = [
    step("quick", "format", "the sources are formatted", build::format),
    step("quick", "layers", "dependencies between crates point down", layers::check),
    step("quick", "rooms", "imports between rooms of the curator point down", rooms::check),
    step("quick", "names", "no two crates have a public type of one name", names::check),
    step("quick", "orphans", "every .rs file belongs to a target", orphans::check),
    step("quick", "privacy", "the command holds no privacy decision", privacy::check),
    step("quick", "sizes", "no source over 800 lines, no file over 1 MiB", sizes::check),
    step("quick", "blocks", "code blocks of the documentation fit 80 columns", blocks::check),
    step("quick", "licences", "dependencies are permissive, none is banned", licences::check),
    step("quick", "clippy", "no warnings in any target", build::clippy),
    step("rust", "tests", "unit and integration tests pass", build::tests),
    step("rust", "doctests", "the examples in the documentation pass", build::doctests),
    step("rust", "docs", "the documentation builds without warnings", build::docs),
    step("rust", "package", "every package can be made and is whole", package::check),
    step("rust", "floor", "the number of tests has not fallen", floor::check),
    step(
        "ledger",
        "ledger",
        "budgets survive kills, faults and races, in SQLite and PostgreSQL",
        ledger::check,
    ),
    step("book", "pages", "the commands in README.md and docs/ print what is shown", pages::check),
    step("book", "book", "docs/ builds as a book", book::check),
    step("peers", "peers", "results agree with other libraries", peers::check),
    step("python", "wheel", "pip install and the wheel of the Python package", wheel::install),
    step("python", "pytest", "tests and examples of the Python package pass", wheel::tests),
    step("python", "types", "types and stubs of the Python package hold", wheel::types),
    step("python", "notebooks", "the notebooks run", wheel::notebooks),
];

/// The steps of these lanes, all without any.
///
/// # Errors
/// A name that is not a lane.
pub(crate) fn of_lanes(lanes: &[&str]) -> Result<Vec<&'static Step>> {
    if let Some(unknown) = lanes.iter().find(|lane| LANES.iter().all(|(name, _)| name != *lane)) {
        let known: Vec<&str> = LANES.iter().map(|(name, _)| *name).collect();
        return Err(Failure::new(format!("unknown lane `{unknown}`: give one of {}", known.join(", "))));
    }
    Ok(STEPS.iter().filter(|step| lanes.is_empty() || lanes.contains(&step.lane)).collect())
}

/// The step with this name.
pub(crate) fn named(name: &str) -> Option<&'static Step> {
    STEPS.iter().find(|step| step.name == name)
}

/// One line per step, lane by lane.
pub(crate) fn listing() -> String {
    let lane = |(name, about): &(&str, &str)| {
        let steps = STEPS.iter().filter(|step| step.lane == *name);
        let steps: String = steps.map(|step| format!("  {:<10} {}\n", step.name, step.about)).collect();
        format!("{name}: {about}\n{steps}")
    };
    LANES.iter().map(lane).collect()
}

/// A row of the summary: step, seconds, detail or failure.
type Row = (&'static str, f64, String);

/// Runs the steps until one fails, prints the summary and closes with one line; true when all passed.
pub(crate) fn run(shell: &Shell, steps: &[&'static Step]) -> bool {
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
    print!("{}", summary(&rows));
    println!("{}", closing(&rows, steps.len(), passed, processor_minutes()));
    passed
}

fn summary(rows: &[Row]) -> String {
    let mut table = format!("{:<10} {:>8}\n", "step", "seconds");
    for (name, seconds, outcome) in rows {
        table.push_str(format!("{name:<10} {seconds:>8.1}  {outcome}").trim_end());
        table.push('\n');
    }
    table
}

/// The last line: what ran and how much of it.
fn closing(rows: &[Row], steps: usize, passed: bool, processor: Option<f64>) -> String {
    let minutes = rows.iter().map(|row| row.1).sum::<f64>() / 60.0;
    let processor = processor.map_or(String::new(), |used| format!(", {used:.1} of processor time"));
    let time = format!("in {minutes:.1} minutes{processor}");
    if !passed {
        let name = rows.last().map_or("", |row| row.0);
        return format!("FAILED at {name}, step {} of {steps}, {time}", rows.len());
    }
    let counts: Vec<&str> =
        rows.iter().filter(|row| COUNTING.contains(&row.0)).map(|row| row.2.as_str()).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join("; ")) };
    format!("passed all {steps} steps {time}{counts}")
}

/// Steps whose detail is a count worth repeating.
const COUNTING: [&str; 4] = ["doctests", "floor", "pages", "pytest"];

/// Minutes of processor time of all children so far, where the system tells.
fn processor_minutes() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses: cutime and cstime are the 14th and 15th, in hundredths of a second.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 6000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_own_name_and_a_known_lane() {
        for step in &STEPS {
            assert!(named(step.name).is_some_and(|found| found.about == step.about));
            assert!(LANES.iter().any(|(lane, _)| *lane == step.lane), "{}", step.name);
        }
        let quick = of_lanes(&["quick"]).unwrap();
        assert_eq!(quick.last().map(|step| step.name), Some("clippy"));
        assert_eq!(of_lanes(&[]).unwrap().len(), STEPS.len());
        assert!(of_lanes(&["quick", "quack"]).is_err());
        assert!(COUNTING.iter().all(|name| named(name).is_some()));
    }

    #[test]
    fn the_last_line_says_what_ran() {
        let rows = [("format", 60.0, String::new()), ("floor", 30.0, "3 tests, floor 3".to_owned())];
        assert!(summary(&rows).contains("floor          30.0  3 tests, floor 3\n"));
        assert_eq!(
            closing(&rows, 2, true, Some(4.0)),
            "passed all 2 steps in 1.5 minutes, 4.0 of processor time: 3 tests, floor 3"
        );
        assert_eq!(closing(&rows, 9, false, None), "FAILED at floor, step 2 of 9, in 1.5 minutes");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn processor_time_is_known() {
        assert!(processor_minutes().is_some_and(|minutes| minutes >= 0.0));
    }
}
