use super::*;
use proptest::prelude::*;

fn membership(members: &[f64], non_members: &[f64]) -> Membership {
    let scores = members.iter().chain(non_members).copied().collect();
    let truth = std::iter::repeat_n(true, members.len()).chain(std::iter::repeat_n(false, non_members.len()));
    Membership::new(scores, truth.collect()).unwrap()
}

fn spread(n: usize, scale: f64, shift: f64) -> Vec<f64> {
    (0..n).map(|i| scale * ((i as f64 * 0.618_033_988_749_895).fract() - 0.5) + shift).collect()
}

#[test]
fn the_area_counts_pairs() {
    let found = measure(&membership(&[3.0, 2.0, 2.0], &[1.0, 2.0]), &MetricSettings::default()).unwrap();
    // Of 6 pairs 4 are right and 2 tied.
    assert!((found.auc.value - 5.0 / 6.0).abs() < 1e-15);
    assert!((found.advantage.value - 0.5).abs() < 1e-15);
    assert!((found.balanced_accuracy.value - 0.75).abs() < 1e-15);
    assert_eq!(found.roc, vec![(0.0, 0.0), (1.0, 1.0)], "a corner would be that of single records");
}

/// Placements by hand: members 1, ¾, ¾ around 5/6 have squares of 1/24 in sum, non-members 1 and ⅔ of 1/18; two units of the
/// variance 5/36 are added to each.
#[test]
fn the_interval_is_that_of_effective_trials() {
    let found = measure(&membership(&[3.0, 2.0, 2.0], &[1.0, 2.0]), &MetricSettings::default()).unwrap().auc;
    let worst = 5.0 / 36.0;
    let side = |squares: f64, fourths: f64, n: f64| {
        let total = squares + 2.0 * worst;
        let carriers = total * total / (fourths + 2.0 * worst * worst);
        (total / (n * (n + 1.0)), (2.0 / (1.0 / carriers - 1.0 / n).max(1e-12)).min(n + 1.0))
    };
    let (a, f) = side(1.0 / 24.0, 1.0 / 36.0_f64.powi(2) + 2.0 / 144.0_f64.powi(2), 3.0);
    let (b, g) = side(1.0 / 18.0, 2.0 / 36.0_f64.powi(2), 2.0);
    let freedom = (a + b) * (a + b) / (a * a / f + b * b / g);
    let ratio = 1.959_963_984_540_054 / interval::student_quantile(0.025, freedom);
    let trials = worst / (a + b) * ratio * ratio;
    let value = 5.0 / 6.0;
    assert!((found.lower - interval::effective_lower(value * trials, trials, 0.025)).abs() < 1e-9);
    assert!((found.upper - interval::effective_upper(value * trials, trials, 0.025)).abs() < 1e-9);
}

#[test]
fn a_perfect_attack_has_an_honest_interval() {
    let found = measure(&membership(&[2.0; 20], &[1.0; 30]), &MetricSettings::default()).unwrap();
    assert_eq!((found.auc.value, found.auc.upper), (1.0, 1.0));
    assert!((found.auc.lower - 0.05_f64.powf(1.0 / 20.0)).abs() < 1e-9);
    let found = measure(&membership(&[1.0; 20], &[2.0; 30]), &MetricSettings::default()).unwrap();
    assert_eq!((found.auc.value, found.auc.lower, found.advantage.value), (0.0, 0.0, 0.0));
    assert!(found.auc.upper < 0.2);
}

#[test]
fn rates_are_told_only_where_false_positives_are_expected() {
    let data = membership(&spread(500, 1.0, 0.3), &spread(1000, 1.0, 0.0));
    let found = measure(&data, &MetricSettings { prior: Some(0.01), ..Default::default() }).unwrap();
    let [tenth, hundredth, thousandth, _] = &found.rates[..] else { panic!("four rates") };
    assert_eq!((tenth.false_positives, hundredth.false_positives), (Some(100), Some(10)));
    let tpr = hundredth.tpr.unwrap();
    assert!(tpr.lower < tpr.value && tpr.value < tpr.upper);
    let ppv = hundredth.ppv.unwrap();
    assert!((ppv.value - 0.01 * tpr.value / (0.01 * tpr.value + 0.99 * 0.01)).abs() < 1e-12);
    assert!(ppv.lower < ppv.value && ppv.value < ppv.upper);
    assert!(thousandth.tpr.is_none());
    assert!(thousandth.reason.as_ref().unwrap().contains("at least 10000"));
}

#[test]
fn a_tied_block_is_crossed_on_a_straight_segment() {
    let mut non_members = vec![0.0; 95];
    non_members.extend([1.0; 15]);
    let data = membership(&[2.0, 1.0, 1.0, 0.0], &non_members);
    let settings = MetricSettings { rates: vec![0.1, 15.0 / 110.0], prior: Some(0.5), ..Default::default() };
    let found = measure(&data, &settings).unwrap();
    // Of the tied block 11 of 15 non-members may be flagged, and so is that share of its two members.
    assert_eq!((found.rates[0].false_positives, found.rates[0].true_positives), (Some(11), Some(2)));
    let tpr = found.rates[0].tpr.unwrap();
    assert!((tpr.value - (1.0 + 2.0 * 11.0 / 15.0) / 4.0).abs() < 1e-12, "{tpr:?}");
    assert_eq!((found.rates[1].false_positives, found.rates[1].true_positives), (Some(15), Some(3)));
    let ppv = found.rates[0].ppv.unwrap();
    assert!((ppv.value - tpr.value / (tpr.value + 0.1)).abs() < 1e-12, "{ppv:?}");
    assert!(ppv.lower < ppv.value && ppv.value < ppv.upper);
}

