//! What is wrong in a file of events, and where.

use crate::InvalidValue;
use std::fmt;

/// One mistake in a list of events: where it is, what is there, and what to write instead.
///
/// Displays as one line, e.g. `events[3].poisson_sampled.rate: 1.5: give a number from 0 to 1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadProblem {
    /// The steps to the place, the innermost first.
    inward: Vec<Step>,
    found: String,
    remedy: String,
}

/// One step on the way from the whole text to the place of a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To what an object has under a name.
    Name(String),
    /// To an entry of a list, counted from 0.
    Index(usize),
}

impl ReadProblem {
    pub(super) fn new(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { inward: Vec::new(), found: found.into(), remedy: remedy.into() }
    }

    /// A number that its type refuses.
    pub(super) fn refused(invalid: InvalidValue) -> Self {
        Self::new(invalid.value, invalid.remedy)
    }

    /// Fields that do not fit together.
    pub(super) fn unfit(invalid: InvalidValue) -> Self {
        Self::new(format!("{} = {}", invalid.field, invalid.value), invalid.remedy)
    }

    /// The same mistake, seen from the object that has it under `name`.
    pub(super) fn under(mut self, name: &str) -> Self {
        self.inward.push(Step::Name(name.to_owned()));
        self
    }

    /// The same mistake, seen from the list that has it at `index`.
    pub(super) fn at(mut self, index: usize) -> Self {
        self.inward.push(Step::Index(index));
        self
    }

    /// The way to the mistake, from the outside.
    pub fn path(&self) -> impl Iterator<Item = &Step> {
        self.inward.iter().rev()
    }

    /// What is there: a value, or what is wrong with it in words. Empty where the place says it.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// What to write instead.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for ReadProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.path().enumerate() {
            match step {
                Step::Name(name) if place == 0 => write!(formatter, "{name}")?,
                Step::Name(name) => write!(formatter, ".{name}")?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        if !self.inward.is_empty() {
            formatter.write_str(": ")?;
        }
        if !self.found.is_empty() {
            write!(formatter, "{}: ", self.found)?;
        }
        formatter.write_str(&self.remedy)
    }
}

impl std::error::Error for ReadProblem {}

/// `unknown event "gausian": did you mean "gaussian"?`.
pub(super) fn unknown(what: &str, given: &str, known: &[&str]) -> ReadProblem {
    let nearest = known.iter().min_by_key(|name| distance(given, name)).copied().unwrap_or_default();
    let shown: String = given.chars().take(40).collect();
    let remedy = if known.len() > 1 && distance(given, nearest) > given.chars().count().max(6) / 2 {
        format!("the nearest is \"{nearest}\", of {}", known.join(", "))
    } else {
        format!("did you mean \"{nearest}\"?")
    };
    ReadProblem::new(format!("unknown {what} \"{shown}\""), remedy)
}

/// Names by which other libraries call the same thing.
const SYNONYMS: [(&str, &str); 9] = [
    ("sigma", "noise_multiplier"),
    ("scale", "noise_multiplier"),
    ("sampling_rate", "rate"),
    ("sampling_probability", "rate"),
    ("q", "rate"),
    ("alpha", "order"),
    ("times", "count"),
    ("self_composed", "repeated"),
    ("randomised_response", "randomized_response"),
];

/// How many letters must be put in, taken out, changed or swapped, upper case and separators aside; 1 for names
/// known elsewhere and for beginnings of names.
fn distance(given: &str, name: &str) -> usize {
    let letters = |text: &str| -> Vec<char> {
        text.chars().take(64).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (a, b) = (letters(given), letters(name));
    let synonym = SYNONYMS.iter().any(|(other, own)| *own == name && letters(other) == a);
    if synonym || (a.len() >= 3 && b.starts_with(&a)) {
        return usize::from(a != b);
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("gausian", "gaussian"), 1);
        assert_eq!(distance("guassian", "gaussian"), 1);
        assert_eq!(distance("Poisson-Sampled", "poisson_sampled"), 0);
        assert_eq!(distance("poisson", "poisson_sampled"), 1);
        assert_eq!(distance("sigma", "noise_multiplier"), 1);
        assert_eq!(distance("", "pure"), 4);
    }

    #[test]
    fn the_nearest_is_named_with_its_place() {
        let problem =
            unknown("event", "gausian", &["laplace", "gaussian"]).under("event").at(3).under("events");
        assert_eq!(
            problem.to_string(),
            "events[3].event: unknown event \"gausian\": did you mean \"gaussian\"?"
        );
        let far = unknown("event", "zzzzzz", &["laplace", "pure"]).to_string();
        assert!(far.contains("the nearest is \"pure\", of laplace, pure"), "{far}");
    }
}
