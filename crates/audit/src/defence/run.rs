//! Audited models with defences, and the curves through them.

use super::{CurveComparison, DefenceCurve, DefencePoint, compare_curves};
use crate::AuditError;
use crate::findings::{AttackFinding, Estimate, Findings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The attack that looks at confidence alone, with one threshold for all records: it knows nothing about a defence.
const PLAIN: &str = "yeom-loss";

/// Attacks that see predicted classes alone.
const LABEL_ONLY: [&str; 2] = ["label-only", "lira-label-only"];

/// An audited model, and how it was defended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefendedModel {
    /// The model's name.
    pub name: String,
    /// The defence, such as `adversarial` or `dp-sgd`.
    pub defence: String,
    /// Its strength: λ, a rate, a share, a number of epochs, or ε.
    pub strength: f64,
    /// The certified ε; none for a model without a guarantee.
    pub epsilon: Option<f64>,
    /// Accuracy on the audited members.
    pub train_accuracy: f64,
    /// Accuracy on the audited non-members.
    pub test_accuracy: f64,
    /// The AUC of one threshold on confidence, which does not adapt to the defence.
    pub plain_auc: Option<Estimate>,
    /// The headline attack.
    pub adaptive: String,
    /// Its AUC. Where it compares with reference models, these have the same defence.
    pub adaptive_auc: Estimate,
    /// Its true-positive rate at 1 % false positives; none where that cannot be measured.
    pub adaptive_tpr: Option<Estimate>,
    /// The largest AUC of attacks that see predicted classes alone.
    pub label_only_auc: Option<f64>,
    /// The AUC of the attack that was chosen among those with the weights.
    pub white_box_auc: Option<f64>,
}

/// The defence of a model, by its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct DefenceLabel {
    /// The model's name.
    pub name: String,
    /// The defence.
    pub defence: String,
    /// Its strength.
    pub strength: f64,
    /// The certified ε.
    pub epsilon: Option<f64>,
}

impl DefendedModel {
    /// What an audit found of a model.
    ///
    /// # Errors
    /// [`AuditError::NotMeasurable`] when the audit has no accuracy or no headline.
    pub fn new(label: DefenceLabel, findings: &Findings) -> Result<Self, AuditError> {
        let DefenceLabel { name, defence, strength, epsilon } = label;
        let missing = |what: &str| AuditError::not_measurable(format!("{name}: the audit has no {what}"));
        let own = findings.overfitting.first().ok_or_else(|| missing("accuracy of the model"))?;
        let find = |name: &str| findings.attacks.iter().find(|attack| attack.name == name);
        let headline = find(&findings.headline).ok_or_else(|| missing("headline attack"))?;
        let performance = &headline.performance;
        let rate = performance.rates.iter().find(|rate| rate.fpr == 0.01);
        let auc = |attack: &AttackFinding| attack.performance.auc;
        let label_only = LABEL_ONLY.iter().filter_map(|name| find(name)).map(|attack| auc(attack).value);
        let white_box =
            findings.by_access.last().and_then(|row| find(&row.attack)).map(|attack| auc(attack).value);
        Ok(Self {
            train_accuracy: own.train_accuracy,
            test_accuracy: own.test_accuracy,
            plain_auc: find(PLAIN).map(auc),
            adaptive: findings.headline.clone(),
            adaptive_auc: performance.auc,
            adaptive_tpr: rate.and_then(|rate| rate.tpr),
            label_only_auc: label_only.reduce(f64::max),
            white_box_auc: white_box,
            name,
            defence,
            strength,
            epsilon,
        })
    }
}

/// One measure of leakage over the utility of all defences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefenceCurves {
    /// One curve per defence: test accuracy, and the leakage there.
    pub curves: Vec<DefenceCurve>,
    /// Every pair of defences where their curves overlap.
    pub compared: Vec<CurveComparison>,
}

/// Audited models beside each other, a curve for every defence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefenceComparison {
    /// The models, defence by defence.
    pub models: Vec<DefendedModel>,
    /// By the AUC of the adaptive attack.
    pub auc: DefenceCurves,
    /// By its true-positive rate at 1 % false positives; models where it cannot be measured are left out.
    pub tpr: DefenceCurves,
}

impl DefenceComparison {
    /// Compares models.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for fewer than two models, and for figures that are not finite.
    pub fn new(mut models: Vec<DefendedModel>) -> Result<Self, AuditError> {
        if models.len() < 2 {
            return Err(AuditError::invalid("compare", models.len(), "give at least two audited models"));
        }
        models.sort_by(|a, b| {
            a.defence.cmp(&b.defence).then(a.strength.total_cmp(&b.strength)).then(a.name.cmp(&b.name))
        });
        let auc = curves(&models, |model| Some(model.adaptive_auc.value))?;
        let tpr = curves(&models, |model| Some(model.adaptive_tpr?.value))?;
        Ok(Self { models, auc, tpr })
    }
}

fn curves(
    models: &[DefendedModel],
    leakage: impl Fn(&DefendedModel) -> Option<f64>,
) -> Result<DefenceCurves, AuditError> {
    let mut points: BTreeMap<&str, Vec<DefencePoint>> = BTreeMap::new();
    for model in models {
        if let Some(leakage) = leakage(model) {
            let point = DefencePoint { strength: model.strength, utility: model.test_accuracy, leakage };
            points.entry(&model.defence).or_default().push(point);
        }
    }
    let curves = points
        .into_iter()
        .map(|(name, points)| DefenceCurve::new(name, points))
        .collect::<Result<Vec<_>, _>>()?;
    let compared = compare_curves(&curves);
    Ok(DefenceCurves { curves, compared })
}
