//! The settings that are searched.

use crate::refusal::Refusal;
use crate::train::{Train, settle};
use reticent_noise::entropy::Bits;
use reticent_noise::sampler::uniform_below;
use serde_json::{Map, Value, json};

/// Settings that change nothing about the cost of a trial: neither the sampling rate nor the number of steps nor the ratio of noise to
/// clipping norm.
const FREE: &[&str] = &[
    "learning-rate",
    "clip",
    "clipping",
    "momentum",
    "weight-decay",
    "label-smoothing",
    "optimizer",
    "schedule",
    "warmup",
    "average",
    "model",
];

/// Those of them that are names.
const NAMES: &[&str] = &["clipping", "optimizer", "schedule", "model"];

/// Settings that decide what a trial costs, and may be searched as lists: every combination is a candidate of the price.
const COSTLY: &[&str] = &["epochs", "steps", "batch-size"];

/// Settings of the whole search.
const FIXED: &[&str] = &["noise-multiplier", "epsilon", "delta", "dataset-size"];

/// The most candidates of a price.
const MOST_CANDIDATES: usize = 16;

/// Those that are numbers of something.
const WHOLE: &[&str] = &["steps", "batch-size"];

/// The largest of those: doubles have all whole numbers up to it.
const MOST_WHOLE: f64 = (1u64 << 40) as f64;

/// The most combinations that are checked before anything is drawn.
const MOST_CHECKED: usize = 4096;

/// The values of one setting.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// One of these, each as likely.
    Choices(Vec<Value>),
    /// A number from the first to the second, uniform, or uniform in its logarithm.
    Range { low: f64, high: f64, is_log: bool },
}

/// The settings that are searched, by their keys in `run.toml`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Search {
    settings: Vec<(String, Values)>,
}

/// The values that were drawn.
pub(crate) type Drawn = Map<String, Value>;

impl Search {
    /// Reads `lr=0.5..8 log, clip=0.1|0.5|1`.
    pub(crate) fn read(text: &str) -> Result<Self, Refusal> {
        let example = "give settings as in \"lr=0.5..8 log, clip=0.1|0.5|1\"";
        let refuse = |part: &str, why: &str| Refusal::value("search", part.trim(), why);
        let mut settings: Vec<(String, Values)> = Vec::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let Some((key, values)) = part.split_once('=') else { return Err(refuse(part, example)) };
            let key = match key.trim().replace('_', "-") {
                short if short == "lr" => "learning-rate".to_owned(),
                key => key,
            };
            if FIXED.contains(&key.as_str()) {
                let why = format!(
                    "{key} belongs to the whole search: give it as ⟦{}⟧, and search {}",
                    key.replace('-', "_"),
                    known()
                );
                return Err(refuse(part, &why));
            }
            if !FREE.contains(&key.as_str()) && !COSTLY.contains(&key.as_str()) {
                return Err(refuse(part, &format!("{key} cannot be searched: give {}", known())));
            }
            if settings.iter().any(|(known, _)| *known == key) {
                return Err(refuse(part, &format!("{key} is searched twice: give it once")));
            }
            settings.push((key.clone(), values_of(&key, values, part)?));
        }
        if settings.is_empty() {
            return Err(Refusal::missing("search", example));
        }
        let found = Self { settings };
        if found.has("epochs") && found.has("steps") {
            return Err(refuse(text, "epochs and steps say the same: search one of them"));
        }
        let candidates: usize = found.costly().map(|(_, values)| values.len()).product();
        if candidates > MOST_CANDIDATES {
            let why = format!(
                "{candidates} combinations of epochs, steps and batch size: give at most {MOST_CANDIDATES}, as each has a price"
            );
            return Err(refuse(text, &why));
        }
        Ok(found)
    }

    fn has(&self, key: &str) -> bool {
        self.settings.iter().any(|(known, _)| known == key)
    }

    /// The settings that decide what a trial costs.
    fn costly(&self) -> impl Iterator<Item = (&String, &[Value])> {
        self.settings.iter().filter(|(key, _)| COSTLY.contains(&key.as_str())).filter_map(|(key, values)| {
            match values {
                Values::Choices(choices) => Some((key, &choices[..])),
                Values::Range { .. } => None,
            }
        })
    }

    /// Settings drawn at random, without regard to any data.
    pub(crate) fn draw<B: Bits>(&self, bits: &mut B) -> Drawn {
        let mut drawn = Drawn::new();
        for (key, values) in &self.settings {
            let value = match values {
                Values::Choices(choices) => {
                    choices[uniform_below(bits, choices.len() as u64) as usize].clone()
                }
                Values::Range { low, high, is_log } => {
                    let share = uniform_below(bits, 1 << 53) as f64 / (1u64 << 53) as f64;
                    let value =
                        if *is_log { low * (high / low).powf(share) } else { low + share * (high - low) };
                    number(key, rounded(value).clamp(*low, *high))
                }
            };
            drawn.insert(key.clone(), value);
        }
        drawn
    }

    /// Combinations that speak for all: every choice with both ends of every range.
    fn corners(&self) -> Result<Vec<Drawn>, Refusal> {
        let mut corners = vec![Drawn::new()];
        for (key, values) in &self.settings {
            let ends = match values {
                Values::Choices(choices) => choices.clone(),
                Values::Range { low, high, .. } => vec![number(key, *low), number(key, *high)],
            };
            if corners.len() * ends.len() > MOST_CHECKED {
                let why = format!("more than {MOST_CHECKED} combinations: search fewer settings at once");
                return Err(Refusal::value("search", key, why));
            }
            corners = combined(&corners, key, &ends);
        }
        Ok(corners)
    }

    /// Refuses settings without meaning, before anything is charged, and returns the trainings at the corners of what is searched.
    pub(crate) fn check(&self, base: &Train) -> Result<Vec<Train>, Refusal> {
        let mut found = Vec::new();
        for drawn in self.corners()? {
            let mut run = with(base, &drawn)?;
            settle(&mut run).map_err(|refusal| {
                let shown: Vec<String> =
                    drawn.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                refusal.within(&format!("⟦search⟧ ({})", shown.join(", ")))
            })?;
            found.push(run);
        }
        Ok(found)
    }

    /// As [`read`](Self::read) reads it.
    pub(crate) fn to_text(&self) -> String {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let one = |(key, values): &(String, Values)| match values {
            Values::Choices(choices) => {
                format!("{key}={}", choices.iter().map(plain).collect::<Vec<_>>().join("|"))
            }
            Values::Range { low, high, is_log } => {
                format!("{key}={low}..{high}{}", if *is_log { " log" } else { "" })
            }
        };
        self.settings.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The keys that are searched.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> Vec<&str> {
        self.settings.iter().map(|(key, _)| key.as_str()).collect()
    }
}

