//! Clipping of another framework's gradients, with an emulator for its GPU.
//!
//! Numbers are named by their addresses, which is unsafe: those of a test live until its end, and the emulator is done when it returns.
#![allow(unsafe_code)]

use reticent_testkit::emulator::Emulator;
use reticent_train::cuda::kernels::source;
use reticent_train::cuda::{GuestJob, GuestJobs, GuestSums};

const ROWS: usize = 11;

/// Kinds of jobs that measure, as the source of the kernels numbers them.
const OUTER: u64 = 1;
const KEPT: u64 = 2;
const PLACES: u64 = 3;
const TABLE: u64 = 4;
const SQUARES: u64 = 5;

fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mixed = |i: u64| (seed << 32 | i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..count as u64).map(|i| mixed(i) as f32 / (1 << 23) as f32 - 1.0).collect()
}

fn at<T>(values: &[T]) -> u64 {
    values.as_ptr() as u64
}

fn square(values: &[f32]) -> f64 {
    values.iter().map(|x| f64::from(*x).powi(2)).sum()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * (1.0 + other.abs())
}

fn guest() -> GuestSums {
    GuestSums::on(Box::new(Emulator::new()), 1).unwrap()
}

fn measuring(measured: &[GuestJob]) -> GuestJobs<'_> {
    GuestJobs { measured, rows: ROWS, ..GuestJobs::default() }
}

fn totals(guest: &mut GuestSums, jobs: &[GuestJob], groups: usize) -> Vec<f64> {
    let mut found = vec![f64::NAN; ROWS * groups];
    // SAFETY: the jobs' numbers are the test's.
    unsafe { guest.totals(0, &measuring(jobs), groups, found.as_mut_ptr() as u64).unwrap() };
    found
}

/// Factors, and how many are 0.
fn factors(guest: &mut GuestSums, jobs: &[GuestJob], bound: f64, scale: f64) -> (Vec<f32>, f32) {
    let mut found = vec![f32::NAN; ROWS + 1];
    // SAFETY: the jobs' numbers are the test's.
    unsafe { guest.clip(0, &measuring(jobs), (bound, scale), found.as_mut_ptr() as u64).unwrap() };
    let zeros = found.pop().unwrap();
    assert_eq!(guest.zeros().unwrap(), zeros);
    (found, zeros)
}

