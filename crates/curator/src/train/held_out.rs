//! The accuracy of a network on units that it was not trained on, with noise.
//!
//! Units are held out by a keyed hash of their content, the k-th of equal ones by a hash of k as well, as
//! [`Split`] does it for rows: one unit less changes one side by that unit and leaves the other as it is.

use super::reader::{Loaded, Reader};
use super::request::Train;
use super::settings::Budget;
use crate::fit::{Score, Tally, Task, Tested};
use crate::folder::Writer;
use crate::folder::layout::HELD_OUT_FILE;
use crate::quantity;
use crate::refusal::Refusal;
use reticent_core::rounding::{div_down, mul_down, mul_up};
use reticent_core::{Code, Delta, Epsilon, Event, Fact, Guarantee, Neighboring, Permit};
use reticent_data::{KeyedHash, Split, SplitSide};
use reticent_noise::NoiseSession;
use reticent_noise::query::QueryTerms;
use reticent_noise::sampler::uniform_below;
use reticent_train::{Aggregation, Examples, Targets, Units};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The key of the hash where none is given.
const KEY: &str = "reticent";

/// The score of a network on held-out units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutScore {
    /// The share of units whose class is predicted right; none for numbers, and where the noise is too large to tell.
    pub accuracy: Option<f64>,
    /// What the noise may have added or taken, with 95 % confidence.
    pub accuracy_doubt: Option<f64>,
    /// By how much other units of the same kind may differ, with 95 % confidence.
    pub accuracy_sampling: Option<f64>,
    /// The share of the largest class.
    pub majority: Option<f64>,
    /// The name of the largest class.
    pub majority_class: Option<String>,
    /// The root mean squared error in the label's unit; none for classes.
    pub rmse: Option<f64>,
    /// Where it lies without the noise, with 95 % confidence.
    pub rmse_interval: Option<[f64; 2]>,
    /// Where that of other units of the same kind lies, with 95 % confidence.
    pub rmse_sampling: Option<[f64; 2]>,
    /// The share of the units that is held out.
    pub share: f64,
    /// Whether noise protects the score.
    pub is_noisy: bool,
    /// Caveats.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

impl HeldOutScore {
    /// The same without what is known class by class.
    fn overall(self) -> Self {
        Self { majority: None, majority_class: None, warnings: Vec::new(), ..self }
    }

    fn new(tested: &Tested, reader: &Reader, share: f64) -> Self {
        let mut found = Self {
            accuracy: None,
            accuracy_doubt: None,
            accuracy_sampling: None,
            majority: None,
            majority_class: None,
            rmse: None,
            rmse_interval: None,
            rmse_sampling: None,
            share,
            is_noisy: matches!(tested, Tested::Released { .. }),
            warnings: tested.warnings(&reader.classes),
        };
        match tested.score() {
            Score::Classes { accuracy, noise, sampling, majority } => {
                found.accuracy = *accuracy;
                found.accuracy_doubt = accuracy.and(Some(*noise)).filter(|noise| *noise > 0.0);
                found.accuracy_sampling = accuracy.and(Some(*sampling));
                found.majority = majority.map(|(_, share)| share);
                found.majority_class = majority.and_then(|(class, _)| reader.classes.get(class).cloned());
            }
            Score::Number { rmse, interval, sampling } => {
                (found.rmse, found.rmse_interval, found.rmse_sampling) =
                    (Some(*rmse), Some(*interval), Some(*sampling));
            }
        }
        found
    }

    /// What is larger for a better network.
    pub(crate) fn merit(&self) -> f64 {
        let accuracy = self.accuracy.or_else(|| self.rmse.map(|rmse| -rmse));
        accuracy.filter(|merit| !merit.is_nan()).unwrap_or(f64::NEG_INFINITY)
    }
}