/// Each of these settings with each value of one setting more.
fn combined(settings: &[Drawn], key: &str, values: &[Value]) -> Vec<Drawn> {
    let with = |known: &Drawn, value: &Value| {
        let mut more = known.clone();
        more.insert(key.to_owned(), value.clone());
        more
    };
    settings.iter().flat_map(|known| values.iter().map(move |value| with(known, value))).collect()
}

/// What can be searched, for messages.
fn known() -> String {
    [FREE, COSTLY].concat().join(", ")
}

/// A training with these settings in place of its own.
pub(crate) fn with(base: &Train, drawn: &Drawn) -> Result<Train, Refusal> {
    let mut all = serde_json::to_value(base).map_err(Refusal::internal)?;
    if let Some(all) = all.as_object_mut() {
        // One of the two says how long a trial is.
        for (key, other) in [("epochs", "steps"), ("steps", "epochs")] {
            if drawn.contains_key(key) {
                all.remove(other);
            }
        }
        all.extend(drawn.clone());
    }
    serde_json::from_value(all).map_err(Refusal::internal)
}

fn values_of(key: &str, text: &str, part: &str) -> Result<Values, Refusal> {
    let refuse = |why: &str| Refusal::value("search", part.trim(), why);
    let text = text.trim();
    let choice = |text: &str| -> Result<Value, Refusal> {
        let text = text.trim();
        if NAMES.contains(&key) {
            return match text.is_empty() {
                true => Err(refuse("give names, as in optimizer=sgd|adam")),
                false => Ok(json!(text)),
            };
        }
        let value = real(text).ok_or_else(|| refuse("give numbers, as in clip=0.1|0.5|1"))?;
        if WHOLE.contains(&key) && !(value >= 1.0 && value.fract() == 0.0 && value <= MOST_WHOLE) {
            return Err(refuse("give whole numbers from 1, as in batch-size=256|512"));
        }
        Ok(number(key, value))
    };
    let Some((low, rest)) = text.split_once("..").filter(|_| !NAMES.contains(&key)) else {
        return Ok(Values::Choices(text.split('|').map(choice).collect::<Result<_, _>>()?));
    };
    if COSTLY.contains(&key) {
        let why = format!("every value of {key} has its own noise: give a list, as in {key}=10|20|40");
        return Err(refuse(&why));
    }
    let (high, is_log) = match rest.trim().strip_suffix("log") {
        Some(high) => (high, true),
        None => (rest, false),
    };
    let (Some(low), Some(high)) = (real(low), real(high)) else {
        return Err(refuse("give two numbers, as in lr=0.5..8 or lr=0.5..8 log"));
    };
    if low >= high || (is_log && low <= 0.0) {
        return Err(refuse("give the smaller number first, above 0 with log"));
    }
    Ok(Values::Range { low, high, is_log })
}

fn real(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A number as the key has it.
fn number(key: &str, value: f64) -> Value {
    match key {
        "warmup" | "steps" | "batch-size" if value >= 0.0 => json!(value.round() as u64),
        _ => json!(value),
    }
}

/// To three digits, so that what is shown is what was used.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}
