//! The published attacks on noise and selection, run against the real mechanisms and, where there is
//! one, against a twin that falls to them.
//!
//! Not here because nothing of the kind exists yet: retries and optimisers (releases are single calls).
//! Thresholds on noisy counts are the mechanism suite's business (`stable_histogram`). Reuse of generator state across
//! `fork` is tested where the generator lives, in `reticent-noise`; timing has its own suite, and
//! sizes and domains read off the data are the replay suite's business.

use dashu_int::UBig;
use dashu_int::ops::{DivRem, SquareRoot};
use num_bigint::BigUint;
use proptest::prelude::*;
use reticent_core::{Delta, Epsilon, Neighboring, Scale, Sensitivity};
use reticent_noise::Entropy;
use reticent_noise::bulk::{BulkGaussian, Parallelism};
use reticent_noise::entropy::{Bits, SeededForTests};
use reticent_noise::mechanism::{Gaussian, Laplace, PrivateSelection, SelectionRule, StudentT};
use reticent_noise::query::{
    BoundedSum, Quantile, QueryTerms, RankTable, best_price, even_candidates, mean, mode, sum,
};
use reticent_testkit::budget::Ledger;
use reticent_testkit::free::Free;
use reticent_testkit::goodness::two_sample_chi_square;
use reticent_testkit::twins;
use std::collections::BTreeSet;
use std::f64::consts::TAU;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn scale(value: f64) -> Scale {
    Scale::new(value).unwrap()
}

fn sensitivity(value: f64) -> Sensitivity {
    Sensitivity::new(value).unwrap()
}

/// The exponent of the lowest set bit of a double that is not 0.
fn lowest_bit(value: f64) -> i32 {
    let bits = value.to_bits();
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    ((bits >> 52) & 2047) as i32 - 1075 + mantissa.trailing_zeros() as i32
}

/// Outputs of the three real-valued mechanisms at one scale for one input.
fn outputs(size: f64, input: f64, draws: usize) -> Vec<(&'static str, Vec<f64>)> {
    let (mut free, zero_cost) = (Free::new().unwrap(), sensitivity(size * 1e-6));
    let input = vec![input; draws];
    let laplace = Laplace::with_scale(zero_cost, scale(size), draws).unwrap();
    let delta = Delta::new(1e-6).unwrap();
    let gaussian = Gaussian::with_sigma(zero_cost, scale(size), delta, draws).unwrap();
    let student = StudentT::new(zero_cost, scale(size), 5, draws).unwrap();
    vec![
        ("Laplace", free.draw(&laplace, &input).unwrap()),
        ("Gaussian", free.draw(&gaussian, &input).unwrap()),
        ("Student-t", free.draw(&student, &input).unwrap()),
    ]
}

/// Mironov (2012): the doubles an output can take must not depend on the input. Ours are the odd
/// multiples of half a step, so all have the same lowest bit, whatever the input and its own spacing.
#[test]
fn least_significant_bits_say_nothing() {
    for exponent in (-20..=20).step_by(4) {
        let size = (2f64).powi(exponent);
        let mut lowest: [BTreeSet<i32>; 3] = Default::default();
        for part in [0.0, -0.0, 1.0, 1.0f64.next_down(), 1.0f64.next_up(), 0.1, -1.0 / 3.0, 4.0, 1e-17, 60.0]
        {
            for (mechanism, (_, drawn)) in outputs(size, part * size, 300).into_iter().enumerate() {
                lowest[mechanism].extend(drawn.iter().map(|o| lowest_bit(*o)));
            }
        }
        assert!(lowest.iter().all(|bits| bits.len() == 1), "scale 2^{exponent}: {lowest:?}");
    }
    let mut entropy = Entropy::new().unwrap();
    let twin: BTreeSet<i32> =
        (0..300).map(|_| lowest_bit(1.0 + twins::float_laplace(&mut entropy, 1.0))).collect();
    assert!(twin.len() > 3, "the twin in doubles has outputs of every fineness: {twin:?}");
}

