//! Writes a report about numbers that are made up here, to look at its form:
//! `cargo run -p reticent-report --example sample -- FOLDER`.

use reticent_accounting::{Accountant, AccountingError, CompositionMethod, certify};
use reticent_audit::attacks::{AccessLevel, AttackKind};
use reticent_audit::disclosure::{Disclosure, DisclosureBound, DisclosureMeasure};
use reticent_audit::findings::{
    AccessFinding, AttackFinding, BaselineFinding, EpsilonLower, Estimate, ExposedRecord, Exposure,
    GroupFinding, HeadlineChoice, Histogram, NotRun, Performance, RateAt, Threat, UserFinding,
};
use reticent_audit::{AuditUnit, Findings, Overfitting};
use reticent_core::{Certificate, Delta, Event, EventLog, Neighboring, NoiseMultiplier, SamplingRate};
use reticent_report::{
    Declared, Dossier, FileDigest, ModelAccess, ReportProvenance, TrainingPoint, TrainingSummary,
    TrainingUnit,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

const RECORDS: u64 = 2505;

/// A model whose training accuracy is some twenty points above its test accuracy; the first is the target.
fn overfitted(place: u32) -> Overfitting {
    let wave = f64::from((place * 7) % 9) / 9.0 - 0.5;
    let (train_accuracy, test_accuracy) = (0.91 + 0.02 * wave, 0.72 - 0.03 * wave);
    let gap = train_accuracy - test_accuracy;
    Overfitting {
        name: if place == 0 { "target".to_owned() } else { format!("reference {place}") },
        train_accuracy,
        test_accuracy,
        gap,
        mean_train_loss: 0.31,
        advantage: 0.9 * gap,
        attack_accuracy: 0.5 + 0.45 * gap,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map(PathBuf::from).ok_or("give a folder to write to")?;
    std::fs::create_dir_all(&folder)?;
    let dossier = dossier()?;
    std::fs::write(folder.join("report.html"), reticent_report::html(&dossier))?;
    std::fs::write(folder.join("report.json"), reticent_report::json(&dossier))?;
    Ok(())
}

fn estimate(value: f64, room: f64) -> Estimate {
    Estimate { value, lower: (value - room).max(0.0), upper: (value + room).min(1.0), confidence: 0.95 }
}

/// The curve of an attack whose scores are normal, with members `shift` further up and `spread` times as wide.
fn performance(shift: f64, spread: f64) -> Performance {
    let tail = |z: f64| 1.0 - normal(z);
    let mut roc = vec![(0.0, 0.0)];
    roc.extend((0..=160).map(|step| {
        let threshold = 4.0 - 8.0 * f64::from(step) / 160.0;
        (tail(threshold), tail((threshold - shift) / spread))
    }));
    roc.push((1.0, 1.0));
    let auc: f64 = roc.windows(2).map(|pair| 0.5 * (pair[1].0 - pair[0].0) * (pair[1].1 + pair[0].1)).sum();
    let advantage = roc.iter().map(|(fpr, tpr)| tpr - fpr).fold(0.0, f64::max);
    let rate = |fpr: f64| {
        let (_, tpr) = roc.iter().copied().rfind(|(x, _)| *x <= fpr).unwrap_or_default();
        let measurable = fpr * RECORDS as f64 >= 2.0;
        let ppv = |tpr: f64| 0.01 * tpr / (0.01 * tpr + 0.99 * fpr);
        let around = |share: f64| 1.96 * (share * (1.0 - share) / RECORDS as f64).sqrt() + 0.001;
        let reason = format!("{fpr} of {RECORDS} non-members is fewer than 2 records: give more non-members");
        RateAt {
            fpr,
            tpr: measurable.then(|| estimate(tpr, around(tpr))),
            false_positives: measurable.then_some((fpr * RECORDS as f64) as u64),
            true_positives: measurable.then_some((tpr * RECORDS as f64) as u64),
            ppv: measurable.then(|| estimate(ppv(tpr), 0.12)),
            reason: (!measurable).then_some(reason),
        }
    };
    let edges: Vec<f64> = (0..=40).map(|bin| -4.0 + 0.25 * f64::from(bin)).collect();
    let counts = |shift: f64, spread: f64| -> Vec<u64> {
        let share = |pair: &[f64]| normal((pair[1] - shift) / spread) - normal((pair[0] - shift) / spread);
        let mut counts: Vec<u64> =
            edges.windows(2).map(|pair| (share(pair) * RECORDS as f64).floor() as u64).collect();
        counts[20] += RECORDS - counts.iter().sum::<u64>();
        counts
    };
    let (members, non_members) = (counts(shift, spread), counts(0.0, 1.0));
    Performance {
        unit: AuditUnit::Record,
        members: RECORDS,
        non_members: RECORDS,
        auc: estimate(auc, 0.014),
        balanced_accuracy: estimate(0.5 + 0.5 * advantage, 0.017),
        advantage: estimate(advantage, 0.033),
        rates: [0.0001, 0.001, 0.01, 0.1].map(rate).to_vec(),
        prior: Some(0.01),
        histogram: Histogram { edges, members, non_members },
        roc,
    }
}

/// The normal distribution function, good enough for a picture (Abramowitz, Stegun 26.2.17).
fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let poly = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let upper = 0.398_942_280 * (-0.5 * z * z).exp() * poly;
    if z >= 0.0 { 1.0 - upper } else { upper }
}

fn attack(name: &str, about: &str, access: &str, knowledge: &str, shift: f64, spread: f64) -> AttackFinding {
    AttackFinding {
        name: name.to_owned(),
        kind: AttackKind::MembershipInference,
        about: about.to_owned(),
        settings: BTreeMap::from([("queries".to_owned(), "1 per record".to_owned())]),
        threat: Threat {
            access: access.to_owned(),
            knowledge: knowledge.to_owned(),
            goal: "whether a record was in the training data".to_owned(),
        },
        performance: performance(shift, spread),
        epsilon_lower: None,
        filled_in: 0,
    }
}

fn disclosure() -> Disclosure {
    let estimate = |value: f64, spread: f64| Estimate {
        value,
        lower: value - spread,
        upper: value + spread,
        confidence: 0.95,
    };
    Disclosure {
        name: "gradient-inversion".to_owned(),
        kind: AttackKind::Reconstruction,
        about: "searches for records whose gradient is the one that was seen".to_owned(),
        settings: BTreeMap::from([("steps".to_owned(), "1000".to_owned())]),
        threat: Threat {
            access: "the gradient of one batch".to_owned(),
            knowledge: "the weights and the number of records".to_owned(),
            goal: AttackKind::Reconstruction.goal().to_owned(),
        },
        records: 32,
        measures: vec![DisclosureMeasure {
            what: "mean peak signal-to-noise ratio (dB)".to_owned(),
            condition: "batch of 4".to_owned(),
            rises: true,
            attack: estimate(17.1, 1.2),
            baseline: Some(estimate(11.4, 0.8)),
            difference: Some(estimate(5.7, 1.4)),
        }],
        bound: Some(DisclosureBound {
            prior: 0.01,
            success: 0.143,
            unit: "visit".to_owned(),
            neighboring: Neighboring::AddRemove,
        }),
        warnings: vec!["the prior guess is the mean of 500 other records".to_owned()],
    }
}

fn findings() -> Findings {
    let (answers, models) = ("probabilities of all classes", "16 models trained on data like the target's");
    let mut attacks = vec![
        attack(
            "lira-online",
            "likelihood ratio against models with and without the record",
            answers,
            models,
            0.55,
            1.35,
        ),
        attack("rmia", "ratio to other records, against reference models", answers, models, 0.52, 1.25),
        attack(
            "modified-entropy",
            "how sure the model is of the true class",
            answers,
            "the true class",
            0.35,
            0.95,
        ),
        attack("loss", "the loss of the true class", answers, "the true class", 0.33, 0.9),
    ];
    let bound = EpsilonLower {
        value: 1.273_81,
        delta: 1e-5,
        confidence: 0.95,
        method: "one-run".to_owned(),
        correction: "thresholds chosen on a held-out fifth".to_owned(),
        premise: "every canary was in the training data with probability one half, independently".to_owned(),
        unit: AuditUnit::Record,
        unit_records: 1,
        neighboring: Some(Neighboring::AddRemove),
        counts: BTreeMap::from([
            ("canaries".to_owned(), 1000),
            ("guesses".to_owned(), 160),
            ("correct guesses".to_owned(), 138),
        ]),
    };
    attacks[0].epsilon_lower = Some(bound.clone());
    let group = |column: &str, name: &str, records: u64, tpr: f64, room: f64| GroupFinding {
        column: column.to_owned(),
        group: name.to_owned(),
        members: records,
        non_members: records + 7,
        tpr: (records >= 30).then(|| estimate(tpr, room)),
        fpr: (records >= 30).then(|| estimate(0.01, 0.008)),
        auc: (records >= 30).then(|| estimate(0.6 + tpr, 2.0 * room)),
        advantage: (records >= 30).then(|| estimate(tpr - 0.01, room + 0.008)),
        others: (records >= 30).then(|| estimate(0.655, 0.04)),
        reason: (records < 30).then(|| "fewer than 30 members".to_owned()),
    };
    let record = |place: u32| ExposedRecord {
        place: u64::from(place),
        separation: Some(6.2 - 0.21 * f64::from(place)),
        accuracy: Some(estimate(0.99 - 0.008 * f64::from(place), 0.09)),
    };
    let headline = attacks[0].performance.clone();
    Findings {
        schema: reticent_audit::findings::SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        headline: "lira-online".to_owned(),
        headline_choice: HeadlineChoice::Rule,
        headline_chosen:
            "by members found at a false-positive rate of 1 % where 4 reference models stood in for the target: \
                          lira-online 5.9 %, rmia-offline 5.1 %"
                .to_owned(),
        auc: headline.auc.value,
        tpr_at_fpr: headline.rates.iter().map(|r| (r.fpr.to_string(), r.tpr.map(|t| t.value))).collect(),
        epsilon_lower: Some(bound),
        attacks,
        by_access: [(AccessLevel::Predictions, "loss"), (AccessLevel::Gradients, "lira-online")]
            .map(|(access, attack)| AccessFinding {
                access,
                attack: attack.to_owned(),
                chosen: "where 4 reference models stood in for the target".to_owned(),
            })
            .to_vec(),
        disclosures: vec![disclosure()],
        trajectories: Vec::new(),
        observed: Vec::new(),
        not_run: vec![
            NotRun {
                name: "gradient-norm".to_owned(),
                kind: AttackKind::MembershipInference,
                reason: "needs the weights; none were given".to_owned(),
            },
            NotRun {
                name: "quantile-regression".to_owned(),
                kind: AttackKind::MembershipInference,
                reason: "no public records were given".to_owned(),
            },
        ],
        baseline: BaselineFinding {
            performance: Some(performance(0.02, 1.0)),
            about: "logistic regression on all columns, five folds".to_owned(),
            shift: Some(false),
        },
        groups: vec![
            group("sex", "female", 1188, 0.062, 0.021),
            group("sex", "male", 1301, 0.055, 0.019),
            group("sex", "not stated", 16, 0.0, 0.0),
            group("age", "under 30", 402, 0.041, 0.033),
            group("age", "30 to 64", 1490, 0.049, 0.018),
            group("age", "65 and over", 613, 0.117, 0.04),
        ],
        overfitting: (0..9).map(overfitted).collect(),
        records: Some(Exposure {
            sorted_by: "separation of reference models".to_owned(),
            compared: 2 * RECORDS,
            worst: (1..=10).map(record).collect(),
            reason: None,
        }),
        authors: None,
        users: Some(UserFinding {
            about: "the mean score of a person's records".to_owned(),
            performance: Some(performance(0.8, 1.3)),
            reason: None,
        }),
        key: "7f3a9c".to_owned(),
        warnings: vec!["2 records had the same contents and were scored once".to_owned()],
    }
}

/// Steps of an epoch.
const STEPS: u64 = 50;
const EPOCHS: u32 = 30;

fn training(epochs: u32) -> Result<Event, AccountingError> {
    let step = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(0.8)? };
    let sampled = Event::PoissonSampled { rate: SamplingRate::new(0.02)?, event: Box::new(step) };
    Ok(Event::Repeated { count: STEPS * u64::from(epochs), event: Box::new(sampled) })
}

