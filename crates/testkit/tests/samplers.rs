//! Every sampler against its exact distribution, tails included.

use reticent_core::special::{normal_cdf, normal_tail, normal_tail_quantile};
use reticent_noise::Entropy;
use reticent_noise::sampler::*;
use reticent_testkit::budget::Ledger;
use reticent_testkit::exact;
use reticent_testkit::goodness::{binomial, chi_square, histogram, ks};

const MILLION: u64 = 1_000_000;

fn count(draws: u64, mut draw: impl FnMut() -> bool) -> u64 {
    (0..draws).map(|_| u64::from(draw())).sum()
}

/// Exactly representable scales with their number of bits behind the point.
fn dyadic(value: f64) -> Dyadic {
    Dyadic::at_least("value", value, 53).unwrap()
}

fn as_f64(value: Dyadic) -> f64 {
    value.numerator as f64 * (2f64).powi(-(value.shift as i32))
}

/// A table of cells −reach…reach, whose ends hold everything beyond.
fn cells(reach: i128, cdf: impl Fn(i128) -> f64, pmf: impl Fn(i128) -> f64) -> Vec<f64> {
    (-reach..=reach).map(|x| if x.abs() == reach { cdf(-reach).max(pmf(-reach)) } else { pmf(x) }).collect()
}

#[test]
fn bernoulli_probabilities() {
    let mut ledger = Ledger::open("samplers::bernoulli");
    let mut bits = Entropy::new().unwrap();
    let wide = (1u128 << 127) + 12_345;
    for (num, den, draws) in [
        (1, 3, 2 * MILLION),
        (1, 1 << 20, 20 * MILLION),
        ((1 << 30) - 1, 1 << 30, 20 * MILLION),
        (wide / 3, wide, 2 * MILLION),
        ((1 << 100) + 7, 1 << 120, 10 * MILLION),
        ((1 << 110) - (1 << 100), 1 << 110, 2 * MILLION),
    ] {
        let hits = count(draws, || bernoulli(&mut bits, num, den));
        // The rarer side keeps its digits.
        let p_value = if num > den / 2 {
            binomial(draws - hits, draws, (den - num) as f64 / den as f64)
        } else {
            binomial(hits, draws, num as f64 / den as f64)
        };
        ledger.expect(&format!("{num}/{den}"), p_value);
    }
    assert_eq!(count(1000, || bernoulli(&mut bits, 0, 7)), 0);
    assert_eq!(count(1000, || bernoulli(&mut bits, u128::MAX, u128::MAX)), 1000);
}

#[test]
fn bernoulli_exp_probabilities() {
    let mut ledger = Ledger::open("samplers::bernoulli_exp");
    let mut bits = Entropy::new().unwrap();
    assert_eq!(count(100_000, || bernoulli_exp(&mut bits, 0, 1)), 100_000);
    for (num, den, draws) in [
        (1, 1000, 2 * MILLION),
        (1, 2, 2 * MILLION),
        (1, 1, 2 * MILLION),
        (27, 10, 2 * MILLION),
        (20, 3, 4 * MILLION),
        ((1 << 48) + 3, 3 << 50, MILLION),
        ((1 << 111) + 1, 3 << 110, MILLION),
        ((1 << 112) + 1, 5 << 111, 200_000),
        (u128::MAX / 3, u128::MAX, 200_000),
    ] {
        let hits = count(draws, || bernoulli_exp(&mut bits, num, den));
        let p = libm::exp(-(num as f64 / den as f64));
        let p_value = if p > 0.5 {
            binomial(draws - hits, draws, -libm::expm1(-(num as f64 / den as f64)))
        } else {
            binomial(hits, draws, p)
        };
        ledger.expect(&format!("exp(-{num}/{den})"), p_value);
    }
    assert_eq!(count(1000, || bernoulli_exp(&mut bits, u128::MAX, 1)), 0);
}

