//! Bulk noise, whole mechanisms and the two arithmetics against exact distributions.

use dashu_int::UBig;
use reticent_core::special::normal_cdf;
use reticent_core::{Delta, Epsilon, Event, Plan, Scale, Sensitivity, Unlimited, charge};
use reticent_noise::bulk::{BulkGaussian, NoiseAhead, Parallelism};
use reticent_noise::mechanism::{
    DiscreteGaussian, DiscreteLaplace, Gaussian, IntegerGaussian, Laplace, PrivateSelection,
    RandomizedResponse, SelectionRule, StudentT,
};
use reticent_noise::sampler::{self, DiscreteGaussianSampler, DiscreteLaplaceSampler, Dyadic, big};
use reticent_noise::{Entropy, Mechanism};
use reticent_testkit::budget::Ledger;
use reticent_testkit::exact;
use reticent_testkit::free::Free;
use reticent_testkit::goodness::{chi_square, correlation, histogram, ks, two_sample_chi_square};
use reticent_testkit::rank::pearson;

const MILLION: usize = 1_000_000;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn scale(value: f64) -> Scale {
    Scale::new(value).unwrap()
}

fn sensitivity(value: f64) -> Sensitivity {
    Sensitivity::new(value).unwrap()
}

#[test]
fn machine_and_big_integers_agree() {
    let mut ledger = Ledger::open("distributions::machine_and_big_integers_agree");
    let mut bits = Entropy::new().unwrap();
    let number = |v: u64| UBig::from(v);
    let (fast_draws, slow_draws) = (1_000_000, 200_000);

    let fast = histogram(fast_draws, 1, || i128::from(sampler::bernoulli(&mut bits, 5, 17)));
    let slow = histogram(slow_draws, 1, || i128::from(big::bernoulli(&mut bits, &number(5), &number(17))));
    ledger.expect("bernoulli", two_sample_chi_square(&fast, &slow).p_value);

    let fast = histogram(fast_draws, 1, || i128::from(sampler::bernoulli_exp(&mut bits, 9, 7)));
    let slow = histogram(slow_draws, 1, || i128::from(big::bernoulli_exp(&mut bits, &number(9), &number(7))));
    ledger.expect("bernoulli_exp", two_sample_chi_square(&fast, &slow).p_value);

    let fast = histogram(fast_draws, 60, || sampler::geometric(&mut bits, 6) as i128);
    let slow = histogram(slow_draws, 60, || {
        big::saturate(&big::geometric(&mut bits, &number(6), &number(1)).into())
    });
    ledger.expect("geometric", two_sample_chi_square(&fast, &slow).p_value);

    let five_halves = Dyadic { numerator: 5, shift: 1 };
    let laplace = DiscreteLaplaceSampler::new(five_halves);
    let fast = histogram(fast_draws, 25, || laplace.sample(&mut bits));
    let slow = histogram(slow_draws, 25, || {
        big::saturate(&big::discrete_laplace(&mut bits, &number(5), &number(2)))
    });
    ledger.expect("discrete Laplace", two_sample_chi_square(&fast, &slow).p_value);

    let gaussian = DiscreteGaussianSampler::new(five_halves);
    let fast = histogram(fast_draws, 15, || gaussian.sample(&mut bits));
    let slow = histogram(slow_draws, 15, || {
        big::saturate(&big::discrete_gaussian(&mut bits, &number(5), &number(2)))
    });
    ledger.expect("discrete Gaussian", two_sample_chi_square(&fast, &slow).p_value);
}

#[test]
fn bulk_noise_is_normal_and_independent() {
    let mut ledger = Ledger::open("distributions::bulk_gaussian");
    let mut free = Free::new().unwrap();
    let bulk = BulkGaussian::new(sensitivity(1.0), scale(3.0), MILLION).unwrap();
    let mut draws = free.draws(&bulk.event()).unwrap();
    let mut first: Vec<f64> = Vec::new();
    for threads in [1, 2, 4] {
        let mut values = vec![0f32; MILLION];
        bulk.add_noise(&mut values, &mut draws, Parallelism { threads }).unwrap();
        let noise: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        ledger.expect(&format!("{threads} threads, lag 1"), {
            correlation(pearson(&noise[1..], &noise[..MILLION - 1]), MILLION - 1)
        });
        // The chunk of one thread against the chunk of the next.
        let chunk = MILLION / threads.max(2);
        ledger.expect(&format!("{threads} threads, chunks"), {
            correlation(pearson(&noise[..chunk], &noise[chunk..2 * chunk]), chunk)
        });
        if first.is_empty() {
            first.clone_from(&noise);
        } else if threads == 2 {
            ledger.expect("two calls", correlation(pearson(&first, &noise), MILLION));
        }
        let mut noise = noise;
        let cdf = |v: &f64| normal_cdf(v / 3.0);
        ledger.expect(&format!("{threads} threads"), ks(&mut noise, cdf, cdf));
    }
}

