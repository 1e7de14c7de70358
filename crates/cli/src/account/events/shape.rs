//! From JSON to events: every name, type and range checked, with the way to what is wrong.

use super::json::Json;
use super::problem::{Problem, unknown};
use reticent::core::{Event, InvalidValue};

/// Every event with its fields.
pub(super) const EVENTS: [(&str, &[&str]); 24] = [
    ("gaussian", &["noise_multiplier"]),
    ("clipped_sum", &["noise_multiplier"]),
    ("laplace", &["noise_multiplier"]),
    ("randomized_response", &["keep_probability", "categories"]),
    ("exponential", &["epsilon"]),
    ("discrete_gaussian", &["noise_multiplier", OPTIONAL]),
    ("discrete_laplace", &["noise_multiplier", "sensitivity"]),
    ("student_t", &["noise_multiplier", "degrees_of_freedom"]),
    ("pure", &["epsilon"]),
    ("approximate", &["epsilon", "delta"]),
    ("zcdp", &["rho"]),
    ("rdp", &["order", "epsilon"]),
    ("gdp", &["mu"]),
    ("poisson_sampled", &["rate", "event"]),
    ("sampled_without_replacement", &["dataset_size", "batch_size", "event"]),
    ("repeated", &["count", "event"]),
    ("truncated_poisson", &["dataset_size", "rate", "max_batch", "event"]),
    ("shuffled", &["steps_per_epoch", "epochs", "event"]),
    ("balls_in_bins", &["bins", "epochs", "event"]),
    ("mixture_of_gaussians", &["sensitivities", "probabilities", "noise_multiplier"]),
    ("tree_aggregation", &["noise_multiplier", "steps"]),
    ("repeat_and_select", &["mean", "shape", "event"]),
    ("composed", &["events"]),
    ("parallel", &["events"]),
];

/// Reads a list of events.
pub(super) fn events(json: Json) -> Result<Vec<Event>, Problem> {
    let Json::List(items) = json else {
        return Err(Problem::new(format!("{}: give a list of events in [ ]", json.shown())));
    };
    items.into_iter().enumerate().map(|(index, item)| event(item).map_err(|p| p.at(index))).collect()
}

/// Reads one event.
pub(super) fn event(json: Json) -> Result<Event, Problem> {
    let example = "give an event such as {\"gaussian\": {\"noise_multiplier\": 1}}";
    let Json::Object(mut entries) = json else {
        return Err(Problem::new(format!("{}: {example}", json.shown())));
    };
    let Some((name, body)) = entries.pop() else {
        return Err(Problem::new(format!("an object without an event: {example}")));
    };
    if let Some((first, _)) = entries.first() {
        let remedy = "put each event in braces of its own";
        return Err(Problem::new(format!("\"{first}\" and \"{name}\" in one object: {remedy}")));
    }
    let Some((name, fields)) = EVENTS.iter().find(|(known, _)| *known == name) else {
        return Err(unknown("event", &name, &EVENTS.map(|(known, _)| known)));
    };
    let fields = Fields::read(body, fields).map_err(|p| p.under(name))?;
    let event = build(name, fields).map_err(|p| p.under(name))?;
    event.validate().map_err(|invalid| Problem::new(invalid.to_string()).under(name))?;
    Ok(event)
}

