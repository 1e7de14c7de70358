//! Parties that train together: the keys of `parties.toml`, and who holds which example.

use super::reader::{Loaded, Reader};
use super::request::{Train, text_of};
use super::settings::{Budget, Settings};
use super::source::{Source, find};
use crate::folder::{Content, is_same, whole};
use crate::refusal::Refusal;
use crate::watch::Watch;
use reticent_core::Code;
use reticent_data::schema::PrivacyUnit;
use reticent_data::{Schema, keyed_hash};
use reticent_train::federated::PARTY;
use reticent_train::{
    Baseline, Batching, Examples, FederatedTerms, LocalTraining, OptimizerSettings, Recipe, Schedule,
    Targets, TrainingTerms,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most parties of a simulation.
const MOST_PARTIES: u64 = 10_000;

/// The most rounds whose weights are kept unless others are asked for.
const MOST_SNAPSHOTS: u64 = 100;

/// Records in a batch of a party unless another number is asked for.
const LOCAL_BATCH: u64 = 32;

/// How parties train together: the keys of `parties.toml`. The parties are files, or parts of the request's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Federated {
    /// What a party sends: a gradient (FedSGD) or the change by its own training (FedAvg).
    pub method: FederatedMethod,
    /// The number of rounds.
    pub rounds: u64,
    /// FedAvg: a party's passes over its data in a round [default: 1].
    #[serde(alias = "local_epochs", default, skip_serializing_if = "Option::is_none")]
    pub local_epochs: Option<u64>,
    /// FedAvg: the number of examples in a party's batch [default: 32].
    #[serde(alias = "local_batch", default, skip_serializing_if = "Option::is_none")]
    pub local_batch: Option<u64>,
    /// FedAvg: the probability of a party to take part in a round [default: 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participation: Option<f64>,
    /// Whom a budget protects: each record with `gradient`, each party with `average`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<FederatedUnit>,
    /// The rounds after which the weights are kept [default: all, or 100 of them].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<Vec<u64>>,
    /// How the request's data are divided, where the parties are not files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<PartySplit>,
    /// The parties, where each has data of its own.
    #[serde(default, rename = "party", skip_serializing_if = "Vec::is_empty")]
    pub parties: Vec<PartyData>,
}

/// What a party sends in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FederatedMethod {
    /// FedSGD: the sum of its records' gradients.
    Gradient,
    /// FedAvg: how far its own training moved the weights.
    Average,
}

/// Whom a budget protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FederatedUnit {
    /// Each record, whichever party holds it.
    Record,
    /// Each party with all its records.
    Party,
}

/// How data are divided among parties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PartySplit {
    /// How many parties there are; not with `column`, which decides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parties: Option<u64>,
    /// By what.
    pub by: SplitRule,
    /// `label`: the share of records that go to the party of their class, from 0 (uniform) to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
    /// `column`: the column whose values are the parties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The key of a random split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// By what data are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRule {
    /// At random, into parts of equal size.
    Uniform,
    /// By class: the classes are dealt out to the parties.
    Label,
    /// By the values of a column.
    Column,
}

/// A party with data of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PartyData {
    /// Its name.
    pub name: String,
    /// Its data.
    pub data: PathBuf,
}

/// Who holds which example.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Holders {
    pub(crate) names: Vec<String>,
    /// The party of every example.
    pub(crate) party: Vec<usize>,
}

impl Holders {
    /// Every party's examples.
    pub(crate) fn divided(&self, examples: &Examples) -> Vec<Arc<Examples>> {
        let mut own = vec![Vec::new(); self.names.len()];
        self.party.iter().enumerate().for_each(|(example, party)| own[*party].push(example));
        own.iter().map(|own| Arc::new(examples.subset(own))).collect()
    }
}

impl Federated {
    /// Reads a `parties.toml`; relative paths in it start at its folder.
    ///
    /// # Errors
    /// [`Refusal`] with the place of what is wrong.
    pub fn read(path: &Path) -> Result<Self, Refusal> {
        let mut read: Self = reticent_data::toml::read(&text_of(path)?, &path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new(""));
        read.parties.iter_mut().for_each(|party| party.data = folder.join(&party.data));
        Ok(read)
    }

