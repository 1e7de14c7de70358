//! Described networks on the CPU.
//!
//! Each thread takes its share of a step's units through the network and back, chunk by chunk, in buffers it reuses. One
//! backward pass yields the gradient at every layer's output; a layer turns it into the norms of the units' gradients,
//! and, once the factors are known, into their clipped sum. Gradients of single units exist only where that is the
//! cheaper way to their norm.
//!
//! | file | what is in it |
//! |---|---|
//! | `conv_gradients` | norms and clipped sums of convolutions that others compute |
//! | `factored` | norms and clipped sums of gradients that others give in factors |
//! | `inspect` | gradients, losses and activations of single examples, for attacks on one's own models |
//! | `kernel` | products, sliding sums, activations: the arithmetic |
//! | `op` | layers: forward, backward, norms and sums |
//! | `program` | a graph as a list of steps |
//! | `worker` | one thread's share of a step |

mod conv_gradients;
pub(crate) mod factored;
mod inspect;
mod kernel;
mod op;
mod program;
#[cfg(test)]
mod tests;
mod worker;

pub use conv_gradients::{ConvGradients, ConvLengths, ConvPass};
pub use inspect::Inspector;
pub(crate) use kernel::activation::softmax;
pub use kernel::product;

#[cfg(test)]
use crate::Description;
use crate::engine::{Background, FixedSum, Passes, Resources};
use crate::graph::Graph;
use crate::{Clipping, Examples, Layout, Selection, TrainError};
use program::Program;
use rayon::prelude::*;
use reticent_noise::Entropy;
use reticent_noise::entropy::Repeatable;
use worker::{Task, Worker, footprint, shares};

/// Numbers of a sum that a thread adds at a time.
const PIECE: usize = 1 << 14;

/// Numbers a thread may hold in the buffers of one chunk.
const CHUNK_NUMBERS: usize = 1 << 22;

/// What happens to the gradients of a sum.
#[derive(Clone, Copy)]
struct Weighing<'a> {
    clipping: Option<&'a Clipping>,
    /// What is added at the outputs of every example.
    slopes: Option<&'a [f32]>,
}

/// A described network on the CPU.
pub(crate) struct Network {
    graph: Graph,
    program: Program,
    workers: Vec<Worker>,
    chunk: Option<usize>,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("graph", &self.graph).finish_non_exhaustive()
    }
}

impl Network {
    /// Compiles a graph. The resources have been checked.
    pub(crate) fn compile(graph: Graph, resources: Resources) -> Result<Self, TrainError> {
        let program = Program::compile(&graph)?;
        let workers = (0..resources.threads).map(|_| Worker::default()).collect();
        Ok(Self { graph, program, workers, chunk: resources.chunk })
    }

    /// The network of a description.
    #[cfg(test)]
    pub(crate) fn new(description: Description, resources: Resources) -> Result<Self, TrainError> {
        resources.check()?;
        Self::compile(Graph::new(&description)?, resources)
    }

    /// Examples of one chunk when a thread has `share` of them: as many as memory allows, in chunks of about one size.
    /// Clipping takes no more memory than the same share without it.
    fn chunk(&self, share: usize, clipped: bool) -> usize {
        let each = footprint(&self.program, clipped).max(1);
        let room = CHUNK_NUMBERS.min(share.max(1).saturating_mul(footprint(&self.program, false)));
        let most = self.chunk.unwrap_or((room / each).clamp(1, 4096));
        share.max(1).div_ceil(share.max(1).div_ceil(most))
    }

    fn expect(&self, weights: &[f32], examples: &Examples) -> Result<(), TrainError> {
        let layout = &self.program.layout;
        if weights.len() != layout.weights() {
            return Err(TrainError::Shape(format!(
                "the network has {} weights, not {}",
                layout.weights(),
                weights.len()
            )));
        }
        self.graph.fits(examples)
    }
}

