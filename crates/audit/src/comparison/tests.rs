use super::*;
use reticent_accounting::certify;
use reticent_core::{Event, NoiseMultiplier};
use std::collections::BTreeMap;

fn certificate(unit: &str, neighboring: Neighboring, noise: f64, delta: f64) -> Certificate {
    let events = vec![Event::Gaussian { noise_multiplier: NoiseMultiplier::new(noise).unwrap() }];
    let log = EventLog { neighboring, events };
    certify(unit, log, Delta::new(delta).unwrap(), "pld", Vec::new()).unwrap()
}

fn lower(
    value: f64,
    delta: f64,
    unit: AuditUnit,
    unit_records: u64,
    relation: Option<Neighboring>,
) -> EpsilonLower {
    EpsilonLower {
        value,
        delta,
        confidence: 0.95,
        method: "one-run".to_owned(),
        correction: String::new(),
        premise: String::new(),
        unit,
        unit_records,
        neighboring: relation,
        counts: BTreeMap::new(),
    }
}

fn upper(certificate: &Certificate, lower: &EpsilonLower) -> Option<f64> {
    match compare(certificate, lower) {
        CertificateComparison::Compared { upper, contradiction, .. } => {
            assert_eq!(contradiction, lower.value > upper);
            Some(upper)
        }
        CertificateComparison::Apart { why } => {
            assert!(!why.is_empty());
            None
        }
    }
}

use Neighboring::{AddRemove, ReplaceOne};

/// Twenty rows of a user, each with ε = 0.5: ε ≥ 2.22 for the user contradicts nothing.
#[test]
fn a_bound_for_users_does_not_contradict_a_certificate_for_rows() {
    let claim = Guarantee::pure(Epsilon::new(0.5).unwrap());
    let rows = Certificate::compose("row", AddRemove, vec![claim.claim()], claim, "stated", Vec::new());
    let users = lower(2.22, 1e-5, AuditUnit::User, 20, Some(AddRemove));
    let found = upper(&rows, &users).unwrap();
    assert!(found > 9.9 && found <= 10.0 + 1e-9, "{found}");
    assert!(!compare(&rows, &users).is_contradiction());
    // The same number about records is a contradiction.
    assert!(compare(&rows, &lower(2.22, 0.0, AuditUnit::Record, 1, Some(AddRemove))).is_contradiction());
}

/// What an earlier answer decided may not be added up again, also not where it happens to add up to what is claimed.
#[test]
fn older_certificates_of_decided_events_are_taken_at_their_claim() {
    let fixed = certificate("row", AddRemove, 2.0, 1e-6);
    let mut text = serde_json::to_value(&fixed).unwrap();
    text["accountant"] = "rows counted with noise, then tight accounting".into();
    text.as_object_mut().unwrap().remove("version");
    let decided: Certificate = serde_json::from_value(text).unwrap();
    let at = |delta: f64| lower(0.5, delta, AuditUnit::Record, 1, Some(AddRemove));
    let claimed = fixed.guarantee.epsilon.get();
    assert!(upper(&fixed, &at(1e-3)).unwrap() < 0.9 * claimed);
    let found = upper(&decided, &at(1e-3)).unwrap();
    // A larger delta gains next to nothing from the claim alone.
    assert!(found > 0.999 * claimed && found <= claimed, "{found} of {claimed}");
    assert_eq!(upper(&decided, &at(1e-9)), None);
}

/// Gaussian noise z for a row is z/k for k rows: the group's ε is that of the smaller noise.
#[test]
fn groups_meet_less_noise() {
    let rows = certificate("row", AddRemove, 10.0, 1e-5);
    let five = certificate("row", AddRemove, 2.0, 1e-5).guarantee.epsilon.get();
    let found = upper(&rows, &lower(1.0, 1e-5, AuditUnit::User, 5, Some(AddRemove))).unwrap();
    assert!((found - five).abs() < 1e-3 * five, "{found} for {five}");
}

#[test]
fn another_delta_is_added_up_again() {
    let rows = certificate("row", AddRemove, 1.0, 1e-5);
    for delta in [1e-9, 1e-7, 1e-3] {
        let truth = certificate("row", AddRemove, 1.0, delta).guarantee.epsilon.get();
        let found = upper(&rows, &lower(1.0, delta, AuditUnit::Record, 1, Some(AddRemove))).unwrap();
        assert!((found - truth).abs() < 1e-9 * truth, "{delta}: {found} for {truth}");
    }
    // Events that do not add up to the claim prove nothing at a smaller δ; at a larger one the claim itself holds.
    let mut other = rows.clone();
    other.guarantee.epsilon = Epsilon::new(2.0 * rows.guarantee.epsilon.get()).unwrap();
    assert_eq!(upper(&other, &lower(1.0, 1e-9, AuditUnit::Record, 1, Some(AddRemove))), None);
    let kept = upper(&other, &lower(1.0, 1e-3, AuditUnit::Record, 1, Some(AddRemove)));
    assert_eq!(kept, Some(other.guarantee.epsilon.get()));
}

#[test]
fn relations_are_compared_by_a_path_or_not_at_all() {
    let removal = certificate("row", AddRemove, 2.0, 1e-6);
    let own = removal.guarantee.epsilon.get();
    // Two steps: twice ε at a δ that is (1 + e^ε) times as large.
    let swapped = upper(&removal, &lower(1.0, 1e-4, AuditUnit::Record, 1, Some(ReplaceOne))).unwrap();
    assert!((swapped - 2.0 * own).abs() < 1e-9, "{swapped}");
    // At the certificate's own δ an earlier one serves; it is no smaller than the truth, Gaussian noise of half the size.
    let truth = certificate("row", ReplaceOne, 1.0, 1e-6).guarantee.epsilon.get();
    let strict = upper(&removal, &lower(1.0, 1e-6, AuditUnit::Record, 1, Some(ReplaceOne))).unwrap();
    assert!(strict > swapped && strict >= truth, "{strict} {truth}");
    let replaced = certificate("row", ReplaceOne, 2.0, 1e-6);
    assert_eq!(upper(&replaced, &lower(9.0, 1e-6, AuditUnit::Record, 1, Some(AddRemove))), None);
    assert!(compare(&replaced, &lower(9.0, 1e-6, AuditUnit::Record, 1, Some(ReplaceOne))).is_contradiction());
}

#[test]
fn units_that_are_not_known_are_not_compared() {
    let (rows, users) = (certificate("row", AddRemove, 2.0, 1e-6), certificate("user", AddRemove, 2.0, 1e-6));
    let own = users.guarantee.epsilon.get();
    let by_user = lower(9.0, 1e-6, AuditUnit::User, 7, Some(AddRemove));
    assert_eq!(upper(&users, &by_user), Some(own));
    let by_record = upper(&users, &lower(1.0, 1e-4, AuditUnit::Record, 1, Some(AddRemove))).unwrap();
    assert!((by_record - 2.0 * own).abs() < 1e-9);
    assert_eq!(upper(&certificate("household", AddRemove, 2.0, 1e-6), &by_user), None);
    assert_eq!(upper(&rows, &lower(9.0, 1e-6, AuditUnit::Unknown, 0, Some(AddRemove))), None);
    assert_eq!(upper(&rows, &lower(9.0, 1e-6, AuditUnit::Unknown, 1, None)), None);
    assert_eq!(upper(&rows, &lower(9.0, 1e-6, AuditUnit::User, 0, Some(AddRemove))), None);
    assert_eq!(upper(&certificate("row", ReplaceOne, 2.0, 1e-6), &by_user), None);
}
