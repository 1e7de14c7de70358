//! What a schema that was learnt from the data with differential privacy has cost.

use super::SchemaProblem;

/// The relations that a cost can be stated under.
const RELATIONS: [&str; 2] = ["add-remove", "replace-one"];

/// The privacy spent on learning a schema: what is computed with the schema costs this on top.
///
/// The events are kept as the text of a JSON array in the wire form of events, which this crate does not read.
#[derive(Clone, Debug, PartialEq)]
pub struct SpentBudget {
    epsilon: f64,
    delta: f64,
    neighboring: String,
    events: String,
}

impl SpentBudget {
    /// The cost (ε, δ) of these events under a neighbouring relation, `add-remove` or `replace-one`.
    ///
    /// # Errors
    /// If ε is negative or not finite, δ is not in [0, 1), the relation is unknown or the events are blank.
    pub fn new(epsilon: f64, delta: f64, neighboring: &str, events: &str) -> Result<Self, SchemaProblem> {
        let (neighboring, events) = (neighboring.to_owned(), events.to_owned());
        let spent = Self { epsilon, delta, neighboring, events };
        spent.fault().map_or(Ok(spent), Err)
    }

    /// The first key whose value means nothing.
    fn fault(&self) -> Option<SchemaProblem> {
        let (key, found, advice) = if !(self.epsilon.is_finite() && self.epsilon >= 0.0) {
            ("epsilon", self.epsilon.to_string(), "give a finite number that is not negative")
        } else if !(0.0..1.0).contains(&self.delta) {
            ("delta", self.delta.to_string(), "give a number with 0 <= delta < 1")
        } else if !RELATIONS.contains(&self.neighboring.as_str()) {
            ("neighboring", self.neighboring.clone(), "give \"add-remove\" or \"replace-one\"")
        } else if self.events.trim().is_empty() {
            ("events", String::new(), "give the JSON array of the events")
        } else {
            return None;
        };
        Some(SchemaProblem::SpentOutOfRange { key, found, advice })
    }

    /// The ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The neighbouring relation: `add-remove` or `replace-one`.
    pub fn neighboring(&self) -> &str {
        &self.neighboring
    }

    /// The events, as the text of a JSON array.
    pub fn events(&self) -> &str {
        &self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{PrivacyUnit, Schema};

    const EVENTS: &str = r#"[{"discrete_laplace":{"noise_multiplier":10.0}}]"#;

    fn error(table: &str) -> String {
        let text = format!("unit = \"row\"\n[columns]\n[spent]\n{table}\n");
        Schema::parse(&text, "s.toml").unwrap_err().to_string()
    }

    #[test]
    fn the_cost_reads_back() {
        let schema = Schema::new(PrivacyUnit::Row, None, Vec::new()).unwrap();
        assert_eq!(schema.spent(), None);
        for (epsilon, delta, events) in [
            (0.0, 0.0, "[]"),
            (0.1 + 0.2, 1e-6, EVENTS),
            (1e300, 1f64.next_down(), "it's\n\"quoted\" \\"),
            (5e-324, 5e-324, "'''"),
        ] {
            for relation in RELATIONS {
                let spent = SpentBudget::new(epsilon, delta, relation, events).unwrap();
                let with = schema.clone().with_spent(spent.clone());
                let read = Schema::parse(&with.to_toml(), "s.toml").unwrap();
                assert_eq!(read, with);
                let read = read.spent().unwrap();
                assert_eq!((read.epsilon(), read.delta()), (epsilon, delta));
                assert_eq!((read.neighboring(), read.events()), (relation, events));
            }
        }
    }

    #[test]
    fn a_cost_that_means_nothing_is_refused_with_its_line() {
        let table = |epsilon: &str, delta: &str, neighboring: &str, events: &str| {
            error(&format!(
                "epsilon = {epsilon}\ndelta = {delta}\nneighboring = {neighboring}\nevents = {events}"
            ))
        };
        let (relation, events) = ("\"add-remove\"", "\"[]\"");
        for epsilon in ["-1", "inf", "nan"] {
            let message = table(epsilon, "0", relation, events);
            assert!(message.starts_with("s.toml:4: spent epsilon = "), "{message}");
        }
        for delta in ["1", "-1e-9", "nan", "2"] {
            let message = table("1", delta, relation, events);
            assert!(message.starts_with("s.toml:5: spent delta = "), "{message}");
        }
        assert_eq!(
            table("1", "0", "\"next door\"", events),
            "s.toml:6: spent neighboring = \"next door\": give \"add-remove\" or \"replace-one\""
        );
        assert!(table("1", "0", relation, "\" \"").starts_with("s.toml:7: spent events"));
        assert!(table("1", "0", relation, "[]").starts_with("s.toml:7: events is a list: "));
        assert!(table("\"1\"", "0", relation, events).starts_with("s.toml:4: epsilon is some other text"));
        let message = error("epsilon = 1\ndelta = 0\nevents = \"[]\"");
        assert!(message.starts_with("s.toml:3: [spent] has no neighboring: "), "{message}");
        let message = error("epsilom = 1");
        assert!(message.starts_with("s.toml:4: unknown key \"epsilom\""), "{message}");
        assert!(SpentBudget::new(f64::NAN, 0.0, "add-remove", "[]").is_err());
        let top = Schema::parse("unit = \"row\"\nspent = 1\n[columns]\n", "s.toml").unwrap_err().to_string();
        assert!(top.starts_with("s.toml:2: spent is an integer: write [spent]"), "{top}");
    }
}
