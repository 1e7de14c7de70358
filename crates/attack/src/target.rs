use crate::{Artifact, AttackError, Population};
use reticent_audit::{Outputs, Reference, Signals, Study, StudyParts};

/// A target beside its references: what it said about the population, and which of the records it was trained on.
///
/// # Errors
/// [`AttackError::Audit`] when the parts do not speak of the same records and classes.
pub fn target_study(
    population: &Population,
    members: Vec<bool>,
    target: impl Into<Artifact>,
    references: Vec<Reference>,
) -> Result<Study, AttackError> {
    let Artifact { outputs, signals, .. } = target.into();
    study(population, members, (outputs, signals), references)
}

/// One reference as the target, and the others as its references.
///
/// A reference that was trained on exactly the records that this one was not is left out: with it, members would have
/// one model more that never saw them than non-members have, which would tell an attack who is who.
///
/// # Errors
/// [`AttackError::Invalid`] when there is no such reference, otherwise as [`target_study`].
pub fn as_target(
    population: &Population,
    references: &[Reference],
    which: usize,
) -> Result<Study, AttackError> {
    let Some(target) = references.get(which) else {
        let remedy = format!("give a number below {}", references.len());
        return Err(AttackError::invalid("target", which, remedy));
    };
    let is_partner = |other: &Reference| other.inside.iter().zip(&target.inside).all(|(a, b)| a != b);
    let others = references.iter().enumerate();
    let others = others.filter(|(index, other)| *index != which && !is_partner(other));
    let references = others.map(|(_, other)| other.clone()).collect();
    study(population, target.inside.clone(), (target.outputs.clone(), target.signals.clone()), references)
}

/// All parts together; the target has outputs or scores.
fn study(
    population: &Population,
    members: Vec<bool>,
    (target, signals): (Option<Outputs>, Signals),
    references: Vec<Reference>,
) -> Result<Study, AttackError> {
    let Population { ids, labels, users, user_records, groups, features } = population.clone();
    let labels = user_records.is_none().then_some(labels);
    Ok(Study::new(StudyParts {
        ids,
        members,
        labels,
        users,
        user_records,
        groups,
        features,
        signals,
        target,
        references,
        ..StudyParts::default()
    })?)
}