/// Haney et al. (2022): near 0 an output that is not a multiple of 2⁻⁵³ betrays that the input had a
/// smaller spacing than 1. The event must be certain or impossible for every input alike.
#[test]
fn precision_says_nothing() {
    let betrays = |o: f64| (o * (2f64).powi(53)).fract() != 0.0;
    for exponent in (-20..=20).step_by(4) {
        let size = (2f64).powi(exponent);
        let mut seen: [BTreeSet<bool>; 3] = Default::default();
        for input in [0.0, 1.0, 1.0f64.next_down(), 0.5, (2f64).powi(-30), size, 3.0 * size] {
            for (mechanism, (_, drawn)) in outputs(size, input, 500).into_iter().enumerate() {
                // Far from 0 the spacing of doubles hides the bits in question.
                let near = drawn.iter().filter(|o| o.abs() < 0.25 && o.abs() < 64.0 * size);
                seen[mechanism].extend(near.map(|o| betrays(*o)));
            }
        }
        assert!(seen.iter().all(|answers| answers.len() <= 1), "scale 2^{exponent}: {seen:?}");
    }
    let mut entropy = Entropy::new().unwrap();
    let mut rate = |x: f64| {
        let near = (0..20_000).map(|_| x + twins::float_laplace(&mut entropy, 1.0));
        let near: Vec<f64> = near.filter(|o| o.abs() < 0.25).collect();
        near.iter().filter(|o| betrays(**o)).count() as f64 / near.len() as f64
    };
    let (from_zero, from_one) = (rate(0.0), rate(1.0));
    println!("doubles: {:.0} % of near-zero outputs betray 0, {:.0} % one", from_zero * 1e2, from_one * 1e2);
    assert!(from_zero > 0.3 && from_one == 0.0, "the twin is caught: {from_zero} {from_one}");
}

/// Jin et al. (2022): is there a pair of uniform multiples of 2⁻⁵³ from which Box and Muller's formula
/// in doubles gives exactly this pair?
fn inverts(first: f64, second: f64) -> bool {
    let unit = (2f64).powi(-53);
    let radius = first * first + second * second;
    let one = ((1.0 - libm::exp(-0.5 * radius)) / unit).round();
    let turn = second.atan2(first) / TAU;
    let two = ((if turn < 0.0 { turn + 1.0 } else { turn }) / unit).round();
    (-4..=4).any(|i| {
        let u = (one + f64::from(i)) * unit;
        let r = (-2.0 * (1.0 - u).ln()).sqrt();
        (-4..=4).any(|j| {
            let angle = TAU * ((two + f64::from(j)) * unit);
            r * angle.cos() == first && r * angle.sin() == second
        })
    })
}

#[test]
fn gaussian_noise_cannot_be_inverted() {
    let mut ledger = Ledger::open("attacks::gaussian_inversion");
    let mut entropy = Entropy::new().unwrap();
    let pairs = 20_000u64;
    // Far below the noise: no honest release tells these two inputs apart.
    let shift = (2f64).powi(-20);
    let mut twin = |x: f64| {
        let hits = (0..2000).filter(|_| {
            let (a, b) = twins::box_muller(&mut entropy);
            inverts(a + x, b + x)
        });
        hits.count() as f64 / 2000.0
    };
    let (right, wrong) = (twin(0.0), twin(shift));
    println!("Box–Muller in doubles: {right:.3} of outputs invert at 0, {wrong:.3} at 2^-20");
    assert!(right > 0.8 && wrong < 0.4, "the twin is caught: {right} {wrong}");

    let gaussian =
        Gaussian::with_sigma(sensitivity(shift), scale(1.0), Delta::new(1e-6).unwrap(), 2 * pairs as usize)
            .unwrap();
    let mut free = Free::new().unwrap();
    let mut ours = |x: f64| {
        let drawn = free.draw(&gaussian, &vec![x; 2 * pairs as usize]).unwrap();
        let hits = drawn.chunks_exact(2).filter(|pair| inverts(pair[0], pair[1])).count() as u64;
        [hits, pairs - hits]
    };
    let (at_zero, at_shift) = (ours(0.0), ours(shift));
    println!("Gaussian: {} and {} of {pairs} outputs happen to invert", at_zero[0], at_shift[0]);
    ledger.expect("Gaussian", two_sample_chi_square(&at_zero, &at_shift).p_value);

    // Single-precision noise for gradients, on the same question.
    let length = 2 * pairs as usize;
    let bulk = BulkGaussian::new(sensitivity(shift), scale(1.0), length).unwrap();
    let mut draws = free.draws(&bulk.event()).unwrap();
    let mut ours = |x: f32| {
        let mut values = vec![x; length];
        bulk.add_noise(&mut values, &mut draws, Parallelism { threads: 1 }).unwrap();
        let hits = values.chunks_exact(2).filter(|pair| inverts(f64::from(pair[0]), f64::from(pair[1])));
        let hits = hits.count() as u64;
        [hits, pairs - hits]
    };
    let (at_zero, at_shift) = (ours(0.0), ours(shift as f32));
    ledger.expect("bulk Gaussian", two_sample_chi_square(&at_zero, &at_shift).p_value);
}

