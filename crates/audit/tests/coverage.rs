//! Intervals of the metrics cover the truth as often as they say.

use reticent_audit::Membership;
use reticent_audit::findings::Estimate;
use reticent_audit::metrics::{MetricSettings, measure};
use reticent_core::special::{normal_cdf, normal_tail};
use reticent_noise::entropy::{Bits, SeededForTests};

fn uniform(bits: &mut SeededForTests) -> f64 {
    ((bits.word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

fn normal(bits: &mut SeededForTests) -> f64 {
    (-2.0 * uniform(bits).ln()).sqrt() * (std::f64::consts::TAU * uniform(bits)).cos()
}

/// 150 members from N(1, 1) and 200 non-members from N(0, 1), 1 000 times.
#[test]
fn intervals_cover_as_often_as_they_say() {
    let (area, advantage, prior) = (normal_cdf(0.5_f64.sqrt()), 2.0 * normal_cdf(0.5) - 1.0, 0.05);
    let settings = MetricSettings { rates: vec![0.1], prior: Some(prior), ..Default::default() };
    let mut missed = [0; 5];
    for seed in 0..1_000 {
        let mut bits = SeededForTests::new(seed);
        let members: Vec<f64> = (0..150).map(|_| 1.0 + normal(&mut bits)).collect();
        let mut others: Vec<f64> = (0..200).map(|_| normal(&mut bits)).collect();
        let truth = (0..350).map(|row| row < 150).collect();
        let scores = members.iter().chain(&others).copied().collect();
        let found = measure(&Membership::new(scores, truth).unwrap(), &settings).unwrap();
        let rate = &found.rates[0];
        // Just above the highest non-member that is not flagged.
        others.sort_unstable_by(|a, b| b.total_cmp(a));
        let threshold = others[rate.false_positives.unwrap() as usize];
        let (tpr, fpr) = (normal_tail(threshold - 1.0), normal_tail(threshold));
        let ppv = prior * tpr / (prior * tpr + (1.0 - prior) * fpr);
        let outside = |e: Estimate, truth: f64| usize::from(truth < e.lower || truth > e.upper);
        missed[0] += outside(found.auc, area);
        missed[1] += outside(found.advantage, advantage);
        missed[2] += outside(found.balanced_accuracy, 0.5 + 0.5 * advantage);
        missed[3] += outside(rate.tpr.unwrap(), tpr);
        missed[4] += outside(rate.ppv.unwrap(), ppv);
    }
    println!("area, advantage, balanced accuracy, rate, precision: {missed:?} of 1000 missed");
    // 5 % and three standard deviations.
    assert!(missed.iter().all(|missed| *missed <= 70), "{missed:?}");
}

/// How many of so many draws miss, for the area and for the rate at `fpr`.
fn misses(
    draws: u64,
    (area, fpr, tpr): (f64, f64, f64),
    mut draw: impl FnMut(&mut SeededForTests) -> Membership,
) -> (usize, usize) {
    let settings = MetricSettings { rates: vec![fpr], ..Default::default() };
    let (mut of_area, mut of_rate) = (0, 0);
    for seed in 0..draws {
        let found = measure(&draw(&mut SeededForTests::new(5_000 + seed)), &settings).unwrap();
        let outside = |e: Estimate, truth: f64| usize::from(truth < e.lower || truth > e.upper);
        of_area += outside(found.auc, area);
        of_rate += found.rates[0].tpr.map_or(0, |rate| outside(rate, tpr));
    }
    (of_area, of_rate)
}

/// The most misses of a nominal 5 %: three standard deviations above.
fn most(draws: u64) -> usize {
    (0.05 * draws as f64 + 3.0 * (draws as f64 * 0.0475).sqrt()) as usize
}

fn both(members: Vec<f64>, others: Vec<f64>) -> Membership {
    let truth = (0..members.len() + others.len()).map(|row| row < members.len()).collect();
    Membership::new(members.into_iter().chain(others).collect(), truth).unwrap()
}

#[test]
fn few_members_and_areas_near_one_are_covered() {
    let cases = [(10, 10_000, 3.0, 150), (10, 10, 3.0, 400), (1000, 1000, 0.0, 400), (400, 400, 4.5, 400)];
    for (members, others, shift, draws) in cases {
        let area = normal_cdf(shift / 2.0_f64.sqrt());
        let truth = (area, 0.1, normal_cdf(shift - 1.281_551_565_544_600_4));
        let missed = misses(draws, truth, |bits| {
            let inside = (0..members).map(|_| shift + normal(bits)).collect();
            both(inside, (0..others).map(|_| normal(bits)).collect())
        });
        println!("{members} against {others} at {area:.4}: {missed:?} of {draws} missed");
        assert!(missed.0.max(missed.1) <= most(draws), "{members} {others} {shift}: {missed:?}");
    }
}

/// Scores of two and of three levels: a label-only attack and a small tree.
#[test]
fn tied_scores_are_covered() {
    // Shares of each level from the top, for members and non-members.
    let cases: [(&[f64], &[f64], usize, usize); 3] = [
        (&[0.95, 0.05], &[0.6, 0.4], 200, 200),
        (&[0.5, 0.3, 0.2], &[0.2, 0.3, 0.5], 60, 150),
        (&[0.3, 0.1, 0.6], &[0.05, 0.15, 0.8], 100, 1000),
    ];
    for (inside, outside, members, others) in cases {
        let (mut area, mut above, mut tp, mut fp, mut rate) = (0.0, 0.0, 0.0, 0.0, None);
        for (own, other) in inside.iter().zip(outside) {
            area += other * (above + 0.5 * own);
            above += own;
            if rate.is_none() && fp + other >= 0.1 {
                rate = Some(tp + own * (0.1 - fp) / other);
            }
            (tp, fp) = (tp + own, fp + other);
        }
        let level = |bits: &mut SeededForTests, shares: &[f64]| {
            let mut left = uniform(bits);
            let place = shares.iter().position(|share| {
                left -= share;
                left < 0.0
            });
            -(place.unwrap_or(shares.len() - 1) as f64)
        };
        let missed = misses(500, (area, 0.1, rate.unwrap()), |bits| {
            let own = (0..members).map(|_| level(bits, inside)).collect();
            both(own, (0..others).map(|_| level(bits, outside)).collect())
        });
        println!("levels {inside:?} against {outside:?}: {missed:?} of 500 missed");
        assert!(missed.0.max(missed.1) <= most(500), "{inside:?}: {missed:?}");
    }
}

/// 120 users of 1 to 20 records that share a level: half of the variance is the user's.
#[test]
fn users_with_many_records_are_covered() {
    let shift = 1.0;
    let area = normal_cdf(shift / 2.0_f64.sqrt());
    let truth = (area, 0.1, normal_cdf(shift - 1.281_551_565_544_600_4));
    for equal in [true, false] {
        let mut plain = 0;
        let missed = misses(300, truth, |bits| {
            let (mut scores, mut members, mut users) = (vec![], vec![], vec![]);
            for user in 0..120_usize {
                let (inside, level) = (user < 60, normal(bits));
                for _ in 0..if equal { 10 } else { 1 + user % 20 } {
                    let own = (0.5_f64).sqrt() * (level + normal(bits));
                    scores.push(own + if inside { shift } else { 0.0 });
                    members.push(inside);
                    users.push(user.to_string());
                }
            }
            let records = Membership::new(scores, members).unwrap();
            let e = measure(&records, &MetricSettings::default()).unwrap().auc;
            plain += usize::from(area < e.lower || area > e.upper);
            records.with_users(&users).unwrap()
        });
        println!("users, equally many records {equal}: {missed:?} of 300 missed, {plain} without users");
        assert!(missed.0.max(missed.1) <= most(300), "{equal}: {missed:?}");
        // The broken twin: the same records as if they were independent.
        assert!(plain > 2 * most(300), "{plain}");
    }
}

/// A classifier that never saw the model, on features that say nothing: its area is one half, whatever it learnt.
#[test]
fn the_baseline_covers_one_half() {
    use reticent_audit::{Features, Signals, Study, StudyParts, baseline};
    for (records, columns, draws) in [(60, 3, 200), (300, 4, 100)] {
        let mut missed = 0;
        for seed in 0..draws {
            let mut bits = SeededForTests::new(9_000 + seed);
            let members: Vec<bool> = (0..records).map(|_| uniform(&mut bits) < 0.5).collect();
            let values = (0..columns * records).map(|_| normal(&mut bits) as f32).collect();
            let study = Study::new(StudyParts {
                signals: Signals::of_scores(vec![0.0; records]),
                features: Some(Features { columns, values }),
                members: members.clone(),
                ..StudyParts::default()
            });
            let found = baseline::baseline(&study.unwrap(), "key").unwrap();
            let Ok(scores) = Membership::new(found.scores, members) else { continue };
            let auc = baseline::measure(&scores, &MetricSettings::default()).unwrap().auc;
            missed += usize::from(auc.lower > 0.5 || auc.upper < 0.5);
        }
        println!("baseline of {records} records: {missed} of {draws} missed");
        assert!(missed <= most(draws), "{records}: {missed} of {draws}");
    }
}