/// Vectors with room between the rows.
struct Outer {
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Outer {
    const WIDTH: usize = 37;
    const STEP: usize = 40;
    const HEIGHT: usize = 5;
    /// Added to the squares of both vectors.
    const FLOORS: [f64; 2] = [1e-3, 2e-3];

    fn new() -> Self {
        Self { a: numbers(1, ROWS * Self::STEP), b: numbers(2, ROWS * Self::HEIGHT) }
    }

    fn job(&self) -> GuestJob {
        let (step, width, height) = (Self::STEP as u64, Self::WIDTH as u64, Self::HEIGHT as u64);
        let [a, b] = Self::FLOORS.map(f64::to_bits);
        [OUTER, 0, at(&self.a), step, width, at(&self.b), height, height, a, b, 0, 0]
    }

    fn square(&self, row: usize) -> f64 {
        let a = &self.a[row * Self::STEP..][..Self::WIDTH];
        let b = &self.b[row * Self::HEIGHT..][..Self::HEIGHT];
        (square(a) + Self::FLOORS[0]) * (square(b) + Self::FLOORS[1])
    }
}

#[test]
fn every_kind_is_measured() {
    let outer = Outer::new();
    let kept = numbers(3, ROWS * 300);
    let (places, sums) = (6, 2);
    let size = places * places;
    let (left, right) = (numbers(4, ROWS * sums * size), numbers(5, ROWS * sums * size));
    let pairs = numbers(6, ROWS * size);
    let index: Vec<i64> = (0..ROWS * 7).map(|i| (i * i % 4) as i64).collect();
    let known: Vec<f64> = (0..ROWS).map(|row| row as f64).collect();
    let (hidden, rooms) = (0.01f64, [0.25f64, 0.5]);
    let jobs = [
        outer.job(),
        [KEPT, 1, at(&kept), 300, 300, 0, 0, 0, 0, 0, 0, 0],
        [
            PLACES,
            2,
            at(&left),
            places as u64,
            sums as u64,
            at(&right),
            0,
            0,
            hidden.to_bits(),
            rooms[0].to_bits(),
            rooms[1].to_bits(),
            0,
        ],
        [TABLE, 1, at(&pairs), places as u64, 0, at(&index), 7, 0, hidden.to_bits(), 0, 0, 0],
        [SQUARES, 0, at(&known), 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    let found = totals(&mut guest(), &jobs, 3);
    let trace = |of: &[f32]| (0..places).map(|p| f64::from(of[p * places + p])).sum::<f64>();
    for row in 0..ROWS {
        assert!(near(found[row * 3], outer.square(row) + row as f64));
        let own = &pairs[row * size..][..size];
        let tokens = &index[row * 7..][..places];
        let equal = (0..size).filter(|i| tokens[i / places] == tokens[i % places]);
        let table = equal.map(|i| f64::from(own[i])).sum::<f64>() + hidden * trace(own);
        assert!(near(found[row * 3 + 1], square(&kept[row * 300..][..300]) + table));
        let mut expected = 0.0;
        for sum in 0..sums {
            let from = (row * sums + sum) * size;
            let (a, g) = (&left[from..][..size], &right[from..][..size]);
            expected += a.iter().zip(g).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
            expected += hidden * (trace(a) + rooms[0]) * (trace(g) + rooms[1]);
        }
        assert!(near(found[row * 3 + 2], expected));
    }
}

/// The weighted sum of outer products and of rows, where some rows are not finite.
#[test]
fn no_row_adds_more_than_the_bound() {
    let mut outer = Outer::new();
    let mut kept = numbers(3, ROWS * 300);
    kept[4 * 300 + 7] = f32::NAN;
    outer.b[9 * Outer::HEIGHT] = f32::INFINITY;
    outer.b[2 * Outer::HEIGHT..][..Outer::HEIGHT].fill(0.0);
    kept[2 * 300..][..300].fill(0.0);
    let jobs = [outer.job(), [KEPT, 0, at(&kept), 300, 300, 0, 0, 0, 0, 0, 0, 0]];
    let (bound, scale) = (0.75, 4.0);
    let (own, zeros) = factors(&mut guest(), &jobs, bound, scale);
    assert_eq!(zeros, 2.0);
    for (row, factor) in own.iter().enumerate() {
        let norm = (outer.square(row) + square(&kept[row * 300..][..300])).sqrt();
        let expected = match row {
            4 | 9 => 0.0,
            2 => scale.min(bound / norm),
            _ => (bound / norm).min(scale),
        };
        assert!(near(f64::from(*factor), expected), "{row}: {factor}, {expected}");
    }
    // A first column of another sum is added to, 300 others are written.
    let (mut sum, mut one) = (vec![f32::NAN; 300], vec![5.0f32]);
    let job = |is_added, width, into: &mut [f32]| -> GuestJob {
        [0, is_added, at(&kept), 300, width, at(into), 0, 0, at(&own), 1, 0, 0]
    };
    let rows = [job(0, 300, &mut sum), job(1, 1, &mut one)];
    let (width, height) = (Outer::WIDTH, Outer::HEIGHT);
    let (mut products, mut more) = (vec![f32::NAN; width * height], vec![5.0f32; width * height]);
    let job = |is_added, into: &mut [f32]| -> GuestJob {
        let [_, _, _, step, width, b, height, ..] = outer.job();
        [1, is_added, at(&outer.a), step, width, at(into), b, height, at(&own), 1, 0, height]
    };
    let sums = [rows[0], job(0, &mut products), rows[1], job(1, &mut more)];
    // SAFETY: the jobs' numbers are the test's.
    unsafe {
        guest().add(0, &GuestJobs { sums: &sums, rows: ROWS, ..GuestJobs::default() }).unwrap();
    }
    let rows: Vec<usize> = (0..ROWS).filter(|row| own[*row] != 0.0).collect();
    for column in 0..300 {
        let terms = rows.iter().map(|row| f64::from(own[*row]) * f64::from(kept[row * 300 + column]));
        assert!((f64::from(sum[column]) - terms.sum::<f64>()).abs() < 1e-5);
    }
    assert!((one[0] - 5.0 - sum[0]).abs() < 1e-5);
    for (place, (written, added)) in products.iter().zip(&more).enumerate() {
        let (i, j) = (place / width, place % width);
        let term = |row: &usize| {
            let (a, b) = (outer.a[row * Outer::STEP + j], outer.b[row * height + i]);
            f64::from(own[*row]) * f64::from(a) * f64::from(b)
        };
        let expected: f64 = rows.iter().map(term).sum();
        assert!((f64::from(*written) - expected).abs() < 1e-4, "{place}: {written}, {expected}");
        assert!((f64::from(*added) - 5.0 - expected).abs() < 1e-4);
    }
}

/// More rows, columns and results than a tile has.
#[test]
fn products_of_any_size_are_summed_up() {
    const MANY: usize = 37;
    let (width, height) = (133, 131);
    let (a, b) = (numbers(1, MANY * width), numbers(2, MANY * height));
    let factors: Vec<f32> = (0..MANY).map(|row| if row % 5 == 0 { 0.0 } else { 0.01 * row as f32 }).collect();
    let mut found = vec![f32::NAN; width * height];
    let (w, h) = (width as u64, height as u64);
    let job = [1, 0, at(&a), w, w, at(&found), at(&b), h, at(&factors), 1, 0, h];
    // SAFETY: the jobs' numbers are the test's.
    unsafe {
        guest().add(0, &GuestJobs { sums: &[job], rows: MANY, ..GuestJobs::default() }).unwrap();
    }
    for (place, value) in found.iter_mut().enumerate() {
        let (i, j) = (place / width, place % width);
        let term = |row: usize| factors[row] * b[row * height + i] * a[row * width + j];
        let expected: f32 = (0..MANY).map(term).sum();
        assert!((*value - expected).abs() < 1e-4, "{place}: {value}, {expected}");
    }
}

/// The gradients of a convolution with strides, padding and dilation, that are different both ways, against loops.
#[test]
fn gradients_of_convolutions_are_written_out() {
    let (channels, high, wide, outs) = (3, 9, 11, 6);
    let (kernel, stride, padding, dilation) = ((2, 3), (2, 1), (1, 2), (1, 2));
    let out_high = (high + 2 * padding.0 - dilation.0 * (kernel.0 - 1) - 1) / stride.0 + 1;
    let out_wide = (wide + 2 * padding.1 - dilation.1 * (kernel.1 - 1) - 1) / stride.1 + 1;
    let x = numbers(1, ROWS * channels * high * wide);
    let g = numbers(2, ROWS * outs * out_high * out_wide);
    let size = outs * channels * kernel.0 * kernel.1;
    let found = vec![f32::NAN; ROWS * size];
    let pair = |(upper, lower): (usize, usize)| (upper as u64) << 32 | lower as u64;
    let job = [
        at(&x),
        at(&g),
        at(&found),
        channels as u64,
        pair((high, wide)),
        outs as u64,
        pair(kernel),
        pair(stride),
        pair(padding),
        pair(dilation),
        pair((out_high, out_wide)),
        0,
    ];
    let measured = [[KEPT, 0, at(&found), size as u64, size as u64, 0, 0, 0, 0, 0, 0, 0]];
    let jobs =
        GuestJobs { written: [&[job], &[], &[]], measured: &measured, rows: ROWS, ..GuestJobs::default() };
    let mut squares = vec![f64::NAN; ROWS];
    // SAFETY: the jobs' numbers are the test's.
    unsafe { guest().totals(0, &jobs, 1, squares.as_mut_ptr() as u64).unwrap() };
    for row in 0..ROWS {
        let own = &found[row * size..][..size];
        assert!(near(squares[row], square(own)));
        for (place, value) in own.iter().enumerate() {
            let (out, rest) = (place / (size / outs), place % (size / outs));
            let (channel, i, j) = (rest / (kernel.0 * kernel.1), rest / kernel.1 % kernel.0, rest % kernel.1);
            let mut expected = 0.0;
            for oh in 0..out_high {
                for ow in 0..out_wide {
                    let (down, right) = (oh * stride.0 + i * dilation.0, ow * stride.1 + j * dilation.1);
                    let (down, right) = (down.wrapping_sub(padding.0), right.wrapping_sub(padding.1));
                    if down < high && right < wide {
                        let slope = g[((row * outs + out) * out_high + oh) * out_wide + ow];
                        expected += slope * x[((row * channels + channel) * high + down) * wide + right];
                    }
                }
            }
            assert!((value - expected).abs() < 1e-4, "{row}, {place}: {value}, {expected}");
        }
    }
}

/// The normalized input of a group of numbers.
fn normalized(x: &[f32], has_mean: bool, added: f64) -> Vec<f64> {
    let count = x.len() as f64;
    let mean = if has_mean { x.iter().map(|x| f64::from(*x)).sum::<f64>() / count } else { 0.0 };
    let variance = x.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / count;
    x.iter().map(|x| (f64::from(*x) - mean) / (variance + added).sqrt()).collect()
}

/// Weights and biases of normalizations, by channels and by places; and biases alone.
#[test]
fn gradients_of_normalizations_are_written_out() {
    let (channels, places, group, added) = (12, 10, 4, 0.01f64);
    let size = channels * places;
    let (x, g) = (numbers(1, ROWS * size), numbers(2, ROWS * size));
    for by_channel in [true, false] {
        for (has_input, has_mean, has_bias) in
            [(true, true, true), (true, false, true), (false, false, true), (true, true, false)]
        {
            if by_channel && has_input && !has_mean {
                continue;
            }
            let weights = vec![f32::NAN; ROWS * channels];
            let biases = vec![f32::NAN; ROWS * channels];
            let option = if by_channel { group as u64 } else { u64::from(has_mean) };
            let job = [
                if has_input { at(&x) } else { 0 },
                at(&g),
                if has_input { at(&weights) } else { 0 },
                if has_bias { at(&biases) } else { 0 },
                channels as u64,
                places as u64,
                option,
                added.to_bits(),
                0,
                0,
                0,
                0,
            ];
            let list = [job];
            let written: [&[GuestJob]; 3] = if by_channel { [&[], &list, &[]] } else { [&[], &[], &list] };
            let jobs = GuestJobs { written, rows: ROWS, ..GuestJobs::default() };
            let mut nothing = vec![f64::NAN; ROWS];
            // SAFETY: the jobs' numbers are the test's.
            unsafe { guest().totals(0, &jobs, 1, nothing.as_mut_ptr() as u64).unwrap() };
            for row in 0..ROWS {
                let (x, g) = (&x[row * size..][..size], &g[row * size..][..size]);
                let together = if by_channel { group * places } else { channels };
                let own: Vec<f64> = x.chunks(together).flat_map(|x| normalized(x, has_mean, added)).collect();
                for channel in 0..channels {
                    let of = |place| {
                        if by_channel { channel * places + place } else { place * channels + channel }
                    };
                    let bias: f64 = (0..places).map(|place| f64::from(g[of(place)])).sum();
                    let weight: f64 = (0..places).map(|place| f64::from(g[of(place)]) * own[of(place)]).sum();
                    let (found, other) =
                        (weights[row * channels + channel], biases[row * channels + channel]);
                    assert!(if has_input {
                        (f64::from(found) - weight).abs() < 1e-4
                    } else {
                        found.is_nan()
                    });
                    assert!(if has_bias { (f64::from(other) - bias).abs() < 1e-4 } else { other.is_nan() });
                }
            }
        }
    }
}

/// The factors of a twin whose kernel measures wrongly let rows be longer than the bound.
#[test]
fn a_broken_twin_is_caught() {
    let outer = Outer::new();
    let is_kept = |guest: &mut GuestSums| {
        let (own, _) = factors(guest, &[outer.job()], 0.5, 1.0);
        own.iter().enumerate().all(|(row, factor)| f64::from(*factor) * outer.square(row).sqrt() <= 0.5001)
    };
    assert!(is_kept(&mut guest()));
    let right = "square *= row_square(";
    assert_eq!(source().matches(right).count(), 1);
    let broken = source().replace(right, "square += 0.0 * row_square(");
    let mut twin = GuestSums::on(Box::new(Emulator::with_source(&broken)), 1).unwrap();
    assert!(!is_kept(&mut twin));
}

#[test]
fn nothing_to_measure_has_the_norm_0() {
    let (own, zeros) = factors(&mut guest(), &[], 0.5, 3.0);
    assert!(own.iter().all(|factor| *factor == 3.0) && zeros == 0.0);
    assert!(totals(&mut guest(), &[], 2).iter().all(|total| *total == 0.0));
    // SAFETY: nothing is named.
    unsafe { guest().add(0, &measuring(&[])).unwrap() };
}
