//! Every mechanism on adversarial neighbours: samples must not prove more than the claimed ε.
//! Each has a broken twin, drawn from the same code with one thing wrong, that the same test catches.

use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::{
    Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, Probability, Scale, Sensitivity,
};
use reticent_noise::bulk::{BulkGaussian, Parallelism};
use reticent_noise::mechanism::{
    DiscreteGaussian, DiscreteLaplace, Gaussian, IntegerGaussian, Laplace, PrivateSelection,
    RandomizedResponse, SelectionRule, StableHistogram, StudentT,
};
use reticent_noise::{Entropy, Mechanism};
use reticent_testkit::budget::{ALPHA_PER_TEST, Ledger};
use reticent_testkit::free::Free;
use reticent_testkit::hockey::{Counts, bin, epsilon_lower};
use reticent_testkit::twins;
use std::collections::BTreeMap;

/// Draws per input where a vector can hold them all.
const MANY: usize = 1_000_000;

/// Draws per input where every release is a call, 256 draws each for the sake of timing.
const CALLS: usize = 15_000;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn scale(value: f64) -> Scale {
    Scale::new(value).unwrap()
}

fn sensitivity(value: f64) -> Sensitivity {
    Sensitivity::new(value).unwrap()
}

/// The honest mechanism: the proven ε stays within the claim, and comes close enough to mean something.
fn sound(ledger: &mut Ledger, name: &str, claim: Guarantee, pair: (Counts, Counts), power: f64) {
    let bound = epsilon_lower(&pair.0, &pair.1, claim.delta.get(), ledger.alpha());
    println!("{name}: claimed {claim}, proven at least {bound:.4}");
    assert!(bound <= claim.epsilon.get(), "{name}: claimed {claim}, proven at least {bound}");
    assert!(bound >= power * claim.epsilon.get(), "{name}: the test is too weak: {bound} of {claim}");
}

/// The broken twin: the proven ε exceeds the claim.
fn caught(name: &str, claim: Guarantee, pair: (Counts, Counts)) {
    let bound = epsilon_lower(&pair.0, &pair.1, claim.delta.get(), ALPHA_PER_TEST);
    println!("broken twin, {name}: claimed {claim}, proven at least {bound:.4}");
    assert!(bound > claim.epsilon.get(), "broken twin, {name}: not caught at {claim}, only {bound}");
}

/// One long release of the same number, cut into bins.
fn vector<M, T>(mechanism: &M, value: T, draws: usize, bins: usize, bin: impl Fn(T) -> usize) -> Counts
where
    M: Mechanism<Input = [T], Output = Vec<T>>,
    T: Copy,
{
    let released = Free::new().unwrap().draw(mechanism, &vec![value; draws]).unwrap();
    Counts::gather(bins, released.into_iter().map(bin))
}

/// Many releases of one input, cut into bins.
fn calls<M: Mechanism>(
    mechanism: &M,
    input: &M::Input,
    draws: usize,
    bins: usize,
    bin: impl Fn(M::Output) -> usize,
) -> Counts {
    let mut free = Free::new().unwrap();
    let mut paid = free.draws(&mechanism.event()).unwrap();
    Counts::gather(bins, (0..draws).map(|_| bin(paid.draw(mechanism, input).unwrap())))
}

/// 81 bins around 0.
fn integer_bin(value: i128) -> usize {
    (value.clamp(-40, 40) + 40) as usize
}

/// 128 bins of an eighth around 0.
fn real_bin(value: f64) -> usize {
    bin(value, -8.0, 0.125, 128)
}

