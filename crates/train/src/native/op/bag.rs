//! The mean of the rows of a table for the tokens of a text.

use super::super::kernel::vector::{add_scaled, squared};
use super::{Below, Flow, Op, Scratch, Units, sized};
use reticent_data::text::PADDING;

/// A table `[vocabulary][out]`; inputs are positions in it. Padding does not count.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct EmbeddingBag {
    pub(in crate::native) out: usize,
    pub(in crate::native) places: usize,
}

/// The share of each token of a text in its mean; 0 without tokens.
fn share(tokens: &[f32]) -> f32 {
    match tokens.iter().filter(|token| **token as u32 != PADDING).count() {
        0 => 0.0,
        count => 1.0 / count as f32,
    }
}

/// What is added to the row of one token: a gradient of one text times a number, or a sum over several texts.
enum Added<'a> {
    Scaled(f32, &'a [f32]),
    Sum(&'a [f32]),
}

impl EmbeddingBag {
    /// What the texts of a unit add to each row, in order of the tokens; `order` has the unit's places in that order.
    fn each(
        &self,
        order: &[u32],
        (flow, shares): (&Flow<'_>, &[f32]),
        work: &mut Vec<f32>,
        mut visit: impl FnMut(usize, Added<'_>),
    ) {
        let token = |place: u32| flow.input[place as usize] as u32;
        let text = |place: u32| place as usize / self.places;
        let gradient = |text: usize| &flow.gradient[text * self.out..][..self.out];
        for same in order.chunk_by(|a, b| token(*a) == token(*b)) {
            let first = same[0];
            if token(first) == PADDING {
                continue;
            }
            let own = text(first);
            if same.iter().all(|place| text(*place) == own) {
                let factor = same.len() as f32 * shares[own];
                visit(token(first) as usize, Added::Scaled(factor, gradient(own)));
            } else {
                let sum = sized(work, self.out);
                sum.fill(0.0);
                same.iter().for_each(|place| add_scaled(sum, shares[text(*place)], gradient(text(*place))));
                visit(token(first) as usize, Added::Sum(sum));
            }
        }
    }
}

impl Op for EmbeddingBag {
    fn forward(
        &self,
        weights: &[f32],
        rows: usize,
        input: &[f32],
        output: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let shares = sized(&mut scratch.saved, rows);
        let texts = input.chunks_exact(self.places).zip(output.chunks_exact_mut(self.out));
        for ((tokens, output), own) in texts.zip(shares) {
            *own = share(tokens);
            output.fill(0.0);
            for token in tokens.iter().map(|token| *token as usize).filter(|token| *token != PADDING as usize)
            {
                add_scaled(output, *own, &weights[token * self.out..][..self.out]);
            }
        }
    }

    fn backward(&self, _: &[f32], _: usize, _: Flow<'_>, _: Option<Below<'_>>, _: &mut Scratch) {}

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        // The places of every unit, those of one token together.
        let Scratch { places, work, saved, .. } = scratch;
        places.clear();
        places.extend(0..(flow.input.len() as u32));
        for (range, square) in units.ranges().zip(squares) {
            let order = &mut places[range.start * self.places..range.end * self.places];
            order.sort_unstable_by_key(|place| flow.input[*place as usize] as u32);
            self.each(order, (&flow, saved), work, |_, added| {
                *square += match added {
                    Added::Scaled(factor, row) => f64::from(factor) * f64::from(factor) * squared(row),
                    Added::Sum(row) => squared(row),
                }
            });
        }
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        let Scratch { places, work, saved, .. } = scratch;
        for (range, factor) in units.ranges().zip(factors).filter(|(_, factor)| **factor != 0.0) {
            let order = &places[range.start * self.places..range.end * self.places];
            self.each(order, (&flow, saved), work, |token, added| {
                let into = &mut sum[token * self.out..][..self.out];
                match added {
                    Added::Scaled(own, row) => add_scaled(into, *factor * own, row),
                    Added::Sum(row) => add_scaled(into, *factor, row),
                }
            });
        }
    }

    fn total(&self, flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        let texts = flow.input.chunks_exact(self.places).zip(flow.gradient.chunks_exact(self.out));
        for ((tokens, gradient), own) in texts.zip(&scratch.saved) {
            for token in tokens.iter().map(|token| *token as usize).filter(|token| *token != PADDING as usize)
            {
                add_scaled(&mut sum[token * self.out..][..self.out], *own, gradient);
            }
        }
    }

    fn memory(&self) -> (usize, usize) {
        (1 + self.places, 0)
    }
}
