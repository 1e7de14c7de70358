//! Whether a command still prints what a page shows.
//!
//! Answers carry noise, so numbers are compared only where the page asks for it: otherwise every number, every bar and
//! the width of every gap counts as the same. A line `...` stands for any lines.

/// A line that stands for any lines.
const ANY: &str = "...";

/// Whether `actual` is what `shown` shows, digit for digit if `exact`.
pub(crate) fn matches(shown: &str, actual: &str, exact: bool) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let line = |line: &str| if exact { line.trim_end().to_owned() } else { masked(line) };
        text.trim_end().lines().map(line).collect()
    };
    fits(&lines(shown), &lines(actual))
}

fn fits(shown: &[String], actual: &[String]) -> bool {
    match shown {
        [] => actual.is_empty(),
        [first, rest @ ..] if first.trim() == ANY => {
            (0..=actual.len()).any(|skipped| fits(rest, &actual[skipped..]))
        }
        [first, rest @ ..] => actual.first() == Some(first) && fits(rest, &actual[1..]),
    }
}

/// The line with every number as `#`, bars left out and gaps of one blank.
fn masked(line: &str) -> String {
    let letters: Vec<char> = line.chars().filter(|letter| !"█▏▎▍▌▋▊▉".contains(*letter)).collect();
    let (mut text, mut at) = (String::new(), 0);
    while at < letters.len() {
        let before = text.chars().last();
        match number(&letters[at..], before) {
            0 => {
                text.push(letters[at]);
                at += 1;
            }
            length => {
                text.push('#');
                at += length;
            }
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many letters of a number stand here; names such as `adult2` are no numbers.
fn number(letters: &[char], before: Option<char>) -> usize {
    if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
        return 0;
    }
    let sign = usize::from(letters.first().is_some_and(|letter| "-−+".contains(*letter)));
    if !letters.get(sign).is_some_and(char::is_ascii_digit) || (sign == 1 && before == Some('#')) {
        return 0;
    }
    let mut length = sign;
    while let Some(letter) = letters.get(length) {
        let next_is_digit = letters.get(length + 1).is_some_and(char::is_ascii_digit);
        let exponent = *letter == 'e'
            && (next_is_digit
                || letters.get(length + 1) == Some(&'-')
                    && letters.get(length + 2).is_some_and(char::is_ascii_digit));
        // A date and its time are one number.
        if letter.is_ascii_digit() || (".,T".contains(*letter) && next_is_digit) {
            length += 1;
        } else if exponent {
            length += 2;
        } else {
            break;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_differ_unless_they_must_not() {
        let (shown, now) = ("mean  38.6 (95 %: -1.2e-6 to 40)  ███\n", "mean     9 (95 %: 3 to 4,000)\n");
        assert!(matches(shown, now, false));
        assert!(!matches(shown, now, true));
        assert!(matches("ε = 1\n\n", "ε = 1", true));
        assert!(matches("at 2026-11-18T00:34:28.841Z", "at 2026-12-01T23:15:02.371Z", false));
    }

    #[test]
    fn words_must_not_differ() {
        assert!(!matches("mean 1", "median 1", false));
        assert!(!matches("a\nb", "a", false));
        assert!(!matches("a", "a\nb", false));
        assert!(!matches("adult2", "adult3", false));
    }

    #[test]
    fn lines_may_be_left_out() {
        assert!(matches("a\n...\nd", "a\nb\nc\nd", false));
        assert!(matches("...\nd", "d", false));
        assert!(!matches("a\n...\nd", "a\nb", false));
    }
}
