//! Parties that trained together as the target of an audit.

use super::network::Compared;
use super::repeats::Repeats;
use crate::audit::case::{Chosen, RecordChoice};
use crate::folder::Content;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::train::{Computing, snapshots};
use reticent_attack::federated::{FederatedSetup, ObservedModel, Observer};
use reticent_attack::{Population, network_outputs};
use reticent_audit::{Draw, Outputs};
use reticent_core::{Certificate, Code};
use reticent_data::closest;
use reticent_train::Examples;
use std::path::Path;

/// The stored model of a federation, beside data that no party holds.
pub(in crate::audit) struct FederatedTarget(Compared);

/// A federation under attack.
pub(in crate::audit) struct FederatedCase {
    target: FederatedTarget,
    pub(in crate::audit) setup: FederatedSetup,
    pub(in crate::audit) observer: Observer,
    pub(in crate::audit) chosen: Chosen,
    pub(in crate::audit) population: Population,
    /// The audited records.
    pub(in crate::audit) records: Examples,
    pub(in crate::audit) others: String,
    pub(in crate::audit) left_out: usize,
}

impl FederatedTarget {
    /// Reads a folder, and finds the data that its run and the request name.
    pub(in crate::audit) fn open(
        folder: &Path,
        others: Option<&Path>,
        computing: Computing,
    ) -> Result<Self, Refusal> {
        let compared = Compared::open(folder, others, computing)?;
        if compared.target.run.federated.is_none() || compared.target.unit_column().is_some() {
            let text = format!(
                "{}: one party trained this model alone: give one that was trained with ⟦federated⟧, or use 'reticent audit'",
                folder.display()
            );
            return Err(Refusal::new(Code::Premise, text));
        }
        Ok(Self(compared))
    }

    /// The number of rounds.
    pub(in crate::audit) fn rounds(&self) -> u64 {
        self.0.target.run.federated.as_ref().map_or(0, |federated| federated.rounds)
    }

    /// Reads the records, and chooses whom to audit: for the server records of its victim, for a party those of all others.
    pub(in crate::audit) fn case(
        self,
        (observer, victim): (&str, Option<&str>),
        choice: &RecordChoice,
        session: &mut Session,
    ) -> Result<FederatedCase, Refusal> {
        let Compared { target, source, flag } = &self.0;
        let (examples, holders) = target.held(session.watch())?;
        let Some(holders) = holders else { return Err(Refusal::internal("a federation without parties")) };
        let find = |field: &str, name: &str| {
            holders.names.iter().position(|known| known == name).ok_or_else(|| {
                let names: Vec<&str> = holders.names.iter().map(String::as_str).collect();
                let near =
                    closest(name, &names).map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
                let shown = names.iter().take(10).copied().collect::<Vec<_>>().join(", ");
                Refusal::unknown(field, name, format!("no such party{near}: give server or one of {shown}"))
            })
        };
        let observer = match (observer, victim) {
            ("server", None) => Observer::Server { victim: 0 },
            ("server", Some(victim)) => Observer::Server { victim: find("victim", victim)? },
            (name, None) => Observer::Party { own: find("observer", name)? },
            (_, Some(victim)) => {
                let remedy = "a party sees the mean of all others: leave it out, or give ⟦observer⟧ server";
                return Err(Refusal::conflict("victim", victim, remedy));
            }
        };
        let Some(setup) = target.setup(&examples, &holders, &choice.key)? else {
            return Err(Refusal::internal("a federation without terms"));
        };
        let rest = target.stored.reader.read(source, true, session.watch())?.examples;
        let rest = target.stored.prepared(rest, source, session.watch())?;
        let repeats = Repeats::of(Content::Examples(&examples, None), Content::Examples(&rest, None))?;
        if repeats.holds_training_data {
            return Err(super::same_data(&source.name()));
        }
        let members = examples.len();
        let may = |place: usize| {
            let is_asked = match (holders.party.get(place), observer) {
                (Some(party), Observer::Server { victim }) => *party == victim,
                (Some(party), Observer::Party { own }) => *party != own,
                (None, _) => true,
            };
            is_asked && !repeats.is_repeated[place]
        };
        let chosen = Chosen::of((members, rest.len()), Draw::Undeclared, choice.most, &choice.key, may)?;
        let records = examples.followed_by(&rest)?.subset(&chosen.audited);
        let mut population = Population::of_examples(&records)?;
        population.ids = chosen.ids(&choice.key);
        let others = format!("{} ({flag})", source.name());
        let left_out = repeats.count();
        Ok(FederatedCase { setup, observer, chosen, population, records, others, left_out, target: self })
    }
}

impl FederatedCase {
    /// What is guaranteed for the weights; none without privacy.
    pub(in crate::audit) fn certificate(&self) -> Option<&Certificate> {
        self.target.0.target.certificate.as_ref()
    }

    /// The weights that the run gave out after these rounds, and at its end.
    pub(in crate::audit) fn kept(&self, rounds: &[u64]) -> Result<(Vec<ObservedModel>, Vec<f32>), Refusal> {
        let target = &self.target.0.target;
        let weights = snapshots(&target.folder, rounds, target.stored.network.layout())?;
        let models =
            rounds.iter().zip(weights).map(|(round, weights)| ObservedModel { round: *round, weights });
        Ok((models.collect(), target.stored.weights.clone()))
    }

    /// What a model says about the audited records.
    pub(in crate::audit) fn outputs(&self, weights: &[f32]) -> Result<Outputs, Refusal> {
        let FederatedSetup { description, device, resources, .. } = &self.setup;
        Ok(network_outputs(description, weights, &self.records, *device, *resources)?)
    }
}
