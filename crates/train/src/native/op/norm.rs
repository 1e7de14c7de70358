//! Normalisation within an example.

use super::super::kernel::vector::{add_scaled, deliver, dot, squared, sum};
use super::{Below, Flow, Op, Scratch, Units, add_kept, sized};

/// Added to variances.
const STABILITY: f32 = 1e-5;

/// Normalised over the last dimension; weights `[width]`, then the bias.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct LayerNorm {
    pub(in crate::native) width: usize,
    pub(in crate::native) places: usize,
}

/// Normalised over groups of channels; weights `[channels]`, then the bias.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct GroupNorm {
    pub(in crate::native) channels: usize,
    pub(in crate::native) groups: usize,
    pub(in crate::native) places: usize,
}

/// Writes (x − mean)/deviation and returns 1/deviation.
fn normalise(x: &[f32], into: &mut [f32]) -> f32 {
    let n = x.len() as f32;
    let mean = sum(x) / n;
    for (into, x) in into.iter_mut().zip(x) {
        *into = x - mean;
    }
    let inverse = 1.0 / (dot(into, into) / n + STABILITY).sqrt();
    into.iter_mut().for_each(|x| *x *= inverse);
    inverse
}

/// Turns the gradient of the normalised numbers into that of the numbers.
fn unnormalise(normal: &[f32], inverse: f32, gradient: &mut [f32]) {
    let n = gradient.len() as f32;
    let mean = sum(gradient) / n;
    let along = dot(gradient, normal) / n;
    for (g, x) in gradient.iter_mut().zip(normal) {
        *g = (*g - mean - x * along) * inverse;
    }
}

impl Op for LayerNorm {
    fn forward(
        &self,
        weights: &[f32],
        rows: usize,
        input: &[f32],
        output: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let (gain, bias) = weights.split_at(self.width);
        let count = rows * self.places;
        let (normal, inverses) =
            sized(&mut scratch.saved, count * (self.width + 1)).split_at_mut(count * self.width);
        let places = input.chunks_exact(self.width).zip(output.chunks_exact_mut(self.width));
        for (((x, y), normal), inverse) in places.zip(normal.chunks_exact_mut(self.width)).zip(inverses) {
            *inverse = normalise(x, normal);
            for (((y, x), gain), bias) in y.iter_mut().zip(normal.iter()).zip(gain).zip(bias) {
                *y = x * gain + bias;
            }
        }
    }

    fn backward(
        &self,
        weights: &[f32],
        rows: usize,
        flow: Flow<'_>,
        below: Option<Below<'_>>,
        scratch: &mut Scratch,
    ) {
        let Some(Below { gradient: below, add }) = below else { return };
        let count = rows * self.places;
        let (normal, inverses) = scratch.saved[..count * (self.width + 1)].split_at(count * self.width);
        let work = sized(&mut scratch.work, self.width);
        let places = flow.gradient.chunks_exact(self.width).zip(below.chunks_exact_mut(self.width));
        for (((g, below), normal), inverse) in places.zip(normal.chunks_exact(self.width)).zip(inverses) {
            for ((work, g), gain) in work.iter_mut().zip(g).zip(weights) {
                *work = g * gain;
            }
            unnormalise(normal, *inverse, work);
            deliver(below, work, add);
        }
    }

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        let (width, stretch) = (self.width, self.places * self.width);
        let kept = sized(&mut scratch.kept, units.len() * 2 * width);
        for ((range, kept), square) in units.ranges().zip(kept.chunks_exact_mut(2 * width)).zip(squares) {
            kept.fill(0.0);
            let part = range.start * stretch..range.end * stretch;
            gather_layer(&scratch.saved[part.clone()], &flow.gradient[part], width, kept);
            *square += squared(kept);
        }
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], _: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        let size = 2 * self.width;
        add_kept(&scratch.kept[..units.len() * size], size, factors, sum);
    }

    fn total(&self, flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        gather_layer(&scratch.saved, flow.gradient, self.width, sum);
    }

    fn memory(&self) -> (usize, usize) {
        (self.places * (self.width + 1), 2 * self.width)
    }
}