    /// Whom a budget protects.
    pub(crate) fn protected(&self) -> FederatedUnit {
        match self.method {
            FederatedMethod::Gradient => FederatedUnit::Record,
            FederatedMethod::Average => FederatedUnit::Party,
        }
    }

    /// The number of parties, where data do not decide it.
    fn count(&self) -> Option<u64> {
        match &self.split {
            Some(split) => split.parties,
            None => Some(self.parties.len() as u64),
        }
    }

    /// The rounds after which the weights are kept.
    pub(crate) fn is_kept(&self, round: u64) -> bool {
        match &self.snapshots {
            Some(rounds) => rounds.contains(&round),
            None => {
                let every = self.rounds.div_ceil(MOST_SNAPSHOTS);
                round == self.rounds || round.is_multiple_of(every)
            }
        }
    }

    /// Checks the numbers.
    fn check(&self, is_private: bool) -> Result<(), Refusal> {
        let refuse = |field: &str, value: String, remedy: &str| Err(Refusal::conflict(field, value, remedy));
        if self.rounds == 0 || self.rounds > 1 << 20 {
            return Err(Refusal::value("rounds", self.rounds, "give a number from 1 to 2^20"));
        }
        if self.method == FederatedMethod::Gradient {
            for (field, given) in [
                ("local_epochs", self.local_epochs.map(|own| own.to_string())),
                ("local_batch", self.local_batch.map(|own| own.to_string())),
                ("participation", self.participation.map(|own| own.to_string())),
            ] {
                if let Some(value) = given {
                    return refuse(field, value, "only for method = \"average\": leave it out");
                }
            }
        }
        match (self.unit, self.method, is_private) {
            (Some(_), _, false) => {
                return refuse(
                    "unit",
                    "given".to_owned(),
                    "without privacy nobody is protected: leave it out",
                );
            }
            (Some(FederatedUnit::Record), FederatedMethod::Average, _) => {
                let remedy = "after a party's first local step all its gradients depend on every record, so nothing bounds what one \
                              record adds to the party's change: give unit = \"party\", or method = \"gradient\"";
                return refuse("unit", "record".to_owned(), remedy);
            }
            (Some(FederatedUnit::Party), FederatedMethod::Gradient, _) => {
                let remedy =
                    "gradients are clipped by record: give unit = \"record\", or method = \"average\"";
                return refuse("unit", "party".to_owned(), remedy);
            }
            _ => {}
        }
        if let Some(share) = self.participation.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
            return Err(Refusal::value("participation", share, "give a number above 0 and at most 1"));
        }
        if let Some(odd) = self.snapshots.iter().flatten().find(|round| !(1..=self.rounds).contains(*round)) {
            let remedy = format!("give numbers of rounds, from 1 to {}", self.rounds);
            return Err(Refusal::value("snapshots", odd, remedy));
        }
        self.check_parties()
    }

    /// Checks who the parties are.
    fn check_parties(&self) -> Result<(), Refusal> {
        match (&self.split, self.parties.is_empty()) {
            (None, true) => {
                let remedy = "give [split], e.g. parties = 5 and by = \"uniform\", or a [[party]] with name and data for each";
                return Err(Refusal::missing("split", remedy));
            }
            (Some(_), false) => {
                let remedy = "the parties are files, or parts of one dataset: give [split] or [[party]]";
                return Err(Refusal::conflict("split", "given", remedy));
            }
            _ => {}
        }
        if let Some(count) = self.count().filter(|count| !(2..=MOST_PARTIES).contains(count)) {
            let remedy = format!("a federation needs at least two: give a number from 2 to {MOST_PARTIES}");
            let field = if self.split.is_some() { "split.parties" } else { "party" };
            return Err(Refusal::value(field, count, remedy));
        }
        for (place, party) in self.parties.iter().enumerate() {
            if self.parties[..place].iter().any(|other| other.name == party.name) {
                return Err(Refusal::value("party", &party.name, "two parties have this name: rename one"));
            }
        }
        let Some(split) = &self.split else { return Ok(()) };
        match (split.by, split.parties, &split.column) {
            (SplitRule::Column, Some(count), _) => {
                Err(Refusal::conflict("split.parties", count, "the column decides the number: leave it out"))
            }
            (SplitRule::Column, None, None) => {
                Err(Refusal::missing("split.column", "give the column whose values are the parties"))
            }
            (SplitRule::Uniform | SplitRule::Label, None, _) => {
                Err(Refusal::missing("split.parties", "give the number of parties, e.g. parties = 5"))
            }
            (SplitRule::Uniform | SplitRule::Label, _, Some(column)) => {
                Err(Refusal::conflict("split.column", column, "only for by = \"column\": leave it out"))
            }
            _ => match split.skew {
                Some(skew) if split.by != SplitRule::Label => {
                    Err(Refusal::conflict("split.skew", skew, "only for by = \"label\": leave it out"))
                }
                Some(skew) if !(0.0..=1.0).contains(&skew) => {
                    Err(Refusal::value("split.skew", skew, "give a number from 0 to 1"))
                }
                _ => Ok(()),
            },
        }
    }
}