#[test]
fn bulk_noise_has_the_counts_of_a_normal() {
    let mut ledger = Ledger::open("distributions::bulk_counts");
    let mut free = Free::new().unwrap();
    let bulk = BulkGaussian::new(sensitivity(1.0), scale(1.0), MILLION).unwrap();
    let mut draws = free.draws(&Event::Repeated { count: 20, event: Box::new(bulk.event()) }).unwrap();
    // Intervals of 1/32 from −4 to 4, the outermost without an end.
    let place = |value: f32| ((f64::from(value) + 4.0) * 32.0).clamp(0.0, 255.0) as usize;
    let below = |end: usize| match end {
        0 => 0.0,
        256 => 1.0,
        _ => normal_cdf(end as f64 / 32.0 - 4.0),
    };
    let probabilities: Vec<f64> = (0..256).map(|i| below(i + 1) - below(i)).collect();
    let (mut counts, mut values) = (vec![0u64; 256], vec![0f32; MILLION]);
    for _ in 0..20 {
        values.fill(0.0);
        bulk.add_noise(&mut values, &mut draws, Parallelism { threads: 2 }).unwrap();
        values.iter().for_each(|value| counts[place(*value)] += 1);
    }
    ledger.expect("counts", chi_square(&counts, &probabilities).p_value);
    // The broken twin has 0.5 % too little noise.
    let mut of_twin = vec![0u64; 256];
    for _ in 0..20 {
        values.fill(0.0);
        let mut draws = free.draws(&bulk.event()).unwrap();
        bulk.add_noise(&mut values, &mut draws, Parallelism { threads: 2 }).unwrap();
        values.iter().for_each(|value| of_twin[place(value * 0.995)] += 1);
    }
    assert!(chi_square(&of_twin, &probabilities).p_value < 1e-6);
}

#[test]
fn noise_drawn_ahead_or_as_it_is_added_has_the_same_law() {
    let mut ledger = Ledger::open("distributions::bulk_ahead");
    let bulk = BulkGaussian::new(sensitivity(1.0), scale(3.0), MILLION).unwrap();
    let event = Event::Repeated { count: 3, event: Box::new(bulk.event()) };
    let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
    let mut ahead = NoiseAhead::new(&bulk, &mut permit, &event).unwrap();
    let mut last: Vec<f64> = Vec::new();
    for (threads, is_ahead) in [(1, true), (2, true), (2, false)] {
        let mut values = vec![5f32; MILLION];
        let spread = |work: &(dyn Fn() + Sync)| {
            std::thread::scope(|scope| (1..threads).for_each(|_| drop(scope.spawn(work))));
        };
        if is_ahead {
            let drawing = bulk.draw_ahead(&mut ahead);
            spread(&|| drawing.help().unwrap());
            drawing.finish().unwrap();
            bulk.add_ahead(&mut values, &mut ahead, Parallelism { threads }).unwrap();
        } else {
            bulk.add_now_on(&mut values, &mut ahead, |_, work| spread(work)).unwrap();
        }
        let mut noise: Vec<f64> = values.iter().map(|v| f64::from(*v) - 5.0).collect();
        ledger.expect("lag 1", correlation(pearson(&noise[1..], &noise[..MILLION - 1]), MILLION - 1));
        if last.is_empty() {
            last.clone_from(&noise);
        } else {
            ledger.expect("two calls", correlation(pearson(&last, &noise), MILLION));
        }
        let cdf = |v: &f64| normal_cdf(v / 3.0);
        ledger.expect("normal", ks(&mut noise, cdf, cdf));
    }
}

#[test]
fn randomized_responses() {
    let mut ledger = Ledger::open("distributions::randomized_response");
    let mut free = Free::new().unwrap();
    for (categories, loss) in [(2usize, 1.0), (5, 0.5), (100, 3.0)] {
        let response = RandomizedResponse::new(epsilon(loss), categories as u64).unwrap();
        for category in [0, categories - 1] {
            let mut seen = vec![0u64; categories];
            let mut draws = free.draws(&response.event()).unwrap();
            for _ in 0..2 * MILLION {
                seen[draws.draw(&response, &(category as u64)).unwrap() as usize] += 1;
            }
            let expected = exact::randomized_response(categories, response.keep_probability(), category);
            ledger.expect(
                &format!("{categories} categories, {category}"),
                chi_square(&seen, &expected).p_value,
            );
        }
    }
}

