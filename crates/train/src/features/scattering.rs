//! The scattering transform of order two.
//!
//! | symbol | meaning |
//! |---|---|
//! | J, L | scales and orientations |
//! | x | a channel, padded by reflection, as a periodic signal |
//! | ψ(j, θ), φ | wavelets and the low-pass filter (`wavelet`) |
//! | U₁ = \|x ∗ ψ(j₁, θ₁)\| | on a grid coarser by 2^j₁ |
//! | U₂ = \|U₁ ∗ ψ(j₂, θ₂)\| | j₂ > j₁, on a grid coarser by 2^j₂ |
//!
//! The features of a channel are x ∗ φ, all U₁ ∗ φ and all U₂ ∗ φ, in this order and in that of (j₁, θ₁, j₂, θ₂), at every 2^J-th
//! place. On a coarser grid a filter keeps the frequencies which that grid has.
//!
//! Wavelets are applied in the Fourier domain, where taking every 2^k-th place is the mean of 4^k parts of the spectrum. The
//! low-pass filter is a product of one filter per dimension, so it is applied as two small matrices. Two moduli of one channel, which
//! are real, share a Fourier transform: as its real and its imaginary part.

use super::wavelet::{low_pass, morlet};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};
use std::sync::Arc;

type C = Complex<f32>;

const ZERO: C = C { re: 0.0, im: 0.0 };

/// How many features a channel has at every place.
pub(super) fn paths(scales: usize, orientations: usize) -> usize {
    1 + scales * orientations + orientations * orientations * scales * (scales - 1) / 2
}

/// Transforms of a grid.
struct Grid {
    size: [usize; 2],
    forward: [Arc<dyn Fft<f32>>; 2],
    inverse: [Arc<dyn Fft<f32>>; 2],
    /// The low-pass filter to the places of the features: along rows' numbers, and along columns'.
    low: [Vec<f32>; 2],
    /// `wavelets[j][θ]` by frequency, divided by the number of places; empty for scales that this grid is too coarse for.
    wavelets: Vec<Vec<Vec<f32>>>,
}

/// The transform for images of one shape.
pub(super) struct Scattering {
    channels: usize,
    size: [usize; 2],
    /// Sides of the features.
    out: [usize; 2],
    scales: usize,
    orientations: usize,
    /// Which row or column of the image every padded one is.
    source: [Vec<usize>; 2],
    /// By how often the grid was halved.
    grids: Vec<Grid>,
}

/// What one thread writes on.
pub(super) struct Scratch {
    image: Vec<f32>,
    spectrum: Vec<C>,
    signal: Vec<C>,
    turned: Vec<C>,
    fft: Vec<C>,
    moduli: Vec<f32>,
    pair: Vec<C>,
    halves: [Vec<C>; 2],
    narrowed: Vec<f32>,
}

impl Scattering {
    pub(super) fn new(channels: usize, size: [usize; 2], scales: usize, orientations: usize) -> Self {
        let step = 1usize << scales;
        // Features are taken at every step but the first and the last, which are padding.
        let padded = size.map(|side| ((side + step) / step + 1) * step);
        let out = size.map(|side| side >> scales);
        let source = [0, 1].map(|at| reflected(size[at], padded[at]));
        let mut planner = FftPlanner::new();
        let whole: Vec<Vec<_>> = (0..scales)
            .map(|scale| (0..orientations).map(|at| morlet(padded, scale, at, orientations)).collect())
            .collect();
        let grids = (0..scales).map(|level| {
            let grid = padded.map(|side| side >> level);
            let divisor = (grid[0] * grid[1]) as f64;
            let at_level = |scale: usize| -> Vec<Vec<f32>> {
                // The image meets all wavelets, moduli of scale j those above j.
                if scale < level || (level > 0 && scale == level) {
                    return Vec::new();
                }
                let each = whole[scale].iter().map(|wavelet| wavelet.coarsened(level).values);
                each.map(|own| own.iter().map(|value| (value / divisor) as f32).collect()).collect()
            };
            let places = step >> level;
            let low = [0, 1].map(|at| low_pass(padded[at], level, scales, (places, places, out[at])));
            Grid {
                size: grid,
                forward: grid.map(|side| planner.plan_fft_forward(side)),
                inverse: grid.map(|side| planner.plan_fft_inverse(side)),
                low,
                wavelets: (0..scales).map(at_level).collect(),
            }
        });
        let grids = grids.collect();
        Self { channels, size, out, scales, orientations, source, grids }
    }

