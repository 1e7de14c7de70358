//! The terminal: whether there is one, how wide it is, and how text looks on it.
//!
//! Text for a pipe or a file is left exactly as it is.

use clap::ColorChoice;
use clap::builder::styling::{AnsiColor, Style, Styles};
use std::env::var_os;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::sync::OnceLock;

/// What one stream can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stream {
    colour: bool,
    /// Columns of the terminal; none where it is not one.
    width: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Screen {
    stdout: Stream,
    stderr: Stream,
    /// Whether progress is shown as bars.
    bars: bool,
}

static SCREEN: OnceLock<Screen> = OnceLock::new();

/// Narrower terminals are treated as if they were this wide.
const LEAST_WIDTH: usize = 40;

/// Looks at the terminal, once, before the command line is parsed: help and refusals have colours too.
pub(crate) fn look(words: &[OsString]) {
    let choice = asked(words);
    let is_dumb = var_os("TERM").is_some_and(|term| term == "dumb");
    let stream = |is_terminal: bool| Stream {
        colour: colours(choice, var_os("NO_COLOR"), var_os("CLICOLOR_FORCE"), is_terminal && !is_dumb),
        width: is_terminal.then(width).flatten(),
    };
    let is_error_shown = std::io::stderr().is_terminal();
    let _ = SCREEN.set(Screen {
        stdout: stream(std::io::stdout().is_terminal()),
        stderr: stream(is_error_shown),
        bars: is_error_shown && !is_dumb,
    });
}

/// Whether progress is wanted: not with `--quiet` or `RETICENT_QUIET`, and not where JSON goes to a pipe, whose errors are
/// read by programs.
pub(crate) fn wants_progress(words: &[OsString]) -> bool {
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let is_quiet = has("--quiet") || has("-q") || var_os("RETICENT_QUIET").is_some_and(|value| is_on(&value));
    !is_quiet && (has_bars() || !has("--json"))
}

fn screen() -> Screen {
    SCREEN.get().copied().unwrap_or_default()
}

/// Whether progress is shown as bars.
pub(crate) fn has_bars() -> bool {
    screen().bars
}

/// Whether standard output shows colours.
pub(crate) fn has_colours() -> bool {
    screen().stdout.colour
}

/// Whether standard error shows colours.
pub(crate) fn errors_have_colours() -> bool {
    screen().stderr.colour
}

/// Columns for text that is broken into lines: those of the terminal, but not above `most`; `most` where there is none.
pub(crate) fn columns(most: usize) -> usize {
    screen().stdout.width.map_or(most, |width| width.min(most))
}

