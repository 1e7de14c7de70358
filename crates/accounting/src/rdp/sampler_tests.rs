use super::balls_add::AddDirection;
use super::*;
use reticent_core::{NoiseMultiplier, Probability, SamplingRate};

fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}
fn account(event: &Event) -> RdpAccountant {
    let mut account = RdpAccountant::new(Neighboring::AddRemove);
    account.compose(event, 1).unwrap();
    account
}
fn divergence(event: &Event, order: f64) -> f64 {
    account(event).divergence_up(order)
}
#[track_caller]
fn just_above(value: f64, exact: f64, tolerance: f64) {
    assert!(value >= exact * (1.0 - 1e-13) && value <= exact * (1.0 + tolerance), "{value} {exact}");
}
fn best_of(mean: f64, shape: f64, event: Event) -> Event {
    Event::RepeatAndSelect { mean, shape, event: Box::new(event) }
}

#[test]
fn binomial_tails() {
    // By 40-digit sums.
    let cases = [
        (1000, 0.01, 20, 0.003_288_359_787_727_467),
        (1000, 0.01, 10, 0.542_699_407_825_109_2),
        (1000, 0.01, 5, 0.971_313_600_000_995_3),
        (60_000, 256.0 / 6e4, 300, 0.003_874_684_880_341_995),
        (60_000, 256.0 / 6e4, 512, 2.285_958_546_245_910_7e-45),
        (60_000, 256.0 / 6e4, 256, 0.508_364_783_936_390_1),
        (1_000_000, 1e-3, 1200, 4.589_638_606_100_77e-10),
        (1_000_000, 1e-3, 2000, 1.853_653_994_401_386_4e-170),
        (50, 0.5, 50, 8.881_784_197_001_252e-16),
        (50, 0.5, 49, 4.529_709_940_470_639e-14),
        (50, 0.3, 1, 0.999_999_982_015_349_5),
        (10, 0.999, 10, 0.990_044_880_209_748_2),
        (100_000_000, 1e-4, 10_500, 3.594_934_631_100_357e-7),
    ];
    for (n, q, k, exact) in cases {
        just_above(binomial_tail_up(n, q, k), exact, 1e-9);
    }
    assert_eq!((binomial_tail_up(5, 0.5, 0), binomial_tail_up(5, 0.5, 6)), (1.0, 0.0));
    assert_eq!((binomial_tail_up(5, 0.0, 1), binomial_tail_up(5, 1.0, 5)), (0.0, 1.0));
    assert_eq!(binomial_tail_up(u64::MAX, 1e-30, 5), 1.0);
    // Too many terms to add up one by one: the bound stays a bound.
    let huge = binomial_tail_up(1 << 50, 0.5, (1 << 49) + (1 << 24));
    assert!((0.158..0.6).contains(&huge), "{huge}");
}

#[test]
fn truncated_batches_match_the_mixture() {
    let event = |n, q, b, z| Event::TruncatedPoisson {
        dataset_size: n,
        rate: SamplingRate::new(q).unwrap(),
        max_batch: b,
        event: Box::new(gaussian(z)),
    };
    let cases = [
        (60_000, 256.0 / 6e4, 300, 1.1, 8.0, 6.189_527_314_697_815),
        (1000, 0.01, 12, 1.0, 3.5, 0.262_822_874_621_189_4),
        (1000, 0.01, 30, 0.8, 2.25, 0.000_432_027_079_528_968_5),
        (60_000, 256.0 / 6e4, 512, 1.1, 20.0, 21.901_692_498_069_77),
    ];
    for (n, q, b, z, order, exact) in cases {
        just_above(divergence(&event(n, q, b, z), order), exact, 1e-9);
    }
    // A cap that is never reached costs nothing; a low one never beats the plain sample.
    let plain =
        Event::PoissonSampled { rate: SamplingRate::new(0.1).unwrap(), event: Box::new(gaussian(1.0)) };
    just_above(divergence(&event(50, 0.1, 51, 1.0), 4.0), divergence(&plain, 4.0), 1e-9);
    assert!(divergence(&event(50, 0.1, 1, 1.0), 4.0) > divergence(&plain, 4.0));
    assert!(divergence(&event(50, 1.0, 1, 0.3), 1e5).is_finite());
    let mut replace = RdpAccountant::new(Neighboring::ReplaceOne);
    assert!(replace.compose(&event(50, 0.1, 5, 1.0), 1).unwrap_err().to_string().contains("add-remove"));
}

