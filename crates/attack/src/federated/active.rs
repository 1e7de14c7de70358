//! Somebody who departs from the protocol.
//!
//! The attacker adds the gradient of the target records' loss to the weights, so that the loss rises. Whoever holds a record trains
//! on it and brings its loss down again; of a record that nobody holds the loss falls only as far as others resemble it. So a record is
//! scored by how low its loss is after that training.
//!
//! # Reference
//! Nasr, Shokri, Houmansadr, *Comprehensive privacy analysis of deep learning: passive and active white-box inference attacks*, 2019.

use super::FederatedSetup;
use super::detection::{Watched, cosine, difference, norm};
use crate::AttackError;
use crate::learner::Halt;
use reticent_audit::AuditError;
use reticent_audit::disclosure::{Trajectory, TrajectoryLine};
use reticent_audit::interval::median;
use reticent_train::federated::moved;
use reticent_train::inspect::{Inspection, Inspector};
use reticent_train::{Examples, Federation, PartyUpdate, Selection, engine};
use std::ops::RangeInclusive;

/// Who attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActiveAttacker {
    /// The server sends raised weights to one party, and otherwise keeps to the protocol.
    Server {
        /// The party whose records are asked about.
        victim: usize,
    },
    /// The server sends raised weights to one party, and keeps it apart: that party gets its own last model back instead of the mean,
    /// and its updates are left out of the mean.
    Isolating {
        /// The party whose records are asked about.
        victim: usize,
    },
    /// A party raises the loss by its own update in every second attacked round, and watches the server's weights in the others.
    Party {
        /// Its own number.
        own: usize,
    },
}

impl ActiveAttacker {
    /// The party that it concerns: the victim, or the attacker itself.
    pub fn party(self) -> usize {
        match self {
            Self::Server { victim } | Self::Isolating { victim } => victim,
            Self::Party { own } => own,
        }
    }
}

/// How an attacker proceeds.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveSettings {
    /// Who attacks.
    pub attacker: ActiveAttacker,
    /// The attacked rounds, from 1.
    pub rounds: RangeInclusive<u64>,
    /// The learning rate of the ascent on the mean loss of the targets; 0 for an attacker who only watches.
    pub rate: f64,
    /// Steps of ascent in a round.
    pub steps: u64,
    /// How many targets are raised in one round; the groups take turns. More where the rounds would not suffice for all.
    pub group: usize,
}

impl ActiveSettings {
    /// How often a group is raised and watched.
    fn turns(&self) -> usize {
        let rounds = (self.rounds.end() + 1).saturating_sub(*self.rounds.start()) as usize;
        match self.attacker {
            ActiveAttacker::Server { .. } | ActiveAttacker::Isolating { .. } => rounds,
            ActiveAttacker::Party { .. } => rounds / 2,
        }
    }
}

/// What an active attacker saw.
#[derive(Debug, Clone)]
pub struct ActiveRun {
    /// One per target, larger for members: the loss after the training that follows a raise, negated, on average over the raises.
    pub likelihood: Vec<f64>,
    /// Losses of targets over the rounds.
    pub losses: Vec<ObservedLosses>,
    /// What the honest side saw.
    pub watched: Watched,
    /// The server's weights at the end.
    pub weights: Vec<f32>,
}

/// Losses of some targets at one point in time.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedLosses {
    /// In rounds: half a round before the end of a round for raised weights.
    pub at: f64,
    /// Which targets, by number.
    pub targets: Vec<usize>,
    /// The loss of each of them.
    pub losses: Vec<f64>,
}

/// An attack beside the same federation without it.
#[derive(Debug, Clone)]
pub struct ActiveAttack {
    /// The attack.
    pub run: ActiveRun,
    /// The same attacker, who only watches.
    pub honest: ActiveRun,
}

