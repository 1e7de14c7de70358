//! No privacy decision in the command: what draws noise, adds costs up or says how far a record can move a result is named in
//! `crates/curator` and below, never in `crates/cli` or in `python`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::{Placed, Token, placed};
use crate::shell::{Failure, Result, Shell};

/// The sources of the doors: the command, which uses the facade alone, and the Python module, which names the crates.
const DOORS: [(&str, bool); 2] = [("crates/cli/src", true), ("python/src", false)];

/// What to do about a finding.
const REMEDY: &str = "make it a request of crates/curator";

/// Parts of the facade that decide about privacy.
const DECIDING: &[&str] = &["accounting", "attack", "erm", "noise", "train"];

/// Names of mechanisms, accountants, sensitivities and of the right to draw, wherever they are imported from. A variant of an
/// enumeration is none of them: requests and codes have names like these (`Code::Entropy`).
const NAMES: &[&str] = &[
    // Mechanisms and queries.
    "Accuracy",
    "BoundedSum",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Entropy",
    "Gaussian",
    "IntegerGaussian",
    "Laplace",
    "Mechanism",
    "RandomizedResponse",
    "RankTable",
    "Releaser",
    "Repeatable",
    "StableHistogram",
    "StudentT",
    "PrivateSelection",
    "Selection",
    // Accountants.
    "Accountant",
    "EventTally",
    "Filter",
    "Odometer",
    "RdpAccountant",
    "Tally",
    "TightAccountant",
    // Private fits and trainings.
    "GradientPlan",
    "Plan",
    "PrivacyPlan",
    "Trainer",
    // What a mechanism is made with, and the right to draw.
    "Draws",
    "NoiseMultiplier",
    "PaidSource",
    "PerRecord",
    "Permit",
    "Randomness",
    "Rehearsal",
    "SamplingRate",
    "Sensitivity",
    "Unpaid",
    "charge",
    // What states a guarantee.
    "compose",
];

/// Names that decide something only where one of their variants is named.
const VARIANTS: &[&str] = &["Event"];

/// Checks every source of the doors.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let (mut findings, mut count) = (Vec::new(), 0);
    for (folder, by_facade) in DOORS {
        for file in &sources(&shell.root.join(folder))? {
            count += 1;
            let text = fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
            let name = shell.relative(file);
            let found = named(&text).into_iter();
            let found = found.filter(|(_, what)| by_facade || !what.starts_with("reticent_"));
            findings.extend(found.map(|(line, what)| format!("{name}:{line}: `{what}` is named: {REMEDY}")));
        }
    }
    Failure::unless_empty(&findings, format!("{count} files"))
}

/// Every Rust source below a folder, in order.
pub(crate) fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| Failure::file(folder, &error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()
        .map_err(failed)?;
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// What a source names that only the curator may, with the lines.
fn named(source: &str) -> Vec<(usize, String)> {
    let tokens = placed(source);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some(word) = word(&tokens, at) else { continue };
        let line = tokens[at].line;
        let is_path = is_pair(&tokens, at + 1);
        let is_renamed = self::word(&tokens, at + 1) == Some("as");
        if word == "reticent" && is_path {
            found.extend(of_facade(&tokens, at + 3));
        } else if word.starts_with("reticent") && is_renamed {
            found.push((line, format!("{word} as")));
        } else if (word.starts_with("reticent_") && is_path)
            || (NAMES.contains(&word) && !is_variant(&tokens, at))
        {
            found.push((line, word.to_owned()));
        } else if VARIANTS.contains(&word) && is_path {
            found.push((line, format!("{word}::")));
        } else if VARIANTS.contains(&word) && (is_renamed || (at > 0 && is_mark(&tokens, at - 1, '='))) {
            found.push((line, format!("{word} by another name")));
        }
    }
    found
}

/// The deciding parts of the facade in the path, or the group of paths, that begins here.
fn of_facade(tokens: &[Placed], start: usize) -> Vec<(usize, String)> {
    let one = |at: usize| {
        let line = tokens.get(at)?.line;
        if is_mark(tokens, at, '*') {
            return Some((line, "reticent::*".to_owned()));
        }
        let word = word(tokens, at).filter(|word| DECIDING.contains(word) || *word == "self")?;
        Some((line, format!("reticent::{word}")))
    };
    if !is_mark(tokens, start, '{') {
        return one(start).into_iter().collect();
    }
    let (mut found, mut depth) = (Vec::new(), 0usize);
    for at in start..tokens.len() {
        let begins = depth == 1 && (is_mark(tokens, at - 1, '{') || is_mark(tokens, at - 1, ','));
        match &tokens[at].token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') if depth == 1 => break,
            Token::Mark('}') => depth -= 1,
            _ if begins => found.extend(one(at)),
            _ => {}
        }
    }
    found
}