/// An attack that knows labels only finds the share of members that jitter would find.
#[test]
fn a_label_only_attack_has_a_rate() {
    let scores = |right: usize, n: usize| (0..n).map(|i| f64::from(u8::from(i < right))).collect::<Vec<_>>();
    let data = membership(&scores(950, 1000), &scores(600, 1000));
    let settings = MetricSettings { rates: vec![0.01, 0.1], ..Default::default() };
    let found = measure(&data, &settings).unwrap();
    for (rate, fpr) in found.rates.iter().zip([0.01, 0.1]) {
        let tpr = rate.tpr.unwrap();
        assert!((tpr.value - 0.95 / 0.6 * fpr).abs() < 1e-12, "{tpr:?}");
        assert!(tpr.lower > 0.1 * tpr.value && tpr.upper < 3.0 * tpr.value, "{tpr:?}");
    }
}

#[test]
fn copies_of_a_record_are_no_more_evidence() {
    let (members, non_members) = (spread(40, 1.0, 0.2), spread(400, 1.0, 0.0));
    let once = membership(&members, &non_members);
    let twenty = |scores: &[f64]| scores.iter().flat_map(|s| [*s; 20]).collect::<Vec<_>>();
    let copies = membership(&twenty(&members), &twenty(&non_members));
    let users: Vec<String> = (0..8800).map(|record| (record / 20).to_string()).collect();
    let settings = MetricSettings { rates: vec![0.1], prior: Some(0.5), ..Default::default() };
    let narrow = measure(&copies, &settings).unwrap();
    let wide = measure(&copies.clone().with_users(&users).unwrap(), &settings).unwrap();
    let single = measure(&once, &settings).unwrap();
    let width = |e: Estimate| e.upper - e.lower;
    assert!((width(wide.auc) / width(single.auc) - 1.0).abs() < 1e-6);
    assert!(width(narrow.auc) < 0.4 * width(wide.auc));
    assert!(width(wide.advantage) >= width(single.advantage));
    let (wide, single) = (wide.rates[0].tpr.unwrap(), single.rates[0].tpr.unwrap());
    assert!(width(wide) > 0.9 * width(single), "{wide:?} {single:?}");
    // One record for each user is the same as no users.
    let alone: Vec<String> = (0..440).map(|record| record.to_string()).collect();
    assert!(once.clone().with_users(&alone).unwrap() == once);
    assert!(once.with_users(&alone[1..]).is_err());
}

/// Members and non-members at every corner of the curve and at every edge of the histogram, the highest scores first.
fn told(found: &Performance) -> [Vec<(u64, u64)>; 2] {
    let count = |(fpr, tpr): &(f64, f64)| {
        ((tpr * found.members as f64).round() as u64, (fpr * found.non_members as f64).round() as u64)
    };
    let bars = &found.histogram;
    let mut edges = vec![(0, 0)];
    for (members, non_members) in bars.members.iter().zip(&bars.non_members).rev() {
        let last = edges[edges.len() - 1];
        edges.push((last.0 + members, last.1 + non_members));
    }
    [found.roc.iter().map(count).collect(), edges]
}

/// Whoever has the scores sorts the records by them: the counts between any two places that are told are no fewer than ten of
/// either kind, whether they stand in the curve or in the histogram.
fn tells_of_no_few(found: &Performance) -> Result<(), TestCaseError> {
    let [corners, edges] = told(found);
    let end = (found.members, found.non_members);
    let is_far = |a: (u64, u64), b: (u64, u64)| a.0.abs_diff(b.0) >= 10 && a.1.abs_diff(b.1) >= 10;
    prop_assert!(corners[0] == (0, 0) && corners[corners.len() - 1] == end && edges[edges.len() - 1] == end);
    let before_last = &corners[..corners.len() - 1];
    prop_assert!(before_last.windows(2).all(|pair| is_far(pair[0], pair[1])), "{corners:?}");
    prop_assert!(edges.len() == 2 || edges.windows(2).all(|pair| is_far(pair[0], pair[1])), "{edges:?}");
    let mixed = edges.iter().flat_map(|edge| before_last.iter().map(move |corner| (*edge, *corner)));
    for (edge, corner) in mixed.filter(|(edge, corner)| *edge != end && edge != corner) {
        prop_assert!(is_far(edge, corner), "{edge:?} {corner:?}");
    }
    Ok(())
}

