//! Colours, help and certificates as a user sees them.

use serde_json::Value;
use std::process::{Command, Output};

const ADULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/adult/adult.parquet");
const ESCAPE: char = '\u{1b}';

fn reticent(words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command.args(words).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command.envs(environment.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn colours_are_for_terminals_or_by_request() {
    let mean = ["release", "mean", ADULT, "--column", "age", "--bounds", "17,90", "--epsilon", "1"];
    let shown = |more: &[&str], environment: &[(&str, &str)]| {
        text(&reticent(&[&mean[..], more].concat(), environment).stdout)
    };
    assert!(!shown(&[], &[]).contains(ESCAPE));
    assert!(shown(&["--color", "always"], &[("NO_COLOR", "1")]).contains(ESCAPE));
    assert!(shown(&[], &[("CLICOLOR_FORCE", "1")]).contains(ESCAPE));
    assert!(!shown(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains(ESCAPE));
    assert!(!shown(&["--color=never"], &[("CLICOLOR_FORCE", "1")]).contains(ESCAPE));
    // JSON is for programs.
    assert!(!shown(&["--json", "--color", "always"], &[]).contains(ESCAPE));
    let refused = reticent(&["release", "count", "none.csv", "--epsilon", "1", "--color", "always"], &[]);
    assert!(text(&refused.stderr).starts_with("\u{1b}[1m\u{1b}[31merror[R301]:\u{1b}[0m none.csv: "));
    let unknown = reticent(&["release", "count", "none.csv", "--epsilon", "1", "--color", "blue"], &[]);
    assert!(unknown.status.code() == Some(2) && text(&unknown.stderr).starts_with("error[R203]: "));
}

#[test]
fn short_help_is_short_and_long_help_is_long() {
    let short = text(&reticent(&["train", "-h"], &[]).stdout);
    let long = text(&reticent(&["train", "--help"], &[]).stdout);
    assert!(short.ends_with("--help.\n") && long.ends_with('\n'), "{short}");
    assert!(short.contains("Examples:") && !short.contains("--weight-decay"), "{short}");
    assert!(long.contains("--weight-decay") && long.contains("DP-SGD"), "{long}");
    let coloured = text(&reticent(&["train", "-h", "--color", "always"], &[]).stdout);
    assert!(coloured.contains(ESCAPE));
}

#[test]
fn the_whole_certificate_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("certificate.json");
    let path = file.to_str().unwrap();
    let count = ["release", "count", ADULT, "--epsilon", "0.5"];
    let line = |text: &str| text.lines().find(|line| line.starts_with("certificate ")).unwrap().to_owned();
    let summary = line(&text(&reticent(&count, &[]).stdout));
    assert!(
        summary
            .ends_with("1 event, stated by the mechanism; all of it with --json or --certificate FILE.json"),
        "{summary}"
    );
    let output = reticent(&[&count[..], &["--certificate", path]].concat(), &[]);
    assert!(line(&text(&output.stdout)).ends_with(path));
    let certificate: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((&certificate["epsilon"], &certificate["unit"]), (&0.5.into(), &"row".into()));
    // It is what the accountant reads.
    let account = reticent(&["account", "epsilon", "--events", path, "--delta", "1e-9"], &[]);
    assert!(text(&account.stdout).starts_with("epsilon = 0.5"), "{}", text(&account.stdout));
    // A place where it cannot be written is refused before anything is spent.
    for (place, code) in [("certificate.txt", "R303"), ("nowhere/certificate.json", "R303")] {
        let place = folder.path().join(place);
        let refused = reticent(&[&count[..], &["--certificate", place.to_str().unwrap()]].concat(), &[]);
        let stderr = text(&refused.stderr);
        assert!(
            refused.status.code() == Some(2) && stderr.starts_with(&format!("error[{code}]: --certificate ")),
            "{stderr}"
        );
        assert!(refused.stdout.is_empty());
    }
}