const RULES: [SelectionRule; 3] =
    [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::ReportNoisyMax];

/// Scores whose exponentials underflow crash or bias other libraries.
#[test]
fn extreme_scores_neither_fail_nor_underflow() {
    let mut free = Free::new().unwrap();
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for rule in RULES {
        for loss in [1e-5, 0.1, 1.0, 100.0] {
            let plain = PrivateSelection::for_integers(rule, 1, epsilon(loss)).unwrap();
            let real = PrivateSelection::new(rule, sensitivity(1.0), epsilon(loss)).unwrap();
            for selection in [plain.clone(), plain.monotone().unwrap(), real] {
                let far = 1e6 / loss;
                // Lists with one clear best, however far below zero or above it lies.
                for (scores, best) in [
                    (vec![0.0, far, -far], 1),
                    (vec![-3.0 * far, -2.0 * far, -far], 2),
                    (vec![1e20, -1e308, 1.0], 0),
                    (vec![-inf, 0.0, -inf], 1),
                    (vec![inf, 0.0, -inf], 0),
                    (vec![-far, nan, -2.0 * far], 1),
                ] {
                    let chosen = free.draw(&selection, &selection.points(&scores)).unwrap();
                    assert_eq!(chosen, best, "{rule:?} at {loss}: {scores:?}");
                }
                for scores in [
                    vec![0.0; 1000],
                    vec![-1e308; 5],
                    vec![-inf; 5],
                    vec![inf; 5],
                    vec![nan; 5],
                    vec![5e-324, -5e-324, 0.0, -0.0],
                    vec![f64::MAX, f64::MIN],
                    vec![7.0],
                ] {
                    let points = selection.points(&scores);
                    assert!(free.draw(&selection, &points).unwrap() < scores.len(), "{scores:?}");
                }
                let limits = [i128::MIN, i128::MAX, 0, i128::MAX - 1];
                assert_eq!(free.draw(&selection, &limits[..3]).unwrap(), 1);
                assert!(free.draw(&selection, &limits).unwrap() % 2 == 1);
                assert_eq!(free.draw(&selection, &[]).unwrap(), 0);
            }
        }
    }
}

/// The release that makes diffprivlib 0.6.6 crash: a million tied rows.
#[test]
fn a_million_ties_have_a_median() {
    let mut free = Free::new().unwrap();
    let mut table = RankTable::new(even_candidates(0.0, 100.0, 1001, false).unwrap()).unwrap();
    (0..1_000_000).for_each(|_| table.add(50.0));
    for loss in [0.1, 0.3, 1.0] {
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            let terms = QueryTerms { neighboring, ..QueryTerms::pure(epsilon(loss)) };
            let answer = table.quantile(&mut free, &terms, Quantile::MEDIAN).unwrap();
            assert_eq!(answer.value, 50.0);
        }
    }
}

