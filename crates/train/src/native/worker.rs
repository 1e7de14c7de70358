//! One thread's share of a step: chunks of units through the network and back.

use super::kernel::vector::{add, deliver};
use super::op::{Below, Flow, Packed, Scratch, Units};
use super::program::{Node, Program, Step};
use crate::clip::RoundingMargin;
use crate::engine::FixedSum;
use crate::{Clipping, Examples, Selection};
use std::ops::Range;

mod inspect;
mod loss;
pub(super) use inspect::{Seen, Wanted};

/// The buffers of one thread; they keep their memory from step to step.
#[derive(Debug, Default)]
pub(super) struct Worker {
    values: Vec<Vec<f32>>,
    gradients: Vec<Vec<f32>>,
    scratch: Vec<Scratch>,
    squares: Vec<f64>,
    of_layer: Vec<f64>,
    of_group: Vec<f32>,
    factors: Vec<f32>,
    ends: Vec<usize>,
    /// The gradient of one unit, where it is written out, and the order of its numbers.
    row: Vec<f32>,
    keys: Vec<u64>,
    /// A sum of its own, for a thread that has no other.
    pub(super) sum: Vec<f32>,
}

/// What a step is about.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) program: &'a Program,
    pub(super) weights: &'a [f32],
    pub(super) examples: &'a Examples,
    /// What is added to the gradient at the outputs of every selected example, in their order; nothing where absent.
    pub(super) slopes: Option<&'a [f32]>,
}

/// `buffers[index]` for writing beside the others for reading.
fn apart(buffers: &mut [Vec<f32>], index: usize, work: impl FnOnce(&mut Vec<f32>, &[Vec<f32>])) {
    let mut one = std::mem::take(&mut buffers[index]);
    work(&mut one, buffers);
    buffers[index] = one;
}

/// One step of the forward pass.
fn run(node: &Node, weights: &[f32], rows: usize, values: &mut [Vec<f32>], scratch: &mut Scratch) {
    match &node.step {
        Step::Activation(activation) => activation.apply(&mut values[node.output]),
        Step::Op(op) => apart(values, node.output, |output, values| {
            op.forward(&weights[node.weights.clone()], rows, &values[node.input], output, scratch);
        }),
        Step::Add { skip } => apart(values, node.output, |output, values| {
            for ((y, a), b) in output.iter_mut().zip(&values[node.input]).zip(&values[*skip]) {
                *y = a + b;
            }
        }),
    }
}

impl Worker {
    fn prepare(&mut self, program: &Program, rows: usize, training: bool) {
        self.values.resize_with(program.sizes.len(), Vec::new);
        self.gradients.resize_with(program.sizes.len(), Vec::new);
        self.scratch.resize_with(program.nodes.len(), Scratch::default);
        for (buffer, size) in self.values.iter_mut().zip(&program.sizes) {
            buffer.resize(rows * size, 0.0);
        }
        for scratch in &mut self.scratch {
            scratch.training = training;
            scratch.plain &= training;
        }
    }

    /// How many examples the buffers have held at most.
    #[cfg(test)]
    pub(super) fn rows(&self) -> usize {
        self.values.last().map_or(0, Vec::capacity) / 3
    }

    /// The gradient of every example of a chunk, computed as for clipping.
    #[cfg(test)]
    pub(super) fn gradients(&mut self, task: Task<'_>, which: &[usize]) -> Vec<Vec<f32>> {
        self.begin(task.program);
        self.ends.clear();
        self.ends.extend(1..=which.len());
        self.forward(task, which, true);
        self.loss(task, which);
        self.backward(task, which.len());
        self.measure(task.program);
        let written = |example| {
            let mut row = vec![0.0; task.program.layout.gradients()];
            self.write(task.program, example, &mut row);
            row
        };
        (0..which.len()).map(written).collect()
    }

    /// Forgets what depends on the weights, which may have changed.
    pub(super) fn begin(&mut self, program: &Program) {
        self.scratch.resize_with(program.nodes.len(), Scratch::default);
        for scratch in &mut self.scratch {
            scratch.packed.iter_mut().for_each(Packed::forget);
            scratch.total.clear();
        }
    }

    /// The scores of these examples, which [`scores`](Self::scores) then holds.
    pub(super) fn forward(&mut self, task: Task<'_>, which: &[usize], training: bool) {
        let Task { program, weights, examples, .. } = task;
        self.prepare(program, which.len(), training);
        for (example, into) in which.iter().zip(self.values[0].chunks_exact_mut(program.sizes[0])) {
            examples.read(*example, into);
        }
        for (node, scratch) in program.nodes.iter().zip(&mut self.scratch) {
            run(node, weights, which.len(), &mut self.values, scratch);
        }
    }

