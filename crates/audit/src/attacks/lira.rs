//! The likelihood-ratio attack: is the target's signal on a record more like that of models trained with it, or without?
//!
//! A normal distribution is fitted to the signals of the references on each side, record by record.
//!
//! Norms of gradients are compared on a logarithmic scale, on which they are closer to normal.
//!
//! The offline form scores the one-sided distribution function of the paper. It is returned as the standardised distance
//! that the normal distribution function is applied to: the same order, without ties where the function rounds to 1.
//!
//! # Reference
//! Carlini, Chien, Nasr, Song, Terzis, Tramèr, *Membership inference attacks from first principles*, 2022.

use super::evidence::{self, Compared};
use super::{Attack, AttackScores, AttackSettings, Candidacy, ReferenceNeed, Requirements};
use crate::{AuditError, GRADIENT_NORM, LABEL_ROBUSTNESS, SCORE, Study};
use libm::log;
use std::fmt;

/// How many references `lira-online` needs to be the headline where none can play the target.
const HEADLINE_REFERENCES: usize = 8;

/// Whose spread the normal distributions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variance {
    /// One for all records and each side: what their signals vary around each record's own location.
    Global,
    /// Each record's own; needs at least 2 references per side.
    PerExample,
    /// Each record's own, drawn towards the global one as if that had been seen in [`PRIOR`] more references; widened for
    /// a location that is itself estimated.
    Shrunken,
}

/// How many references the global variance is worth in [`Variance::Shrunken`].
pub const PRIOR: f64 = 6.0;

/// With fewer references than this, a side of a record may have fewer than 2: unless told otherwise, one spread serves all records.
const FEW: usize = 3;

impl fmt::Display for Variance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variance::Global => "global",
            Variance::PerExample => "per-example",
            Variance::Shrunken => "shrunken",
        })
    }
}

/// What the normal distributions are centred on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The mean of the references.
    Mean,
    /// Their median.
    Median,
}

/// Which likelihoods are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiraForm {
    /// Those of references trained with and without the record.
    Online,
    /// The one-sided distribution function of references trained without it, as in the paper.
    Offline,
    /// The density of references trained without it, as in the paper's published code.
    OfflineTwoTailed,
}

/// The likelihood-ratio attack on some signal.
#[derive(Debug, Clone, Copy)]
pub struct Lira {
    /// The name of the attack.
    pub name: &'static str,
    /// Which likelihoods are compared.
    pub form: LiraForm,
    /// Names of signals of which one is enough, the preferred one first.
    pub signals: &'static [&'static str],
    /// Whether the signal is a negated norm, which is compared on a logarithmic scale.
    pub is_norm: bool,
    /// When it may be the headline.
    pub candidacy: Option<Candidacy>,
}

/// The logit of the true class, or a given score.
const USUAL: &[&str] = &["logit", SCORE];

/// The likelihood ratio between references trained with and without the record.
pub const LIRA_ONLINE: &dyn Attack = &Lira {
    name: "lira-online",
    form: LiraForm::Online,
    signals: USUAL,
    is_norm: false,
    candidacy: Some(Candidacy { rank: 10, plays: true, by_evidence: Some(HEADLINE_REFERENCES) }),
};

/// The one-sided likelihood of references trained without the record.
pub const LIRA_OFFLINE: &dyn Attack = &Lira {
    name: "lira-offline",
    form: LiraForm::Offline,
    signals: USUAL,
    is_norm: false,
    candidacy: Some(Candidacy { rank: 40, plays: true, by_evidence: Some(1) }),
};

/// The two-tailed likelihood of references trained without the record.
pub const LIRA_OFFLINE_TWO_TAILED: &dyn Attack = &Lira {
    name: "lira-offline-two-tailed",
    form: LiraForm::OfflineTwoTailed,
    signals: USUAL,
    is_norm: false,
    candidacy: None,
};

/// The likelihood ratio of the gradient's norm between references trained with and without the record.
pub const LIRA_ONLINE_GRADIENT: &dyn Attack = &Lira {
    name: "lira-online-gradient",
    form: LiraForm::Online,
    signals: &[GRADIENT_NORM],
    is_norm: true,
    candidacy: Some(Candidacy { rank: 15, plays: true, by_evidence: None }),
};

