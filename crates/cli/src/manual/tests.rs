use super::*;
use clap_complete::Shell;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/commands.md");

#[test]
fn the_committed_reference_is_what_the_command_prints() {
    let committed = fs::read_to_string(REFERENCE).unwrap_or_default();
    let printed = markdown::reference(&tree());
    let line = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (committed, printed) = (line(&committed), line(&printed));
    let differs = (0..committed.len().max(printed.len())).find(|at| committed.get(*at) != printed.get(*at));
    assert!(
        differs.is_none(),
        "docs/reference/commands.md, line {}: the page has {:?}, the command prints {:?}. Run: \
         cargo run --bin reticent -- man --markdown > docs/reference/commands.md",
        differs.unwrap_or_default() + 1,
        differs.and_then(|at| committed.get(at)),
        differs.and_then(|at| printed.get(at)),
    );
}

#[test]
fn the_reference_keeps_to_its_width_and_closes_its_blocks() {
    let printed = markdown::reference(&tree());
    for line in printed.lines() {
        assert!(line.chars().count() <= 130, "{line}");
    }
    assert_eq!(printed.matches("\n```").count() % 2, 0);
}

#[test]
fn every_command_has_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("man/man1");
    let written = pages(&below).unwrap();
    assert_eq!(written.len(), every(&tree()).len());
    for name in
        ["reticent.1", "reticent-release-mean.1", "reticent-account-epsilon.1", "reticent-attack-run.1"]
    {
        let page = fs::read_to_string(below.join(name)).unwrap();
        let title = name.trim_end_matches(".1");
        assert!(page.contains(&format!(".TH {title} 1")), "{page}");
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
    }
    let mean = fs::read_to_string(below.join("reticent-release-mean.1")).unwrap();
    // Examples are not filled into paragraphs.
    assert!(mean.contains(".nf\n  reticent release mean"), "{mean}");
    // Written again, over the old ones.
    assert_eq!(pages(&below).unwrap(), written);
    let refused = pages(&below.join("reticent.1")).unwrap_err().to_string();
    assert!(refused.starts_with("DIR "), "{refused}");
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
        let script = completions(&Completions { shell }).unwrap().stdout;
        for word in ["release", "histogram", "noise-multiplier"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn lines_break_between_words_and_never_before_markup() {
    assert_eq!(wrap::wrap("one two three", 8, "  "), "one two\n  three");
    assert_eq!(wrap::wrap("one two - three", 7, ""), "one two -\nthree");
    assert_eq!(wrap::wrap("", 7, ""), "");
}
