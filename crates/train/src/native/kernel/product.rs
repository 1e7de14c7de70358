//! MatrixView products.
//!
//! This module calls the `gemm-f32` kernels, whose interface is made of raw pointers: every view is checked against its
//! slice before its pointer is handed over.
#![allow(unsafe_code)]

use gemm_common::Parallelism;
use std::cell::RefCell;

/// Rows that [`multiply_rows`] computes at a time: whole tiles of kernels that take 4, 6 or 8 of them.
const BLOCK: usize = 48;

/// A matrix in a slice: entry (i, j) lies at `i * row + j * col`.
#[derive(Debug, Clone, Copy)]
pub struct MatrixView<'a> {
    data: &'a [f32],
    rows: usize,
    cols: usize,
    row: usize,
    col: usize,
}

impl<'a> MatrixView<'a> {
    /// Row after row without gaps.
    pub fn new(data: &'a [f32], rows: usize, cols: usize) -> Self {
        Self::strided(data, rows, cols, cols)
    }

    /// Row after row, `row` numbers from one to the next.
    ///
    /// # Panics
    /// If the slice is too short.
    pub fn strided(data: &'a [f32], rows: usize, cols: usize, row: usize) -> Self {
        assert!(reach(rows, cols, row, 1) <= data.len(), "a matrix outside its slice");
        Self { data, rows, cols, row, col: 1 }
    }

    /// The rows from `first` on, `rows` of them.
    fn part(self, first: usize, rows: usize) -> Self {
        Self { data: &self.data[first * self.row..], rows, ..self }
    }

    /// Rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Self { rows: self.cols, cols: self.rows, row: self.col, col: self.row, ..self }
    }
}

/// One past the last number of a matrix.
fn reach(rows: usize, cols: usize, row: usize, col: usize) -> usize {
    if rows == 0 || cols == 0 { 0 } else { (rows - 1) * row + (cols - 1) * col + 1 }
}

/// Writes `left · right` to `out`, whose rows are `pitch` numbers apart, or adds it there.
///
/// # Panics
/// If the shapes do not belong together or `out` is too short.
pub fn multiply(out: &mut [f32], pitch: usize, left: MatrixView, right: MatrixView, add: bool) {
    let (m, n, k) = (left.rows, right.cols, left.cols);
    assert_eq!(k, right.rows, "the inner dimensions of a product");
    assert!(n <= pitch || m <= 1, "rows of a product overlap");
    assert!(reach(m, n, pitch, 1) <= out.len(), "a product outside its slice");
    if m == 0 || n == 0 {
        return;
    }
    let stride = |stride: usize| stride as isize;
    // SAFETY: the three assertions and those of `MatrixView` keep every entry inside its slice, entries of `out` are distinct,
    // and `out` is borrowed exclusively. The kernel wants column-major output, so the transposed product is asked for.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            n,
            m,
            k,
            out.as_mut_ptr(),
            stride(pitch),
            1,
            add,
            right.data.as_ptr(),
            stride(right.row),
            stride(right.col),
            left.data.as_ptr(),
            stride(left.row),
            stride(left.col),
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// As [`multiply`], with each row of the result a function of its own row on the left and of `right` alone, bit for bit: whatever other
/// rows there are, and however many.
///
/// The kernel chooses its order of additions by the size of a product. So all products have the same number of rows here; the last ones
/// are filled up with zeros.
///
/// # Panics
/// If the shapes do not belong together or `out` is too short.
pub fn multiply_rows(out: &mut [f32], pitch: usize, left: MatrixView, right: MatrixView, add: bool) {
    let whole = left.rows / BLOCK * BLOCK;
    for first in (0..whole).step_by(BLOCK) {
        multiply(&mut out[first * pitch..], pitch, left.part(first, BLOCK), right, add);
    }
    if whole < left.rows {
        multiply_filled(&mut out[whole * pitch..], pitch, left.part(whole, left.rows - whole), right, add);
    }
}

/// The product of less than a block of rows, by that of a whole one.
fn multiply_filled(out: &mut [f32], pitch: usize, left: MatrixView, right: MatrixView, add: bool) {
    thread_local! {
        static FILLED: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
    }
    let (width, depth) = (right.cols, left.cols);
    FILLED.with_borrow_mut(|filled| {
        filled.clear();
        filled.resize(BLOCK * (depth + width), 0.0);
        let (rows, product) = filled.split_at_mut(BLOCK * depth);
        for (place, row) in rows.chunks_exact_mut(depth.max(1)).take(left.rows).enumerate() {
            let own = left.data[place * left.row..].iter().step_by(left.col);
            row.iter_mut().zip(own).for_each(|(number, own)| *number = *own);
        }
        if add {
            for (row, own) in product.chunks_exact_mut(width.max(1)).zip(lines(out, pitch, left.rows)) {
                row.copy_from_slice(&own[..width]);
            }
        }
        multiply(product, width, MatrixView::new(rows, BLOCK, depth), right, add);
        for (row, own) in product.chunks_exact(width.max(1)).zip(lines(out, pitch, left.rows)) {
            own[..width].copy_from_slice(row);
        }
    });
}

/// The rows of a product, which begin `pitch` numbers apart.
fn lines(out: &mut [f32], pitch: usize, rows: usize) -> impl Iterator<Item = &mut [f32]> {
    out.chunks_mut(pitch.max(1)).take(rows)
}
