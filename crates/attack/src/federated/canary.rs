//! Parties planted by coin flips.

use super::FederatedSetup;
use crate::AttackError;
use crate::canary::{CanaryRun, Dirac};
use crate::learner::Halt;
use reticent_audit::Membership;
use reticent_core::{Neighboring, SamplingRate};
use reticent_noise::Entropy;
use reticent_noise::entropy::Bits;
use reticent_noise::sampler::Inclusion;
use reticent_train::FederatedTerms;

/// Trains once with canary parties, each of which was included by a fair coin of its own, and scores all of them.
///
/// The number of parties that the plan divides by is declared, and not that of those who are there. A canary party holds no records. It
/// takes part in a round with the plan's probability, by coins of its own. Whenever it takes part, it claims a change of the full clipping norm at a coordinate of its own; it
/// is scored by how far that coordinate moved against it. Everybody else keeps to the protocol.
///
/// # Guarantee
/// None is made. Scores are post-processing of the run's weights and coins are fresh, so that a valid lower bound from them is one on the
/// ε of the run for one party with all its records, under add-remove.
///
/// # Reference
/// Steinke, Nasr, Jagielski, *Privacy auditing with one (1) training run* (2023).
///
/// # Errors
/// [`AttackError::Invalid`] for a run that does not protect parties, fewer than 2 canaries, and more than there are trained weights;
/// [`AttackError::Audit`] when all coins fell on one side; [`AttackError::Interrupted`]; what the network refuses.
pub fn canary_parties(
    setup: &FederatedSetup,
    count: usize,
    key: &str,
    halt: Halt<'_>,
) -> Result<CanaryRun, AttackError> {
    let FederatedTerms::Parties(plan, _) = &setup.terms else {
        let remedy =
            "give a run that protects parties: a canary party's change is as long as the clipping norm";
        return Err(AttackError::premise("terms", "other", remedy));
    };
    if plan.settings().neighboring != Neighboring::AddRemove || count < 2 {
        return Err(AttackError::invalid("canaries", count, "give at least 2, and an add-remove plan"));
    }
    let mut entropy = Entropy::new()?;
    let coins: Vec<bool> = (0..count).map(|_| entropy.bit()).collect();
    let included: Vec<usize> = (0..count).filter(|canary| coins[*canary]).collect();
    let rate = SamplingRate::new(plan.settings().constant_rate()?)?;
    let (inclusion, mut taking_part) = (Inclusion::new(rate)?, Vec::new());
    let mut federation = setup.federation()?;
    let layout = federation.layout().clone();
    let coordinates = Dirac::coordinates(&layout, count, key)?;
    let norm = plan.settings().clipping.norm() as f32;
    let start = federation.weights()?;
    while !federation.is_finished() {
        if halt() {
            return Err(AttackError::Interrupted);
        }
        let weights = federation.weights()?;
        let participants = federation.participants();
        let mut updates = federation.updates(&participants, |_| weights.as_slice())?;
        inclusion.draw(included.len(), &mut entropy, &mut taking_part);
        for place in &taking_part {
            let mut claim = vec![0.0f32; layout.gradients()];
            claim[coordinates[included[*place]]] = norm;
            let mut update = federation.claimed(0, &claim)?;
            update.party = setup.parties.len() + place;
            updates.push(update);
        }
        federation.aggregate(&updates)?;
    }
    let end = federation.weights()?;
    let moved = |coordinate: &usize| {
        let place = Dirac::weight_of(&layout, *coordinate);
        place.map_or(0.0, |place| f64::from(start[place]) - f64::from(end[place]))
    };
    Ok(CanaryRun {
        membership: Membership::new(coordinates.iter().map(moved).collect(), coins)?,
        certificate: federation.certificate()?,
        canaries: count,
        notes: Vec::new(),
    })
}