#[test]
fn discrete_laplace() {
    let mut ledger = Ledger::open("mechanisms::discrete_laplace");
    let pair = |m: &DiscreteLaplace, a, b| {
        (vector(m, a, MANY, 81, integer_bin), vector(m, b, MANY, 81, integer_bin))
    };
    let honest = DiscreteLaplace::new(1, epsilon(1.0)).unwrap();
    sound(&mut ledger, "discrete Laplace", honest.guarantee(), pair(&honest, 0, 1), 0.9);
    let coarse = DiscreteLaplace::new(3, epsilon(0.5)).unwrap();
    sound(&mut ledger, "discrete Laplace, sensitivity 3", coarse.guarantee(), pair(&coarse, -1, 2), 0.85);
    // Where the sum saturates.
    let from_top = |v: i128| integer_bin(i128::MAX - 20 - v);
    let top = |x: i128| vector(&honest, x, MANY, 81, from_top);
    sound(
        &mut ledger,
        "discrete Laplace at the limit of i128",
        honest.guarantee(),
        (top(i128::MAX), top(i128::MAX - 1)),
        0.8,
    );
    // A unit moves between two cells: ℓ1 distance 2.
    let two = DiscreteLaplace::new(2, epsilon(1.0)).unwrap();
    let square = |v: Vec<i128>| (v[0].clamp(-4, 5) + 4) as usize * 10 + (v[1].clamp(-4, 5) + 4) as usize;
    let cells = |x: [i128; 2]| calls(&two, &x[..], CALLS, 100, square);
    let cells = (cells([1, 0]), cells([0, 1]));
    sound(&mut ledger, "discrete Laplace, two cells", two.guarantee(), cells, 0.4);

    let half = DiscreteLaplace::with_scale(1, scale(0.5)).unwrap();
    caught("half the noise", honest.guarantee(), pair(&half, 0, 1));
    caught("sensitivity off by two", honest.guarantee(), pair(&honest, 0, 2));
}

#[test]
fn laplace() {
    let mut ledger = Ledger::open("mechanisms::laplace");
    let many = Laplace::new(sensitivity(1.0), epsilon(1.0), MANY).unwrap();
    let pair = |m: &Laplace, a, b| (vector(m, a, MANY, 128, real_bin), vector(m, b, MANY, 128, real_bin));
    sound(&mut ledger, "Laplace", many.guarantee(), pair(&many, 0.0, 1.0), 0.9);
    sound(&mut ledger, "Laplace off the grid", many.guarantee(), pair(&many, -0.3, 0.7), 0.9);
    let single = Laplace::new(sensitivity(1.0), epsilon(1.0), 1).unwrap();
    let one = |x: f64| calls(&single, &[x][..], CALLS, 128, |v| real_bin(v[0]));
    sound(&mut ledger, "Laplace, one number", single.guarantee(), (one(0.0), one(1.0)), 0.6);
    // Values on either side of a power of two, whose own spacing differs.
    let tiny = Laplace::new(sensitivity((2f64).powi(-52)), epsilon(1.0), MANY).unwrap();
    let unit = |x: f64| vector(&tiny, x, MANY, 128, |v| real_bin((v - 1.0) * (2f64).powi(52)));
    let ulp = (unit(1.0), unit(1.0f64.next_up()));
    sound(&mut ledger, "Laplace between two doubles", tiny.guarantee(), ulp, 0.85);
    let nan = (vector(&many, f64::NAN, MANY, 128, real_bin), vector(&many, 0.0, MANY, 128, real_bin));
    sound(&mut ledger, "Laplace, not a number against 0", many.guarantee(), nan, 0.0);

    let half = Laplace::with_scale(sensitivity(1.0), scale(0.5), MANY).unwrap();
    caught("half the noise", many.guarantee(), pair(&half, 0.0, 1.0));
    caught("sensitivity off by two", many.guarantee(), pair(&many, -0.5, 1.5));

    // Noise in doubles: bins by value are fine, the finest bits are not (Haney et al. 2022).
    let mut entropy = Entropy::new().unwrap();
    let mut float = |x: f64| {
        let draws = (0..200_000).map(|_| x + twins::float_laplace(&mut entropy, 1.0));
        Counts::gather(3, draws.map(fine_bits))
    };
    caught("Laplace in doubles", many.guarantee(), (float(0.0), float(1.0)));
    let ours = (vector(&many, 0.0, MANY, 3, fine_bits), vector(&many, 1.0, MANY, 3, fine_bits));
    let bound = epsilon_lower(&ours.0, &ours.1, 0.0, ALPHA_PER_TEST);
    assert!(bound <= 1.0, "the same bits of the real mechanism prove {bound}");

    // A grid as coarse as the noise, with sensitivity 1.2 as if nothing were rounded: 0.4 and 1.6 are
    // neighbours, and end up two steps apart.
    let claim = Guarantee::pure(epsilon(1.2));
    let noise = DiscreteLaplace::with_scale(1, scale(1.0)).unwrap();
    let unpaid = |x: f64| {
        let noise = Free::new().unwrap().draw(&noise, &vec![0; MANY]).unwrap();
        Counts::gather(128, noise.into_iter().map(|n| real_bin(twins::unpaid_rounding(x, n))))
    };
    caught("rounding not paid for", claim, (unpaid(0.4), unpaid(1.6)));
}

