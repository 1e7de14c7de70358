//! The difference between the target's log-probability of the true class and the log of its mean over references.
//!
//! Offline, the mean is over references trained without the record, and its logarithm counts by a factor: models trained
//! with the record, which are missing, would have raised it.
//!
//! # Reference
//! Lassila, Östman, Ngo, Graell i Amat, *Practical Bayes-optimal membership inference attacks*, 2025.

use super::rmia::Means;
use super::{AttackScores, AttackSettings, evidence};
use crate::signal::log_sum_exp;
use crate::{AuditError, Study};
use libm::log;
use std::collections::BTreeMap;

pub(super) fn can_run(study: &Study, online: bool) -> Result<(), String> {
    evidence::all_outputs(study)?;
    evidence::sides(study, online)
}

pub(super) fn run(
    study: &Study,
    online: bool,
    settings: &AttackSettings,
) -> Result<AttackScores, AuditError> {
    can_run(study, online).map_err(AuditError::not_measurable)?;
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
    let mut settings = BTreeMap::from([
        ("factor".to_owned(), factor.to_string()),
        ("temperature".to_owned(), temperature.to_string()),
        ("references".to_owned(), references.len().to_string()),
    ]);
    evidence::note(study, online, &mut settings);
    Ok(AttackScores { scores: scores.collect(), settings })
}
