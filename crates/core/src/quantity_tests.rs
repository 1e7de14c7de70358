use super::*;
use proptest::prelude::*;

#[test]
fn nonsense_is_refused_and_the_field_is_named() {
    let cases: [(Result<f64, InvalidValue>, &str); 14] = [
        (Epsilon::new(f64::NAN).map(f64::from), "epsilon"),
        (Epsilon::new(-0.1).map(f64::from), "epsilon"),
        (Epsilon::new(f64::INFINITY).map(f64::from), "epsilon"),
        (Delta::new(1.0).map(f64::from), "delta"),
        (Delta::new(-1e-300).map(f64::from), "delta"),
        (Delta::new(f64::NAN).map(f64::from), "delta"),
        (SamplingRate::new(1.0 + f64::EPSILON).map(f64::from), "sampling_rate"),
        (SamplingRate::new(-0.5).map(f64::from), "sampling_rate"),
        (NoiseMultiplier::new(0.0).map(f64::from), "noise_multiplier"),
        (NoiseMultiplier::new(f64::INFINITY).map(f64::from), "noise_multiplier"),
        (Rho::new(f64::NAN).map(f64::from), "rho"),
        (Scale::new(f64::INFINITY).map(f64::from), "scale"),
        (Sensitivity::new(0.0).map(f64::from), "sensitivity"),
        (Order::new(0.5).map(f64::from), "order"),
    ];
    for (result, field) in cases {
        let error = result.unwrap_err();
        assert_eq!(error.field, field);
        assert!(error.to_string().starts_with(field) && error.to_string().contains("give a"), "{error}");
    }
}

#[test]
fn zero_epsilon_cannot_calibrate() {
    assert!(Epsilon::new(0.0).unwrap().positive().is_err());
    assert_eq!(Epsilon::new(0.25).unwrap().positive().unwrap(), 0.25);
}

#[test]
fn json_goes_through_the_check() {
    assert_eq!(serde_json::from_str::<Delta>("0.5").unwrap().get(), 0.5);
    let message = serde_json::from_str::<Delta>("1.5").unwrap_err().to_string();
    assert!(message.contains("delta = 1.5"), "{message}");
}

proptest! {
    #[test]
    fn every_accepted_value_is_in_range(v in any::<f64>()) {
        if let Ok(d) = Delta::new(v) { prop_assert!(d.get() >= 0.0 && d.get() < 1.0); }
        if let Ok(e) = Epsilon::new(v) { prop_assert!(e.get() >= 0.0 && e.get().is_finite()); }
        if let Ok(s) = Scale::new(v) { prop_assert!(s.get() > 0.0 && s.get().is_finite()); }
    }
}