/// Near 0: a multiple of 2⁻⁵³ or not; elsewhere: neither.
fn fine_bits(value: f64) -> usize {
    if value.abs() >= 0.25 {
        return 2;
    }
    usize::from((value * (2f64).powi(53)).fract() != 0.0)
}

#[test]
fn discrete_gaussian() {
    let mut ledger = Ledger::open("mechanisms::discrete_gaussian");
    let pair = |m: &DiscreteGaussian, a, b| {
        (vector(m, a, MANY, 81, integer_bin), vector(m, b, MANY, 81, integer_bin))
    };
    let honest = DiscreteGaussian::new(sensitivity(1.0), epsilon(1.0), delta(0.01)).unwrap();
    sound(&mut ledger, "discrete Gaussian", honest.guarantee(), pair(&honest, 0, 1), 0.5);
    let coarse = DiscreteGaussian::new(sensitivity(4.0), epsilon(2.0), delta(0.001)).unwrap();
    sound(&mut ledger, "discrete Gaussian, sensitivity 4", coarse.guarantee(), pair(&coarse, -2, 2), 0.5);
    let narrow = DiscreteGaussian::with_sigma(sensitivity(1.0), scale(0.4), delta(0.01)).unwrap();
    sound(&mut ledger, "discrete Gaussian, narrow", narrow.guarantee(), pair(&narrow, 0, 1), 0.5);

    let half = honest.sigma() / 2.0;
    let half = DiscreteGaussian::with_sigma(sensitivity(1.0), scale(half), delta(0.01)).unwrap();
    caught("half of sigma", honest.guarantee(), pair(&half, 0, 1));
    caught("sensitivity off by two", honest.guarantee(), pair(&honest, 0, 2));
}

#[test]
fn gaussian() {
    let mut ledger = Ledger::open("mechanisms::gaussian");
    let pair = |m: &Gaussian, a, b| (vector(m, a, MANY, 128, real_bin), vector(m, b, MANY, 128, real_bin));
    let honest = Gaussian::new(sensitivity(1.0), epsilon(1.0), delta(0.01), MANY).unwrap();
    sound(&mut ledger, "Gaussian", honest.guarantee(), pair(&honest, 0.0, 1.0), 0.75);
    let strict = Gaussian::new(sensitivity(1.0), epsilon(2.0), delta(1e-3), MANY).unwrap();
    sound(&mut ledger, "Gaussian, small delta", strict.guarantee(), pair(&strict, -0.6, 0.4), 0.6);
    let single = Gaussian::new(sensitivity(1.0), epsilon(1.0), delta(0.05), 1).unwrap();
    let one = |x: f64| calls(&single, &[x][..], CALLS, 128, |v| real_bin(v[0]));
    sound(&mut ledger, "Gaussian, one number", single.guarantee(), (one(0.0), one(1.0)), 0.3);
    // Three numbers move together: only their sum sees all of it.
    let third = 1.0 / (3f64).sqrt();
    let vector3 = Gaussian::new(sensitivity(1.0), epsilon(1.0), delta(0.05), 3).unwrap();
    let sum = |v: Vec<f64>| real_bin(v.iter().sum::<f64>() * third);
    let three = |x: f64| calls(&vector3, &[x; 3][..], CALLS, 128, sum);
    sound(&mut ledger, "Gaussian, a vector", vector3.guarantee(), (three(0.0), three(third)), 0.3);

    let half = scale(honest.sigma() / 2.0);
    let half = Gaussian::with_sigma(sensitivity(1.0), half, delta(0.01), MANY).unwrap();
    caught("half of sigma", honest.guarantee(), pair(&half, 0.0, 1.0));
    caught("sensitivity off by two", honest.guarantee(), pair(&honest, 0.0, 2.0));
    // The short textbook formula outside its range: at ε = 5, δ = 0.3 it has too little noise.
    let sigma = (2.0 * (1.0f64 / 0.3).ln()).sqrt() / 5.0;
    assert!(
        reticent_noise::mechanism::short_classical_sigma(sensitivity(1.0), epsilon(5.0), delta(0.3)).is_err()
    );
    let short = Gaussian::with_sigma(sensitivity(1.0), scale(sigma), delta(0.3), MANY).unwrap();
    let claim = Guarantee { epsilon: epsilon(5.0), delta: delta(0.3) };
    caught("the short formula at epsilon 5", claim, pair(&short, 0.0, 1.0));
}