/// Checks the fields of a held-out score; the split is none where nothing is held out.
pub(super) fn settle(
    run: &Train,
    budget: Budget,
    neighboring: Neighboring,
) -> Result<Option<Split>, Refusal> {
    let Some(share) = run.held_out else {
        return match &run.split_key {
            Some(key) => {
                let remedy = "the key of held-out units: add ⟦held_out⟧, or leave it out";
                Err(Refusal::conflict("split_key", key, remedy))
            }
            None => Ok(None),
        };
    };
    let share = quantity::finite("held_out", share)?;
    if !(share > 0.0 && share < 1.0) {
        return Err(Refusal::value("held_out", share, "give a share above 0 and below 1, such as 0.1"));
    }
    if budget != Budget::None && neighboring == Neighboring::ReplaceOne {
        let remedy = "under replace-one a replaced row may change from training to test, so nothing can be held out: give \
                      ⟦validation⟧ with public data, or use add-remove";
        return Err(Refusal::value("held_out", share, remedy).coded(Code::Relation));
    }
    for (field, given) in [("federated", run.federated.is_some()), ("adversarial", run.adversarial.is_some())]
    {
        if given {
            let remedy = format!("nothing is held out of a training with ⟦{field}⟧: leave it out");
            return Err(Refusal::conflict("held_out", share, remedy));
        }
    }
    Ok(Some(Split::new(run.split_key.as_deref().unwrap_or(KEY), share)?))
}

/// Refuses held-out units of a model without classes or numbers to predict.
pub(super) fn check(run: &Train, reader: &Reader) -> Result<(), Refusal> {
    match run.held_out {
        Some(share) if reader.is_language() => {
            let remedy = "a language model has no held-out accuracy: give ⟦validation⟧ with public texts";
            Err(Refusal::conflict("held_out", share, remedy))
        }
        _ => Ok(()),
    }
}

/// The content of a unit: its examples with their targets, in an order of their own.
fn content(examples: &Examples, members: &[usize], row: &mut [f32]) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = members
        .iter()
        .map(|example| {
            examples.read(*example, row);
            let mut bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
            match examples.targets() {
                Targets::Classes(classes) => bytes.extend(classes[*example].to_le_bytes()),
                Targets::Numbers(numbers) => bytes.extend(numbers[*example].to_le_bytes()),
                Targets::Next(next) => {
                    let size = examples.size();
                    let own = &next[example * size..(example + 1) * size];
                    bytes.extend(own.iter().flat_map(|token| token.to_le_bytes()));
                }
            }
            bytes
        })
        .collect();
    // All parts are equally long: nothing has to stand between them.
    parts.sort_unstable();
    parts.concat()
}

/// Which units a split holds out.
///
/// # Guarantee
/// Under add-remove between sets of units, one unit more or less changes one side by that unit and leaves the other as it is, as sets
/// without an order: `data/src/split/proof.md`, with units for rows.
fn sides(examples: &Examples, units: &Units, key: &str, split: &Split) -> Vec<SplitSide> {
    let hash = KeyedHash::new(key);
    let mut row = vec![0.0; examples.size()];
    // For every hash the contents that have it: the first unit of each, and how many units there have been.
    let mut met: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
    let mut side = |unit: usize| {
        let own = content(examples, &units.members(unit), &mut row);
        let hash = hash.of(&own);
        let known = met.entry(hash).or_default();
        let mut is_same = |first: usize| content(examples, &units.members(first), &mut row) == own;
        match known.iter_mut().find(|(first, _)| is_same(*first)) {
            Some((_, count)) => {
                *count += 1;
                split.occurrence(hash, *count)
            }
            None => {
                known.push((unit, 1));
                split.occurrence(hash, 1)
            }
        }
    };
    (0..units.len()).map(&mut side).collect()
}

