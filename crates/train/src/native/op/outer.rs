//! Gradients that are sums of outer products: Σₜ gₜ·aₜᵀ over the places t of a unit, and Σₜ gₜ for the bias.
//!
//! | way | norm | sum | when |
//! |---|---|---|---|
//! | one place | ‖a‖²·‖g‖² | one product over all units | a unit has one place |
//! | Gram | Σ ⟨aₛ,aₜ⟩⟨gₛ,gₜ⟩, unless places cancel | one product over all units | few places, many weights |
//! | kept | of the gradient itself | of the gradients themselves | otherwise |

use super::super::kernel::product::{Matrix, multiply};
use super::super::kernel::vector::{add_rows, add_scaled, dot, squared};
use super::{Units, add_kept, sized};

/// Where the squared norm is below this share of ‖A‖²·‖G‖², places cancel and the Gram way loses its digits: the gradient
/// itself is computed then.
const CANCELLED: f32 = 0.05;

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

    /// Adds the squared norms of the units' gradients.
    pub(in crate::native) fn squares(
        self,
        units: Units<'_>,
        a: &[f32],
        g: &[f32],
        kept: &mut Vec<f32>,
        work: &mut Vec<f32>,
        squares: &mut [f32],
    ) {
        let size = self.size();
        for (unit, (range, square)) in units.ranges().zip(squares).enumerate() {
            let places = range.len() * self.places;
            let first = range.start * self.places;
            let a = &a[first * self.inner..][..places * self.inner];
            let g = &g[first * self.out..][..places * self.out];
            if places == 1 {
                let one = if self.bias { 1.0 } else { 0.0 };
                *square += (squared(a) + one) * squared(g);
            } else if self.keeps(places) {
                if kept.len() < (unit + 1) * size {
                    kept.resize(units.len().max(unit + 1) * size, 0.0);
                }
                let kept = &mut kept[unit * size..(unit + 1) * size];
                self.write(kept, a, g);
                *square += squared(kept);
            } else if places > 0 {
                *square += self.gram(places, a, g, work);
            }
        }
    }

    fn gram(self, places: usize, a_rows: &[f32], g_rows: &[f32], work: &mut Vec<f32>) -> f32 {
        let entries = places * places;
        let (of_a, of_g) = sized(work, 2 * entries).split_at_mut(entries);
        let (a, g) = (Matrix::new(a_rows, places, self.inner), Matrix::new(g_rows, places, self.out));
        multiply(of_a, places, a, a.transposed(), false);
        multiply(of_g, places, g, g.transposed(), false);
        if self.bias {
            of_a.iter_mut().for_each(|entry| *entry += 1.0);
        }
        let trace = |gram: &[f32]| (0..places).map(|i| gram[i * (places + 1)]).sum::<f32>();
        let (square, most) = (dot(of_a, of_g), trace(of_a) * trace(of_g));
        if square >= CANCELLED * most {
            return square;
        }
        let gradient = sized(work, self.size());
        self.write(gradient, a_rows, g_rows);
        squared(gradient)
    }

    /// The gradient of these places.
    fn write(self, into: &mut [f32], a: &[f32], g: &[f32]) {
        let places = g.len() / self.out;
        let (weights, bias) = into.split_at_mut(self.inner * self.out);
        let left = Matrix::new(g, places, self.out).transposed();
        multiply(weights, self.inner, left, Matrix::new(a, places, self.inner), false);
        if self.bias {
            bias.fill(0.0);
            add_rows(bias, g);
        }
    }

    /// Adds the units' gradients times their factors; scales `g` where it is not kept.
    pub(in crate::native) fn sum(
        self,
        units: Units<'_>,
        factors: &[f32],
        a: &[f32],
        g: &mut [f32],
        kept: &[f32],
        sum: &mut [f32],
    ) {
        let size = self.size();
        let mut left = false;
        for (unit, (range, factor)) in units.ranges().zip(factors).enumerate() {
            let places = range.len() * self.places;
            let g = &mut g[range.start * self.places * self.out..][..places * self.out];
            if self.keeps(places) {
                add_kept(&kept[unit * size..(unit + 1) * size], size, &[*factor], sum);
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

    /// Adds the gradient of all places.
    pub(in crate::native) fn total(self, a: &[f32], g: &[f32], sum: &mut [f32]) {
        let places = g.len() / self.out;
        let (weights, bias) = sum.split_at_mut(self.inner * self.out);
        let left = Matrix::new(g, places, self.out).transposed();
        multiply(weights, self.inner, left, Matrix::new(a, places, self.inner), true);
        if self.bias {
            for row in g.chunks_exact(self.out) {
                add_scaled(bias, 1.0, row);
            }
        }
    }
}
