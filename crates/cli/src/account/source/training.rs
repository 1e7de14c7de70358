//! A training run with clipped gradients and Gaussian noise, described by flags.

use super::Unknown;
use crate::args::account as args;
use crate::digits::exactly;
use crate::explain::Code;
use crate::fail::Fail;
use crate::read;
use reticent::core::rounding::div_up;
use reticent::core::{Event, EventLog, InvalidValue, Neighboring, NoiseMultiplier, SamplingRate};

/// A run about which nothing is left to check.
#[derive(Debug, Clone)]
pub(in crate::account) struct Training {
    /// σ / clipping norm.
    pub(in crate::account) noise: NoiseMultiplier,
    pub(in crate::account) batches: Batches,
    pub(in crate::account) neighboring: Neighboring,
    /// Number of records, where it is known.
    pub(in crate::account) dataset_size: Option<u64>,
    /// Records in a batch, where that was stated.
    pub(in crate::account) batch_size: Option<u64>,
}

/// How batches were drawn, and how many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::account) enum Batches {
    /// Every record in every batch by its own coin.
    Poisson { rate: SamplingRate, steps: u64 },
    /// Batches of fixed size, each drawn anew.
    WithoutReplacement { dataset_size: u64, batch_size: u64, steps: u64 },
    /// Batches cut from a shuffled list.
    Shuffled { per_epoch: u64, epochs: u64 },
    /// Every record thrown into one of the batches of an epoch.
    BallsInBins { per_epoch: u64, epochs: u64 },
}

impl Training {
    /// Checks the flags; the unknown one is left at a value that has no meaning.
    pub(super) fn read(
        flags: &args::Source,
        neighboring: Option<Neighboring>,
        unknown: Unknown,
    ) -> Result<Self, Fail> {
        refuse_unknown(flags, unknown)?;
        let neighboring = neighboring.unwrap_or(Neighboring::AddRemove);
        let noise = match (&flags.noise_multiplier, unknown) {
            (Some(text), _) => noise(text)?,
            (None, Unknown::Noise) => NoiseMultiplier::new(1.0)?,
            (None, _) => {
                let remedy = "say how much noise a step had, e.g. --noise-multiplier 1, or give --events";
                return Err(Fail::missing("--noise-multiplier", remedy));
            }
        };
        let dataset_size = flags.dataset_size.as_deref().map(|t| count("--dataset-size", t)).transpose()?;
        let batch_size = flags.batch_size.as_deref().map(|t| count("--batch-size", t)).transpose()?;
        let sizes = sizes(flags, dataset_size, batch_size)?;
        let batches = match flags.sampling.as_deref().unwrap_or("poisson") {
            "poisson" => Batches::Poisson { rate: rate(flags, sizes)?, steps: steps(flags, sizes)? },
            name @ ("without-replacement" | "shuffled" | "balls-in-bins") => {
                let Some((records, batch)) = sizes else {
                    let remedy = "give --dataset-size and --batch-size with it";
                    return Err(Fail::conflict("--sampling", name, remedy));
                };
                fixed(name, flags, records, batch, neighboring)?
            }
            other => {
                let remedy = "unknown: give poisson, shuffled, without-replacement or balls-in-bins";
                return Err(Fail::unknown("--sampling", other, remedy));
            }
        };
        Ok(Self { noise, batches, neighboring, dataset_size, batch_size })
    }

    /// The events of the run.
    pub(in crate::account) fn log(&self) -> Result<EventLog, InvalidValue> {
        // Under add-remove a clipped sum is Gaussian noise of this multiplier.
        let noise_multiplier = self.noise;
        let gaussian = match self.neighboring {
            Neighboring::AddRemove => Event::Gaussian { noise_multiplier },
            Neighboring::ReplaceOne => Event::ClippedSum { noise_multiplier },
        };
        let repeated = |count, event| Event::Repeated { count, event: Box::new(event) };
        let event = match self.batches {
            Batches::Poisson { rate, steps } if rate.get() == 1.0 => repeated(steps, gaussian),
            Batches::Poisson { rate, steps } => {
                repeated(steps, Event::PoissonSampled { rate, event: Box::new(gaussian) })
            }
            Batches::WithoutReplacement { dataset_size, batch_size, steps } => {
                let event = Box::new(gaussian);
                repeated(steps, Event::SampledWithoutReplacement { dataset_size, batch_size, event })
            }
            Batches::Shuffled { per_epoch, epochs } => {
                Event::Shuffled { steps_per_epoch: per_epoch, epochs, event: Box::new(gaussian) }
            }
            Batches::BallsInBins { per_epoch, epochs } => {
                Event::BallsInBins { bins: per_epoch, epochs, event: Box::new(gaussian) }
            }
        };
        event.validate()?;
        Ok(EventLog { neighboring: self.neighboring, events: vec![event] })
    }

