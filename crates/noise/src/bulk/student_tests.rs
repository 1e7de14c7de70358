use super::*;
use crate::NoiseSession;
use crate::bulk::BulkGaussian;
use reticent_core::special::beta_inc;
use reticent_core::{Neighboring, Plan, SamplingRate, Sensitivity, Unlimited, charge};

fn bulk(scale: f64, freedom: u32, length: usize) -> BulkStudent {
    BulkStudent::new(&[1.0, 0.25], &[4, 60], Scale::new(scale).unwrap(), freedom, length).unwrap()
}

fn session() -> NoiseSession {
    NoiseSession::without_limit("row", Neighboring::AddRemove).unwrap()
}

fn ahead(bulk: &BulkStudent, count: u64) -> NoiseAhead {
    let event = Event::Repeated { count, event: Box::new(bulk.event()) };
    let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
    NoiseAhead::new(bulk, &mut permit, &event).unwrap()
}

/// P(|T| > x).
fn beyond(freedom: u32, x: f64) -> f64 {
    let nu = f64::from(freedom);
    beta_inc(nu / 2.0, 0.5, nu / (nu + x * x))
}

/// So many, or so few, have a chance above 10⁻¹² when each is one with probability `share`.
fn assert_share(found: usize, of: usize, share: f64, what: &str) {
    let (k, n) = (found as f64, of as f64);
    let at_least = if found == 0 { 1.0 } else { beta_inc(k, n - k + 1.0, share) };
    let at_most = if found == of { 1.0 } else { beta_inc(n - k, k + 1.0, 1.0 - share) };
    assert!(at_least.min(at_most) > 1e-12, "{what}: {found} of {of} for {share}");
}

#[test]
fn noise_has_the_law_of_student_on_any_number_of_threads() {
    const LENGTH: usize = 200_000;
    for (freedom, threads) in [(1, 1), (3, 2), (9, 5)] {
        let bulk = bulk(2.0, freedom, LENGTH);
        let mut session = session();
        let mut draws = session.draws(&bulk.event()).unwrap();
        let mut at_once = vec![3.0f32; LENGTH];
        bulk.add_noise(&mut at_once, &mut draws, Parallelism { threads }).unwrap();
        let (mut drawn, mut ahead) = (vec![3.0f32; LENGTH], ahead(&bulk, 1));
        let drawing = bulk.draw_ahead(&mut ahead);
        std::thread::scope(|scope| (1..threads).for_each(|_| drop(scope.spawn(|| drawing.help().unwrap()))));
        drawing.finish().unwrap();
        bulk.add_ahead(&mut drawn, &mut ahead, Parallelism { threads }).unwrap();
        assert_ne!(at_once, drawn);
        for values in [&at_once, &drawn] {
            let sizes: Vec<f64> = values.iter().map(|v| (f64::from(*v) - 3.0) / bulk.scale()).collect();
            assert_share(sizes.iter().filter(|t| **t > 0.0).count(), LENGTH, 0.5, "sign");
            for x in [0.01, 0.3, 1.0, 2.0, 5.0, 20.0] {
                let outside = sizes.iter().filter(|t| t.abs() > x).count();
                assert_share(outside, LENGTH, beyond(freedom, x), &format!("{freedom} degrees beyond {x}"));
            }
        }
    }
}

#[test]
fn the_event_pays_for_rounding() {
    let bulk = bulk(2.0, 5, 1000);
    let Event::EncodedStudentT { noise_multiplier, degrees_of_freedom, levels, counts } = bulk.event() else {
        panic!()
    };
    let step = 2.0 / f64::from(1 << 28);
    assert_eq!((degrees_of_freedom, counts), (5, vec![4, 60]));
    assert!(levels[0] >= 1.0 + step && levels[0] < 1.0 + 2.0 * step);
    assert!(levels[1] >= 0.25 + step && levels[1] < 0.25 + 2.0 * step);
    let norm = (4.0 * levels[0] * levels[0] + 60.0 * levels[1] * levels[1]).sqrt();
    assert!(noise_multiplier.get() <= 2.0 / norm && noise_multiplier.get() > (2.0 - 1e-12) / norm);
    assert!(bulk.delta_up(Epsilon::new(8.0).unwrap()).unwrap().get() < 1e-28);
    // A scale that is not on the grid is rounded up.
    let odd = BulkStudent::new(&[1.0], &[1], Scale::new(0.1).unwrap(), 5, 10).unwrap();
    assert!(odd.scale() >= 0.1 && odd.scale() < 0.1 + 1e-8);
    // Levels below a step are one level, of all their entries.
    let tiny = BulkStudent::new(&[1.0, 2e-30, 1e-30], &[1, 2, 3], Scale::new(1.0).unwrap(), 5, 10).unwrap();
    let Event::EncodedStudentT { levels, counts, .. } = tiny.event() else { panic!() };
    assert_eq!((levels.len(), counts), (2, vec![1, 5]));
}

/// Values that differ by a level are never further apart on the grid than the event's level.
#[test]
fn rounded_values_stay_within_the_profile() {
    let bulk = bulk(0.3, 5, 2);
    let Event::EncodedStudentT { levels, .. } = bulk.event() else { panic!() };
    let steps = |value: f32| {
        let mut values = [value, value];
        bulk.add_to(&mut values, &mut [0, 0]);
        (f64::from(value) / bulk.step).clamp(-STEP_LIMIT, STEP_LIMIT).round_ties_even()
    };
    let mut apart: f64 = 0.0;
    for i in 0..10_000 {
        let value = (f64::from(i) * 0.618_034).sin() as f32 * 3.0;
        let other = value - 1.0;
        let moved = f64::from(value) - f64::from(other);
        apart = apart.max((steps(value) - steps(other)).abs() * bulk.step / moved.max(1.0));
    }
    assert!(apart <= levels[0] && apart > 1.0 - 1e-6, "{apart}");
}

