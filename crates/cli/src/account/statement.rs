//! `account statement`: the paragraph that a paper or a model card needs.

use reticent::curator::account::PrivacyStatement;

/// Columns of the printed paragraph.
const COLUMNS: usize = 96;

/// The paragraph.
pub(super) fn statement(found: &PrivacyStatement) -> String {
    wrapped(&found.unbroken)
}

/// Lines of at most so many columns, not broken at the no-break spaces of formulas.
fn wrapped(paragraph: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for word in paragraph.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > COLUMNS {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.replace('\u{a0}', " ") + "\n"
}
