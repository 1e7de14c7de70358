//! Extreme arguments: each is a typed error or a mechanism whose draws are finite; nothing panics and
//! nothing hangs.

use proptest::prelude::*;
use reticent_core::{Confidence, Delta, Epsilon, Neighboring, Probability, Scale, Sensitivity};
use reticent_noise::bulk::{BulkGaussian, Parallelism};
use reticent_noise::grid::Grid;
use reticent_noise::mechanism::{
    Accuracy, DiscreteGaussian, DiscreteLaplace, Gaussian, IntegerGaussian, Laplace, PrivateSelection,
    RandomizedResponse, SelectionRule, StudentT, classical_sigma, compare_rules, short_classical_sigma,
};
use reticent_noise::query::{
    BoundedSum, NoiseKind, Quantile, QueryTerms, RankTable, best_price, count, counts, even_candidates,
    histogram, mean, mode, proportion, sum,
};
use reticent_noise::{Mechanism, NoiseError};
use reticent_testkit::free::Free;
use std::sync::mpsc;
use std::time::Duration;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn scale(value: f64) -> Scale {
    Scale::new(value).unwrap()
}

fn sensitivity(value: f64) -> Sensitivity {
    Sensitivity::new(value).unwrap()
}

/// The result of `work`, or `None` when it takes longer than ten seconds.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(10)).ok()
}

/// Names the arguments and ends the process when one call takes longer than a minute.
struct Watch(mpsc::Sender<()>);

impl Watch {
    fn over(arguments: String) -> Self {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            if receiver.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
                eprintln!("no answer within a minute: {arguments}");
                std::process::exit(101);
            }
        });
        Self(sender)
    }
}

/// Any double, with a bias to those that make trouble.
fn number() -> impl Strategy<Value = f64> {
    let special = prop::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        5e-324,
        2.3e-308,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        1.0 - f64::EPSILON,
        1.0 + f64::EPSILON,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        (1u64 << 53) as f64,
        i64::MAX as f64,
        1e300,
        1e-300,
    ]);
    prop_oneof![
        2 => special,
        1 => prop::num::f64::ANY,
        3 => (-300.0f64..300.0).prop_map(|e| (10f64).powf(e)),
        4 => (-12.0f64..12.0).prop_map(|e| (10f64).powf(e)),
        2 => 0.0f64..1.0,
    ]
}

fn whole() -> impl Strategy<Value = u64> {
    prop_oneof![
        prop::sample::select(vec![0u64, 1, 2, 3, 1 << 32, 1 << 40, 1 << 53, (1 << 53) + 1, u64::MAX]),
        0u64..100,
        any::<u64>()
    ]
}

/// Five numbers, three whole numbers and a choice: enough arguments for any constructor.
#[derive(Debug, Clone)]
struct Arguments {
    x: [f64; 5],
    n: [u64; 3],
    pick: usize,
}

fn arguments() -> impl Strategy<Value = Arguments> {
    (prop::array::uniform5(number()), prop::array::uniform3(whole()), any::<usize>())
        .prop_map(|(x, n, pick)| Arguments { x, n, pick })
}

const RULES: [SelectionRule; 3] =
    [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::ReportNoisyMax];
const NOISES: [NoiseKind; 3] = [NoiseKind::Laplace, NoiseKind::Gaussian, NoiseKind::DiscreteGaussian];

fn finite(what: &str, a: &Arguments, values: &[f64]) {
    assert!(values.iter().all(|v| v.is_finite()), "{what}: {values:?} from {a:?}");
}

/// Draws and error of a real-valued mechanism.
fn check_reals<M>(what: &str, a: &Arguments, mechanism: &M, free: &mut Free)
where
    M: Mechanism<Input = [f64], Output = Vec<f64>> + Accuracy,
{
    finite(what, a, &free.draw(mechanism, &a.x[..3]).unwrap());
    finite(what, a, &free.draw(mechanism, &[]).unwrap());
    assert!(mechanism.event().validate().is_ok(), "{what}: {a:?}");
    if let Ok(confidence) = Confidence::new(a.x[4]) {
        let error = mechanism.error(confidence);
        assert!(error >= 0.0, "{what}: error {error} from {a:?}");
    }
}

