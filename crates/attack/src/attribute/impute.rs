//! The imputation: the column from the others, without a model.

use super::AttributeStudy;
use crate::AttackError;
use reticent_audit::Features;
use reticent_audit::boost::{Boost, BoostLoss, BoostSettings};
use std::ops::Range;

/// Trees for every value against the rest; for two values, trees for the second one.
pub(super) struct Imputation {
    features: Features,
    /// The trees of every value, or the logarithm of its odds where the attacker has seen only one side.
    values: Vec<Result<Boost, f64>>,
    count: usize,
}

impl Imputation {
    /// Learns from the attacker's own records; with labels they count as a column each class.
    pub(super) fn fit(
        study: &AttributeStudy,
        labels: Option<&[u32]>,
        key: &str,
    ) -> Result<Self, AttackError> {
        let classes = labels.and_then(|labels| labels.iter().max()).map_or(0, |most| *most as usize + 1);
        let columns = study.known.columns + classes;
        let mut values = Vec::with_capacity(columns * study.truth.len());
        for record in 0..study.truth.len() {
            values.extend_from_slice(
                &study.known.values[record * study.known.columns..][..study.known.columns],
            );
            let label = labels.map(|labels| labels[record] as usize);
            values.extend((0..classes).map(|class| f32::from(u8::from(label == Some(class)))));
        }
        let own = study.own();
        let seen = Features { columns, values: values[..own * columns].to_vec() };
        let settings = BoostSettings { key: format!("{key} imputation"), ..BoostSettings::default() };
        let asked = if study.values == 2 { 1..2 } else { 0..study.values };
        let mut trees = Vec::new();
        for value in asked {
            let targets: Vec<f64> = study.truth[..own]
                .iter()
                .map(|truth| f64::from(u8::from(*truth as usize == value)))
                .collect();
            let count = targets.iter().sum::<f64>();
            trees.push(if count == 0.0 || count == own as f64 {
                Err(libm::log((count + 0.5) / (own as f64 - count + 0.5)))
            } else {
                Ok(Boost::fit(&seen, &targets, BoostLoss::Logistic, &settings)?)
            });
        }
        Ok(Self { features: Features { columns, values }, values: trees, count: study.values })
    }

    /// ln P(v | others) for every record and value.
    pub(super) fn predict(&self, records: Range<usize>) -> Result<Vec<f64>, AttackError> {
        let columns = self.features.columns;
        let asked = self.features.values[records.start * columns..records.end * columns].to_vec();
        let asked = Features { columns, values: asked };
        let odds = self.values.iter().map(|value| match value {
            Ok(trees) => trees.predict(&asked),
            Err(odds) => Ok(vec![*odds; records.len()]),
        });
        let odds = odds.collect::<Result<Vec<Vec<f64>>, _>>()?;
        // ln of 1 / (1 + e^{−odds}), and for two values of the other side too.
        let log = |odds: f64| -libm::log1p(libm::exp(-odds.abs())) + odds.min(0.0);
        let mut found = Vec::with_capacity(self.count * records.len());
        for record in 0..records.len() {
            let own = odds.iter().map(|odds| odds[record]);
            let logs: Vec<f64> = match self.count {
                2 => own.flat_map(|odds| [log(-odds), log(odds)]).collect(),
                _ => own.map(log).collect(),
            };
            let sum = libm::log(logs.iter().map(|log| libm::exp(*log)).sum::<f64>());
            found.extend(logs.iter().map(|log| log - sum));
        }
        Ok(found)
    }
}