/// Checks a federated run and fills in what follows from it; returns what each party does by itself. None for other runs.
pub(super) fn settle(
    run: &mut Train,
    budget: Budget,
    recipe: &mut Recipe,
) -> Result<Option<LocalTraining>, Refusal> {
    let Some(federated) = run.federated.clone() else { return Ok(None) };
    federated.check(budget != Budget::None)?;
    for (field, given) in [
        ("steps", run.steps.filter(|steps| *steps != federated.rounds).map(|steps| steps.to_string())),
        ("epochs", run.epochs.map(|epochs| epochs.to_string())),
        ("examples_per_user", run.examples_per_user.map(|most| most.to_string())),
        ("neighboring", run.neighboring.clone().filter(|own| own != "add-remove")),
    ] {
        if let Some(value) = given {
            let remedy = "a federated run takes rounds of records or parties under add-remove: leave it out";
            return Err(Refusal::conflict(field, value, remedy));
        }
    }
    if let (Some(data), None) = (&run.data, &federated.split) {
        let remedy = "the parties have data of their own: leave it out, or give [split]";
        return Err(Refusal::conflict("data", data.display(), remedy));
    }
    if budget != Budget::None && federated.count().is_none() {
        let remedy = "the number of parties must be public before the data are read: with a budget, give by = \"uniform\", by = \
                      \"label\" or a [[party]] for each";
        return Err(Refusal::conflict("split", "column", remedy));
    }
    run.steps = Some(federated.rounds);
    if federated.method == FederatedMethod::Gradient {
        return Ok(None);
    }
    let batch = match federated.count().filter(|_| budget != Budget::None) {
        Some(count) => (federated.participation.unwrap_or(1.0) * count as f64).round().max(1.0) as u64,
        None => federated.local_batch.unwrap_or(LOCAL_BATCH),
    };
    if let Some(given) = run.batch_size.filter(|given| *given != batch) {
        let remedy = "give local-batch and participation in parties.toml: leave it out";
        return Err(Refusal::conflict("batch_size", given, remedy));
    }
    run.batch_size = Some(batch);
    if let Some(count) = federated.count().filter(|_| budget != Budget::None) {
        if let Some(size) = run.dataset_size.filter(|size| *size != count) {
            let remedy = "the parties are the units, and their number is public: leave it out";
            return Err(Refusal::conflict("dataset_size", size, remedy));
        }
        run.dataset_size = Some(count);
    }
    let local = LocalTraining {
        epochs: federated.local_epochs.unwrap_or(1),
        batch: federated.local_batch.unwrap_or(LOCAL_BATCH) as usize,
        recipe: Recipe { average: None, denoise: None, ..*recipe },
    };
    local.check()?;
    // The mean of the parties' models.
    let schedule = Schedule::constant(1.0);
    *recipe = Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule,
        average: recipe.average,
        denoise: recipe.denoise,
    };
    Ok(Some(local))
}