/// Values that are no numbers poison nothing and free nothing.
#[test]
fn odd_values_give_ordinary_answers() {
    let mut free = Free::new().unwrap();
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, f64::MAX, f64::MIN];
    for size in [1e-6, 1.0, 1e6] {
        for value in odd {
            for (name, drawn) in outputs(size, value, 20) {
                assert!(drawn.iter().all(|o| o.is_finite()), "{name} at {value}: {drawn:?}");
            }
        }
    }
    let terms = QueryTerms::pure(epsilon(1.0));
    let mut gathered = BoundedSum::new(-10.0, 20.0, false).unwrap();
    let mut table = RankTable::new(vec![-1.0, -0.0, 3.0]).unwrap();
    for value in odd {
        gathered.add(value);
        table.add(value);
    }
    assert_eq!(gathered.rows(), 7);
    let answer = mean(&mut free, &terms, &gathered, None).unwrap();
    assert!((-10.0..=20.0).contains(&answer.value) && answer.interval[0].iter().all(|v| v.is_finite()));
    assert!(sum(&mut free, &terms, &gathered).unwrap().value.is_finite());
    assert!(table.quantile(&mut free, &terms, Quantile::MEDIAN).unwrap().value.is_finite());
    assert!(
        best_price(&mut free, &terms, SelectionRule::PermuteAndFlip, &[1.0, 2.0], &odd).unwrap().value < 2
    );
    for bad in odd.into_iter().filter(|price| !price.is_finite() || *price <= 0.0) {
        assert!(
            best_price(&mut free, &terms, SelectionRule::Exponential, &[1.0, bad], &[1.0]).is_err(),
            "{bad}"
        );
    }
    // Nothing gathered at all is data too, and must not be an error.
    let empty = BoundedSum::new(0.0, 1.0, false).unwrap();
    assert!(mean(&mut free, &terms, &empty, None).unwrap().value.is_finite());
    assert!(mode(&mut free, &terms, SelectionRule::Exponential, &[0, 0, 0]).unwrap().value < 3);
    let empty = RankTable::new(vec![0.0, 1.0]).unwrap();
    assert!(empty.quantile(&mut free, &terms, Quantile::MEDIAN).is_ok());
}

/// Casacuberta et al. (2022): a sum that depends on the order of rows has a larger sensitivity than
/// its bounds say.
#[test]
fn sums_do_not_depend_on_order() {
    let mut entropy = Entropy::new().unwrap();
    let mut values: Vec<f64> = (0..3000).map(|i| (f64::from(i) * 0.7).sin() * 1e9).collect();
    values.extend([1e16, -1e16, 1.0, 0.1, f64::MAX, f64::MIN, f64::NAN]);
    let gathered = |values: &[f64]| {
        let mut sum = BoundedSum::new(-1e16, 1e16, false).unwrap();
        values.iter().for_each(|v| sum.add(*v));
        sum
    };
    let plain = |values: &[f64]| values.iter().filter(|v| v.abs() <= 1e16).sum::<f64>();
    let (first, first_plain) = (gathered(&values), plain(&values));
    let mut plain_differs = false;
    for _ in 0..50 {
        for place in (1..values.len()).rev() {
            values.swap(place, (entropy.word() % (place as u64 + 1)) as usize);
        }
        assert_eq!(gathered(&values), first);
        plain_differs |= plain(&values) != first_plain;
    }
    assert!(plain_differs, "the twin in doubles is caught");
}

/// Integer limits: nothing wraps, and a sum of many equal values is exact.
#[test]
fn sums_do_not_overflow() {
    let mut free = Free::new().unwrap();
    let terms = QueryTerms::pure(epsilon(1e9));
    let limit = (1u64 << 52) as f64;
    let mut top = BoundedSum::new(-limit, limit, true).unwrap();
    // 2^52 · 3000 is beyond 2^63.
    (0..3000).for_each(|_| top.add(f64::INFINITY));
    let answer = sum(&mut free, &terms, &top).unwrap().value;
    assert!((answer / (3000.0 * limit) - 1.0).abs() < 1e-9, "{answer}");
    let (low, high) = (i64::MIN as f64, i64::MAX as f64);
    let mut wide = BoundedSum::new(low, high, true).unwrap();
    (0..1000).for_each(|_| wide.add(high));
    let answer = sum(&mut free, &terms, &wide).unwrap().value;
    assert!((answer / (1000.0 * high) - 1.0).abs() < 1e-9, "{answer}");
    let mean = mean(&mut free, &terms, &wide, None).unwrap().value;
    assert!((mean / high - 1.0).abs() < 1e-9, "{mean}");
}

