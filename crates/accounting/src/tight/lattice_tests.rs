use super::*;
use crate::{Accountant, CompositionMethod};
use reticent_core::{Delta, Event, Neighboring, NoiseMultiplier, Sensitivity};

/// δ(ε) of two laws on the integers, the second moved.
fn moved(law: &dyn Fn(i64) -> f64, by: i64, epsilon: f64) -> f64 {
    let reach = -4000..=4000i64;
    let total: f64 = reach.clone().map(law).sum();
    reach.map(|x| (law(x) - libm::exp(epsilon) * law(x - by)).max(0.0)).sum::<f64>() / total
}

fn delta(loss: &PrivacyLoss, epsilon: f64) -> f64 {
    let tails = loss.tails(epsilon);
    tails.p_above - libm::exp(epsilon) * tails.q_above
}

const EPSILONS: [f64; 8] = [-1.3, -0.2, 0.0, 0.05, 0.31, 0.77, 1.5, 2.9];

#[test]
fn discrete_laplace_is_two_moved_laws() {
    for (multiplier, sensitivity) in [(0.7, 1), (0.7, 2), (1.9, 3), (2.0, 17), (0.3, 40)] {
        let scale = multiplier * sensitivity as f64;
        let loss = discrete_laplace(multiplier, sensitivity);
        for epsilon in EPSILONS {
            let truth = moved(&|x| libm::exp(-(x.abs() as f64) / scale), sensitivity as i64, epsilon);
            let found = delta(&loss, epsilon);
            assert!((found - truth).abs() < 1e-12, "{multiplier} {sensitivity} {epsilon}: {found} {truth}");
            // The least sensitivity is the worst.
            assert!(found <= delta(&discrete_laplace(multiplier, 1), epsilon) + 1e-13);
        }
    }
    // Too many atoms: the integers in groups, never better and hardly worse.
    let (many, fewer) = (discrete_laplace(2.0, 1_000_003), discrete_laplace(2.0, 50_000));
    for epsilon in [0.0, 0.1, 0.4] {
        assert!((delta(&many, epsilon) - delta(&fewer, epsilon)).abs() < 1e-5);
        assert!(delta(&many, epsilon) >= delta(&PrivacyLoss::Laplace(0.5), epsilon));
    }
}

/// δ of Σvⱼxⱼ, x of discrete Gaussian coordinates, moved by v: by the law of that sum.
fn of_move(parts: &[u64], sigma: f64, epsilon: f64) -> f64 {
    let reach = 60i64;
    let mut law = vec![1.0];
    for part in parts {
        let step = *part as usize;
        let mut next = vec![0.0; law.len() + 2 * reach as usize * step];
        for x in -reach..=reach {
            for (i, mass) in law.iter().enumerate() {
                next[i + (x + reach) as usize * step] += mass * libm::exp(-0.5 * (x as f64 / sigma).powi(2));
            }
        }
        law = next;
    }
    let m: u64 = parts.iter().map(|part| part * part).sum();
    let middle = (law.len() / 2) as f64;
    let total: f64 = law.iter().sum();
    let loss = |i: usize| (m as f64 + 2.0 * (i as f64 - middle)) / (2.0 * sigma * sigma);
    law.iter().enumerate().map(|(i, p)| p / total * -libm::expm1((epsilon - loss(i)).min(0.0))).sum()
}

#[test]
fn discrete_gaussian_is_the_worst_of_all_moves() {
    for (multiplier, sensitivity) in
        [(0.3, 2.0), (0.9, 2.0), (2.5, 2.0), (0.6, 3.0), (1.4, 2f64.sqrt()), (0.8, 4.0)]
    {
        let sigma = multiplier * sensitivity;
        let m = (sensitivity * sensitivity + 1e-9).floor() as u64;
        let ceiling = PrivacyLoss::Atoms(discrete_gaussian(multiplier, sensitivity, End::Ceiling).unwrap());
        let floor = PrivacyLoss::Atoms(discrete_gaussian(multiplier, sensitivity, End::Floor).unwrap());
        // At the atoms the ceiling is the worst move itself.
        let atoms = (0..6).map(|k| (m as f64 + 2.0 * f64::from(k)) / (2.0 * sigma * sigma));
        for (epsilon, exact) in EPSILONS.into_iter().map(|e| (e, false)).chain(atoms.map(|e| (e, true))) {
            let all: Vec<f64> = partitions(m).iter().map(|parts| of_move(parts, sigma, epsilon)).collect();
            let worst = all.iter().copied().fold(0.0, f64::max);
            let found = delta(&ceiling, epsilon);
            assert!(
                found >= worst * (1.0 - 1e-10) - 1e-13,
                "{multiplier} {sensitivity} {epsilon}: {found} {all:?}"
            );
            if exact {
                assert!(
                    found <= worst * (1.0 + 1e-7) + 1e-11,
                    "{multiplier} {sensitivity} {epsilon}: {found} {all:?}"
                );
            }
            assert!(delta(&floor, epsilon) <= worst * (1.0 + 1e-10) + 1e-13);
        }
        let PrivacyLoss::Atoms(atoms) = &ceiling else { panic!() };
        let total: f64 = atoms.iter().map(|(_, p)| p).sum();
        assert!((total - 1.0).abs() < 1e-8, "{total}");
    }
}

