//! The shell commands in a Markdown page.
//!
//! A block is fenced with the language `sh`, whose lines all run, or `console`, where the lines after
//! `$ ` run and the others show output. After the language may stand `no-run` and `exit=N`. A block `text` right below
//! one of `sh` shows what it prints; `text exact` digit for digit.

/// The command that runs these snippets, and so cannot be one of them.
const OURSELVES: &str = "cargo xtask check";

/// How a newcomer runs the command before it is on the path. Here it is: the tests have built it, and a release build would take as
/// long as all of them.
const NEWCOMER: &str = "cargo run --release --bin reticent -- ";

/// A fenced block of shell commands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
    /// What to run; empty when nothing is left to run.
    pub(crate) script: String,
    /// The exit status that counts as success.
    pub(crate) exit: i32,
    /// Why the block, or a line of it, does not run.
    pub(crate) skipped: Option<&'static str>,
    /// What it prints, where the page shows that.
    pub(crate) output: Option<Shown>,
}

/// The output that a page shows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
    /// How many lines there are between the fences.
    pub(crate) lines: usize,
    /// What is between the fences.
    pub(crate) text: String,
    /// Whether every digit counts.
    pub(crate) exact: bool,
}

/// An opening fence.
struct Fence<'a> {
    indent: usize,
    mark: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let body = line.trim_start();
        let mark = body.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        let inline = mark == '`' && info.contains('`');
        (length >= 3 && !inline).then(|| Self {
            indent: line.len() - body.len(),
            mark,
            length,
            info: info.trim(),
        })
    }

    fn closed_by(&self, other: &Fence<'_>) -> bool {
        other.mark == self.mark && other.length >= self.length && other.info.is_empty()
    }
}

/// Every shell block of a page; the error names the line of a block that cannot be read.
pub(crate) fn snippets(page: &str) -> Result<Vec<Snippet>, String> {
    let mut found: Vec<Snippet> = Vec::new();
    let mut lines = page.lines().enumerate();
    // Whether the last thing above is a block of commands.
    let mut below = false;
    while let Some((index, line)) = lines.next() {
        let Some(fence) = Fence::parse(line) else {
            below &= line.trim().is_empty();
            continue;
        };
        let body: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| !Fence::parse(line).is_some_and(|other| fence.closed_by(&other)))
            .map(|line| unindented(line, fence.indent))
            .collect();
        if let (true, Some(snippet), Some(exact)) = (below, found.last_mut(), shows(fence.info)) {
            let text = body.iter().map(|line| format!("{line}\n")).collect();
            snippet.output = Some(Shown { line: index + 1, lines: body.len(), text, exact });
        }
        let next = snippet(index + 1, fence.info, &body)?;
        below = next.is_some();
        found.extend(next);
    }
    Ok(found)
}

/// Whether a block shows output, and if every digit of it counts.
fn shows(info: &str) -> Option<bool> {
    let mut words = info.split_whitespace();
    (words.next() == Some("text")).then(|| words.next() == Some("exact"))
}

/// The line without up to `indent` leading blanks.
fn unindented(line: &str, indent: usize) -> &str {
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    &line[blanks.min(indent)..]
}

/// The block as a snippet, if it is one.
fn snippet(line: usize, info: &str, body: &[&str]) -> Result<Option<Snippet>, String> {
    let mut words = info.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    let commands: Vec<&str> = match words.next() {
        Some("sh") => body.to_vec(),
        Some("console") => typed(body),
        _ => return Ok(None),
    };
    let mut snippet = Snippet { line, script: String::new(), exit: 0, skipped: None, output: None };
    let mut run = true;
    for word in words {
        if word == "no-run" {
            run = false;
            snippet.skipped = Some("no-run");
        } else if let Some(number) = word.strip_prefix("exit=") {
            snippet.exit =
                number.parse().map_err(|_| format!("{line}: `{word}` must end in a whole number"))?;
        }
    }
    if run {
        for command in commands {
            if command.trim() == OURSELVES {
                snippet.skipped = Some(OURSELVES);
            } else {
                snippet.script.push_str(&command.replace(NEWCOMER, "reticent "));
                snippet.script.push('\n');
            }
        }
    }
    if snippet.script.trim().is_empty() {
        snippet.script.clear();
    }
    Ok(Some(snippet))
}