/// Trains once with the attacker and once with an observer in its place.
///
/// # Errors
/// [`AttackError::Invalid`] for rounds that are not part of the run, a rate that is not finite, and parties that are not there;
/// [`AttackError::Interrupted`]; what the network refuses.
pub fn attack(
    setup: &FederatedSetup,
    settings: &ActiveSettings,
    targets: &Examples,
    halt: Halt<'_>,
) -> Result<ActiveAttack, AttackError> {
    setup.check_party(settings.attacker.party())?;
    // Who only watches watches everybody.
    let honest = ActiveSettings { rate: 0.0, group: targets.len(), ..settings.clone() };
    let honest = ActiveSettings {
        // Who is not attacked is not kept apart either.
        attacker: match honest.attacker {
            ActiveAttacker::Isolating { victim } => ActiveAttacker::Server { victim },
            other => other,
        },
        ..honest
    };
    Ok(ActiveAttack {
        run: Attempt::new(setup, settings, targets)?.run(halt)?,
        honest: Attempt::new(setup, &honest, targets)?.run(halt)?,
    })
}

/// One federation under attack.
struct Attempt<'a> {
    federation: Federation,
    settings: &'a ActiveSettings,
    targets: &'a Examples,
    /// The data of the party that it concerns.
    own: &'a Examples,
    inspector: Inspector,
    ascent: Box<dyn reticent_train::Engine>,
    run: ActiveRun,
    /// What the party was sent before, what it answered, and its own model after that.
    last: Option<(Vec<f32>, Vec<f32>, Vec<f32>)>,
    /// The model of a party that is kept apart.
    apart: Option<Vec<f32>>,
    /// How often each target was raised.
    raised: Vec<u64>,
}

impl<'a> Attempt<'a> {
    fn new(
        setup: &'a FederatedSetup,
        settings: &'a ActiveSettings,
        targets: &'a Examples,
    ) -> Result<Self, AttackError> {
        let federation = setup.federation()?;
        let (first, last) = (*settings.rounds.start(), *settings.rounds.end());
        if first == 0 || first > last || last > federation.steps() {
            let remedy = format!("give rounds from 1 to {}", federation.steps());
            return Err(AttackError::invalid("rounds", format!("{first}-{last}"), remedy));
        }
        if settings.turns() == 0 {
            let remedy =
                "give at least two rounds: a party raises the loss in one and watches it in the next";
            return Err(AttackError::invalid("rounds", format!("{first}-{last}"), remedy));
        }
        if !(settings.rate >= 0.0 && settings.rate.is_finite()) {
            return Err(AttackError::invalid("rate", settings.rate, "give a finite number of at least 0"));
        }
        if targets.is_empty() {
            return Err(AttackError::invalid("targets", 0, "give at least one record"));
        }
        let run = ActiveRun {
            likelihood: vec![0.0; targets.len()],
            losses: Vec::new(),
            watched: Watched::default(),
            weights: Vec::new(),
        };
        Ok(Self {
            settings,
            targets,
            own: &setup.parties[settings.attacker.party()],
            inspector: Inspector::new(&setup.description, setup.resources)?,
            ascent: engine(&setup.description, setup.device, setup.resources)?,
            run,
            federation,
            last: None,
            apart: None,
            raised: vec![0; targets.len()],
        })
    }

    fn run(mut self, halt: Halt<'_>) -> Result<ActiveRun, AttackError> {
        while !self.federation.is_finished() {
            if halt() {
                return Err(AttackError::Interrupted);
            }
            let round = self.federation.progress().taken + 1;
            if round > *self.settings.rounds.end() {
                break;
            }
            let is_attacked = self.settings.rounds.contains(&round);
            match self.settings.attacker {
                ActiveAttacker::Server { victim } | ActiveAttacker::Isolating { victim } => {
                    self.server_round(round, victim, is_attacked)?;
                }
                ActiveAttacker::Party { own } => self.party_round(round, own, is_attacked)?,
            }
        }
        let pairs = self.run.likelihood.iter_mut().zip(&self.raised);
        pairs.for_each(|(sum, times)| *sum /= (*times).max(1) as f64);
        self.run.weights = self.federation.weights()?;
        Ok(self.run)
    }