    pub(super) fn scratch(&self) -> Scratch {
        let grid = &self.grids[0];
        let places = grid.size[0] * grid.size[1];
        let all = self.grids.iter().flat_map(|grid| grid.forward.iter().chain(&grid.inverse));
        let fft = all.map(|fft| fft.get_inplace_scratch_len()).max().unwrap_or(0);
        Scratch {
            image: vec![0.0; places],
            spectrum: vec![ZERO; places],
            signal: vec![ZERO; places],
            turned: vec![ZERO; places],
            fft: vec![ZERO; fft],
            moduli: vec![0.0; places * self.orientations],
            pair: vec![ZERO; places],
            halves: [vec![ZERO; places], vec![ZERO; places]],
            narrowed: vec![0.0; self.out[1] * grid.size[0]],
        }
    }

    /// Writes the features of one image, channel by channel.
    pub(super) fn apply(&self, image: &[f32], out: &mut [f32], scratch: &mut Scratch) {
        let per_channel = out.len() / self.channels;
        let planes = image.chunks_exact(self.size[0] * self.size[1]);
        for (plane, out) in planes.zip(out.chunks_exact_mut(per_channel)) {
            self.channel(plane, out, scratch);
        }
    }

    fn channel(&self, plane: &[f32], out: &mut [f32], scratch: &mut Scratch) {
        let (grid, area) = (&self.grids[0], self.out[0] * self.out[1]);
        let [height, width] = grid.size;
        let Scratch { image, spectrum, signal, turned, fft, moduli, pair, halves, narrowed } = scratch;
        // Padded, columns as rows: what the second pass of a transform leaves.
        for (column, row_of) in self.source[1].iter().zip(image.chunks_exact_mut(height)) {
            for (place, row) in row_of.iter_mut().zip(&self.source[0]) {
                *place = plane[row * self.size[1] + column];
            }
        }
        self.low(grid, image, &mut out[..area], narrowed);
        for (place, value) in pair.iter_mut().zip(&*image) {
            *place = C { re: *value, im: 0.0 };
        }
        forward(grid, pair, spectrum, fft);
        // Where the features of second order begin, and how many moduli of the first there are.
        let (mut first, mut second) = (area, area * (1 + self.scales * self.orientations));
        for scale in 0..self.scales {
            let coarse = &self.grids[scale];
            let places = coarse.size[0] * coarse.size[1];
            for (wavelet, modulus) in grid.wavelets[scale].iter().zip(moduli.chunks_exact_mut(height * width))
            {
                filter(spectrum, wavelet, grid.size, scale, signal);
                inverse(coarse, &mut signal[..places], turned, fft);
                absolute(&turned[..places], &mut modulus[..places]);
                self.low(coarse, &modulus[..places], &mut out[first..first + area], narrowed);
                first += area;
            }
            if scale + 1 == self.scales {
                break;
            }
            for two in moduli.chunks_mut(2 * height * width).take(self.orientations.div_ceil(2)) {
                let (one, other) = two.split_at(height * width);
                let has_other = !other.is_empty();
                for (place, value) in pair[..places].iter_mut().zip(one) {
                    *place = C { re: *value, im: 0.0 };
                }
                for (place, value) in pair[..places].iter_mut().zip(other) {
                    place.im = *value;
                }
                forward(coarse, &mut pair[..places], &mut signal[..places], fft);
                part(&signal[..places], coarse.size, halves);
                for half in halves.iter().take(if has_other { 2 } else { 1 }) {
                    for above in scale + 1..self.scales {
                        let coarser = &self.grids[above];
                        let fewer = coarser.size[0] * coarser.size[1];
                        for wavelet in &coarse.wavelets[above] {
                            filter(&half[..places], wavelet, coarse.size, above - scale, signal);
                            inverse(coarser, &mut signal[..fewer], turned, fft);
                            let modulus = &mut image[..fewer];
                            absolute(&turned[..fewer], modulus);
                            self.low(coarser, modulus, &mut out[second..second + area], narrowed);
                            second += area;
                        }
                    }
                }
            }
        }
    }