/// Divides what was read into what is trained on and what is held out; nothing of the latter where none is asked for.
pub(crate) fn divide(run: &Train, loaded: Loaded) -> Result<(Loaded, Option<Loaded>), Refusal> {
    let Some(share) = run.held_out else { return Ok((loaded, None)) };
    let key = run.split_key.as_deref().unwrap_or(KEY);
    let split = Split::new(key, share)?;
    let units = loaded.units(None, true)?;
    let sides = sides(&loaded.examples, &units, key, &split);
    let mut is_held = vec![false; loaded.examples.len()];
    for (unit, side) in sides.iter().enumerate() {
        for example in units.members(unit) {
            is_held[example] = *side == SplitSide::Test;
        }
    }
    let (held, kept): (Vec<usize>, Vec<usize>) = (0..is_held.len()).partition(|example| is_held[*example]);
    let of = |which: &[usize], all: &Option<Vec<u32>>| {
        all.as_ref().map(|all| which.iter().map(|example| all[*example]).collect())
    };
    let part = |which: &[usize]| Loaded {
        examples: loaded.examples.subset(which),
        users: of(which, &loaded.users),
        rows: of(which, &loaded.rows),
    };
    Ok((part(&kept), Some(part(&held))))
}

/// Less than 1 by more than sums and quotients round.
const ROUNDING: f64 = 1.0 - 1e-9;

/// A test that is part of what a run pays for, with the scores during the run where there are any.
#[derive(Debug, Clone)]
pub(crate) struct HeldOutTest {
    terms: QueryTerms,
    /// The noise of a score during the run.
    evaluation: Option<QueryTerms>,
    /// All scores, and the test.
    pub(crate) event: Event,
    /// What they cost together.
    pub(crate) guarantee: Guarantee,
    /// The key of the split.
    pub(crate) key: String,
}

impl HeldOutTest {
    /// The test of a run with noise of ε; none where nothing is held out. With so many evaluations during the run, half of ε is for the
    /// test and half for all of them.
    ///
    /// # Guarantee
    /// The event has every score that the run may draw, and costs at most ε: basic composition, which holds for networks that earlier
    /// scores decided.
    pub(crate) fn of(
        run: &Train,
        reader: &Reader,
        epsilon: Epsilon,
        evaluations: Option<u64>,
    ) -> Result<Option<Self>, Refusal> {
        if run.held_out.is_none() {
            return Ok(None);
        }
        let key = run.split_key.clone().unwrap_or_else(|| KEY.to_owned());
        let empty = tally(reader, &[], &[], 0.0)?;
        let Some(count) = evaluations else {
            let terms = QueryTerms::pure(epsilon);
            let (event, guarantee) = empty.cost(&terms)?;
            return Ok(Some(Self { terms, evaluation: None, event, guarantee, key }));
        };
        let half = mul_down(epsilon.get(), 0.5 * ROUNDING);
        let terms = QueryTerms::pure(Epsilon::new(half)?);
        let evaluation = QueryTerms::pure(Epsilon::new(div_down(half, count as f64))?);
        let (test, cost) = empty.cost(&terms)?;
        let (one, each) = overall(reader, &[], 0.0)?.cost(&evaluation)?;
        let all = Guarantee {
            epsilon: Epsilon::new(mul_up(each.epsilon.get(), count as f64))?,
            delta: Delta::new(mul_up(each.delta.get(), count as f64))?,
        };
        let all_scores = Event::Repeated { count, event: Box::new(one) };
        let event = Event::Composed { events: vec![all_scores, test] };
        Ok(Some(Self { terms, evaluation: Some(evaluation), event, guarantee: all.then(cost)?, key }))
    }

    /// The premise of a certificate with this test.
    pub(crate) fn fact(&self) -> Fact {
        Fact::SplitKey(self.key.clone())
    }
}

/// What is counted: judged examples with their classes, or errors.
fn tally(reader: &Reader, classes: &[u32], judged: &[f64], rows: f64) -> Result<Tally, Refusal> {
    if let Some(schema) = &reader.schema
        && let Task::Number(bounds) = Task::of(schema)?
    {
        return Tally::number(judged, rows, &bounds);
    }
    let mut hits = vec![[0, 0]; reader.classes.len()];
    for (class, right) in classes.iter().zip(judged) {
        if let Some(cell) = hits.get_mut(*class as usize) {
            cell[usize::from(*right == 0.0)] += 1;
        }
    }
    Ok(Tally::Classes(hits))
}