    /// Number of steps in all.
    pub(in crate::account) fn steps(&self) -> u64 {
        match self.batches {
            Batches::Poisson { steps, .. } | Batches::WithoutReplacement { steps, .. } => steps,
            Batches::Shuffled { per_epoch, epochs } | Batches::BallsInBins { per_epoch, epochs } => {
                per_epoch.saturating_mul(epochs)
            }
        }
    }

    /// The same run with another noise multiplier.
    pub(in crate::account) fn with_noise(&self, noise: f64) -> Result<Self, InvalidValue> {
        Ok(Self { noise: NoiseMultiplier::new(noise)?, ..self.clone() })
    }

    /// The same run with another number of steps; of whole epochs, where batches come by the epoch.
    pub(in crate::account) fn with_steps(&self, count: u64) -> Self {
        let mut batches = self.batches;
        match &mut batches {
            Batches::Poisson { steps, .. } | Batches::WithoutReplacement { steps, .. } => *steps = count,
            Batches::Shuffled { per_epoch, epochs } | Batches::BallsInBins { per_epoch, epochs } => {
                *epochs = count.div_ceil(*per_epoch);
            }
        }
        Self { batches, ..self.clone() }
    }

    /// The same run with another rate of Poisson sampling.
    pub(in crate::account) fn with_rate(&self, rate: f64) -> Result<Self, InvalidValue> {
        let rate = SamplingRate::new(rate)?;
        Ok(Self { batches: Batches::Poisson { rate, steps: self.steps() }, ..self.clone() })
    }
}

/// Refuses flags for what the question is about to find.
fn refuse_unknown(flags: &args::Source, unknown: Unknown) -> Result<(), Fail> {
    let given: &[(&str, &Option<String>)] = match unknown {
        Unknown::Nothing => &[],
        Unknown::Noise => &[("--noise-multiplier", &flags.noise_multiplier)],
        Unknown::Steps => &[("--steps", &flags.steps), ("--epochs", &flags.epochs)],
        Unknown::Rate => &[("--sampling-rate", &flags.sampling_rate), ("--batch-size", &flags.batch_size)],
    };
    for (flag, value) in given {
        if let Some(value) = value {
            return Err(Fail::conflict(flag, value, "leave it out: it is what this command finds"));
        }
    }
    if unknown == Unknown::Rate {
        if let Some(epochs) = &flags.epochs {
            let remedy = "give --steps instead: the length of an epoch depends on the rate to find";
            return Err(Fail::conflict("--epochs", epochs, remedy));
        }
        if let Some(name) = flags.sampling.as_deref().filter(|name| *name != "poisson") {
            return Err(Fail::conflict("--sampling", name, "leave it out: a rate is for poisson sampling"));
        }
    }
    Ok(())
}

fn noise(text: &str) -> Result<NoiseMultiplier, Fail> {
    NoiseMultiplier::new(read::number("--noise-multiplier", text)?).map_err(|_| {
        Fail::flag("--noise-multiplier", text, "give a number above 0: without noise nothing is private")
    })
}

/// A whole number of at least 1; 1e6 is one too.
pub(in crate::account) fn count(flag: &str, text: &str) -> Result<u64, Fail> {
    let refuse = || Fail::flag(flag, text, "give a whole number of at least 1");
    match text.trim().parse::<u64>() {
        Ok(0) => Err(refuse()),
        Ok(count) => Ok(count),
        Err(_) => {
            let number = read::number(flag, text)?;
            if number < 1.0 || number.fract() != 0.0 {
                return Err(refuse());
            }
            if number > (1u64 << 53) as f64 {
                return Err(Fail::flag(flag, text, "give a smaller number, at most 2^53"));
            }
            Ok(number as u64)
        }
    }
}