fn check_integers<M>(what: &str, a: &Arguments, mechanism: &M, free: &mut Free)
where
    M: Mechanism<Input = [i128], Output = Vec<i128>> + Accuracy,
{
    let inputs = [i128::MAX, i128::MIN, i128::from(a.n[2])];
    free.draw(mechanism, &inputs).unwrap();
    assert!(mechanism.event().validate().is_ok(), "{what}: {a:?}");
    if let Ok(confidence) = Confidence::new(a.x[4]) {
        let error = mechanism.error(confidence);
        assert!(error >= 0.0, "{what}: error {error} from {a:?}");
    }
}

/// Builds whatever the arguments name; every error is typed, every mechanism draws.
fn attempt(a: &Arguments, free: &mut Free) -> Result<(), NoiseError> {
    let [x0, x1, x2, x3, _] = a.x;
    let rule = RULES[a.pick % 3];
    let dimension = (a.n[1] % 5) as usize;
    match a.pick / 3 % 22 {
        0 => {
            let m = DiscreteLaplace::new(a.n[0], Epsilon::new(x0)?)?;
            assert!(m.guarantee().epsilon.get() <= x0, "{a:?}");
            check_integers("DiscreteLaplace", a, &m, free);
        }
        1 => {
            let m = DiscreteLaplace::with_scale(a.n[0], Scale::new(x0)?)?;
            check_integers("DiscreteLaplace", a, &m, free);
        }
        2 => {
            let m = DiscreteGaussian::new(Sensitivity::new(x0)?, Epsilon::new(x1)?, Delta::new(x2)?)?;
            assert!(m.guarantee().epsilon.get() <= x1, "{a:?}: {}", m.guarantee());
            check_integers("DiscreteGaussian", a, &m, free);
        }
        3 => {
            let m = DiscreteGaussian::with_sigma(Sensitivity::new(x0)?, Scale::new(x1)?, Delta::new(x2)?)?;
            check_integers("DiscreteGaussian", a, &m, free);
        }
        4 => {
            let m = Laplace::new(Sensitivity::new(x0)?, Epsilon::new(x1)?, dimension)?;
            assert!(m.guarantee().epsilon.get() <= x1, "{a:?}: {}", m.guarantee());
            check_reals("Laplace", a, &m, free);
        }
        5 => {
            let m = Laplace::with_scale(Sensitivity::new(x0)?, Scale::new(x1)?, a.n[1].min(1000) as usize)?;
            check_reals("Laplace", a, &m, free);
        }
        6 => {
            let (s, e, d) = (Sensitivity::new(x0)?, Epsilon::new(x1)?, Delta::new(x2)?);
            let m = Gaussian::new(s, e, d, dimension)?;
            assert!(m.guarantee().epsilon.get() <= x1, "{a:?}: {}", m.guarantee());
            check_reals("Gaussian", a, &m, free);
        }
        7 => {
            let (s, sigma, d) = (Sensitivity::new(x0)?, Scale::new(x1)?, Delta::new(x2)?);
            check_reals("Gaussian", a, &Gaussian::with_sigma(s, sigma, d, dimension)?, free);
        }
        8 => {
            let (s, e, d) = (Sensitivity::new(x0)?, Epsilon::new(x1)?, Delta::new(x2)?);
            let m = IntegerGaussian::new(s, e, d, dimension)?;
            check_integers("IntegerGaussian", a, &m, free);
        }
        9 => {
            let (s, sigma, d) = (Sensitivity::new(x0)?, Scale::new(x1)?, Delta::new(x2)?);
            let m = IntegerGaussian::with_sigma(s, sigma, d, dimension)?;
            check_integers("IntegerGaussian", a, &m, free);
        }
        10 => {
            let nu = (a.n[0] % 2000) as u32;
            let m = StudentT::new(Sensitivity::new(x0)?, Scale::new(x1)?, nu, dimension)?;
            check_reals("StudentT", a, &m, free);
        }
        11 => {
            let nu = (a.n[0] % 50) as u32;
            let m = StudentT::for_epsilon(Sensitivity::new(x0)?, Epsilon::new(x1)?, nu, dimension)?;
            assert!(m.guarantee().epsilon.get() <= x1, "{a:?}: {}", m.guarantee());
            check_reals("StudentT", a, &m, free);
        }
        12 => {
            let m = RandomizedResponse::new(Epsilon::new(x0)?, a.n[0])?;
            assert!(m.guarantee().epsilon.get() <= x0, "{a:?}: {}", m.guarantee());
            assert!(free.draw(&m, &a.n[1])? < a.n[0]);
        }
        13 => {
            let m = RandomizedResponse::with_keep_probability(Probability::new(x0)?, a.n[0])?;
            assert!(free.draw(&m, &a.n[1])? < a.n[0]);
            let estimate = m.estimate(a.n[1], a.n[2], Confidence::new(x1)?)?;
            finite("estimate", a, &[estimate.value, estimate.interval[0], estimate.interval[1]]);
        }
        14 => {
            let m = PrivateSelection::new(rule, Sensitivity::new(x0)?, Epsilon::new(x1)?)?;
            let m = if a.n[0].is_multiple_of(2) { m.monotone()? } else { m };
            assert!(free.draw(&m, &m.points(&a.x))? < 5, "{a:?}");
            assert!(m.shortfall(a.n[1], a.n[2], Confidence::new(x2)?)? >= 0.0, "{a:?}");
        }
        15 => {
            let m = PrivateSelection::for_integers(rule, a.n[0], Epsilon::new(x1)?)?;
            assert!(free.draw(&m, &m.points(&a.x))? < 5, "{a:?}");
            assert!(free.draw(&m, &[i128::MIN, i128::MAX, i128::from(a.n[1])])? < 3, "{a:?}");
        }
        16 => {
            let (s, e) = (Sensitivity::new(x0)?, Epsilon::new(x1)?);
            classical_sigma(s, e, Delta::new(x2)?)?;
            short_classical_sigma(s, e, Delta::new(x2)?)?;
            compare_rules(&[x3, 1.0], s, e, false)?;
        }
        17 => {
            // Infinite draws at very large sigmas have their own test below.
            let sigma = Scale::new(x1)?;
            let m = BulkGaussian::new(Sensitivity::new(x0)?, sigma, 3)?;
            let mut values = [x2 as f32, x3 as f32, f32::NAN];
            let mut draws = free.draws(&m.event())?;
            m.add_noise(&mut values, &mut draws, Parallelism { threads: a.n[0] as usize % 9 })?;
            let unbounded = sigma.get() > 1e30;
            assert!(values.iter().all(|v| v.is_finite() || unbounded), "{a:?}: {values:?}");
            m.delta_up(Epsilon::new(x2)?)?;
        }
        18 => {
            let grid = Grid::for_scale(Scale::new(x0)?, (a.n[0] % 60) as u32)?;
            finite("grid", a, &[grid.value(grid.round(x1), 0.5), grid.step()]);
        }
        19 => {
            let candidates = even_candidates(x0, x1, (a.n[0] % 2000) as usize, a.n[1].is_multiple_of(2))?;
            let mut table = RankTable::new(candidates)?;
            [x2, x3, x0, x1].iter().for_each(|v| table.add(*v));
            let answer = table.quantile(free, &query_terms(a)?, Quantile::new(x2)?)?;
            finite("quantile", a, &[answer.value, answer.interval[0][0], answer.interval[0][1]]);
        }
        20 => {
            let t = query_terms(a)?;
            count(free, &t, a.n[0])?;
            counts(free, &t, &a.n)?;
            histogram(free, &t, &a.n)?;
            finite("proportion", a, &[proportion(free, &t, a.n[0], a.n[1], None)?.value]);
            assert!(mode(free, &QueryTerms { delta: Delta::ZERO, ..t }, rule, &a.n)?.value < 3);
            assert!(
                best_price(free, &QueryTerms { delta: Delta::ZERO, ..t }, rule, &[x1, x2], &a.x)?.value < 2
            );
        }
        _ => {
            let (low, high) = (-x1.abs().min(1e300), x2.abs().min(1e300));
            let mut gathered = BoundedSum::new(low, high, a.n[0].is_multiple_of(2))?;
            a.x.iter().for_each(|v| gathered.add(*v));
            gathered.add_middle();
            let t = query_terms(a)?;
            let (total, middle) = (sum(free, &t, &gathered)?, mean(free, &t, &gathered, None)?);
            finite("sum", a, &[total.value, total.interval[0][0], total.interval[0][1]]);
            finite("mean", a, &[middle.value, middle.interval[0][0], middle.interval[0][1]]);
        }
    }
    Ok(())
}