    /// Filters a signal, whose columns lie one after the other, and keeps the places of the features, row after row.
    fn low(&self, grid: &Grid, signal: &[f32], out: &mut [f32], narrowed: &mut [f32]) {
        let ([height, width], [down, across]) = (grid.size, &grid.low);
        let narrowed = &mut narrowed[..self.out[1] * height];
        narrowed.fill(0.0);
        for (own, weights) in narrowed.chunks_exact_mut(height).zip(across.chunks_exact(width)) {
            for (column, weight) in signal.chunks_exact(height).zip(weights) {
                own.iter_mut().zip(column).for_each(|(sum, value)| *sum += weight * value);
            }
        }
        for (row, weights) in out.chunks_exact_mut(self.out[1]).zip(down.chunks_exact(height)) {
            for (place, column) in row.iter_mut().zip(narrowed.chunks_exact(height)) {
                *place = column.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            }
        }
    }
}

/// Which place of a side every place of the padded side shows: the border itself is not repeated.
fn reflected(side: usize, padded: usize) -> Vec<usize> {
    let before = (padded - side) / 2;
    let period = 2 * (side - 1);
    let place = |at: usize| (at + period - before % period) % period;
    (0..padded).map(place).map(|at| if at < side { at } else { period - at }).collect()
}

/// The spectrum, row after row, of a signal whose columns lie one after the other; the signal is lost.
fn forward(grid: &Grid, signal: &mut [C], spectrum: &mut [C], fft: &mut [C]) {
    let [height, width] = grid.size;
    grid.forward[0].process_with_scratch(signal, fft);
    turn(signal, width, height, spectrum);
    grid.forward[1].process_with_scratch(&mut spectrum[..height * width], fft);
}

/// The signal, column after column, of a spectrum, row after row, which is lost.
fn inverse(grid: &Grid, spectrum: &mut [C], signal: &mut [C], fft: &mut [C]) {
    let [height, width] = grid.size;
    grid.inverse[1].process_with_scratch(spectrum, fft);
    turn(spectrum, height, width, signal);
    grid.inverse[0].process_with_scratch(&mut signal[..height * width], fft);
}

/// Rows as columns.
fn turn(values: &[C], rows: usize, columns: usize, out: &mut [C]) {
    for (column, own) in out.chunks_exact_mut(rows).take(columns).enumerate() {
        for (place, row) in own.iter_mut().zip(values.chunks_exact(columns)) {
            *place = row[column];
        }
    }
}

/// A spectrum times a filter, for every 2^`halvings`-th place of the signal.
fn filter(spectrum: &[C], filter: &[f32], size: [usize; 2], halvings: usize, out: &mut [C]) {
    let [height, width] = size.map(|side| side >> halvings);
    let parts = 1usize << halvings;
    for (row, own) in out.chunks_exact_mut(width).take(height).enumerate() {
        own.fill(ZERO);
        for above in 0..parts {
            let start = (row + above * height) * size[1];
            let (spectrum, filter) = (&spectrum[start..start + size[1]], &filter[start..start + size[1]]);
            for (spectrum, filter) in spectrum.chunks_exact(width).zip(filter.chunks_exact(width)) {
                for ((sum, value), weight) in own.iter_mut().zip(spectrum).zip(filter) {
                    sum.re += value.re * weight;
                    sum.im += value.im * weight;
                }
            }
        }
    }
}

fn absolute(signal: &[C], out: &mut [f32]) {
    for (place, value) in out.iter_mut().zip(signal) {
        *place = (value.re * value.re + value.im * value.im).sqrt();
    }
}

/// The spectra of the real and of the imaginary part of a signal, from its own.
fn part(whole: &[C], size: [usize; 2], halves: &mut [Vec<C>; 2]) {
    let [height, width] = size;
    let [real, imaginary] = halves;
    for row in 0..height {
        let mirrored = (height - row) % height;
        for column in 0..width {
            let (value, other) =
                (whole[row * width + column], whole[mirrored * width + (width - column) % width]);
            let place = row * width + column;
            real[place] = C { re: 0.5 * (value.re + other.re), im: 0.5 * (value.im - other.im) };
            imaginary[place] = C { re: 0.5 * (value.im + other.im), im: 0.5 * (other.re - value.re) };
        }
    }
}