/// Generators never share words; a seeded twin does.
#[test]
fn generators_do_not_repeat() {
    let mut ledger = Ledger::open("attacks::generators");
    let drawn = |words: usize| {
        let mut entropy = Entropy::new().unwrap();
        (0..words).map(|_| entropy.word()).collect::<Vec<u64>>()
    };
    let repeats = |mut words: Vec<u64>| {
        words.sort_unstable();
        words.windows(2).filter(|pair| pair[0] == pair[1]).count()
    };
    let mut words = drawn(600_000);
    words.extend(drawn(600_000));
    words.extend(std::thread::spawn(move || drawn(600_000)).join().unwrap());
    // Honest words repeat with probability below n²/2 / 2^64.
    let n = words.len() as f64;
    let chance = n * n / 2.0 * (2f64).powi(-64);
    ledger.expect("no word twice", if repeats(words) == 0 { 1.0 } else { chance });
    assert!(chance < 1e-7);
    let seeded = |seed: u64| {
        let mut bits = SeededForTests::new(seed);
        (0..1000).map(move |_| bits.word()).collect::<Vec<u64>>()
    };
    assert_eq!(repeats([seeded(3), seeded(3)].concat()), 1000);
}

/// Limbs as they occur in carries: all zeros, all ones, single bits, anything.
fn limbs(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let limb = prop_oneof![Just(0), Just(u64::MAX), Just(1), Just(1u64 << 63), any::<u64>()];
    prop::collection::vec(limb, 0..most).prop_map(|v| v.into_iter().flat_map(u64::to_le_bytes).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// dashu's arithmetic against num-bigint's (dashu#55 and #57 once biased every draw of OpenDP).
    #[test]
    fn two_big_number_libraries_agree(a in limbs(24), b in limbs(12), shift in 0usize..300) {
        let (x, y) = (UBig::from_le_bytes(&a), UBig::from_le_bytes(&b));
        let (p, q) = (BigUint::from_bytes_le(&a), BigUint::from_bytes_le(&b));
        let same = |ours: &UBig, theirs: &BigUint| ours.to_le_bytes().as_ref() == trimmed(theirs).as_slice();
        prop_assert!(same(&x, &p) && same(&y, &q));
        prop_assert!(same(&(&x * &y), &(&p * &q)));
        prop_assert!(same(&(&x * &x), &(&p * &p)));
        prop_assert!(same(&(&x + &y), &(&p + &q)));
        prop_assert!(same(&(&x << shift), &(&p << shift)));
        prop_assert!(same(&(&x >> shift), &(&p >> shift)));
        prop_assert!(same(&x.sqrt(), &p.sqrt()));
        prop_assert_eq!(x < y, p < q);
        if q != BigUint::ZERO {
            let (quotient, rest) = (&x).div_rem(&y);
            prop_assert!(same(&quotient, &(&p / &q)) && same(&rest, &(&p % &q)));
            prop_assert!(same(&(&x / &y), &(&p / &q)) && same(&(&x % &y), &(&p % &q)));
            // An exact quotient, and one that only just is not.
            let product = &x * &y;
            prop_assert!(&product / &y == x);
            prop_assert!((product + &y - UBig::ONE) / &y == x);
        }
        if p >= q {
            prop_assert!(same(&(&x - &y), &(&p - &q)));
        }
    }
}

fn trimmed(value: &BigUint) -> Vec<u8> {
    if *value == BigUint::ZERO { Vec::new() } else { value.to_bytes_le() }
}
