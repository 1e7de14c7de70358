//! Parties that hold disjoint data and train one network together, in one process.
//!
//! In every round the server sends its weights to the parties, each computes an update on its own data, and the server moves the
//! weights by all updates together.
//!
//! | method | what a party sends | what can be private |
//! |---|---|---|
//! | FedSGD | the sum of its records' gradients | each record: its gradient is clipped by its party, noise is added once to the total |
//! | FedAvg | how far some epochs on its own data moved the weights | each party with all its records: the party's change is clipped, noise is added once to the total |
//!
//! FedAvg does not protect single records: after a step on a party's data all its later gradients depend on every record, so what one
//! record adds to the party's change is not bounded by any clipping of gradients. [`FederatedTerms`] has no such case.
//!
//! # What each observer sees
//! A party sees the weights that it is sent ([`PartyView`]): with a plan they are covered by the certificate. The server sees every
//! party's update as well ([`ServerView`]): exact numbers that nothing covers, with or without a plan. The certificate's premise is a
//! server that is trusted with them and gives out nothing but weights.
//!
//! # Reference
//! McMahan et al., *Communication-efficient learning of deep networks from decentralized data* (2017); McMahan et al., *Learning
//! differentially private recurrent language models* (2018). The crate's proof: "Sums of several parties", "Parties as units".

mod party;
mod terms;
mod update;

pub use terms::{FederatedTerms, LocalTraining, PARTY};
pub use update::{PartyUpdate, PartyView, ServerView};

use crate::engine::{Engine, FixedGrid, FixedSum, Threads};
use crate::trainer::{Aggregation, Progress, Recipe, Sampling, repeatable_bits};
use crate::{Examples, Layout, Resources, Selection, TrainError, TrainingTerms, Units};
use party::{Party, Total};
use rayon::prelude::*;
use reticent_core::{Certificate, Fact, Permit};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// How an engine for the network is made: one for the server, one for every party.
pub type EngineMaker<'a> = &'a dyn Fn() -> Result<Box<dyn Engine>, TrainError>;

/// A server with its parties. Everything about the run that is not a round is a method of the [`Aggregation`].
///
/// # Guarantee
/// With [`FederatedTerms::Records`] or [`FederatedTerms::Parties`], the weights, evaluations and checkpoints that it gives out are
/// covered by [`certificate`](Self::certificate), for one record or for one party with all its records. That holds against
/// parties which send something else than the protocol says, as far as everybody else's data are concerned. It does not hold against
/// the server: what [`updates`](Self::updates) returns is exact.
///
/// # Reference
/// See [the module](self).
pub struct Federation {
    server: Aggregation,
    parties: Vec<Party>,
    method: Method,
    /// Who takes part in a round; none for all.
    sampling: Option<Sampling>,
    threads: Threads,
}

/// What updates are made of, and how they are added up.
enum Method {
    Gradients,
    Averages,
}

impl Deref for Federation {
    type Target = Aggregation;

    fn deref(&self) -> &Aggregation {
        &self.server
    }
}

impl DerefMut for Federation {
    fn deref_mut(&mut self) -> &mut Aggregation {
        &mut self.server
    }
}

