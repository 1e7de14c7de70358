//! A row of a table per token.

use super::super::kernel::vector::{add, add_scaled, squared};
use super::{Below, Flow, Op, Scratch, Units, sized};

/// A table `[vocabulary][out]`; inputs are positions in it.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Embedding {
    pub(in crate::native) out: usize,
    pub(in crate::native) places: usize,
}

impl Op for Embedding {
    fn forward(&self, weights: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        for (token, output) in input.iter().zip(output.chunks_exact_mut(self.out)) {
            output.copy_from_slice(&weights[*token as usize * self.out..][..self.out]);
        }
    }

    fn backward(&self, _: &[f32], _: usize, _: Flow<'_>, _: Option<Below<'_>>, _: &mut Scratch) {}

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f32]) {
        let row = |place: u32| &flow.gradient[place as usize * self.out..][..self.out];
        let token = |place: u32| flow.input[place as usize] as usize;
        for (range, square) in units.ranges().zip(squares) {
            // Gradients of one token add up before they are squared.
            let order = &mut scratch.places;
            order.clear();
            order.extend((range.start * self.places) as u32..(range.end * self.places) as u32);
            order.sort_unstable_by_key(|place| token(*place));
            for same in order.chunk_by(|a, b| token(*a) == token(*b)) {
                if let [place] = same {
                    *square += squared(row(*place));
                } else {
                    let sum = sized(&mut scratch.work, self.out);
                    sum.fill(0.0);
                    same.iter().for_each(|place| add(sum, row(*place)));
                    *square += squared(sum);
                }
            }
        }
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], flow: Flow<'_>, _: &mut Scratch, sum: &mut [f32]) {
        for (range, factor) in units.ranges().zip(factors) {
            if *factor == 0.0 {
                continue;
            }
            for place in range.start * self.places..range.end * self.places {
                let row = &mut sum[flow.input[place] as usize * self.out..][..self.out];
                add_scaled(row, *factor, &flow.gradient[place * self.out..][..self.out]);
            }
        }
    }

    fn total(&self, flow: Flow<'_>, _: &mut Scratch, sum: &mut [f32]) {
        for (token, gradient) in flow.input.iter().zip(flow.gradient.chunks_exact(self.out)) {
            add(&mut sum[*token as usize * self.out..][..self.out], gradient);
        }
    }
}
