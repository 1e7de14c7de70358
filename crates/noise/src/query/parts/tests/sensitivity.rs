//! How far units move sums, by trying all of them, and by random people with many rows.

use super::{Sequence, all_parts, column};
use crate::Mechanism;
use crate::query::parts::release::Law;
use crate::query::parts::{
    ContributionLimits, Part, PartMechanism, PartNoise, PartSensitivity, RowValue, release_part,
};
use crate::{NoiseError, NoiseSession};
use reticent_core::{Epsilon, Event, Neighboring, NoiseMultiplier};

const BOTH: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];

/// A unit: the values of its rows, group by group.
type Unit = Vec<Vec<RowValue>>;

fn limits(rows_per_group: u64, groups: u64, rows: Option<u64>) -> ContributionLimits {
    ContributionLimits::new(rows_per_group, groups, rows).unwrap()
}

fn small_limits() -> Vec<ContributionLimits> {
    [
        (1, 1, None),
        (2, 1, None),
        (1, 2, None),
        (2, 2, None),
        (2, 2, Some(3)),
        (3, 2, Some(4)),
        (2, 3, Some(5)),
    ]
    .map(|(m, k, rows)| limits(m, k, rows))
    .to_vec()
}

/// Adds a unit's rows, as whoever gathers them does.
fn add_unit(part: &Part, unit: &Unit, sums: &mut [i128]) {
    let width = part.gathered_width();
    for (group, rows) in unit.iter().enumerate() {
        let sums = &mut sums[group * width..(group + 1) * width];
        match part {
            Part::People if !rows.is_empty() => part.add(sums, RowValue::Present),
            Part::People => {}
            Part::PersonSum(_) if !rows.is_empty() => {
                let number = |row: &RowValue| if let RowValue::Number(value) = row { *value } else { 0.0 };
                part.add_total(sums, rows.iter().map(|row| part.steps(number(row))).sum());
            }
            Part::PersonSum(_) => {}
            _ => rows.iter().for_each(|row| part.add(sums, *row)),
        }
    }
}

/// The settled sums of several units.
fn settled(part: &Part, units: &[&Unit], groups: usize) -> Vec<i128> {
    let width = part.gathered_width();
    let mut sums = vec![0; width * groups];
    units.iter().for_each(|unit| add_unit(part, unit, &mut sums));
    sums.chunks(width).flat_map(|group| part.settled(group)).collect()
}

/// All lists of at most `most` values, in rising order of their index.
fn multisets(values: &[RowValue], most: u64) -> Vec<Vec<RowValue>> {
    let mut all = vec![(vec![], 0)];
    let mut from = 0;
    for _ in 0..most {
        let to = all.len();
        for i in from..to {
            let (list, first): (Vec<RowValue>, usize) = all[i].clone();
            for (index, value) in values.iter().enumerate().skip(first) {
                all.push(([list.clone(), vec![*value]].concat(), index));
            }
        }
        from = to;
    }
    all.into_iter().map(|(list, _)| list).collect()
}

/// Every unit that keeps to the limits.
fn all_units(values: &[RowValue], limits: &ContributionLimits, groups: usize) -> Vec<Unit> {
    let options = multisets(values, limits.rows_per_group());
    let mut units: Vec<(Unit, u64, u64)> = vec![(vec![], 0, 0)];
    for _ in 0..groups {
        let mut next = Vec::new();
        for (unit, used, rows) in &units {
            for option in &options {
                let (used, rows) = (used + u64::from(!option.is_empty()), rows + option.len() as u64);
                if used <= limits.groups() && rows <= limits.rows() {
                    next.push(([unit.clone(), vec![option.clone()]].concat(), used, rows));
                }
            }
        }
        units = next;
    }
    units.into_iter().map(|(unit, _, _)| unit).collect()
}

/// The largest ℓ1 distance and squared ℓ2 distance over neighbouring tables. A distinct count also depends on the others.
fn moved(part: &Part, units: &[Unit], neighboring: Neighboring, groups: usize) -> (u128, f64) {
    let mut worst = (0, 0.0);
    let others: Vec<Unit> = match part {
        Part::Distinct(_) => vec![vec![vec![]; groups], vec![vec![RowValue::Cell(1)]; groups]],
        _ => vec![vec![vec![]; groups]],
    };
    for other in &others {
        let without = settled(part, &[other], groups);
        let with: Vec<Vec<i128>> = units.iter().map(|unit| settled(part, &[other, unit], groups)).collect();
        let mut compare = |a: &[i128], b: &[i128]| {
            let gaps = || a.iter().zip(b).map(|(x, y)| x.abs_diff(*y));
            let squares: f64 = gaps().map(|gap| gap as f64 * gap as f64).sum();
            worst = (gaps().sum::<u128>().max(worst.0), squares.max(worst.1));
        };
        for a in &with {
            match neighboring {
                Neighboring::AddRemove => compare(a, &without),
                Neighboring::ReplaceOne => with.iter().for_each(|b| compare(a, b)),
            }
        }
    }
    worst
}