    /// A round in which the server may raise the weights of one party.
    fn server_round(&mut self, round: u64, victim: usize, is_attacked: bool) -> Result<(), AttackError> {
        let weights = self.federation.weights()?;
        let mut participants = self.federation.participants();
        let is_apart = is_attacked && matches!(self.settings.attacker, ActiveAttacker::Isolating { .. });
        // The server decides who takes part.
        if is_attacked && !participants.contains(&victim) {
            participants.push(victim);
        }
        let start = if is_apart { self.apart.as_ref().unwrap_or(&weights) } else { &weights };
        let group = self.group(round);
        let sent = if is_attacked { self.raise(&start.clone(), &group)? } else { weights.clone() };
        let updates = self.federation.updates(&participants, |party| {
            if party == victim { sent.as_slice() } else { weights.as_slice() }
        })?;
        if let Some(update) = updates.iter().find(|update| update.party == victim) {
            let model = self.federation.model_of(&sent, update);
            if is_attacked {
                self.compare(round, &group, &sent, &model)?;
            } else {
                self.note(round as f64, &self.everybody(), &model)?;
            }
            self.watch_server(round, &sent, update, &model)?;
            self.apart = is_apart.then_some(model);
        }
        let counted: Vec<PartyUpdate> =
            updates.into_iter().filter(|update| !(is_apart && update.party == victim)).collect();
        self.federation.aggregate(&counted)?;
        Ok(())
    }

    /// A round in which a party may raise the loss by its own update.
    fn party_round(&mut self, round: u64, own: usize, is_attacked: bool) -> Result<(), AttackError> {
        let weights = self.federation.weights()?;
        let turn = round.saturating_sub(*self.settings.rounds.start());
        let raises = is_attacked && turn.is_multiple_of(2);
        // Those that were raised are watched in the next round.
        let group = self.group(*self.settings.rounds.start() + turn / 2);
        let watches = is_attacked && !raises;
        let participants = self.federation.participants();
        let mut updates = self.federation.updates(&participants, |_| weights.as_slice())?;
        let count = updates.len();
        if let Some(update) = updates.iter_mut().find(|update| update.party == own)
            && raises
            && self.settings.rate > 0.0
        {
            // The others' updates count as much: the attacker's is as long as all of them together.
            let raised = self.raise(&weights, &group)?;
            let change = trained(&self.federation, &weights, &raised);
            let claim: Vec<f32> = change.iter().map(|change| change * count as f32).collect();
            *update = self.federation.claimed(own, &claim)?;
        }
        self.watch_party(round, own, &updates);
        self.federation.aggregate(&updates)?;
        let after = self.federation.weights()?;
        if watches {
            self.compare(round, &group, &weights, &after)?;
        } else {
            self.note(round as f64, &self.everybody(), &after)?;
        }
        Ok(())
    }

    /// All targets.
    fn everybody(&self) -> Vec<usize> {
        (0..self.targets.len()).collect()
    }

    /// Whose turn it is in an attacked round: every so manieth target.
    fn group(&self, round: u64) -> Vec<usize> {
        let groups = self.targets.len().div_ceil(self.settings.group.max(1)).min(self.settings.turns());
        let turn = round.saturating_sub(*self.settings.rounds.start()) as usize % groups.max(1);
        (turn..self.targets.len()).step_by(groups.max(1)).collect()
    }

    /// The weights after some steps of ascent on some targets.
    fn raise(&mut self, weights: &[f32], group: &[usize]) -> Result<Vec<f32>, AttackError> {
        let mut raised = weights.to_vec();
        if self.settings.rate == 0.0 {
            return Ok(raised);
        }
        let all = Selection::of_examples(group.to_vec());
        for _ in 0..self.settings.steps.max(1) {
            self.ascent.load_weights(&raised)?;
            self.ascent.sum(self.targets, &all, None, &|| ())?;
            let sum = self.ascent.read_sum()?;
            let rate = self.settings.rate / group.len().max(1) as f64;
            raised = moved(self.ascent.layout(), &raised, &sum, rate);
        }
        Ok(raised)
    }

    /// Notes the losses of a group at raised weights, and how low they are after the training that follows.
    fn compare(
        &mut self,
        round: u64,
        group: &[usize],
        before: &[f32],
        after: &[f32],
    ) -> Result<(), AttackError> {
        self.note(round as f64 - 0.5, group, before)?;
        let losses = self.note(round as f64, group, after)?;
        for (target, loss) in group.iter().zip(losses) {
            self.run.likelihood[*target] -= loss;
            self.raised[*target] += 1;
        }
        Ok(())
    }

    /// Notes the losses of some targets.
    fn note(&mut self, at: f64, targets: &[usize], weights: &[f32]) -> Result<Vec<f64>, AttackError> {
        let losses = losses(&mut self.inspector, weights, self.targets, targets)?;
        self.run.losses.push(ObservedLosses { at, targets: targets.to_vec(), losses: losses.clone() });
        Ok(losses)
    }