#[test]
fn it_serves_once_and_only_what_was_paid_for() {
    let (own, parallelism) = (bulk(2.0, 3, 100), Parallelism { threads: 1 });
    let mut ahead = ahead(&own, 1);
    let mut values = [0.0f32; 100];
    assert!(own.add_ahead(&mut values, &mut ahead, parallelism).is_err());
    own.draw_ahead(&mut ahead).help().unwrap();
    assert!(!ahead.is_fresh());
    let other = bulk(3.0, 3, 100);
    other.draw_ahead(&mut ahead).finish().unwrap();
    assert_eq!(other.add_ahead(&mut values, &mut ahead, parallelism), Err(NoiseError::Unpaid));
    own.draw_ahead(&mut ahead).finish().unwrap();
    assert!(own.add_ahead(&mut values[..99], &mut ahead, parallelism).is_err());
    values[0] = f32::NAN;
    assert_eq!(values[1..], [0.0; 99]);
    assert_eq!(own.add_ahead(&mut values, &mut ahead, parallelism), Ok(own.event()));
    assert!(values.iter().all(|v| v.is_finite() && *v != 0.0));
    let before = values;
    assert!(own.add_ahead(&mut values, &mut ahead, parallelism).is_err());
    own.draw_ahead(&mut ahead).finish().unwrap();
    assert_eq!(own.add_ahead(&mut values, &mut ahead, parallelism), Err(NoiseError::Unpaid));
    assert_eq!(values, before);
}

/// Gaussian noise that was paid for does not serve as Student-t noise, nor the other way round; both serve as either kind.
#[test]
fn kinds_of_noise_are_told_apart() {
    let student = bulk(2.0, 3, 8);
    let gaussian = BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(2.0).unwrap(), 8).unwrap();
    let paid = |noise: &BulkNoise| {
        let rate = SamplingRate::new(0.5).unwrap();
        let event = Event::PoissonSampled { rate, event: Box::new(noise.event()) };
        let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
        NoiseAhead::new(noise, &mut permit, &event).unwrap()
    };
    let (one, other) = (BulkNoise::from(student.clone()), BulkNoise::from(gaussian));
    for (own, foreign) in [(&one, &other), (&other, &one)] {
        let mut ahead = paid(own);
        let mut values = [0.0f32; 8];
        foreign.draw_ahead(&mut ahead).finish().unwrap();
        assert_eq!(foreign.add_ahead_on(&mut values, &mut ahead, |_, work| work()), Err(NoiseError::Unpaid));
        assert_eq!(values, [0.0; 8]);
        own.draw_ahead(&mut ahead).finish().unwrap();
        own.add_ahead_on(&mut values, &mut ahead, |_, work| work()).unwrap();
        assert!(values.iter().all(|value| *value != 0.0));
    }
    assert!(one.take_for_device(&mut paid(&one)).is_err());
    assert!(other.take_for_device(&mut paid(&one)).is_err());
    assert!(other.take_for_device(&mut paid(&other)).is_ok());
}

#[test]
fn odd_settings_are_refused_and_odd_values_do_no_harm() {
    let scale = |s: f64| Scale::new(s).unwrap();
    for (levels, counts, s, freedom) in [
        (vec![], vec![], 1.0, 3),
        (vec![1.0, 1.0], vec![1, 1], 1.0, 3),
        (vec![1.0], vec![1, 1], 1.0, 3),
        (vec![1.0], vec![0], 1.0, 3),
        (vec![f64::NAN], vec![1], 1.0, 3),
        (vec![1.0], vec![1], 1.0, 0),
        (vec![1.0], vec![1], 1.0, 1001),
        (vec![1.0], vec![1], 1e-300, 3),
        (vec![1.0], vec![1], 1e300, 3),
    ] {
        assert!(
            BulkStudent::new(&levels, &counts, scale(s), freedom, 5).is_err(),
            "{levels:?} {counts:?} {s}"
        );
    }
    for s in [1e-250f64, 1e-38, 1.0, 1e29] {
        let bulk = BulkStudent::new(&[s.clamp(1e-100, 1e100)], &[1], scale(s), 1, 5).unwrap();
        let mut session = session();
        let mut draws = session.draws(&bulk.event()).unwrap();
        let mut values = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 0.0];
        bulk.add_noise(&mut values, &mut draws, Parallelism::default()).unwrap();
        assert!(values.iter().all(|v| v.is_finite()), "{values:?}");
        assert_eq!(bulk.add_noise(&mut values, &mut draws, Parallelism::default()), Err(NoiseError::Unpaid));
    }
}

/// An output says nothing about noise that was cut off: the ends of the outputs are the same for all values.
#[test]
fn cut_off_noise_reveals_no_value() {
    let bulk = bulk(1.0, 1, 2);
    for (end, noise) in [(1.0f32, NOISE_LIMIT), (-1.0, -NOISE_LIMIT)] {
        let mut values = [100.0 * end, -100_000.0 * end];
        bulk.add_to(&mut values, &mut [noise, noise]);
        assert_eq!(values[0], values[1]);
    }
}
