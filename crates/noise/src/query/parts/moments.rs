//! Bernstein polynomials of a value's place between its bounds, as integers that sum to the same whole for every row.

use super::column::PLACE_BITS;

/// What the entries of one row sum to.
pub(super) const WHOLE: u64 = 1 << 32;

/// (1 − t, t) in parts of [`WHOLE`], for t = place/2⁴⁰.
pub(super) fn linear(place: u64) -> [u64; 2] {
    let up = place >> (PLACE_BITS - 32);
    [WHOLE - up, up]
}

/// ((1 − t)², 2t(1 − t), t²) in parts of [`WHOLE`]: the outer ones rounded down, the middle one what is left.
pub(super) fn quadratic(place: u64) -> [u64; 3] {
    let square = |v: u64| ((u128::from(v) * u128::from(v)) >> (2 * PLACE_BITS - 32)) as u64;
    let (below, above) = (square((1 << PLACE_BITS) - place), square(place));
    [below, WHOLE - below - above, above]
}

/// The products of two quadratic bases, in rows of the first: rounded down, and the middle one has what is left.
pub(super) fn joint(first: u64, second: u64) -> [u64; 9] {
    let (first, second) = (quadratic(first), quadratic(second));
    let mut entries = [0; 9];
    for (i, x) in first.into_iter().enumerate() {
        for (j, y) in second.into_iter().enumerate() {
            entries[3 * i + j] = ((u128::from(x) * u128::from(y)) >> 32) as u64;
        }
    }
    entries[4] += WHOLE - entries.iter().sum::<u64>();
    entries
}

/// Coefficients of t in the basis of degree 1 (two entries) or 2 (three).
pub(super) fn place_weights(entries: usize) -> &'static [f64] {
    if entries == 2 { &[0.0, 1.0] } else { &[0.0, 0.5, 1.0] }
}

/// Ranges of the coefficients of (t − c)² in the basis of degree 2, for c from `low` to `high` in [0, 1].
pub(super) fn square_ranges([low, high]: [f64; 2]) -> [[f64; 2]; 3] {
    let middle = |c: f64| c * (c - 1.0);
    let least = if low <= 0.5 && 0.5 <= high { -0.25 } else { middle(low).min(middle(high)) };
    [
        [low * low, high * high],
        [least, middle(low).max(middle(high))],
        [(1.0 - high) * (1.0 - high), (1.0 - low) * (1.0 - low)],
    ]
}

/// Ranges of the coefficients of t − c.
pub(super) fn centered_ranges([low, high]: [f64; 2]) -> [[f64; 2]; 3] {
    [[-high, -low], [0.5 - high, 0.5 - low], [1.0 - high, 1.0 - low]]
}

/// Ranges of the coefficients of f(x)·g(y) in the products of two bases of degree 2.
pub(super) fn products(first: &[[f64; 2]; 3], second: &[[f64; 2]; 3]) -> [[f64; 2]; 9] {
    std::array::from_fn(|k| {
        let ([a, b], [c, d]) = (first[k / 3], second[k % 3]);
        let corners = [a * c, a * d, b * c, b * d];
        [
            corners.into_iter().fold(f64::INFINITY, f64::min),
            corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
        ]
    })
}
