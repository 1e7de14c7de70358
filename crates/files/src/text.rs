//! Values and paths in one-line messages.

use std::path::Path;

/// How many characters of a value or of a lower layer's message an error message shows.
pub const SHOWN: usize = 60;

/// `text` without line breaks or control characters, cut after [`SHOWN`] characters.
pub fn shown(text: &str) -> String {
    let mut kept: String = text.chars().take(SHOWN).map(plain).collect();
    if text.chars().nth(SHOWN).is_some() {
        kept.push('…');
    }
    kept
}

/// A path without control characters.
pub fn shown_path(path: &Path) -> String {
    path.to_string_lossy().chars().map(plain).collect()
}

fn plain(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_on_one_line_and_short() {
        assert_eq!(shown("a\nb\tc"), "a b c");
        let cut = shown(&"é".repeat(100));
        assert_eq!(cut.chars().count(), SHOWN + 1);
        assert!(cut.ends_with('…'));
        assert_eq!(shown_path(Path::new("odd\nname.csv")), "odd name.csv");
    }
}
