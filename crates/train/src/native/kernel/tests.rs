use super::*;
use product::{MatrixView, multiply, multiply_rows};
use proptest::prelude::*;
use slide::{CHANNELS, Gather, SLACK, Slide, pack};

fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / (1u64 << 23) as f32) - 1.0
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn products_of_any_layout_are_those_of_the_definition(
        m in 1usize..20, n in 1usize..20, k in 0usize..20, gap in 0usize..3, left_t: bool, right_t: bool, add: bool, seed: u64
    ) {
        let (left, right) = (numbers(seed, (m + gap) * (k + gap) + 9), numbers(seed ^ 1, (n + gap) * (k + gap) + 9));
        let l = if left_t { MatrixView::strided(&left, k, m, m + gap).transposed() } else { MatrixView::strided(&left, m, k, k + gap) };
        let r = if right_t { MatrixView::strided(&right, n, k, k + gap).transposed() } else { MatrixView::strided(&right, k, n, n + gap) };
        let mut out = vec![1.0; m * (n + gap)];
        multiply(&mut out, n + gap, l, r, add);
        for i in 0..m {
            for j in 0..n {
                let entry = |t: usize| {
                    let a = if left_t { left[t * (m + gap) + i] } else { left[i * (k + gap) + t] };
                    let b = if right_t { right[j * (k + gap) + t] } else { right[t * (n + gap) + j] };
                    a * b
                };
                let exact: f32 = (0..k).map(entry).sum::<f32>() + if add { 1.0 } else { 0.0 };
                prop_assert!((out[i * (n + gap) + j] - exact).abs() < 1e-5);
            }
            for j in n..n + gap {
                prop_assert_eq!(out[i * (n + gap) + j], 1.0);
            }
        }
    }

    #[test]
    fn sliding_and_gathering_follow_their_formulas(
        channels in 1usize..20, depth in 1usize..30, rows in 1usize..5, cols in 1usize..40, seed: u64
    ) {
        let pitch = cols + 2;
        let width = (rows - 1) * pitch + cols;
        let planes = numbers(seed, 200 + width + SLACK);
        let starts: Vec<usize> = (0..depth).map(|k| (k * 37 + seed as usize % 7) % 200).collect();
        let weights = numbers(seed ^ 2, channels * depth);
        let mut packed = Vec::new();
        pack(channels, depth, |c, k| weights[c * depth + k], &mut packed);
        let out_pitch = width.div_ceil(16) * 16;
        let mut out = vec![f32::NAN; channels.div_ceil(slide::BLOCK) * slide::BLOCK * out_pitch];
        Slide { planes: &planes, starts: &starts, shift: 0, weights: &packed, out: &mut out, pitch: out_pitch, width }.run();
        for c in 0..channels {
            for p in 0..width {
                let exact: f32 = (0..depth).map(|k| weights[c * depth + k] * planes[starts[k] + p]).sum();
                prop_assert!((out[c * out_pitch + p] - exact).abs() < 1e-4);
            }
        }
        let padded = channels.div_ceil(CHANNELS) * CHANNELS;
        let gradient = numbers(seed ^ 3, rows * cols * padded);
        let mut sums = vec![1.0; depth * padded];
        Gather { planes: &planes, starts: &starts, gradient: &gradient, channels: padded, rows, cols, pitch, out: &mut sums, add: true }.run();
        for k in 0..depth {
            for c in 0..padded {
                let mut exact = 1.0;
                for row in 0..rows {
                    for col in 0..cols {
                        exact += planes[starts[k] + row * pitch + col] * gradient[(row * cols + col) * padded + c];
                    }
                }
                prop_assert!((sums[k * padded + c] - exact).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn curves_are_accurate_and_keep_nan() {
    for i in -2000..2000 {
        let x = i as f32 * 0.05;
        let exact = f64::from(x);
        let exp = f64::from(activation::exp(x));
        if (-87.0..88.0).contains(&x) {
            assert!((exp / exact.exp() - 1.0).abs() < 3e-7, "exp {x}");
        }
        assert!((f64::from(activation::tanh(x)) - exact.tanh()).abs() < 2e-7, "tanh {x}");
        let small = exact * 1e-4;
        assert!(
            (f64::from(activation::tanh(small as f32)) - small.tanh()).abs() <= 3e-7 * small.abs(),
            "tanh {small}"
        );
        assert!(
            (f64::from(activation::sigmoid(x)) - 1.0 / (1.0 + (-exact).exp())).abs() < 2e-7,
            "sigmoid {x}"
        );
    }
    assert!(
        activation::exp(f32::NAN).is_nan()
            && activation::tanh(f32::NAN).is_nan()
            && activation::sigmoid(f32::NAN).is_nan()
    );
    assert_eq!(activation::tanh(f32::INFINITY), 1.0);
    let mut values = [f32::NAN, -1.0, 2.0];
    crate::graph::Activation::Relu.apply(&mut values);
    assert!(values[0].is_nan() && values[1..] == [0.0, 2.0]);
}

#[test]
fn slopes_are_the_derivatives() {
    let activations = [
        crate::graph::Activation::Relu,
        crate::graph::Activation::Tanh,
        crate::graph::Activation::Sigmoid { scale: 1.0, temperature: 1.0, offset: 0.0 },
        crate::graph::Activation::Sigmoid { scale: 2.0, temperature: 1.5, offset: 1.0 },
    ];
    for activation in activations {
        for x in [-2.0f32, -0.3, 0.4, 1.7] {
            let h = 1e-2;
            let (mut y, mut ends) = ([x], [x - h, x + h]);
            activation.apply(&mut y);
            activation.apply(&mut ends);
            let mut g = [1.0];
            activation.slope(&y, &mut g);
            assert!((g[0] - (ends[1] - ends[0]) / (2.0 * h)).abs() < 1e-3, "{activation:?} at {x}");
        }
    }
}

#[test]
fn rows_of_probabilities_add_up_to_one() {
    let mut rows = numbers(3, 7 * 37);
    activation::softmax(&mut rows, 37, 0.5);
    for row in rows.chunks(37) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn dots_of_any_length() {
    for n in [0, 1, 15, 16, 17, 64, 200] {
        let (x, y) = (numbers(1, n), numbers(2, n));
        let exact: f32 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        assert!((vector::dot(&x, &y) - exact).abs() < 1e-5);
        assert!((vector::sum(&x) - x.iter().sum::<f32>()).abs() < 1e-5);
    }
}

#[test]
fn rows_that_are_mostly_zero_multiply_like_others() {
    use super::sparse::{Nonzeros, multiply, multiply_transposed};
    use super::transpose::{transpose, transposed};
    for (rows, inner, width) in [(1, 1, 1), (5, 40, 33), (24, 17, 64), (3, 100, 7)] {
        let value = |place: usize| ((place * 37 + 11) % 101) as f32 / 50.0 - 1.0;
        let sparse = |place: usize| if (place * 29 + 3) % 11 < 2 { value(place) } else { 0.0 };
        let input: Vec<f32> = (0..rows * inner).map(sparse).collect();
        let matrix: Vec<f32> = (0..inner * width).map(value).collect();
        let right: Vec<f32> = (0..rows * width).map(value).collect();
        let mut nonzeros = Nonzeros::default();
        if rows * inner == 1 {
            assert!(!nonzeros.read(&[1.0], 1) && nonzeros.is_empty());
        }
        assert!(nonzeros.read(&input, inner));
        let (mut out, mut turned) = (vec![0.5; rows * width], vec![0.25; inner * width]);
        multiply(&nonzeros, &matrix, width, &mut out);
        multiply_transposed(&nonzeros, &right, width, &mut turned);
        let mut flat = vec![9.0; 3];
        transposed(&matrix, width, &mut flat);
        let mut twice = flat.clone();
        transpose(&matrix, width, &mut twice, inner, true);
        let mut apart = vec![0.5; width * (inner + 3)];
        transpose(&matrix, width, &mut apart, inner + 3, false);
        for (line, apart) in flat.chunks_exact(inner).zip(apart.chunks_exact(inner + 3)) {
            assert_eq!((line, &[0.5; 3][..]), apart.split_at(inner));
        }
        for column in 0..width {
            for row in 0..rows {
                let terms =
                    (0..inner).map(|i| f64::from(input[row * inner + i] * matrix[i * width + column]));
                assert!((f64::from(out[row * width + column]) - 0.5 - terms.sum::<f64>()).abs() < 1e-4);
            }
            for i in 0..inner {
                let terms = (0..rows).map(|r| f64::from(input[r * inner + i] * right[r * width + column]));
                assert!((f64::from(turned[i * width + column]) - 0.25 - terms.sum::<f64>()).abs() < 1e-4);
                assert_eq!(flat[column * inner + i], matrix[i * width + column]);
                assert_eq!(twice[column * inner + i], 2.0 * matrix[i * width + column]);
            }
        }
    }
}

/// A product of many shapes: how many rows change their last bits when others stand beside them.
fn rows_that_depend_on_others(product: fn(&mut [f32], usize, MatrixView, MatrixView, bool)) -> usize {
    let mut changed = 0;
    for (width, depth) in
        [(1, 1), (1, 40), (2, 3), (2, 1568), (3, 700), (5, 64), (10, 33), (64, 600), (65, 1100), (512, 100)]
    {
        let right = numbers(width as u64, depth * width);
        let across = numbers(depth as u64, width * depth);
        for gap in [0, 3] {
            let (left_pitch, pitch) = (depth + gap, width + gap);
            let left = numbers(7, 200 * left_pitch);
            let start = numbers(9, 200 * pitch);
            for (add, is_turned) in [(false, false), (true, false), (false, true)] {
                let right = match is_turned {
                    true => MatrixView::new(&across, width, depth).transposed(),
                    false => MatrixView::new(&right, depth, width),
                };
                let of = |first: usize, rows: usize| {
                    let mut out = start[first * pitch..(first + rows) * pitch].to_vec();
                    let view = MatrixView::strided(&left[first * left_pitch..], rows, depth, left_pitch);
                    product(&mut out, pitch, view, right, add);
                    out
                };
                let alone: Vec<Vec<f32>> = (0..200).map(|row| of(row, 1)).collect();
                for (first, rows) in [
                    (0, 2),
                    (1, 31),
                    (0, 47),
                    (0, 48),
                    (5, 49),
                    (3, 64),
                    (0, 127),
                    (0, 128),
                    (0, 129),
                    (0, 200),
                ] {
                    for (place, row) in of(first, rows).chunks(pitch).enumerate() {
                        let same =
                            row.iter().zip(&alone[first + place]).all(|(a, b)| a.to_bits() == b.to_bits());
                        changed += usize::from(!same);
                    }
                }
            }
        }
    }
    changed
}

#[test]
fn rows_of_a_product_do_not_depend_on_other_rows() {
    assert_eq!(rows_that_depend_on_others(multiply_rows), 0);
    // The product whose kernel is chosen by the number of rows.
    assert!(rows_that_depend_on_others(multiply) > 0);
}

#[test]
fn products_row_by_row_are_products() {
    for (rows, width, depth) in [(1, 3, 4), (47, 7, 5), (48, 7, 0), (110, 9, 30)] {
        let (left, right) = (numbers(1, rows * depth), numbers(2, depth * width));
        for add in [false, true] {
            let (mut one, mut other) = (vec![0.5; rows * width], vec![0.5; rows * width]);
            let views = (MatrixView::new(&left, rows, depth), MatrixView::new(&right, depth, width));
            multiply(&mut one, width, views.0, views.1, add);
            multiply_rows(&mut other, width, views.0, views.1, add);
            assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
}
