//! Few steps at small rates against independent arithmetic, and against themselves.

use super::*;
use reticent_core::{NoiseMultiplier, SamplingRate};

fn steps(rate: f64, sigma: f64, count: u64) -> TightAccountant {
    let gaussian = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(sigma).unwrap() };
    let step = Event::PoissonSampled { rate: SamplingRate::new(rate).unwrap(), event: Box::new(gaussian) };
    let mut account = TightAccountant::new(Neighboring::AddRemove);
    account.compose(&step, count).unwrap();
    account
}

fn epsilon(rate: f64, sigma: f64, count: u64, delta: f64) -> Bracket {
    steps(rate, sigma, count).epsilon(Delta::new(delta).unwrap()).unwrap()
}

#[test]
fn few_steps_at_small_rates_match_thirty_digits() {
    // One use by its closed form, two by an integral, both in arithmetic of 30 digits or more.
    let cases = [
        (1e-5, 2.0, 1, 1.97e-10, 5.754_996_281_449_378e-5),
        (1.13e-5, 0.351, 2, 4.57e-6 * 0.999_999_972_356_619, 2.959_946_000_929_756_6e-3),
        (1e-5, 2.0, 2, 1.97e-10, 6.641_589_593_127_336e-5),
        (1e-7, 0.5, 2, 1e-9 * 0.999_994_457_786_426, 6.751_438_482_287_79e-5),
        (1e-3, 0.8, 2, 1e-6 * 1.000_000_481_225_72, 0.078_144_662_761_593_66),
        (0.1, 1.0, 2, 1e-3 * 0.999_999_999_843_998, 0.844_933_350_092_987_6),
        (3e-4, 5.0, 2, 1e-12, 6.867_070_235_264_27e-4),
        (1e-2, 0.4, 2, 1e-2 * 0.999_999_905_027_573, 0.068_315_426_025_417_26),
    ];
    let room = 1e-9;
    for (rate, sigma, count, delta, exact) in cases {
        let what = format!("{rate} {sigma} {count}");
        let found = epsilon(rate, sigma, count, delta);
        assert!(found.lower <= exact * (1.0 + room), "{what}: {found:?} {exact}");
        assert!(found.upper >= exact * (1.0 - room), "{what}: {found:?} {exact}");
        assert!(found.upper - found.lower <= 1e-4 * exact, "{what}: {found:?}");
        let back = steps(rate, sigma, count).delta(Epsilon::new(exact).unwrap()).unwrap();
        assert!(back.lower <= delta * (1.0 + room), "{what}: {back:?} {delta}");
        assert!(back.upper >= delta * (1.0 - room), "{what}: {back:?} {delta}");
    }
    // A sum over 12 000² points.
    let three = steps(1.13e-5, 0.351, 3).delta(Epsilon::new(0.006_584_78).unwrap()).unwrap();
    assert!(three.lower <= 4.570_01e-6 && three.upper >= 4.569_99e-6, "{three:?}");
    let five = epsilon(1.13e-5, 0.351, 5, 4.57e-6);
    assert!(five.lower > 0.0156 && five.upper < 0.0158, "{five:?}");
}

/// Random questions: the bracket is narrow, and ε(δ) and δ(ε) do not contradict each other.
#[test]
fn brackets_of_few_steps_are_narrow_and_agree_both_ways() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut uniform = |low: f64, high: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..14 {
        let rate = libm::exp(uniform(-16.1, -0.7));
        let sigma = libm::exp(uniform(-1.0, 2.0));
        let count = libm::exp(uniform(0.0, 3.0)).round() as u64;
        let delta = libm::exp(uniform(-27.6, -2.3));
        let what = format!("{rate} {sigma} {count} {delta}");
        let account = steps(rate, sigma, count);
        let found = account.epsilon(Delta::new(delta).unwrap()).unwrap();
        assert!(found.upper - found.lower <= 0.01 * found.upper + 1e-9, "{what}: {found:?}");
        let at_upper = account.delta(Epsilon::new(found.upper).unwrap()).unwrap();
        assert!(at_upper.lower <= delta * (1.0 + 1e-9), "{what}: {found:?} {at_upper:?}");
        if found.lower > 0.0 {
            let at_lower = account.delta(Epsilon::new(found.lower).unwrap()).unwrap();
            assert!(at_lower.upper >= delta * (1.0 - 1e-9), "{what}: {found:?} {at_lower:?}");
        }
    }
}

/// Where one rare loss outweighs many small ones.
#[test]
fn delta_and_epsilon_agree_far_out() {
    let account = steps(6.76e-4, 2.328_767_471_891_715_5, 1313);
    let epsilon = account.epsilon(Delta::new(2.85e-30).unwrap()).unwrap();
    let delta = account.delta(Epsilon::new(epsilon.upper).unwrap()).unwrap();
    assert!(delta.lower <= 2.85e-30 && delta.upper <= 3e-30, "{epsilon:?} {delta:?}");
    assert!(account.delta(Epsilon::new(1.0).unwrap()).unwrap().upper < 1e-70);
}

#[test]
fn hardly_any_noise_is_bounded_at_once() {
    // 1 − (1 − q)^T of being in some batch.
    let account = steps(1e-3, 1e-4, 100);
    let exact = -libm::expm1(100.0 * libm::log1p(-1e-3));
    let delta = account.delta(Epsilon::new(1.0).unwrap()).unwrap();
    assert!(delta.lower <= exact && exact <= delta.upper && delta.upper - delta.lower < 1e-9, "{delta:?}");
    assert_eq!(account.epsilon(Delta::new(0.1).unwrap()).unwrap().upper, 0.0);
}

/// Two bins: the loss is ln((r₁ + r₂)/2), integrated in 25-digit arithmetic.
#[test]
fn balls_in_few_bins() {
    let epoch = |bins, sigma, epochs| Event::BallsInBins {
        bins,
        epochs,
        event: Box::new(Event::Gaussian { noise_multiplier: NoiseMultiplier::new(sigma).unwrap() }),
    };
    let delta_at = |event: &Event, at: f64| {
        let mut account = TightAccountant::new(Neighboring::AddRemove);
        account.compose(event, 1).unwrap();
        account.delta(Epsilon::new(at).unwrap()).unwrap().upper
    };
    for (bins, sigma, at, exact) in BALLS {
        let found = delta_at(&epoch(*bins, *sigma, 1), *at);
        assert!(found >= *exact && found <= exact * 1.01, "{bins} {sigma} {at}: {found} {exact}");
    }
}

/// (bins, σ, ε, δ), the larger of the two directions.
const BALLS: &[(u64, f64, f64, f64)] = &[
    (2, 1.0, 1.0, 0.059_206_501_085_892_7),
    (2, 1.0, 3.0, 1.677_027_714_117_89e-4),
    (2, 0.5, 4.0, 0.044_825_117_911_025_6),
    (2, 5.0, 0.3, 1.041_606_813_001_41e-3),
    (2, 2.0, 0.5, 0.018_326_594_760_935_1),
];
