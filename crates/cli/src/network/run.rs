//! `run.toml`: everything to repeat a run. Its keys are the flags without their dashes.

use crate::args::learn::Train;
use crate::explain::Code;
use crate::fail::Fail;
use crate::read;
use reticent::core::{Epsilon, Event, Guarantee};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A run as it was asked for; what is absent has a default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub(super) struct Run {
    pub(super) data: Option<PathBuf>,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) schema: Option<PathBuf>,
    pub(super) validation: Option<PathBuf>,
    pub(super) text_column: Option<String>,
    pub(super) vocabulary: Option<PathBuf>,
    pub(super) length: Option<u64>,
    pub(super) label: Option<String>,
    pub(super) classes: Option<Classes>,
    pub(super) shift: Option<OneOrMore>,
    pub(super) scale: Option<OneOrMore>,
    pub(super) examples_per_user: Option<u64>,
    pub(super) model: Option<String>,
    pub(super) freeze: Option<Vec<String>>,
    pub(super) epsilon: Option<f64>,
    pub(super) delta: Option<f64>,
    pub(super) noise_multiplier: Option<f64>,
    pub(super) non_private: Option<bool>,
    pub(super) neighboring: Option<String>,
    #[serde(rename = "dataset-size", alias = "size")]
    pub(super) size: Option<u64>,
    pub(super) clip: Option<f64>,
    pub(super) clipping: Option<String>,
    pub(super) epochs: Option<f64>,
    pub(super) steps: Option<u64>,
    pub(super) batch_size: Option<u64>,
    pub(super) optimizer: Option<String>,
    pub(super) learning_rate: Option<f64>,
    pub(super) momentum: Option<f64>,
    pub(super) weight_decay: Option<f64>,
    pub(super) schedule: Option<String>,
    pub(super) warmup: Option<u64>,
    pub(super) average: Option<f64>,
    pub(super) checkpoint_every: Option<String>,
    pub(super) threads: Option<u64>,
    pub(super) out: Option<PathBuf>,
    pub(super) counted: Option<Counted>,
}

/// The number of classes, or their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Classes {
    Count(usize),
    Names(Vec<String>),
}

/// A number for all channels, or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    One(f32),
    More(Vec<f32>),
}

impl OneOrMore {
    pub(super) fn values(&self) -> Vec<f32> {
        match self {
            Self::One(value) => vec![*value],
            Self::More(values) => values.clone(),
        }
    }
}

/// A count of the rows that was made with noise, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counted {
    pub(super) size: u64,
    pub(super) epsilon: f64,
    /// As JSON.
    pub(super) events: String,
}

impl Counted {
    pub(super) fn new(size: u64, guarantee: Guarantee, events: &[Event]) -> Result<Self, Fail> {
        let events =
            serde_json::to_string(events).map_err(|error| Fail::new(Code::Internal, error.to_string()))?;
        Ok(Self { size, epsilon: guarantee.epsilon.get(), events })
    }

    pub(super) fn cost(&self) -> Result<(Vec<Event>, Guarantee), Fail> {
        let events = serde_json::from_str(&self.events).map_err(|error| {
            Fail::flag("--counted.events", &self.events, format!("{error}: give the JSON list of events"))
        })?;
        let epsilon = Epsilon::new(self.epsilon)
            .map_err(|invalid| Fail::flag("--counted.epsilon", &self.epsilon.to_string(), invalid.remedy))?;
        Ok((events, Guarantee::pure(epsilon)))
    }
}

/// The text of a file.
pub(super) fn text_of(path: &Path) -> Result<String, Fail> {
    std::fs::read_to_string(path).map_err(|error| {
        let (code, why) = match error.kind() {
            ErrorKind::NotFound => (Code::NotFound, "no such file: check the path".to_owned()),
            _ => (Code::Unreadable, format!("cannot be read: {error}")),
        };
        Fail::new(code, format!("{}: {why}", path.display()))
    })
}

impl Run {
    /// Reads a file; relative paths in it start at its folder.
    pub(super) fn read(path: &Path) -> Result<Self, Fail> {
        Self::parse(&text_of(path)?, path)
    }

    /// Reads the text of the file at `path`.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, Fail> {
        let mut run: Self = reticent::data::toml::read(text, &path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from = |path: &mut Option<PathBuf>| {
            if let Some(path) = path {
                *path = folder.join(&*path);
            }
        };
        for path in [&mut run.data_dir, &mut run.schema, &mut run.vocabulary, &mut run.out] {
            from(path);
        }
        for path in [&mut run.data, &mut run.validation] {
            // The name of a dataset is no path.
            if path.as_ref().is_some_and(|path| folder.join(path).exists() || path.extension().is_some()) {
                from(path);
            }
        }
        if let Some(model) = run.model.as_mut().filter(|model| model.ends_with(".toml")) {
            *model = folder.join(&*model).display().to_string();
        }
        Ok(run)
    }

