//! Windows over planes, without weights.

use super::{Below, Flow, Op, Scratch};
use crate::describe::windows;
use crate::graph::{PoolKind, Window};
use pulp::{Arch, Simd, WithSimd};

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

    /// Whether windows are those that [`Square`] is for, the usual ones.
    fn is_square(&self) -> bool {
        self.kind == PoolKind::Largest && self.kernel == [2, 2] && self.stride[1] <= 2
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

/// All places of one row of windows of 2 × 2: the largest values and where they lie.
struct Square<'a> {
    /// From the first window's corner on.
    image: &'a [f32],
    /// Numbers of a row of the image.
    width: usize,
    stride: usize,
    output: &'a mut [f32],
    places: &'a mut [u32],
    first: u32,
}

impl Square<'_> {
    // Arguments, unlike fields, are known not to overlap; without that the loop would run window by window.
    #[inline(always)]
    fn run<const STRIDE: usize>(
        rows: [&[f32]; 2],
        width: usize,
        output: &mut [f32],
        places: &mut [u32],
        first: u32,
    ) {
        let count = output.len();
        let places = &mut places[..count];
        let [above, below] = rows.map(|row| &row[..STRIDE * (count - 1) + 2]);
        for i in 0..count {
            let x = STRIDE * i;
            let (corner, down) = (first + x as u32, width as u32);
            let (mut most, mut place) = (above[x], corner);
            let others =
                [(above[x + 1], corner + 1), (below[x], corner + down), (below[x + 1], corner + down + 1)];
            for (value, at) in others {
                // Not a number wins and stays.
                let wins = (value > most) | value.is_nan();
                most = if wins { value } else { most };
                place = if wins { at } else { place };
            }
            (output[i], places[i]) = (most, place);
        }
    }
}

impl WithSimd for Square<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { image, width, stride, output, places, first } = self;
        let rows = [image, &image[width..]];
        match stride {
            1 => Self::run::<1>(rows, width, output, places, first),
            _ => Self::run::<2>(rows, width, output, places, first),
        }
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
                if self.is_square() {
                    let first = self.corner(y, 0);
                    let (image, width, stride) = (&image[first..], self.size[1], self.stride[1]);
                    let first = first as u32;
                    Arch::new().dispatch(Square { image, width, stride, output, places, first });
                    continue;
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_each_window_and_its_place() {
        for (height, width, stride) in [(2, 2, 2), (4, 33, 2), (5, 40, 1), (3, 7, 1), (7, 9, 3)] {
            let value = |i: usize| ((i * 37 + 11) % 23) as f32 - 11.0;
            let mut image: Vec<f32> = (0..height * width).map(value).collect();
            image[width + 1] = f32::NAN;
            let pool =
                Pool::new(PoolKind::Largest, [2, 2], [stride; 2], 1, [height, width]).expect("it fits");
            let [rows, columns] = pool.places;
            let (mut output, mut scratch) = (vec![0.0; rows * columns], Scratch::default());
            pool.forward(&[], 1, &image, &mut output, &mut scratch);
            for (i, found) in output.iter().enumerate() {
                let corner = pool.corner(i / columns, i % columns);
                let window = [corner, corner + 1, corner + width, corner + width + 1];
                let place = scratch.places[i] as usize;
                assert!(window.contains(&place));
                assert_eq!(found.to_bits(), image[place].to_bits());
                if window.iter().any(|at| image[*at].is_nan()) {
                    assert!(found.is_nan());
                } else {
                    assert!(window.iter().all(|at| image[*at] <= *found));
                    assert_eq!(
                        window.iter().find(|at| image[**at] == *found),
                        Some(&place),
                        "the first of equals"
                    );
                }
            }
        }
    }
}
