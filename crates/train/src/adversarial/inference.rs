//! The inference network: from a classifier's probabilities and the true class to member or not.

use crate::describe::LayerKind;
use crate::engine::{Engine, Weights};
use crate::inspect::{Inspection, Inspector};
use crate::optimizer::{OptimizerSettings, StepInput};
use crate::trainer::{Recipe, repeatable_bits};
use crate::{
    Description, Device, Examples, Inputs, Resources, Schedule, Selection, Targets, TrainError, engine,
};

/// Widths of the hidden layers.
const HIDDEN: [usize; 2] = [64, 32];

/// The learning rate of Adam.
const RATE: f64 = 1e-3;

/// The class of members.
const MEMBER: u32 = 1;

/// A small described network with two outputs, other and member, and its training.
pub(super) struct InferenceNetwork {
    classes: usize,
    engine: Box<dyn Engine>,
    inspector: Inspector,
}

impl InferenceNetwork {
    /// For classifiers of so many classes, from weights that follow from a key or from fresh ones.
    pub(super) fn new(classes: usize, key: Option<&str>) -> Result<Self, TrainError> {
        let mut description = Description::reading(&[2 * classes]);
        for out in HIDDEN {
            description = description.then(LayerKind::Linear { out, bias: true }).then(LayerKind::Relu);
        }
        let description = description.then(LayerKind::Linear { out: 2, bias: true });
        let mut engine = engine(&description, Device::Cpu, Resources::SINGLE)?;
        let weights = match key {
            Some(key) => {
                engine.repeatable_weights(&mut repeatable_bits(&format!("{key}, inference network")))?
            }
            None => engine.initial_weights()?,
        };
        engine.load_weights(&weights)?;
        let (optimizer, schedule) = (OptimizerSettings::adam(), Schedule::constant(RATE));
        engine.begin(&Recipe { optimizer, schedule, average: None, denoise: None })?;
        let inspector = Inspector::new(&description, Resources::SINGLE)?;
        Ok(Self { classes, engine, inspector })
    }

    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    fn examples(&self, seen: Vec<f32>, is_member: Vec<u32>) -> Result<Examples, TrainError> {
        Examples::new(&[2 * self.classes], Inputs::Real(seen), Targets::Classes(is_member))
    }

    /// One step on these.
    pub(super) fn learn(&mut self, seen: Vec<f32>, is_member: Vec<u32>) -> Result<(), TrainError> {
        let examples = self.examples(seen, is_member)?;
        let mut selection = Selection::default();
        (0..examples.len()).for_each(|example| selection.push([example]));
        self.engine.sum(&examples, &selection, None, &|| ())?;
        let scale = 1.0 / examples.len().max(1) as f64;
        self.engine.update(StepInput { rate: RATE, scale, noise_variance: None })
    }

    /// Two scores a row: for others and for members.
    pub(super) fn scores(&mut self, seen: Vec<f32>) -> Result<Vec<f32>, TrainError> {
        let count = seen.len() / (2 * self.classes);
        let examples = self.examples(seen, vec![0; count])?;
        let which: Vec<usize> = (0..count).collect();
        self.engine.outputs(Weights::Current, &examples, &which)
    }

    /// Whether each is taken for a member.
    pub(super) fn guesses(&mut self, seen: Vec<f32>) -> Result<Vec<bool>, TrainError> {
        Ok(self.scores(seen)?.chunks_exact(2).map(|pair| pair[1] > pair[0]).collect())
    }

    /// λ·∂h/∂z for every row, with z the scores of the classifier, whose probabilities the rows begin with.
    ///
    /// The loss of the class of members is −ln h, so its gradient in the input times −h is that of h. Through the softmax p of z,
    /// ∂h/∂z_j = p_j·(g_j − Σ_k p_k·g_k) with g = ∂h/∂p.
    pub(super) fn slopes(&mut self, seen: Vec<f32>, strength: f64) -> Result<Vec<f32>, TrainError> {
        let (classes, width) = (self.classes, 2 * self.classes);
        let count = seen.len() / width;
        let examples = self.examples(seen, vec![MEMBER; count])?;
        let Inputs::Real(seen) = examples.inputs() else { return Ok(Vec::new()) };
        let which: Vec<usize> = (0..count).collect();
        let wanted = Inspection { losses: true, input_gradients: true, ..Inspection::default() };
        let weights = self.engine.read_weights(Weights::Current)?;
        let found = self.inspector.inspect(&weights, &examples, &which, &wanted)?;
        let (losses, gradients) =
            (found.losses.unwrap_or_default(), found.input_gradients.unwrap_or_default());
        let mut slopes = Vec::with_capacity(count * classes);
        let rows = seen.chunks_exact(width).zip(gradients.chunks_exact(width)).zip(losses);
        for ((row, gradient), loss) in rows {
            let factor = -strength * libm::exp(-loss);
            let (shares, gradient) = (&row[..classes], &gradient[..classes]);
            let products = shares.iter().zip(gradient).map(|(p, g)| f64::from(*p) * f64::from(*g));
            let mean: f64 = products.sum();
            let pairs = shares.iter().zip(gradient);
            slopes.extend(pairs.map(|(p, g)| (factor * f64::from(*p) * (f64::from(*g) - mean)) as f32));
        }
        Ok(slopes)
    }
}
