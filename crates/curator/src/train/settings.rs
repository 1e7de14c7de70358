//! The numbers of a run, checked before any data are read.

use super::encoding::{self, NoiseSettings};
use super::request::Train;
use super::{augment, cyclic, federated, growth, held_out, reference, start, text};
use crate::quantity;
use crate::refusal::Refusal;
use reticent_core::{Delta, Guarantee, Neighboring};
use reticent_train::{
    Adam, AdversarialSettings, BatchGrowth, Clipping, Decay, Device, LocalTraining, OptimizerSettings,
    QuantileClipping, Recipe, Schedule,
};

/// Below this ε, training is all noise.
const LEAST_EPSILON: f64 = 1e-3;

/// What the learning rate falls to, as a share of its full size, where it falls evenly in its logarithm.
const EXPONENTIAL_END: f64 = 0.01;

/// How much privacy a run has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// Noise is calibrated to this.
    Target(Guarantee),
    /// Noise is given, and what it costs is told at δ.
    Noise { multiplier: f64, delta: Delta },
    /// No protection.
    None,
}

/// How often the run is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CheckpointInterval {
    Steps(u64),
    Epochs(u64),
}

/// Checked settings.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) budget: Budget,
    pub(crate) neighboring: Neighboring,
    /// The rule by norm; [`clipping_for`](Self::clipping_for) has the one that is asked for.
    clipping: Clipping,
    /// The law of the noise, encoding and denoising.
    pub(crate) noise: NoiseSettings,
    pub(crate) recipe: Recipe,
    /// Whether batches come round in every epoch, with correlated noise.
    pub(crate) is_cyclic: bool,
    /// How batches grow, where they do.
    pub(crate) growth: Option<BatchGrowth>,
    /// What each party of a federation does by itself; the recipe is then the server's.
    pub(crate) local: Option<LocalTraining>,
    /// The training against an inference network.
    pub(crate) adversarial: Option<AdversarialSettings>,
    /// None for every report.
    pub(crate) every: Option<CheckpointInterval>,
    /// Whether the learning rate follows from the number of units.
    pub(crate) rate_by_size: bool,
    /// How many scores on held-out units during the run are paid for.
    pub(crate) evaluations: Option<u64>,
}

impl Settings {
    /// What one unit can add to the sum of a model with so many trained weights.
    pub(crate) fn clipping_for(&self, dimension: usize) -> Result<Clipping, Refusal> {
        self.noise.encoding.map_or_else(|| Ok(self.clipping.clone()), |own| own.clipping(dimension))
    }
}

/// Checks a run and fills in its defaults.
pub(crate) fn settle(run: &mut Train) -> Result<Settings, Refusal> {
    let rate_by_size = text::settle(run);
    let budget = budget_of(run)?;
    start::settle(run, budget)?;
    let neighboring = quantity::neighboring(run.neighboring.as_deref().unwrap_or("add-remove"))?;
    if let Some(size) = run.dataset_size
        && (neighboring == Neighboring::ReplaceOne || budget == Budget::None)
    {
        let why = if budget == Budget::None { "without privacy" } else { "under replace-one" };
        let remedy = format!("{why} the exact number of rows is used: leave it out");
        return Err(Refusal::conflict("dataset_size", size, remedy));
    }
    held_out::settle(run, budget, neighboring)?;
    let mut clipping = clipping(run)?;
    let mut recipe = recipe(run)?;
    augment::settle(run, &mut clipping, &mut recipe)?;
    let is_cyclic = cyclic::settle(run, budget, neighboring)?;
    let growth = growth::settle(run, budget)?;
    let noise = encoding::settle(run, budget, neighboring, clipping.norm())?;
    recipe.denoise = noise.denoise;
    let local = federated::settle(run, budget, &mut recipe)?;
    let adversarial = reference::settle(run, budget)?;
    if let Some(smoothing) = run.label_smoothing
        && !(0.0..1.0).contains(&smoothing)
    {
        let remedy = "give a share from 0 to below 1, such as 0.1";
        return Err(Refusal::value("label_smoothing", smoothing, remedy));
    }
    if let (Some(epochs), Some(_)) = (run.epochs, run.steps) {
        return Err(Refusal::conflict("epochs", epochs, "give ⟦epochs⟧ or ⟦steps⟧, not both"));
    }
    if run.steps.is_none() {
        let epochs = *run.epochs.get_or_insert(20.0);
        if !(epochs > 0.0 && epochs <= 1e6) {
            return Err(Refusal::value("epochs", epochs, "give a number above 0 and at most 1e6"));
        }
    }
    if run.patience == Some(0) {
        return Err(Refusal::value("patience", 0, "give a number of scores, at least 1"));
    }
    let every = run.checkpoint_every.as_deref().map(every).transpose()?;
    // Whether there are public data to stop by is known when they are found.
    let evaluations = None;
    Ok(Settings {
        budget,
        neighboring,
        clipping,
        noise,
        recipe,
        is_cyclic,
        growth,
        local,
        adversarial,
        every,
        rate_by_size,
        evaluations,
    })
}

