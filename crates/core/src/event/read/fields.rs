//! From JSON to the fields of events: every name, type and range checked, with the way to what is wrong.

use super::json::Json;
use super::problem::{ReadProblem, unknown};
use super::{event, events};
use crate::event::trials::{POISSON, Trials};
use crate::event::{Event, FieldShape};
use crate::{Delta, Epsilon, Mu, NoiseMultiplier, Order, Probability, Rho, SamplingRate, Sensitivity};

/// The fields of one event: all that it needs are there, each once, and no others.
pub(in crate::event) struct Fields(Vec<(String, Json)>);

impl Fields {
    pub(super) fn new(json: Json, shapes: &[FieldShape]) -> Result<Self, ReadProblem> {
        let known: Vec<&str> = shapes.iter().map(|shape| shape.name).collect();
        let Json::Object(entries) = json else {
            let example = format!("give its fields in {{ }}: {}", known.join(", "));
            return Err(ReadProblem::new(json.shown(), example));
        };
        known_once(&entries, &known)?;
        let absent =
            |shape: &&FieldShape| !shape.is_optional && entries.iter().all(|(name, _)| name != shape.name);
        if let Some(missing) = shapes.iter().find(absent) {
            return Err(ReadProblem::new(format!("missing field \"{}\"", missing.name), "add it"));
        }
        Ok(Self(entries))
    }

    /// The value of a field, which is read once.
    pub(in crate::event) fn read<T: FromJson>(&mut self, field: &str) -> Result<T, ReadProblem> {
        let place = self.0.iter().position(|(name, _)| name == field);
        let given = place.map(|place| self.0.swap_remove(place).1);
        T::from_field(given).map_err(|problem| problem.under(field))
    }
}

/// Refuses a name that is not known or comes twice.
pub(super) fn known_once(entries: &[(String, Json)], known: &[&str]) -> Result<(), ReadProblem> {
    if let Some((name, _)) = entries.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(unknown("field", name, known));
    }
    let twice =
        entries.iter().enumerate().find(|(i, (name, _))| entries[..*i].iter().any(|(n, _)| n == name));
    match twice {
        Some((_, (name, _))) => Err(ReadProblem::new(format!("\"{name}\" is there twice"), "keep one")),
        None => Ok(()),
    }
}

/// The type of a field, as it is read.
pub(in crate::event) trait FromJson: Sized {
    fn from_json(json: Json) -> Result<Self, ReadProblem>;

    /// The same for a field that may have been left out.
    fn from_field(json: Option<Json>) -> Result<Self, ReadProblem> {
        Self::from_json(json.unwrap_or(Json::Null))
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        T::from_json(json).map(Some)
    }

    fn from_field(json: Option<Json>) -> Result<Self, ReadProblem> {
        json.map(T::from_json).transpose()
    }
}

impl FromJson for f64 {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        match json {
            Json::Whole(value) => Ok(value as Self),
            Json::Real(value) => Ok(value),
            other => Err(ReadProblem::new(other.shown(), "give a number")),
        }
    }
}

/// The largest number up to which a float has every whole number.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A whole number; 1e12 and 10.0 are whole too, as far as a float is exact.
impl FromJson for u64 {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        match json {
            Json::Whole(value) => Ok(value),
            Json::Real(value) if value.fract() == 0.0 && (0.0..=MOST_EXACT).contains(&value) => {
                Ok(value as Self)
            }
            Json::Real(value) if value > MOST_EXACT => {
                Err(ReadProblem::new(format!("{value:e}"), "give a smaller whole number"))
            }
            other => Err(ReadProblem::new(other.shown(), "give a whole number that is not negative")),
        }
    }
}

/// A number, or "poisson".
impl FromJson for Trials {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        match json {
            Json::Text(name) if name == POISSON => Ok(Self(f64::INFINITY)),
            other => f64::from_json(other).map(Self),
        }
    }
}

/// A list, its items read one by one.
fn list<T: FromJson>(json: Json, remedy: &str) -> Result<Vec<T>, ReadProblem> {
    let Json::List(items) = json else {
        return Err(ReadProblem::new("", remedy));
    };
    let item = |(index, item)| T::from_json(item).map_err(|problem| problem.at(index));
    items.into_iter().enumerate().map(item).collect()
}

impl FromJson for Vec<f64> {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        list(json, "give a list of numbers in [ ]")
    }
}

impl FromJson for Vec<u64> {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        list(json, "give a list of whole numbers in [ ]")
    }
}

impl FromJson for Box<Event> {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        event(json).map(Self::new)
    }
}

impl FromJson for Vec<Event> {
    fn from_json(json: Json) -> Result<Self, ReadProblem> {
        events(json)
    }
}

macro_rules! quantities {
    ($($type:ty),*) => {
        $(impl FromJson for $type {
            fn from_json(json: Json) -> Result<Self, ReadProblem> {
                Self::try_from(f64::from_json(json)?).map_err(ReadProblem::refused)
            }
        })*
    };
}

quantities!(Delta, Epsilon, Mu, NoiseMultiplier, Order, Probability, Rho, SamplingRate, Sensitivity);
