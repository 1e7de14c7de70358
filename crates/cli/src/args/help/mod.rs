//! The help below the flags of the commands.

pub(super) mod account;
pub(super) mod audit;
pub(super) mod budget;
pub(super) mod demo;
pub(super) mod formula;
pub(super) mod learn;
pub(super) mod manual;
pub(super) mod page;
pub(super) mod release;
pub(super) mod schema;

/// Examples below the flags of `-h`.
const EXAMPLES: usize = 2;

/// What `-h` shows of a help text: its first examples, and that there is more.
pub(super) fn short(long: &str) -> String {
    let mut examples: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in long.lines() {
        if line.starts_with("  reticent ") {
            examples.push(line.to_owned());
            is_open = true;
        } else if let Some(example) = examples.last_mut().filter(|_| is_open && line.starts_with("      ")) {
            *example += &format!("\n{line}");
        } else {
            is_open = false;
        }
    }
    examples.truncate(EXAMPLES);
    let heading = if examples.len() == 1 { "Example" } else { "Examples" };
    format!("{heading}:\n{}\n\nThe full help is shown by --help.", examples.join("\n"))
}