#[test]
fn geometric_distribution() {
    let mut ledger = Ledger::open("samplers::geometric");
    let mut bits = Entropy::new().unwrap();
    for t in [1u64, 2, 7] {
        let scale = t as f64;
        let reach = 30 * i128::from(t);
        let seen = histogram(2 * MILLION, reach, || geometric(&mut bits, t) as i128);
        let seen = &seen[reach as usize..];
        let mut pmf: Vec<f64> = (0..reach as u128).map(|x| exact::geometric_pmf(x, scale)).collect();
        pmf.push(exact::geometric_tail(reach as u128, scale));
        ledger.expect(&format!("t = {t}"), chi_square(seen, &pmf).p_value);
        let far = 10 * t as usize;
        let tail = seen[far..].iter().sum();
        ledger.expect(&format!("t = {t}, tail"), binomial(tail, 2 * MILLION, libm::exp(-10.0)));
    }
    for t in [1u64 << 40, (1 << 63) + 5] {
        let mut draws: Vec<u128> = (0..MILLION).map(|_| geometric(&mut bits, t)).collect();
        let below = |x: u128| -libm::expm1(-(x as f64) / t as f64);
        ledger.expect(&format!("t = {t}"), ks(&mut draws, |x| below(x + 1), |x| below(*x)));
    }
}

#[test]
fn discrete_laplace_distribution() {
    let mut ledger = Ledger::open("samplers::discrete_laplace");
    let mut bits = Entropy::new().unwrap();
    for value in [0.3, 1.0, 2.5, 100.0] {
        let sampler = DiscreteLaplaceSampler::new(dyadic(value));
        let scale = as_f64(sampler.scale());
        let reach = (12.0 * scale).ceil() as i128 + 1;
        let seen = histogram(2 * MILLION, reach, || sampler.sample(&mut bits));
        let expected = cells(
            reach,
            |x| exact::discrete_laplace_cdf(x, scale),
            |x| exact::discrete_laplace_pmf(x, scale),
        );
        ledger.expect(&format!("scale {value}"), chi_square(&seen, &expected).p_value);
        // Each tail by itself, about 10 scales out.
        let far = (reach - 2).min((10.0 * scale) as i128).max(1) as usize;
        let middle = reach as usize;
        let p = exact::discrete_laplace_cdf(-(far as i128), scale);
        let (left, right): (u64, u64) =
            (seen[..=middle - far].iter().sum(), seen[middle + far..].iter().sum());
        ledger.expect(&format!("scale {value}, left tail"), binomial(left, 2 * MILLION, p));
        ledger.expect(&format!("scale {value}, right tail"), binomial(right, 2 * MILLION, p));
    }
}

#[test]
fn discrete_laplace_with_wide_scales() {
    let mut ledger = Ledger::open("samplers::discrete_laplace_wide");
    let mut bits = Entropy::new().unwrap();
    for (value, draws) in [((2f64).powi(40), MILLION), ((2f64).powi(70), 20_000), (1e25, 20_000)] {
        let sampler = DiscreteLaplaceSampler::new(dyadic(value));
        let mut drawn: Vec<i128> = (0..draws).map(|_| sampler.sample(&mut bits)).collect();
        let cdf = |x: i128| exact::discrete_laplace_cdf(x, value);
        ledger.expect(&format!("scale {value}"), ks(&mut drawn, |x| cdf(*x), |x| cdf(x - 1)));
    }
}

#[test]
fn discrete_gaussian_distribution() {
    let mut ledger = Ledger::open("samplers::discrete_gaussian");
    let mut bits = Entropy::new().unwrap();
    for sigma in [0.25, 1.0, 2.5, 100.0, 4096.0] {
        let sampler = DiscreteGaussianSampler::new(dyadic(sigma));
        let reach = (5.0 * sigma).ceil() as i128 + 1;
        let seen = histogram(2 * MILLION, reach, || sampler.sample(&mut bits));
        let wide = exact::discrete_gaussian_pmf(12 * reach as i64, sigma);
        let offset = 11 * reach as usize;
        let beyond: f64 = wide[..=offset].iter().sum();
        let mut expected = wide[offset..=offset + 2 * reach as usize].to_vec();
        expected[0] = beyond;
        expected[2 * reach as usize] = beyond;
        ledger.expect(&format!("sigma {sigma}"), chi_square(&seen, &expected).p_value);
        let far = (4.0 * sigma).ceil() as usize;
        let middle = reach as usize;
        let p: f64 = expected[..=middle - far].iter().sum();
        let (left, right): (u64, u64) =
            (seen[..=middle - far].iter().sum(), seen[middle + far..].iter().sum());
        ledger.expect(&format!("sigma {sigma}, left tail"), binomial(left, 2 * MILLION, p));
        ledger.expect(&format!("sigma {sigma}, right tail"), binomial(right, 2 * MILLION, p));
    }
}

