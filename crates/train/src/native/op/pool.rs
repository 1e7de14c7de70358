//! Windows over planes, without weights.

use super::{Below, Flow, Op, Scratch};
use crate::describe::{Window, windows};

/// What becomes of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native) enum PoolKind {
    Largest,
    Mean,
}

/// Pooling over each channel's plane.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Pool {
    kind: PoolKind,
    kernel: [usize; 2],
    stride: [usize; 2],
    size: [usize; 2],
    places: [usize; 2],
}

impl Pool {
    /// Nothing if the window does not fit.
    pub(in crate::native) fn new(
        kind: PoolKind,
        kernel: [usize; 2],
        stride: [usize; 2],
        size: [usize; 2],
    ) -> Option<Self> {
        let places = windows(size, Window { kernel, stride, padding: [0, 0], dilation: [1, 1] })?;
        Some(Self { kind, kernel, stride, size, places })
    }

    /// Where the window of a place begins in its plane.
    fn corner(&self, y: usize, x: usize) -> usize {
        y * self.stride[0] * self.size[1] + x * self.stride[1]
    }
}

impl Op for Pool {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], scratch: &mut Scratch) {
        let plane = self.size[0] * self.size[1];
        let share = 1.0 / (self.kernel[0] * self.kernel[1]) as f32;
        let places = &mut scratch.places;
        if places.len() < output.len() {
            places.resize(output.len(), 0);
        }
        let planes = input.chunks_exact(plane).zip(output.chunks_exact_mut(self.places[0] * self.places[1]));
        for ((image, output), places) in planes.zip(places.chunks_exact_mut(self.places[0] * self.places[1]))
        {
            let rows = output.chunks_exact_mut(self.places[1]).zip(places.chunks_exact_mut(self.places[1]));
            for (y, (output, places)) in rows.enumerate() {
                if self.kind == PoolKind::Mean {
                    output.fill(0.0);
                }
                for dy in 0..self.kernel[0] {
                    for dx in 0..self.kernel[1] {
                        let first = self.corner(y, 0) + dy * self.size[1] + dx;
                        let values = image[first..].iter().step_by(self.stride[1]);
                        match self.kind {
                            PoolKind::Mean => {
                                output.iter_mut().zip(values).for_each(|(y, x)| *y += x * share)
                            }
                            PoolKind::Largest => {
                                for (i, ((y, place), x)) in
                                    output.iter_mut().zip(places.iter_mut()).zip(values).enumerate()
                                {
                                    // Not a number wins and stays.
                                    if (dy == 0 && dx == 0) || !(*x <= *y) {
                                        *y = *x;
                                        *place = (first + i * self.stride[1]) as u32;
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, scratch: &mut Scratch) {
        let Some(Below { gradient: below, add }) = below else { return };
        if !add {
            below.fill(0.0);
        }
        let (plane, count) = (self.size[0] * self.size[1], self.places[0] * self.places[1]);
        let share = 1.0 / (self.kernel[0] * self.kernel[1]) as f32;
        let planes = below.chunks_exact_mut(plane).zip(flow.gradient.chunks_exact(count));
        for ((below, gradient), places) in planes.zip(scratch.places.chunks_exact(count)) {
            match self.kind {
                PoolKind::Largest => {
                    gradient.iter().zip(places).for_each(|(g, place)| below[*place as usize] += g);
                }
                PoolKind::Mean => {
                    for (i, g) in gradient.iter().enumerate() {
                        let corner = self.corner(i / self.places[1], i % self.places[1]);
                        for dy in 0..self.kernel[0] {
                            let row = &mut below[corner + dy * self.size[1]..][..self.kernel[1]];
                            row.iter_mut().for_each(|x| *x += g * share);
                        }
                    }
                }
            }
        }
    }

    fn memory(&self) -> (usize, usize) {
        (self.places[0] * self.places[1], 0)
    }
}
