//! The reference of all commands as one page.

use super::wrap::wrap;
use super::{after_help, every};
use clap::{Arg, ArgAction, Command};

/// The longest line of prose.
const WIDTH: usize = 116;

/// The longest line of a text block, but for lines that are indented.
const BLOCK_WIDTH: usize = 100;

/// The page.
pub(super) fn reference(tree: &Command) -> String {
    let mut page = String::from(
        "# Commands\n\
         \n\
         Every command, its flags and its help, as `reticent COMMAND --help` has them. The page is made by\n\
         `reticent man --markdown`; a test compares it with the command. What `--json` prints is in [json.md](json.md).\n\
         \n",
    );
    let commands = every(tree);
    for command in &commands {
        let name = full_name(command);
        let depth = name.matches(' ').count();
        let about = about(command);
        let about = if depth == 0 { String::new() } else { format!(": {about}") };
        let item = format!("{}- [`{name}`](#{}){about}", "  ".repeat(depth), name.replace(' ', "-"));
        page.push_str(&wrap_item(&item, "  ".repeat(depth + 1).as_str()));
    }
    page.push_str(
        "\nEvery command takes `-h` and `--help`. A flag marked \"required\" must be given; others have the default that \
         stands beside\nthem, or none.\n",
    );
    for command in commands {
        page.push('\n');
        page.push_str(&section(command));
    }
    page
}

fn full_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    escaped(about.map(ToString::to_string).unwrap_or_default().trim_end_matches('.'))
}

fn section(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let mut text = format!(
        "## {}\n\n{}\n\nUsage: `{usage}`\n",
        full_name(command),
        wrap(&(about(command) + "."), WIDTH, "")
    );
    for (heading, arguments) in headings(command) {
        text.push_str(&format!("\n**{heading}**\n\n"));
        for argument in arguments {
            text.push_str(&wrap_item(&described(argument), "  "));
        }
    }
    if let Some(help) = after_help(command) {
        let lines: Vec<String> = help.lines().map(block_line).collect();
        text.push_str(&format!("\nIts help goes on:\n\n```text\n{}\n```\n", lines.join("\n")));
    }
    text
}

/// Indented lines are commands and files: they are not broken.
fn block_line(line: &str) -> String {
    if line.starts_with(' ') { line.to_owned() } else { wrap(line, BLOCK_WIDTH, "") }
}

/// The visible arguments under their headings, in the order in which help shows them.
fn headings(command: &Command) -> Vec<(String, Vec<&Arg>)> {
    let mut found: Vec<(String, Vec<&Arg>)> = Vec::new();
    let shown = command.get_arguments().filter(|argument| {
        !argument.is_hide_set()
            && !matches!(argument.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong)
    });
    for argument in shown {
        let heading = match argument.get_help_heading() {
            Some(heading) => heading,
            None if argument.is_positional() => "Arguments",
            None => "Options",
        };
        match found.iter_mut().find(|(name, _)| name == heading) {
            Some((_, arguments)) => arguments.push(argument),
            None => found.push((heading.to_owned(), vec![argument])),
        }
    }
    // As in the help: arguments, options, then the other headings.
    found.sort_by_key(|(heading, _)| match heading.as_str() {
        "Arguments" => 0,
        "Options" => 1,
        _ => 2,
    });
    found
}

fn described(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("- `{argument}`: {}", escaped(&help));
    if argument.is_required_set() && !argument.is_positional() {
        text.push_str(" (required)");
    }
    let takes_value = argument.get_action().takes_values();
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_value && !defaults.is_empty() {
        text.push_str(&format!(" [default: {}]", defaults.join(", ")));
    }
    let possible: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| takes_value && !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !possible.is_empty() {
        text.push_str(&format!("; one of {}", possible.join(", ")));
    }
    text
}

fn wrap_item(item: &str, indent: &str) -> String {
    let leading = item.len() - item.trim_start().len();
    format!("{}{}\n", &item[..leading], wrap(&item[leading..], WIDTH - leading, indent))
}

/// Text in which Markdown sees no markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_<".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