/// All outputs of one step with one record, small enough to enumerate the batches.
#[test]
fn truncated_batches_cover_an_enumerated_sampler() {
    // Others contribute −1 each and the record +1; at most two are kept; batch sums have noise σ.
    let (q, sigma, others, cap, order) = (0.3f64, 2.0f64, 3u32, 2u32, 4.0f64);
    let choose = |n: u32, k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
    let mut laws = [Vec::new(), Vec::new()];
    for a in 0..=others {
        let p = choose(others, a) * q.powi(a as i32) * (1.0 - q).powi((others - a) as i32);
        let kept = f64::from(a.min(cap));
        laws[1].push((-kept, p));
        laws[0].push((-kept, p * (1.0 - q)));
        let stays = (f64::from(cap) / f64::from(a + 1)).min(1.0);
        laws[0].push((-f64::from(a.min(cap - 1)) + 1.0, p * q * stays));
        laws[0].push((-kept, p * q * (1.0 - stays)));
    }
    let density = |law: &[(f64, f64)], x: f64| -> f64 {
        law.iter().map(|(m, p)| p * (-0.5 * ((x - m) / sigma).powi(2)).exp()).sum::<f64>()
    };
    let moment = |p: &[(f64, f64)], q: &[(f64, f64)]| -> f64 {
        let norm = 0.01 / (sigma * (2.0 * std::f64::consts::PI).sqrt());
        (-4000..4000)
            .map(|i| 0.01 * f64::from(i))
            .map(|x| density(p, x).powf(order) * density(q, x).powf(1.0 - order) * norm)
            .sum::<f64>()
            .ln()
            / (order - 1.0)
    };
    let bound = TruncatedPoisson::new(u64::from(others), q, u64::from(cap), sigma).log_moment(order) / 3.0;
    let exact = moment(&laws[0], &laws[1]).max(moment(&laws[1], &laws[0]));
    assert!(exact > 0.05 * bound && exact <= bound, "{exact} {bound}");
}

#[test]
fn the_best_of_gaussian_runs_has_a_closed_form() {
    // ρ-zCDP: the second order is √(ln(1/γ)/ρ), and K is geometric with γ = 1/10.
    let (rho, log_inverse, order) = (0.125f64, 10f64.ln(), 200.0);
    let switched = 2.0 * (2.0 * (rho * log_inverse).sqrt() - rho);
    let event = best_of(10.0, 1.0, gaussian(2.0));
    just_above(divergence(&event, order), order * rho + switched + log_inverse / (order - 1.0), 1e-9);
    // Lower orders take the lowest value, at 1 + √(ln mean/ρ), when it is less.
    let lowest = rho + 2.0 * (rho * log_inverse).sqrt() + switched;
    just_above(divergence(&event, 1.5), lowest, 1e-9);
    just_above(divergence(&best_of(1.0, 1.0, gaussian(2.0)), 3.0), 3.0 * rho, 1e-12);
    // Barely more than one run costs barely more than one run.
    just_above(divergence(&best_of(1.0 + 1e-9, 1.0, gaussian(2.0)), 3.0), 3.0 * rho, 1e-3);
}