/// What is counted during a run: how many are judged right and wrong, whatever their classes, or errors.
fn overall(reader: &Reader, judged: &[f64], rows: f64) -> Result<Tally, Refusal> {
    if reader.classes.is_empty() {
        return tally(reader, &[], judged, rows);
    }
    let right = judged.iter().filter(|right| **right != 0.0).count();
    Ok(Tally::Classes(vec![[right as u64, (judged.len() - right) as u64]]))
}

/// One example of every held-out unit, drawn at random, and its class.
fn one_each(held: &Loaded, payer: &mut NoiseSession) -> Result<(Vec<usize>, Vec<u32>), Refusal> {
    let units = held.units(None, true)?;
    let which: Vec<usize> = (0..units.len())
        .map(|unit| {
            let members = units.members(unit);
            match members.len() {
                1 => members[0],
                several => members[uniform_below(payer.entropy(), several as u64) as usize],
            }
        })
        .collect();
    let classes = match held.examples.raw().targets() {
        Targets::Classes(classes) => which.iter().map(|example| classes[*example]).collect(),
        _ => Vec::new(),
    };
    Ok((which, classes))
}

/// Held-out units that a network is tested on.
pub(crate) struct HeldOut<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) loaded: &'a Loaded,
    /// The share of all units that they are, on average.
    pub(crate) share: f64,
    /// The public number of units that are trained on.
    pub(crate) size: u64,
}

impl HeldOut<'_> {
    /// Tests a network, with the noise of a test that the permit covers, or without noise and protection where there is none. Of a unit
    /// with several examples one is drawn, so that every unit counts once.
    ///
    /// # Guarantee
    /// The test's own, about the held-out units: what else is computed of them is not covered.
    pub(crate) fn score(
        &self,
        network: &mut Aggregation,
        test: Option<(&HeldOutTest, &mut Permit)>,
        payer: &mut NoiseSession,
    ) -> Result<HeldOutScore, Refusal> {
        let (which, classes) = one_each(self.loaded, payer)?;
        let judged = network.judge(&self.loaded.examples, &which)?;
        let tested = match test {
            Some((test, permit)) => {
                let tally = tally(self.reader, &classes, &judged, self.rows())?;
                tally.released(&test.terms, &mut payer.with(permit))?
            }
            None => {
                let tally = tally(self.reader, &classes, &judged, which.len() as f64)?;
                Tested::Exact(tally.exact(&judged))
            }
        };
        Ok(HeldOutScore::new(&tested, self.reader, self.share))
    }

    /// The true number of held-out units is private: this is how many there are on average.
    fn rows(&self) -> f64 {
        self.size as f64 * self.share / (1.0 - self.share)
    }

    /// As [`score`](Self::score) during a run: with the noise of one evaluation, and over all classes.
    ///
    /// # Guarantee
    /// That of one evaluation of the test, about the held-out units, whatever the network is: `evaluations`.
    pub(crate) fn evaluate(
        &self,
        network: &mut Aggregation,
        test: Option<(&HeldOutTest, &mut Permit)>,
        payer: &mut NoiseSession,
    ) -> Result<HeldOutScore, Refusal> {
        let (which, _) = one_each(self.loaded, payer)?;
        let judged = network.judge(&self.loaded.examples, &which)?;
        let tested = match test {
            Some((test, permit)) => {
                let Some(terms) = &test.evaluation else {
                    return Err(Refusal::internal("a score that is not part of the plan"));
                };
                let tally = overall(self.reader, &judged, self.rows())?;
                tally.released(terms, &mut payer.with(permit))?
            }
            None => Tested::Exact(overall(self.reader, &judged, which.len() as f64)?.exact(&judged)),
        };
        Ok(HeldOutScore::new(&tested, self.reader, self.share).overall())
    }
}