    pub(super) fn scores(&self, program: &Program) -> &[f32] {
        &self.values[last(program)]
    }

    fn backward(&mut self, task: Task<'_>, rows: usize) {
        let Task { program, weights, .. } = task;
        let (values, gradients) = (&mut self.values, &mut self.gradients);
        for (node, scratch) in program.nodes.iter().zip(&mut self.scratch).rev() {
            let idle = !node.below && node.trained.is_none() && node.skip.is_none();
            if idle || gradients[node.output].is_empty() {
                continue;
            }
            match &node.step {
                Step::Activation(activation) => {
                    activation.slope(&values[node.output], &mut gradients[node.output])
                }
                Step::Add { skip } => {
                    let gradient = std::mem::take(&mut gradients[node.output]);
                    let skipped = (*skip, node.skip == Some(true), node.skip.is_some());
                    for (slot, add, wanted) in [(node.input, node.add, node.below), skipped] {
                        if wanted {
                            gradients[slot].resize(gradient.len(), 0.0);
                            deliver(&mut gradients[slot], &gradient, add);
                        }
                    }
                    gradients[node.output] = gradient;
                }
                Step::Op(op) => {
                    let mut gradient = std::mem::take(&mut gradients[node.output]);
                    let mut below = std::mem::take(&mut gradients[node.input]);
                    if node.below {
                        below.resize(values[node.input].len(), 0.0);
                    }
                    let target = node.below.then(|| Below { gradient: &mut below, add: node.add });
                    let flow = Flow { input: &values[node.input], gradient: &mut gradient };
                    op.backward(&weights[node.weights.clone()], rows, flow, target, scratch);
                    gradients[node.output] = gradient;
                    gradients[node.input] = below;
                }
            }
        }
    }

    /// Adds the clipped gradients of these units to `sum`, at most `rows` examples at a time unless one unit has
    /// more.
    pub(super) fn accumulate(
        &mut self,
        task: Task<'_>,
        selection: &Selection,
        units: Range<usize>,
        rows: usize,
        clipping: Option<&Clipping>,
        sum: &mut [f32],
    ) {
        self.begin(task.program);
        let mut unit = units.start;
        while unit < units.end {
            self.ends.clear();
            let mut which: &[usize] = &[];
            let first = if unit == 0 { 0 } else { selection.ends()[unit - 1] };
            while unit < units.end && (self.ends.is_empty() || selection.ends()[unit] - first <= rows) {
                self.ends.push(selection.ends()[unit] - first);
                which = &selection.examples()[first..selection.ends()[unit]];
                unit += 1;
            }
            self.chunk(task, first, which, clipping, sum);
        }
        for (node, scratch) in task.program.nodes.iter().zip(&mut self.scratch) {
            if let (Step::Op(op), Some((range, _))) = (&node.step, &node.trained) {
                op.finish(scratch, &mut sum[range.clone()]);
            }
        }
    }

    /// Adds the clipped gradients of these units, each computed by itself.
    pub(super) fn accumulate_fixed(
        &mut self,
        task: Task<'_>,
        selection: &Selection,
        units: Range<usize>,
        clipping: &Clipping,
        sum: &mut FixedSum,
    ) {
        let mut own = std::mem::take(&mut self.sum);
        own.clear();
        own.resize(task.program.layout.gradients(), 0.0);
        for unit in units {
            own.fill(0.0);
            self.accumulate(task, selection, unit..unit + 1, 1, Some(clipping), &mut own);
            sum.add_unit(&own);
        }
        self.sum = own;
    }

    /// Adds the clipped gradients of the units that `ends` divides; `first` is the place of the first example in the selection.
    fn chunk(
        &mut self,
        task: Task<'_>,
        first: usize,
        which: &[usize],
        clipping: Option<&Clipping>,
        sum: &mut [f32],
    ) {
        if which.is_empty() {
            return;
        }
        self.scratch.iter_mut().for_each(|scratch| scratch.plain = clipping.is_none());
        self.forward(task, which, true);
        self.loss(task, which);
        if let Some(slopes) = task.slopes {
            let outputs = task.program.outputs;
            let gradient = self.gradients[last(task.program)].iter_mut();
            gradient.zip(&slopes[first * outputs..]).for_each(|(own, more)| *own += more);
        }
        self.backward(task, which.len());
        match clipping {
            Some(clipping) if clipping.profile().is_some() => self.encode(task.program, clipping, sum),
            Some(clipping) => {
                self.weigh(task.program, clipping);
                self.cleanse(task.program);
                self.collect(task.program, true, sum);
            }
            None => self.collect(task.program, false, sum),
        }
    }

