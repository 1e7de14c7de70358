//! What happened: a list of events, or a training run in short.

mod file;
mod import;
mod run;
mod training;

pub use run::{BatchSampling, TrainingRun};
pub use training::{Sampling, TrainingShorthand};

use super::words::{EventSummary, Summary};
use crate::Refusal;
use reticent_accounting::amplification::{BatchRule, batch_rules};
use reticent_accounting::{Accountant, AccountingError, CompositionMethod};
use reticent_core::event::Knob;
use reticent_core::{Code, EventLog, InvalidValue, NoiseMultiplier, SamplingRate};
use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Activity {
    /// A list of events.
    Events(Events),
    /// A training run with clipped gradients and Gaussian noise.
    Training(TrainingShorthand),
}

/// A list of events, and what is known of where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// The events, with their relation.
    pub log: EventLog,
    /// What one unit of protection is, where a certificate says so.
    #[serde(default)]
    pub unit: Option<String>,
    /// The file they were read from, for refusals.
    #[serde(default)]
    pub file: Option<String>,
}

/// What a question leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Nothing,
    Noise,
    Steps,
    Rate,
}

/// What happened, checked.
pub(super) struct Source {
    /// The events; with an arbitrary number in place of the unknown.
    pub(super) log: EventLog,
    pub(super) origin: Origin,
}

/// Where the events come from.
pub(super) enum Origin {
    Listed { file: Option<String>, unit: Option<String> },
    Run(TrainingRun),
}

impl Source {
    /// Checks the list, or the training.
    pub(super) fn new(happened: &Activity, unknown: Unknown) -> Result<Self, Refusal> {
        match happened {
            Activity::Training(training) => {
                let run = training.checked(unknown)?;
                Ok(Self { log: run.log()?, origin: Origin::Run(run) })
            }
            Activity::Events(Events { log, unit, file }) => {
                let origin = Origin::Listed { file: file.clone(), unit: unit.clone() };
                let source = Self { log: log.clone(), origin };
                source.one_knob(unknown)?;
                Ok(source)
            }
        }
    }

    /// The training run, where one is described.
    pub(super) fn run(&self) -> Option<&TrainingRun> {
        match &self.origin {
            Origin::Listed { .. } => None,
            Origin::Run(run) => Some(run),
        }
    }

    /// What one unit of protection is, where a certificate says so.
    pub(super) fn unit(&self) -> Option<&str> {
        match &self.origin {
            Origin::Listed { unit, .. } => unit.as_deref(),
            Origin::Run(_) => None,
        }
    }

    /// What was added up in an account, for people.
    pub(super) fn summary(&self, account: &Accountant) -> Summary {
        match &self.origin {
            Origin::Run(run) => Summary::Run(run.clone()),
            Origin::Listed { .. } => {
                Summary::Events(EventSummary::of(account.tally().parts(), &self.batch_rules()))
            }
        }
    }

    /// An account of it all.
    pub(super) fn account(&self, method: CompositionMethod) -> Result<Accountant, Refusal> {
        Accountant::of_log(&self.log, method).map_err(|error| self.refused(error, method))
    }

    /// An account with this noise multiplier everywhere.
    pub(super) fn with_noise(
        &self,
        noise: f64,
        method: CompositionMethod,
    ) -> Result<Accountant, AccountingError> {
        match &self.origin {
            Origin::Run(run) => Accountant::of_log(&run.with_noise(noise)?.log()?, method),
            Origin::Listed { .. } => {
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
    pub(super) fn with_rate(
        &self,
        rate: f64,
        method: CompositionMethod,
    ) -> Result<Accountant, AccountingError> {
        match &self.origin {
            Origin::Run(run) => Accountant::of_log(&run.with_rate(rate)?.log()?, method),
            Origin::Listed { .. } => {
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
    pub(super) fn with_steps(
        &self,
        steps: u64,
        method: CompositionMethod,
    ) -> Result<Accountant, AccountingError> {
        match &self.origin {
            Origin::Run(run) => Accountant::of_log(&run.with_steps(steps).log()?, method),
            Origin::Listed { .. } => {
                let mut account = Accountant::new(self.log.neighboring, method);
                self.log.events.iter().try_for_each(|event| account.compose(event, steps))?;
                Ok(account)
            }
        }
    }

    fn varied(
        &self,
        method: CompositionMethod,
        turn: &mut dyn FnMut(Knob<'_>),
    ) -> Result<Accountant, AccountingError> {
        let mut log = self.log.clone();
        log.events.iter_mut().for_each(|event| event.turn_knobs(turn));
        Accountant::of_log(&log, method)
    }

    /// Checks that a file has the unknown, and everywhere the same.
    fn one_knob(&self, unknown: Unknown) -> Result<(), Refusal> {
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
        let refuse = |text: String| Err(Refusal::new(Code::Json, text).within(&self.label()));
        let Some(first) = seen.first() else {
            return refuse(format!("no event has a {what} to find: add one with \"{remedy}\""));
        };
        match seen.iter().find(|other| *other != first) {
            None => Ok(()),
            Some(other) => refuse(format!(
                "there are several {what}s ({first}, {other}): give all the same number, it stands for the one to find"
            )),
        }
    }

    /// The field behind the events, for refusals.
    fn label(&self) -> String {
        match &self.origin {
            Origin::Listed { file: Some(file), .. } => format!("⟦events⟧ {file}"),
            Origin::Listed { file: None, .. } => "⟦events⟧".to_owned(),
            Origin::Run(_) => "⟦noise_multiplier⟧".to_owned(),
        }
    }

    /// The refusal of an account that could not be given.
    pub(super) fn refused(&self, error: AccountingError, method: CompositionMethod) -> Refusal {
        let refusal = match &error {
            AccountingError::Invalid(InvalidValue { field, value, remedy, .. })
            | AccountingError::Impossible(InvalidValue { field, value, remedy, .. }) => {
                let own = match (*field, &self.origin) {
                    ("delta" | "epsilon" | "size", _) => Some(*field),
                    ("noise_multiplier" | "epochs", Origin::Run(_)) => Some(*field),
                    ("count", Origin::Run(_)) => Some("steps"),
                    _ => None,
                };
                match own {
                    Some(field) => Refusal::value(field, value, remedy),
                    None => {
                        let text = format!("{field} = {value}: {remedy}");
                        Refusal::new(Code::Range, text).within(&self.label())
                    }
                }
            }
            AccountingError::Unsupported { .. } => match &self.origin {
                Origin::Listed { .. } => {
                    Refusal::new(Code::Unsupported, error.to_string()).within(&self.label())
                }
                Origin::Run(_) => {
                    Refusal::value("accountant", method.name(), error.to_string()).coded(Code::Unsupported)
                }
            },
        };
        refusal.because(error)
    }

    /// How batches are drawn in any event, at any depth.
    pub(super) fn batch_rules(&self) -> Vec<BatchRule> {
        let EventLog { neighboring, events } = &self.log;
        events.iter().flat_map(|event| batch_rules(event, *neighboring)).collect()
    }
}
