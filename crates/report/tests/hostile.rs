//! Hostile text in every field of a dossier, one by one and all together: none of it becomes markup.

use crate::sample;
use reticent_report::{Dossier, html, is_unseen};
use serde_json::Value;

/// What is put before and after the number of a field.
const HOSTILE: [(&str, &str); 7] = [
    ("<script>alert(", ")</script>"),
    ("\" onmouseover=\"alert(", ")"),
    ("' autofocus onfocus='alert(", ")"),
    ("</td></table></section><img src=x onerror=alert(", ")>"),
    ("]]></style></title></svg><b>", "</b>"),
    ("&lt;&#60;&#x3c;&amp;", "&"),
    ("\u{0}\u{1b}[31m\r\n\t\u{202e}\u{2066}\u{200b}\u{feff}", "\u{2028}"),
];

/// A place in JSON.
type Path = Vec<String>;

/// The places of all strings of a value.
fn strings(value: &Value, at: &Path, found: &mut Vec<Path>) {
    let below = |key: String| [&at[..], &[key]].concat();
    match value {
        Value::String(_) => found.push(at.clone()),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(place, item)| strings(item, &below(place.to_string()), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, field)| strings(field, &below(key.clone()), found));
        }
        _ => {}
    }
}

fn set(value: &mut Value, path: &Path, text: &str) {
    let place = path.iter().fold(value, |value, key| match value {
        Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
        other => other.get_mut(key).unwrap(),
    });
    *place = Value::String(text.to_owned());
}

/// The fields of a full dossier that hold any text at all; the others are words of a closed list.
fn free_fields(full: &Value) -> Vec<Path> {
    let mut all = Vec::new();
    strings(full, &Vec::new(), &mut all);
    let is_free = |path: &Path| {
        let mut changed = full.clone();
        set(&mut changed, path, "any text");
        serde_json::from_value::<Dossier>(changed).is_ok()
    };
    all.into_iter().filter(is_free).collect()
}

/// The page with `before NUMBER after` in every free field.
fn page(full: &Value, fields: &[Path], before: &str, after: &str) -> String {
    let mut changed = full.clone();
    for (number, path) in fields.iter().enumerate() {
        set(&mut changed, path, &format!("{before}{number}{after}"));
    }
    html(&serde_json::from_value(changed).unwrap())
}

/// Whether a text holds nothing that a browser reads as more than text.
fn is_escaped(text: &str) -> bool {
    let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
    let bare = entities.iter().fold(text.to_owned(), |text, entity| text.replace(entity, ""));
    !bare.contains(['&', '<', '>', '"', '\''])
}

/// The elements of a page with the names of their attributes, in order. Anything that is not an element of the form that the
/// builder writes is an error.
fn structure(page: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let page = page.strip_prefix("<!DOCTYPE html>\n").ok_or("no document type")?;
    let (head, rest) = page.split_once("<style>\n").ok_or("no style sheet")?;
    let (_, body) = rest.split_once("</style>\n").ok_or("the style sheet does not end")?;
    let parts = [head, body].concat();
    let mut rest = parts.as_str();
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        if !is_escaped(text) {
            return Err(format!("text is not escaped: {text}"));
        }
        rest = &rest[at + 1..];
        // An attribute may hold neither a quote nor an angle bracket, so the tag ends at the first bracket.
        let end = rest.find('>').ok_or("a tag does not end")?;
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let mut parts = tag.trim_end_matches('/').splitn(2, ' ');
        let mut entry = parts.next().unwrap_or_default().to_owned();
        let mut attributes = parts.next().unwrap_or_default();
        while let Some((name, value)) = attributes.split_once("=\"") {
            let (value, more) = value.split_once('"').ok_or("a value does not end")?;
            if !is_escaped(value) || !name.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                return Err(format!("<{tag}>"));
            }
            entry.push_str(&format!(" {}", name.trim()));
            attributes = more;
        }
        if !attributes.trim().is_empty() {
            return Err(format!("<{tag}>"));
        }
        found.push(entry);
    }
    match page.chars().any(|c| is_unseen(c) || (c.is_control() && c != '\n')) {
        true => Err("control characters".to_owned()),
        false => Ok(found),
    }
}

/// As the page shows a text: as many harmless letters stand in for it in the page to compare with.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c == ' ' || c.is_control() { ' ' } else { 'x' }).collect()
}

#[test]
fn hostile_text_in_any_field_leaves_the_structure_as_it_is() {
    let full = serde_json::to_value(sample::dossier().unwrap()).unwrap();
    let fields = free_fields(&full);
    assert!(fields.len() > 60, "{}", fields.len());
    let (mut shown, mut caught) = (0, 0);
    for (before, after) in HOSTILE {
        let attacked = page(&full, &fields, before, after);
        let calm = page(&full, &fields, &harmless(before), &harmless(after));
        let expected = structure(&calm).unwrap();
        assert_eq!(structure(&attacked).unwrap(), expected, "{before}");
        // A page that forgets to escape one field, anywhere, is found out by the same check.
        for number in 0..fields.len() {
            let text = format!("{before}{number}{after}");
            let safe = escaped(&text);
            for (place, _) in attacked.match_indices(&safe) {
                let twin = [&attacked[..place], &text, &attacked[place + safe.len()..]].concat();
                shown += 1;
                caught += usize::from(structure(&twin) != Ok(expected.clone()));
            }
        }
    }
    assert!(shown > 60 * HOSTILE.len(), "{shown}");
    assert_eq!(caught, shown);
}

/// The escaping that the page should do, written a second time.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c if is_unseen(c) => safe.extend(c.escape_unicode()),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[test]
fn hostile_text_in_a_story_leaves_its_structure_as_it_is() {
    for (before, after) in HOSTILE {
        let attacked = crate::story::story(&format!("{before}1{after}")).html();
        let calm = crate::story::story(&format!("{}1{}", harmless(before), harmless(after))).html();
        assert_eq!(structure(&attacked).unwrap(), structure(&calm).unwrap(), "{before}");
    }
}

/// Every field alone, so that nothing depends on what stands in the others.
#[test]
fn each_field_alone_stays_text() {
    let full = serde_json::to_value(sample::dossier().unwrap()).unwrap();
    let fields = free_fields(&full);
    let (before, after) = HOSTILE[3];
    for path in &fields {
        let page = page(&full, std::slice::from_ref(path), before, after);
        let found = structure(&page).unwrap_or_else(|error| panic!("{}: {error}", path.join(".")));
        assert!(!found.iter().any(|entry| entry.starts_with("img") || entry.contains(" on")), "{path:?}");
    }
}
