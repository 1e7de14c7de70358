//! Layers that move numbers or average them, without weights.

use super::super::kernel::vector::{add_scaled, deliver, sum};
use super::{Below, Flow, Op, Scratch};
use crate::graph::positions;

/// The same numbers in another buffer.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Copy;

impl Op for Copy {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        output.copy_from_slice(input);
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        if let Some(Below { gradient, add }) = below {
            deliver(gradient, flow.gradient, add);
        }
    }
}

/// The numbers times a constant.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Scale {
    pub(in crate::native) factor: f32,
}

impl Op for Scale {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        output.iter_mut().zip(input).for_each(|(y, x)| *y = self.factor * x);
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        let Some(Below { gradient: below, add }) = below else { return };
        if !add {
            below.fill(0.0);
        }
        add_scaled(below, self.factor, flow.gradient);
    }
}

/// Rows and columns exchanged.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Transpose {
    pub(in crate::native) rows: usize,
    pub(in crate::native) cols: usize,
}

impl Op for Transpose {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        let size = self.rows * self.cols;
        for (x, y) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)) {
            for (i, y) in y.iter_mut().enumerate() {
                *y = x[i % self.rows * self.cols + i / self.rows];
            }
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        let Some(Below { gradient: below, add }) = below else { return };
        let size = self.rows * self.cols;
        for (g, x) in flow.gradient.chunks_exact(size).zip(below.chunks_exact_mut(size)) {
            for (i, g) in g.iter().enumerate() {
                let x = &mut x[i % self.rows * self.cols + i / self.rows];
                *x = if add { *x + g } else { *g };
            }
        }
    }
}

/// The mean over time of `[time][width]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct MeanTime {
    pub(in crate::native) time: usize,
    pub(in crate::native) width: usize,
}

impl Op for MeanTime {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        let share = 1.0 / self.time as f32;
        for (x, y) in input.chunks_exact(self.time * self.width).zip(output.chunks_exact_mut(self.width)) {
            y.fill(0.0);
            x.chunks_exact(self.width).for_each(|x| add_scaled(y, share, x));
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        let Some(Below { gradient: below, add }) = below else { return };
        if !add {
            below.fill(0.0);
        }
        let share = 1.0 / self.time as f32;
        for (x, g) in
            below.chunks_exact_mut(self.time * self.width).zip(flow.gradient.chunks_exact(self.width))
        {
            x.chunks_exact_mut(self.width).for_each(|x| add_scaled(x, share, g));
        }
    }
}

/// The last place of `[time][width]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct LastTime {
    pub(in crate::native) time: usize,
    pub(in crate::native) width: usize,
}

impl Op for LastTime {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        for (x, y) in input.chunks_exact(self.time * self.width).zip(output.chunks_exact_mut(self.width)) {
            y.copy_from_slice(&x[(self.time - 1) * self.width..]);
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        let Some(Below { gradient: below, add }) = below else { return };
        if !add {
            below.fill(0.0);
        }
        for (x, g) in
            below.chunks_exact_mut(self.time * self.width).zip(flow.gradient.chunks_exact(self.width))
        {
            add_scaled(&mut x[(self.time - 1) * self.width..], 1.0, g);
        }
    }
}

/// The mean of every channel of `[channels][places]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct GlobalMean {
    pub(in crate::native) places: usize,
}

impl Op for GlobalMean {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        for (x, y) in input.chunks_exact(self.places).zip(output) {
            *y = sum(x) / self.places as f32;
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        let Some(Below { gradient: below, add }) = below else { return };
        for (x, g) in below.chunks_exact_mut(self.places).zip(flow.gradient.iter()) {
            let share = g / self.places as f32;
            x.iter_mut().for_each(|x| *x = if add { *x + share } else { share });
        }
    }
}

/// Sines and cosines of the place, added to `[time][width]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Position {
    pub(in crate::native) time: usize,
    pub(in crate::native) width: usize,
}

impl Op for Position {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], scratch: &mut Scratch) {
        let size = self.time * self.width;
        if scratch.table.len() != size {
            scratch.table = positions(self.time, self.width);
        }
        for (x, y) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)) {
            for ((y, x), shift) in y.iter_mut().zip(x).zip(&scratch.table) {
                *y = x + shift;
            }
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        if let Some(Below { gradient, add }) = below {
            deliver(gradient, flow.gradient, add);
        }
    }
}