/// Number of records and size of a batch, where both are stated.
fn sizes(flags: &args::Source, records: Option<u64>, batch: Option<u64>) -> Result<Option<(u64, u64)>, Fail> {
    if let (Some(_), Some(text)) = (&flags.sampling_rate, &flags.batch_size) {
        let remedy = "give either --sampling-rate or --batch-size with --dataset-size, not both";
        return Err(Fail::conflict("--batch-size", text, remedy));
    }
    match (records, batch) {
        (Some(records), Some(batch)) if batch > records => {
            let text = flags.batch_size.as_deref().unwrap_or_default();
            Err(Fail::flag("--batch-size", text, format!("give at most --dataset-size {records}")))
        }
        (Some(records), Some(batch)) => Ok(Some((records, batch))),
        (None, Some(_)) => {
            Err(Fail::missing("--dataset-size", "with --batch-size it sets the sampling rate"))
        }
        (Some(_), None) if flags.epochs.is_some() && flags.sampling_rate.is_none() => {
            Err(Fail::missing("--batch-size", "with --dataset-size it sets how many steps an epoch has"))
        }
        (_, None) => Ok(None),
    }
}

fn rate(flags: &args::Source, sizes: Option<(u64, u64)>) -> Result<SamplingRate, Fail> {
    let rate = match (&flags.sampling_rate, sizes) {
        (Some(text), _) => {
            let rate = read::number("--sampling-rate", text)?;
            if !(rate > 0.0 && rate <= 1.0) {
                return Err(Fail::flag("--sampling-rate", text, "give a number above 0 and at most 1"));
            }
            rate
        }
        // Rounded up, as a larger rate costs more.
        (None, Some((records, batch))) => div_up(batch as f64, records as f64).min(1.0),
        (None, None) => 1.0,
    };
    Ok(SamplingRate::new(rate)?)
}

/// Steps as stated, or as many as the epochs have.
fn steps(flags: &args::Source, sizes: Option<(u64, u64)>) -> Result<u64, Fail> {
    match (&flags.steps, &flags.epochs) {
        (Some(_), Some(epochs)) => {
            Err(Fail::conflict("--epochs", epochs, "give either --steps or --epochs, not both"))
        }
        (Some(text), None) => count("--steps", text),
        (None, None) => Ok(1),
        (None, Some(text)) => {
            let epochs = read::number("--epochs", text)?;
            if epochs <= 0.0 {
                return Err(Fail::flag("--epochs", text, "give a number above 0"));
            }
            let steps = match sizes {
                Some((records, batch)) => epochs * records as f64 / batch as f64,
                None => epochs / rate(flags, sizes)?.get(),
            };
            // A last bit of rounding is not another step.
            let nearest = steps.round();
            let steps = if (steps - nearest).abs() <= 1e-9 * nearest { nearest } else { steps.ceil() };
            if steps > (1u64 << 53) as f64 {
                let remedy = format!("give fewer: these are {} steps", exactly(steps));
                return Err(Fail::flag("--epochs", text, remedy));
            }
            Ok((steps as u64).max(1))
        }
    }
}

/// Batches of fixed size.
fn fixed(
    name: &str,
    flags: &args::Source,
    records: u64,
    batch: u64,
    neighboring: Neighboring,
) -> Result<Batches, Fail> {
    let steps = steps(flags, Some((records, batch)))?;
    if name == "without-replacement" {
        if neighboring == Neighboring::AddRemove {
            let remedy = "give --neighboring replace-one: fixed batches are accounted under that relation";
            return Err(Fail::flag("--sampling", name, remedy).coded(Code::Relation));
        }
        return Ok(Batches::WithoutReplacement { dataset_size: records, batch_size: batch, steps });
    }
    let per_epoch = records.div_ceil(batch);
    // A pass that is begun counts as a whole one.
    let epochs = match &flags.epochs {
        Some(text) => read::number("--epochs", text)?.ceil() as u64,
        None => steps.div_ceil(per_epoch),
    };
    Ok(match name {
        "shuffled" => Batches::Shuffled { per_epoch, epochs },
        _ => Batches::BallsInBins { per_epoch, epochs },
    })
}