/// What `--color` says. A value that is not known is refused later, by the parser.
fn asked(words: &[OsString]) -> ColorChoice {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let after = words.iter().zip(words.iter().skip(1)).find(|(word, _)| **word == "--color");
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    match after.map(|(_, value)| *value).or(joined) {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

/// Set, not empty and not 0.
fn is_on(value: &OsStr) -> bool {
    !value.is_empty() && value != "0"
}

fn colours(choice: ColorChoice, no: Option<OsString>, force: Option<OsString>, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if no.is_some_and(|value| !value.is_empty()) => false,
        ColorChoice::Auto => force.is_some_and(|value| is_on(&value)) || is_terminal,
    }
}

/// Columns of the terminal: `COLUMNS`, or what the system says.
fn width() -> Option<usize> {
    let declared = var_os("COLUMNS").and_then(|text| text.to_str()?.parse().ok()).filter(|width| *width > 0);
    let real = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    declared.or_else(real).map(|width| width.max(LEAST_WIDTH))
}

const TITLE: Style = Style::new().bold();
const LABEL: Style = AnsiColor::Cyan.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// The colours of help.
pub(crate) const HELP: Styles = Styles::styled()
    .header(TITLE)
    .usage(TITLE)
    .literal(LABEL)
    .placeholder(Style::new())
    .error(ERROR)
    .valid(LABEL)
    .invalid(WARNING);

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// A title.
pub(crate) fn title(text: &str) -> String {
    if has_colours() { painted(TITLE, text) } else { text.to_owned() }
}

/// Output for people: labels and titles in colour, lines no longer than the terminal is wide.
pub(crate) fn present(text: &str) -> String {
    presented(text, screen().stdout)
}

/// Errors and warnings for people: the first word in colour.
pub(crate) fn present_errors(text: &str) -> String {
    if !screen().stderr.colour {
        return text.to_owned();
    }
    let line = |line: &str| {
        let known = [("error[", ERROR), ("warning:", WARNING)];
        let Some((_, style)) = known.into_iter().find(|(start, _)| line.starts_with(start)) else {
            return line.to_owned();
        };
        let end = line.find(':').map_or(line.len(), |colon| colon + 1);
        painted(style, &line[..end]) + &line[end..]
    };
    text.split_inclusive('\n').map(line).collect()
}

fn presented(text: &str, stream: Stream) -> String {
    if stream == Stream::default() {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let label = gaps(line).next();
        let is_title = label.is_none() && lines.get(at + 1).is_some_and(|next| gaps(next).next().is_some());
        let broken = stream.width.map_or_else(|| (*line).to_owned(), |width| wrapped(line, width));
        match label {
            Some((end, _)) if stream.colour && broken.starts_with(&line[..end]) => {
                out += &painted(LABEL, &broken[..end]);
                out += &broken[end..];
            }
            None if stream.colour && is_title && !line.is_empty() => out += &painted(TITLE, &broken),
            _ => out += &broken,
        }
        out.push('\n');
    }
    out
}

/// The gaps of two or more blanks between the columns of a line: where each begins and ends, in bytes.
fn gaps(line: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = line.len() - line.trim_start().len();
    std::iter::from_fn(move || {
        let begin = at + line[at..].find("  ")?;
        let end = begin + (line[begin..].len() - line[begin..].trim_start_matches(' ').len());
        at = end;
        (end < line.len()).then_some((begin, end))
    })
}

/// A line broken between words; what follows stands below its own column. Commands stay whole, so that they can be copied.
fn wrapped(line: &str, width: usize) -> String {
    if line.chars().count() <= width || line.contains("reticent ") {
        return line.to_owned();
    }
    let in_columns = |byte: usize| line[..byte].chars().count();
    let indent = line.len() - line.trim_start().len();
    let column = gaps(line).map(|(_, end)| end).filter(|end| in_columns(*end) <= width / 2).last();
    let start = column.unwrap_or(indent);
    let hang = " ".repeat(in_columns(start));
    let (mut out, mut used) = (line[..start].to_owned(), in_columns(start));
    let mut is_begun = false;
    for word in line[start..].split(' ') {
        let long = word.chars().count();
        if is_begun && used + 1 + long > width {
            out = out.trim_end().to_owned() + "\n" + &hang;
            used = hang.len();
        } else if is_begun {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += long;
        is_begun = true;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_comes_before_the_environment_and_the_environment_before_the_terminal() {
        let on = |text: &str| Some(OsString::from(text));
        let auto = ColorChoice::Auto;
        assert!(colours(auto, None, None, true) && !colours(auto, None, None, false));
        assert!(!colours(auto, on("1"), on("1"), true) && colours(auto, on(""), None, true));
        assert!(colours(auto, None, on("1"), false) && !colours(auto, None, on("0"), false));
        assert!(colours(ColorChoice::Always, on("1"), None, false));
        assert!(!colours(ColorChoice::Never, None, on("1"), true));
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(asked(&words("reticent demo --color never")), ColorChoice::Never);
        assert_eq!(asked(&words("reticent --color=always demo")), ColorChoice::Always);
        assert_eq!(asked(&words("reticent demo")), auto);
    }

    #[test]
    fn text_for_a_pipe_is_left_as_it_is() {
        let text = format!("answer  {}\n\nplain", "word ".repeat(60));
        assert_eq!(presented(&text, Stream::default()), text);
    }

    #[test]
    fn long_lines_go_on_below_their_column() {
        let stream = Stream { colour: false, width: Some(40) };
        let text = "mean of age  38.6  (95 %: 38.4 to 38.8)\npublic       the bounds of age, the number of rows, and the schema\n";
        assert_eq!(
            presented(text, stream),
            "mean of age  38.6  (95 %: 38.4 to 38.8)\n\
             public       the bounds of age, the\n\
             \x20            number of rows, and the\n\
             \x20            schema\n"
        );
        let command = format!("to estimate  reticent release estimate {}\n", "word ".repeat(20).trim_end());
        assert_eq!(presented(&command, stream), command);
        let long = format!("{}\n", "é".repeat(50));
        assert_eq!(presented(&long, stream), long);
        let prose = format!("  {}\n", "word ".repeat(20).trim_end());
        let broken = presented(&prose, stream);
        assert!(broken.lines().all(|line| line.starts_with("  w") && line.chars().count() <= 40), "{broken}");
    }

    #[test]
    fn labels_and_titles_have_colours() {
        let stream = Stream { colour: true, width: None };
        let shown = presented("epsilon = 1\nby     pld\n\nNot run\n  lira  no references\n", stream);
        assert_eq!(
            shown,
            "\u{1b}[1mepsilon = 1\u{1b}[0m\n\u{1b}[36mby\u{1b}[0m     pld\n\n\u{1b}[1mNot run\u{1b}[0m\n\
             \u{1b}[36m  lira\u{1b}[0m  no references\n"
        );
    }
}
