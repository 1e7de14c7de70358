//! Small dense systems.

/// The inverse of a symmetric positive definite matrix, row by row; none where it is not positive definite.
pub(super) fn inverse(mut matrix: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    // The factor L of LLᵀ, in the lower triangle.
    for row in 0..size {
        for column in 0..=row {
            let (above, own) = matrix.split_at_mut(row * size);
            let other = if column == row { &own[..column] } else { &above[column * size..][..column] };
            let value = own[column] - dot(&own[..column], other);
            own[column] = match column == row {
                true if value > 0.0 => value.sqrt(),
                true => return None,
                false => value / above[column * size + column],
            };
        }
    }
    // Rows of L⁻ᵀ: column j of L⁻¹ solves Ly = eⱼ.
    let mut columns = vec![0.0; size * size];
    for place in 0..size {
        let solved = &mut columns[place * size..][..size];
        solved[place] = 1.0 / matrix[place * size + place];
        for row in place + 1..size {
            let line = &matrix[row * size..][..=row];
            solved[row] = -dot(&line[place..row], &solved[place..row]) / line[row];
        }
    }
    let mut inverse = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let value = dot(
                &columns[row * size + row..][..size - row],
                &columns[column * size + row..][..size - row],
            );
            (inverse[row * size + column], inverse[column * size + row]) = (value, value);
        }
    }
    Some(inverse)
}

/// Solves a small general system in place, with pivots; none where it is singular.
pub(super) fn solve(matrix: &mut [f64], right: &mut [f64]) -> Option<()> {
    let size = right.len();
    for step in 0..size {
        let pivot = (step..size)
            .max_by(|a, b| matrix[a * size + step].abs().total_cmp(&matrix[b * size + step].abs()))?;
        if matrix[pivot * size + step] == 0.0 {
            return None;
        }
        (0..size).for_each(|column| matrix.swap(step * size + column, pivot * size + column));
        right.swap(step, pivot);
        for row in step + 1..size {
            let factor = matrix[row * size + step] / matrix[step * size + step];
            for column in step..size {
                matrix[row * size + column] -= factor * matrix[step * size + column];
            }
            right[row] -= factor * right[step];
        }
    }
    for step in (0..size).rev() {
        let known = dot(&matrix[step * size + step + 1..][..size - step - 1], &right[step + 1..]);
        right[step] = (right[step] - known) / matrix[step * size + step];
    }
    Some(())
}

pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (of_left, of_right) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest: f64 = of_left.remainder().iter().zip(of_right.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; LANES];
    for (left, right) in of_left.zip(of_right) {
        sums.iter_mut().zip(left.iter().zip(right)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_and_solutions_undo_products() {
        let size = 9;
        let number = |place: usize| ((place * place * 31 + place * 17 + 7) % 101) as f64 / 101.0 - 0.5;
        let root: Vec<f64> = (0..size * size).map(number).collect();
        let row = |matrix: &[f64], at: usize| matrix[at * size..][..size].to_vec();
        let mut matrix = vec![0.0; size * size];
        for a in 0..size {
            for b in 0..size {
                matrix[a * size + b] = dot(&row(&root, a), &row(&root, b)) + f64::from(u8::from(a == b));
            }
        }
        let found = inverse(matrix.clone(), size).unwrap();
        for a in 0..size {
            for b in 0..size {
                let product = dot(&row(&matrix, a), &row(&found, b));
                assert!((product - f64::from(u8::from(a == b))).abs() < 1e-12, "{a} {b}: {product}");
            }
        }
        let wanted: Vec<f64> = (0..size).map(|place| number(place + 500)).collect();
        let mut right: Vec<f64> = (0..size).map(|a| dot(&row(&root, a), &wanted)).collect();
        solve(&mut root.clone(), &mut right).unwrap();
        assert!(right.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{right:?}");
        assert!(inverse(vec![-1.0], 1).is_none() && solve(&mut [0.0], &mut [1.0]).is_none());
    }
}
