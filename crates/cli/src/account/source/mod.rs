//! What happened, from a file of events or from the flags of a training run.

mod training;

pub(super) use training::{Batches, Training, count};

use super::events::{self, Listed};
use crate::args::account as args;
use crate::explain::Code;
use crate::fail::Fail;
use crate::read;
use reticent::accounting::{Accountant, AccountingError, Method};
use reticent::core::event::Knob;
use reticent::core::{Event, EventLog, InvalidValue, Neighboring, NoiseMultiplier, SamplingRate};

/// What a question leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Nothing,
    Noise,
    Steps,
    Rate,
}

/// What happened.
pub(super) struct Source {
    /// The events; with an arbitrary number in place of the unknown.
    pub(super) log: EventLog,
    pub(super) origin: Origin,
}

/// Where the events come from.
pub(super) enum Origin {
    File { name: String, unit: Option<String> },
    Flags(Training),
}

impl Source {
    /// Reads the file, or the flags.
    pub(super) fn read(flags: &args::Source, unknown: Unknown) -> Result<Self, Fail> {
        let neighboring = flags.neighboring.as_deref().map(read::neighboring).transpose()?;
        let Some(path) = &flags.events else {
            if unknown != Unknown::Noise && shorthand(flags).next().is_none() {
                let remedy = "say what happened: a JSON file here, or --noise-multiplier and the like";
                return Err(Fail::missing("--events", remedy));
            }
            let training = Training::read(flags, neighboring, unknown)?;
            return Ok(Self { log: training.log()?, origin: Origin::Flags(training) });
        };
        let name = path.display().to_string();
        if let Some((flag, value)) = shorthand(flags).next() {
            return Err(Fail::conflict(
                flag,
                value,
                format!("leave it out: --events {name} says what happened"),
            ));
        }
        let Listed { log, unit } = events::read(path, neighboring)?;
        let source = Self { log, origin: Origin::File { name, unit } };
        source.one_knob(unknown)?;
        Ok(source)
    }

    /// The training run, where flags describe one.
    pub(super) fn training(&self) -> Option<&Training> {
        match &self.origin {
            Origin::File { .. } => None,
            Origin::Flags(training) => Some(training),
        }
    }

    /// An account of it all.
    pub(super) fn account(&self, method: Method) -> Result<Accountant, Fail> {
        Accountant::of_log(&self.log, method).map_err(|error| self.refused(error, method))
    }

    /// An account with this noise multiplier everywhere.
    pub(super) fn with_noise(&self, noise: f64, method: Method) -> Result<Accountant, AccountingError> {
        match &self.origin {
            Origin::Flags(training) => Accountant::of_log(&training.with_noise(noise)?.log()?, method),
            Origin::File { .. } => {
                let noise = NoiseMultiplier::new(noise)?;
                self.varied(method, &mut |knob| {
                    if let Knob::Noise(own) = knob {
                        *own = noise;
                    }
                })
            }
        }
    }

    /// An account with this rate everywhere.
    pub(super) fn with_rate(&self, rate: f64, method: Method) -> Result<Accountant, AccountingError> {
        match &self.origin {
            Origin::Flags(training) => Accountant::of_log(&training.with_rate(rate)?.log()?, method),
            Origin::File { .. } => {
                let rate = SamplingRate::new(rate)?;
                self.varied(method, &mut |knob| {
                    if let Knob::Rate(own) = knob {
                        *own = rate;
                    }
                })
            }
        }
    }

    /// An account of this many steps, or of so many times the whole list.
    pub(super) fn with_steps(&self, steps: u64, method: Method) -> Result<Accountant, AccountingError> {
        match &self.origin {
            Origin::Flags(training) => Accountant::of_log(&training.with_steps(steps).log()?, method),
            Origin::File { .. } => {
                let mut account = Accountant::new(self.log.neighboring, method);
                self.log.events.iter().try_for_each(|event| account.compose(event, steps))?;
                Ok(account)
            }
        }
    }

