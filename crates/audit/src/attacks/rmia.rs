//! The relative attack: how often is the target's probability of a record, against what references give it, ahead of the
//! same ratio of other records?
//!
//! The score of x is the share of z with (p(x|target) / p(x)) / (p(z|target) / p(z)) of at least γ, where p is the
//! probability of the true class and p(x) its mean over models trained with and without x. Offline, only models trained
//! without x exist, and p(x) is ((1 + a) mean + 1 − a) / 2.
//!
//! On norms of gradients, which are not probabilities, ‖g‖^(−1/T) takes the place of p: a record to which the target's loss is flat,
//! against what references give it, is a member. Offline, p(x) is the mean over models trained without x, the formula above at
//! a = 1: its other values extrapolate to a probability of 1, which has no counterpart here.
//!
//! The population z is all of the study's records, members and non-members: so a score does not depend on membership, and is
//! the same increasing function of the ratio for every record. Ratios are sorted once and searched: no table of
//! all pairs is made.
//!
//! # Reference
//! Zarifzadeh, Liu, Shokri, *Low-cost high-power membership inference attacks*, 2024.

use super::{Attack, AttackScores, AttackSettings, Candidacy, ReferenceNeed, Requirements, evidence};
use crate::rank::auc;
use crate::{AuditError, GRADIENT_NORM, OUTPUTS, Reference, Study};
use libm::{exp, log};

/// The temperature where none can be tuned.
const TEMPERATURE: f64 = 2.0;
/// The offline factor a where none can be tuned.
const OFFLINE: f64 = 0.3;
const TEMPERATURES: [f64; 9] = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 6.0, 8.0];
/// How many references play the target in tuning.
const PLAYED: usize = 4;

/// The relative attack with references trained without the record.
pub const RMIA_OFFLINE: &dyn Attack = &Rmia { online: false, is_norm: false };

/// The relative attack with references on both sides.
pub const RMIA_ONLINE: &dyn Attack = &Rmia { online: true, is_norm: false };

/// The relative attack on norms of gradients, with references trained without the record.
pub const RMIA_OFFLINE_GRADIENT: &dyn Attack = &Rmia { online: false, is_norm: true };

/// The relative attack on norms of gradients, with references on both sides.
pub const RMIA_ONLINE_GRADIENT: &dyn Attack = &Rmia { online: true, is_norm: true };

#[derive(Debug)]
struct Rmia {
    online: bool,
    /// Whether it compares norms of gradients.
    is_norm: bool,
}

impl Attack for Rmia {
    fn name(&self) -> &'static str {
        match (self.online, self.is_norm) {
            (true, false) => "rmia-online",
            (false, false) => "rmia-offline",
            (true, true) => "rmia-online-gradient",
            (false, true) => "rmia-offline-gradient",
        }
    }

    fn about(&self) -> &'static str {
        match (self.online, self.is_norm) {
            (true, false) => {
                "how often the record's likelihood ratio exceeds those of other records, against reference models with and without it"
            }
            (false, false) => {
                "how often the record's likelihood ratio exceeds those of other records, against reference models without it"
            }
            (true, true) => {
                "how often the record's gradient shrinks more than those of other records, against reference models with and without it"
            }
            (false, true) => {
                "how often the record's gradient shrinks more than those of other records, against reference models without it"
            }
        }
    }

    fn needs(&self) -> &'static str {
        match (self.online, self.is_norm) {
            (true, false) => "outputs of references with and without each record",
            (false, false) => "outputs of a reference without each record",
            (true, true) => "gradients at references with and without each record",
            (false, true) => "gradients at a reference without each record",
        }
    }

    fn requirements(&self) -> Requirements {
        let references = if self.online { ReferenceNeed::WithAndWithout } else { ReferenceNeed::Without };
        Requirements { signals: if self.is_norm { &[GRADIENT_NORM] } else { &[OUTPUTS] }, references }
    }

    fn knowledge(&self, study: &Study) -> String {
        let (models, sides) =
            (evidence::models(study), if self.online { "with it and without it" } else { "some without it" });
        format!(
            "the record, {models} trained on data like the target's, {sides}, and other records to compare with"
        )
    }

    fn candidacy(&self) -> Option<Candidacy> {
        Some(match (self.online, self.is_norm) {
            (true, false) => Candidacy { rank: 30, plays: true, by_evidence: None },
            (false, false) => Candidacy { rank: 20, plays: true, by_evidence: Some(1) },
            (true, true) => Candidacy { rank: 35, plays: true, by_evidence: None },
            (false, true) => Candidacy { rank: 25, plays: true, by_evidence: None },
        })
    }

    fn tuned(&self, study: &Study, settings: &AttackSettings) -> Result<AttackSettings, AuditError> {
        check(settings)?;
        let tuned = self.tune(study, settings)?;
        Ok(AttackSettings {
            rmia_temperature: Some(tuned.temperature),
            rmia_a: Some(tuned.a),
            ..settings.clone()
        })
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let online = self.online;
        check(settings)?;
        let tuned = self.tune(study, settings)?;
        let records: Vec<usize> = (0..study.len()).collect();
        let Logs { target, references } = self.logs(study, tuned.temperature, &records)?;
        let means = self.means(&study.parts().references, &references, None, &records);
        let ratio = |(record, own): (usize, &f64)| own - log(means.of(record, online, tuned.a));
        let ratios: Vec<f64> = target.iter().enumerate().map(ratio).collect();
        let mut found = AttackScores::new(
            rmia_scores(&ratios, &ratios, settings.rmia_gamma),
            [
                ("temperature", tuned.temperature.to_string()),
                ("gamma", settings.rmia_gamma.to_string()),
                ("chosen", tuned.how),
                ("references", references.len().to_string()),
                ("population", "all records of the study".to_owned()),
            ],
        );
        if !online && !self.is_norm {
            found.settings.insert("a".to_owned(), tuned.a.to_string());
        }
        evidence::note(study, self.requirements().references, &mut found.settings);
        Ok(found)
    }
}

