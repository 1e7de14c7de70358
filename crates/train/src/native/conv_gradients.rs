//! Convolutions that another framework computes: norms and clipped sums of their weights' gradients, on the framework's memory.

use super::kernel::product::{MatrixView, multiply};
use super::kernel::vector::squared;
use super::op::{Conv, add_kept};
use crate::graph::Geometry;
use crate::team::Team;

/// Up to so many places products with unfolded inputs are faster than sliding sums.
const FEW: usize = 128;

/// So many weights are too many for a thread's caches.
const LARGE: usize = 1 << 20;

/// The gradients of a convolution's weights for single examples, in single precision on the CPU.
///
/// Inputs are `[examples][channels][height][width]`, gradients of outputs likewise. A unit is a fixed number of examples in a row.
#[derive(Debug)]
pub struct ConvGradients {
    conv: Conv,
    is_unfolded: bool,
}

/// What a convolution has read, and the gradient of what it gave.
#[derive(Debug, Clone, Copy)]
pub struct ConvPass<'a> {
    /// The inputs of all examples.
    pub input: &'a [f32],
    /// The gradients of all outputs.
    pub gradient: &'a [f32],
    /// Examples of a unit.
    pub each: usize,
}

/// The lengths of units' gradients.
#[derive(Debug)]
pub struct ConvLengths<'a> {
    /// The squared norm of every unit's gradient.
    pub squares: &'a mut [f64],
    /// Σ |input patch|·|output gradient| over the places of every unit: no sum of them is longer, in whatever order it is added up.
    pub parts: &'a mut [f64],
}

/// Buffers of one thread.
struct Room {
    planes: Vec<f32>,
    turned: Vec<f32>,
    columns: Vec<f32>,
    one: Vec<f32>,
}

/// One example and what its gradient is multiplied by.
struct Example<'a> {
    input: &'a [f32],
    gradient: &'a [f32],
    factor: f32,
}

impl ConvGradients {
    /// Nothing if the window does not fit the input, or groups do not divide the channels.
    #[must_use]
    pub fn new(geometry: Geometry) -> Option<Self> {
        let Geometry { channels, out, groups, .. } = geometry;
        if groups == 0 || out == 0 || channels == 0 || channels % groups != 0 || out % groups != 0 {
            return None;
        }
        let conv = Conv::new(Geometry { bias: false, ..geometry })?;
        let is_unfolded = conv.places() <= FEW;
        Some(Self { conv, is_unfolded })
    }

    /// Numbers that are kept of every unit, in an order of their own.
    #[must_use]
    pub fn kept(&self) -> usize {
        if self.is_unfolded { self.conv.weights() } else { self.conv.kept() }
    }

