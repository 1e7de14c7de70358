//! What a model's outputs say about one record, as one number per record that is larger for members.

use crate::{AuditError, Outputs, OutputsKind};
use libm::{exp, expm1, log, log1p};

/// A number per record, made of the outputs and the true class; larger means more like a member.
///
/// All of them are computed in double precision from log-probabilities. A probability of exactly 0 has no logarithm. For the
/// true class it is read as half of the outputs' [resolution](Outputs::resolution), and as at most 1/20; all rivals of 0 share
/// that much. So a forest of 100 trees that is sure has a log-odds of ln 200, half a tree beyond the surest one that can be
/// told from it, and not the −ln of a float's rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// ln p of the true class: the cross-entropy, negated.
    Loss,
    /// p of the true class.
    Confidence,
    /// ln p of the true class less ln of the sum of all others: its log-odds.
    Logit,
    /// The entropy of the probabilities, negated; needs no label to be right.
    Entropy,
    /// The modified entropy of Song and Mittal, negated: small only when the model is sure and right.
    ModifiedEntropy,
    /// The logit of the true class less the largest other one.
    Hinge,
}

impl Signal {
    /// All of them.
    pub const ALL: [Signal; 6] = [
        Signal::Loss,
        Signal::Confidence,
        Signal::Logit,
        Signal::Entropy,
        Signal::ModifiedEntropy,
        Signal::Hinge,
    ];

    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Loss => "loss",
            Signal::Confidence => "confidence",
            Signal::Logit => "logit",
            Signal::Entropy => "entropy",
            Signal::ModifiedEntropy => "modified-entropy",
            Signal::Hinge => "hinge",
        }
    }

    /// The signal of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| signal.name() == name)
    }

    /// The signal of every record.
    ///
    /// # Reference
    /// Carlini et al., *Membership inference attacks from first principles*, 2022 (the logit); Song, Mittal, *Systematic
    /// evaluation of privacy risks of machine learning models*, 2021 (the modified entropy).
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for a number of labels other than that of the records, and for labels that are not a class.
    pub fn compute(self, outputs: &Outputs, labels: &[u32]) -> Result<Vec<f64>, AuditError> {
        check_labels(outputs, labels)?;
        Ok(self.values(outputs, labels))
    }

    /// The signal of every record, where labels are known to fit the outputs.
    pub(crate) fn values(self, outputs: &Outputs, labels: &[u32]) -> Vec<f64> {
        let mut signals = Vec::with_capacity(labels.len());
        each_row(outputs, labels, 1.0, |record, row| signals.push(self.of_row(row, labels[record] as usize)));
        signals
    }

    /// The signal of one record from its log-probabilities.
    fn of_row(self, row: &[f64], truth: usize) -> f64 {
        match self {
            Signal::Loss => row[truth],
            Signal::Confidence => exp(row[truth]),
            Signal::Logit => row[truth] - log_rest(row, truth),
            Signal::Entropy => row.iter().map(|v| exp(*v) * v).sum(),
            Signal::ModifiedEntropy => {
                let rivals = row.iter().enumerate().filter(|(class, _)| *class != truth);
                let rivals: f64 = rivals.map(|(class, v)| exp(*v) * log_complement(row, class)).sum();
                exp(log_complement(row, truth)) * row[truth] + rivals
            }
            Signal::Hinge => row[truth] - largest_but(row, truth),
        }
    }
}

/// The natural logarithm of the true class's probability at a temperature, for some records.
pub(crate) fn true_log_probability(
    outputs: &Outputs,
    labels: &[u32],
    temperature: f64,
    records: &[usize],
) -> Result<Vec<f64>, AuditError> {
    check_labels(outputs, labels)?;
    let mut logs = Vec::with_capacity(records.len());
    let records = records.iter().copied();
    each_row_of(outputs, labels, temperature, records, |record, row| logs.push(row[labels[record] as usize]));
    Ok(logs)
}