    /// The squared norms of all units and groups of the chunk.
    fn measure(&mut self, program: &Program) {
        let (groups, count) = (program.layout.groups(), self.ends.len());
        self.squares.clear();
        self.squares.resize(groups * count, 0.0);
        for (node, scratch) in program.nodes.iter().zip(&mut self.scratch) {
            let (Step::Op(op), Some((_, group))) = (&node.step, &node.trained) else { continue };
            self.of_layer.clear();
            self.of_layer.resize(count, 0.0);
            let flow = Flow { input: &self.values[node.input], gradient: &mut self.gradients[node.output] };
            op.squares(Units(&self.ends), flow, scratch, &mut self.of_layer);
            for (unit, square) in self.of_layer.iter().enumerate() {
                self.squares[unit * groups + group] += square;
            }
        }
    }

    /// The factors of all units and groups of the chunk.
    fn weigh(&mut self, program: &Program, clipping: &Clipping) {
        self.measure(program);
        let groups = program.layout.groups();
        self.factors.clear();
        self.factors.resize(groups * self.ends.len(), 0.0);
        clipping.factors(RoundingMargin::SINGLE_PRECISION, groups, &self.squares, &mut self.factors);
    }

    /// Sets what belongs to units of factor 0 to 0, so that no product can carry a NaN from there.
    fn cleanse(&mut self, program: &Program) {
        let groups = program.layout.groups();
        for (range, factors) in Units(&self.ends).ranges().zip(self.factors.chunks_exact(groups)) {
            if factors.iter().any(|factor| *factor != 0.0) {
                continue;
            }
            for (slot, size) in program.sizes.iter().enumerate() {
                let part = range.start * size..range.end * size;
                self.values[slot][part.clone()].fill(0.0);
                if let Some(gradient) = self.gradients[slot].get_mut(part) {
                    gradient.fill(0.0);
                }
            }
        }
    }

    /// Adds the units' gradients, each written out and encoded by itself.
    fn encode(&mut self, program: &Program, clipping: &Clipping, sum: &mut [f32]) {
        // Units with a gradient that is not finite have the factor 0 under any rule by norm, and none else has.
        self.weigh(program, &Clipping::Flat { norm: clipping.norm() });
        self.cleanse(program);
        let (mut row, mut keys) = (std::mem::take(&mut self.row), std::mem::take(&mut self.keys));
        row.resize(program.layout.gradients(), 0.0);
        for unit in 0..self.ends.len() {
            if self.factors[unit * program.layout.groups()] == 0.0 {
                continue;
            }
            row.fill(0.0);
            self.write(program, unit, &mut row);
            clipping.encode(&mut row, &mut keys);
            add(sum, &row);
        }
        (self.row, self.keys) = (row, keys);
    }

    fn collect(&mut self, program: &Program, clipped: bool, sum: &mut [f32]) {
        let groups = program.layout.groups();
        for (node, scratch) in program.nodes.iter().zip(&mut self.scratch) {
            let (Step::Op(op), Some((range, group))) = (&node.step, &node.trained) else { continue };
            let flow = Flow { input: &self.values[node.input], gradient: &mut self.gradients[node.output] };
            let sum = &mut sum[range.clone()];
            if clipped {
                self.of_group.clear();
                self.of_group.extend(self.factors.iter().skip(*group).step_by(groups));
                op.sum(Units(&self.ends), &self.of_group, flow, scratch, sum);
            } else {
                op.total(flow, scratch, sum);
            }
        }
    }
}

fn last(program: &Program) -> usize {
    program.nodes.last().map_or(0, |node| node.output)
}

/// Numbers that one example occupies in a chunk, with the gradient of its unit where units are clipped.
pub(super) fn footprint(program: &Program, clipped: bool) -> usize {
    let buffers: usize = program.sizes.iter().sum();
    let remembered = program.nodes.iter().map(|node| match &node.step {
        Step::Op(op) => {
            let (example, unit) = op.memory();
            example + if clipped { unit } else { 0 }
        }
        _ => 0,
    });
    2 * buffers + remembered.sum::<usize>()
}

/// Where the work of `threads` workers begins and ends, unit by unit, each with about as many examples.
pub(super) fn shares(selection: &Selection, threads: usize) -> Vec<Range<usize>> {
    let total = selection.examples().len();
    let mut start = 0;
    (1..=threads)
        .map(|thread| {
            let goal = total * thread / threads;
            let end = if thread == threads {
                selection.units()
            } else {
                selection.ends().partition_point(|end| *end <= goal).max(start)
            };
            let share = start..end;
            start = end;
            share
        })
        .collect()
}