    /// What the victim of a server sees.
    fn watch_server(
        &mut self,
        round: u64,
        sent: &[f32],
        update: &PartyUpdate,
        model: &[f32],
    ) -> Result<(), AttackError> {
        let answered = update.mean();
        if let Some((before, last, own_model)) = self.last.take() {
            let mean = |losses: Vec<f64>| losses.iter().sum::<f64>() / losses.len().max(1) as f64;
            let own_data: Vec<usize> = (0..self.own.len()).collect();
            let received = mean(losses(&mut self.inspector, sent, self.own, &own_data)?);
            let own = mean(losses(&mut self.inspector, &own_model, self.own, &own_data)?);
            // An update is what is subtracted.
            let change = trained(&self.federation, &before, sent);
            let watched = &mut self.run.watched;
            watched.rounds.push(round);
            watched.norm.push(norm(&change));
            watched.cosine.push(cosine(&change, &last));
            watched.loss_jump.push(received - own);
        }
        self.last = Some((sent.to_vec(), answered, model.to_vec()));
        Ok(())
    }

    /// What the server sees of a party.
    fn watch_party(&mut self, round: u64, own: usize, updates: &[PartyUpdate]) {
        let Some(mine) = updates.iter().find(|update| update.party == own) else { return };
        let others: Vec<Vec<f32>> =
            updates.iter().filter(|update| update.party != own).map(PartyUpdate::mean).collect();
        if others.is_empty() {
            return;
        }
        let share = 1.0 / others.len() as f32;
        let mut mean = vec![0.0f32; others[0].len()];
        others.iter().for_each(|other| mean.iter_mut().zip(other).for_each(|(sum, x)| *sum += share * x));
        let length = others.iter().map(|other| norm(other)).sum::<f64>() / others.len() as f64;
        let mine = mine.mean();
        let watched = &mut self.run.watched;
        watched.rounds.push(round);
        watched.norm.push(if length > 0.0 { norm(&mine) / length } else { 0.0 });
        watched.cosine.push(cosine(&mine, &mean));
    }
}

/// How far trained weights moved, as an update has it: what is subtracted.
fn trained(federation: &Federation, from: &[f32], to: &[f32]) -> Vec<f32> {
    let layout = federation.layout();
    let parameters = layout.parameters().iter().enumerate().filter(|(_, own)| own.trainable);
    let ranges = parameters.map(|(place, _)| layout.weight_range(place));
    ranges.flat_map(|range| difference(&from[range.clone()], &to[range])).collect()
}

/// The loss of some examples.
fn losses(
    inspector: &mut Inspector,
    weights: &[f32],
    examples: &Examples,
    which: &[usize],
) -> Result<Vec<f64>, AttackError> {
    let inspection = Inspection { losses: true, ..Inspection::default() };
    Ok(inspector.inspect(weights, examples, which, &inspection)?.losses.unwrap_or_default())
}

impl ActiveRun {
    /// The median loss of members and of non-members among the targets over the rounds.
    ///
    /// # Errors
    /// [`AttackError::Audit`] for too few targets of either side.
    pub fn trajectory(
        &self,
        about: &str,
        members: &[bool],
        confidence: f64,
    ) -> Result<Trajectory, AttackError> {
        let line = |label: &str, side: bool| {
            let (mut value, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
            for seen in &self.losses {
                let own = seen.losses.iter().zip(&seen.targets).filter(|(_, own)| members[**own] == side);
                let own: Vec<f64> = own.map(|(loss, _)| *loss).collect();
                let Some((low, middle, high)) = median(&own, 1.0 - confidence) else {
                    let why = format!("{} {label} are too few for an interval of their loss", own.len());
                    return Err(AuditError::NotMeasurable(why));
                };
                value.push(middle);
                lower.push(low);
                upper.push(high);
            }
            let records = members.iter().filter(|member| **member == side).count() as u64;
            Ok(TrajectoryLine { label: label.to_owned(), records, value, lower, upper })
        };
        Ok(Trajectory {
            about: about.to_owned(),
            unit: "round".to_owned(),
            what: "median loss".to_owned(),
            at: self.losses.iter().map(|seen| seen.at).collect(),
            lines: vec![line("members", true)?, line("non-members", false)?],
        })
    }
}