/// What the accountant says of so many epochs.
fn epsilon(epochs: u32) -> Result<f64, AccountingError> {
    let log = EventLog { neighboring: Neighboring::AddRemove, events: vec![training(epochs)?] };
    Ok(Accountant::of_log(&log, CompositionMethod::Pld)?.epsilon(Delta::new(1e-5)?)?.upper)
}

fn certificate() -> Result<Certificate, AccountingError> {
    let log = EventLog { neighboring: Neighboring::AddRemove, events: vec![training(EPOCHS)?] };
    let public =
        ["the columns and their categories", "the clipping norm, 1"].map(|text| text.to_owned().into());
    certify("row", log, Delta::new(1e-5)?, "pld (the privacy-loss distribution)", public.into())
}

/// The whole dossier.
pub(crate) fn dossier() -> Result<Dossier, AccountingError> {
    let point = |epoch: u32| -> Result<TrainingPoint, AccountingError> {
        let at = f64::from(epoch);
        let fit = 1.0 - (-at / 8.0).exp();
        Ok(TrainingPoint {
            at,
            epsilon: if epoch == 1 || epoch.is_multiple_of(5) { Some(epsilon(epoch)?) } else { None },
            train_loss: Some(3.4 - 2.7 * fit),
            test_loss: Some(3.4 - 2.1 * fit),
            train_accuracy: Some(0.03 + 0.76 * fit),
            test_accuracy: Some(0.03 + 0.62 * fit),
        })
    };
    let curve = (1..=EPOCHS).map(point).collect::<Result<Vec<_>, _>>()?;
    let pairs =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    Ok(Dossier {
        defences: None,
        findings: findings(),
        certificate: Some(certificate()?),
        declared: Declared {
            title: Some("SAMPLE: clinic visits classifier".to_owned()),
            model: Some("visits-mlp-3".to_owned()),
            purpose: Some("Suggests a department for a first appointment".to_owned()),
            release: ModelAccess::QueryApi,
            prior: Some(0.01),
            subjects: Some(2210),
            records_per_subject: Some(1.1),
            sensitivity: Some("health data: special category, GDPR Art. 9".to_owned()),
            author: Some("A. Example".to_owned()),
            contact: Some("privacy@clinic.example".to_owned()),
            notes: vec![
                "All numbers but those of the certificate are made up, to show the form of a report."
                    .to_owned(),
            ],
        },
        training: Some(TrainingSummary {
            unit: TrainingUnit::Epoch,
            curve,
            train_accuracy: Some(0.772),
            test_accuracy: Some(0.635),
        }),
        provenance: ReportProvenance {
            tool: Some("reticent 0.1.0".to_owned()),
            date: Some("2026-11-16".to_owned()),
            command: Some("reticent report --audit findings.json --certificate certificate.json".to_owned()),
            seeds: pairs(&[("splits", "7f3a9c"), ("reference models", "1 to 16")]),
            files: vec![FileDigest {
                name: "scores.csv".to_owned(),
                digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
            }],
            versions: pairs(&[("reticent-audit", "0.1.0"), ("rustc", "1.90")]),
            machine: Some("2 cores, 8 GiB".to_owned()),
        },
        inapplicable: BTreeMap::from([(
            AttackKind::Regurgitation,
            "the model outputs scores of classes, and no records".to_owned(),
        )]),
        galleries: Vec::new(),
    })
}
