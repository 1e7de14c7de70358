//! SPDX licence expressions.
//!
//! ```text
//! any  = all { ("OR" | "/") all }
//! all  = term { "AND" term }
//! term = "(" any ")" | licence [ "WITH" exception ]
//! ```

/// Whether a licence that `allowed` accepts can be chosen throughout the expression.
///
/// `allowed` sees one licence at a time, with its exception as in `Apache-2.0 WITH LLVM-exception`.
/// The error says what is wrong with the expression.
pub(crate) fn satisfiable(expression: &str, allowed: impl Fn(&str) -> bool) -> Result<bool, String> {
    let words = words(expression);
    let mut parser = Parser { words: &words, at: 0, allowed: &allowed };
    let satisfied = parser.any()?;
    match parser.peek() {
        None => Ok(satisfied),
        Some(word) => Err(format!("unexpected `{word}`")),
    }
}

/// Splits at white space; parentheses and `/` are words of their own.
fn words(expression: &str) -> Vec<&str> {
    expression
        .split_whitespace()
        .flat_map(|chunk| chunk.split_inclusive(['(', ')', '/']))
        .flat_map(|chunk| {
            let (word, mark) = chunk.split_at(chunk.len() - usize::from(chunk.ends_with(['(', ')', '/'])));
            [word, mark]
        })
        .filter(|word| !word.is_empty())
        .collect()
}

struct Parser<'a, F> {
    words: &'a [&'a str],
    at: usize,
    allowed: &'a F,
}

impl<F: Fn(&str) -> bool> Parser<'_, F> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).copied()
    }

    /// Takes the next word if it is one of these.
    fn take(&mut self, wanted: &[&str]) -> bool {
        let taken = self.peek().is_some_and(|word| wanted.contains(&word));
        self.at += usize::from(taken);
        taken
    }

    fn any(&mut self) -> Result<bool, String> {
        let mut satisfied = self.all()?;
        while self.take(&["OR", "/"]) {
            satisfied |= self.all()?;
        }
        Ok(satisfied)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut satisfied = self.term()?;
        while self.take(&["AND"]) {
            satisfied &= self.term()?;
        }
        Ok(satisfied)
    }

    fn term(&mut self) -> Result<bool, String> {
        if self.take(&["("]) {
            let satisfied = self.any()?;
            return if self.take(&[")"]) { Ok(satisfied) } else { Err("a `)` is missing".to_owned()) };
        }
        let mut licence = self.name()?;
        if self.take(&["WITH"]) {
            licence = format!("{licence} WITH {}", self.name()?);
        }
        Ok((self.allowed)(&licence))
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek().map(str::to_owned) {
            Some(word) if !["(", ")", "/", "OR", "AND", "WITH"].contains(&word.as_str()) => {
                self.at += 1;
                Ok(word)
            }
            Some(word) => Err(format!("a licence is expected where `{word}` stands")),
            None => Err("a licence is expected at the end".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn satisfied(expression: &str) -> Result<bool, String> {
        satisfiable(expression, |licence| {
            ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].contains(&licence)
        })
    }

    #[test]
    fn one_permissive_choice_is_enough() {
        for expression in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "GPL-3.0-only OR MIT",
            "MIT/Apache-2.0",
            "GPL-2.0 / MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "((MIT))",
        ] {
            assert_eq!(satisfied(expression), Ok(true), "{expression}");
        }
    }

    #[test]
    fn and_demands_both_and_binds_tighter_than_or() {
        assert_eq!(satisfied("MIT AND GPL-3.0-only"), Ok(false));
        assert_eq!(satisfied("MIT OR Apache-2.0 AND GPL-3.0-only"), Ok(true));
        assert_eq!(satisfied("(MIT OR Apache-2.0) AND GPL-3.0-only"), Ok(false));
        assert_eq!(satisfied("GPL-3.0-only AND MIT OR Apache-2.0"), Ok(true));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        assert_eq!(satisfied("Apache-2.0 WITH Other-exception"), Ok(false));
        assert_eq!(satisfied("MIT WITH LLVM-exception"), Ok(false));
    }

    #[test]
    fn malformed_expressions_are_refused() {
        for expression in
            ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "MIT AND OR Apache-2.0"]
        {
            assert!(satisfied(expression).is_err(), "{expression}");
        }
    }
}