/// Logarithms of what takes the place of a probability, of the target and of every reference.
struct Logs {
    target: Vec<f64>,
    references: Vec<Vec<f64>>,
}

impl Rmia {
    /// Means over all references but one.
    fn means(&self, models: &[Reference], logs: &[Vec<f64>], but: Option<usize>, records: &[usize]) -> Means {
        let found = Means::new(models, logs, but, records);
        if self.is_norm { found.without_cap() } else { found }
    }

    /// The logarithms at a temperature, for some records.
    fn logs(&self, study: &Study, temperature: f64, records: &[usize]) -> Result<Logs, AuditError> {
        if self.is_norm {
            let found = evidence::compared(study, self.requirements())?.on_log_scale();
            let some = |values: &[f64]| records.iter().map(|record| values[*record] / temperature).collect();
            let references = found.references.iter().map(|values| some(values)).collect();
            return Ok(Logs { target: some(&found.target), references });
        }
        let target = evidence::log_probability(study, study.parts().target.as_ref(), temperature, records)?;
        Ok(Logs { target, references: evidence::reference_log_probabilities(study, temperature, records)? })
    }

    /// Temperature and a with the largest area under the curve when references play the target in turn: their own masks are the
    /// truth, and the target is not looked at.
    fn tune(&self, study: &Study, settings: &AttackSettings) -> Result<Tuned, AuditError> {
        let online = self.online;
        let temperatures = settings.rmia_temperature.map_or(TEMPERATURES.to_vec(), |t| vec![t]);
        let factors: Vec<f64> = match settings.rmia_a {
            _ if self.is_norm => vec![1.0],
            Some(a) => vec![a],
            None if online => vec![OFFLINE],
            None => (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
        };
        if let ([temperature], [a]) = (temperatures.as_slice(), factors.as_slice()) {
            return Ok(Tuned { temperature: *temperature, a: *a, how: "as asked".to_owned() });
        }
        let models = &study.parts().references;
        let sample = evidence::sample(study, &settings.key);
        let mut totals = vec![0.0; temperatures.len() * factors.len()];
        let mut played = 0;
        for (row, temperature) in temperatures.iter().enumerate() {
            let logs = self.logs(study, *temperature, &sample)?.references;
            played = 0;
            for (place, model) in models.iter().enumerate() {
                if played == PLAYED {
                    break;
                }
                let means = self.means(models, &logs, Some(place), &sample);
                let used: Vec<usize> = (0..sample.len()).filter(|at| means.has(*at, online)).collect();
                let truth: Vec<bool> = used.iter().map(|at| model.inside[sample[*at]]).collect();
                let inside = truth.iter().filter(|t| **t).count();
                if inside == 0 || inside == truth.len() {
                    continue;
                }
                played += 1;
                for (column, a) in factors.iter().enumerate() {
                    let ratios: Vec<f64> =
                        used.iter().map(|at| logs[place][*at] - log(means.of(*at, online, *a))).collect();
                    // The score rises with the ratio, so the ratio has its curve.
                    totals[row * factors.len() + column] += auc(&ratios, &truth).unwrap_or(0.5);
                }
            }
        }
        if played == 0 {
            let temperature = settings.rmia_temperature.unwrap_or(TEMPERATURE);
            let how = "defaults: no reference can stand in for the target".to_owned();
            let a = if self.is_norm { 1.0 } else { settings.rmia_a.unwrap_or(OFFLINE) };
            return Ok(Tuned { temperature, a, how });
        }
        let mut best = 0;
        for (place, total) in totals.iter().enumerate() {
            if *total > totals[best] {
                best = place;
            }
        }
        Ok(Tuned {
            temperature: temperatures[best / factors.len()],
            a: factors[best % factors.len()],
            how: format!("by {played} references that stood in for the target"),
        })
    }
}

/// Refuses settings out of range.
fn check(settings: &AttackSettings) -> Result<(), AuditError> {
    let refuse = |field, value: f64, remedy: &str| Err(AuditError::invalid(field, value, remedy));
    if !(settings.rmia_gamma > 0.0 && settings.rmia_gamma.is_finite()) {
        return refuse("rmia_gamma", settings.rmia_gamma, "give a positive number");
    }
    if let Some(odd) = settings.rmia_temperature.filter(|t| !(*t > 0.0 && t.is_finite())) {
        return refuse("rmia_temperature", odd, "give a positive number");
    }
    if let Some(odd) = settings.rmia_a.filter(|a| !(0.0..=1.0).contains(a)) {
        return refuse("rmia_a", odd, "give a number from 0 to 1");
    }
    Ok(())
}

/// For every record, the share of the population whose log-ratio is at least ln γ below its own.
pub fn rmia_scores(ratios: &[f64], population: &[f64], gamma: f64) -> Vec<f64> {
    let mut sorted = population.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (margin, size) = (log(gamma), sorted.len() as f64);
    ratios.iter().map(|own| sorted.partition_point(|z| own - z >= margin) as f64 / size).collect()
}

/// Mean probabilities over the references on either side of some records.
pub(super) struct Means {
    inside: Vec<(f64, u32)>,
    outside: Vec<(f64, u32)>,
    /// How many times as likely a record is, in the geometric mean, to models trained with it.
    gain: f64,
    /// The largest that a mean can be.
    most: f64,
}

impl Means {
    /// Over all references but one.
    pub(super) fn new(
        models: &[Reference],
        logs: &[Vec<f64>],
        but: Option<usize>,
        records: &[usize],
    ) -> Self {
        let mut sums = [vec![(0.0, 0); records.len()], vec![(0.0, 0); records.len()]];
        for (place, (model, logs)) in models.iter().zip(logs).enumerate() {
            if Some(place) == but {
                continue;
            }
            for (at, (record, value)) in records.iter().zip(logs).enumerate() {
                let sum: &mut (f64, u32) = &mut sums[usize::from(model.inside[*record])][at];
                sum.0 += exp(*value);
                sum.1 += 1;
            }
        }
        let [outside, inside] = sums;
        let both = outside.iter().zip(&inside).filter(|(out, own)| out.1 > 0 && own.1 > 0);
        let gains: Vec<f64> = both.map(|(out, own)| log(mean(*own) / mean(*out))).collect();
        let gains: Vec<f64> = gains.into_iter().filter(|gain| gain.is_finite()).collect();
        let gain = exp(gains.iter().sum::<f64>() / gains.len().max(1) as f64);
        Self { inside, outside, gain, most: 1.0 }
    }

