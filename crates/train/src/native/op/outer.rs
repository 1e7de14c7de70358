//! Gradients that are sums of outer products: Σₜ gₜ·aₜᵀ over the places t of a unit, and Σₜ gₜ for the bias.
//!
//! | way | norm | sum | when |
//! |---|---|---|---|
//! | one place | ‖a‖²·‖g‖² | one product over all units | a unit has one place |
//! | Gram | Σ ⟨aₛ,aₜ⟩⟨gₛ,gₜ⟩, unless places cancel | one product over all units | few places, many weights |
//! | kept | of the gradient itself | of the gradients themselves | otherwise |

use super::super::kernel::product::{MatrixView, multiply};
use super::super::kernel::vector::{add, add_rows, squared, squared_exactly};
use super::{Scratch, Units, add_kept, sized};

/// Where the squared norm is below this share of ‖A‖²·‖G‖², places cancel and the Gram way loses its digits: the gradient
/// itself is computed then.
const CANCELLED: f64 = 0.05;

/// Factors of a product with a squared length above this count as not finite: a clip factor, which may be as large as 10¹⁸, must
/// neither overflow nor lose its digits, whichever of the two it multiplies.
const LONGEST: f64 = 1e32;

/// A gradient of `out` × `inner` weights and a bias, over `places` places per example.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Outer {
    pub(in crate::native) inner: usize,
    pub(in crate::native) out: usize,
    pub(in crate::native) places: usize,
    pub(in crate::native) bias: bool,
}

impl Outer {
    /// Number of weights and biases.
    pub(in crate::native) fn size(self) -> usize {
        self.inner * self.out + if self.bias { self.out } else { 0 }
    }

    /// Whether gradients of units with this many places are kept.
    fn keeps(self, places: usize) -> bool {
        let gram = places * places * (self.inner + self.out) + places * self.inner * self.out;
        let kept = places * self.inner * self.out + 8 * self.inner * self.out;
        places > 1 && kept < gram
    }

    /// Numbers kept per unit of one example.
    pub(in crate::native) fn memory(self) -> usize {
        if self.keeps(self.places) { self.size() } else { 0 }
    }

    /// Adds the squared norms of the units' gradients. A gradient that is written out for that is kept, and `places` says where: its
    /// number from 1, or 0.
    pub(in crate::native) fn squares(
        self,
        units: Units<'_>,
        (a, g): (&[f32], &[f32]),
        scratch: &mut Scratch,
        squares: &mut [f64],
    ) {
        let Scratch { kept, work, places: at, .. } = scratch;
        let (size, mut count) = (self.size(), 0);
        at.clear();
        for (range, square) in units.ranges().zip(squares) {
            let places = range.len() * self.places;
            let first = range.start * self.places;
            let a = &a[first * self.inner..][..places * self.inner];
            let g = &g[first * self.out..][..places * self.out];
            let short = if self.keeps(places) { None } else { self.by_factors(places, a, g, work) };
            if let Some(short) = short {
                *square += short;
                at.push(0);
                continue;
            }
            count += 1;
            let written = &mut sized(kept, count * size)[(count - 1) * size..];
            self.write(written, a, g);
            *square += squared(written);
            at.push(count as u32);
        }
    }