fn build(name: &str, mut f: Fields) -> Result<Event, Problem> {
    Ok(match name {
        "gaussian" => Event::Gaussian { noise_multiplier: f.quantity("noise_multiplier")? },
        "clipped_sum" => Event::ClippedSum { noise_multiplier: f.quantity("noise_multiplier")? },
        "laplace" => Event::Laplace { noise_multiplier: f.quantity("noise_multiplier")? },
        "randomized_response" => Event::RandomizedResponse {
            keep_probability: f.quantity("keep_probability")?,
            categories: f.whole("categories")?,
        },
        "exponential" => Event::Exponential { epsilon: f.quantity("epsilon")? },
        "discrete_gaussian" => Event::DiscreteGaussian {
            noise_multiplier: f.quantity("noise_multiplier")?,
            sensitivity: f.given(OPTIONAL).then(|| f.quantity(OPTIONAL)).transpose()?,
        },
        "discrete_laplace" => Event::DiscreteLaplace {
            noise_multiplier: f.quantity("noise_multiplier")?,
            sensitivity: f.given(OPTIONAL).then(|| f.whole(OPTIONAL)).transpose()?,
        },
        "student_t" => Event::StudentT {
            noise_multiplier: f.quantity("noise_multiplier")?,
            degrees_of_freedom: f.whole("degrees_of_freedom")?,
        },
        "pure" => Event::Pure { epsilon: f.quantity("epsilon")? },
        "approximate" => Event::Approximate { epsilon: f.quantity("epsilon")?, delta: f.quantity("delta")? },
        "zcdp" => Event::Zcdp { rho: f.quantity("rho")? },
        "rdp" => Event::Rdp { order: f.quantity("order")?, epsilon: f.quantity("epsilon")? },
        "gdp" => Event::Gdp { mu: f.quantity("mu")? },
        "poisson_sampled" => Event::PoissonSampled { rate: f.quantity("rate")?, event: f.event()? },
        "sampled_without_replacement" => Event::SampledWithoutReplacement {
            dataset_size: f.whole("dataset_size")?,
            batch_size: f.whole("batch_size")?,
            event: f.event()?,
        },
        "repeated" => Event::Repeated { count: f.whole("count")?, event: f.event()? },
        "truncated_poisson" => Event::TruncatedPoisson {
            dataset_size: f.whole("dataset_size")?,
            rate: f.quantity("rate")?,
            max_batch: f.whole("max_batch")?,
            event: f.event()?,
        },
        "shuffled" => Event::Shuffled {
            steps_per_epoch: f.whole("steps_per_epoch")?,
            epochs: f.whole("epochs")?,
            event: f.event()?,
        },
        "balls_in_bins" => {
            Event::BallsInBins { bins: f.whole("bins")?, epochs: f.whole("epochs")?, event: f.event()? }
        }
        "mixture_of_gaussians" => Event::MixtureOfGaussians {
            sensitivities: f.numbers("sensitivities")?,
            probabilities: f.numbers("probabilities")?,
            noise_multiplier: f.quantity("noise_multiplier")?,
        },
        "tree_aggregation" => Event::TreeAggregation {
            noise_multiplier: f.quantity("noise_multiplier")?,
            steps: f.whole("steps")?,
        },
        "repeat_and_select" => {
            Event::RepeatAndSelect { mean: f.number("mean")?, shape: f.trials("shape")?, event: f.event()? }
        }
        "composed" => Event::Composed { events: f.events()? },
        "parallel" => Event::Parallel { events: f.events()? },
        other => return Err(Problem::new(format!("\"{other}\" cannot be read: this is a defect"))),
    })
}

/// The fields of one event: all of them there, each once, and no others.
struct Fields(Vec<(String, Json)>);

/// The one field that may be left out.
const OPTIONAL: &str = "sensitivity";

impl Fields {
    fn read(json: Json, known: &[&str]) -> Result<Self, Problem> {
        let Json::Object(entries) = json else {
            let example = format!("give its fields in {{ }}: {}", known.join(", "));
            return Err(Problem::new(format!("{}: {example}", json.shown())));
        };
        known_once(&entries, known)?;
        let absent = |field: &&&str| **field != OPTIONAL && entries.iter().all(|(name, _)| name != **field);
        if let Some(missing) = known.iter().find(absent) {
            return Err(Problem::new(format!("missing field \"{missing}\": add it")));
        }
        Ok(Self(entries))
    }

    fn given(&self, field: &str) -> bool {
        self.0.iter().any(|(name, _)| name == field)
    }