/// The word here.
pub(crate) fn word(tokens: &[Placed], at: usize) -> Option<&str> {
    match &tokens.get(at)?.token {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

/// Whether this mark stands here.
pub(crate) fn is_mark(tokens: &[Placed], at: usize, mark: char) -> bool {
    matches!(tokens.get(at), Some(Placed { token: Token::Mark(found), .. }) if *found == mark)
}

/// Whether the word here is a variant: a name of a type behind `::` after a type. A function there is none.
fn is_variant(tokens: &[Placed], at: usize) -> bool {
    let is_type = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    at >= 3
        && word(tokens, at).is_some_and(is_type)
        && is_pair(tokens, at - 2)
        && word(tokens, at - 3).is_some_and(is_type)
}

/// Whether `::` stands here.
pub(crate) fn is_pair(tokens: &[Placed], at: usize) -> bool {
    is_mark(tokens, at, ':') && is_mark(tokens, at + 1, ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        named(source).into_iter().map(|(_, what)| what).collect()
    }

    #[test]
    fn decisions_are_found_however_they_are_imported() {
        assert_eq!(names("use reticent::noise::query::count;"), ["reticent::noise"]);
        assert_eq!(names("let x = reticent::erm::fit(a);"), ["reticent::erm"]);
        let group = "use reticent::{core::{Code, Delta}, accounting::{self, Method}, data, train};";
        assert_eq!(names(group), ["reticent::accounting", "reticent::train"]);
        assert_eq!(names("use reticent_noise::Entropy as Source;"), ["reticent_noise", "Entropy"]);
        assert_eq!(
            names("use reticent::core::{NoiseMultiplier, Epsilon, charge};"),
            ["NoiseMultiplier", "charge"]
        );
        assert_eq!(names("mechanism::Laplace::new(1)"), ["Laplace"]);
        assert_eq!(names("matches!(event, Event::Shuffled { .. })"), ["Event::"]);
        assert_eq!(names("Certificate::compose(a, b)"), ["compose"]);
        assert_eq!(names("session.charge(&plan)?"), ["charge"]);
        assert_eq!(names("Session::charge(&mut session, plan)"), ["charge"]);
        for name in ["Selection", "Filter", "Odometer", "Rehearsal", "Draws", "Plan"] {
            assert_eq!(names(&format!("use reticent::core::{name};")), [name]);
        }
        let placed = named("\n// one\nlet a = \"two\n\";\nAccountant::new()");
        assert_eq!(placed, [(5, "Accountant".to_owned())]);
    }

    #[test]
    fn decisions_are_found_under_another_name() {
        assert_eq!(names("use reticent as r; r::noise::query::count(a)"), ["reticent as"]);
        assert_eq!(names("extern crate reticent as r;"), ["reticent as"]);
        assert_eq!(names("use reticent_noise as n;"), ["reticent_noise as"]);
        assert_eq!(names("use reticent::{self as r};"), ["reticent::self"]);
        assert_eq!(names("use reticent::{data, self};"), ["reticent::self"]);
        assert_eq!(names("use reticent::*;"), ["reticent::*"]);
        assert_eq!(names("use reticent::core::Event as Kind;"), ["Event by another name"]);
        assert_eq!(names("type Kind = Event;"), ["Event by another name"]);
    }

    #[test]
    fn words_and_requests_are_not_decisions() {
        let source = r##"
            //! reticent::noise, Accountant
            /* Sensitivity /* Event::Pure */ */
            use reticent::curator::account::{Account, Method};
            use reticent::curator::train::Train;
            use reticent::core::{Delta, Epsilon, Event, EventLog};
            use reticent::{curator, data::{noise, Schema}, report};
            fn codes() -> [Code; 2] { [Code::Entropy, Noise::Gaussian] }
            const TEXT: &str = "reticent::noise::Entropy";
            const RAW: &str = r#"Accountant::new("x")"#;
            fn noise(accounting: &str, event: &Event) -> char { let train = 'N'; train }
        "##;
        assert_eq!(names(source), [""; 0]);
    }

    #[test]
    fn sources_are_found_in_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        for name in ["b.rs", "inner/a.rs", "inner/a.md"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = sources(folder.path()).unwrap();
        assert_eq!(found, [folder.path().join("b.rs"), folder.path().join("inner/a.rs")]);
        assert!(sources(&folder.path().join("none")).is_err());
    }
}
