//! One thread's share of an inspection.

use super::{Step, Task, Worker, last, run};
use crate::Targets;
use crate::describe::Objective;
use crate::graph::LayerOutput;
use crate::native::op::Flow;

/// What is kept of a pass.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Wanted<'a> {
    pub(in crate::native) losses: bool,
    /// Only for one example at a time.
    pub(in crate::native) gradients: bool,
    pub(in crate::native) layer_norms: bool,
    pub(in crate::native) input_gradients: bool,
    pub(in crate::native) taps: &'a [LayerOutput],
}

/// What was kept, example after example.
#[derive(Debug, Default)]
pub(in crate::native) struct Seen {
    pub(in crate::native) losses: Vec<f64>,
    pub(in crate::native) gradients: Vec<f32>,
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
        let Task { program, weights, examples } = task;
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
        if !(wanted.gradients || wanted.layer_norms || wanted.input_gradients) {
            return;
        }
        self.loss(task, which);
        self.backward(task, which.len());
        if wanted.input_gradients {
            seen.input_gradients.extend_from_slice(&self.gradients[0]);
        }
        if wanted.layer_norms {
            self.ends.clear();
            self.ends.extend(1..=which.len());
            self.measure(program);
            seen.layer_norms.extend(self.squares.iter().map(|square| square.sqrt()));
        }
        if wanted.gradients {
            let start = seen.gradients.len();
            seen.gradients.resize(start + program.layout.gradients(), 0.0);
            let row = &mut seen.gradients[start..];
            for (node, scratch) in program.nodes.iter().zip(&mut self.scratch) {
                let (Step::Op(op), Some((range, _))) = (&node.step, &node.trained) else { continue };
                let flow =
                    Flow { input: &self.values[node.input], gradient: &mut self.gradients[node.output] };
                op.total(flow, scratch, &mut row[range.clone()]);
                op.finish(scratch, &mut row[range.clone()]);
            }
        }
    }

    /// The loss of every example, in double precision from its scores.
    fn losses(&self, task: Task<'_>, which: &[usize]) -> Vec<f64> {
        let outputs = task.program.outputs;
        let rows = self.values[last(task.program)].chunks_exact(outputs).zip(which);
        let squared = |row: &[f32], target: f64| {
            0.5 * row.iter().map(|score| (f64::from(*score) - target).powi(2)).sum::<f64>()
        };
        match (task.examples.targets(), task.program.loss) {
            (Targets::Classes(classes), Objective::CrossEntropy) => rows
                .map(|(row, example)| {
                    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    let total: f64 = row.iter().map(|score| libm::exp(f64::from(score - most))).sum();
                    libm::log(total) + f64::from(most) - f64::from(row[classes[*example] as usize])
                })
                .collect(),
            (Targets::Classes(classes), Objective::Squared) => {
                rows.map(|(row, example)| squared(row, f64::from(classes[*example]))).collect()
            }
            (Targets::Numbers(numbers), _) => {
                rows.map(|(row, example)| squared(row, f64::from(numbers[*example]))).collect()
            }
        }
    }
}