impl Federation {
    /// Parties with these examples. `recipe` is how the server moves the weights; for FedAvg plain descent at rate 1 is the mean of the
    /// parties' models. The permit covers all rounds of a plan, and is left out without one. With a key, which goes with terms without a
    /// guarantee alone, everything is a function of it.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for fewer than two parties, terms that do not belong together, and a key beside a plan;
    /// [`TrainError::Noise`] when the permit is missing or does not cover all rounds; what the engine says about the examples.
    pub fn new(
        engine: EngineMaker<'_>,
        parties: Vec<Arc<Examples>>,
        terms: FederatedTerms,
        recipe: Recipe,
        permit: Option<Permit>,
        key: Option<&str>,
    ) -> Result<Self, TrainError> {
        let count = parties.len();
        if count < 2 {
            return Err(TrainError::invalid("parties", count, "give at least two"));
        }
        terms.check(&parties)?;
        let network = engine()?;
        let bits = |who: &str| key.map(|key| repeatable_bits(&format!("{key}, {who}")));
        let server = match (terms.plan().cloned(), permit, key) {
            (Some(plan), Some(permit), None) => Aggregation::private(network, plan, recipe, permit)?,
            (Some(_), None, _) => {
                return Err(TrainError::invalid("permit", "none", "charge the plan first"));
            }
            (Some(_), Some(_), Some(key)) => {
                let remedy = "a run with a guarantee draws fresh randomness: leave it out";
                return Err(TrainError::invalid("key", key, remedy));
            }
            (None, _, _) => {
                let weights = match bits("start") {
                    Some(mut bits) => network.repeatable_weights(&mut bits)?,
                    None => network.initial_weights()?,
                };
                let own = TrainingTerms::NonPrivate(terms.baseline());
                let mut server = Aggregation::new(network, own, recipe, None, &weights)?;
                if key.is_some() {
                    server.set_repeatable();
                }
                server
            }
        };
        let total = Total { parties: count, records: parties.iter().map(|own| own.len()).sum() };
        let parties = parties.into_iter().enumerate().map(|(place, examples)| {
            Party::new(engine()?, examples, &terms, total, bits(&format!("party {place}")))
        });
        let parties = parties.collect::<Result<Vec<_>, _>>()?;
        let (method, sampling) = match &terms {
            FederatedTerms::Records(_) | FederatedTerms::Gradients(_) => (Method::Gradients, None),
            FederatedTerms::Parties(plan, _) => {
                (Method::Averages, Some(Sampling::poisson(plan.settings().constant_rate()?)?))
            }
            FederatedTerms::Averages(baseline, _) => {
                let sampling = match bits("participants") {
                    Some(bits) => Sampling::repeated(baseline.batches, bits)?,
                    None => Sampling::of(baseline.batches)?,
                };
                (Method::Averages, Some(sampling))
            }
        };
        Ok(Self { server, parties, method, sampling, threads: Threads::new(1)? })
    }

    /// The same with so many parties at work at a time. Engines on one thread each are the best use of it.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for no threads; [`TrainError::Device`] when they cannot be started.
    pub fn on_threads(self, resources: Resources) -> Result<Self, TrainError> {
        resources.check()?;
        Ok(Self { threads: Threads::new(resources.threads)?, ..self })
    }

    /// How many parties there are.
    pub fn parties(&self) -> usize {
        self.parties.len()
    }

    /// One round as agreed.
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all rounds are taken or counted; what the engine refuses.
    pub fn step(&mut self) -> Result<Progress, TrainError> {
        self.observed_step().map(|(progress, _)| progress)
    }

    /// One round as agreed, with what the server saw of it.
    ///
    /// # Guarantee
    /// None for what the server saw: it is exact.
    ///
    /// # Reference
    /// See [the module](self).
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn observed_step(&mut self) -> Result<(Progress, ServerView), TrainError> {
        let view = self.party_view()?;
        let participants = self.participants();
        let updates = self.updates(&participants, |_| &view.weights)?;
        let progress = self.aggregate(&updates)?;
        Ok((progress, ServerView { round: view.round, weights: view.weights, updates }))
    }

    /// What is guaranteed for everything that has been given out so far, on the premise of a trusted server; none without a plan.
    ///
    /// # Errors
    /// What the accountant refuses.
    pub fn certificate(&self) -> Result<Option<Certificate>, TrainError> {
        Ok(self.server.certificate()?.map(|own| own.taking(Fact::TrustedServer)))
    }

    /// What every party sees at the beginning of a round.
    ///
    /// # Errors
    /// As [`Aggregation::weights`].
    pub fn party_view(&mut self) -> Result<PartyView, TrainError> {
        let round = self.server.progress().taken + 1;
        Ok(PartyView { round, weights: self.server.weights()? })
    }

    /// Who takes part in the next round, drawn anew by every call; call it once a round.
    pub fn participants(&mut self) -> Vec<usize> {
        let mut selection = Selection::default();
        match &mut self.sampling {
            Some(sampling) => sampling.sample(&Units::examples(self.parties.len()), &mut selection),
            None => selection = Selection::of_examples((0..self.parties.len()).collect()),
        }
        selection.examples().to_vec()
    }