/// The exact law of the best of K randomized responses, against the bound.
#[test]
fn the_best_of_responses_is_covered() {
    let keep = 0.5;
    let response =
        Event::RandomizedResponse { keep_probability: Probability::new(keep).unwrap(), categories: 3 };
    let laws = [[keep, 0.25, 0.25], [0.25, 0.25, keep]];
    let mut nearest: f64 = 0.0;
    for mean in [1.2f64, 3.0, 50.0] {
        // Geometric K: the generating function is γx/(1 − (1 − γ)x).
        let gamma = 1.0 / mean;
        let best = laws.map(|law| {
            let below = [0.0, law[0], law[0] + law[1], 1.0].map(|x| gamma * x / (1.0 - (1.0 - gamma) * x));
            [below[1] - below[0], below[2] - below[1], below[3] - below[2]]
        });
        for order in [1.1f64, 2.0, 8.0, 60.0] {
            let between = |p: &[f64; 3], q: &[f64; 3]| {
                let sum: f64 = p.iter().zip(q).map(|(p, q)| p.powf(order) * q.powf(1.0 - order)).sum();
                sum.ln() / (order - 1.0)
            };
            let exact = between(&best[0], &best[1]).max(between(&best[1], &best[0]));
            let bound = divergence(&best_of(mean, 1.0, response.clone()), order);
            assert!(exact <= bound, "{mean} {order}: {exact} {bound}");
            nearest = nearest.max(exact / bound);
        }
    }
    assert!(nearest > 0.5, "{nearest}");
    just_above(largest_loss(&best_of(3.0, 1.0, response)).unwrap(), 3.0 * 2f64.ln(), 1e-12);
}

#[test]
fn student_noise_is_covered_and_met() {
    let event = |z, nu| Event::StudentT {
        noise_multiplier: NoiseMultiplier::new(z).unwrap(),
        degrees_of_freedom: nu,
    };
    // One coordinate, by 25-digit quadrature: (ν, α, shift, D_α).
    let cases = [
        (3, 4.0, 0.5, 0.271_349_584_377_894_6),
        (1, 1.5, 0.9, 0.267_766_708_800_482_9),
        (5, 12.3, 1.5, 1.798_383_091_413_179_6),
        (3, 2.2, 3.0, 2.582_598_477_603_682),
        (1, 3.7, 5.0, 2.881_800_258_029_721),
        (30, 6.0, 0.2, 0.108_114_531_441_886_88),
    ];
    for (nu, order, shift, exact) in cases {
        assert!(divergence(&event(1.0 / shift, nu), order) >= exact, "{nu} {order} {shift}");
    }
    // 2500 coordinates with a shift of 1/100 each make 1/2.
    let (nu, order) = (4.0f64, 3.0f64);
    let power = |x: f64, e: f64| (1.0 + x * x / nu).powf(-0.5 * e * (nu + 1.0));
    let step = 1e-3;
    let sum = |shift: f64, e: f64| -> f64 {
        (-200_000..200_000)
            .map(|i| step * f64::from(i))
            .map(|x| power(x - shift, e) * power(x, 1.0 - e))
            .sum()
    };
    let each = (sum(0.01, order) / sum(0.0, order)).ln() / (order - 1.0);
    just_above(divergence(&event(2.0, 4), order), 2500.0 * each, 1e-3);
    just_above(divergence(&event(2.0, 4), order), 3.0 * 0.25 * 5.0 / 14.0, 1e-12);
    // Where the shift is large, whole steps lie on the same line, others just above it.
    just_above(divergence(&event(0.5, 3), 2.5), 2.5 * 2.0 * 4.0 / 6.0, 1e-12);
    just_above(divergence(&event(0.5, 3), 2.75), (2.75 + 0.0625 / 1.75) * 2.0 * 4.0 / 6.0, 1e-12);
    just_above(kullback_leibler(&event(2.0, 4)).unwrap(), 0.25 * 5.0 / 14.0, 1e-12);
}

