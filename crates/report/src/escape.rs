//! Escaping of text for HTML, SVG and JSON.

/// Whether a character is invisible and changes how the text around it is shown: direction marks, zero-width characters, and unusual
/// line breaks.
pub fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The text on one line and without control characters; invisible characters are shown as escapes.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_unseen(c) => plain.extend(c.escape_unicode()),
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

/// `text` with everything replaced that could be read as markup, inside elements and inside quoted attributes. Characters that
/// would turn or hide the text around them stand as their numbers: `\u{202e}`.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if is_unseen(c) => safe.extend(c.escape_unicode()),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// JSON with the same characters escaped; outside of strings there are none.
pub fn escaped_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unseen(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| safe.push_str(&format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_turns_itself_is_shown_as_it_stands() {
        assert_eq!(escaped("a\u{202e}b\u{2066}c\u{200b}<"), "a\\u{202e}b\\u{2066}c\\u{200b}&lt;");
        assert_eq!(escaped("ε\u{a0}≤ é 年"), "ε\u{a0}≤ é 年");
        let json = serde_json::to_string("a\u{202e}b \u{e0041} é").unwrap();
        let safe = escaped_json(&json);
        assert!(safe.contains("\\u202e") && safe.chars().all(|c| !is_unseen(c)));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "a\u{202e}b \u{e0041} é");
    }
}
