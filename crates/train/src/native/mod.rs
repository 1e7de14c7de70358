//! Described networks on the CPU.
//!
//! Each thread takes its share of a step's units through the network and back, chunk by chunk, in buffers it reuses. One
//! backward pass yields the gradient at every layer's output; a layer turns it into the norms of the units' gradients,
//! and, once the factors are known, into their clipped sum. Gradients of single units exist only where that is the
//! cheaper way to their norm.
//!
//! | file | what is in it |
//! |---|---|
//! | `kernel` | products, sliding sums, curves: the arithmetic |
//! | `op` | layers: forward, backward, norms and sums |
//! | `program` | a description as a list of steps |
//! | `worker` | one thread's share of a step |

#[cfg(test)]
mod hostile;
mod kernel;
mod op;
mod program;
#[cfg(test)]
mod tests;
mod worker;

use crate::{Beside, Clipping, Description, Examples, Inputs, Layout, Model, Selection, Targets, TrainError};
use program::{Program, Start};
use reticent_noise::Entropy;
use reticent_noise::entropy::{Bits, Repeatable};
use reticent_noise::sampler::normal_cell;
use worker::{Task, Worker, footprint, shares};

/// Numbers a thread may hold in the buffers of one chunk.
const CHUNK_NUMBERS: usize = 1 << 22;

/// Settings that cannot change what is guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// Examples in a chunk of one thread, at least 1; chosen by memory if absent.
    pub chunk: Option<usize>,
}

impl Default for Effort {
    fn default() -> Self {
        Self { threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get), chunk: None }
    }
}

/// A described network on the CPU.
pub struct Network {
    description: Description,
    program: Program,
    workers: Vec<Worker>,
    chunk: Option<usize>,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("description", &self.description).finish_non_exhaustive()
    }
}

impl Network {
    /// Builds a network.
    ///
    /// # Errors
    /// [`TrainError::Layer`] when layers do not fit together; [`TrainError::Invalid`] for no threads or empty chunks.
    pub fn new(description: Description, effort: Effort) -> Result<Self, TrainError> {
        if effort.threads == 0 || effort.threads > 4096 {
            return Err(TrainError::invalid("threads", effort.threads, "give a number from 1 to 4096"));
        }
        if effort.chunk == Some(0) {
            return Err(TrainError::invalid("chunk", 0, "give at least 1"));
        }
        let program = Program::new(&description)?;
        let workers = (0..effort.threads).map(|_| Worker::default()).collect();
        Ok(Self { description, program, workers, chunk: effort.chunk })
    }

    /// The network in words.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Examples of one chunk when a thread has `share` of them: as many as memory allows, in chunks of about one size.
    /// Clipping takes no more memory than the same share without it.
    fn chunk(&self, share: usize, clipped: bool) -> usize {
        let each = footprint(&self.program, clipped).max(1);
        let room = CHUNK_NUMBERS.min(share.max(1).saturating_mul(footprint(&self.program, false)));
        let most = self.chunk.unwrap_or((room / each).clamp(1, 4096));
        share.max(1).div_ceil(share.max(1).div_ceil(most))
    }

    /// Whether a training can be a function of a key: not with dropout, which draws from the operating system.
    pub fn is_repeatable(&self) -> bool {
        !self.program.drops
    }