#[test]
fn a_curve_is_coarse_and_still_a_curve() {
    let data = membership(&spread(30_000, 1.0, 0.05), &spread(29_000, 1.0, 0.0));
    let found = measure(&data, &MetricSettings::default()).unwrap();
    tells_of_no_few(&found).unwrap();
    let roc = found.roc;
    assert!(roc.len() <= 300 && roc.len() > 80, "{}", roc.len());
    assert!(roc.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1));
    assert!(roc[1].0 <= 1e-3 && roc[1].1 > 0.04, "{:?}", roc[1]);
    let area: f64 = roc.windows(2).map(|w| 0.5 * (w[1].0 - w[0].0) * (w[0].1 + w[1].1)).sum();
    assert!((area - found.auc.value).abs() < 2e-3, "{area} {}", found.auc.value);
    assert!(found.histogram.members.len() >= 35, "{:?}", found.histogram);
}

/// A small audit, which had a corner for every record, and an attack that is never wrong.
#[test]
fn sorting_by_score_gives_nobody_away() {
    let small =
        measure(&membership(&spread(60, 1.0, 0.1), &spread(60, 1.0, 0.0)), &MetricSettings::default());
    let small = small.unwrap();
    tells_of_no_few(&small).unwrap();
    assert!(small.roc.len() > 2 && small.roc.len() <= 7, "{:?}", small.roc);
    let perfect =
        measure(&membership(&spread(200, 1.0, 2.0), &spread(200, 1.0, 0.0)), &MetricSettings::default());
    let perfect = perfect.unwrap();
    tells_of_no_few(&perfect).unwrap();
    // What the rate at 0.1 says.
    assert_eq!(perfect.roc, [(0.0, 0.0), (0.1, 1.0), (1.0, 1.0)]);
    assert_eq!((perfect.histogram.members, perfect.histogram.edges.len()), (vec![200], 2));
}

#[test]
fn infinities_and_outliers_land_in_the_edge_bins() {
    let mut members = spread(1000, 1.0, 0.0);
    members.extend([f64::INFINITY, 1e300, f64::MAX]);
    let mut non_members = spread(1000, 1.0, 0.0);
    non_members.extend([f64::NEG_INFINITY, f64::MIN]);
    let found = measure(&membership(&members, &non_members), &MetricSettings::default()).unwrap();
    let bars = &found.histogram;
    assert!(bars.edges.len() == bars.members.len() + 1 && bars.members.len() > 20);
    assert!(bars.edges.windows(2).all(|w| w[0] < w[1]) && bars.edges[bars.members.len()] < 1.0);
    assert_eq!((bars.members.iter().sum::<u64>(), bars.non_members.iter().sum::<u64>()), (1003, 1002));
    let ends = membership(&[f64::INFINITY, 1.0], &[f64::NEG_INFINITY, 1.0]);
    let bars = measure(&ends, &MetricSettings::default()).unwrap().histogram;
    assert!(bars.edges.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn settings_without_meaning_are_refused() {
    let data = membership(&[1.0, 2.0], &[0.0]);
    for settings in [
        MetricSettings { confidence: 1.0, ..Default::default() },
        MetricSettings { rates: vec![0.0], ..Default::default() },
        MetricSettings { prior: Some(f64::NAN), ..Default::default() },
    ] {
        assert!(matches!(measure(&data, &settings), Err(AuditError::Invalid(_))));
    }
}

proptest! {
    #[test]
    fn every_number_is_a_share_inside_its_interval(
        members in prop::collection::vec(-3i8..4, 1..60), non_members in prop::collection::vec(-4i8..3, 1..60),
    ) {
        let floats = |v: &[i8]| v.iter().map(|x| f64::from(*x) / 2.0).collect::<Vec<_>>();
        let (members, non_members) = (floats(&members), floats(&non_members));
        let all = members.iter().chain(&non_members);
        prop_assume!(all.clone().any(|x| *x != members[0]));
        let found = measure(&membership(&members, &non_members), &MetricSettings::default()).unwrap();
        let pairs = members.iter().flat_map(|m| non_members.iter().map(move |n| (m, n)));
        let wins: f64 = pairs.map(|(m, n)| if m > n { 1.0 } else if m == n { 0.5 } else { 0.0 }).sum();
        let area = wins / (members.len() * non_members.len()) as f64;
        prop_assert!((found.auc.value - area).abs() < 1e-12);
        for e in [found.auc, found.advantage, found.balanced_accuracy] {
            prop_assert!(0.0 <= e.lower && e.lower <= e.value && e.value <= e.upper && e.upper <= 1.0, "{e:?}");
        }
    }

    #[test]
    fn what_is_told_are_sums_over_many(
        members in prop::collection::vec(-40i8..60, 1..200), non_members in prop::collection::vec(-60i8..40, 1..300),
        rates in prop::collection::vec(0.01..0.9, 0..4),
    ) {
        let floats = |v: &[i8]| v.iter().map(|x| f64::from(*x) / 2.0).collect::<Vec<_>>();
        let (members, non_members) = (floats(&members), floats(&non_members));
        prop_assume!(members.iter().chain(&non_members).any(|x| *x != members[0]));
        let settings = MetricSettings { rates, ..Default::default() };
        tells_of_no_few(&measure(&membership(&members, &non_members), &settings).unwrap())?;
    }
}
