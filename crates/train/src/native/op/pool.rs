//! Windows over planes, without weights.

use super::{Below, Flow, Op, Scratch};
use crate::describe::{Window, windows};
use pulp::{Arch, Simd, WithSimd};

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
    channels: usize,
    size: [usize; 2],
    places: [usize; 2],
}

impl Pool {
    /// Nothing if the window does not fit.
    pub(in crate::native) fn new(
        kind: PoolKind,
        kernel: [usize; 2],
        stride: [usize; 2],
        channels: usize,
        size: [usize; 2],
    ) -> Option<Self> {
        let places = windows(size, Window { kernel, stride, padding: [0, 0], dilation: [1, 1] })?;
        Some(Self { kind, kernel, stride, channels, size, places })
    }

    /// Where the window of a place begins in its plane.
    fn corner(&self, y: usize, x: usize) -> usize {
        y * self.stride[0] * self.size[1] + x * self.stride[1]
    }
}

/// One row of one place of all windows: larger values replace those in `output`, and their places those in `places`.
struct Compare<'a> {
    values: &'a [f32],
    stride: usize,
    output: &'a mut [f32],
    places: &'a mut [u32],
    first: u32,
    /// Whether nothing is there yet.
    fresh: bool,
}

impl Compare<'_> {
    #[inline(always)]
    fn one(fresh: bool, x: f32, place: u32, into: &mut f32, at: &mut u32) {
        // Not a number wins and stays.
        let wins = fresh | (x > *into) | x.is_nan();
        *into = if wins { x } else { *into };
        *at = if wins { place } else { *at };
    }
}

impl WithSimd for Compare<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { values, stride, output, places, first, fresh } = self;
        let count = output.len().min(places.len());
        let (output, places) = (&mut output[..count], &mut places[..count]);
        match stride {
            1 => {
                let values = &values[..count];
                for i in 0..count {
                    Self::one(fresh, values[i], first + i as u32, &mut output[i], &mut places[i]);
                }
            }
            2 => {
                let values = &values[..2 * count - 1];
                for i in 0..count {
                    Self::one(fresh, values[2 * i], first + 2 * i as u32, &mut output[i], &mut places[i]);
                }
            }
            _ => {
                for i in 0..count {
                    let place = i * stride;
                    Self::one(fresh, values[place], first + place as u32, &mut output[i], &mut places[i]);
                }
            }
        }
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
                        let values = &image[first..];
                        match self.kind {
                            PoolKind::Mean => {
                                let values = values.iter().step_by(self.stride[1]);
                                output.iter_mut().zip(values).for_each(|(y, x)| *y += x * share);
                            }
                            PoolKind::Largest => Arch::new().dispatch(Compare {
                                values,
                                stride: self.stride[1],
                                output,
                                places,
                                first: first as u32,
                                fresh: dy == 0 && dx == 0,
                            }),
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
        (self.channels * self.places[0] * self.places[1], 0)
    }
}