    /// Numbers of all weights.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.conv.weights()
    }

    /// How many units a pass has. Nothing if input and gradient do not belong together.
    #[must_use]
    pub fn units(&self, pass: ConvPass<'_>) -> Option<usize> {
        let (image, out) = (self.conv.image() * pass.each, self.conv.output() * pass.each);
        if image == 0 || out == 0 {
            return None;
        }
        let units = pass.input.len() / image;
        (pass.input.len() == units * image && pass.gradient.len() == units * out).then_some(units)
    }

    /// Measures the gradient of every unit. With `kept` they are written there, and then parts are not computed.
    ///
    /// # Panics
    /// If the lengths of the slices do not belong to [`units`](Self::units).
    pub fn measure(
        &self,
        pass: ConvPass<'_>,
        kept: Option<&mut [f32]>,
        lengths: ConvLengths<'_>,
        team: Team,
    ) {
        let units = lengths.squares.len();
        assert_eq!(self.units(pass), Some(units), "input and gradient of a convolution");
        assert_eq!(lengths.parts.len(), units, "one sum of parts for every unit");
        let share = units.div_ceil(team.size()).max(1);
        let size = self.kept();
        let mut kept: Vec<Option<&mut [f32]>> = match kept {
            Some(kept) => {
                assert_eq!(kept.len(), units * size, "what is kept of every unit");
                kept.chunks_mut(share * size).map(Some).collect()
            }
            None => (0..units.div_ceil(share)).map(|_| None).collect(),
        };
        let shares =
            lengths.squares.chunks_mut(share).zip(lengths.parts.chunks_mut(share)).zip(kept.drain(..));
        team.each(shares.enumerate(), |(index, ((squares, parts), kept))| {
            self.measure_share(self.of(pass, index * share, squares.len()), kept, squares, parts);
        });
    }

    fn measure_share(
        &self,
        pass: ConvPass<'_>,
        mut kept: Option<&mut [f32]>,
        squares: &mut [f64],
        parts: &mut [f64],
    ) {
        let mut room = self.room();
        let mut one = std::mem::take(&mut room.one);
        let size = self.kept();
        for (unit, (square, parts)) in squares.iter_mut().zip(parts).enumerate() {
            let pass = self.of(pass, unit, 1);
            let out = match &mut kept {
                Some(kept) => &mut kept[unit * size..][..size],
                None => {
                    *parts = self.parts(pass, &mut room);
                    &mut one[..]
                }
            };
            for (i, (input, gradient)) in self.examples(pass).enumerate() {
                self.write(input, gradient, &mut room, out, i > 0);
            }
            *square = if self.is_unfolded { squared(out) } else { self.conv.square(out) };
        }
    }

    /// Adds what is kept of every unit to the sum, each multiplied by its factor. A factor of 0 adds nothing, whatever is kept.
    ///
    /// # Panics
    /// If the lengths of the slices do not belong together.
    pub fn add_kept(&self, kept: &[f32], factors: &[f32], sum: &mut [f32], team: Team) {
        let size = self.kept();
        assert_eq!(kept.len(), factors.len() * size, "what is kept of every unit");
        self.summed(factors, sum, team, |first, factors, total| {
            add_kept(&kept[first * size..][..factors.len() * size], size, factors, total);
        });
    }

    /// Adds the gradient of every unit to the sum, each multiplied by its factor. A factor of 0 adds nothing, whatever the unit holds.
    ///
    /// # Panics
    /// If the lengths of the slices do not belong together.
    pub fn add(&self, pass: ConvPass<'_>, factors: &[f32], sum: &mut [f32], team: Team) {
        assert_eq!(self.units(pass), Some(factors.len()), "one factor for every unit");
        assert_eq!(sum.len(), self.weights(), "the sum of a convolution's gradients");
        if self.is_unfolded && self.weights() >= LARGE {
            return self.add_unfolded(&self.weighted(pass, 0, factors), sum, team);
        }
        self.summed(factors, sum, team, |first, factors, total| {
            let (mut room, mut scaled) = (self.room(), vec![0.0; self.conv.output()]);
            for own in self.weighted(pass, first, factors) {
                for (scaled, value) in scaled.iter_mut().zip(own.gradient) {
                    *scaled = own.factor * value;
                }
                self.write(own.input, &scaled, &mut room, total, true);
            }
        });
    }

    /// The examples of units whose factors are not 0.
    fn weighted<'a>(&self, pass: ConvPass<'a>, first: usize, factors: &[f32]) -> Vec<Example<'a>> {
        let taken = factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0);
        let examples = taken.flat_map(|(unit, factor)| {
            let own = self.examples(self.of(pass, first + unit, 1));
            own.map(|(input, gradient)| Example { input, gradient, factor: *factor })
        });
        examples.collect()
    }

    /// Adds examples by products over the places of several, each thread to weights of its own: example by example, all weights would be
    /// read and written for each.
    fn add_unfolded(&self, examples: &[Example<'_>], sum: &mut [f32], team: Team) {
        let (depth, places, outer) = (self.conv.depth(), self.conv.places(), self.conv.outer());
        let image = self.conv.group_image();
        let together = (FEW / places.max(1)).clamp(1, examples.len().max(1));
        // Rows whose distance is a power of 2 would push each other out of the cache.
        let pitch = together * places + 16;
        let mut columns = vec![0.0; depth * pitch];
        let mut planes = vec![Vec::new(); together];
        for planes in &mut planes {
            self.conv.planes(planes);
        }
        let (stretch, block) = (depth.div_ceil(team.size()).max(1), outer.div_ceil(team.size()).max(1));
        for some in examples.chunks(together) {
            let count = some.len() * places;
            for (group, out) in sum.chunks_exact_mut(outer * depth).enumerate() {
                team.each(planes.iter_mut().zip(some), |(planes, own)| {
                    self.conv.spread(&own.input[group * image..][..image], planes);
                });
                team.each(columns.chunks_mut(stretch * pitch).enumerate(), |(index, rows)| {
                    for (at, planes) in planes[..some.len()].iter().enumerate() {
                        self.conv.unfold(planes, index * stretch, rows, pitch, at * places);
                    }
                });
                let right = MatrixView::strided(&columns, depth, count, pitch).transposed();
                team.each(out.chunks_mut(block * depth).enumerate(), |(index, out)| {
                    let rows = out.len() / depth;
                    let mut slopes = vec![0.0; rows * count];
                    for (row, into) in slopes.chunks_exact_mut(count).enumerate() {
                        let from = (group * outer + index * block + row) * places;
                        for (into, own) in into.chunks_exact_mut(places).zip(some) {
                            let slopes = &own.gradient[from..][..places];
                            into.iter_mut().zip(slopes).for_each(|(into, value)| *into = own.factor * value);
                        }
                    }
                    multiply(out, depth, MatrixView::new(&slopes, rows, count), right, true);
                });
            }
        }
    }

    /// Sums shares in memory of their own, then into the sum, in the order of the shares.
    fn summed(
        &self,
        factors: &[f32],
        sum: &mut [f32],
        team: Team,
        work: impl Fn(usize, &[f32], &mut [f32]) + Sync,
    ) {
        assert_eq!(sum.len(), self.weights(), "the sum of a convolution's gradients");
        let share = factors.len().div_ceil(team.size()).max(1);
        let mut totals = vec![vec![0.0; self.kept()]; factors.len().div_ceil(share)];
        let shares = totals.iter_mut().zip(factors.chunks(share)).enumerate();
        team.each(shares, |(index, (total, factors))| work(index * share, factors, total));
        for total in &totals {
            if self.is_unfolded {
                sum.iter_mut().zip(total).for_each(|(sum, value)| *sum += value);
            } else {
                self.conv.settle(total, sum);
            }
        }
    }

    /// Some of the units of a pass.
    fn of<'a>(&self, pass: ConvPass<'a>, first: usize, count: usize) -> ConvPass<'a> {
        let part = |all: &'a [f32], size: usize| {
            let size = size * pass.each;
            &all[first * size..(first + count) * size]
        };
        ConvPass {
            input: part(pass.input, self.conv.image()),
            gradient: part(pass.gradient, self.conv.output()),
            ..pass
        }
    }

    fn examples<'a>(&self, pass: ConvPass<'a>) -> impl Iterator<Item = (&'a [f32], &'a [f32])> + use<'a> {
        let (image, out) = (self.conv.image(), self.conv.output());
        pass.input.chunks_exact(image).zip(pass.gradient.chunks_exact(out))
    }

    fn room(&self) -> Room {
        let mut planes = Vec::new();
        self.conv.planes(&mut planes);
        let unfolded = self.conv.depth() * self.conv.places();
        Room {
            planes,
            turned: vec![0.0; if self.is_unfolded { 0 } else { self.conv.places() * self.conv.padded() }],
            columns: vec![0.0; if self.is_unfolded { unfolded } else { 0 }],
            one: vec![0.0; self.kept()],
        }
    }

    /// Writes the gradient of one example, or adds it.
    fn write(&self, input: &[f32], gradient: &[f32], room: &mut Room, out: &mut [f32], add: bool) {
        if !self.is_unfolded {
            return self.conv.gather(input, gradient, &mut room.planes, &mut room.turned, out, add);
        }
        let (depth, places, outer) = (self.conv.depth(), self.conv.places(), self.conv.outer());
        let images = input.chunks_exact(self.conv.group_image());
        let outs = out.chunks_exact_mut(outer * depth);
        for ((image, gradient), out) in images.zip(gradient.chunks_exact(outer * places)).zip(outs) {
            self.conv.spread(image, &mut room.planes);
            self.conv.unfold(&room.planes, 0, &mut room.columns, places, 0);
            let left = MatrixView::new(gradient, outer, places);
            let right = MatrixView::new(&room.columns, depth, places).transposed();
            multiply(out, depth, left, right, add);
        }
    }

    /// The sum of the lengths of the parts of one unit's gradient: underflow is added, so it is not less than it is.
    fn parts(&self, pass: ConvPass<'_>, room: &mut Room) -> f64 {
        let (depth, places, outer) = (self.conv.depth(), self.conv.places(), self.conv.outer());
        let mut whole = 0.0;
        let (mut left, mut right) = (vec![0.0f32; places], vec![0.0f32; places]);
        for (input, gradient) in self.examples(pass) {
            let images = input.chunks_exact(self.conv.group_image());
            for (image, gradient) in images.zip(gradient.chunks_exact(outer * places)) {
                self.conv.spread(image, &mut room.planes);
                self.conv.patch_squares(&room.planes, &mut left);
                right.fill(0.0);
                for channel in gradient.chunks_exact(places) {
                    right.iter_mut().zip(channel).for_each(|(sum, value)| *sum += value * value);
                }
                let lost = |count: usize| count as f64 * f64::from(f32::MIN_POSITIVE);
                for (left, right) in left.iter().zip(&right) {
                    whole += ((f64::from(*left) + lost(depth)) * (f64::from(*right) + lost(outer))).sqrt();
                }
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::Window;

    /// The gradient of one example by the definition, in double precision.
    fn by_definition(geometry: Geometry, places: [usize; 2], input: &[f32], gradient: &[f32]) -> Vec<f64> {
        let Geometry { channels, size, out, groups, window, .. } = geometry;
        let (inner, outer) = (channels / groups, out / groups);
        let mut found = Vec::new();
        for o in 0..out {
            for c in 0..inner {
                for tap in 0..window.kernel[0] * window.kernel[1] {
                    let mut sum = 0.0;
                    for place in 0..places[0] * places[1] {
                        let at = |i: usize, place: usize, tap: usize| {
                            (place * window.stride[i] + tap * window.dilation[i])
                                .checked_sub(window.padding[i])
                                .filter(|at| *at < size[i])
                        };
                        let y = at(0, place / places[1], tap / window.kernel[1]);
                        let x = at(1, place % places[1], tap % window.kernel[1]);
                        if let (Some(y), Some(x)) = (y, x) {
                            let channel = o / outer * inner + c;
                            sum += f64::from(input[(channel * size[0] + y) * size[1] + x])
                                * f64::from(gradient[o * places[0] * places[1] + place]);
                        }
                    }
                    found.push(sum);
                }
            }
        }
        found
    }

    fn numbers(count: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn check(geometry: Geometry, each: usize, threads: usize) {
        let gradients = ConvGradients::new(geometry).unwrap();
        let places = crate::describe::windows(geometry.size, geometry.window).unwrap();
        let (image, out) = (gradients.conv.image(), gradients.conv.output());
        let units = 3;
        let (input, gradient) = (numbers(units * each * image, 1), numbers(units * each * out, 2));
        let pass = ConvPass { input: &input, gradient: &gradient, each };
        assert_eq!(gradients.units(pass), Some(units));
        let expected: Vec<Vec<f64>> = (0..units)
            .map(|unit| {
                let mut sum = vec![0.0; gradients.weights()];
                for row in unit * each..(unit + 1) * each {
                    let one = by_definition(
                        geometry,
                        places,
                        &input[row * image..][..image],
                        &gradient[row * out..][..out],
                    );
                    sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
                }
                sum
            })
            .collect();
        let mut kept = vec![f32::NAN; units * gradients.kept()];
        let factors = [0.5, 0.0, -2.0];
        for with_kept in [true, false] {
            let (mut squares, mut parts) = (vec![0.0; units], vec![0.0; units]);
            let lengths = ConvLengths { squares: &mut squares, parts: &mut parts };
            gradients.measure(pass, with_kept.then_some(&mut kept[..]), lengths, Team::own(threads));
            for (unit, expected) in expected.iter().enumerate() {
                let square: f64 = expected.iter().map(|value| value * value).sum();
                assert!((squares[unit] - square).abs() <= 1e-5 * square, "{geometry:?}");
                assert!(with_kept || parts[unit].powi(2) >= square, "{geometry:?}");
            }
            let mut sum = vec![1.0f32; gradients.weights()];
            if with_kept {
                kept[gradients.kept()] = f32::NAN;
                gradients.add_kept(&kept, &factors, &mut sum, Team::own(threads));
            } else {
                let mut spoilt = input.clone();
                spoilt[each * image] = f32::NAN;
                let pass = ConvPass { input: &spoilt, ..pass };
                gradients.add(pass, &factors, &mut sum, Team::own(threads));
                if gradients.is_unfolded {
                    let mut whole = vec![1.0f32; gradients.weights()];
                    let examples = gradients.weighted(pass, 0, &factors);
                    gradients.add_unfolded(&examples, &mut whole, Team::own(threads));
                    let near = |(one, other): (&f32, &f32)| (one - other).abs() <= 1e-4;
                    assert!(whole.iter().zip(&sum).all(near), "{geometry:?}");
                }
            }
            for (place, value) in sum.iter().enumerate() {
                let wanted = 1.0 + 0.5 * expected[0][place] - 2.0 * expected[2][place];
                assert!((f64::from(*value) - wanted).abs() <= 1e-4, "{geometry:?} {value} {wanted}");
            }
        }
    }

    #[test]
    fn gradients_are_those_of_the_definition() {
        let window = |kernel, stride, padding, dilation| Window { kernel, stride, padding, dilation };
        let cases = [
            (4, [8, 7], 6, 1, window([3, 3], [1, 1], [1, 1], [1, 1])),
            (4, [8, 7], 6, 2, window([3, 2], [2, 1], [2, 0], [1, 2])),
            (3, [14, 15], 17, 1, window([3, 3], [1, 1], [1, 1], [1, 1])),
            (6, [30, 30], 6, 6, window([3, 3], [2, 2], [1, 1], [1, 1])),
            (2, [1, 300], 4, 1, window([1, 5], [1, 2], [0, 2], [1, 1])),
            (2, [13, 13], 3, 1, window([2, 2], [3, 3], [0, 1], [2, 1])),
        ];
        for (channels, size, out, groups, window) in cases {
            let geometry = Geometry { channels, size, out, groups, window, bias: false };
            for (each, threads) in [(1, 1), (1, 2), (2, 5)] {
                check(geometry, each, threads);
            }
        }
    }

    #[test]
    fn what_does_not_belong_together_is_not_measured() {
        let window = Window { kernel: [3, 3], stride: [1, 1], padding: [0, 0], dilation: [1, 1] };
        let geometry = Geometry { channels: 2, size: [4, 4], out: 2, groups: 1, window, bias: false };
        assert!(ConvGradients::new(Geometry { groups: 3, ..geometry }).is_none());
        assert!(ConvGradients::new(Geometry { size: [2, 2], ..geometry }).is_none());
        let gradients = ConvGradients::new(geometry).unwrap();
        let (input, gradient) = (vec![0.0; 64], vec![0.0; 16]);
        let pass = ConvPass { input: &input, gradient: &gradient, each: 1 };
        assert_eq!(gradients.units(pass), Some(2));
        assert_eq!(gradients.units(ConvPass { each: 2, ..pass }), Some(1));
        assert_eq!(gradients.units(ConvPass { each: 0, ..pass }), None);
        assert_eq!(gradients.units(ConvPass { gradient: &gradient[..8], ..pass }), None);
    }
}
