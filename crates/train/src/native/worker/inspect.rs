//! One thread's share of an inspection.

use super::{Step, Task, Worker, run};
use crate::graph::LayerOutput;
use crate::inspect::GradientSummary;
use crate::native::op::{Flow, Units};
use crate::native::program::Program;

/// What is kept of a pass.
#[derive(Clone, Copy)]
pub(in crate::native) struct Wanted<'a> {
    pub(in crate::native) losses: bool,
    pub(in crate::native) gradients: bool,
    pub(in crate::native) summary: Option<GradientSummary<'a>>,
    pub(in crate::native) layer_norms: bool,
    pub(in crate::native) input_gradients: bool,
    pub(in crate::native) taps: &'a [LayerOutput],
}

/// What was kept, example after example.
#[derive(Debug, Default)]
pub(in crate::native) struct Seen {
    pub(in crate::native) losses: Vec<f64>,
    pub(in crate::native) gradients: Vec<f32>,
    pub(in crate::native) summaries: Vec<f64>,
    pub(in crate::native) layer_norms: Vec<f64>,
    pub(in crate::native) input_gradients: Vec<f32>,
    /// One array a tap.
    pub(in crate::native) activations: Vec<Vec<f32>>,
}

impl Seen {
    /// What was kept of later examples.
    pub(in crate::native) fn append(&mut self, other: Self) {
        self.losses.extend(other.losses);
        self.gradients.extend(other.gradients);
        self.summaries.extend(other.summaries);
        self.layer_norms.extend(other.layer_norms);
        self.input_gradients.extend(other.input_gradients);
        self.activations.resize_with(self.activations.len().max(other.activations.len()), Vec::new);
        for (own, more) in self.activations.iter_mut().zip(other.activations) {
            own.extend(more);
        }
    }
}

impl Worker {
    /// Takes examples through the network and back, and keeps what is wanted.
    pub(in crate::native) fn inspect(
        &mut self,
        task: Task<'_>,
        which: &[usize],
        wanted: Wanted<'_>,
        seen: &mut Seen,
    ) {
        let Task { program, weights, examples, .. } = task;
        self.prepare(program, which.len(), false);
        for (example, into) in which.iter().zip(self.values[0].chunks_exact_mut(program.sizes[0])) {
            examples.read(*example, into);
        }
        seen.activations.resize_with(wanted.taps.len(), Vec::new);
        for done in 0..=program.nodes.len() {
            for (tap, kept) in
                wanted.taps.iter().zip(&mut seen.activations).filter(|(tap, _)| tap.nodes == done)
            {
                kept.extend_from_slice(&self.values[tap.buffer]);
            }
            if let Some(node) = program.nodes.get(done) {
                run(node, weights, which.len(), &mut self.values, &mut self.scratch[done]);
            }
        }
        if wanted.losses {
            seen.losses.extend(self.losses(task, which));
        }
        let is_written = wanted.gradients || wanted.summary.is_some();
        if !(is_written || wanted.layer_norms || wanted.input_gradients) {
            return;
        }
        self.loss(task, which);
        self.sharpen(task, which);
        self.backward(task, which.len());
        if wanted.input_gradients {
            seen.input_gradients.extend_from_slice(&self.gradients[0]);
        }
        if !(is_written || wanted.layer_norms) {
            return;
        }
        self.ends.clear();
        self.ends.extend(1..=which.len());
        self.measure(program);
        if wanted.layer_norms {
            seen.layer_norms.extend(self.squares.iter().map(|square| square.sqrt()));
        }
        if !is_written {
            return;
        }
        let mut row = vec![0.0; program.layout.gradients()];
        for example in 0..which.len() {
            row.fill(0.0);
            self.write(program, example, &mut row);
            if let Some(GradientSummary { width, of }) = wanted.summary {
                let start = seen.summaries.len();
                seen.summaries.resize(start + width, 0.0);
                of(&row, &mut seen.summaries[start..]);
            }
            if wanted.gradients {
                seen.gradients.extend_from_slice(&row);
            }
        }
    }

    /// Adds the gradient of one unit of the chunk, after all were measured.
    pub(super) fn write(&mut self, program: &Program, unit: usize, row: &mut [f32]) {
        for (node, scratch) in program.nodes.iter().zip(&mut self.scratch) {
            let (Step::Op(op), Some((range, _))) = (&node.step, &node.trained) else { continue };
            let flow = Flow { input: &self.values[node.input], gradient: &mut self.gradients[node.output] };
            op.one(Units(&self.ends), unit, flow, scratch, &mut row[range.clone()]);
        }
    }

    /// Adds the gradient of the loss of all these examples together.
    pub(in crate::native) fn total(&mut self, task: Task<'_>, which: &[usize], sum: &mut [f32]) {
        self.forward(task, which, false);
        self.loss(task, which);
        self.sharpen(task, which);
        self.backward(task, which.len());
        self.collect(task.program, false, sum);
        for (node, scratch) in task.program.nodes.iter().zip(&mut self.scratch) {
            if let (Step::Op(op), Some((range, _))) = (&node.step, &node.trained) {
                op.finish(scratch, &mut sum[range.clone()]);
            }
        }
    }
}