impl Network {
    /// Adds the units' gradients to `sum`.
    fn add_up(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        Weighing { clipping, slopes }: Weighing<'_>,
        background: Background<'_>,
        sum: &mut [f32],
    ) -> Result<(), TrainError> {
        self.expect(weights, examples)?;
        if sum.len() != self.program.layout.gradients() {
            return Err(TrainError::Shape("the sum has not the length of the gradient".to_owned()));
        }
        if let Some(clipping) = clipping {
            clipping.check()?;
        }
        if sum.is_empty() {
            return Ok(());
        }
        let task = Task { program: &self.program, weights, examples, slopes };
        let share = selection.examples().len().div_ceil(self.workers.len());
        let chunk = self.chunk(share, clipping.is_some());
        let shares = shares(selection, self.workers.len());
        let Some((first, others)) = self.workers.split_first_mut() else { return Ok(()) };
        if others.is_empty() {
            first.accumulate(task, selection, shares[0].clone(), chunk, clipping, sum);
            background();
            return Ok(());
        }
        rayon::scope(|scope| {
            for (worker, share) in others.iter_mut().zip(shares.iter().skip(1)) {
                scope.spawn(move |_| {
                    let mut own = std::mem::take(&mut worker.sum);
                    own.clear();
                    own.resize(task.program.layout.gradients(), 0.0);
                    worker.accumulate(task, selection, share.clone(), chunk, clipping, &mut own);
                    worker.sum = own;
                    background();
                });
            }
            first.accumulate(task, selection, shares[0].clone(), chunk, clipping, sum);
            background();
        });
        for worker in others {
            let pieces = sum.par_chunks_mut(PIECE).zip(worker.sum.par_chunks(PIECE));
            pieces.for_each(|(sum, own)| kernel::vector::add(sum, own));
        }
        Ok(())
    }
}

impl Passes for Network {
    fn layout(&self) -> &Layout {
        &self.program.layout
    }

    fn separates_units(&self) -> bool {
        true
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(self.graph.initial_weights(&mut Entropy::new()?))
    }

    fn repeatable_weights(&self, bits: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        if !self.graph.is_repeatable() {
            let remedy =
                "leave it out, or take a network without dropout, which draws fresh numbers in every step";
            return Err(TrainError::invalid("key", "given", remedy));
        }
        Ok(self.graph.initial_weights(bits))
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.graph.check(examples)
    }

    fn accumulate(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        background: Background<'_>,
        sum: &mut [f32],
    ) -> Result<(), TrainError> {
        self.add_up(weights, examples, selection, Weighing { clipping, slopes: None }, background, sum)
    }

    fn accumulate_steered(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        slopes: &[f32],
        sum: &mut [f32],
    ) -> Result<(), TrainError> {
        let (given, expected) = (slopes.len(), selection.examples().len() * self.program.outputs);
        if given != expected {
            return Err(TrainError::Shape(format!("{given} slopes of outputs, not {expected}")));
        }
        let weighing = Weighing { clipping: None, slopes: Some(slopes) };
        self.add_up(weights, examples, selection, weighing, &|| (), sum)
    }

    fn accumulate_fixed(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: &Clipping,
        sum: &mut FixedSum,
    ) -> Result<(), TrainError> {
        self.expect(weights, examples)?;
        let task = Task { program: &self.program, weights, examples, slopes: None };
        let shares = shares(selection, self.workers.len());
        let Some((first, others)) = self.workers.split_first_mut() else { return Ok(()) };
        if others.is_empty() {
            first.accumulate_fixed(task, selection, shares[0].clone(), clipping, sum);
            return Ok(());
        }
        let mut parts: Vec<FixedSum> = others.iter().map(|_| sum.part()).collect();
        rayon::scope(|scope| {
            for ((worker, share), part) in others.iter_mut().zip(shares.iter().skip(1)).zip(&mut parts) {
                scope.spawn(move |_| worker.accumulate_fixed(task, selection, share.clone(), clipping, part));
            }
            first.accumulate_fixed(task, selection, shares[0].clone(), clipping, sum);
        });
        parts.iter().for_each(|part| sum.absorb(part));
        Ok(())
    }

    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        self.expect(weights, examples)?;
        let task = Task { program: &self.program, weights, examples, slopes: None };
        let outputs = self.program.outputs;
        let mut scores = vec![0.0; which.len() * outputs];
        let share = which.len().div_ceil(self.workers.len()).max(1);
        let chunk = self.chunk(share, false);
        let work = |worker: &mut Worker, which: &[usize], scores: &mut [f32]| {
            worker.begin(task.program);
            for (which, scores) in which.chunks(chunk).zip(scores.chunks_mut(chunk * outputs)) {
                worker.forward(task, which, false);
                scores.copy_from_slice(worker.scores(task.program));
            }
        };
        if let [worker] = &mut self.workers[..] {
            work(worker, which, &mut scores);
            return Ok(scores);
        }
        rayon::scope(|scope| {
            let parts = which.chunks(share).zip(scores.chunks_mut(share * outputs));
            for (worker, (which, scores)) in self.workers.iter_mut().zip(parts) {
                scope.spawn(move |_| work(worker, which, scores));
            }
        });
        Ok(scores)
    }
}