/// Adds Σ g·x and Σ g over places.
fn gather_layer(normal: &[f32], gradient: &[f32], width: usize, into: &mut [f32]) {
    let (gain, bias) = into.split_at_mut(width);
    for (g, x) in gradient.chunks_exact(width).zip(normal.chunks_exact(width)) {
        for (((gain, bias), g), x) in gain.iter_mut().zip(bias.iter_mut()).zip(g).zip(x) {
            *gain += g * x;
            *bias += g;
        }
    }
}

impl GroupNorm {
    fn stretch(&self) -> usize {
        self.channels / self.groups * self.places
    }

    /// Adds Σ g·x and Σ g over places, for each channel.
    fn gather(&self, normal: &[f32], gradient: &[f32], into: &mut [f32]) {
        let (gain, bias) = into.split_at_mut(self.channels);
        let planes = gradient.chunks_exact(self.places).zip(normal.chunks_exact(self.places));
        for (plane, (g, x)) in planes.enumerate() {
            gain[plane % self.channels] += dot(g, x);
            bias[plane % self.channels] += sum(g);
        }
    }
}

impl Op for GroupNorm {
    fn forward(
        &self,
        weights: &[f32],
        rows: usize,
        input: &[f32],
        output: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let (gain, bias) = weights.split_at(self.channels);
        let numbers = rows * self.channels * self.places;
        let saved = sized(&mut scratch.saved, numbers + rows * self.groups);
        let (normal, inverses) = saved.split_at_mut(numbers);
        let stretch = self.stretch();
        for ((x, normal), inverse) in
            input.chunks_exact(stretch).zip(normal.chunks_exact_mut(stretch)).zip(inverses)
        {
            *inverse = normalise(x, normal);
        }
        let planes = output.chunks_exact_mut(self.places).zip(normal.chunks_exact(self.places));
        for (plane, (y, x)) in planes.enumerate() {
            y.fill(bias[plane % self.channels]);
            add_scaled(y, gain[plane % self.channels], x);
        }
    }

    fn backward(
        &self,
        weights: &[f32],
        rows: usize,
        flow: Flow<'_>,
        below: Option<Below<'_>>,
        scratch: &mut Scratch,
    ) {
        let Some(Below { gradient: below, add }) = below else { return };
        let numbers = rows * self.channels * self.places;
        let (normal, inverses) = scratch.saved[..numbers + rows * self.groups].split_at(numbers);
        let stretch = self.stretch();
        let work = sized(&mut scratch.work, stretch);
        let parts = flow.gradient.chunks_exact(stretch).zip(below.chunks_exact_mut(stretch));
        for (part, (((g, below), normal), inverse)) in
            parts.zip(normal.chunks_exact(stretch)).zip(inverses).enumerate()
        {
            let first = part % self.groups * (self.channels / self.groups);
            let planes = work.chunks_exact_mut(self.places).zip(g.chunks_exact(self.places));
            for ((work, g), gain) in planes.zip(&weights[first..]) {
                work.fill(0.0);
                add_scaled(work, *gain, g);
            }
            unnormalise(normal, *inverse, work);
            deliver(below, work, add);
        }
    }

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        let (size, stretch) = (2 * self.channels, self.channels * self.places);
        let kept = sized(&mut scratch.kept, units.len() * size);
        for ((range, kept), square) in units.ranges().zip(kept.chunks_exact_mut(size)).zip(squares) {
            kept.fill(0.0);
            let part = range.start * stretch..range.end * stretch;
            self.gather(&scratch.saved[part.clone()], &flow.gradient[part], kept);
            *square += squared(kept);
        }
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], _: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        let size = 2 * self.channels;
        add_kept(&scratch.kept[..units.len() * size], size, factors, sum);
    }

    fn total(&self, flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        self.gather(&scratch.saved, flow.gradient, sum);
    }

    fn memory(&self) -> (usize, usize) {
        (self.channels * self.places + self.groups, 2 * self.channels)
    }
}
