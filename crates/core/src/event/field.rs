//! What is done with the fields of events, by their types.

use super::Event;
use crate::{Delta, Epsilon, Mu, NoiseMultiplier, Order, Probability, Rho, SamplingRate, Sensitivity};

/// A number in an event that calibration may set.
#[derive(Debug, PartialEq)]
pub enum Knob<'a> {
    /// A noise multiplier.
    Noise(&'a mut NoiseMultiplier),
    /// The rate of a sample.
    Rate(&'a mut SamplingRate),
}

/// The type of a field.
pub(super) trait Field: Sized + Clone {
    /// Whether it holds events.
    const HOLDS_EVENTS: bool = false;
    /// Whether it may be left out in JSON.
    const IS_OPTIONAL: bool = false;

    /// Writes words that tell it from every other value of its type, and that begin no longer list of words for another:
    /// so the words of several fields, one after the other, tell those apart.
    fn write_key(&self, key: &mut Vec<u64>);

    fn events(&self) -> &[Event] {
        &[]
    }

    fn mapped<E>(&self, _each: &mut dyn FnMut(&Event) -> Result<Event, E>) -> Result<Self, E> {
        Ok(self.clone())
    }

    fn knobs(&mut self, _turn: &mut dyn FnMut(Knob<'_>)) {}
}

impl Field for u64 {
    fn write_key(&self, key: &mut Vec<u64>) {
        key.push(*self);
    }
}

impl Field for f64 {
    fn write_key(&self, key: &mut Vec<u64>) {
        // Numbers that are equal have equal words: 0 and −0.
        key.push((self + 0.0).to_bits());
    }
}

impl<T: Field> Field for Option<T> {
    const IS_OPTIONAL: bool = true;

    fn write_key(&self, key: &mut Vec<u64>) {
        key.push(u64::from(self.is_some()));
        if let Some(value) = self {
            value.write_key(key);
        }
    }
}

impl Field for Vec<f64> {
    fn write_key(&self, key: &mut Vec<u64>) {
        key.push(self.len() as u64);
        self.iter().for_each(|value| value.write_key(key));
    }
}

impl Field for Vec<u64> {
    fn write_key(&self, key: &mut Vec<u64>) {
        key.push(self.len() as u64);
        key.extend(self);
    }
}

impl Field for Box<Event> {
    const HOLDS_EVENTS: bool = true;

    fn write_key(&self, key: &mut Vec<u64>) {
        (**self).write_key(key);
    }

    fn events(&self) -> &[Event] {
        std::slice::from_ref(&**self)
    }

    fn mapped<E>(&self, each: &mut dyn FnMut(&Event) -> Result<Event, E>) -> Result<Self, E> {
        each(self).map(Self::new)
    }

    fn knobs(&mut self, turn: &mut dyn FnMut(Knob<'_>)) {
        self.turn_knobs(turn);
    }
}

impl Field for Vec<Event> {
    const HOLDS_EVENTS: bool = true;

    fn write_key(&self, key: &mut Vec<u64>) {
        key.push(self.len() as u64);
        self.iter().for_each(|event| event.write_key(key));
    }

    fn events(&self) -> &[Event] {
        self
    }

    fn mapped<E>(&self, each: &mut dyn FnMut(&Event) -> Result<Event, E>) -> Result<Self, E> {
        self.iter().map(each).collect()
    }

    fn knobs(&mut self, turn: &mut dyn FnMut(Knob<'_>)) {
        self.iter_mut().for_each(|event| event.turn_knobs(turn));
    }
}

impl Field for NoiseMultiplier {
    fn write_key(&self, key: &mut Vec<u64>) {
        self.get().write_key(key);
    }

    fn knobs(&mut self, turn: &mut dyn FnMut(Knob<'_>)) {
        turn(Knob::Noise(self));
    }
}

impl Field for SamplingRate {
    fn write_key(&self, key: &mut Vec<u64>) {
        self.get().write_key(key);
    }

    fn knobs(&mut self, turn: &mut dyn FnMut(Knob<'_>)) {
        turn(Knob::Rate(self));
    }
}

/// Quantities that are only numbers.
macro_rules! quantities {
    ($($type:ty),*) => {
        $(impl Field for $type {
            fn write_key(&self, key: &mut Vec<u64>) {
                self.get().write_key(key);
            }
        })*
    };
}

quantities!(Delta, Epsilon, Mu, Order, Probability, Rho, Sensitivity);
