//! A row of a table per token.

use super::super::kernel::vector::{add, add_scaled, squared};
use super::{Below, Flow, Op, Scratch, Units, sized};

/// A table `[vocabulary][out]`; inputs are positions in it.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Embedding {
    pub(in crate::native) out: usize,
    pub(in crate::native) places: usize,
}

impl Embedding {
    /// The tokens of places in order of their tokens, each with the sum of its gradients.
    fn each(
        &self,
        order: &[u32],
        flow: &Flow<'_>,
        work: &mut Vec<f32>,
        mut visit: impl FnMut(usize, &[f32]),
    ) {
        let row = |place: u32| &flow.gradient[place as usize * self.out..][..self.out];
        let token = |place: u32| flow.input[place as usize] as usize;
        for same in order.chunk_by(|a, b| token(*a) == token(*b)) {
            if let [place] = same {
                visit(token(*place), row(*place));
            } else if let [first, ..] = same {
                let sum = sized(work, self.out);
                sum.fill(0.0);
                same.iter().for_each(|place| add(sum, row(*place)));
                visit(token(*first), sum);
            }
        }
    }
}

impl Op for Embedding {
    fn forward(&self, weights: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        for (token, output) in input.iter().zip(output.chunks_exact_mut(self.out)) {
            output.copy_from_slice(&weights[*token as usize * self.out..][..self.out]);
        }
    }

    fn backward(&self, _: &[f32], _: usize, _: Flow<'_>, _: Option<Below<'_>>, _: &mut Scratch) {}

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        // The places of every unit, those of one token together.
        scratch.places.clear();
        scratch.places.extend(0..(flow.input.len() as u32));
        for (range, square) in units.ranges().zip(squares) {
            let order = &mut scratch.places[range.start * self.places..range.end * self.places];
            order.sort_unstable_by_key(|place| flow.input[*place as usize] as u32);
            self.each(order, &flow, &mut scratch.work, |_, row| *square += squared(row));
        }
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        for (range, factor) in units.ranges().zip(factors).filter(|(_, factor)| **factor != 0.0) {
            let order = &scratch.places[range.start * self.places..range.end * self.places];
            self.each(order, &flow, &mut scratch.work, |token, row| {
                add_scaled(&mut sum[token * self.out..][..self.out], *factor, row);
            });
        }
    }

    fn total(&self, flow: Flow<'_>, _: &mut Scratch, sum: &mut [f32]) {
        for (token, gradient) in flow.input.iter().zip(flow.gradient.chunks_exact(self.out)) {
            add(&mut sum[*token as usize * self.out..][..self.out], gradient);
        }
    }
}