#[test]
fn discrete_gaussian_with_wide_sigmas() {
    let mut ledger = Ledger::open("samplers::discrete_gaussian_wide");
    let mut bits = Entropy::new().unwrap();
    for exponent in [40, 90] {
        let sigma = (2f64).powi(exponent);
        let sampler = DiscreteGaussianSampler::new(dyadic(sigma));
        let mut drawn: Vec<i128> = (0..20_000).map(|_| sampler.sample(&mut bits)).collect();
        let cdf = |x: i128| exact::discrete_gaussian_cdf_wide(x, sigma);
        ledger.expect(&format!("sigma 2^{exponent}"), ks(&mut drawn, |x| cdf(*x), |x| cdf(x - 1)));
    }
}

#[test]
fn uniform_below_is_uniform() {
    let mut ledger = Ledger::open("samplers::uniform_below");
    let mut bits = Entropy::new().unwrap();
    for n in [3u64, 6, 1000] {
        let mut seen = vec![0u64; n as usize];
        (0..3 * MILLION).for_each(|_| seen[uniform_below(&mut bits, n) as usize] += 1);
        let expected = vec![1.0 / n as f64; n as usize];
        ledger.expect(&format!("n = {n}"), chi_square(&seen, &expected).p_value);
    }
    // Just above a power of two, where a sloppy multiplication favours some results by a factor of two.
    let n = (1u64 << 63) + 1;
    let mut drawn: Vec<u64> = (0..MILLION).map(|_| uniform_below(&mut bits, n)).collect();
    let lower = drawn.iter().filter(|x| **x <= n / 2).count() as u64;
    ledger.expect("2^63 + 1, halves", binomial(lower, MILLION, (n / 2 + 1) as f64 / n as f64));
    let even = drawn.iter().filter(|x| **x % 2 == 0).count() as u64;
    ledger.expect("2^63 + 1, parity", binomial(even, MILLION, 0.5));
    let cdf = |x: f64| x / n as f64;
    ledger.expect("2^63 + 1", ks(&mut drawn, |x| cdf(*x as f64 + 1.0), |x| cdf(*x as f64)));
}

const CELL: f64 = 1.0 / (1u64 << CELL_BITS) as f64;

#[test]
fn normal_cells_in_the_body() {
    let mut ledger = Ledger::open("samplers::normal_cell_body");
    let mut bits = Entropy::new().unwrap();
    // 256 equally likely stretches of cells.
    let edges: Vec<i32> =
        (1..256).map(|i| (-normal_tail_quantile(f64::from(i) / 256.0) / CELL).round() as i32).collect();
    let mut seen = vec![0u64; 256];
    (0..8 * MILLION).for_each(|_| {
        let cell = normal_cell(&mut bits);
        seen[edges.partition_point(|edge| *edge <= cell)] += 1;
    });
    let below = |i: usize| match i {
        0 => 0.0,
        256 => 1.0,
        i => normal_cdf(f64::from(edges[i - 1]) * CELL),
    };
    let expected: Vec<f64> = (0..256).map(|i| below(i + 1) - below(i)).collect();
    ledger.expect("256 stretches", chi_square(&seen, &expected).p_value);
    let mut drawn: Vec<i32> = (0..2 * MILLION).map(|_| normal_cell(&mut bits)).collect();
    let cdf = |cell: f64| normal_cdf(cell * CELL);
    ledger.expect("all", ks(&mut drawn, |c| cdf(f64::from(*c) + 1.0), |c| cdf(f64::from(*c))));
}

#[test]
fn low_bits_of_normal_cells_are_uniform() {
    let mut ledger = Ledger::open("samplers::normal_cell_low_bits");
    let mut bits = Entropy::new().unwrap();
    // By sign, in the middle and around the tail's start: 64 cells are far below the density's scale.
    let mut seen = [[0u64; 64]; 4];
    (0..8 * MILLION).for_each(|_| {
        let cell = normal_cell(&mut bits);
        let far = f64::from(cell).abs() * CELL > 2.5;
        seen[2 * usize::from(cell < 0) + usize::from(far)][(cell & 63) as usize] += 1;
    });
    for (part, seen) in seen.iter().enumerate() {
        ledger.expect(&format!("part {part}"), chi_square(seen, &[1.0 / 64.0; 64]).p_value);
    }
}