fn holds(declared: PartSensitivity, moved: (u128, f64)) -> bool {
    moved.0 <= u128::from(declared.l1) && moved.1.sqrt() <= declared.l2 * (1.0 + 1e-12)
}

/// Few enough units to try all pairs.
const FEW: usize = 420;

#[test]
fn no_unit_moves_sums_further_than_declared_and_some_move_them_as_far() {
    let mut tried = 0;
    for (part, values) in all_parts() {
        for limits in small_limits() {
            for groups in 1..=4 {
                let units = all_units(&values, &limits, groups);
                if units.len() > FEW {
                    continue;
                }
                for neighboring in BOTH {
                    let declared = part.sensitivity(&limits, neighboring, groups as u64).unwrap();
                    let moved = moved(&part, &units, neighboring, groups);
                    let what = format!("{part:?} {limits:?} {neighboring} {groups}: {declared:?} {moved:?}");
                    assert!(holds(declared, moved), "{what}");
                    assert_eq!(u128::from(declared.l1), moved.0, "not exact: {what}");
                    assert!((moved.1.sqrt() / declared.l2 - 1.0).abs() < 1e-12, "not exact: {what}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn broken_twins_are_caught_for_every_part() {
    for (part, values) in all_parts() {
        let mut caught = [false; 3];
        for limits in small_limits() {
            for groups in 1..=3 {
                let units = all_units(&values, &limits, groups);
                if units.len() > FEW {
                    continue;
                }
                let one_group = ContributionLimits::new(limits.rows_per_group(), 1, None).unwrap();
                let add_remove = Neighboring::AddRemove;
                // √k forgotten, or k.
                let forgotten = part.sensitivity(&one_group, add_remove, groups as u64).unwrap();
                caught[0] |= !holds(forgotten, moved(&part, &units, add_remove, groups));
                // Replace-one with the sensitivity of add-remove.
                let halved = part.sensitivity(&limits, add_remove, groups as u64).unwrap();
                caught[1] |= !holds(halved, moved(&part, &units, Neighboring::ReplaceOne, groups));
                // Bounding after summing: a unit's rows are all added up, and the limits come too late.
                let late =
                    ContributionLimits::new(limits.rows_per_group() + 1, limits.groups() + 1, None).unwrap();
                let unbounded = all_units(&values, &late, groups.min(2));
                if unbounded.len() <= FEW {
                    let declared = part.sensitivity(&limits, add_remove, groups.min(2) as u64).unwrap();
                    caught[2] |= !holds(declared, moved(&part, &unbounded, add_remove, groups.min(2)));
                }
            }
        }
        assert_eq!(caught, [true; 3], "{part:?}");
    }
}

/// People of 1 to 10 000 rows, most with few.
fn person(values: &[RowValue], groups: usize, random: &mut Sequence) -> Vec<(usize, RowValue)> {
    let rows = 10f64.powf(4.0 * random.share()).ceil() as u64;
    (0..rows)
        .map(|_| (random.below(groups as u64) as usize, values[random.below(values.len() as u64) as usize]))
        .collect()
}

/// The rows of a person within the limits: a function of that person's rows alone.
fn bounded(rows: &[(usize, RowValue)], limits: &ContributionLimits, groups: usize) -> Unit {
    let mut unit: Unit = vec![vec![]; groups];
    let mut left = limits.rows();
    for (group, value) in rows {
        let used = unit.iter().filter(|rows| !rows.is_empty()).count() as u64;
        let opens = unit[*group].is_empty();
        let has_room = (unit[*group].len() as u64) < limits.rows_per_group();
        if left > 0 && has_room && (!opens || used < limits.groups()) {
            unit[*group].push(*value);
            left -= 1;
        }
    }
    unit
}

fn noises() -> [PartNoise; 2] {
    [
        PartNoise::Laplace { epsilon: Epsilon::new(1.0).unwrap() },
        PartNoise::Gaussian { noise_multiplier: NoiseMultiplier::new(2.0).unwrap() },
    ]
}

#[test]
fn people_of_up_to_ten_thousand_rows_stay_within_the_sensitivity_and_late_bounding_does_not() {
    let mut random = Sequence(7);
    let groups = 5;
    for (part, values) in all_parts() {
        let mut late = 0;
        for limits in [limits(1, 1, None), limits(3, 2, None), limits(20, 4, Some(50)), limits(500, 5, None)]
        {
            let people: Vec<Vec<(usize, RowValue)>> =
                (0..6).map(|_| person(&values, groups, &mut random)).collect();
            let units: Vec<Unit> = people.iter().map(|rows| bounded(rows, &limits, groups)).collect();
            let unbounded = ContributionLimits::new(1 << 20, 1 << 20, None).unwrap();
            let all: Vec<Unit> = people.iter().map(|rows| bounded(rows, &unbounded, groups)).collect();
            for neighboring in BOTH {
                for noise in noises() {
                    let mechanism = PartMechanism::new(&part, &limits, neighboring, &noise, groups).unwrap();
                    let table = |units: &[Unit], kept: std::ops::Range<usize>| {
                        let kept: Vec<&Unit> = units[kept].iter().collect();
                        settled(&part, &kept, groups)
                    };
                    // Person 5 leaves; or becomes person 0.
                    let gap = |units: &[Unit]| match neighboring {
                        Neighboring::AddRemove => {
                            mechanism.distance(&table(units, 0..6), &table(units, 0..5))
                        }
                        Neighboring::ReplaceOne => {
                            mechanism.distance(&table(units, 1..6), &table(units, 0..5))
                        }
                    };
                    assert!(gap(&units) <= 1.0 + 1e-9, "{part:?} {limits:?} {neighboring} {}", gap(&units));
                    late += u32::from(gap(&all) > 1.0);
                }
            }
        }
        // With at most 3 values a distinct count cannot tell more than 3 rows; the small parts still catch it.
        assert!(
            late > 0 || matches!(part, Part::Distinct(_) | Part::PersonSum(_) | Part::People),
            "{part:?}"
        );
    }
}

#[test]
fn known_sensitivities() {
    let rows = |limits: &ContributionLimits, neighboring, groups| {
        let s = Part::Rows.sensitivity(limits, neighboring, groups).unwrap();
        (s.l1, (s.l2 * s.l2).round())
    };
    let (add_remove, replace) = (Neighboring::AddRemove, Neighboring::ReplaceOne);
    assert_eq!(rows(&ContributionLimits::ROW, add_remove, 100), (1, 1.0));
    // One group: a count moves by 1 also when a row is replaced; with more groups it leaves one and enters another.
    assert_eq!(rows(&ContributionLimits::ROW, replace, 1), (1, 1.0));
    assert_eq!(rows(&ContributionLimits::ROW, replace, 100), (2, 2.0));
    // 3 rows in each of 4 groups: 12 rows, √(4·9); 7 rows in all: 3 + 3 + 1.
    assert_eq!(rows(&limits(3, 4, None), add_remove, 100), (12, 36.0));
    assert_eq!(rows(&limits(3, 4, Some(7)), add_remove, 100), (7, 19.0));
    assert_eq!(rows(&limits(3, 4, None), add_remove, 2), (6, 18.0));
    assert_eq!(rows(&limits(3, 4, None), replace, 100), (24, 72.0));
    assert_eq!(rows(&limits(3, 4, None), replace, 5), (15, 45.0));
    // −4 … 5: two units in the same group are 9 apart, which is more than √2·5.
    let sum = Part::Sum(column(-4.0, 5.0));
    let s = sum.sensitivity(&ContributionLimits::ROW, replace, 10).unwrap();
    assert_eq!((s.l1, s.l2), (10, 9.0));
    let s = Part::People.sensitivity(&limits(50, 4, None), add_remove, 10).unwrap();
    assert_eq!((s.l1, s.l2), (4, 2.0));
    let most = limits(1 << 31, 1 << 31, None);
    assert_eq!(Part::Rows.sensitivity(&most, add_remove, u64::MAX).unwrap().l1, 1 << 62);
    assert!(Part::moments(column(0.0, 1.0), 1).unwrap().sensitivity(&most, add_remove, u64::MAX).is_err());
    // A part that was put together by hand is checked too.
    for bad in [
        Part::Cells(0),
        Part::Distinct(usize::MAX),
        Part::Contingency { sizes: vec![usize::MAX; 3], margins: true },
    ] {
        assert!(bad.sensitivity(&ContributionLimits::ROW, add_remove, 3).is_err());
        assert!(PartMechanism::new(&bad, &ContributionLimits::ROW, add_remove, &noises()[0], 3).is_err());
    }
    for bad in [(0, 1, None), (1, 0, None), (1, 1, Some(0)), ((1 << 31) + 1, 1, None)] {
        assert!(ContributionLimits::new(bad.0, bad.1, bad.2).is_err());
    }
}

#[test]
fn one_event_for_all_groups_says_what_was_asked_for() {
    let part = Part::cells(3).unwrap();
    let limits = limits(2, 3, None);
    for neighboring in BOTH {
        let mut session = NoiseSession::without_limit("patient", neighboring).unwrap();
        for noise in noises() {
            let noisy =
                release_part(&mut session.charging(), &part, &limits, neighboring, &noise, &[5; 12]).unwrap();
            assert_eq!((noisy.groups(), noisy.group(3).len(), noisy.group(4).len()), (4, 3, 0));
            match (noise, noisy.event()) {
                (PartNoise::Laplace { .. }, Event::DiscreteLaplace { noise_multiplier, sensitivity }) => {
                    assert!((noise_multiplier.get() - 1.0).abs() < 1e-12);
                    assert_eq!(sensitivity, Some(if neighboring == Neighboring::AddRemove { 6 } else { 12 }));
                }
                (PartNoise::Gaussian { .. }, Event::Gaussian { noise_multiplier }) => {
                    assert_eq!(noise_multiplier.get(), 2.0);
                }
                (_, event) => panic!("{event:?}"),
            }
            let other = match neighboring {
                Neighboring::AddRemove => Neighboring::ReplaceOne,
                Neighboring::ReplaceOne => Neighboring::AddRemove,
            };
            let refused = release_part(&mut session.charging(), &part, &limits, other, &noise, &[5; 12]);
            assert!(matches!(refused, Err(NoiseError::Relation { .. })));
            assert!(
                release_part(&mut session.charging(), &part, &limits, neighboring, &noise, &[5; 4]).is_err()
            );
            assert!(release_part(&mut session.charging(), &part, &limits, neighboring, &noise, &[]).is_err());
        }
    }
    // Moments with so many rows that Gaussian noise is coarser than 1: the event still has what was asked for.
    let moments = Part::moments(column(0.0, 1.0), 2).unwrap();
    let many = ContributionLimits::new(10_000, 100, None).unwrap();
    for multiplier in [0.3, 1.0, 50.0] {
        let noise_multiplier = NoiseMultiplier::new(multiplier).unwrap();
        let noise = PartNoise::Gaussian { noise_multiplier };
        let mechanism = PartMechanism::new(&moments, &many, Neighboring::ReplaceOne, &noise, 1000).unwrap();
        assert_eq!(mechanism.event(), Event::Gaussian { noise_multiplier });
        // What is drawn has at least that.
        let Law::Gaussian(drawn) = mechanism.law() else { panic!() };
        let Event::Gaussian { noise_multiplier } = drawn.event() else { panic!() };
        assert!(noise_multiplier.get() >= multiplier && noise_multiplier.get() < multiplier * (1.0 + 1e-5));
    }
    let too_many = ContributionLimits::new(1 << 21, 1 << 21, None).unwrap();
    assert!(PartMechanism::new(&moments, &too_many, Neighboring::AddRemove, &noises()[0], 1 << 21).is_err());
}

#[test]
fn values_of_another_kind_add_nothing_and_odd_numbers_are_clamped() {
    for (part, _) in all_parts() {
        let mut sums = vec![0; part.gathered_width()];
        part.add(&mut sums, RowValue::Cell(usize::MAX));
        if !matches!(part, Part::Rows | Part::People) {
            assert!(sums.iter().all(|sum| *sum == 0), "{part:?}");
        }
        let mut short = vec![0; part.gathered_width() + 1];
        part.add(&mut short, RowValue::Present);
        assert!(short.iter().all(|sum| *sum == 0));
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0, 5e-324] {
            let mut sums = vec![0; part.gathered_width()];
            part.add(&mut sums, RowValue::Number(odd));
            part.add(&mut sums, RowValue::Numbers(odd, odd));
            if let Part::Moments { .. } | Part::Joint(..) = part {
                assert_eq!(sums.iter().sum::<i128>(), 1 << 32, "{part:?} {odd}");
                assert!(sums.iter().all(|sum| *sum >= 0));
            }
        }
    }
}