    /// The squared norm without the gradient, where that is certain: then every row of the product that makes the sum is at most a few
    /// times as long as the whole, so that no unit's rows drown what others have added.
    fn by_factors(self, places: usize, a: &[f32], g: &[f32], work: &mut Vec<f32>) -> Option<f64> {
        let one = if self.bias { 1.0 } else { 0.0 };
        match places {
            0 => return Some(0.0),
            1 => {
                let (of_a, of_g) = (squared_exactly(a) + one, squared_exactly(g));
                return Some(if of_a.max(of_g) > LONGEST { f64::INFINITY } else { of_a * of_g });
            }
            _ => {}
        }
        let entries = places * places;
        let (of_a, of_g) = sized(work, 2 * entries).split_at_mut(entries);
        let (a, g) = (MatrixView::new(a, places, self.inner), MatrixView::new(g, places, self.out));
        multiply(of_a, places, a, a.transposed(), false);
        multiply(of_g, places, g, g.transposed(), false);
        of_a.iter_mut().for_each(|entry| *entry += one as f32);
        let trace = |gram: &[f32]| (0..places).map(|i| f64::from(gram[i * (places + 1)])).sum::<f64>();
        let (of_a_trace, of_g_trace) = (trace(of_a), trace(of_g));
        let square: f64 = of_a.iter().zip(of_g.iter()).map(|(a, g)| f64::from(*a) * f64::from(*g)).sum();
        // What was too small for single precision, at most.
        let lost = entries as f64 * f64::from(f32::MIN_POSITIVE) * (of_a_trace + of_g_trace);
        let certain = square >= CANCELLED * of_a_trace * of_g_trace && lost <= 1e-7 * square;
        // What the rounding of the products hides, at most: half a unit for each of their additions.
        let additions = 4.0 + (self.inner + self.out) as f64;
        let hidden = additions * f64::from(f32::EPSILON) / 2.0 * of_a_trace * of_g_trace;
        (certain && of_a_trace.max(of_g_trace) <= LONGEST).then_some(square + hidden)
    }

    /// The gradient of these places.
    fn write(self, into: &mut [f32], a: &[f32], g: &[f32]) {
        let places = g.len() / self.out;
        let (weights, bias) = into.split_at_mut(self.inner * self.out);
        let left = MatrixView::new(g, places, self.out).transposed();
        multiply(weights, self.inner, left, MatrixView::new(a, places, self.inner), false);
        if self.bias {
            bias.fill(0.0);
            add_rows(bias, g);
        }
    }

    /// Adds the units' gradients times their factors, after [`squares`](Self::squares); scales `g` where nothing is kept.
    pub(in crate::native) fn sum(
        self,
        units: Units<'_>,
        factors: &[f32],
        (a, g): (&[f32], &mut [f32]),
        scratch: &Scratch,
        sum: &mut [f32],
    ) {
        let size = self.size();
        let mut left = false;
        for ((range, factor), at) in units.ranges().zip(factors).zip(&scratch.places) {
            let places = range.len() * self.places;
            let g = &mut g[range.start * self.places * self.out..][..places * self.out];
            if let Some(at) = (*at as usize).checked_sub(1) {
                add_kept(&scratch.kept[at * size..(at + 1) * size], size, &[*factor], sum);
                g.fill(0.0);
            } else {
                g.iter_mut().for_each(|g| *g = if *factor == 0.0 { 0.0 } else { *g * factor });
                left |= places > 0;
            }
        }
        if left {
            self.total(a, g, sum);
        }
    }

    /// Adds the gradient of one unit.
    pub(in crate::native) fn one(
        self,
        units: Units<'_>,
        unit: usize,
        (a, g): (&[f32], &[f32]),
        scratch: &Scratch,
        sum: &mut [f32],
    ) {
        let size = self.size();
        if let Some(at) = (scratch.places[unit] as usize).checked_sub(1) {
            return add(sum, &scratch.kept[at * size..(at + 1) * size]);
        }
        let start = if unit == 0 { 0 } else { units.0[unit - 1] };
        let (first, last) = (start * self.places, units.0[unit] * self.places);
        self.total(&a[first * self.inner..last * self.inner], &g[first * self.out..last * self.out], sum);
    }

    /// Adds the gradient of all places.
    pub(in crate::native) fn total(self, a: &[f32], g: &[f32], sum: &mut [f32]) {
        let places = g.len() / self.out;
        let (weights, bias) = sum.split_at_mut(self.inner * self.out);
        let left = MatrixView::new(g, places, self.out).transposed();
        multiply(weights, self.inner, left, MatrixView::new(a, places, self.inner), true);
        if self.bias {
            // Added up by itself first, so that many small rows do not drown in a large sum.
            let mut own = vec![0.0; self.out];
            add_rows(&mut own, g);
            add(bias, &own);
        }
    }
}