#[test]
fn normal_cells_in_the_tails() {
    let mut ledger = Ledger::open("samplers::normal_cell_tails");
    let mut bits = Entropy::new().unwrap();
    let draws = 24 * MILLION;
    let start = 3.655;
    let mut far: Vec<i32> = Vec::new();
    (0..draws).for_each(|_| {
        let cell = normal_cell(&mut bits);
        if f64::from(cell).abs() * CELL >= start {
            far.push(cell);
        }
    });
    for edge in [start, 4.0, 4.5] {
        let cut = (edge / CELL).ceil() as i32;
        let (right, left) = (far.iter().filter(|c| **c >= cut), far.iter().filter(|c| **c < -cut));
        let p = normal_tail(f64::from(cut) * CELL);
        ledger.expect(&format!("above {edge}"), binomial(right.count() as u64, draws, p));
        ledger.expect(&format!("below -{edge}"), binomial(left.count() as u64, draws, p));
    }
    for sign in [1, -1] {
        let cut = (start / CELL).ceil() as i32;
        // Mirror the left tail: cell K stands for the same stretch as −K − 1.
        let mirrored = far.iter().map(|c| if sign < 0 { -c - 1 } else { *c });
        let mut side: Vec<i32> = mirrored.filter(|c| *c >= cut).collect();
        let whole = normal_tail(f64::from(cut) * CELL);
        let cdf = |cell: f64| 1.0 - normal_tail(cell * CELL) / whole;
        ledger.expect("tail shape", ks(&mut side, |c| cdf(f64::from(*c) + 1.0), |c| cdf(f64::from(*c))));
    }
}

#[test]
fn rounded_normals() {
    let mut ledger = Ledger::open("samplers::rounded_normal");
    let mut bits = Entropy::new().unwrap();
    for sigma in [1u64, 3, 1000, 1 << 33] {
        let mut drawn: Vec<i128> = (0..2 * MILLION).map(|_| rounded_normal(&mut bits, sigma)).collect();
        let far = drawn.iter().filter(|k| **k >= 4 * i128::from(sigma)).count() as u64;
        ledger.expect(&format!("sigma {sigma}, tail"), binomial(far, 2 * MILLION, normal_tail(4.0)));
        let p_value = if sigma < 10 {
            let reach = 6 * i128::from(sigma);
            let mut source = drawn.iter().copied();
            let seen = histogram(2 * MILLION, reach, || source.next().unwrap());
            let mut expected: Vec<f64> =
                (-reach..=reach).map(|k| exact::rounded_normal_mass(k, sigma as f64)).collect();
            expected[0] = normal_tail((reach - 1) as f64 / sigma as f64);
            expected[2 * reach as usize] = normal_tail(reach as f64 / sigma as f64);
            chi_square(&seen, &expected).p_value
        } else {
            let cdf = |k: i128| exact::rounded_normal_cdf(k, sigma as f64);
            ks(&mut drawn, |k| cdf(*k), |k| cdf(k - 1))
        };
        ledger.expect(&format!("sigma {sigma}"), p_value);
    }
}

#[test]
fn student_distribution() {
    let mut ledger = Ledger::open("samplers::student");
    let mut bits = Entropy::new().unwrap();
    for nu in [1u32, 2, 3, 5, 30] {
        let scale = 1u64 << 33;
        let sampler = StudentSampler::new(scale, nu);
        let cdf = |k: f64| exact::student_cdf(k / scale as f64, f64::from(nu));
        let mut drawn: Vec<i128> = (0..MILLION).map(|_| sampler.sample(&mut bits)).collect();
        let p_value = ks(&mut drawn, |k| cdf(*k as f64 + 1.0), |k| cdf(*k as f64));
        ledger.expect(&format!("{nu} degrees of freedom"), p_value);
        for edge in [-4.0f64, 4.0] {
            let beyond = drawn.iter().filter(|k| (**k as f64 + 0.5) * edge > edge * edge * scale as f64);
            let p = exact::student_cdf(-4.0, f64::from(nu));
            ledger.expect(
                &format!("{nu} degrees of freedom beyond {edge}"),
                binomial(beyond.count() as u64, MILLION, p),
            );
        }
    }
}