/// Terms from arguments.
fn query_terms(a: &Arguments) -> Result<QueryTerms, NoiseError> {
    let neighboring = if a.n[2].is_multiple_of(2) { Neighboring::AddRemove } else { Neighboring::ReplaceOne };
    let noise = NOISES[a.pick % 3];
    let delta = if noise == NoiseKind::Laplace { 0.0 } else { a.x[4] };
    Ok(QueryTerms {
        neighboring,
        noise,
        delta: Delta::new(delta)?,
        ..QueryTerms::pure(Epsilon::new(a.x[3])?)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_are_refused_or_work(a in arguments()) {
        let mut free = Free::new().unwrap();
        let watch = Watch::over(format!("{a:?}"));
        // An error is as good as a draw; what counts is that there is no panic.
        let _ = attempt(&a, &mut free);
        let _ = watch.0.send(());
    }
}

#[test]
fn scales_from_1e_minus_300_to_1e300() {
    let mut free = Free::new().unwrap();
    for exponent in (-300..=300).step_by(20) {
        let size = (10f64).powi(exponent);
        let delta = Delta::new(1e-6).unwrap();
        let reals: [Vec<f64>; 3] = [
            free.draw(&Laplace::new(sensitivity(size), epsilon(1.0), 1).unwrap(), &[size]).unwrap(),
            free.draw(&Gaussian::new(sensitivity(size), epsilon(1.0), delta, 1).unwrap(), &[size]).unwrap(),
            free.draw(&StudentT::new(sensitivity(size), scale(size), 5, 1).unwrap(), &[size]).unwrap(),
        ];
        // Noise of the right size: within a thousand scales, and not nothing.
        for drawn in reals {
            assert!(drawn[0] != size && (drawn[0] / size).abs() < 1e4, "1e{exponent}: {drawn:?}");
        }
        let selection =
            PrivateSelection::new(SelectionRule::PermuteAndFlip, sensitivity(size), epsilon(1.0)).unwrap();
        assert_eq!(free.draw(&selection, &selection.points(&[0.0, 1e3 * size])).unwrap(), 1);
        let mut gathered = BoundedSum::new(-size, size, false).unwrap();
        (0..100).for_each(|_| gathered.add(size));
        let answer = mean(&mut free, &QueryTerms::pure(epsilon(1e6)), &gathered, None).unwrap();
        assert!((answer.value / size - 1.0).abs() < 1e-3, "1e{exponent}: {answer:?}");
    }
    // Subnormal scales are refused where no grid fits below them.
    assert!(Laplace::new(sensitivity(5e-324), epsilon(1.0), 1).is_err());
    assert!(BoundedSum::new(0.0, 5e-324, false).is_err());
}

#[test]
fn integers_at_their_limits() {
    let mut free = Free::new().unwrap();
    let laplace = DiscreteLaplace::new(1, epsilon(1e-9)).unwrap();
    for _ in 0..50 {
        let drawn = free.draw(&laplace, &[i128::MAX, i128::MIN, i128::from(i64::MAX)]).unwrap();
        assert!(drawn[0] > i128::MAX - (1 << 50) && drawn[1] < i128::MIN + (1 << 50), "{drawn:?}");
    }
    let delta = Delta::new(1e-6).unwrap();
    let gaussian = DiscreteGaussian::new(sensitivity(1.0), epsilon(1.0), delta).unwrap();
    assert!(free.draw(&gaussian, &[i128::MAX]).unwrap()[0] > i128::MAX - 1000);
    // Grids cut off at 2^100 steps; what lies inside is kept.
    let gaussian = IntegerGaussian::new(sensitivity(1.0), epsilon(1.0), delta, 3).unwrap();
    let drawn = free.draw(&gaussian, &[i128::from(i64::MAX), i128::from(i64::MIN), i128::MAX]).unwrap();
    assert!((drawn[0] - i128::from(i64::MAX)).abs() < 1000 && (drawn[1] - i128::from(i64::MIN)).abs() < 1000);
    assert!(drawn[2] > 1 << 60);
    let answer = count(&mut free, &QueryTerms::pure(epsilon(1.0)), u64::MAX).unwrap();
    assert!((answer.value - i128::from(u64::MAX)).abs() < 1000);
}

#[test]
fn large_dimensions() {
    let mut free = Free::new().unwrap();
    let (dimension, delta) = (1_000_000, Delta::new(1e-6).unwrap());
    let zeros = vec![0.0; dimension];
    let laplace = Laplace::new(sensitivity(1.0), epsilon(1.0), dimension).unwrap();
    assert_eq!(free.draw(&laplace, &zeros).unwrap().len(), dimension);
    let gaussian = Gaussian::new(sensitivity(1.0), epsilon(1.0), delta, dimension).unwrap();
    assert_eq!(free.draw(&gaussian, &zeros).unwrap().len(), dimension);
    // A dimension whose rounding cannot be paid for is refused, not mispriced.
    assert!(Laplace::new(sensitivity(1.0), epsilon(1.0), 1 << 62).is_err());
    assert!(Gaussian::new(sensitivity(1.0), epsilon(1.0), delta, usize::MAX).is_err());
}

#[test]
fn discrete_laplace_error_returns_at_every_scale() {
    let sizes = (-50..=95).flat_map(|e| [0.0, 0.3, 0.5, 0.7].map(|part| (2f64).powf(f64::from(e) + part)));
    for size in sizes {
        for confidence in [0.5, 0.95, 1.0 - f64::EPSILON] {
            let level = Confidence::new(confidence).unwrap();
            let error = in_time(move || DiscreteLaplace::with_scale(1, scale(size)).unwrap().error(level));
            assert!(error.is_some(), "none within ten seconds at scale 2^{}, {confidence}", size.log2());
        }
    }
}

#[test]
fn a_sum_at_small_epsilon_returns() {
    let answer = in_time(|| {
        let mut gathered = BoundedSum::new(0.0, 1.99, false).unwrap();
        (0..100).for_each(|i| gathered.add(f64::from(i) / 100.0));
        sum(&mut Free::new().unwrap(), &QueryTerms::pure(epsilon(0.005)), &gathered)
    });
    assert!(answer.is_some_and(|answer| answer.is_ok()), "no answer within ten seconds at epsilon 0.005");
}

#[test]
fn means_over_the_widest_bounds_are_numbers() {
    let mut free = Free::new().unwrap();
    // Bounds whose distance is no double are refused; the widest that are accepted work.
    let accepted = [1e308, 8e307, 4e307, 1e307].map(|top| BoundedSum::new(-top, top, false));
    let mut gathered = accepted.into_iter().find_map(Result::ok).unwrap();
    (0..10).for_each(|_| gathered.add(f64::MIN));
    for _ in 0..20 {
        let answer = mean(&mut free, &QueryTerms::pure(epsilon(1000.0)), &gathered, None).unwrap();
        assert!(answer.value < 0.0 && answer.interval[0].iter().all(|v| v.is_finite()), "{answer:?}");
    }
}

#[test]
fn bulk_noise_is_finite_at_every_accepted_sigma() {
    let mut free = Free::new().unwrap();
    for exponent in (-40..=250).step_by(10) {
        let sigma = (10f64).powi(exponent);
        let Ok(bulk) = BulkGaussian::new(sensitivity(sigma), scale(sigma), 100) else { continue };
        let mut values = vec![0f32; 100];
        let mut draws = free.draws(&bulk.event()).unwrap();
        bulk.add_noise(&mut values, &mut draws, Parallelism { threads: 1 }).unwrap();
        assert!(values.iter().all(|v| v.is_finite()), "sigma 1e{exponent}: {:?}", &values[..4]);
    }
}

/// Inputs that a mechanism calls neighbours must be neighbours after it has rounded them.
#[test]
fn distances_are_those_of_the_rounded_inputs() {
    let real = PrivateSelection::new(SelectionRule::PermuteAndFlip, sensitivity(1.0), epsilon(1.0)).unwrap();
    let apart = |a: [f64; 2], b: [f64; 2]| real.distance(&real.points(&a), &real.points(&b));
    assert!(apart([0.0, 0.0], [1.0, -1.0]) <= 1.0);
    assert!(apart([f64::NAN, 0.0], [1e9, 0.0]) > 1.0, "not a number counts as 0");
    assert!(apart([f64::INFINITY, 0.0], [0.0, 0.0]) > 1.0);
    // The nearest points of inputs at distance 1 are never more than the declared distance apart.
    for shift in 0..1000 {
        let x = f64::from(shift) * 0.37e-9;
        assert!(apart([x, x], [x + 1.0, x - 1.0]) <= 1.0, "{x}");
    }
    let one = Laplace::new(sensitivity(1.0), epsilon(1.0), 1).unwrap();
    let distance = one.distance(&[f64::NAN], &[1e9]);
    assert!(distance.is_nan() || distance > 1.0);
}