    fn varied(&self, method: Method, turn: &mut dyn FnMut(Knob<'_>)) -> Result<Accountant, AccountingError> {
        let mut log = self.log.clone();
        log.events.iter_mut().for_each(|event| event.turn_knobs(turn));
        Accountant::of_log(&log, method)
    }

    /// Checks that a file has the unknown, and everywhere the same.
    fn one_knob(&self, unknown: Unknown) -> Result<(), Fail> {
        let (what, remedy) = match unknown {
            Unknown::Nothing | Unknown::Steps => return Ok(()),
            Unknown::Noise => ("noise multiplier", "noise_multiplier"),
            Unknown::Rate => ("sampling rate", "rate"),
        };
        let mut seen: Vec<f64> = Vec::new();
        for event in &mut self.log.events.clone() {
            event.turn_knobs(&mut |knob| match (knob, unknown) {
                (Knob::Noise(noise), Unknown::Noise) => seen.push(noise.get()),
                (Knob::Rate(rate), Unknown::Rate) => seen.push(rate.get()),
                _ => {}
            });
        }
        let label = self.label();
        let Some(first) = seen.first() else {
            return Err(Fail::new(
                Code::Json,
                format!("{label}: no event has a {what} to find: add one with \"{remedy}\""),
            ));
        };
        match seen.iter().find(|other| *other != first) {
            None => Ok(()),
            Some(other) => {
                let text = format!(
                    "{label}: there are several {what}s ({first}, {other}): give all the same number, it stands for the one to find"
                );
                Err(Fail::new(Code::Json, text))
            }
        }
    }

    /// The flag behind the events, for messages.
    pub(super) fn label(&self) -> String {
        match &self.origin {
            Origin::File { name, .. } => format!("--events {name}"),
            Origin::Flags(_) => "--noise-multiplier".to_owned(),
        }
    }

    /// The line for an account that could not be given.
    pub(super) fn refused(&self, error: AccountingError, method: Method) -> Fail {
        match error {
            AccountingError::Invalid(InvalidValue { field, value, remedy })
            | AccountingError::Impossible(InvalidValue { field, value, remedy }) => {
                match (field, &self.origin) {
                    ("delta", _) => Fail::flag("--delta", &value, remedy),
                    ("epsilon", _) => Fail::flag("--epsilon", &value, remedy),
                    ("size", _) => Fail::flag("--size", &value, remedy),
                    ("noise_multiplier", Origin::Flags(_)) => {
                        Fail::flag("--noise-multiplier", &value, remedy)
                    }
                    ("count", Origin::Flags(_)) => Fail::flag("--steps", &value, remedy),
                    ("epochs", Origin::Flags(_)) => Fail::flag("--epochs", &value, remedy),
                    _ => Fail::new(Code::Range, format!("{}: {field} = {value}: {remedy}", self.label())),
                }
            }
            unsupported @ AccountingError::Unsupported { .. } => match &self.origin {
                Origin::File { .. } => {
                    Fail::new(Code::Unsupported, format!("{}: {unsupported}", self.label()))
                }
                Origin::Flags(_) => {
                    Fail::flag("--accountant", method.name(), unsupported).coded(Code::Unsupported)
                }
            },
        }
    }

    /// Whether any event, at any depth, is one of those.
    pub(super) fn any(&self, is: &dyn Fn(&Event) -> bool) -> bool {
        self.log.events.iter().flat_map(Event::walk).any(is)
    }

    /// Whether replaced records are compared.
    pub(super) fn is_replace_one(&self) -> bool {
        self.log.neighboring == Neighboring::ReplaceOne
    }
}

/// The flags of a training run that were given.
fn shorthand(flags: &args::Source) -> impl Iterator<Item = (&'static str, &str)> {
    [
        ("--noise-multiplier", &flags.noise_multiplier),
        ("--sampling-rate", &flags.sampling_rate),
        ("--steps", &flags.steps),
        ("--dataset-size", &flags.dataset_size),
        ("--batch-size", &flags.batch_size),
        ("--epochs", &flags.epochs),
        ("--sampling", &flags.sampling),
    ]
    .into_iter()
    .filter_map(|(flag, value)| value.as_deref().map(|value| (flag, value)))
}
