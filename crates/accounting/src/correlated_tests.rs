use super::*;

fn part(times: u64, separation: u64) -> Participation {
    Participation { times, separation }
}

/// C as rows.
fn dense(factor: &BandedFactor) -> Vec<Vec<f64>> {
    let (steps, c) = (factor.steps() as usize, factor.coefficients());
    let entry = |i: usize, j: usize| if i >= j && i - j < c.len() { c[i - j] } else { 0.0 };
    (0..steps).map(|i| (0..steps).map(|j| entry(i, j)).collect()).collect()
}

/// ‖C·x‖₂ for the steps of a unit that adds ±1.
fn moved(matrix: &[Vec<f64>], added: &[f64]) -> f64 {
    let row = |row: &Vec<f64>| row.iter().zip(added).map(|(c, x)| c * x).sum::<f64>().powi(2);
    matrix.iter().map(row).sum::<f64>().sqrt()
}

/// The largest over all patterns of steps and signs.
fn brute(factor: &BandedFactor, participation: Participation) -> f64 {
    let (steps, matrix) = (factor.steps() as u32, dense(factor));
    let mut most: f64 = 0.0;
    for pattern in 1u32..1 << steps {
        let places: Vec<u32> = (0..steps).filter(|t| pattern >> t & 1 == 1).collect();
        let is_apart = places.windows(2).all(|pair| u64::from(pair[1] - pair[0]) >= participation.separation);
        if places.len() as u64 > participation.times || !is_apart {
            continue;
        }
        for signs in 0u32..1 << places.len() {
            let mut added = vec![0.0; steps as usize];
            for (i, place) in places.iter().enumerate() {
                added[*place as usize] = if signs >> i & 1 == 1 { 1.0 } else { -1.0 };
            }
            most = most.max(moved(&matrix, &added));
        }
    }
    most
}

#[test]
fn the_sensitivity_is_the_largest_over_all_patterns() {
    for steps in [1, 2, 5, 9, 10] {
        for bands in 1..=steps.min(5) {
            for separation in bands..=steps.min(bands + 3) {
                for times in 1..=4 {
                    let factor = BandedFactor::square_root(bands, steps).unwrap();
                    let other =
                        BandedFactor::new((0..bands).map(|d| 1.5 - 0.9 * d as f64).collect(), steps).unwrap();
                    for factor in [factor, other] {
                        let found = factor.sensitivity(part(times, separation)).unwrap();
                        let truth = brute(&factor, part(times, separation));
                        let what = format!("{bands} of {steps}, {times} times {separation} apart");
                        assert!(found >= truth && found <= truth * (1.0 + 1e-7), "{what}: {found} {truth}");
                    }
                }
            }
        }
    }
}

/// Steps that are closer than the bands overlap: their columns are not orthogonal, and what the proof says is not true of them.
#[test]
fn steps_that_are_too_close_are_refused_with_reason() {
    let factor = BandedFactor::square_root(4, 10).unwrap();
    assert!(factor.sensitivity(part(3, 3)).is_err());
    let orthogonal = 3f64.sqrt();
    assert!(brute(&factor, part(3, 3)) > orthogonal * 1.01);
    assert!(factor.sensitivity(part(0, 4)).is_err());
    assert!(BandedFactor::square_root(0, 10).is_err());
    assert!(BandedFactor::square_root(11, 10).is_err());
    assert!(BandedFactor::square_root(1, 0).is_err());
    assert!(BandedFactor::new(vec![0.0, 1.0], 10).is_err());
    assert!(BandedFactor::new(vec![1.0, f64::NAN], 10).is_err());
}

#[test]
fn one_band_is_independent_noise() {
    let factor = BandedFactor::square_root(1, 100).unwrap();
    assert_eq!(factor.coefficients(), [1.0]);
    let noise = NoiseMultiplier::new(2.0).unwrap();
    let Event::Gaussian { noise_multiplier } = factor.event(noise, part(4, 25)).unwrap() else { panic!() };
    assert!(noise_multiplier.get() <= 1.0 && noise_multiplier.get() > 1.0 - 1e-7);
    // Running sums of 1, …, 100 independent variances, four participations.
    let variance = factor.running_sum_variance(part(4, 25)).unwrap();
    assert!((variance / (4.0 * 50.5) - 1.0).abs() < 1e-6, "{variance}");
}

/// Correlated noise has less of it in running sums at the same cost, the more bands the less.
#[test]
fn bands_make_running_sums_less_noisy() {
    let at =
        |bands| BandedFactor::square_root(bands, 400).unwrap().running_sum_variance(part(4, 100)).unwrap();
    let found: Vec<f64> = [1, 2, 5, 20, 100].map(at).to_vec();
    assert!(found.windows(2).all(|pair| pair[1] < pair[0]), "{found:?}");
    assert!(found[4] < 0.15 * found[0], "{found:?}");
}

/// The noise that the coefficients describe is C⁻¹Z.
#[test]
fn the_recursion_inverts_the_factor() {
    let factor = BandedFactor::square_root(4, 12).unwrap();
    let fresh: Vec<f64> = (0..12).map(|t| (f64::from(t) * 1.7).sin()).collect();
    let c = factor.coefficients();
    let mut noise: Vec<f64> = Vec::new();
    for t in 0..12 {
        let past: f64 = (1..c.len().min(t + 1)).map(|d| c[d] * noise[t - d]).sum();
        noise.push((fresh[t] - past) / c[0]);
    }
    for (row, wanted) in dense(&factor).iter().zip(&fresh) {
        let found: f64 = row.iter().zip(&noise).map(|(c, n)| c * n).sum();
        assert!((found - wanted).abs() < 1e-12);
    }
}