fn budget_of(run: &Train) -> Result<Budget, Refusal> {
    if !run.is_private() {
        for (field, value) in
            [("epsilon", run.epsilon), ("delta", run.delta), ("noise_multiplier", run.noise_multiplier)]
        {
            if let Some(value) = value {
                let remedy = "a run with ⟦non_private⟧ has no guarantee: leave it out";
                return Err(Refusal::conflict(field, value, remedy));
            }
        }
        return Ok(Budget::None);
    }
    let delta = |delta: Option<f64>| match delta {
        Some(value) => quantity::delta(value),
        None => Err(Refusal::missing(
            "delta",
            "Gaussian noise needs a delta, well below 1 / number of rows, e.g. ⟦delta⟧ 1e-6",
        )),
    };
    match (run.epsilon, run.noise_multiplier) {
        (Some(_), Some(multiplier)) => {
            let remedy = "give this or ⟦epsilon⟧, not both: epsilon determines the noise multiplier";
            Err(Refusal::conflict("noise_multiplier", multiplier, remedy))
        }
        (Some(epsilon), None) => {
            let epsilon = quantity::epsilon(epsilon, LEAST_EPSILON)?;
            Ok(Budget::Target(Guarantee { epsilon, delta: delta(run.delta)? }))
        }
        (None, Some(multiplier)) if multiplier > 0.0 && multiplier.is_finite() => {
            Ok(Budget::Noise { multiplier, delta: delta(run.delta)? })
        }
        (None, Some(multiplier)) => {
            let remedy =
                "give a number above 0: without noise there is no guarantee (use ⟦non_private⟧ for that)";
            Err(Refusal::value("noise_multiplier", multiplier, remedy))
        }
        (None, None) => Err(Refusal::missing(
            "epsilon",
            "give a privacy budget, e.g. ⟦epsilon⟧ 3 ⟦delta⟧ 1e-6, or ⟦non_private⟧",
        )),
    }
}

fn clipping(run: &mut Train) -> Result<Clipping, Refusal> {
    let norm = *run.clip.get_or_insert(1.0);
    if !(norm > 0.0 && norm.is_finite()) {
        let remedy = "give a clipping norm above 0, such as 1";
        return Err(Refusal::value("clip", norm, remedy));
    }
    let mode = run.clipping.get_or_insert_with(|| "flat".to_owned()).clone();
    let rule = match mode.as_str() {
        "flat" => Clipping::Flat { norm },
        "per-layer" => Clipping::PerLayer { norm },
        "automatic" => Clipping::Automatic { norm, stability: 0.01 },
        "quantile" => quantile(run, norm)?,
        // The profile needs the number of weights.
        "encoded" => Clipping::Flat { norm },
        other => {
            let remedy = "unknown: give flat, per-layer, automatic, quantile or encoded";
            return Err(Refusal::unknown("clipping", other, remedy));
        }
    };
    if let (Some(quantile), false) = (run.clip_quantile, matches!(rule, Clipping::Quantile(_))) {
        return Err(Refusal::conflict(
            "clip_quantile",
            quantile,
            "only with ⟦clipping⟧ quantile: leave it out",
        ));
    }
    rule.check()?;
    Ok(rule)
}

/// Quantile clipping, where it can be used.
fn quantile(run: &Train, norm: f64) -> Result<Clipping, Refusal> {
    for (refused, remedy) in [
        (
            run.device.is_some_and(|device| device != Device::Cpu),
            "unclipped gradients are counted on the CPU alone: leave ⟦device⟧ out, or give another clipping",
        ),
        (run.federated.is_some(), "parties clip to a fixed norm: give flat, per-layer or automatic"),
        (
            run.neighboring.as_deref() == Some("replace-one"),
            "its cost is known under add-remove alone: give ⟦neighboring⟧ add-remove, or another clipping",
        ),
    ] {
        if refused {
            return Err(Refusal::conflict("clipping", "quantile", remedy));
        }
    }
    let usual = QuantileClipping::new(norm);
    Ok(Clipping::Quantile(QuantileClipping {
        quantile: run.clip_quantile.unwrap_or(usual.quantile),
        ..usual
    }))
}