    fn take(&mut self, field: &str) -> Json {
        let place = self.0.iter().position(|(name, _)| name == field);
        place.map_or(Json::Null, |place| self.0.swap_remove(place).1)
    }

    fn number(&mut self, field: &str) -> Result<f64, Problem> {
        real(self.take(field)).map_err(|p| p.under(field))
    }

    fn quantity<T: TryFrom<f64, Error = InvalidValue>>(&mut self, field: &str) -> Result<T, Problem> {
        let value = self.number(field)?;
        T::try_from(value)
            .map_err(|invalid| Problem::new(format!("{}: {}", invalid.value, invalid.remedy)).under(field))
    }

    fn whole(&mut self, field: &str) -> Result<u64, Problem> {
        whole(&self.take(field)).map_err(|p| p.under(field))
    }

    /// The shape of a random number of trials: a number, or "poisson".
    fn trials(&mut self, field: &str) -> Result<f64, Problem> {
        match self.take(field) {
            Json::Text(name) if name == "poisson" => Ok(f64::INFINITY),
            other => real(other).map_err(|p| p.under(field)),
        }
    }

    fn numbers(&mut self, field: &str) -> Result<Vec<f64>, Problem> {
        let Json::List(items) = self.take(field) else {
            return Err(Problem::new("give a list of numbers in [ ]").under(field));
        };
        let number = |(index, item)| real(item).map_err(|p: Problem| p.at(index).under(field));
        items.into_iter().enumerate().map(number).collect()
    }

    fn event(&mut self) -> Result<Box<Event>, Problem> {
        event(self.take("event")).map(Box::new).map_err(|p| p.under("event"))
    }

    fn events(&mut self) -> Result<Vec<Event>, Problem> {
        events(self.take("events")).map_err(|p| p.under("events"))
    }
}

/// Refuses a name that is not known or comes twice.
pub(super) fn known_once(entries: &[(String, Json)], known: &[&str]) -> Result<(), Problem> {
    if let Some((name, _)) = entries.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(unknown("field", name, known));
    }
    let twice =
        entries.iter().enumerate().find(|(i, (name, _))| entries[..*i].iter().any(|(n, _)| n == name));
    match twice {
        Some((_, (name, _))) => Err(Problem::new(format!("\"{name}\" is there twice: keep one"))),
        None => Ok(()),
    }
}

fn real(json: Json) -> Result<f64, Problem> {
    match json {
        Json::Whole(value) => Ok(value as f64),
        Json::Real(value) => Ok(value),
        other => Err(Problem::new(format!("{}: give a number", other.shown()))),
    }
}

/// A whole number; 1e12 and 10.0 are whole too, as far as a float is exact.
fn whole(json: &Json) -> Result<u64, Problem> {
    match json {
        Json::Whole(value) => Ok(*value),
        Json::Real(value) if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(value) => {
            Ok(*value as u64)
        }
        Json::Real(value) if *value > 9_007_199_254_740_992.0 => {
            Err(Problem::new(format!("{value:e}: give a smaller whole number")))
        }
        other => Err(Problem::new(format!("{}: give a whole number that is not negative", other.shown()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The names between backticks in a message of serde.
    fn quoted(message: &str) -> BTreeSet<&str> {
        message.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn names_and_fields_are_those_of_the_wire_form() {
        let message = serde_json::from_str::<Event>("{\"?\": 1}").unwrap_err().to_string();
        let mut names = quoted(&message);
        assert!(names.remove("?"));
        assert_eq!(names, EVENTS.iter().map(|(name, _)| *name).collect());
        for (name, fields) in EVENTS {
            let text = format!("{{\"{name}\": {{\"?\": 1}}}}");
            let message = serde_json::from_str::<Event>(&text).unwrap_err().to_string();
            let mut known = quoted(&message);
            assert!(known.remove("?"));
            assert_eq!(known, fields.iter().copied().collect(), "{name}");
        }
    }
}
