use super::ReferencePlan;
use crate::AttackError;
use crate::learner::{Artifact, Snapshot};
use reticent_audit::{Outputs, OutputsKind, Reference, SignalSource, SignalValues, Signals};
use reticent_files::write_private;
use reticent_train::TrainError;
use reticent_train::tensors::{Tensor, decode, encode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder of references, a file each. A file appears only when it is complete; its name is made of the reference's
/// number and digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// What is written beside the arrays.
#[derive(Debug, Serialize, Deserialize)]
struct Text {
    index: usize,
    digest: String,
    /// Logits or probabilities; empty where there are no outputs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(default)]
    classes: usize,
    #[serde(default, skip_serializing_if = "Kept::is_empty")]
    kept: Kept,
}

/// What is kept besides outputs.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// How many weights, if they are kept.
    weights: Option<usize>,
    /// The step and the number of weights of every snapshot.
    snapshots: Vec<(u64, usize)>,
    signals: Vec<KeptSignal>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct KeptSignal {
    name: String,
    provenance: SignalSource,
    width: usize,
}

impl Kept {
    fn of(artifact: &Artifact) -> Self {
        let signal = |(name, values): (&str, &SignalValues)| KeptSignal {
            name: name.to_owned(),
            provenance: values.provenance(),
            width: values.width(),
        };
        Self {
            weights: artifact.weights.as_ref().map(Vec::len),
            snapshots: artifact.snapshots.iter().map(|own| (own.step, own.weights.len())).collect(),
            signals: artifact.signals.iter().map(signal).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// A folder, made if it is not there.
    ///
    /// # Errors
    /// [`AttackError::Train`] with the name of the folder when it cannot be made.
    pub fn open(folder: &Path) -> Result<Self, AttackError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| refused(folder, format!("cannot be made: {error}")))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Where a reference is or will be.
    pub fn path(&self, plan: &ReferencePlan<'_>, index: usize) -> PathBuf {
        self.folder.join(format!("reference-{index:05}-{}.safetensors", plan.digest(index)))
    }

    /// Writes a reference, which only the owner may read: it says which records a model was trained on, and what that did.
    pub(super) fn save(
        &self,
        plan: &ReferencePlan<'_>,
        index: usize,
        inside: &[bool],
        artifact: &Artifact,
    ) -> Result<(), AttackError> {
        let path = self.path(plan, index);
        let mask: Vec<f32> = inside.iter().map(|inside| f32::from(u8::from(*inside))).collect();
        let single = |values: &SignalValues| values.values().iter().map(|v| *v as f32).collect::<Vec<f32>>();
        let signals: Vec<Vec<f32>> = artifact.signals.iter().map(|(_, values)| single(values)).collect();
        let shape = |outputs: &Outputs| vec![outputs.len(), outputs.classes()];
        let flat = |values: &[f32]| vec![values.len()];
        let mut arrays =
            BTreeMap::from([("inside".to_owned(), Tensor { shape: flat(&mask), values: &mask })]);
        if let Some(outputs) = &artifact.outputs {
            arrays.insert("outputs".to_owned(), Tensor { shape: shape(outputs), values: outputs.values() });
        }
        if let Some(weights) = &artifact.weights {
            arrays.insert("weights".to_owned(), Tensor { shape: flat(weights), values: weights });
        }
        for snapshot in &artifact.snapshots {
            let Snapshot { step, weights, outputs } = snapshot;
            arrays.insert(weights_at(*step), Tensor { shape: flat(weights), values: weights });
            arrays.insert(outputs_at(*step), Tensor { shape: shape(outputs), values: outputs.values() });
        }
        for ((name, own), values) in artifact.signals.iter().zip(&signals) {
            arrays.insert(signal_named(name), Tensor { shape: vec![own.len(), own.width()], values });
        }
        let kind = match artifact.outputs.as_ref().map(Outputs::kind) {
            Some(OutputsKind::Logits) => "logits",
            Some(OutputsKind::Probabilities) => "probabilities",
            None => "",
        };
        let classes = artifact.outputs.as_ref().map_or(0, Outputs::classes);
        let (digest, kept) = (plan.digest(index), Kept::of(artifact));
        let text = serde_json::to_string(&Text { index, digest, kind: kind.to_owned(), classes, kept })
            .map_err(|error| refused(&path, error.to_string()))?;
        Ok(write_private(&path, &encode(&path, &arrays, &text)?)?)
    }

    /// Reads a reference: its outputs, its signals and who was in it; none when there is no file.
    ///
    /// # Errors
    /// [`AttackError::Train`] naming the file when it cannot be read, is truncated or corrupt, or holds something else.
    pub fn load(&self, plan: &ReferencePlan<'_>, index: usize) -> Result<Option<Reference>, AttackError> {
        let reference = |Artifact { outputs, signals, .. }: Artifact| Reference {
            name: format!("reference {index}"),
            outputs,
            signals,
            inside: plan.mask(index),
        };
        Ok(self.artifact(plan, index)?.map(reference))
    }

    /// Reads everything that is kept of a reference; none when there is no file.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn artifact(&self, plan: &ReferencePlan<'_>, index: usize) -> Result<Option<Artifact>, AttackError> {
        let path = self.path(plan, index);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(&path, format!("cannot be read: {error}"))),
        };
        let mut arrays = decode(&path, &bytes)?;
        let text: Text = serde_json::from_str(&arrays.text)
            .map_err(|error| refused(&path, format!("not a reference: {error}")))?;
        let kind = match text.kind.as_str() {
            "logits" => Some(OutputsKind::Logits),
            "probabilities" => Some(OutputsKind::Probabilities),
            "" => None,
            other => return Err(refused(&path, format!("outputs of the kind {other} are not known here"))),
        };
        let inside = plan.mask(index);
        let (records, shape) = (inside.len(), [inside.len(), text.classes]);
        let mask = arrays.take(&path, "inside", &[records])?;
        let is_mask = mask.iter().zip(&inside).all(|(stored, inside)| (*stored == 1.0) == *inside);
        if text.index != index || text.digest != plan.digest(index) || !is_mask {
            return Err(refused(
                &path,
                "it holds another reference than its name says: remove it".to_owned(),
            ));
        }
        let mut artifact = Artifact::from(Signals::none());
        if let Some(kind) = kind {
            let values = arrays.take(&path, "outputs", &shape)?;
            artifact.outputs = Some(Outputs::new(kind, text.classes, values)?);
        }
        if let Some(count) = text.kept.weights {
            artifact.weights = Some(arrays.take(&path, "weights", &[count])?);
        }
        for (step, count) in text.kept.snapshots {
            let weights = arrays.take(&path, &weights_at(step), &[count])?;
            let values = arrays.take(&path, &outputs_at(step), &shape)?;
            let outputs = Outputs::new(kind.unwrap_or(OutputsKind::Logits), text.classes, values)?;
            artifact.snapshots.push(Snapshot { step, weights, outputs });
        }
        for KeptSignal { name, provenance, width } in text.kept.signals {
            let values = arrays.take(&path, &signal_named(&name), &[records, width])?;
            let values = values.into_iter().map(f64::from).collect();
            artifact.signals.insert(name, SignalValues::rows(provenance, width, values)?);
        }
        Ok(Some(artifact))
    }
}

fn weights_at(step: u64) -> String {
    format!("snapshot {step} weights")
}

fn outputs_at(step: u64) -> String {
    format!("snapshot {step} outputs")
}

fn signal_named(name: &str) -> String {
    format!("signal {name}")
}

fn refused(path: &Path, why: String) -> AttackError {
    TrainError::file(path, why).into()
}
