//! Matrices with rows and columns exchanged.

use pulp::{Arch, Simd, WithSimd};

/// Rows and columns that are exchanged in one go.
const TILE: usize = 8;

/// Writes a matrix of rows of `width` numbers with rows and columns exchanged, or adds it. Rows of `out` are `pitch` numbers
/// apart, at least as many as the matrix has rows.
pub(in crate::native) fn transpose(matrix: &[f32], width: usize, out: &mut [f32], pitch: usize, add: bool) {
    struct Turn<'a>(&'a [f32], usize, &'a mut [f32], usize, bool);
    impl WithSimd for Turn<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self(matrix, width, out, pitch, add) = self;
            if add {
                turn(matrix, width, out, pitch, |out, value| *out += value);
            } else {
                turn(matrix, width, out, pitch, |out, value| *out = value);
            }
        }
    }
    Arch::new().dispatch(Turn(matrix, width, out, pitch, add));
}

/// A matrix of rows of `width` numbers with rows and columns exchanged, in place of what `out` held.
pub(in crate::native) fn transposed(matrix: &[f32], width: usize, out: &mut Vec<f32>) {
    out.resize(matrix.len(), 0.0);
    transpose(matrix, width, out, matrix.len() / width, false);
}

/// Tiles in one go, what is left over number by number.
#[inline(always)]
fn turn(matrix: &[f32], width: usize, out: &mut [f32], pitch: usize, put: impl Fn(&mut f32, f32)) {
    let rows = matrix.len() / width;
    let (whole_rows, whole_columns) = (rows - rows % TILE, width - width % TILE);
    for row in (0..whole_rows).step_by(TILE) {
        for column in (0..whole_columns).step_by(TILE) {
            let mut tile = [[0.0f32; TILE]; TILE];
            for (place, line) in tile.iter_mut().enumerate() {
                let start = (row + place) * width + column;
                line.copy_from_slice(&matrix[start..start + TILE]);
            }
            for place in 0..TILE {
                let start = (column + place) * pitch + row;
                for (line, out) in tile.iter().zip(&mut out[start..start + TILE]) {
                    put(out, line[place]);
                }
            }
        }
    }
    for row in 0..rows {
        let first = if row < whole_rows { whole_columns } else { 0 };
        for column in first..width {
            put(&mut out[column * pitch + row], matrix[row * width + column]);
        }
    }
}