#[test]
fn integer_gaussian() {
    let mut ledger = Ledger::open("mechanisms::integer_gaussian");
    let pair = |m: &IntegerGaussian, a, b| {
        (vector(m, a, MANY, 81, integer_bin), vector(m, b, MANY, 81, integer_bin))
    };
    let honest = IntegerGaussian::new(sensitivity(1.0), epsilon(1.0), delta(0.01), MANY).unwrap();
    sound(&mut ledger, "integer Gaussian", honest.guarantee(), pair(&honest, 0, 1), 0.7);
    let coarse = IntegerGaussian::new(sensitivity(5.0), epsilon(1.0), delta(0.01), MANY).unwrap();
    sound(&mut ledger, "integer Gaussian, sensitivity 5", coarse.guarantee(), pair(&coarse, 2, -3), 0.7);
    // σ above 2^33, where integers no longer lie on the grid.
    let size = (2f64).powi(36);
    let wide = IntegerGaussian::new(sensitivity(size), epsilon(1.0), delta(0.01), MANY).unwrap();
    let wide_bin = |v: i128| real_bin(v as f64 / size);
    let wide_at = |x: i128| vector(&wide, x, MANY, 128, wide_bin);
    sound(&mut ledger, "integer Gaussian, wide", wide.guarantee(), (wide_at(7), wide_at(7 + (1 << 36))), 0.7);

    let half = scale(honest.sigma() / 2.0);
    let half = IntegerGaussian::with_sigma(sensitivity(1.0), half, delta(0.01), MANY).unwrap();
    caught("half of sigma", honest.guarantee(), pair(&half, 0, 1));
    caught("sensitivity off by two", honest.guarantee(), pair(&honest, 0, 2));
}

#[test]
fn student() {
    let mut ledger = Ledger::open("mechanisms::student");
    for (nu, size) in [(1u32, 1.0), (3, 2.0), (8, 3.0)] {
        let honest = StudentT::new(sensitivity(1.0), scale(size), nu, 1).unwrap();
        // The same noise in one long release: its own claim is for the whole vector and weaker.
        let many = |size: f64| StudentT::new(sensitivity(1e-4), scale(size), nu, MANY / 2).unwrap();
        let pair = |m: &StudentT, a, b| {
            let at = |x| vector(m, x, MANY / 2, 256, |v| bin(v, -16.0, 0.125, 256));
            (at(a), at(b))
        };
        let name = format!("Student-t, {nu} degrees of freedom");
        sound(&mut ledger, &name, honest.guarantee(), pair(&many(size), 0.0, 1.0), 0.3);
        caught("half the scale", honest.guarantee(), pair(&many(size / 2.0), 0.0, 1.0));
        caught("sensitivity off by two", honest.guarantee(), pair(&many(size), -1.0, 1.0));
    }
    let single = StudentT::for_epsilon(sensitivity(1.0), epsilon(1.0), 3, 1).unwrap();
    let one = |x: f64| calls(&single, &[x][..], CALLS, 128, |v| real_bin(v[0]));
    sound(&mut ledger, "Student-t, one number", single.guarantee(), (one(0.0), one(1.0)), 0.3);
}