    /// Of numbers that are not probabilities, which may exceed 1.
    fn without_cap(self) -> Self {
        Self { most: f64::MAX, ..self }
    }

    /// The mean over references without the record; where there are none, what those with it make likely.
    pub(super) fn outside(&self, record: usize) -> f64 {
        let (own, other) = (self.outside[record], self.inside[record]);
        if own.1 > 0 { mean(own) } else { (mean(other) / self.gain).min(self.most) }
    }

    fn inside(&self, record: usize) -> f64 {
        let (own, other) = (self.inside[record], self.outside[record]);
        if own.1 > 0 { mean(own) } else { (mean(other) * self.gain).min(self.most) }
    }

    /// Whether there are references on every side that is needed.
    pub(super) fn has(&self, record: usize, online: bool) -> bool {
        self.outside[record].1 > 0 && (!online || self.inside[record].1 > 0)
    }

    /// p(x), at least the smallest positive number.
    pub(super) fn of(&self, record: usize, online: bool, a: f64) -> f64 {
        let outside = self.outside(record);
        let p = if online {
            0.5 * (self.inside(record) + outside)
        } else {
            0.5 * ((1.0 + a) * outside + 1.0 - a)
        };
        p.max(f64::MIN_POSITIVE)
    }
}

fn mean((sum, count): (f64, u32)) -> f64 {
    sum / f64::from(count.max(1))
}

struct Tuned {
    temperature: f64,
    a: f64,
    how: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_data::keyed_hash;

    #[test]
    fn search_equals_all_pairs() {
        let hash =
            |place: usize, key| (keyed_hash(key, &place.to_le_bytes()) >> 11) as f64 / (1u64 << 53) as f64;
        let ratios = |key| -> Vec<f64> { (0..500).map(|p| (hash(p, key) * 40.0).round() / 10.0).collect() };
        let (records, population) = (ratios("r"), ratios("z"));
        for gamma in [0.5, 1.0, 2.0, 7.0] {
            for (own, fast) in records.iter().zip(rmia_scores(&records, &population, gamma)) {
                let ahead = population.iter().filter(|z| own - **z >= log(gamma)).count();
                assert_eq!(fast, ahead as f64 / population.len() as f64);
            }
        }
    }
}
