//! Products with rows that are mostly zero, such as one-hot columns and sets as bits.

use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// These loops are used only for rows with at most one nonzero entry in this many.
const LEAST_ZEROS: usize = 4;

/// Numbers that are looked at together.
const BLOCK: usize = 16;

/// The entries of rows that are not 0.
#[derive(Debug, Default)]
pub(in crate::native) struct Nonzeros {
    columns: Vec<u32>,
    values: Vec<f32>,
    ends: Vec<usize>,
}

impl Nonzeros {
    /// Takes over rows of `width` numbers, and says whether there are few enough entries; otherwise it is empty.
    pub(in crate::native) fn read(&mut self, rows: &[f32], width: usize) -> bool {
        struct Read<'a>(&'a mut Nonzeros, &'a [f32], usize);
        impl WithSimd for Read<'_> {
            type Output = bool;
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) -> bool {
                let most = self.1.len() / LEAST_ZEROS;
                for row in self.1.chunks_exact(self.2) {
                    if self.0.columns.len() > most {
                        return false;
                    }
                    let (blocks, rest) = row.as_chunks::<BLOCK>();
                    for (start, block) in (0..).step_by(BLOCK).zip(blocks) {
                        let mut mask = 0u32;
                        for (place, value) in block.iter().enumerate() {
                            mask |= u32::from(*value != 0.0) << place;
                        }
                        while mask != 0 {
                            let place = mask.trailing_zeros();
                            self.0.columns.push(start + place);
                            self.0.values.push(block[place as usize % BLOCK]);
                            mask &= mask - 1;
                        }
                    }
                    for (column, value) in ((row.len() - rest.len()) as u32..).zip(rest) {
                        if *value != 0.0 {
                            self.0.columns.push(column);
                            self.0.values.push(*value);
                        }
                    }
                    self.0.ends.push(self.0.columns.len());
                }
                self.0.columns.len() <= most
            }
        }
        self.clear();
        let is_sparse = Arch::new().dispatch(Read(self, rows, width));
        if !is_sparse {
            self.clear();
        }
        is_sparse
    }

    /// Forgets the rows.
    pub(in crate::native) fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
        self.ends.clear();
    }

    /// Whether no rows are held.
    pub(in crate::native) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| start..*end)
    }
}

/// Adds rows · matrix to `out`; the matrix has `width` columns, as has `out`.
pub(in crate::native) fn multiply(rows: &Nonzeros, matrix: &[f32], width: usize, out: &mut [f32]) {
    struct Multiply<'a>(&'a Nonzeros, &'a [f32], usize, &'a mut [f32]);
    impl WithSimd for Multiply<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self(rows, matrix, width, out) = self;
            let line = |column: u32| &matrix[column as usize * width..(column as usize + 1) * width];
            for (range, out) in rows.ranges().zip(out.chunks_exact_mut(width)) {
                let columns = rows.columns[range.clone()].chunks_exact(4);
                let values = rows.values[range.clone()].chunks_exact(4);
                let rest = columns.remainder().iter().zip(values.remainder());
                for (columns, values) in columns.clone().zip(values.clone()) {
                    let lines = [line(columns[0]), line(columns[1]), line(columns[2]), line(columns[3])];
                    let (head, tail) = S::as_mut_simd_f32s(out);
                    let (a, b) = (simd.splat_f32s(values[0]), simd.splat_f32s(values[1]));
                    let (c, d) = (simd.splat_f32s(values[2]), simd.splat_f32s(values[3]));
                    let (w, x) = (S::as_simd_f32s(lines[0]).0, S::as_simd_f32s(lines[1]).0);
                    let (y, z) = (S::as_simd_f32s(lines[2]).0, S::as_simd_f32s(lines[3]).0);
                    for ((((out, w), x), y), z) in head.iter_mut().zip(w).zip(x).zip(y).zip(z) {
                        let one = simd.mul_add_f32s(a, *w, *out);
                        let two = simd.mul_f32s(b, *x);
                        let one = simd.mul_add_f32s(c, *y, one);
                        let two = simd.mul_add_f32s(d, *z, two);
                        *out = simd.add_f32s(one, two);
                    }
                    let start = width - tail.len();
                    for (place, out) in (start..).zip(tail) {
                        for (value, line) in values.iter().zip(&lines) {
                            *out += value * line[place];
                        }
                    }
                }
                for (column, value) in rest {
                    add_line(simd, out, *value, line(*column));
                }
            }
        }
    }
    Arch::new().dispatch(Multiply(rows, matrix, width, out));
}

/// Adds rowsᵀ · right to `out`; both have `width` columns.
pub(in crate::native) fn multiply_transposed(rows: &Nonzeros, right: &[f32], width: usize, out: &mut [f32]) {
    struct Multiply<'a>(&'a Nonzeros, &'a [f32], usize, &'a mut [f32]);
    impl WithSimd for Multiply<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self(rows, right, width, out) = self;
            for (range, right) in rows.ranges().zip(right.chunks_exact(width)) {
                for (column, value) in rows.columns[range.clone()].iter().zip(&rows.values[range]) {
                    let start = *column as usize * width;
                    add_line(simd, &mut out[start..start + width], *value, right);
                }
            }
        }
    }
    Arch::new().dispatch(Multiply(rows, right, width, out));
}

/// y += a·x.
#[inline(always)]
fn add_line<S: Simd>(simd: S, y: &mut [f32], a: f32, x: &[f32]) {
    let ((y, y_rest), (x, x_rest)) = (S::as_mut_simd_f32s(y), S::as_simd_f32s(x));
    let factor = simd.splat_f32s(a);
    for (y, x) in y.iter_mut().zip(x) {
        *y = simd.mul_add_f32s(factor, *x, *y);
    }
    for (y, x) in y_rest.iter_mut().zip(x_rest) {
        *y += a * x;
    }
}
