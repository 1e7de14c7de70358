//! Sums and combinations of slices.

use pulp::{Arch, Simd, WithSimd};

/// Σ xᵢ·yᵢ over the shorter of the two.
pub(in crate::native) fn dot(x: &[f32], y: &[f32]) -> f32 {
    struct Dot<'a>(&'a [f32], &'a [f32]);
    impl WithSimd for Dot<'_> {
        type Output = f32;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f32 {
            let n = self.0.len().min(self.1.len());
            let ((x, x_rest), (y, y_rest)) = (S::as_simd_f32s(&self.0[..n]), S::as_simd_f32s(&self.1[..n]));
            let zero = simd.splat_f32s(0.0);
            let mut sums = [zero; 4];
            let (mut xs, mut ys) = (x.chunks_exact(4), y.chunks_exact(4));
            for (x, y) in (&mut xs).zip(&mut ys) {
                for i in 0..4 {
                    sums[i] = simd.mul_add_f32s(x[i], y[i], sums[i]);
                }
            }
            for (x, y) in xs.remainder().iter().zip(ys.remainder()) {
                sums[0] = simd.mul_add_f32s(*x, *y, sums[0]);
            }
            let pairs = [simd.add_f32s(sums[0], sums[1]), simd.add_f32s(sums[2], sums[3])];
            let whole = simd.reduce_sum_f32s(simd.add_f32s(pairs[0], pairs[1]));
            whole + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f32>()
        }
    }
    Arch::new().dispatch(Dot(x, y))
}

/// Σ xᵢ, in parts that are added up at the end.
pub(in crate::native) fn sum(x: &[f32]) -> f32 {
    struct Sum<'a>(&'a [f32]);
    impl WithSimd for Sum<'_> {
        type Output = f32;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f32 {
            let (x, rest) = S::as_simd_f32s(self.0);
            let mut sums = [simd.splat_f32s(0.0); 4];
            let mut blocks = x.chunks_exact(4);
            for block in &mut blocks {
                for i in 0..4 {
                    sums[i] = simd.add_f32s(sums[i], block[i]);
                }
            }
            for x in blocks.remainder() {
                sums[0] = simd.add_f32s(sums[0], *x);
            }
            let pairs = [simd.add_f32s(sums[0], sums[1]), simd.add_f32s(sums[2], sums[3])];
            simd.reduce_sum_f32s(simd.add_f32s(pairs[0], pairs[1])) + rest.iter().sum::<f32>()
        }
    }
    Arch::new().dispatch(Sum(x))
}

/// Σ xᵢ²: blocks in single precision, added up in double precision, so that long sums keep their digits. Squares below 10⁻³⁸ are
/// lost.
pub(in crate::native) fn squared(x: &[f32]) -> f64 {
    x.chunks(4096).map(|block| f64::from(dot(block, block))).sum()
}

/// Σ xᵢ² in double precision throughout: nothing is lost, for factors of a product.
pub(in crate::native) fn squared_exactly(x: &[f32]) -> f64 {
    struct Squares<'a>(&'a [f32]);
    impl WithSimd for Squares<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            let mut sums = [0.0f64; 16];
            let blocks = self.0.chunks_exact(16);
            let rest: f64 = blocks.remainder().iter().map(|x| f64::from(*x).powi(2)).sum();
            for block in blocks {
                for (sum, x) in sums.iter_mut().zip(block) {
                    *sum += f64::from(*x) * f64::from(*x);
                }
            }
            sums.iter().sum::<f64>() + rest
        }
    }
    Arch::new().dispatch(Squares(x))
}

/// y += a·x.
pub(in crate::native) fn add_scaled(y: &mut [f32], a: f32, x: &[f32]) {
    struct Add<'a>(&'a mut [f32], f32, &'a [f32]);
    impl WithSimd for Add<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let n = self.0.len().min(self.2.len());
            let ((y, y_rest), (x, x_rest)) =
                (S::as_mut_simd_f32s(&mut self.0[..n]), S::as_simd_f32s(&self.2[..n]));
            let a = simd.splat_f32s(self.1);
            for (y, x) in y.iter_mut().zip(x) {
                *y = simd.mul_add_f32s(a, *x, *y);
            }
            // Rounded once as above: where a number stands does not change it.
            for (y, x) in y_rest.iter_mut().zip(x_rest) {
                *y = self.1.mul_add(*x, *y);
            }
        }
    }
    Arch::new().dispatch(Add(y, a, x));
}

/// y += x.
pub(in crate::native) fn add(y: &mut [f32], x: &[f32]) {
    struct Add<'a>(&'a mut [f32], &'a [f32]);
    impl WithSimd for Add<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (y, x) in self.0.iter_mut().zip(self.1) {
                *y += x;
            }
        }
    }
    Arch::new().dispatch(Add(y, x));
}

/// The sum of all rows of `width` numbers, added to `sum`.
pub(in crate::native) fn add_rows(sum: &mut [f32], rows: &[f32]) {
    for row in rows.chunks_exact(sum.len()) {
        add(sum, row);
    }
}

/// `gradient` is what arrives at an input: stored there, or added to what is there.
pub(in crate::native) fn deliver(to: &mut [f32], gradient: &[f32], add_to: bool) {
    if add_to {
        add(to, gradient);
    } else {
        to.copy_from_slice(gradient);
    }
}