/// Calls with every record's log-probabilities of softmax(z / temperature).
pub(crate) fn each_row(
    outputs: &Outputs,
    labels: &[u32],
    temperature: f64,
    visit: impl FnMut(usize, &[f64]),
) {
    each_row_of(outputs, labels, temperature, 0..outputs.len(), visit);
}

fn each_row_of(
    outputs: &Outputs,
    labels: &[u32],
    temperature: f64,
    records: impl Iterator<Item = usize>,
    mut visit: impl FnMut(usize, &[f64]),
) {
    let floor = zero_probability(outputs);
    let mut row = vec![0.0; outputs.classes()];
    for record in records {
        let truth = labels[record] as usize;
        let given = outputs.record(record);
        let rivals = given.iter().enumerate().filter(|(class, value)| *class != truth && **value == 0.0);
        let shared = floor - log(rivals.count().max(1) as f64);
        for (class, (to, from)) in row.iter_mut().zip(given).enumerate() {
            let value = f64::from(*from);
            let value = match outputs.kind() {
                OutputsKind::Logits => value,
                OutputsKind::Probabilities if value > 0.0 => log(value),
                OutputsKind::Probabilities if class == truth => floor,
                OutputsKind::Probabilities => shared,
            };
            *to = value / temperature;
        }
        let total = log_sum_exp(row.iter().copied());
        row.iter_mut().for_each(|v| *v -= total);
        visit(record, &row);
    }
}

/// The most that a probability of 0 is read as.
const MOST_OF_ZERO: f64 = 0.05;

/// ln of what a probability of 0 is read as.
fn zero_probability(outputs: &Outputs) -> f64 {
    log((0.5 * f64::from(outputs.resolution())).min(MOST_OF_ZERO))
}

fn check_labels(outputs: &Outputs, labels: &[u32]) -> Result<(), AuditError> {
    if labels.len() != outputs.len() {
        let remedy = format!("give one for each of the {} records", outputs.len());
        return Err(AuditError::invalid("label", format!("{} labels", labels.len()), remedy));
    }
    if let Some(odd) = labels.iter().find(|label| **label as usize >= outputs.classes()) {
        let remedy = format!("give a class from 0 to {}", outputs.classes() - 1);
        return Err(AuditError::invalid("label", odd, remedy));
    }
    Ok(())
}

/// ln Σ exp, of finite numbers.
pub(crate) fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + log(values.map(|v| exp(v - largest)).sum())
}

/// ln Σ of all probabilities but one.
fn log_rest(row: &[f64], but: usize) -> f64 {
    log_sum_exp(row.iter().enumerate().filter(|(class, _)| *class != but).map(|(_, v)| *v))
}

/// ln(1 − p) of one class; from the others where p is near 1, so that nothing cancels.
fn log_complement(row: &[f64], class: usize) -> f64 {
    let own = row[class];
    if own > -0.7 {
        return log_rest(row, class).min(0.0);
    }
    if own > -30.0 { log(-expm1(own)) } else { log1p(-exp(own)) }
}

