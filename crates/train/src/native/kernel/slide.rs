//! Convolution without unfolding.
//!
//! An image is copied once into planes with its padding, one plane per channel and residue of the stride, all with the
//! same pitch. Then every product of a kernel weight runs over one contiguous stretch of a plane, which starts at a
//! place that depends on the weight alone:
//!
//! | pass | formula |
//! |---|---|
//! | outputs, input gradients | `out[c][p] = Σₖ weights[c][k] · planes[starts[k] + p]` |
//! | weight gradients | `out[k][c] = Σₚ planes[starts[k] + p] · gradient[p][c]` |

use pulp::{Arch, Simd, WithSimd};

/// Outputs computed together.
pub(in crate::native) const BLOCK: usize = 8;

/// Planes are followed by this many zeros, so that whole vectors can be read.
pub(in crate::native) const SLACK: usize = 64;

/// Appends weights `[c][k]` for [`Slide`]: blocks of [`BLOCK`] rows, in each k after k, rows beyond the last as zeros. `at` is
/// where a weight lies.
pub(in crate::native) fn pack(
    rows: usize,
    depth: usize,
    at: impl Fn(usize, usize) -> f32,
    packed: &mut Vec<f32>,
) {
    let first = packed.len();
    packed.resize(first + rows.div_ceil(BLOCK) * BLOCK * depth, 0.0);
    for row in 0..rows {
        let block = &mut packed[first + row / BLOCK * BLOCK * depth..];
        for k in 0..depth {
            block[k * BLOCK + row % BLOCK] = at(row, k);
        }
    }
}

/// The sliding sum of the module's first formula.
pub(in crate::native) struct Slide<'a> {
    /// The input planes, with [`SLACK`] numbers behind the last that is used.
    pub(in crate::native) planes: &'a [f32],
    /// Where each k's stretch starts.
    pub(in crate::native) starts: &'a [usize],
    /// Added to every start.
    pub(in crate::native) shift: usize,
    /// From [`pack`].
    pub(in crate::native) weights: &'a [f32],
    /// `[c][pitch]`, a whole number of blocks, the pitch at least `width` rounded up to 16.
    pub(in crate::native) out: &'a mut [f32],
    pub(in crate::native) pitch: usize,
    /// How many p there are.
    pub(in crate::native) width: usize,
}

impl Slide<'_> {
    pub(in crate::native) fn run(self) {
        Arch::new().dispatch(self);
    }

    #[inline(always)]
    fn tile<S: Simd, const V: usize>(&mut self, simd: S, p: usize) {
        let depth = self.starts.len();
        let wide = V * S::F32_LANES;
        let blocks =
            self.weights.chunks_exact(BLOCK * depth).zip(self.out.chunks_exact_mut(BLOCK * self.pitch));
        for (weights, out) in blocks {
            let mut sums = [[simd.splat_f32s(0.0); V]; BLOCK];
            for (start, weights) in self.starts.iter().zip(weights.chunks_exact(BLOCK)) {
                let from = start + self.shift + p;
                let (x, _) = S::as_simd_f32s(&self.planes[from..from + wide]);
                let x: &[S::f32s; V] = match x.try_into() {
                    Ok(x) => x,
                    Err(_) => return,
                };
                for c in 0..BLOCK {
                    let weight = simd.splat_f32s(weights[c]);
                    for v in 0..V {
                        sums[c][v] = simd.mul_add_f32s(weight, x[v], sums[c][v]);
                    }
                }
            }
            for (c, sums) in sums.iter().enumerate() {
                let (out, _) = S::as_mut_simd_f32s(&mut out[c * self.pitch + p..][..wide]);
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = *sum;
                }
            }
        }
    }
}

impl WithSimd for Slide<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        if self.starts.is_empty() {
            self.out.fill(0.0);
            return;
        }
        let lanes = S::F32_LANES;
        let mut p = 0;
        while p < self.width {
            let left = (self.width - p).div_ceil(lanes);
            match left {
                1 => self.tile::<S, 1>(simd, p),
                2 | 4 => self.tile::<S, 2>(simd, p),
                _ => self.tile::<S, 3>(simd, p),
            }
            p += lanes
                * match left {
                    1 => 1,
                    2 | 4 => 2,
                    _ => 3,
                };
        }
    }
}

/// The weight gradients of the module's second formula, over `rows` stretches of `cols` places, `pitch` apart in the planes.
pub(in crate::native) struct Gather<'a> {
    pub(in crate::native) planes: &'a [f32],
    pub(in crate::native) starts: &'a [usize],
    /// `[p][channels]`, without gaps.
    pub(in crate::native) gradient: &'a [f32],
    /// A multiple of [`CHANNELS`].
    pub(in crate::native) channels: usize,
    pub(in crate::native) rows: usize,
    pub(in crate::native) cols: usize,
    pub(in crate::native) pitch: usize,
    /// `[k][channels]`.
    pub(in crate::native) out: &'a mut [f32],
    /// Whether to add to what is there.
    pub(in crate::native) add: bool,
}

/// Output channels are padded to a multiple of this.
pub(in crate::native) const CHANNELS: usize = 16;

impl Gather<'_> {
    pub(in crate::native) fn run(self) {
        Arch::new().dispatch(self);
    }

    #[inline(always)]
    fn tile<S: Simd, const V: usize, const K: usize>(&mut self, simd: S, k: usize, c: usize) {
        let wide = V * S::F32_LANES;
        let mut sums = [[simd.splat_f32s(0.0); V]; K];
        let mut gradient = self.gradient.chunks_exact(self.channels);
        for row in 0..self.rows {
            let mut stretches: [&[f32]; K] = [&[]; K];
            for (stretch, start) in stretches.iter_mut().zip(&self.starts[k..k + K]) {
                *stretch = &self.planes[start + row * self.pitch..][..self.cols];
            }
            for (col, gradient) in (0..self.cols).zip(&mut gradient) {
                let (g, _) = S::as_simd_f32s(&gradient[c..c + wide]);
                let g: &[S::f32s; V] = match g.try_into() {
                    Ok(g) => g,
                    Err(_) => return,
                };
                for i in 0..K {
                    let x = simd.splat_f32s(stretches[i][col]);
                    for v in 0..V {
                        sums[i][v] = simd.mul_add_f32s(x, g[v], sums[i][v]);
                    }
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            let (out, _) = S::as_mut_simd_f32s(&mut self.out[(k + i) * self.channels + c..][..wide]);
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = if self.add { simd.add_f32s(*out, *sum) } else { *sum };
            }
        }
    }

    #[inline(always)]
    fn column<S: Simd, const V: usize, const K: usize>(&mut self, simd: S, c: usize) {
        let mut k = 0;
        while k + K <= self.starts.len() {
            self.tile::<S, V, K>(simd, k, c);
            k += K;
        }
        while k < self.starts.len() {
            self.tile::<S, V, 1>(simd, k, c);
            k += 1;
        }
    }
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let lanes = S::F32_LANES;
        let mut c = 0;
        while c < self.channels {
            let left = (self.channels - c) / lanes;
            if left >= 4 {
                self.column::<S, 4, 6>(simd, c);
                c += 4 * lanes;
            } else if left >= 2 {
                self.column::<S, 2, 12>(simd, c);
                c += 2 * lanes;
            } else {
                self.column::<S, 1, 12>(simd, c);
                c += lanes;
            }
        }
    }
}