/// The name of the privacy unit, where it is not what the reader says.
pub(crate) fn unit(run: &Train, settings: &Settings) -> Option<&'static str> {
    let is_party = settings.local.is_some() && settings.budget != Budget::None;
    (is_party && run.federated.is_some()).then_some(PARTY)
}

/// The terms of a federation from those that a run agreed to.
pub(crate) fn terms(
    agreed: &TrainingTerms,
    federated: &Federated,
    local: Option<LocalTraining>,
) -> FederatedTerms {
    let share = Batching::Poisson { rate: federated.participation.unwrap_or(1.0) };
    match (agreed.clone(), local) {
        (TrainingTerms::Private(plan), None) => FederatedTerms::Records(plan),
        (TrainingTerms::Private(plan), Some(local)) => FederatedTerms::Parties(plan, local),
        (TrainingTerms::NonPrivate(baseline), None) => FederatedTerms::Gradients(baseline),
        (TrainingTerms::NonPrivate(baseline), Some(local)) => {
            FederatedTerms::Averages(Baseline { batches: share, ..baseline }, local)
        }
    }
}

/// The sources of the parties that have data of their own, with whole paths in the request.
pub(crate) fn sources(run: &mut Train) -> Result<Vec<Source>, Refusal> {
    let (data_dir, reading) = (run.data_dir.clone(), run.reading.of_one_file());
    let Some(federated) = &mut run.federated else { return Ok(Vec::new()) };
    let mut found: Vec<Source> = Vec::new();
    for place in 0..federated.parties.len() {
        let party = &mut federated.parties[place];
        let source = find(Some(&party.data), data_dir.as_deref(), &reading)
            .map_err(|refusal| refusal.within(&format!("party {}", party.name)))?
            .source;
        if let Some(data) = whole(Some(&party.data)).filter(|_| party.data.exists()) {
            party.data = data;
        }
        if let Some(other) = found.iter().position(|other| other.is_same(&source)) {
            return Err(overlapping(&federated.parties[other].name, &federated.parties[place].name));
        }
        found.push(source);
    }
    Ok(found)
}

fn overlapping(one: &str, other: &str) -> Refusal {
    let text = format!("the parties {one} and {other} have the same data: parties hold disjoint data");
    Refusal::about(Code::Conflict, "party", text)
}

/// Reads all parties' data; `is_open` says whether equal data may be looked for.
pub(crate) fn read(
    run: &Train,
    reader: &Reader,
    source: &Source,
    parties: &[Source],
    is_open: bool,
    watch: &dyn Watch,
) -> Result<(Loaded, Option<Holders>), Refusal> {
    let Some(federated) = &run.federated else {
        return Ok((reader.read(source, true, watch)?, None));
    };
    if reader.schema.as_ref().is_some_and(|schema| *schema.unit() != PrivacyUnit::Row) {
        let remedy = "a federated run protects records or parties: give a schema whose unit is the row";
        return Err(Refusal::about(Code::Premise, "schema", remedy));
    }
    let (loaded, holders) = match &federated.split {
        Some(split) => divide(reader, source, split, watch)?,
        None => join(federated, reader, parties, is_open, watch)?,
    };
    // With a budget the number of parties is public, and who has data is not: nothing is refused by what was read.
    if run.is_private() {
        return Ok((loaded, Some(holders)));
    }
    let mut counts = vec![0usize; holders.names.len()];
    holders.party.iter().for_each(|party| counts[*party] += 1);
    if counts.len() < 2 {
        let remedy = "all data belong to one party, and a federation needs at least two";
        return Err(Refusal::value("party", counts.len(), remedy));
    }
    match counts.iter().position(|count| *count == 0) {
        Some(empty) => {
            let name = &holders.names[empty];
            let text = format!("the party {name} has no data: give it some, or leave it out");
            Err(Refusal::about(Code::NoRows, "party", text))
        }
        None => Ok((loaded, Some(holders))),
    }
}

