//! Two models, with and without somebody: who it is, and for linear models what their record was.
//!
//! Let θ and θ′ minimize the objectives of a linear model (see the module on informed adversaries) without and with a record z, with λ and
//! λ′ for their numbers of rows, and R = diag(1/a², …, 1/c²). Expanding the gradient without z around θ,
//!
//! ```text
//!  −s_z·(x_z, 1) = Σᵢ sᵢ(θ′)(xᵢ, 1) + λ′Rθ′ ≈ Σᵢ cᵢ(xᵢᵀΔu + Δt)(xᵢ, 1) + λ′RΔ + (λ′ − λ)Rθ,     Δ = θ′ − θ, cᵢ = ℓ″ at θ,
//! ```
//!
//! so somebody with both models and the curvature, a matrix of second moments, has the record without knowing any other record. The error is
//! of second order in Δ.

use super::informed::{LinearTarget, dense, mean, relative_error, solve};
use super::{Reconstruction, threat};
use crate::AttackError;
use reticent_audit::Membership;
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::{Disclosure, DisclosureMeasure};
use reticent_audit::findings::{Estimate, Threat};
use reticent_audit::metrics::{MetricSettings, measure};
use reticent_data::FeatureMatrix;
use std::collections::BTreeMap;

/// Who is in the later model only, by how much likelier their records are under it than under the earlier one.
///
/// `before` and `after` are log-probabilities of the true labels; `added` says who is in the later one only, and the others are in
/// neither.
///
/// # Errors
/// [`AttackError::Audit`] when nobody or everybody was added, or numbers are not finite.
pub fn added_by_difference(
    before: &[f64],
    after: &[f64],
    added: &[bool],
    confidence: f64,
) -> Result<Reconstruction, AttackError> {
    let settings = MetricSettings { confidence, rates: Vec::new(), prior: None };
    let area = |scores: Vec<f64>| -> Result<Estimate, AttackError> {
        Ok(measure(&Membership::new(scores, added.to_vec())?, &settings)?.auc)
    };
    let attack = area(after.iter().zip(before).map(|(after, before)| after - before).collect())?;
    let baseline = area(after.to_vec())?;
    let members = added.iter().filter(|added| **added).count();
    let measures = vec![DisclosureMeasure {
        what: "AUC; the baseline has the later model alone".to_owned(),
        condition: format!("{members} added records against {} others", added.len() - members),
        rises: true,
        attack,
        baseline: Some(baseline),
        difference: None,
    }];
    let disclosure = Disclosure {
        name: "model-difference".to_owned(),
        kind: AttackKind::MembershipInference,
        about: "scores a record by how much its loss falls from the earlier model to the later one"
            .to_owned(),
        settings: BTreeMap::new(),
        threat: Threat {
            access: "outputs of both models".to_owned(),
            knowledge: "the records in question".to_owned(),
            goal: "tell whose records were added between two models".to_owned(),
        },
        records: added.len() as u64,
        measures,
        bound: None,
        warnings: Vec::new(),
    };
    Ok(Reconstruction { disclosure, shown: Vec::new() })
}

/// The record that one of two linear models was fitted without, from both and the curvature of the first one's rows.
///
/// `rows` are those of the first model, from which the curvature is taken; `added` holds the record that the second one has as well, to
/// compare with.
///
/// # Errors
/// [`AttackError::Invalid`] for models that were fitted by descent, have no intercept or differ in loss, features or settings, and for
/// another number of added records than one.
pub fn record_by_difference(
    first: &LinearTarget<'_>,
    second: &LinearTarget<'_>,
    rows: &FeatureMatrix,
    added: &FeatureMatrix,
) -> Result<Reconstruction, AttackError> {
    first.check()?;
    second.check()?;
    let fits = |own: &LinearTarget<'_>| own.models.iter().all(|own| own.weights.len() == rows.dimension());
    let same = (first.models.len(), first.loss, first.intercept)
        == (second.models.len(), second.loss, second.intercept);
    if !same || !fits(first) || !fits(second) || added.rows() != 1 {
        let remedy = "give two models of the same features, loss and settings that differ in one record";
        return Err(AttackError::premise("models", format!("{} differing records", added.rows()), remedy));
    }
    let found: Vec<(f64, Vec<f64>)> =
        (0..first.models.len()).map(|model| first.moved_to(second, model, rows)).collect();
    let (record, label) = solve(&found);
    let (truth, own) = (dense(added, 0), added.labels()[0]);
    let exactly = |value: f64| Estimate { value, lower: value, upper: value, confidence: 1.0 };
    let (error, guess) = (relative_error(&record, &truth), relative_error(&mean(rows), &truth));
    let measures = vec![DisclosureMeasure {
        what: "relative error of the record; the baseline is the mean record".to_owned(),
        condition: format!(
            "one added record, label {}",
            if label == own { "recovered" } else { "not recovered" }
        ),
        rises: false,
        attack: exactly(error),
        baseline: Some(exactly(guess)),
        difference: Some(exactly(error - guess)),
    }];
    let disclosure = Disclosure {
        name: "record-difference".to_owned(),
        kind: AttackKind::Reconstruction,
        about: "multiplies the difference of two linear models by the curvature of the objective".to_owned(),
        settings: BTreeMap::from([("method of the models".to_owned(), second.method.to_string())]),
        threat: threat(
            "all weights of both models",
            "second moments of the other records, here those of the first model's, and how the models were fitted",
        ),
        records: 1,
        measures,
        bound: None,
        warnings: vec!["one pair of models says little about other records".to_owned()],
    };
    Ok(Reconstruction { disclosure, shown: Vec::new() })
}
