use super::*;
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{Event, Neighboring, NoiseMultiplier};

/// Members score above non-members but for every tenth pair of records.
fn separated(count: usize) -> Membership {
    let member = |i: usize| i.is_multiple_of(2);
    let score = |i: usize| {
        let turned = (i / 2) % 10 == 9;
        let size = 1.0 + (i as f64 * 0.618_033_988_749_895).fract();
        if member(i) != turned { size } else { -size }
    };
    Membership::new((0..count).map(score).collect(), (0..count).map(member).collect()).unwrap()
}

const METHODS: [BoundMethod<'static>; 5] = [
    BoundMethod::OneRun,
    BoundMethod::FDp(Tradeoff::Approximate),
    BoundMethod::FDp(Tradeoff::Gaussian),
    BoundMethod::ClopperPearson,
    BoundMethod::Gaussian,
];

/// Trade-off curves take no number of guesses that hangs on the scores.
fn is_refused(method: BoundMethod<'_>, selection: ThresholdSelection) -> bool {
    matches!((method, selection), (BoundMethod::FDp(_), ThresholdSelection::HeldOut { .. }))
}

#[test]
fn every_method_finds_a_leak_and_says_how() {
    let data = separated(2000);
    for method in METHODS {
        for selection in [
            ThresholdSelection::default(),
            ThresholdSelection::Grid,
            ThresholdSelection::Declared { share: 0.3 },
        ] {
            let settings = BoundSettings { selection, ..BoundSettings::new(1e-5, "k") };
            if is_refused(method, selection) {
                assert!(matches!(lower(&data, method, &settings), Err(AuditError::Invalid(_))));
                continue;
            }
            let found = lower(&data, method, &settings).unwrap();
            // Nine of ten guesses are right.
            let grid_of_ranks = matches!(method, BoundMethod::ClopperPearson | BoundMethod::Gaussian);
            if !grid_of_ranks || selection == ThresholdSelection::default() {
                assert!(found.value > 1.5, "{method:?} {selection:?}: {found:?}");
            }
            assert_eq!((found.delta, found.confidence), (1e-5, 0.95));
            assert!(!found.method.is_empty() && !found.correction.is_empty() && !found.premise.is_empty());
            assert!(!found.counts.is_empty());
            assert_eq!(lower(&data, method, &settings).unwrap(), found);
        }
    }
}

#[test]
fn one_run_bounds_stay_below_the_odds_of_right_guesses() {
    let selection = ThresholdSelection::HeldOut { share: 0.1 };
    let settings = BoundSettings { selection, ..BoundSettings::new(0.0, "k") };
    let found = lower(&separated(2000), BoundMethod::OneRun, &settings).unwrap();
    let (right, made) = (found.counts["correct"] as f64, found.counts["guesses"] as f64);
    assert!(found.value < (right / (made - right)).ln() && found.value > 1.8, "{found:?}");
    let p = p_value(found.value, 0.0, 2000, made as u64, right as u64);
    assert!(p < 0.05 && p > 0.0499, "{p}");
}

/// A member first in the file must not be favoured by ties.
#[test]
fn ties_do_not_tell_members_by_their_place() {
    let members: Vec<bool> = (0..2000).map(|i| i < 1000).collect();
    let scores = (0..2000).map(|i| if i % 500 == 0 { f64::INFINITY } else { 0.0 }).collect();
    let data = Membership::new(scores, members).unwrap();
    for method in METHODS {
        for selection in [
            ThresholdSelection::default(),
            ThresholdSelection::Grid,
            ThresholdSelection::Declared { share: 0.3 },
        ] {
            if is_refused(method, selection) {
                continue;
            }
            let settings = BoundSettings { selection, ..BoundSettings::new(1e-5, "ties") };
            assert_eq!(lower(&data, method, &settings).unwrap().value, 0.0, "{method:?} {selection:?}");
        }
    }
}

#[test]
fn a_declared_family_of_gaussian_accounts_is_the_gaussian_family() {
    let data = separated(300);
    let settings = BoundSettings {
        selection: ThresholdSelection::Declared { share: 0.3 },
        ..BoundSettings::new(1e-5, "k")
    };
    let family = AccountedFamily::new("Gaussian noise of some multiplier", 16.0, |size: f64| {
        let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
        account.compose(&Event::Gaussian { noise_multiplier: NoiseMultiplier::new(1.0 / size)? }, 1)?;
        Ok(account)
    })
    .unwrap();
    let declared = lower(&data, BoundMethod::FDp(Tradeoff::Declared(&family)), &settings).unwrap();
    let gaussian = lower(&data, BoundMethod::FDp(Tradeoff::Gaussian), &settings).unwrap();
    assert!(declared.premise.contains("Gaussian noise of some multiplier"));
    // Fewer supporting lines than the curve has: a little below, never above.
    assert!(declared.value <= gaussian.value + 1e-6, "{} {}", declared.value, gaussian.value);
    assert!(declared.value > 0.93 * gaussian.value, "{} {}", declared.value, gaussian.value);
}