#[test]
fn selections() {
    let mut ledger = Ledger::open("distributions::selection");
    let mut free = Free::new().unwrap();
    let scores = [0i128, 1, 5, 5, -3, 2];
    let reals = scores.map(|s| s as f64);
    let mut tally = |selection: &PrivateSelection| {
        let mut seen = vec![0u64; scores.len()];
        let mut draws = free.draws(&selection.event()).unwrap();
        (0..MILLION / 2).for_each(|_| seen[draws.draw(selection, &scores).unwrap()] += 1);
        seen
    };
    for rule in [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::ReportNoisyMax] {
        let expected = |rate: f64| match rule {
            SelectionRule::Exponential => exact::exponential_mechanism(&reals, rate),
            SelectionRule::PermuteAndFlip => exact::permute_and_flip(&reals, rate),
            SelectionRule::ReportNoisyMax => exact::report_noisy_max(&scores, 1.0 / rate),
        };
        let plain = PrivateSelection::for_integers(rule, 1, epsilon(0.8)).unwrap();
        ledger.expect(&format!("{rule:?}"), chi_square(&tally(&plain), &expected(0.4)).p_value);
        let monotone = plain.monotone().unwrap();
        let seen = tally(&monotone);
        ledger.expect(&format!("{rule:?}, monotone"), chi_square(&seen, &expected(0.8)).p_value);
        let wide = PrivateSelection::for_integers(rule, 3, epsilon(0.8)).unwrap();
        let seen = tally(&wide);
        ledger.expect(&format!("{rule:?}, sensitivity 3"), chi_square(&seen, &expected(0.4 / 3.0)).p_value);
    }
}

/// Draws of a mechanism on 0 in one long vector and on a single number, as multiples of its scale.
fn noise<M, T>(long: &M, short: &M, zeros: &[T], unit: impl Fn(T) -> f64) -> [Vec<f64>; 2]
where
    M: Mechanism<Input = [T], Output = Vec<T>>,
    T: Copy,
{
    let mut free = Free::new().unwrap();
    let many = free.draw(long, zeros).unwrap().into_iter().map(&unit).collect();
    let mut draws = free.draws(&short.event()).unwrap();
    let few = (0..10_000).map(|_| unit(draws.draw(short, &zeros[..1]).unwrap()[0])).collect();
    [many, few]
}

#[test]
fn additive_mechanisms_draw_the_noise_they_state() {
    let mut ledger = Ledger::open("distributions::additive");
    let mut check = |name: &str, draws: [Vec<f64>; 2], cdf: &dyn Fn(f64) -> f64| {
        for mut noise in draws {
            let what = format!("{name}, {} draws", noise.len());
            ledger.expect(&what, ks(&mut noise, |v| cdf(*v), |v| cdf(*v)));
        }
    };
    let laplace_cdf = |v: f64| if v < 0.0 { 0.5 * libm::exp(v) } else { 1.0 - 0.5 * libm::exp(-v) };
    let zeros = vec![0.0; MILLION];
    for size in [1e-9, 1.0, 1e12] {
        let laplace = |dimension| Laplace::with_scale(sensitivity(size), scale(size), dimension).unwrap();
        check("Laplace", noise(&laplace(MILLION), &laplace(1), &zeros, |v| v / size), &laplace_cdf);
    }
    let delta = Delta::new(1e-6).unwrap();
    for size in [1e-9, 1e12] {
        let gaussian =
            |dimension| Gaussian::with_sigma(sensitivity(size), scale(size), delta, dimension).unwrap();
        check("Gaussian", noise(&gaussian(MILLION), &gaussian(1), &zeros, |v| v / size), &normal_cdf);
    }
    let student = |dimension| StudentT::new(sensitivity(1e-3), scale(2.0), 3, dimension).unwrap();
    check("StudentT", noise(&student(MILLION), &student(1), &zeros, |v| v / 2.0), &|v| {
        exact::student_cdf(v, 3.0)
    });

    // Whole numbers: as wide as 2^30, a smooth distribution function is exact enough.
    let size = (2f64).powi(30);
    let zeros = vec![0i128; MILLION];
    let centred = |v: i128| v as f64 / size;
    let gaussian = |dimension| IntegerGaussian::with_sigma(sensitivity(1.0), scale(size), delta, dimension);
    check(
        "IntegerGaussian",
        noise(&gaussian(MILLION).unwrap(), &gaussian(1).unwrap(), &zeros, centred),
        &normal_cdf,
    );
    let laplace = DiscreteLaplace::with_scale(1, scale(size)).unwrap();
    check("DiscreteLaplace", noise(&laplace, &laplace, &zeros, centred), &laplace_cdf);
    // Slow, big path: one vector is enough here, the sampler has its own tests.
    let gaussian = DiscreteGaussian::with_sigma(sensitivity(1.0), scale(1000.0), delta).unwrap();
    assert_eq!(Free::new().unwrap().draw(&gaussian, &zeros[..7]).unwrap().len(), 7);
}