#[test]
fn balls_in_bins_match_both_directions() {
    // ln E[R^{1+β}] and ln E[R^{−β}] by direct integration over two or three bins: (T, σ, β, remove, add).
    let cases = [
        (2, 1.0, 1.0, 0.620_114_506_958_278, 0.569_042_599_955_143),
        (2, 1.0, 2.0, 1.954_458_592_793_24, 1.680_240_493_314_488_3),
        (2, 1.0, 5.0, 11.579_900_454_730_3, 8.147_736_808_213_658),
        (2, 3.0, 2.0, 0.171_464_841_887_336, 0.170_723_117_777_886_73),
        (3, 1.0, 2.0, 1.450_708_600_939_6, 1.194_434_554_180_802_8),
        (3, 2.0, 4.0, 0.919_577_471_224_037, 0.886_957_564_909_688_6),
    ];
    for (bins, sigma, beta, remove, add) in cases {
        let epoch = BallsInBins::new(bins, sigma);
        just_above(epoch.rdp(beta + 1.0) * beta, remove, 1e-8);
        let direction = AddDirection::new(bins as f64, sigma, 100.0);
        just_above(direction.log_moment(beta), add, 2e-3);
    }
    // Many bins, by 25-digit series and integrals.
    let cases = [
        (100u64, 1.0, 5.0, 0.267_680_231_627, 0.243_469_751_441),
        (1000, 0.7, 2.0, 0.020_317_748_300_2, 0.019_177_362_992_3),
        (1000, 5.0, 10.0, 0.002_244_557_985_67, 0.002_244_531_849_61),
    ];
    // Remove decides these: powers by recursion and by squaring, up to large orders.
    let high = [
        (5000, 8.0, 60.0, 0.005_574_685_406_016_88, 2e-3),
        (5000, 8.0, 400.0, 0.251_334_688_283_048, 1e-2),
        (10, 4.0, 200.0, 785.542_708_800_026, 1e-7),
        (100, 5.0, 400.0, 1_354.541_734_468_2, 1e-7),
        (1 << 40, 2.0, 10.0, 1.162_438_252_408_65e-11, 1e-3),
        (200, 20.0, 400.0, 0.998_745_810_408_917, 1e-2),
    ];
    for (bins, sigma, order, exact, room) in high {
        just_above(BallsInBins::new(bins, sigma).rdp(order) * (order - 1.0), exact, room);
    }
    for (bins, sigma, beta, remove, add) in cases {
        let value = BallsInBins::new(bins, sigma).rdp(beta + 1.0) * beta;
        assert!(value >= remove * (1.0 - 1e-11) && value <= remove * (1.0 + 2e-3), "{value} {remove}");
        let direction = AddDirection::new(bins as f64, sigma, 100.0).log_moment(beta);
        assert!(direction >= add * (1.0 - 1e-11) && direction <= add * (1.0 + 2e-3), "{direction} {add}");
    }
}

#[test]
fn balls_in_bins_lie_between_sampling_and_nothing() {
    let balls = |bins, epochs, z| Event::BallsInBins { bins, epochs, event: Box::new(gaussian(z)) };
    for (bins, z) in [(1u64, 1.0), (2, 0.5), (10, 4.0), (100, 1.0), (1000, 0.1), (5000, 8.0), (1 << 40, 2.0)]
    {
        let mut before = 0.0;
        for order in [1.01, 1.5, 2.0, 2.5, 3.0, 7.7, 30.0, 200.0, 511.5, 1e4] {
            let value = divergence(&balls(bins, 3, z), order);
            assert!(value >= before * (1.0 - 1e-9), "{bins} {z} {order}: {value} {before}");
            assert!(value <= 1.5 * order / (z * z) * (1.0 + 1e-12), "{bins} {z} {order}");
            before = value;
        }
    }
    let delta = Delta::new(1e-5).unwrap();
    let amplified = account(&balls(1000, 10, 1.0)).epsilon_up(delta).unwrap().get();
    let shuffled = Event::Shuffled { steps_per_epoch: 1000, epochs: 10, event: Box::new(gaussian(1.0)) };
    assert!(amplified < 0.5 * account(&shuffled).epsilon_up(delta).unwrap().get(), "{amplified}");
    // Replace-one and other noise are not amplified.
    let mut replace = RdpAccountant::new(Neighboring::ReplaceOne);
    replace.compose(&balls(1000, 10, 1.0), 1).unwrap();
    just_above(replace.divergence_up(2.0), 10.0, 1e-12);
}

#[test]
fn ends_add_up() {
    let twice = Event::Repeated { count: 2, event: Box::new(gaussian(1.0)) };
    let both =
        Event::Composed { events: vec![twice, Event::Zcdp { rho: reticent_core::Rho::new(0.5).unwrap() }] };
    just_above(kullback_leibler(&both).unwrap(), 1.5, 1e-12);
    assert_eq!(largest_loss(&both).unwrap(), f64::INFINITY);
    let none = Event::Repeated { count: 0, event: Box::new(gaussian(1.0)) };
    assert_eq!(largest_loss(&none).unwrap(), 0.0);
}