/// The one-sided likelihood of the gradient's norm under references trained without the record.
pub const LIRA_OFFLINE_GRADIENT: &dyn Attack = &Lira {
    name: "lira-offline-gradient",
    form: LiraForm::Offline,
    signals: &[GRADIENT_NORM],
    is_norm: true,
    candidacy: Some(Candidacy { rank: 45, plays: true, by_evidence: None }),
};

/// One normal distribution per record.
struct Side {
    location: Vec<f64>,
    deviation: Vec<f64>,
    /// How many references it rests on; 0 where it is yet to be filled in.
    count: Vec<f64>,
    /// The variance around the locations of all records.
    pooled: f64,
}

impl Attack for Lira {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        if self.signals == [LABEL_ROBUSTNESS] {
            return "the likelihood ratio of the share of noisy copies that keep their class, between such reference models";
        }
        if self.is_norm {
            return match self.form {
                LiraForm::Online => {
                    "the likelihood ratio of the gradient's norm between reference models trained with and without the record"
                }
                LiraForm::Offline => {
                    "how much smaller the gradient is than at reference models trained without the record"
                }
                LiraForm::OfflineTwoTailed => {
                    "how unlikely the gradient's norm is under reference models trained without the record"
                }
            };
        }
        match self.form {
            LiraForm::Online => {
                "the likelihood ratio between reference models trained with and without the record"
            }
            LiraForm::Offline => {
                "how much more confident the target is than reference models trained without the record"
            }
            LiraForm::OfflineTwoTailed => {
                "how unlikely the target's signal is under reference models trained without the record"
            }
        }
    }

    fn needs(&self) -> &'static str {
        if self.signals == [LABEL_ROBUSTNESS] {
            return "predicted classes of noisy copies at references with and without each record";
        }
        match (self.form, self.is_norm) {
            (LiraForm::Online, false) => "references with and without each record",
            (LiraForm::Online, true) => "gradients at references with and without each record",
            (_, false) => "a reference without each record",
            (_, true) => "gradients at a reference without each record",
        }
    }

    fn requirements(&self) -> Requirements {
        let references = match self.form {
            LiraForm::Online => ReferenceNeed::WithAndWithout,
            LiraForm::Offline | LiraForm::OfflineTwoTailed => ReferenceNeed::Without,
        };
        Requirements { signals: self.signals, references }
    }

    fn knowledge(&self, study: &Study) -> String {
        let sides = if self.form == LiraForm::Online { "with it and without it" } else { "some without it" };
        format!("the record, and {} trained on data like the target's, {sides}", evidence::models(study))
    }

    fn candidacy(&self) -> Option<Candidacy> {
        self.candidacy
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let form = self.form;
        let mut signals = evidence::compared(study, self.requirements())?;
        if self.is_norm {
            signals = signals.on_log_scale();
        }
        let fewest = fewest(study, form);
        let few = signals.references.len() < FEW;
        let variance =
            settings.lira_variance.unwrap_or(if few { Variance::Global } else { Variance::Shrunken });
        let mut out = side(study, &signals, false, variance, settings.lira_location)?;
        let mut into = None;
        if form == LiraForm::Online || out.count.contains(&0.0) {
            let mut other = side(study, &signals, true, variance, settings.lira_location)?;
            fill_in(&mut out, &mut other);
            into = (form == LiraForm::Online).then_some(other);
        }
        let scores = signals.target.iter().enumerate().map(|(record, signal)| {
            let z = (signal - out.location[record]) / out.deviation[record];
            match &into {
                Some(into) => {
                    let own = (signal - into.location[record]) / into.deviation[record];
                    0.5 * (z * z - own * own) + log(out.deviation[record]) - log(into.deviation[record])
                }
                None if form == LiraForm::Offline => z,
                None => 0.5 * z * z + log(out.deviation[record]),
            }
        });
        let chosen_by =
            if settings.lira_variance.is_some() { "as asked" } else { "by the number of references" };
        let mut found = AttackScores::new(
            scores.collect(),
            [
                (
                    "signal",
                    if self.is_norm {
                        format!("{}, logarithm", signals.what)
                    } else {
                        signals.what.to_owned()
                    },
                ),
                ("variance", format!("{variance}, {chosen_by}")),
                ("location", format!("{:?}", settings.lira_location).to_lowercase()),
                ("references", signals.references.len().to_string()),
                ("fewest references per side", fewest.to_string()),
            ],
        );
        evidence::note(study, self.requirements().references, &mut found.settings);
        Ok(found)
    }
}