    /// What the flags ask for.
    pub(super) fn of_flags(arguments: &Train) -> Result<Self, Fail> {
        let network = &arguments.network;
        let number = |flag: &str, text: &Option<String>| {
            text.as_deref().map(|text| read::number(flag, text)).transpose()
        };
        let whole = |flag: &str, text: &Option<String>| {
            text.as_deref().map(|text| read::whole(flag, text, u64::MAX)).transpose()
        };
        let several = |flag: &str, text: &Option<String>| -> Result<Option<OneOrMore>, Fail> {
            let Some(text) = text else { return Ok(None) };
            let values = text.split(',').map(|part| read::number(flag, part).map(|value| value as f32));
            Ok(Some(OneOrMore::More(values.collect::<Result<_, _>>()?)))
        };
        let classes = network.classes.as_deref().map(|text| match text.trim().parse() {
            Ok(count) => Classes::Count(count),
            Err(_) => Classes::Names(text.split(',').map(|name| name.trim().to_owned()).collect()),
        });
        Ok(Self {
            data: arguments.file.clone(),
            data_dir: arguments.data_dir.clone(),
            schema: arguments.schema.clone(),
            validation: network.validation.clone(),
            text_column: network.text_column.clone(),
            vocabulary: network.vocabulary.clone(),
            length: whole("--length", &network.length)?,
            label: network.label.clone(),
            classes,
            shift: several("--shift", &network.shift)?,
            scale: several("--scale", &network.scale)?,
            examples_per_user: whole("--examples-per-user", &network.examples_per_user)?,
            model: arguments.model.clone(),
            freeze: (!network.freeze.is_empty()).then(|| network.freeze.clone()),
            epsilon: number("--epsilon", &arguments.epsilon)?,
            delta: number("--delta", &arguments.delta)?,
            noise_multiplier: number("--noise-multiplier", &network.noise_multiplier)?,
            non_private: network.non_private.then_some(true),
            neighboring: arguments.neighboring.clone(),
            size: whole("--dataset-size", &arguments.size)?,
            clip: number("--clip", &network.clip)?,
            clipping: network.clipping.clone(),
            epochs: number("--epochs", &network.epochs)?,
            steps: whole("--steps", &arguments.steps)?,
            batch_size: whole("--batch-size", &network.batch_size)?,
            optimizer: network.optimizer.clone(),
            learning_rate: number("--learning-rate", &arguments.learning_rate)?,
            momentum: number("--momentum", &network.momentum)?,
            weight_decay: number("--weight-decay", &network.weight_decay)?,
            schedule: network.schedule.clone(),
            warmup: whole("--warmup", &network.warmup)?,
            average: number("--average", &network.average)?,
            checkpoint_every: network.checkpoint_every.clone(),
            threads: whole("--threads", &network.threads)?,
            out: arguments.out.clone(),
            counted: None,
        })
    }

    /// These keys where they are given, the file's otherwise.
    pub(super) fn over(self, mut file: Self) -> Result<Self, Fail> {
        // One way to say how much privacy there is replaces another.
        if self.non_private == Some(true) {
            (file.epsilon, file.delta, file.noise_multiplier) = (None, None, None);
            (file.size, file.counted) = (None, None);
        }
        if self.noise_multiplier.is_some() {
            file.epsilon = None;
        }
        if self.epsilon.is_some() {
            (file.noise_multiplier, file.non_private) = (None, None);
        }
        if self.steps.is_some() {
            file.epochs = None;
        }
        if self.epochs.is_some() {
            file.steps = None;
        }
        let strange = |error: serde_json::Error| Fail::new(Code::Internal, format!("run.toml: {error}"));
        let mut all = serde_json::to_value(file).map_err(strange)?;
        let given = serde_json::to_value(self).map_err(strange)?;
        if let (Some(all), Some(given)) = (all.as_object_mut(), given.as_object()) {
            for (key, value) in given.iter().filter(|(_, value)| !value.is_null()) {
                all.insert(key.clone(), value.clone());
            }
        }
        serde_json::from_value(all).map_err(strange)
    }

    /// The text of a file.
    pub(super) fn to_toml(&self) -> Result<String, Fail> {
        toml::to_string(self).map_err(|error| Fail::new(Code::Internal, format!("run.toml: {error}")))
    }

    pub(super) fn is_private(&self) -> bool {
        self.non_private != Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_replace_what_the_file_says() {
        let file: Run =
            toml::from_str("epsilon = 3\ndelta = 1e-5\nepochs = 4\nclip = 0.1\nclasses = [\"a\", \"b\"]")
                .unwrap();
        let flags = Run { epsilon: Some(1.0), steps: Some(7), ..Run::default() };
        let run = flags.over(file.clone()).unwrap();
        assert_eq!((run.epsilon, run.delta, run.clip), (Some(1.0), Some(1e-5), Some(0.1)));
        assert_eq!((run.epochs, run.steps), (None, Some(7)));
        let plain = Run { non_private: Some(true), ..Run::default() }.over(file).unwrap();
        assert!(plain.epsilon.is_none() && plain.delta.is_none() && !plain.is_private());
        let text = run.to_toml().unwrap();
        assert_eq!(toml::from_str::<Run>(&text).unwrap(), run, "{text}");
    }
}
