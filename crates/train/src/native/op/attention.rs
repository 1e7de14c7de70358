//! Self-attention between its projections.

use super::super::kernel::activation::softmax;
use super::super::kernel::product::{MatrixView, multiply};
use super::super::kernel::vector::dot;
use super::{Below, Flow, Op, Scratch, sized};

/// Reads `[time][query, key, value]`, each of `width` numbers, and yields `[time][width]`; no weights.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Attention {
    pub(in crate::native) time: usize,
    pub(in crate::native) width: usize,
    pub(in crate::native) heads: usize,
    /// Whether later positions get the weight 0.
    pub(in crate::native) causal: bool,
}

impl Attention {
    fn head(&self) -> usize {
        self.width / self.heads
    }

    fn scale(&self) -> f32 {
        1.0 / (self.head() as f32).sqrt()
    }

    /// The part (0 query, 1 key, 2 value) of a head in one example's input or its gradient.
    fn offset(&self, part: usize, head: usize) -> usize {
        part * self.width + head * self.head()
    }

    fn part<'a>(&self, input: &'a [f32], part: usize, head: usize) -> MatrixView<'a> {
        MatrixView::strided(&input[self.offset(part, head)..], self.time, self.head(), 3 * self.width)
    }

    /// Turns the scores of one head, `[time][time]`, into weights.
    fn attend(&self, scores: &mut [f32]) {
        if !self.causal {
            return softmax(scores, self.time, self.scale());
        }
        for (place, row) in scores.chunks_exact_mut(self.time).enumerate() {
            let (seen, later) = row.split_at_mut(place + 1);
            softmax(seen, place + 1, self.scale());
            later.fill(0.0);
        }
    }
}

impl Op for Attention {
    fn forward(&self, _: &[f32], rows: usize, input: &[f32], output: &mut [f32], scratch: &mut Scratch) {
        let (time, width) = (self.time, self.width);
        let saved = sized(&mut scratch.saved, rows * self.heads * time * time);
        let examples = input.chunks_exact(3 * width * time).zip(output.chunks_exact_mut(width * time));
        for ((input, output), saved) in examples.zip(saved.chunks_exact_mut(self.heads * time * time)) {
            for (head, weights) in saved.chunks_exact_mut(time * time).enumerate() {
                multiply(
                    weights,
                    time,
                    self.part(input, 0, head),
                    self.part(input, 1, head).transposed(),
                    false,
                );
                self.attend(weights);
                let output = &mut output[head * self.head()..];
                multiply(
                    output,
                    width,
                    MatrixView::new(weights, time, time),
                    self.part(input, 2, head),
                    false,
                );
            }
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, scratch: &mut Scratch) {
        let Some(Below { gradient: below, add }) = below else { return };
        let (time, width, scale) = (self.time, self.width, self.scale());
        let slopes = sized(&mut scratch.work, time * time);
        let examples =
            flow.input.chunks_exact(3 * width * time).zip(flow.gradient.chunks_exact(width * time));
        let saved = scratch.saved.chunks_exact(self.heads * time * time);
        for (((input, gradient), below), saved) in
            examples.zip(below.chunks_exact_mut(3 * width * time)).zip(saved)
        {
            for (head, weights) in saved.chunks_exact(time * time).enumerate() {
                let gradient = MatrixView::strided(&gradient[head * self.head()..], time, self.head(), width);
                multiply(slopes, time, gradient, self.part(input, 2, head).transposed(), false);
                for (slopes, weights) in slopes.chunks_exact_mut(time).zip(weights.chunks_exact(time)) {
                    let mean = dot(slopes, weights);
                    for (slope, weight) in slopes.iter_mut().zip(weights) {
                        *slope = weight * (*slope - mean) * scale;
                    }
                }
                let (slopes, weights) =
                    (MatrixView::new(slopes, time, time), MatrixView::new(weights, time, time));
                let pitch = 3 * width;
                multiply(&mut below[self.offset(0, head)..], pitch, slopes, self.part(input, 1, head), add);
                multiply(
                    &mut below[self.offset(1, head)..],
                    pitch,
                    slopes.transposed(),
                    self.part(input, 0, head),
                    add,
                );
                multiply(&mut below[self.offset(2, head)..], pitch, weights.transposed(), gradient, add);
            }
        }
    }

    fn memory(&self) -> (usize, usize) {
        (self.heads * self.time * self.time, 0)
    }
}