/// Stores a score before anyone sees it: it is drawn once.
pub(super) fn store(writer: &Writer, score: &HeldOutScore) -> Result<(), Refusal> {
    let text = serde_json::to_string(score).map_err(Refusal::internal)?;
    writer.write_durably(HELD_OUT_FILE, format!("{text}\n").as_bytes())
}

/// The score that was drawn before; none where none is stored.
pub(super) fn stored(folder: &Path) -> Result<Option<HeldOutScore>, Refusal> {
    let path = folder.join(HELD_OUT_FILE);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let refuse = |error: serde_json::Error| {
        let why = format!("{}: {error}: restore it from a backup", path.display());
        Refusal::new(Code::Broken, why).because(error)
    };
    serde_json::from_str(&text).map(Some).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::settings::settle as settle_run;
    use reticent_train::Inputs;

    fn loaded(values: &[f32], users: Option<Vec<u32>>) -> Loaded {
        let targets = Targets::Classes(vec![0; values.len()]);
        let examples = Examples::new(&[1], Inputs::Real(values.to_vec()), targets).unwrap();
        Loaded { examples, users, rows: None }
    }

    fn values(loaded: &Loaded) -> Vec<u32> {
        let Inputs::Real(values) = loaded.examples.inputs() else { panic!("numbers") };
        let mut values: Vec<u32> = values.iter().map(|value| *value as u32).collect();
        values.sort_unstable();
        values
    }

    fn good() -> Train {
        Train { held_out: Some(0.25), epsilon: Some(1.0), delta: Some(1e-6), ..Train::default() }
    }

    #[test]
    fn one_unit_less_changes_one_side_by_that_unit() {
        // 300 rows of 40 contents; and the same as rows of 60 users.
        let all: Vec<f32> = (0..300).map(|place| (place * place % 40) as f32).collect();
        let ids: Vec<u32> = (0..300).map(|place| place % 60).collect();
        for by_user in [false, true] {
            let parts = |values: &[f32], users: &[u32]| {
                let own = loaded(values, by_user.then(|| users.to_vec()));
                let (kept, held) = divide(&good(), own).unwrap();
                [self::values(&kept), self::values(&held.unwrap())]
            };
            let whole = parts(&all, &ids);
            assert_eq!(whole[0].len() + whole[1].len(), 300);
            assert!(!whole[1].is_empty() && whole[1].len() < 200, "{}", whole[1].len());
            for gone in 0..60u32 {
                let stays = |place: &usize| if by_user { ids[*place] != gone } else { *place as u32 != gone };
                let which: Vec<usize> = (0..300).filter(stays).collect();
                let rest: Vec<f32> = which.iter().map(|place| all[*place]).collect();
                // The numbers of users change when one is not there.
                let users: Vec<u32> = which.iter().map(|place| 1000 - ids[*place]).collect();
                let fewer = parts(&rest, &users);
                let changed: Vec<usize> = (0..2).filter(|side| fewer[*side] != whole[*side]).collect();
                assert_eq!(changed.len(), 1, "{by_user} {gone}");
                let lost = if by_user { 5 } else { 1 };
                assert_eq!(whole[changed[0]].len() - fewer[changed[0]].len(), lost);
            }
        }
    }

    #[test]
    fn defaults_are_filled_in_and_mistakes_named() {
        settle_run(&mut good()).unwrap();
        let other = |change: &dyn Fn(&mut Train)| {
            let mut run = good();
            change(&mut run);
            settle_run(&mut run).unwrap_err()
        };
        for share in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!(other(&|run| run.held_out = Some(share)).field(), Some("held_out"));
        }
        let relation = other(&|run| run.neighboring = Some("replace-one".to_owned()));
        assert_eq!((relation.code(), relation.field()), (Code::Relation, Some("held_out")));
        let key = other(&|run| (run.held_out, run.split_key) = (None, Some("a".to_owned())));
        assert_eq!(key.field(), Some("split_key"));
    }
}
