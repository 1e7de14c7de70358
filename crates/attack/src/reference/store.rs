use super::ReferencePlan;
use crate::AttackError;
use reticent_audit::{Outputs, OutputsKind, Reference};
use reticent_data::write_private;
use reticent_train::TrainError;
use reticent_train::tensors::{Array, decode, encode};
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
    kind: String,
    classes: usize,
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
        outputs: &Outputs,
    ) -> Result<(), AttackError> {
        let path = self.path(plan, index);
        let values: Vec<f32> =
            (0..outputs.len()).flat_map(|record| outputs.record(record).iter().copied()).collect();
        let mask: Vec<f32> = inside.iter().map(|inside| f32::from(u8::from(*inside))).collect();
        let shape = vec![outputs.len(), outputs.classes()];
        let arrays = BTreeMap::from([
            ("inside".to_owned(), Array { shape: vec![mask.len()], values: &mask }),
            ("outputs".to_owned(), Array { shape, values: &values }),
        ]);
        let kind = match outputs.kind() {
            OutputsKind::Logits => "logits",
            OutputsKind::Probabilities => "probabilities",
        };
        let (digest, classes) = (plan.digest(index), outputs.classes());
        let text = serde_json::to_string(&Text { index, digest, kind: kind.to_owned(), classes })
            .map_err(|error| refused(&path, error.to_string()))?;
        Ok(write_private(&path, &encode(&path, &arrays, &text)?)?)
    }

    /// Reads a reference; none when there is no file.
    ///
    /// # Errors
    /// [`AttackError::Train`] naming the file when it cannot be read, is truncated or corrupt, or holds something else.
    pub fn load(&self, plan: &ReferencePlan<'_>, index: usize) -> Result<Option<Reference>, AttackError> {
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
            "logits" => OutputsKind::Logits,
            "probabilities" => OutputsKind::Probabilities,
            other => return Err(refused(&path, format!("outputs of the kind {other} are not known here"))),
        };
        let inside = plan.mask(index);
        let values = arrays.take(&path, "outputs", &[inside.len(), text.classes])?;
        let mask = arrays.take(&path, "inside", &[inside.len()])?;
        let is_mask = mask.iter().zip(&inside).all(|(stored, inside)| (*stored == 1.0) == *inside);
        if text.index != index || text.digest != plan.digest(index) || !is_mask {
            return Err(refused(
                &path,
                "it holds another reference than its name says: remove it".to_owned(),
            ));
        }
        let outputs = Outputs::new(kind, text.classes, values)?;
        let name = format!("reference {index}");
        Ok(Some(Reference { name, outputs: Some(outputs), scores: None, inside }))
    }
}

fn refused(path: &Path, why: String) -> AttackError {
    TrainError::file(path, why).into()
}