    /// What these parties answer to the weights that each is sent.
    ///
    /// # Guarantee
    /// None: updates are exact, and for the server alone.
    ///
    /// # Reference
    /// See [the module](self).
    ///
    /// # Errors
    /// What an engine refuses.
    pub fn updates<'a>(
        &mut self,
        participants: &[usize],
        sent: impl Fn(usize) -> &'a [f32],
    ) -> Result<Vec<PartyUpdate>, TrainError> {
        let (round, rounds) = (self.server.progress().taken, self.server.steps());
        let mut tasks: Vec<(usize, &mut Party, &[f32])> = (self.parties.iter_mut().enumerate())
            .filter(|(party, _)| participants.contains(party))
            .map(|(party, own)| (party, own, sent(party)))
            .collect();
        let work = |(party, own, weights): &mut (usize, &mut Party, &[f32])| {
            Ok(PartyUpdate { party: *party, values: own.update(weights, round, rounds)? })
        };
        if self.threads.is_single() {
            return tasks.iter_mut().map(work).collect();
        }
        self.threads.run(|| tasks.par_iter_mut().map(work).collect())
    }

    /// The second half of a round: adds the updates up, with noise where there is a plan, and moves the weights.
    ///
    /// # Guarantee
    /// As [`Aggregation::step_with`].
    ///
    /// # Reference
    /// As [`Aggregation::step_with`].
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all rounds are taken or counted; [`TrainError::Invalid`] for updates of another run.
    pub fn aggregate(&mut self, updates: &[PartyUpdate]) -> Result<Progress, TrainError> {
        if let Some(plan) = self.server.plan() {
            let mut sums: Vec<FixedSum> = updates.iter().filter_map(PartyUpdate::fixed).cloned().collect();
            if sums.len() != updates.len() {
                return Err(TrainError::invalid("update", "exact", "give clipped ones to a run with a plan"));
            }
            // Nobody took part: a step all the same.
            if sums.is_empty() {
                sums.push(FixedSum::new(FixedGrid::of(plan)?, 0)?);
            }
            return self.server.step_with(&sums);
        }
        if updates.iter().any(|update| update.fixed().is_some()) {
            return Err(TrainError::invalid("update", "clipped", "give those of a run without a plan"));
        }
        let mut sum = vec![0.0f64; self.server.layout().gradients()];
        let mut total = 0.0;
        for update in updates {
            let weight = update.weight();
            total += weight;
            let mean = update.mean();
            sum.iter_mut().zip(&mean).for_each(|(sum, mean)| *sum += weight * f64::from(*mean));
        }
        let sum: Vec<f32> = sum.into_iter().map(|sum| sum as f32).collect();
        self.server.step_without_noise(&sum, if total > 0.0 { total } else { 1.0 })
    }

    /// What a party sends that claims this mean gradient or change for its own: clipped and rounded where there is a plan. For parties
    /// that depart from the protocol.
    ///
    /// # Errors
    /// [`TrainError::Shape`] for another length than the gradient's.
    pub fn claimed(&self, party: usize, mean: &[f32]) -> Result<PartyUpdate, TrainError> {
        let values = match self.parties.get(party) {
            Some(own) => own.claimed(mean)?,
            None => return Err(TrainError::invalid("party", party, "give the number of a party, from 0")),
        };
        Ok(PartyUpdate { party, values })
    }

    /// The weights with one party's update alone, as the server can compute them: for FedAvg the party's own model, for FedSGD a step
    /// with its mean gradient.
    pub fn model_of(&self, sent: &[f32], update: &PartyUpdate) -> Vec<f32> {
        let rate = match self.method {
            Method::Averages => 1.0,
            Method::Gradients => self.server.rate(),
        };
        moved(self.server.layout(), sent, &update.mean(), -rate)
    }
}

/// The weights with the trained ones moved by so much of a vector.
pub fn moved(layout: &Layout, weights: &[f32], by: &[f32], rate: f64) -> Vec<f32> {
    let mut moved = weights.to_vec();
    for place in 0..layout.parameters().len() {
        let own = &mut moved[layout.weight_range(place)];
        // A frozen parameter has an empty range in the gradient.
        for (weight, by) in own.iter_mut().zip(&by[layout.gradient_range(place)]) {
            *weight = (f64::from(*weight) + rate * f64::from(*by)) as f32;
        }
    }
    moved
}
