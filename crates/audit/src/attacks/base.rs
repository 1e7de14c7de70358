//! The difference between the target's log-probability of the true class and the log of its mean over references.
//!
//! Offline, the mean is over references trained without the record, and its logarithm counts by a factor: models trained
//! with the record, which are missing, would have raised it.
//!
//! # Reference
//! Lassila, Östman, Ngo, Graell i Amat, *Practical Bayes-optimal membership inference attacks*, 2025.

use super::rmia::Means;
use super::{Attack, AttackScores, AttackSettings, ReferenceNeed, Requirements, evidence};
use crate::signal::log_sum_exp;
use crate::{AuditError, OUTPUTS, Study};
use libm::log;

/// The log-probability against the log of its mean over references on both sides.
pub const BASE: &dyn Attack = &Base { online: true };

/// The same with references trained without the record.
pub const BASE_OFFLINE: &dyn Attack = &Base { online: false };

#[derive(Debug)]
struct Base {
    online: bool,
}

impl Attack for Base {
    fn name(&self) -> &'static str {
        if self.online { "base" } else { "base-offline" }
    }

    fn about(&self) -> &'static str {
        match self.online {
            true => "the target's log-probability against the mean over all reference models",
            false => "the target's log-probability against the mean over reference models without the record",
        }
    }

    fn needs(&self) -> &'static str {
        match self.online {
            true => "outputs of references with and without each record",
            false => "outputs of a reference without each record",
        }
    }

    fn requirements(&self) -> Requirements {
        let references = if self.online { ReferenceNeed::WithAndWithout } else { ReferenceNeed::Without };
        Requirements { signals: &[OUTPUTS], references }
    }

    fn knowledge(&self, study: &Study) -> String {
        let sides = if self.online { "with it and without it" } else { "some without it" };
        format!("the record, and {} trained on data like the target's, {sides}", evidence::models(study))
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let online = self.online;
        let factor = if online { 1.0 } else { settings.base_factor };
        if !(factor.is_finite() && factor >= 0.0) {
            return Err(AuditError::invalid("base_factor", factor, "give a number of at least 0"));
        }
        let temperature = settings.base_temperature;
        if !(temperature.is_finite() && temperature > 0.0) {
            return Err(AuditError::invalid("base_temperature", temperature, "give a positive number"));
        }
        let records: Vec<usize> = (0..study.len()).collect();
        let target = evidence::log_probability(study, study.parts().target.as_ref(), temperature, &records)?;
        let references = evidence::reference_log_probabilities(study, temperature, &records)?;
        let models = &study.parts().references;
        let means = Means::new(models, &references, None, &records);
        let scores = target.iter().enumerate().map(|(record, own)| {
            let used = models.iter().zip(&references).filter(|(model, _)| online || !model.inside[record]);
            let used = used.map(|(_, logs)| logs[record]);
            let count = used.clone().count();
            // Without a reference on a side that is needed, the mean is filled in.
            let mean = match (online, means.has(record, online)) {
                (_, true) => log_sum_exp(used) - log(count as f64),
                (true, false) => log(means.of(record, true, 0.0)),
                (false, false) => log(means.outside(record).max(f64::MIN_POSITIVE)),
            };
            own - factor * mean
        });
        let mut found = AttackScores::new(
            scores.collect(),
            [
                ("factor", factor.to_string()),
                ("temperature", temperature.to_string()),
                ("references", references.len().to_string()),
            ],
        );
        evidence::note(study, self.requirements().references, &mut found.settings);
        Ok(found)
    }
}
