//! The shape of a random number of trials in JSON: a number, or "poisson" for the limit of infinite shape.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) const POISSON: &str = "poisson";

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Shape {
    Number(f64),
    Name(String),
}

pub(crate) fn serialize<S: Serializer>(shape: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let shape = if *shape == f64::INFINITY { Shape::Name(POISSON.to_owned()) } else { Shape::Number(*shape) };
    shape.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    match Shape::deserialize(deserializer)? {
        Shape::Number(shape) => Ok(shape),
        Shape::Name(name) if name == POISSON => Ok(f64::INFINITY),
        Shape::Name(name) => Err(D::Error::custom(format!("shape: {name}: give a number or \"poisson\""))),
    }
}

/// A shape as the reader of files takes it.
pub(super) struct Trials(pub(super) f64);

impl From<Trials> for f64 {
    fn from(trials: Trials) -> Self {
        trials.0
    }
}