#[test]
fn bulk() {
    let mut ledger = Ledger::open("mechanisms::bulk");
    let noisy = |bulk: &BulkGaussian, value: f32| {
        let mut values = vec![value; MANY];
        let mut free = Free::new().unwrap();
        let mut draws = free.draws(&bulk.event()).unwrap();
        bulk.add_noise(&mut values, &mut draws, Parallelism { threads: 2 }).unwrap();
        Counts::gather(128, values.into_iter().map(|v| real_bin(f64::from(v))))
    };
    let claim = |bulk: &BulkGaussian, failure: f64| {
        let Event::Gaussian { noise_multiplier } = bulk.event() else { panic!("{:?}", bulk.event()) };
        let loss = gaussian_epsilon_up(noise_multiplier, delta(failure)).unwrap();
        let whole = failure + bulk.delta_up(loss).unwrap().get();
        Guarantee { epsilon: loss, delta: delta(whole) }
    };
    let honest = BulkGaussian::new(sensitivity(1.0), scale(1.5), MANY).unwrap();
    for (a, b) in [(0.0, 1.0), (-0.3, 0.7)] {
        let pair = (noisy(&honest, a), noisy(&honest, b));
        sound(&mut ledger, "bulk Gaussian", claim(&honest, 0.01), pair, 0.7);
    }
    let half = BulkGaussian::new(sensitivity(1.0), scale(0.75), MANY).unwrap();
    caught("half of sigma", claim(&honest, 0.01), (noisy(&half, 0.0), noisy(&half, 1.0)));
    caught("sensitivity off by two", claim(&honest, 0.01), (noisy(&honest, 0.0), noisy(&honest, 2.0)));
    // The whole of the sampler's price is small: a claim of nothing at all is not what passes.
    assert!(honest.delta_up(epsilon(1.0)).unwrap().get() < 1e-20);
    assert!(NoiseMultiplier::new(0.0).is_err());
}

#[test]
fn randomized_response() {
    let mut ledger = Ledger::open("mechanisms::randomized_response");
    for (categories, loss) in [(2u64, 1.0), (5, 0.5), (5, 2.0)] {
        let honest = RandomizedResponse::new(epsilon(loss), categories).unwrap();
        let pair = |m: &RandomizedResponse| {
            let at = |x: u64| calls(m, &x, MANY, categories as usize, |v| v as usize);
            (at(0), at(categories - 1))
        };
        sound(
            &mut ledger,
            &format!("randomized response, {categories}"),
            honest.guarantee(),
            pair(&honest),
            0.8,
        );
        let keep = Probability::new(honest.keep_probability() + 0.05).unwrap();
        let broken = RandomizedResponse::with_keep_probability(keep, categories).unwrap();
        caught("kept too often", honest.guarantee(), pair(&broken));
        // As in a library: the keep probability for ε, forgetting that there are k − 1 other answers.
        let mut entropy = Entropy::new().unwrap();
        let binary = libm::exp(loss) / (libm::exp(loss) + 1.0) + 0.02;
        let mut sloppy = |x: u64| {
            let draws = (0..MANY).map(|_| twins::sloppy_response(&mut entropy, binary, categories, x));
            Counts::gather(categories as usize, draws.map(|v| v as usize))
        };
        caught("keep probability of two answers", honest.guarantee(), (sloppy(0), sloppy(1)));
    }
}

