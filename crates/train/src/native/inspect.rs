//! Gradients, losses and activations of single examples.

use super::CHUNK_NUMBERS;
use super::program::Program;
use super::worker::{Seen, Task, Wanted, Worker, footprint};
use crate::engine::Threads;
use crate::graph::{Graph, LayerOutput};
use crate::inspect::{Activations, GradientSummary, Inspected, Inspection};
use crate::{Description, Examples, Layout, Resources, TrainError};

/// A described network on the CPU whose insides can be looked at.
///
/// Examples go through the network in batches; gradients of single examples are written one after the other. Dropout drops nothing.
///
/// # Guarantee
/// None: see [the module](crate::inspect).
pub struct Inspector {
    graph: Graph,
    program: Program,
    workers: Vec<Worker>,
    threads: Threads,
    chunk: Option<usize>,
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspector").field("layout", self.layout()).finish_non_exhaustive()
    }
}

impl Inspector {
    /// A described network.
    ///
    /// # Errors
    /// [`TrainError::Layer`] when layers do not fit together; [`TrainError::Invalid`] for no threads or empty chunks.
    pub fn new(description: &Description, resources: Resources) -> Result<Self, TrainError> {
        resources.check()?;
        let graph = Graph::with_input_gradient(description)?;
        let program = Program::compile(&graph)?;
        let workers = (0..resources.threads).map(|_| Worker::default()).collect();
        let threads = Threads::pool(resources.threads)?;
        Ok(Self { graph, program, workers, threads, chunk: resources.chunk })
    }

    /// The names and places of all weights.
    pub fn layout(&self) -> &Layout {
        &self.program.layout
    }

    /// The names of the layers whose activations can be asked for, and the shape of one example's output.
    pub fn layers(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.graph.layers().iter().map(|layer| (layer.name.as_str(), layer.shape.as_slice()))
    }

    /// The mean over these examples of the gradient of the loss in the trained weights.
    ///
    /// # Guarantee
    /// None: see [the module](crate::inspect).
    ///
    /// # Errors
    /// As [`inspect`](Self::inspect).
    pub fn mean_gradient(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        self.check(weights, examples, which, &Inspection::default())?;
        let task = Task { program: &self.program, weights, examples, slopes: None };
        let mut sum = vec![0.0; self.program.layout.gradients()];
        let Some(worker) = self.workers.first_mut() else { return Ok(sum) };
        worker.begin(task.program);
        let chunk = self.chunk.unwrap_or_else(|| room(task.program));
        which.chunks(chunk).for_each(|which| worker.total(task, which, &mut sum));
        let scale = 1.0 / which.len().max(1) as f32;
        sum.iter_mut().for_each(|slope| *slope *= scale);
        Ok(sum)
    }

    /// Looks at these examples at these weights.
    ///
    /// # Guarantee
    /// None: see [the module](crate::inspect).
    ///
    /// # Errors
    /// [`TrainError::Shape`] or [`TrainError::Example`] when weights or examples do not fit; [`TrainError::Invalid`] for a layer that is
    /// not there; [`TrainError::Unsupported`] for the gradient of tokens.
    pub fn inspect(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
        inspection: &Inspection,
    ) -> Result<Inspected, TrainError> {
        self.inspect_with(weights, examples, which, inspection, None)
    }

    /// As [`inspect`](Self::inspect), with a summary of every example's gradient.
    ///
    /// # Guarantee
    /// None: see [the module](crate::inspect).
    ///
    /// # Errors
    /// As [`inspect`](Self::inspect).
    pub fn inspect_with(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
        inspection: &Inspection,
        summary: Option<GradientSummary<'_>>,
    ) -> Result<Inspected, TrainError> {
        let taps = self.check(weights, examples, which, inspection)?;
        let layout = &self.program.layout;
        let wanted = Wanted {
            losses: inspection.losses,
            gradients: inspection.gradients,
            summary,
            layer_norms: inspection.layer_norms,
            input_gradients: inspection.input_gradients,
            taps: &taps,
        };
        let task = Task { program: &self.program, weights, examples, slopes: None };
        let share = which.len().div_ceil(self.workers.len()).max(1);
        let chunk = self.chunk.unwrap_or_else(|| room(&self.program));
        let mut parts: Vec<Seen> = Vec::new();
        parts.resize_with(self.workers.len(), Seen::default);
        let workers = &mut self.workers;
        self.threads.run(|| {
            rayon::scope(|scope| {
                for ((worker, which), seen) in workers.iter_mut().zip(which.chunks(share)).zip(&mut parts) {
                    scope.spawn(move |_| {
                        worker.begin(task.program);
                        which.chunks(chunk).for_each(|which| worker.inspect(task, which, wanted, seen));
                    });
                }
            });
        });
        let mut all = Seen::default();
        parts.into_iter().for_each(|part| all.append(part));
        all.activations.resize_with(taps.len(), Vec::new);
        debug_assert!(!inspection.gradients || all.gradients.len() == which.len() * layout.gradients());
        let activations = taps.iter().zip(all.activations).map(|(tap, values)| Activations {
            layer: tap.name.clone(),
            shape: tap.shape.clone(),
            values,
        });
        Ok(Inspected {
            losses: inspection.losses.then_some(all.losses),
            gradients: inspection.gradients.then_some(all.gradients),
            summaries: summary.map(|_| all.summaries),
            layer_norms: inspection.layer_norms.then_some(all.layer_norms),
            input_gradients: inspection.input_gradients.then_some(all.input_gradients),
            activations: activations.collect(),
        })
    }

    /// Checks what is asked for; the layers whose outputs are kept.
    fn check(
        &self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
        inspection: &Inspection,
    ) -> Result<Vec<LayerOutput>, TrainError> {
        let expected = self.program.layout.weights();
        if weights.len() != expected {
            return Err(TrainError::Shape(format!(
                "the network has {expected} weights, not {}",
                weights.len()
            )));
        }
        self.graph.check(examples)?;
        if let Some(example) = which.iter().find(|example| **example >= examples.len()) {
            let why = format!("there are {} examples, numbered from 0", examples.len());
            return Err(TrainError::Example { example: *example, why });
        }
        if inspection.input_gradients && self.graph.vocabulary().is_some() {
            let why = "the inputs are tokens: ask for the activations of the embedding".to_owned();
            return Err(TrainError::Unsupported { what: "the gradient of the input", why });
        }
        let find = |name: &String| {
            let layer = self.graph.layers().iter().find(|layer| layer.name == *name);
            layer.cloned().ok_or_else(|| {
                let names: Vec<&str> = self.layers().map(|(name, _)| name).collect();
                TrainError::invalid("layer", name, format!("give one of {}", names.join(", ")))
            })
        };
        inspection.activations.iter().map(find).collect()
    }
}

/// How many examples go through a network at a time.
fn room(program: &Program) -> usize {
    (CHUNK_NUMBERS / footprint(program, true).max(1)).clamp(1, MOST_ROWS)
}

/// The most examples at a time.
const MOST_ROWS: usize = 512;