fn largest_but(row: &[f64], but: usize) -> f64 {
    let others = row.iter().enumerate().filter(|(class, _)| *class != but);
    others.fold(f64::NEG_INFINITY, |largest, (_, v)| largest.max(*v))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(kind: OutputsKind, classes: usize, values: &[f32]) -> Outputs {
        Outputs::new(kind, classes, values.to_vec()).unwrap()
    }

    #[test]
    fn logits_and_probabilities_agree() {
        let logits = [2.0f32, -1.0, 0.5, 0.0, 3.0, -2.0];
        let given = outputs(OutputsKind::Logits, 3, &logits);
        let mut probabilities = Vec::new();
        each_row(&given, &[0, 2], 1.0, |_, row| probabilities.extend(row.iter().map(|v| exp(*v) as f32)));
        let other = outputs(OutputsKind::Probabilities, 3, &probabilities);
        for signal in Signal::ALL {
            let (a, b) = (signal.compute(&given, &[0, 2]).unwrap(), signal.compute(&other, &[0, 2]).unwrap());
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-5, "{}: {a} {b}", signal.name());
            }
        }
    }

    #[test]
    fn values_by_hand() {
        let given = outputs(OutputsKind::Probabilities, 3, &[0.5, 0.3, 0.2]);
        let value = |signal: Signal| signal.compute(&given, &[0]).unwrap()[0];
        let (a, b, c) = (0.5f64, 0.3f64, 0.2f64);
        assert!((value(Signal::Loss) - a.ln()).abs() < 1e-7);
        assert!((value(Signal::Confidence) - a).abs() < 1e-7);
        assert!(value(Signal::Logit).abs() < 1e-6);
        assert!((value(Signal::Entropy) - (a * a.ln() + b * b.ln() + c * c.ln())).abs() < 1e-6);
        let modified = (1.0 - a) * a.ln() + b * (1.0 - b).ln() + c * (1.0 - c).ln();
        assert!((value(Signal::ModifiedEntropy) - modified).abs() < 1e-6);
        assert!((value(Signal::Hinge) - (a / b).ln()).abs() < 1e-6);
    }

    #[test]
    fn sure_probabilities_stay_finite() {
        let given = outputs(OutputsKind::Probabilities, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1e-30, 0.0]);
        for signal in Signal::ALL {
            let values = signal.compute(&given, &[0, 0, 0]).unwrap();
            assert!(values.iter().all(|v| v.is_finite()), "{}: {values:?}", signal.name());
            if signal != Signal::Entropy {
                assert!(values[0] > values[1], "{}: {values:?}", signal.name());
            }
        }
        let logit = Signal::Logit.compute(&given, &[0, 0, 0]).unwrap();
        assert!(logit[0] > logit[2], "a rival of 0 is below one of 1e-30: {logit:?}");
        let far = outputs(OutputsKind::Logits, 2, &[3e38, -3e38]);
        assert!(Signal::ALL.iter().all(|s| s.compute(&far, &[1]).unwrap()[0].is_finite()));
    }

    /// A forest of 100 trees, or probabilities rounded to two places.
    #[test]
    fn a_zero_is_half_a_step() {
        let given = outputs(
            OutputsKind::Probabilities,
            4,
            &[1.0, 0.0, 0.0, 0.0, 0.99, 0.01, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.98, 0.01, 0.01, 0.0],
        );
        let logit = Signal::Logit.compute(&given, &[0, 0, 0, 0]).unwrap();
        assert!((logit[0] - (1.0f64 / 0.005).ln()).abs() < 1e-5, "{logit:?}");
        assert!((logit[1] - (0.99f64 / 0.015).ln()).abs() < 1e-5, "{logit:?}");
        assert!((logit[2] - (0.005f64 / 1.005).ln()).abs() < 1e-5, "{logit:?}");
        assert!(logit.windows(2).all(|w| w[0] > w[1] || w[0] == logit[2]), "{logit:?}");
        // A tree says 0 or 1 only: the step is no larger than a tenth.
        let tree = outputs(OutputsKind::Probabilities, 2, &[1.0, 0.0, 0.0, 1.0]);
        let logit = Signal::Logit.compute(&tree, &[0, 0]).unwrap();
        assert!(logit[0] > 2.9 && logit[0] < 3.1 && (logit[0] + logit[1]).abs() < 1e-6, "{logit:?}");
    }

    #[test]
    fn all_are_larger_for_surer_models() {
        let given = outputs(OutputsKind::Logits, 4, &[1.0, 0.0, 0.2, 0.1, 9.0, 0.0, 0.2, 0.1]);
        for signal in Signal::ALL {
            let values = signal.compute(&given, &[0, 0]).unwrap();
            assert!(values[1] > values[0], "{}", signal.name());
        }
    }

    #[test]
    fn labels_must_fit() {
        let given = outputs(OutputsKind::Logits, 2, &[0.0, 1.0]);
        assert!(Signal::Loss.compute(&given, &[]).unwrap_err().to_string().contains("1 records"));
        assert!(Signal::Loss.compute(&given, &[2]).unwrap_err().to_string().contains("0 to 1"));
    }
}
