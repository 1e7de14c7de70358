//! Reference values: mpmath with 60 digits.

use super::*;
use proptest::prelude::*;

/// (ε, z, δ)
const DELTAS: &[(f64, f64, f64)] = &[
    (1.0, 1.0, 0.12693673750664394),
    (2.0, 5.0, 4.043703566764897e-25),
    (0.1, 10.0, 0.008751768145809594),
    (0.5, 0.5, 0.5991856185339333),
    (8.0, 0.3, 0.16059606293472958),
    (0.0, 1.0, 0.3829249225480262),
    (0.0, 1000000.0, 3.9894228040141607e-07),
    (0.001, 10000.0, 7.478298460019527e-29),
    (1e-06, 100000.0, 3.5093550667078477e-06),
    (3.0, 3.0, 1.8050275912035656e-20),
    (0.01, 700.0, 2.527356067703536e-16),
    (20.0, 0.2, 0.047322964188519626),
    (50.0, 0.1, 0.46049330589861376),
    (1.0, 12.0, 2.0049407551697165e-35),
    (0.25, 60.0, 4.581586578048616e-54),
    (5.0, 1.0, 5.793721691919494e-07),
    (100.0, 0.05, 0.9999996146685565),
    (1e-09, 10000000.0, 3.939622275462094e-08),
    (4.0, 8.0, 1.5675439986317024e-226),
];

/// (ε, δ, z)
const MULTIPLIERS: &[(f64, f64, f64)] = &[
    (1.0, 1e-05, 3.730631634815942),
    (0.1, 1e-06, 36.30469042619578),
    (8.0, 1e-05, 0.6002290721989516),
    (0.5, 1e-10, 11.436239995092029),
    (3.0, 0.01, 0.8259921380656077),
    (0.001, 1e-08, 3619.1520805598607),
    (20.0, 1e-06, 0.3090846812188596),
    (1.0, 1e-30, 11.083102948976993),
    (0.01, 1e-12, 578.9978670614141),
];

fn epsilon(v: f64) -> Epsilon {
    Epsilon::new(v).unwrap()
}

fn multiplier(v: f64) -> NoiseMultiplier {
    NoiseMultiplier::new(v).unwrap()
}

#[test]
fn deltas_bracket_the_reference_closely() {
    for &(e, z, exact) in DELTAS {
        let (down, up) =
            (gaussian_delta_down(epsilon(e), multiplier(z)), gaussian_delta_up(epsilon(e), multiplier(z)));
        assert!(down <= exact && exact <= up, "ε {e} z {z}: {down} {exact} {up}");
        // Cancellation costs a factor of about z when the noise is large.
        assert!(up - down <= 1e-9 * exact * z.max(1.0) + 1e-300, "ε {e} z {z}: {down} {exact} {up}");
    }
}

#[test]
fn multipliers_are_never_below_the_reference() {
    for &(e, d, exact) in MULTIPLIERS {
        let z = gaussian_noise_multiplier_up(epsilon(e), Delta::new(d).unwrap()).unwrap().get();
        assert!(z >= exact && z <= exact * (1.0 + 1e-9), "ε {e} δ {d}: {z} {exact}");
        let back = gaussian_epsilon_up(multiplier(z), Delta::new(d).unwrap()).unwrap().get();
        assert!((back - e).abs() <= 1e-9 * e.max(1.0), "ε {e} δ {d}: {back}");
    }
}

#[test]
fn zero_delta_is_refused() {
    assert!(gaussian_noise_multiplier_up(epsilon(1.0), Delta::ZERO).is_err());
    assert!(gaussian_epsilon_up(multiplier(1.0), Delta::ZERO).is_err());
}

#[test]
fn tiny_noise_is_never_free() {
    for z in [1e-3, 1e-20, 1e-100, 1e-160, 1e-300, 5e-324] {
        if let Ok(e) = gaussian_epsilon_up(multiplier(z), Delta::new(1e-5).unwrap()) {
            assert!(e.get() > 0.4 / z / z || e.get() > 1e290, "z {z}: {e}");
        }
        assert_eq!(gaussian_delta_up(epsilon(1.0), multiplier(z)), 1.0);
    }
}

proptest! {
    #[test]
    fn profile_is_sane_everywhere(e in 0f64..1e3, log_z in -300f64..300.0) {
        let z = multiplier(10f64.powf(log_z));
        let (down, up) = (gaussian_delta_down(epsilon(e), z), gaussian_delta_up(epsilon(e), z));
        prop_assert!((0.0..=1.0).contains(&down) && (0.0..=1.0).contains(&up) && down <= up);
    }

    #[test]
    fn calibration_never_panics(e in 0f64..1e3, log_d in -300f64..-0.001) {
        if let Ok(z) = gaussian_noise_multiplier_up(epsilon(e), Delta::new(10f64.powf(log_d)).unwrap()) {
            prop_assert!(gaussian_delta_up(epsilon(e), z) <= 10f64.powf(log_d) * (1.0 + 1e-12));
        }
    }
}