fn recipe(run: &mut Train) -> Result<Recipe, Refusal> {
    let rule = run.optimizer.get_or_insert_with(|| "sgd".to_owned()).clone();
    if let (Some(momentum), true) = (run.momentum, rule != "sgd") {
        return Err(Refusal::conflict("momentum", momentum, "only for ⟦optimizer⟧ sgd: leave it out"));
    }
    let decay = run.weight_decay;
    let optimizer = match rule.as_str() {
        "sgd" => {
            let momentum = *run.momentum.get_or_insert(0.9);
            OptimizerSettings::Sgd { momentum, nesterov: false, weight_decay: decay.unwrap_or(0.0) }
        }
        "adam" | "adam-bc" => {
            OptimizerSettings::Adam(Adam { weight_decay: decay.unwrap_or(0.0), ..Adam::default() })
        }
        "adam-uncorrected" => OptimizerSettings::Adam(Adam {
            weight_decay: decay.unwrap_or(0.0),
            subtract_noise: false,
            ..Adam::default()
        }),
        "adamw" => OptimizerSettings::adamw(decay.unwrap_or(0.01)),
        other => {
            let remedy = "unknown: give sgd, adam, adamw, adam-bc or adam-uncorrected";
            return Err(Refusal::unknown("optimizer", other, remedy));
        }
    };
    let peak = *run.learning_rate.get_or_insert(if rule == "sgd" { 0.1 } else { 0.001 });
    let decay = match run.schedule.as_deref().unwrap_or("constant") {
        "constant" => Decay::Constant,
        "linear" => Decay::Linear { end: 0.0 },
        "cosine" => Decay::Cosine { end: 0.0 },
        "exponential" => Decay::Exponential { end: EXPONENTIAL_END },
        other => {
            return Err(Refusal::unknown(
                "schedule",
                other,
                "unknown: give constant, linear, cosine or exponential",
            ));
        }
    };
    let schedule = Schedule { peak, warm_up: run.warmup.unwrap_or(0), decay };
    let recipe = Recipe { optimizer, schedule, average: run.average, denoise: None };
    recipe.check()?;
    Ok(recipe)
}

fn every(text: &str) -> Result<CheckpointInterval, Refusal> {
    let bare = text.trim();
    let (number, epochs) = match bare.strip_suffix("epochs").or_else(|| bare.strip_suffix("epoch")) {
        Some(number) => (number, true),
        None => (bare.strip_suffix("steps").or_else(|| bare.strip_suffix("step")).unwrap_or(bare), false),
    };
    match number.trim().parse::<u64>() {
        Ok(number) if number > 0 => {
            Ok(if epochs { CheckpointInterval::Epochs(number) } else { CheckpointInterval::Steps(number) })
        }
        _ => Err(Refusal::value(
            "checkpoint_every",
            text,
            "give a number of steps, at least 1, or of epochs as in 2epochs",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_filled_in_and_mistakes_named() {
        let good = Train { epsilon: Some(3.0), delta: Some(1e-6), ..Train::default() };
        let mut run = good.clone();
        let settings = settle(&mut run).unwrap();
        assert_eq!(settings.clipping, Clipping::Flat { norm: 1.0 });
        assert_eq!((run.epochs, run.momentum, run.learning_rate), (Some(20.0), Some(0.9), Some(0.1)));
        for (bad, part) in [
            (Train { clip: Some(0.0), ..good.clone() }, "clip = 0"),
            (Train { clip: Some(-1.0), ..good.clone() }, "clip = -1"),
            (Train { non_private: Some(true), ..good.clone() }, "epsilon = 3"),
            (Train { epsilon: None, noise_multiplier: Some(0.0), ..good.clone() }, "noise_multiplier = 0"),
            (Train { noise_multiplier: Some(1.0), ..good.clone() }, "not both"),
            (Train { delta: None, ..good.clone() }, "delta"),
            (Train { epochs: Some(0.0), ..good.clone() }, "epochs = 0"),
            (Train { optimizer: Some("adma".to_owned()), ..good.clone() }, "optimizer = adma"),
            (Train { momentum: Some(1.0), ..good.clone() }, "momentum = 1"),
            (Train { average: Some(2.0), ..good.clone() }, "average = 2"),
            (Train { patience: Some(0), ..good.clone() }, "patience = 0"),
            (Train { clip_quantile: Some(0.5), ..good.clone() }, "clip_quantile = 0.5"),
            (
                Train { clipping: Some("quantile".to_owned()), clip_quantile: Some(1.0), ..good.clone() },
                "clip_quantile = 1",
            ),
            (
                Train { clipping: Some("quantile".to_owned()), device: Some(Device::Cuda), ..good.clone() },
                "on the CPU alone",
            ),
            (
                Train {
                    clipping: Some("quantile".to_owned()),
                    neighboring: Some("replace-one".to_owned()),
                    ..good.clone()
                },
                "add-remove alone",
            ),
            (Train { learning_rate: Some(-1.0), ..good.clone() }, "learning_rate = -1"),
            (Train { checkpoint_every: Some("0".to_owned()), ..good.clone() }, "checkpoint_every = 0"),
        ] {
            let line = settle(&mut bad.clone()).unwrap_err().to_string();
            assert!(line.contains(part), "{part}: {line}");
        }
        assert_eq!(every("3").unwrap(), CheckpointInterval::Steps(3));
        assert_eq!(every("2epochs").unwrap(), CheckpointInterval::Epochs(2));
    }
}