#[test]
fn what_cannot_be_said_is_refused() {
    let data = separated(100);
    let base = BoundSettings::new(1e-5, "k");
    for settings in [
        BoundSettings { delta: 1.0, ..base.clone() },
        BoundSettings { confidence: 0.3, ..base.clone() },
        BoundSettings { confidence: f64::NAN, ..base.clone() },
        BoundSettings { inclusion: 0.0, ..base.clone() },
        BoundSettings { selection: ThresholdSelection::HeldOut { share: 1.0 }, ..base.clone() },
        BoundSettings { selection: ThresholdSelection::Declared { share: 0.0 }, ..base.clone() },
    ] {
        assert!(
            matches!(lower(&data, BoundMethod::OneRun, &settings), Err(AuditError::Invalid(_))),
            "{settings:?}"
        );
    }
    let pure = BoundSettings { delta: 0.0, ..base.clone() };
    for method in [BoundMethod::Gaussian, BoundMethod::FDp(Tradeoff::Gaussian)] {
        assert!(matches!(lower(&data, method, &pure), Err(AuditError::Invalid(_))));
    }
    let uneven = BoundSettings { inclusion: 0.9, ..base.clone() };
    assert!(matches!(lower(&data, BoundMethod::OneRun, &uneven), Err(AuditError::NotMeasurable(_))));
    assert!(
        AccountedFamily::new("none", f64::NAN, |_| Ok(Accountant::new(
            Neighboring::AddRemove,
            CompositionMethod::Pld
        )))
        .is_err()
    );
}

#[test]
fn few_records_prove_little_but_break_nothing() {
    for count in 2..30 {
        let data = separated(count);
        for method in METHODS {
            for selection in [
                ThresholdSelection::default(),
                ThresholdSelection::HeldOut { share: 0.5 },
                ThresholdSelection::Grid,
                ThresholdSelection::Declared { share: 1.0 },
            ] {
                if is_refused(method, selection) {
                    continue;
                }
                let settings = BoundSettings { selection, ..BoundSettings::new(1e-5, "few") };
                match lower(&data, method, &settings) {
                    Ok(found) => assert!(found.value.is_finite() && found.value >= 0.0 && found.value < 8.0),
                    Err(error) => assert!(matches!(error, AuditError::NotMeasurable(_)), "{error}"),
                }
            }
        }
    }
}

/// A label-only attack of two levels and a tree of three: jitter of a millionth gives a bound, so ties may not take it away.
#[test]
fn tied_scores_are_as_good_as_jittered_ones() {
    let uniform =
        |what: &str, row: usize| (guess::hash("ties", what, row) >> 11) as f64 / (1u64 << 53) as f64;
    for levels in [2_usize, 3] {
        let members: Vec<bool> = (0..2000).map(|row| uniform("coin", row) < 0.5).collect();
        // Members are at the top level but for 5 %, non-members at the bottom but for 5 %; with three, half are in between.
        let level = |row: usize| {
            let right = uniform("right", row) < 0.95;
            match levels {
                3 if uniform("middle", row) < 0.5 => 0.0,
                _ => {
                    if right == members[row] {
                        1.0
                    } else {
                        -1.0
                    }
                }
            }
        };
        let tied = Membership::new((0..2000).map(level).collect(), members.clone()).unwrap();
        let jittered = (0..2000).map(|row| level(row) + 1e-6 * uniform("jitter", row)).collect();
        let jittered = Membership::new(jittered, members.clone()).unwrap();
        for method in METHODS {
            for selection in [ThresholdSelection::BySize, ThresholdSelection::Declared { share: 0.1 }] {
                let settings =
                    BoundSettings { selection, fresh: Some(7), ..BoundSettings::new(1e-5, "jitter") };
                let of = |data: &Membership| lower(data, method, &settings).unwrap().value;
                let (tied, jittered) = (of(&tied), of(&jittered));
                println!(
                    "{levels} levels, {method:?}, {selection:?}: {tied:.3} tied, {jittered:.3} jittered"
                );
                assert!(
                    tied > 0.85 * jittered - 0.05,
                    "{levels} {method:?} {selection:?}: {tied} {jittered}"
                );
            }
        }
        // Without fresh bits a fixed number of guesses still claims nothing from ties.
        let fixed = ThresholdSelection::Declared { share: 0.1 };
        let settings = BoundSettings { selection: fixed, ..BoundSettings::new(1e-5, "jitter") };
        assert_eq!(lower(&tied, BoundMethod::OneRun, &settings).unwrap().value, 0.0);
    }
}
