//! The last layer of a network as a linear model of the features that the layers below it compute.

use super::LinearLosses;
use crate::AttackError;
use crate::learner::{ALONE, NetworkLearner, softmax};
use crate::population::classes_of;
use reticent_audit::Signals;
use reticent_train::Description;
use reticent_train::describe::{LayerKind, Objective};
use reticent_train::inspect::{Inspection, Inspector};

/// The ridge of the Hessian, relative to the mean of its diagonal. A softmax leaves the Hessian singular, and a training that ends early is
/// far from its minimum where the loss is flat; both need one. Of 10⁻⁴, 10⁻², … 100 this one was best for small networks on
/// random points, of other keys than tests use.
const RIDGE: f64 = 10.0;

impl NetworkLearner {
    /// What each of the records `asked` does to the last layer of a network that was trained on the records `inside`: the signals of the
    /// inverse-Hessian attack and of the leave-one-out influence, with the layers below taken as fixed.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for a network whose last layer is not a linear one above another layer, or has more weights than a
    /// Hessian may have; [`AttackError::Train`] when weights do not fit.
    pub fn influence(
        &self,
        weights: &[f32],
        inside: &[usize],
        asked: &[usize],
    ) -> Result<Signals, AttackError> {
        let description = &self.training().description;
        let (outputs, bias) = last_layer(description)?;
        let mut inspector = Inspector::new(description, ALONE)?;
        let names: Vec<String> = inspector.layers().map(|(name, _)| name.to_owned()).collect();
        let activations = names[names.len() - 2..].to_vec();
        let inspection = Inspection { activations, ..Inspection::default() };
        let mut places: Vec<usize> = inside.iter().chain(asked).copied().collect();
        places.sort_unstable();
        places.dedup();
        let seen = inspector.inspect(weights, self.population(), &places, &inspection)?;
        let [below, logits] = &seen.activations[..] else {
            return Err(unfit("its layers"));
        };
        let inner = below.shape.iter().product::<usize>();
        let width = inner + usize::from(bias);
        let mut features = vec![1.0; width * places.len()];
        for (into, row) in features.chunks_exact_mut(width).zip(below.values.chunks_exact(inner)) {
            into.iter_mut().zip(row).for_each(|(into, value)| *into = f64::from(*value));
        }
        let labels = classes_of(self.population())?;
        let (mut slopes, mut curvatures) = (Vec::new(), Vec::new());
        for (place, logits) in places.iter().zip(logits.values.chunks_exact(outputs)) {
            let logits = logits.iter().map(|logit| f64::from(*logit)).collect();
            let (slope, curvature) = softmax(logits, labels[*place] as usize);
            slopes.extend(slope);
            curvatures.extend(curvature);
        }
        let losses = LinearLosses {
            features: &features,
            width,
            outputs,
            slopes,
            curvatures,
            weights: vec![0.0; outputs * width],
            penalty: 0.0,
            share: 0.0,
            ridge: RIDGE,
        };
        let find = |records: &[usize]| -> Vec<usize> {
            records.iter().filter_map(|record| places.binary_search(record).ok()).collect()
        };
        Ok(losses.influences(&find(inside), &find(asked))?.signals())
    }
}

/// How many outputs the last layer has, and whether it has a bias.
fn last_layer(description: &Description) -> Result<(usize, bool), AttackError> {
    let is_plain = description.loss == Objective::CrossEntropy && description.label_smoothing == 0.0;
    if !is_plain || description.layers.len() < 2 {
        return Err(unfit("its loss or its only layer"));
    }
    if description.layers.last().is_some_and(|layer| layer.lora.is_some()) {
        return Err(unfit("lora in its last layer"));
    }
    match description.layers.last().map(|layer| &layer.kind) {
        Some(LayerKind::Linear { out, bias }) => Ok((*out, *bias)),
        Some(other) => Err(unfit(other.word())),
        None => Err(unfit("no layer")),
    }
}

fn unfit(value: &str) -> AttackError {
    let remedy =
        "the inverse Hessian needs a classifier whose last layer is linear, above at least one other layer";
    AttackError::invalid("network", value, remedy)
}
