//! Morlet wavelets and the Gaussian low-pass filter, by their Fourier transforms on a periodic grid.
//!
//! | symbol | meaning |
//! |---|---|
//! | j | scale: widths double with it |
//! | θ | orientation |
//! | σ = 0.8·2^j | width of the Gaussian envelope |
//! | ξ = (3π/4)/2^j | centre frequency |
//! | s = 4/L | slant: the envelope is 1/s times wider across the orientation |

use rustfft::num_complex::Complex;
use std::f64::consts::PI;

/// Width of the envelope at scale 0.
const WIDTH: f64 = 0.8;

/// Centre frequency at scale 0.
const FREQUENCY: f64 = 0.75 * PI;

/// Copies of the plane on each side that a periodized filter is summed over.
const COPIES: isize = 2;

/// A plane of real numbers, row after row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plane {
    pub(super) size: [usize; 2],
    pub(super) values: Vec<f64>,
}

impl Plane {
    /// The frequencies that a grid coarser by 2^`level` has; the others are left out.
    pub(super) fn coarsened(&self, level: usize) -> Self {
        let size = self.size.map(|side| side >> level);
        let rows = kept(self.size[0], size[0]);
        let columns = kept(self.size[1], size[1]);
        let row =
            |row: &usize| columns.iter().map(|column| self.values[row * self.size[1] + column]).collect();
        Self { size, values: rows.iter().flat_map(|one| -> Vec<f64> { row(one) }).collect() }
    }
}

/// Which of `fine` frequencies those of a grid of `coarse` places are: the lower half and the negative ones.
fn kept(fine: usize, coarse: usize) -> Vec<usize> {
    let lower = coarse.div_ceil(2);
    (0..coarse).map(|place| if place < lower { place } else { fine - coarse + place }).collect()
}

/// A Gaussian envelope times a plane wave, summed over the copies of a periodic plane: e^(−uᵀCu + iξ⟨u, θ⟩), with the integral of
/// the envelope as divisor. Rows run along the first coordinate of u.
fn gabor(size: [usize; 2], width: f64, angle: f64, frequency: f64, slant: f64) -> Vec<Complex<f64>> {
    let (sine, cosine) = angle.sin_cos();
    let narrow = 1.0 / (2.0 * width * width);
    let across = slant * slant * narrow;
    // C = R diag(1, s²) Rᵀ / 2σ².
    let [xx, xy, yy] = [
        narrow * cosine * cosine + across * sine * sine,
        2.0 * (narrow - across) * sine * cosine,
        narrow * sine * sine + across * cosine * cosine,
    ];
    let divisor = 2.0 * PI * width * width / slant;
    let mut values = Vec::with_capacity(size[0] * size[1]);
    for row in 0..size[0] {
        for column in 0..size[1] {
            let mut sum = Complex::new(0.0, 0.0);
            for above in -COPIES..=COPIES {
                for beside in -COPIES..=COPIES {
                    let x = (row as isize + above * size[0] as isize) as f64;
                    let y = (column as isize + beside * size[1] as isize) as f64;
                    let envelope = (-(xx * x * x + xy * x * y + yy * y * y)).exp();
                    let phase = frequency * (x * cosine + y * sine);
                    sum += Complex::from_polar(envelope, phase);
                }
            }
            values.push(sum / divisor);
        }
    }
    values
}

/// The Fourier transform of a filter that is symmetric about 0, which is real.
fn transform(size: [usize; 2], mut values: Vec<Complex<f64>>) -> Plane {
    let mut planner = rustfft::FftPlanner::new();
    planner.plan_fft_forward(size[1]).process(&mut values);
    let mut columns: Vec<Complex<f64>> = (0..size[1])
        .flat_map(|column| values.iter().skip(column).step_by(size[1]).copied().collect::<Vec<_>>())
        .collect();
    planner.plan_fft_forward(size[0]).process(&mut columns);
    let values = (0..size[0] * size[1]).map(|place| {
        let (row, column) = (place / size[1], place % size[1]);
        columns[column * size[0] + row].re
    });
    Plane { size, values: values.collect() }
}

/// The Fourier transform of the Morlet wavelet of scale j and the orientation numbered `orientation` of so many: a Gabor filter
/// less as much of its envelope as makes its sum 0.
pub(super) fn morlet(size: [usize; 2], scale: usize, orientation: usize, orientations: usize) -> Plane {
    let width = WIDTH * f64::from(1u32 << scale);
    let frequency = FREQUENCY / f64::from(1u32 << scale);
    let angle = (orientations as f64 / 2.0 - 1.0).trunc() - orientation as f64;
    let (angle, slant) = (angle * PI / orientations as f64, 4.0 / orientations as f64);
    let wave = gabor(size, width, angle, frequency, slant);
    let envelope = gabor(size, width, angle, 0.0, slant);
    let share = wave.iter().sum::<Complex<f64>>() / envelope.iter().sum::<Complex<f64>>();
    let values = wave.iter().zip(&envelope).map(|(wave, envelope)| wave - share * envelope).collect();
    transform(size, values)
}

/// The Fourier transform of the Gaussian whose width is that of the wavelets of the last of so many scales. It is a product of one
/// factor per dimension; this is that of one of them.
pub(super) fn gaussian(side: usize, scales: usize) -> Vec<f64> {
    let width = WIDTH * f64::from(1u32 << (scales - 1));
    let values = (0..side).map(|place| {
        let copy = |copy: isize| {
            let x = (place as isize + copy * side as isize) as f64;
            (-x * x / (2.0 * width * width)).exp()
        };
        Complex::new((-COPIES..=COPIES).map(copy).sum::<f64>() / (width * (2.0 * PI).sqrt()), 0.0)
    });
    transform([1, side], values.collect()).values
}

/// The matrix that filters a periodic signal of `side >> level` places with the Gaussian and keeps `count` places, from the one
/// numbered `first` on every `step`-th: row after row.
pub(super) fn low_pass(
    side: usize,
    level: usize,
    scales: usize,
    (first, step, count): (usize, usize, usize),
) -> Vec<f32> {
    let coarse = side >> level;
    let spectrum = gaussian(side, scales);
    let spectrum: Vec<f64> = kept(side, coarse).into_iter().map(|place| spectrum[place]).collect();
    let response = |lag: usize| {
        let wave = |(place, value): (usize, &f64)| {
            value * (2.0 * PI * ((place * lag) % coarse) as f64 / coarse as f64).cos()
        };
        spectrum.iter().enumerate().map(wave).sum::<f64>() / coarse as f64
    };
    let kernel: Vec<f64> = (0..coarse).map(response).collect();
    let row = |out: usize| {
        let centre = first + out * step;
        (0..coarse).map(move |place| (centre + coarse - place % coarse) % coarse)
    };
    (0..count).flat_map(|out| row(out).map(|lag| kernel[lag] as f32).collect::<Vec<_>>()).collect()
}