/// The lines of a console that were typed: after `$ `, and on while a line ends in a backslash.
fn typed<'a>(body: &[&'a str]) -> Vec<&'a str> {
    let mut commands: Vec<&str> = Vec::new();
    let mut continued = false;
    for line in body {
        let command = if continued { Some(*line) } else { line.strip_prefix("$ ") };
        continued = command.is_some_and(|command| command.ends_with('\\'));
        commands.extend(command);
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_command_of_a_newcomer_runs_what_is_built() {
        let found = snippets("```sh\ncargo run --release --bin reticent -- demo\n```\n").unwrap();
        assert_eq!(found[0].script, "reticent demo\n");
    }

    fn only(page: &str) -> Snippet {
        let mut all = snippets(page).unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[test]
    fn shell_blocks_are_found_and_others_are_not() {
        let page = "text\n```sh\necho a\necho b\n```\n```rust\nfn main() {}\n```\n```\nplain\n```\n";
        let snippet = only(page);
        assert_eq!((snippet.line, snippet.script.as_str()), (2, "echo a\necho b\n"));
        assert_eq!((snippet.exit, snippet.skipped), (0, None));
    }

    #[test]
    fn a_fence_inside_a_longer_fence_is_text() {
        assert!(snippets("````md\n```sh\nfalse\n```\n````\n").unwrap().is_empty());
        assert_eq!(only("~~~sh\necho '```'\n~~~\n").script, "echo '```'\n");
        assert!(snippets("use ```sh``` here\n").unwrap().is_empty());
    }

    #[test]
    fn a_console_runs_what_was_typed() {
        let page = "```console\n$ reticent --version\nreticent 0.1.0\n$ echo \\\n    a\na\n```\n";
        assert_eq!(only(page).script, "reticent --version\necho \\\n    a\n");
    }

    #[test]
    fn indented_blocks_lose_their_indent() {
        assert_eq!(
            only("1. first\n\n   ```sh\n   if true\n     then echo a\n   fi\n   ```\n").script,
            "if true\n  then echo a\nfi\n"
        );
    }

    #[test]
    fn the_info_string_is_obeyed() {
        assert_eq!(only("```sh exit=2\nexit 2\n```\n").exit, 2);
        let skipped = only("```sh,no-run\nrm -r x\n```\n");
        assert_eq!((skipped.script.as_str(), skipped.skipped), ("", Some("no-run")));
        assert!(snippets("\n```sh exit=two\n```\n").unwrap_err().starts_with("2: `exit=two`"));
    }

    #[test]
    fn the_gate_does_not_run_itself() {
        let snippet = only("```sh\ncargo build\ncargo xtask check\n```\n");
        assert_eq!((snippet.script.as_str(), snippet.skipped), ("cargo build\n", Some(OURSELVES)));
        assert_eq!(only("```console\n$ cargo xtask check\n```\n").script, "");
        assert_eq!(only("```sh\ncargo xtask check --quick\n```\n").skipped, None);
    }

    #[test]
    fn output_stands_right_below() {
        let page = "```sh\necho 1\n```\n\n```text exact\n1\n```\n```text\nno\n```\n";
        let shown = only(page).output.unwrap();
        assert_eq!((shown.line, shown.lines, shown.text.as_str(), shown.exact), (5, 1, "1\n", true));
        assert_eq!(only("```sh\necho 1\n```\nwords\n```text\n1\n```\n").output, None);
    }

    #[test]
    fn an_open_fence_runs_to_the_end_of_the_page() {
        assert_eq!(only("```sh\necho a").script, "echo a\n");
    }
}
