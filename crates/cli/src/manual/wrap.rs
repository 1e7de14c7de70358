//! Lines of a given width, whatever the terminal's.

/// The words of a paragraph on lines of at most `width` characters; further lines begin with `indent`. A line never begins
/// with what Markdown would take for a list, a heading or a quotation.
pub(super) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let long = word.chars().count();
        let may_begin = !word.starts_with(|c: char| c.is_ascii_digit() || "-+*#>=".contains(c));
        if used == 0 {
            used = long;
        } else if used + 1 + long > width && may_begin {
            lines.push('\n');
            lines.push_str(indent);
            used = indent.chars().count() + long;
        } else {
            lines.push(' ');
            used += 1 + long;
        }
        lines.push_str(word);
    }
    lines
}