#[test]
fn selection() {
    let mut ledger = Ledger::open("mechanisms::selection");
    let draws = 300_000;
    for rule in [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::ReportNoisyMax] {
        let honest = PrivateSelection::for_integers(rule, 1, epsilon(1.0)).unwrap();
        // One score rises and all others fall: the worst that can happen without monotony.
        let flat = [0.0; 16];
        let mut peak = [-1.0; 16];
        peak[0] = 1.0;
        let at = |m: &PrivateSelection, x: &[f64]| calls(m, &m.points(x), draws, 16, |v| v);
        let pair = |m: &PrivateSelection| (at(m, &flat), at(m, &peak));
        sound(&mut ledger, &format!("{rule:?}"), honest.guarantee(), pair(&honest), 0.6);
        // Monotone scores: they all rise, or none does; here one alone.
        let monotone = honest.clone().monotone().unwrap();
        let mut one_up = flat;
        one_up[0] = 1.0;
        let rising = (at(&monotone, &flat), at(&monotone, &one_up));
        sound(&mut ledger, &format!("{rule:?}, monotone"), monotone.guarantee(), rising, 0.6);
        // Real scores at the edge of rounding.
        let real = PrivateSelection::new(rule, sensitivity(0.3), epsilon(1.0)).unwrap();
        let low = flat.map(|_| 0.1);
        let high = peak.map(|s| 0.1 + 0.3 * s);
        let reals = (at(&real, &low), at(&real, &high));
        sound(&mut ledger, &format!("{rule:?}, real scores"), real.guarantee(), reals, 0.6);

        // Without the factor 2, which is only right for monotone scores.
        caught(&format!("{rule:?} without the factor 2"), honest.guarantee(), pair(&monotone));
        let doubled: Vec<f64> = peak.iter().map(|s| 2.0 * s).collect();
        let off = (at(&honest, &flat), at(&honest, &doubled));
        caught(&format!("{rule:?}, sensitivity off by two"), honest.guarantee(), off);
    }
}

#[test]
fn stable_histogram() {
    let mut ledger = Ledger::open("mechanisms::stable_histogram");
    let draws = |m: &StableHistogram, rows: &[(&str, u64)]| {
        let rows = rows.iter().map(|(label, count)| ((*label).to_owned(), *count)).collect();
        // Two labels: which are named, and by how much they exceed the threshold.
        let level = |out: &BTreeMap<String, i128>, label: &str| {
            out.get(label).map_or(0, |count| (count - i128::from(m.threshold())).clamp(0, 7) as usize + 1)
        };
        calls(m, &rows, CALLS, 81, |out| level(&out, "x") * 9 + level(&out, "y"))
    };
    let add_remove = StableHistogram::new(Neighboring::AddRemove, epsilon(2.0), delta(0.05)).unwrap();
    let claim = add_remove.guarantee();
    let pair = |a: &[(&str, u64)], b: &[(&str, u64)]| (draws(&add_remove, a), draws(&add_remove, b));
    let lone = pair(&[("x", 1), ("y", 9)], &[("y", 9)]);
    sound(&mut ledger, "stable histogram, a lone label", claim, lone, 0.0);
    let t = add_remove.threshold();
    let more = pair(&[("x", t)], &[("x", t - 1)]);
    sound(&mut ledger, "stable histogram, one row more", claim, more, 0.5);
    let replace = StableHistogram::new(Neighboring::ReplaceOne, epsilon(1.0), delta(0.02)).unwrap();
    let claim_of_two = replace.guarantee();
    let moved = (draws(&replace, &[("x", 1)]), draws(&replace, &[("y", 1)]));
    sound(&mut ledger, "stable histogram, one label for another", claim_of_two, moved, 0.0);
    let t = replace.threshold();
    let moved = (draws(&replace, &[("x", t), ("y", t)]), draws(&replace, &[("x", t - 1), ("y", t + 1)]));
    sound(&mut ledger, "stable histogram, a row moves", claim_of_two, moved, 0.3);

    // Two rows at T are one row at T − 1.
    caught("a threshold one too small", claim, pair(&[("x", 2)], &[]));
}