/// Gives records that lack one side what the other side and the mean difference between the sides make likely. The variance
/// is that of a reference, of the known location and of the differences.
fn fill_in(out: &mut Side, into: &mut Side) {
    let both = (0..out.count.len()).filter(|record| out.count[*record] > 0.0 && into.count[*record] > 0.0);
    let gaps: Vec<f64> = both.map(|record| into.location[record] - out.location[record]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
    let squares: f64 = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum();
    let variance = squares / gaps.len().saturating_sub(1).max(1) as f64;
    for record in 0..out.count.len() {
        let (empty, known, gap) = match (out.count[record] == 0.0, into.count[record] == 0.0) {
            (true, false) => (&mut *out, &*into, -mean),
            (false, true) => (&mut *into, &*out, mean),
            _ => continue,
        };
        empty.location[record] = known.location[record] + gap;
        empty.deviation[record] =
            (empty.pooled + known.pooled / known.count[record] + variance).max(1e-12).sqrt();
    }
}

/// The fewest references that any record has on a side that is used.
fn fewest(study: &Study, form: LiraForm) -> usize {
    let references = &study.parts().references;
    let per_record = (0..study.len()).map(|record| {
        let inside = references.iter().filter(|r| r.inside[record]).count();
        let outside = references.len() - inside;
        if form == LiraForm::Online { inside.min(outside) } else { outside }
    });
    per_record.min().unwrap_or(0)
}

fn side(
    study: &Study,
    signals: &Compared<'_>,
    inside: bool,
    variance: Variance,
    location: Location,
) -> Result<Side, AuditError> {
    let references = &study.parts().references;
    let mut own = Vec::with_capacity(references.len());
    let (mut locations, mut squares, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for record in 0..study.len() {
        own.clear();
        own.extend(
            references
                .iter()
                .zip(&signals.references)
                .filter(|(reference, _)| reference.inside[record] == inside)
                .map(|(_, signal)| signal[record]),
        );
        let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
        squares.push(own.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>());
        counts.push(own.len() as f64);
        locations.push(if location == Location::Median { median(&mut own) } else { mean });
    }
    let freedom: f64 = counts.iter().map(|count: &f64| (count - 1.0).max(0.0)).sum();
    // Without two references of one record on a side there is no spread to see. With one spread for all, any gives the
    // same order.
    let pooled = if freedom > 0.0 { squares.iter().sum::<f64>() / freedom } else { 1.0 };
    let pooled = if pooled > 0.0 { pooled } else { 1.0 };
    let floor = 1e-6 * pooled;
    let mut deviation = Vec::with_capacity(study.len());
    for (square, count) in squares.iter().zip(&counts) {
        let own = match variance {
            Variance::Global => pooled,
            _ if *count == 0.0 => pooled,
            Variance::PerExample if *count < 2.0 => {
                let with = if inside { "with" } else { "without" };
                let few = counts.iter().filter(|count| (1.0..2.0).contains(*count)).count();
                return Err(AuditError::not_measurable(format!(
                    "{few} of {} records have 1 reference trained {with} them, and a variance of their own needs 2: add \
                     references, or use a global or shrunken variance",
                    study.len()
                )));
            }
            Variance::PerExample => square / (count - 1.0),
            Variance::Shrunken => (PRIOR * pooled + square) / (PRIOR + count - 1.0) * (1.0 + 1.0 / count),
        };
        deviation.push(own.max(floor).sqrt());
    }
    Ok(Side { location: locations, deviation, count: counts, pooled })
}

fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) }
}