    fn drawn_weights<B: Bits>(&self, bits: &mut B) -> Vec<f32> {
        let mut weights = Vec::with_capacity(self.program.layout.weights());
        for (parameter, start) in self.program.layout.parameters().iter().zip(&self.program.starts) {
            let draw = |bits: &mut B| match *start {
                Start::Uniform(bound) => bound * ((bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0),
                Start::Normal => normal_cell(bits) as f32 / (1u64 << 24) as f32,
                Start::Constant(value) => value,
            };
            weights.extend((0..parameter.size()).map(|_| draw(bits)));
        }
        weights
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
        self.fits(examples)
    }

    /// Whether shape and kinds fit; says nothing of single examples.
    fn fits(&self, examples: &Examples) -> Result<(), TrainError> {
        if examples.size() != self.program.sizes[0] {
            return Err(TrainError::Shape(format!(
                "the network reads {:?}, the examples have the shape {:?}",
                self.description.input,
                examples.shape()
            )));
        }
        let tokens = matches!(examples.inputs(), Inputs::Tokens(_));
        match (self.program.vocabulary, tokens) {
            (Some(_), false) => Err(TrainError::Shape("the network reads tokens: give text".to_owned())),
            (None, true) => {
                Err(TrainError::Shape("the network has no embedding: text needs one first".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

impl Model for Network {
    fn layout(&self) -> &Layout {
        &self.program.layout
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(self.drawn_weights(&mut Entropy::new()?))
    }

    fn repeatable_weights(&self, bits: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        if !self.is_repeatable() {
            let remedy =
                "leave it out, or take a network without dropout, which draws fresh numbers in every step";
            return Err(TrainError::invalid("key", "given", remedy));
        }
        Ok(self.drawn_weights(bits))
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.fits(examples)?;
        let bad = |example: usize, why: String| Err(TrainError::Example { example, why });
        if let (Some(vocabulary), Inputs::Tokens(ids)) = (self.program.vocabulary, examples.inputs())
            && let Some(place) = ids.iter().position(|id| *id as usize >= vocabulary)
        {
            let why = format!("token {} is outside the vocabulary of {vocabulary}", ids[place]);
            return bad(place / examples.size(), why);
        }
        match (examples.targets(), self.program.loss) {
            (Targets::Classes(classes), crate::describe::Loss::CrossEntropy) => {
                let outputs = self.program.outputs;
                match classes.iter().position(|class| *class as usize >= outputs) {
                    Some(example) => bad(
                        example,
                        format!(
                            "its label is {}: the network has the classes 0 to {}",
                            classes[example],
                            outputs - 1
                        ),
                    ),
                    None => Ok(()),
                }
            }
            (Targets::Numbers(_), crate::describe::Loss::CrossEntropy) => Err(TrainError::Shape(
                "the targets are numbers: cross-entropy needs classes (or set loss = \"squared\")".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    fn accumulate(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        beside: Beside<'_>,
        sum: &mut [f32],
    ) -> Result<(), TrainError> {
        self.expect(weights, examples)?;
        if sum.len() != self.program.layout.gradients() {
            return Err(TrainError::Shape("the sum has not the length of the gradient".to_owned()));
        }
        if selection.examples().iter().any(|example| *example >= examples.len()) {
            return Err(TrainError::Shape("the selection names an example that is not there".to_owned()));
        }
        if let Some(clipping) = clipping {
            clipping.check()?;
        }
        if sum.is_empty() {
            return Ok(());
        }
        let task = Task { program: &self.program, weights, examples };
        let share = selection.examples().len().div_ceil(self.workers.len());
        let chunk = self.chunk(share, clipping.is_some());
        let shares = shares(selection, self.workers.len());
        let Some((first, others)) = self.workers.split_first_mut() else { return Ok(()) };
        rayon::scope(|scope| {
            for (worker, share) in others.iter_mut().zip(shares.iter().skip(1)) {
                scope.spawn(move |_| {
                    let mut own = std::mem::take(&mut worker.sum);
                    own.clear();
                    own.resize(task.program.layout.gradients(), 0.0);
                    worker.accumulate(task, selection, share.clone(), chunk, clipping, &mut own);
                    worker.sum = own;
                    beside();
                });
            }
            first.accumulate(task, selection, shares[0].clone(), chunk, clipping, sum);
            beside();
        });
        for worker in others {
            kernel::vector::add(sum, &worker.sum);
        }
        Ok(())
    }

    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        self.expect(weights, examples)?;
        if which.iter().any(|example| *example >= examples.len()) {
            return Err(TrainError::Shape("an example that is not there was asked for".to_owned()));
        }
        let task = Task { program: &self.program, weights, examples };
        let outputs = self.program.outputs;
        let mut scores = vec![0.0; which.len() * outputs];
        let share = which.len().div_ceil(self.workers.len()).max(1);
        let chunk = self.chunk(share, false);
        rayon::scope(|scope| {
            let parts = which.chunks(share).zip(scores.chunks_mut(share * outputs));
            for (worker, (which, scores)) in self.workers.iter_mut().zip(parts) {
                scope.spawn(move |_| {
                    worker.begin(task.program);
                    for (which, scores) in which.chunks(chunk).zip(scores.chunks_mut(chunk * outputs)) {
                        worker.forward(task, which, false);
                        scores.copy_from_slice(worker.scores(task.program));
                    }
                });
            }
        });
        Ok(scores)
    }
}
