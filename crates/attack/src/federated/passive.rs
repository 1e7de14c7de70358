//! Somebody who keeps to the protocol, and what they see.

use super::FederatedSetup;
use crate::AttackError;
use crate::learner::Halt;
use reticent_audit::attacks::{SNAPSHOT_FEATURES, SNAPSHOT_GRADIENT_NORM, SNAPSHOT_LIKELIHOOD};
use reticent_audit::{SignalSource, SignalValues, Signals};
use reticent_train::federated::ServerView;
use reticent_train::inspect::{Inspection, Inspector};
use reticent_train::{Description, Examples, Federation, Resources};

/// Who looks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observer {
    /// The server, which sees the model of the party `victim` after each of its local trainings. No certificate covers that.
    Server {
        /// The party whose records are asked about.
        victim: usize,
    },
    /// A party, which sees the server's weights after each round, and asks about the records of all others.
    Party {
        /// Its own number.
        own: usize,
    },
}

/// A model that an observer saw.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedModel {
    /// After which round, from 1.
    pub round: u64,
    /// Its weights.
    pub weights: Vec<f32>,
}

/// Trains once and returns what the observer sees after each of these rounds, which are increasing, and the final weights.
///
/// A party that took no part in a round is seen as it was when it last did, and as the server's weights before that.
///
/// # Errors
/// [`AttackError::Invalid`] for rounds that do not increase or are not part of the run, and for a party that is not there;
/// [`AttackError::Interrupted`]; what the network refuses.
pub fn observe(
    setup: &FederatedSetup,
    observer: Observer,
    rounds: &[u64],
    halt: Halt<'_>,
) -> Result<(Vec<ObservedModel>, Vec<f32>), AttackError> {
    let (Observer::Server { victim: party } | Observer::Party { own: party }) = observer;
    setup.check_party(party)?;
    let mut federation = setup.federation()?;
    check_rounds(rounds, federation.steps())?;
    let (mut seen, mut models) = (None, Vec::with_capacity(rounds.len()));
    while !federation.is_finished() {
        if halt() {
            return Err(AttackError::Interrupted);
        }
        let (progress, view) = federation.observed_step()?;
        if let Observer::Server { victim } = observer {
            seen = model_of(&federation, &view, victim).or(seen);
        }
        if rounds.contains(&progress.taken) {
            let weights = match (&seen, observer) {
                (Some(own), Observer::Server { .. }) => own.clone(),
                _ => federation.weights()?,
            };
            models.push(ObservedModel { round: progress.taken, weights });
        }
    }
    Ok((models, federation.final_weights()?))
}

/// The model of a party in a round, if it took part.
pub(super) fn model_of(federation: &Federation, view: &ServerView, party: usize) -> Option<Vec<f32>> {
    let update = view.updates.iter().find(|update| update.party == party)?;
    Some(federation.model_of(&view.weights, update))
}

fn check_rounds(rounds: &[u64], last: u64) -> Result<(), AttackError> {
    let is_rising = rounds.windows(2).all(|pair| pair[0] < pair[1]);
    let is_inside = rounds.iter().all(|round| (1..=last).contains(round));
    if rounds.is_empty() || !is_rising || !is_inside {
        let remedy = format!("give increasing numbers of rounds from 1 to {last}");
        return Err(AttackError::invalid("rounds", format!("{rounds:?}"), remedy));
    }
    Ok(())
}

/// What is seen of every example at every model: losses, norms of the gradient, and norms by layer.
///
/// # Errors
/// What the network refuses; [`AttackError::Audit`] for a loss or norm that is not finite.
pub fn snapshot_signals(
    description: &Description,
    models: &[ObservedModel],
    examples: &Examples,
    resources: Resources,
) -> Result<Signals, AttackError> {
    let mut inspector = Inspector::new(description, resources)?;
    let layers = inspector.layout().groups().max(1);
    let inspection = Inspection { losses: true, layer_norms: true, ..Inspection::default() };
    let all: Vec<usize> = (0..examples.len()).collect();
    let width = layers + 2;
    let mut features = vec![0.0f64; examples.len() * width * models.len()];
    let (mut likelihood, mut norm) = (vec![0.0; examples.len()], vec![0.0; examples.len()]);
    let share = 1.0 / models.len().max(1) as f64;
    for (place, model) in models.iter().enumerate() {
        let seen = inspector.inspect(&model.weights, examples, &all, &inspection)?;
        let losses = seen.losses.unwrap_or_default();
        let norms = seen.layer_norms.unwrap_or_default();
        for (record, (loss, norms)) in losses.iter().zip(norms.chunks_exact(layers)).enumerate() {
            let total = norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
            let start = (record * models.len() + place) * width;
            features[start] = *loss;
            features[start + 1] = total;
            features[start + 2..start + width].copy_from_slice(norms);
            likelihood[record] -= share * loss;
            norm[record] -= share * total;
        }
    }
    let source = SignalSource::Snapshots;
    let features = SignalValues::rows(source, (width * models.len()).max(1), features)?;
    Ok(Signals::none()
        .with(SNAPSHOT_LIKELIHOOD, SignalValues::scalar(source, likelihood))
        .with(SNAPSHOT_GRADIENT_NORM, SignalValues::scalar(source, norm))
        .with(SNAPSHOT_FEATURES, features))
}
