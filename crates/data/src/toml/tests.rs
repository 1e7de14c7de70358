use super::*;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[allow(dead_code)]
struct Settings {
    name: String,
    clip: Option<f64>,
    steps: Option<u64>,
    kind: Option<FeatureKind>,
    inner: Option<Inner>,
    #[serde(default)]
    layer: Vec<Inner>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Inner {
    share: f64,
    open: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FeatureKind {
    Flat,
    PerLayer,
}

/// The message and the excerpt.
fn refused(text: &str) -> (TomlFault, String, String) {
    let error = read::<Settings>(text, "s.toml").unwrap_err();
    let excerpt = error.place.as_ref().unwrap().excerpt();
    assert!(!error.to_string().contains('\n'), "{error}");
    (error.fault, error.to_string(), excerpt)
}

#[test]
fn mistakes_are_named_and_underlined() {
    use TomlFault::{Key, Syntax, Value};
    let cases = [
        ("name = x", Syntax, "s.toml:1: not valid TOML: ", "1 | name = x\n  |        ^"),
        (
            "name = \"a\"\n\nclipp = 1",
            Key,
            "s.toml:3: unknown key \"clipp\" (did you mean \"clip\"?): the keys are name, clip, steps, kind, inner, layer",
            "3 | clipp = 1\n  | ^^^^^",
        ),
        (
            "name = \"a\"\nclip = \"much\"",
            Value,
            "s.toml:2: clip = \"much\": give a number",
            "2 | clip = \"much\"\n  |        ^^^^^^",
        ),
        (
            "name = \"a\"\nsteps = -3",
            Value,
            "s.toml:2: steps = -3: give a whole number that is not negative",
            "2 | steps = -3\n  |         ^^",
        ),
        ("name = 7", Value, "s.toml:1: name = 7: give text in quotes", "1 | name = 7\n  |        ^"),
        (
            "name = \"a\"\nkind = \"flet\"",
            Value,
            "s.toml:2: kind = \"flet\": unknown (did you mean \"flat\"?): the names are flat, per-layer",
            "2 | kind = \"flet\"\n  |        ^^^^^^",
        ),
        (
            "name = \"a\"\n[inner]\nshare = true",
            Value,
            "s.toml:3: share = true: give a number",
            "3 | share = true\n  |         ^^^^",
        ),
        (
            "name = \"a\"\n[[layer]]\nshare = 1\n[[layer]]\nshare = 1\nopen = 3",
            Value,
            "s.toml:6: open = 3: give true or false",
            "6 | open = 3\n  |        ^",
        ),
        ("clip = 1", Value, "s.toml:1: missing key name: add name = …", "1 | clip = 1\n  | ^"),
        (
            "name = \"a\"\n[inner]\nopen = true",
            Value,
            "s.toml:2: missing key share: add share = …",
            "2 | [inner]\n  | ^^^^^^^",
        ),
        (
            "name = \"a\"\n[[layer]]\nshare = 1\n[[layer]]\nshar = 1",
            Key,
            "s.toml:5: unknown key \"shar\" (did you mean \"share\"?): the keys are share, open",
            "5 | shar = 1\n  | ^^^^",
        ),
        (
            "name = \"a\"\ninner = { shared = 1 }",
            Key,
            "s.toml:2: unknown key \"shared\" (did you mean \"share\"?): the keys are share, open",
            "2 | inner = { shared = 1 }\n  |           ^^^^^^",
        ),
    ];
    for (text, fault, message, excerpt) in cases {
        let (found, told, shown) = refused(text);
        assert_eq!(found, fault, "{text}");
        assert!(told.starts_with(message), "{told}");
        assert!(shown.ends_with(excerpt), "{shown}");
    }
    assert!(read::<Settings>("name = \"a\"\nclip = 1", "s.toml").is_ok());
}

#[test]
fn values_are_found_by_their_path() {
    let text = "a = 1\n[t.u]\nb = [1, 2]\n[[layer]]\nout = 3\n[[layer]]\nout = { x = 44 }\n";
    let shown = |path: &[&str]| locate(text, path).map(|place| place.excerpt());
    assert_eq!(shown(&["a"]).unwrap(), "  |\n1 | a = 1\n  |     ^");
    assert_eq!(shown(&["t", "u", "b"]).unwrap(), "  |\n3 | b = [1, 2]\n  |     ^^^^^^");
    assert_eq!(shown(&["t", "u", "b", "1"]).unwrap(), "  |\n3 | b = [1, 2]\n  |         ^");
    assert_eq!(shown(&["layer", "1", "out", "x"]).unwrap(), "  |\n7 | out = { x = 44 }\n  |             ^^");
    for path in [&["b"][..], &["t", "b"], &["layer", "2"], &["layer", "x"], &["a", "b"], &[]] {
        assert_eq!(shown(path), None, "{path:?}");
    }
    assert_eq!(locate("a = ", &["a"]), None);
}

#[test]
fn excerpts_are_harmless_and_short() {
    let place = Span::of("é = \"\u{1b}[31m\u{202e}x\"\r\nb", 5..13);
    let excerpt = place.excerpt();
    assert!(
        excerpt.chars().all(|c| c == '\n' || !c.is_control()) && !excerpt.contains('\u{202e}'),
        "{excerpt}"
    );
    assert!(excerpt.ends_with("\n  |     ^^^^^^^"), "{excerpt}");
    let long = format!("{} = 12 {}", "k".repeat(300), "#".repeat(300));
    let excerpt = Span::of(&long, 303..305).excerpt();
    let lines: Vec<&str> = excerpt.lines().collect();
    assert!(lines[1].starts_with("1 | …k") && lines[1].ends_with('…') && lines[1].chars().count() < 120);
    let at = lines[2].find('^').unwrap();
    let under: String = lines[1].chars().skip(at).take(2).collect();
    assert_eq!((under.as_str(), lines[2].matches('^').count()), ("12", 2));
}

#[test]
fn places_outside_a_text_are_at_its_end() {
    for text in ["", "a", "a\n", "é", "\u{1F600}"] {
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                let place = Span::of(text, start..end);
                assert!(place.line <= 2 && place.excerpt().lines().count() == 3);
            }
        }
    }
}