/// Every party's own data, one after the other.
fn join(
    federated: &Federated,
    reader: &Reader,
    parties: &[Source],
    is_open: bool,
    watch: &dyn Watch,
) -> Result<(Loaded, Holders), Refusal> {
    let mut all: Option<Examples> = None;
    let (mut party, mut read) = (Vec::new(), Vec::<Examples>::new());
    for (place, source) in parties.iter().enumerate() {
        let own = reader.read(source, true, watch)?.examples;
        for (other, examples) in read.iter().enumerate().filter(|_| is_open && !own.is_empty()) {
            if is_same(Content::Examples(examples, None), Content::Examples(&own, None))? {
                return Err(overlapping(&federated.parties[other].name, &federated.parties[place].name));
            }
        }
        party.extend(std::iter::repeat_n(place, own.len()));
        all = Some(match all {
            Some(all) => all.followed_by(&own)?,
            None => own.clone(),
        });
        read.push(own);
    }
    let Some(examples) = all else { return Err(Refusal::missing("party", "give at least two")) };
    let names = federated.parties.iter().map(|party| party.name.clone()).collect();
    Ok((Loaded { examples, users: None, rows: None }, Holders { names, party }))
}

/// One dataset, divided.
fn divide(
    reader: &Reader,
    source: &Source,
    split: &PartySplit,
    watch: &dyn Watch,
) -> Result<(Loaded, Holders), Refusal> {
    if let (SplitRule::Column, Some(column)) = (split.by, &split.column) {
        return divide_by_column(reader, source, column, watch);
    }
    let loaded = reader.read(source, true, watch)?;
    let (count, key) = (split.parties.unwrap_or(2) as usize, split.key.as_deref().unwrap_or("parties"));
    let hash = |what: &str, example: usize| keyed_hash(key, format!("{what} {example}").as_bytes());
    let mut order: Vec<usize> = (0..loaded.examples.len()).collect();
    order.sort_by_cached_key(|example| (hash("holder", *example), *example));
    let mut party = vec![0; order.len()];
    // Dealt out in turns: parts differ by one record at most.
    order.iter().enumerate().for_each(|(turn, example)| party[*example] = turn % count);
    if split.by == SplitRule::Label {
        let Targets::Classes(classes) = loaded.examples.targets() else {
            let remedy = "the label is a number: give by = \"uniform\" or by = \"column\"";
            return Err(Refusal::conflict("split.by", "label", remedy));
        };
        let threshold = split.skew.unwrap_or(1.0) * 18_446_744_073_709_551_616.0;
        for (example, class) in classes.iter().enumerate() {
            if (hash("skew", example) as f64) < threshold {
                party[example] = *class as usize % count;
            }
        }
    }
    let names = (1..=count).map(|party| format!("party-{party}")).collect();
    Ok((loaded, Holders { names, party }))
}

/// A party for every value of a column.
fn divide_by_column(
    reader: &Reader,
    source: &Source,
    column: &str,
    watch: &dyn Watch,
) -> Result<(Loaded, Holders), Refusal> {
    let Some(schema) = &reader.schema else {
        return Err(Refusal::conflict(
            "split.column",
            column,
            "images have no columns: give by = \"uniform\"",
        ));
    };
    let unit = PrivacyUnit::Column(column.to_owned());
    let schema = Schema::new(unit, schema.label().cloned(), schema.columns().to_vec())
        .map_err(|error| Refusal::value("split.column", column, error.to_string()))?;
    let by_column = Reader { schema: Some(schema), ..reader.clone() };
    let loaded = by_column.read(source, true, watch)?;
    let Some(users) = loaded.users else {
        return Err(Refusal::value("split.column", column, "there is no such column"));
    };
    let count = users.iter().max().map_or(0, |last| *last as usize + 1);
    if count as u64 > MOST_PARTIES {
        let remedy =
            format!("it has {count} values, and each is a party: give one with at most {MOST_PARTIES}");
        return Err(Refusal::value("split.column", column, remedy));
    }
    let names = (1..=count).map(|party| format!("party-{party}")).collect();
    let party = users.iter().map(|user| *user as usize).collect();
    Ok((Loaded { users: None, ..loaded }, Holders { names, party }))
}