/// From SMOOTH on, all moves without a common divisor have the same law.
#[test]
fn many_moves_have_one_law() {
    for parts in [vec![1; 9], vec![2, 1, 1, 1, 1, 1], vec![2, 2, 1], vec![3, 2, 1, 1, 1], vec![2, 1]] {
        let m: u64 = parts.iter().map(|part| part * part).sum();
        let period = period(&parts, m, SMOOTH * (m as f64).sqrt());
        for theta in &period {
            assert!((theta / period[0] - 1.0).abs() < 1e-13, "{parts:?} {period:?}");
        }
    }
}

#[test]
fn a_sensitivity_of_two_is_accounted_by_its_atoms() {
    let event = |sensitivity: f64| Event::DiscreteGaussian {
        noise_multiplier: NoiseMultiplier::new(5.0).unwrap(),
        sensitivity: Some(Sensitivity::new(sensitivity).unwrap()),
    };
    let epsilon = |event: &Event, count: u64, delta: f64| {
        let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
        account.compose(event, count).unwrap();
        account.epsilon(Delta::new(delta).unwrap()).unwrap()
    };
    for (sensitivity, count, delta) in
        [(2.0, 1, 0.05), (2.0, 10, 1e-6), (7.0, 3, 1e-6), (2f64.sqrt(), 4, 1e-9)]
    {
        let found = epsilon(&event(sensitivity), count, delta);
        // As the continuous Gaussian of the same multiplier, nearly.
        let continuous =
            epsilon(&Event::Gaussian { noise_multiplier: NoiseMultiplier::new(5.0).unwrap() }, count, delta);
        assert!(found.method == CompositionMethod::Pld, "{found:?}");
        assert!((found.upper - continuous.upper).abs() < 0.02 * continuous.upper, "{found:?} {continuous:?}");
        assert!(found.lower > 0.9 * found.upper, "{found:?}");
    }
    let laplace = |sensitivity| Event::DiscreteLaplace {
        noise_multiplier: NoiseMultiplier::new(10.0).unwrap(),
        sensitivity,
    };
    let ends: Vec<f64> =
        [None, Some(1), Some(2), Some(50)].map(|s| epsilon(&laplace(s), 100, 1e-6).upper).to_vec();
    assert_eq!(ends[0], ends[1]);
    assert!(ends[1] > ends[2] && ends[2] > ends[3], "{ends:?}");
    let continuous =
        epsilon(&Event::Laplace { noise_multiplier: NoiseMultiplier::new(10.0).unwrap() }, 100, 1e-6).upper;
    assert!(ends[3] >= continuous * (1.0 - 1e-6) && ends[3] < 1.001 * continuous, "{ends:?} {continuous}");
    // So many atoms that they are split between the points of a grid.
    let many = epsilon(&laplace(Some(1 << 20)), 100, 1e-6).upper;
    assert!(many >= continuous * (1.0 - 1e-4) && many < 1.001 * continuous, "{many} {continuous}");
    let mut renyi = Accountant::new(Neighboring::AddRemove, CompositionMethod::Rdp);
    renyi.compose(&laplace(Some(50)), 100).unwrap();
    let renyi = renyi.epsilon(Delta::new(1e-6).unwrap()).unwrap().upper;
    assert!(renyi >= ends[3] && renyi < 1.15 * ends[3], "{renyi} {ends:?}");
}
