//! Bounds from other draws than coins of single records hold as often as they say.

use reticent_audit::bound::{BoundMethod, BoundSettings};
use reticent_audit::metrics::MetricSettings;
use reticent_audit::{AttackSettings, Draw, ExamineSettings, Registry, Signals, Study, StudyParts, examine};
use reticent_core::Neighboring;
use reticent_noise::entropy::{Bits, SeededForTests};

const SIMULATIONS: u64 = 300;
const RECORDS: usize = 600;

fn uniform(bits: &mut SeededForTests) -> f64 {
    ((bits.word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

fn laplace(bits: &mut SeededForTests) -> f64 {
    let size = -uniform(bits).ln();
    if bits.bit() { size } else { -size }
}

/// Half of the records, all halves being equally likely.
fn half(bits: &mut SeededForTests) -> Vec<bool> {
    let mut order: Vec<(u64, usize)> = (0..RECORDS).map(|record| (bits.word(), record)).collect();
    order.sort_unstable();
    let mut members = vec![false; RECORDS];
    order[..RECORDS / 2].iter().for_each(|(_, record)| members[*record] = true);
    members
}

/// How often, of all simulations, the bound lies above the truth. A record in place of another moves two scores by 1 each, so with
/// Laplace noise of scale 2/ε it is ε-private under replace-one.
fn false_claims(draw: Draw, truth: f64, leaks: bool) -> (u64, f64) {
    let (mut wrong, mut largest) = (0, 0.0_f64);
    for seed in 0..SIMULATIONS {
        let mut bits = SeededForTests::new(300_000 + seed);
        let members = match draw {
            Draw::Pairs => (0..RECORDS / 2)
                .flat_map(|_| if bits.bit() { [true, false] } else { [false, true] })
                .collect(),
            _ => half(&mut bits),
        };
        let scores = members
            .iter()
            .map(|member| {
                2.0 / truth.max(0.5) * laplace(&mut bits) + if *member && leaks { 1.0 } else { 0.0 }
            })
            .collect();
        let pairs = Some((0..RECORDS).map(|record| (record / 2).to_string()).collect());
        let study = Study::new(StudyParts {
            members,
            signals: Signals::of_scores(scores),
            draw,
            pairs,
            ..StudyParts::default()
        })
        .unwrap();
        let settings = ExamineSettings {
            metrics: MetricSettings { rates: Vec::new(), ..MetricSettings::default() },
            bound: Some((
                BoundMethod::OneRun,
                BoundSettings { fresh: Some(bits.word()), ..BoundSettings::new(0.0, "draws") },
            )),
            registry: Registry::standard(),
            attacks: None,
            attack: AttackSettings::default(),
            worst: 0,
            key: "draws".to_owned(),
            expects_baseline: true,
        };
        let bound = examine(&study, &settings, &|_| {}).unwrap().findings.epsilon_lower.unwrap();
        assert_eq!(bound.neighboring, Some(Neighboring::ReplaceOne));
        wrong += u64::from(bound.value > truth);
        largest = largest.max(bound.value);
    }
    (wrong, largest)
}

#[test]
fn pairs_and_fixed_halves_claim_no_more_than_is_true() {
    let n = SIMULATIONS as f64;
    let most = 0.05 * n + 3.0 * (n * 0.05 * 0.95).sqrt();
    for draw in [Draw::Pairs, Draw::Fixed] {
        let (nothing, _) = false_claims(draw, 0.0, false);
        let (tight, largest) = false_claims(draw, 4.0, true);
        println!("{draw:?}: {nothing} and {tight} of {SIMULATIONS}, at most {largest:.2} of 4");
        assert!((nothing as f64) <= most && (tight as f64) <= most, "{draw:?}: {nothing}, {tight}");
        assert!(largest > 1.0, "{draw:?} proves nothing: {largest}");
    }
}
