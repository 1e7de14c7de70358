//! What is wrong in a file of events, and where.

use std::fmt;

/// One mistake, with the way to it from the outside.
#[derive(Debug)]
pub(super) struct Problem {
    /// The steps to the place, the innermost first.
    path: Vec<Step>,
    text: String,
}

#[derive(Debug)]
enum Step {
    Name(String),
    Index(usize),
}

impl Problem {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { path: Vec::new(), text: text.into() }
    }

    /// The same mistake, seen from the object that has it under `name`.
    pub(super) fn under(mut self, name: &str) -> Self {
        self.path.push(Step::Name(name.to_owned()));
        self
    }

    /// The same mistake, seen from the list that has it at `index`.
    pub(super) fn at(mut self, index: usize) -> Self {
        self.path.push(Step::Index(index));
        self
    }
}

/// `events[3].poisson_sampled.event: unknown event …`.
impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.path.iter().rev().enumerate() {
            match step {
                Step::Name(name) if place == 0 => write!(formatter, "{name}")?,
                Step::Name(name) => write!(formatter, ".{name}")?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        let colon = if self.path.is_empty() { "" } else { ": " };
        write!(formatter, "{colon}{}", self.text)
    }
}

/// `unknown event "gausian": did you mean "gaussian"?`.
pub(super) fn unknown(what: &str, given: &str, known: &[&str]) -> Problem {
    let nearest = known.iter().min_by_key(|name| distance(given, name)).copied().unwrap_or_default();
    let shown: String = given.chars().take(40).collect();
    let remedy = if known.len() > 1 && distance(given, nearest) > given.chars().count().max(6) / 2 {
        format!("the nearest is \"{nearest}\", of {}", known.join(", "))
    } else {
        format!("did you mean \"{nearest}\"?")
    };
    Problem::new(format!("unknown {what} \"{shown}\": {remedy}"))
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
