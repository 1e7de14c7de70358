//! The same flag says the same thing in every command.

use super::Cli;
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeMap;

/// Flags and arguments that mean something of their own in some commands, and why.
const OWN_WORDS: &[(&str, &str)] = &[
    ("--analyst", "who asks, or whose part or charges"),
    ("--certificate", "written by `release`, read by `report`"),
    ("--batch-size", "`train` has a default and users"),
    ("--column", "`count` asks about rows, not values"),
    ("--count", "a statistic of a page, or a number of mechanisms"),
    ("--dataset-size", "`account` divides by it, `train` counts the rows without it"),
    ("--candidates", "values of a quantile, or secrets"),
    ("--delta", "what it pays for, and what happens without it, differ"),
    ("--drawn", "models have one kind of draw, tables have three"),
    ("--epochs", "`account` takes it instead of steps, `train` has a default"),
    ("--epsilon", "spent, to be held, or known from before"),
    ("--format", "of files, or of a secret"),
    ("--key", "of all splits of an audit, or of the choice of records"),
    ("--label", "`train` needs it only where there is no schema"),
    ("--mechanism", "noise on numbers, or a private choice"),
    ("--neighboring", "`account` reads it from the events"),
    ("--non-members", "of one model, of two, or of all parties"),
    ("--noise-multiplier", "`train` takes it instead of epsilon"),
    ("--orders", "`rdp` needs them, `posterior` adds means at them"),
    ("--out", "a file or a folder, each with its own content"),
    ("--plot", "each draws something else"),
    ("--prior", "beliefs before an output, or a share among those whom an attacker tries"),
    ("--quantiles", "a statistic of a page, or which quantiles"),
    ("--records", "audits, federations and attributes have defaults of their own"),
    ("--references", "an attribute is guessed with models of the attacker's own records"),
    ("--regularization", "`train` has a default"),
    ("--sampling-rate", "of a stated run, or of a method to be run"),
    ("--steps", "of a stated run, or of one to be run"),
    ("--tokens", "what the tokens of texts are, or how many are drawn"),
    ("--unit", "a column of the table, or a word in a statement"),
    ("FILE", "`train`, `predict` and `evaluate` take more than tables"),
    ("MODEL", "canaries need a private network"),
    ("--purpose", "what for, or which part or charges"),
    ("--valid-until", "of a budget, or of a part of it"),
];

/// What a user reads about a flag.
type Words = (String, Vec<String>, Vec<String>);

fn visit<'a>(command: &'a Command, see: &mut impl FnMut(&'a Command, &'a Arg)) {
    let own = |argument: &&Arg| {
        !argument.is_hide_set() && argument.get_id() != "help" && argument.get_id() != "version"
    };
    for argument in command.get_arguments().filter(own) {
        see(command, argument);
    }
    command.get_subcommands().filter(|below| !below.is_hide_set()).for_each(|below| visit(below, see));
}

fn tree() -> Command {
    let mut tree = Cli::command().disable_help_subcommand(true);
    tree.build();
    tree
}

fn name(argument: &Arg) -> String {
    let value = || argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => value().unwrap_or_else(|| argument.get_id().to_string()),
    }
}

/// The help, with the default that clap would print at its end.
fn words(argument: &Arg) -> Words {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let mut help = help.map(ToString::to_string).unwrap_or_default();
    let defaults = argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
    if argument.get_action().takes_values() {
        defaults.for_each(|value| help += &format!(" [default: {value}]"));
    }
    let values = argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let aliases = argument.get_all_aliases().unwrap_or_default().into_iter().map(str::to_owned).collect();
    (help, values, aliases)
}

#[test]
fn a_flag_is_described_in_one_way() {
    let tree = tree();
    let mut found: BTreeMap<String, BTreeMap<Words, Vec<String>>> = BTreeMap::new();
    visit(&tree, &mut |command, argument| {
        let commands = found.entry(name(argument)).or_default().entry(words(argument)).or_default();
        commands.push(command.get_bin_name().unwrap_or_default().to_owned());
    });
    let mut wrong = Vec::new();
    for (flag, ways) in &found {
        let listed = OWN_WORDS.iter().any(|(own, _)| own == flag);
        if ways.len() > 1 && !listed {
            wrong.push(format!(
                "{flag}: {ways:#?}: say it in one way, or add it to OWN_WORDS with the reason"
            ));
        }
        if ways.len() == 1 && listed {
            wrong.push(format!("{flag}: it is described in one way: take it from OWN_WORDS"));
        }
        // Whatever else differs, what stands for the value does not.
        let values: Vec<_> = ways.keys().map(|(_, values, _)| values).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1])
            && !["--count", "--format", "--out", "--quantiles", "--tokens", "--unit"].contains(&flag.as_str())
        {
            wrong.push(format!("{flag}: the value has several names: {values:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(OWN_WORDS.iter().all(|(flag, _)| found.contains_key(*flag)));
}

#[test]
fn help_begins_with_a_capital_and_ends_without_a_full_stop() {
    let tree = tree();
    let check = |place: String, text: String| {
        let begins = text.chars().next().is_some_and(char::is_uppercase);
        assert!(begins && !text.ends_with('.') && !text.contains("  "), "{place}: {text:?}");
    };
    visit(&tree, &mut |command, argument| {
        let place = format!("{} {}", command.get_bin_name().unwrap_or_default(), name(argument));
        check(place, argument.get_help().map(ToString::to_string).unwrap_or_default());
    });
    let mut commands: Vec<&Command> = tree.get_subcommands().collect();
    while let Some(command) = commands.pop() {
        check(
            command.get_name().to_owned(),
            command.get_about().map(ToString::to_string).unwrap_or_default(),
        );
        commands.extend(command.get_subcommands());
    }
}

#[test]
fn short_help_fits_one_screen_and_long_help_teaches() {
    /// Lines of a screen.
    const SCREEN: usize = 48;
    let tree = tree();
    let mut commands: Vec<&Command> = vec![&tree];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands());
        let mut command = command.clone().term_width(100);
        let name = command.get_bin_name().unwrap_or_default().to_owned();
        let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
        assert!(short.lines().count() <= SCREEN, "{name}: {} lines\n{short}", short.lines().count());
        assert!(short.len() <= long.len(), "{name}");
        for line in long.lines().filter(|line| line.starts_with("  reticent ") && !line.ends_with('\\')) {
            assert!(line.chars().count() <= 100, "{name}: {line}");
        }
    }
}

#[test]
fn every_command_that_answers_has_json() {
    let tree = tree();
    let mut commands: Vec<&Command> = vec![&tree];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands());
        let answers = !command.has_subcommands() && command.get_name() != "completions";
        let has = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
        assert_eq!(answers, has, "{}", command.get_bin_name().unwrap_or_default());
    }
}

#[test]
fn what_is_written_goes_to_out() {
    visit(&tree(), &mut |command, argument| {
        let synonym =
            ["output", "out-dir", "output-dir", "file", "to"].contains(&argument.get_long().unwrap_or(""));
        assert!(!synonym, "{:?}: --{:?}: call it --out", command.get_bin_name(), argument.get_long());
    });
}

#[test]
fn other_names_are_taken_too() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    use clap::Parser;
    let old = "reticent release randomize t.csv --column a --categories b,c --epsilon 1 --output r.csv";
    assert!(Cli::try_parse_from(words(old)).is_ok());
    assert!(Cli::try_parse_from(words("reticent train --epsilon 1 --size 100")).is_ok());
}
