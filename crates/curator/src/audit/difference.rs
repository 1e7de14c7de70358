//! Two models or two releases, with and without somebody.

use super::disclosed::Disclosed;
use super::folder::{self, Subject};
use super::reconstruct::linear_model;
use super::statement::share;
use super::target::{FittedRows, Opened, TrainedExamples, WithRecords};
use crate::folder::{Content, Key};
use crate::page::PageOutcome;
use crate::{Planned, Refusal, Request, Session};
use reticent_attack::network_outputs;
use reticent_attack::reconstruction::{Reconstruction, added_by_difference, record_by_difference};
use reticent_audit::Signal;
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::{Disclosure, DisclosureMeasure};
use reticent_audit::findings::{Estimate, Threat};
use reticent_core::Code;
use reticent_train::{Device, Examples, Resources, Targets};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The most statistics of releases that are listed one by one.
const LISTED: usize = 20;

/// A comparison of two models or two releases.
///
/// Folders of two models: who was added from one to the other is told by the fall of their loss, and the record itself if both are
/// linear and differ in one record. Two files of releases: every statistic's difference with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Difference {
    /// The folder of a model, or a released page as JSON, or exact statistics as a JSON object of names and numbers.
    pub first: PathBuf,
    /// The same with or without somebody.
    pub second: PathBuf,
    /// Models: data that neither was trained on; by default what the one with more records has held out or as its test part.
    pub non_members: Option<PathBuf>,
    /// Confidence of intervals.
    pub confidence: f64,
    /// The folder of the audit; by default that of the model with more records, and none for releases.
    pub out: Option<PathBuf>,
}

impl Default for Difference {
    fn default() -> Self {
        let (first, second, non_members, out) = (PathBuf::new(), PathBuf::new(), None, None);
        Self { first, second, non_members, confidence: 0.95, out }
    }
}

/// A checked comparison.
pub struct DifferencePlan {
    request: Difference,
    kind: Kind,
}

enum Kind {
    Models([Opened; 2]),
    Releases([Statistics; 2]),
}

impl Request for Difference {
    type Planned = DifferencePlan;

    fn check(&self) -> Result<DifferencePlan, Refusal> {
        share("confidence", self.confidence)?;
        let kind = match (self.first.is_file(), self.second.is_file()) {
            (true, true) => {
                if let Some(data) = &self.non_members {
                    return Err(Refusal::conflict(
                        "non_members",
                        data.display(),
                        "is for models: leave it out",
                    ));
                }
                self.out.as_deref().map(folder::check_out).transpose()?;
                Kind::Releases([Statistics::read(&self.first)?, Statistics::read(&self.second)?])
            }
            (false, false) => {
                let open = |model| Opened::open(model, self.non_members.as_deref());
                let models = [open(&self.first)?, open(&self.second)?];
                for model in [&self.first, &self.second] {
                    folder::place(model, self.out.as_deref())?;
                }
                Kind::Models(models)
            }
            _ => {
                let remedy = "give two folders of models, or two files of releases";
                return Err(Refusal::conflict("second", self.second.display(), remedy));
            }
        };
        Ok(DifferencePlan { request: self.clone(), kind })
    }
}

impl Planned for DifferencePlan {
    type Outcome = Disclosed;

    /// Compares. Of models the records are read: no guarantee covers what is found, and nothing is charged for it.
    fn run(self, session: &mut Session) -> Result<Disclosed, Refusal> {
        let Self { request, kind } = self;
        match kind {
            Kind::Releases([first, second]) => {
                let disclosures = vec![first.compared(&second, request.confidence)?];
                match request.out {
                    Some(out) => Disclosed::written(disclosures, Vec::new(), None, &Subject::Scores, out),
                    None => {
                        Ok(Disclosed { disclosures, certificate: None, out: None, galleries: Vec::new() })
                    }
                }
            }
            Kind::Models([first, second]) => {
                session.unprotected("a comparison of models, which reads the records themselves,")?;
                let watch = session.watch();
                let pair = (first.with_records(watch)?, second.with_records(watch)?);
                let compared = match pair {
                    (WithRecords::Linear(first), WithRecords::Linear(second)) => {
                        of_linear(*first, *second, &request)?
                    }
                    (WithRecords::Network(first), WithRecords::Network(second)) => {
                        of_networks(*first, *second, &request)?
                    }
                    _ => {
                        let remedy = "a linear model and a network: give two of one kind";
                        return Err(Refusal::conflict("second", request.second.display(), remedy));
                    }
                };
                let Compared { found, certificate, swapped } = compared;
                let later = if swapped { &request.first } else { &request.second };
                let out = folder::place(later, request.out.as_deref())?;
                let disclosures = found.into_iter().map(|own| own.disclosure).collect();
                Disclosed::written(disclosures, Vec::new(), certificate, &Subject::of_model(later)?, out)
            }
        }
    }
}

struct Compared {
    found: Vec<Reconstruction>,
    certificate: Option<reticent_core::Certificate>,
    swapped: bool,
}

/// The records of the second that the first does not have, and whether the two were exchanged for that.
struct Added {
    swapped: bool,
    /// Places in the data with more records.
    added: Vec<usize>,
    /// Places among the others that neither has.
    neither: Vec<usize>,
}

impl Added {
    /// Compares all records, hashed under a key that is thrown away.
    fn of(
        first: Content<'_>,
        second: Content<'_>,
        others: [Option<Content<'_>>; 2],
    ) -> Result<Self, Refusal> {
        let key = Key::draw()?;
        let hashes = [key.records(first), key.records(second)];
        let beyond = |own: &[[u8; 32]], other: &[[u8; 32]]| {
            let mut left: HashMap<[u8; 32], usize> = HashMap::new();
            other.iter().for_each(|hash| *left.entry(*hash).or_default() += 1);
            let is_new = |hash: &[u8; 32]| match left.get_mut(hash) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            };
            let flags: Vec<bool> = own.iter().map(is_new).collect();
            (0..own.len()).filter(|place| flags[*place]).collect::<Vec<usize>>()
        };
        let [gone, come] = [beyond(&hashes[0], &hashes[1]), beyond(&hashes[1], &hashes[0])];
        let (swapped, added) = match (gone.is_empty(), come.is_empty()) {
            (true, true) => {
                let text =
                    "both models were trained on the same records: train one of them with somebody less";
                return Err(Refusal::new(Code::Premise, text));
            }
            (false, true) => (true, gone),
            (true, false) => (false, come),
            (false, false) => {
                let text = format!(
                    "{} records are in the first model's data only and {} in the second's only: give two of which one has \
                     all records of the other",
                    gone.len(),
                    come.len()
                );
                return Err(Refusal::new(Code::Premise, text));
            }
        };
        let [a, b] = others;
        let rest = (if swapped { a } else { b }).map(|others| key.records(others)).unwrap_or_default();
        let known: HashSet<[u8; 32]> = hashes.concat().into_iter().collect();
        let neither = (0..rest.len()).filter(|place| !known.contains(&rest[*place])).collect();
        Ok(Self { swapped, added, neither })
    }

    /// Refuses a comparison with nobody.
    fn check_others(&self) -> Result<(), Refusal> {
        match self.neither.is_empty() {
            true => Err(Refusal::missing("non_members", "give data that neither model was trained on")),
            false => Ok(()),
        }
    }

    fn flags(&self) -> Vec<bool> {
        let added = self.added.len();
        (0..added + self.neither.len()).map(|place| place < added).collect()
    }
}

fn of_linear(first: FittedRows, second: FittedRows, request: &Difference) -> Result<Compared, Refusal> {
    let others = [&first, &second].map(|own| own.others.as_ref().map(Content::Rows));
    let added = Added::of(Content::Rows(&first.rows), Content::Rows(&second.rows), others)?;
    let (first, second) = if added.swapped { (second, first) } else { (first, second) };
    let rest = second.others.as_ref().map(|others| others.subset(&added.neither));
    let come = second.rows.subset(&added.added);
    let candidates = match &rest {
        Some(rest) => come.clone().followed_by(rest)?,
        None => come.clone(),
    };
    let parts = [linear_model(&first.model), linear_model(&second.model)];
    let [before, after] = [&parts[0], &parts[1]].map(|(models, facts)| facts.of(models));
    if first.rows.dimension() != second.rows.dimension() {
        let remedy = "the models have different features: give two with the same schema";
        return Err(Refusal::conflict("second", request.second.display(), remedy));
    }
    let mut found = Vec::new();
    if come.rows() == 1 && !parts[1].1.is_descent() {
        found.push(record_by_difference(&before, &after, &first.rows, &come)?);
    }
    // The record itself needs nobody to compare with.
    if found.is_empty() {
        added.check_others()?;
    }
    if !added.neither.is_empty() {
        let losses = [&before, &after].map(|model| model.log_likelihoods(&candidates));
        found.push(added_by_difference(&losses[0], &losses[1], &added.flags(), request.confidence)?);
    }
    Ok(Compared { found, certificate: second.certificate, swapped: added.swapped })
}

fn of_networks(
    first: TrainedExamples,
    second: TrainedExamples,
    request: &Difference,
) -> Result<Compared, Refusal> {
    let content = |examples| Content::Examples(examples, None);
    let others = [&first, &second].map(|own| own.others.as_ref().map(content));
    let added = Added::of(content(&first.examples), content(&second.examples), others)?;
    added.check_others()?;
    let (first, second) = if added.swapped { (second, first) } else { (first, second) };
    let come = second.examples.subset(&added.added);
    let candidates = match &second.others {
        Some(others) => come.followed_by(&others.subset(&added.neither))?,
        None => come,
    };
    let before = log_probabilities(&first, &candidates)?;
    let after = log_probabilities(&second, &candidates)?;
    let found = vec![added_by_difference(&before, &after, &added.flags(), request.confidence)?];
    Ok(Compared { found, certificate: second.certificate, swapped: added.swapped })
}

fn log_probabilities(model: &TrainedExamples, examples: &Examples) -> Result<Vec<f64>, Refusal> {
    let Targets::Classes(labels) = examples.targets() else {
        return Err(Refusal::new(
            Code::Premise,
            "the label is a number, and attacks here are on classifiers",
        ));
    };
    let description = &model.training.description;
    let outputs = network_outputs(description, &model.weights, examples, Device::Cpu, Resources::default())?;
    Ok(Signal::Loss.compute(&outputs, labels).map_err(reticent_attack::AttackError::from)?)
}

/// Named statistics with their intervals.
struct Statistics {
    file: String,
    /// The confidence of every interval; 1 for exact ones.
    confidence: f64,
    values: BTreeMap<String, (f64, [f64; 2])>,
}

impl Statistics {
    /// A released page, or an object of names and numbers.
    fn read(path: &Path) -> Result<Self, Refusal> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            Refusal::new(Code::Unreadable, format!("{file}: cannot be read: {error}")).because(error)
        })?;
        if let Ok(exact) = serde_json::from_str::<BTreeMap<String, f64>>(&text) {
            let values = exact.into_iter().map(|(name, value)| (name, (value, [value; 2]))).collect();
            return Ok(Self { file, confidence: 1.0, values });
        }
        let page: PageOutcome = serde_json::from_str(&text).map_err(|error| {
            let why =
                "neither a released page ('reticent release page --json') nor an object of names and numbers";
            Refusal::new(Code::Json, format!("{file}: {why}: {error}"))
        })?;
        let named = page.rows.iter().filter_map(|row| {
            let parts = row.group.iter().chain([&row.question]).chain(&row.cell);
            let name = parts.map(String::as_str).collect::<Vec<_>>().join(", ");
            Some((name, (row.estimate?, row.interval)))
        });
        Ok(Self { file, confidence: page.confidence, values: named.collect() })
    }

    /// The differences of all statistics that both have.
    fn compared(&self, other: &Self, confidence: f64) -> Result<Disclosure, Refusal> {
        // Both intervals cover their values but for the sum of their errors.
        let sure = (self.confidence + other.confidence - 1.0).max(0.0);
        let difference = |(name, (first, [low, high])): (&String, &(f64, [f64; 2]))| {
            let (second, [other_low, other_high]) = other.values.get(name)?;
            let (lower, upper) = (other_low - high, other_high - low);
            Some((name.clone(), Estimate { value: second - first, lower, upper, confidence: sure }))
        };
        let mut all: Vec<(String, Estimate)> = self.values.iter().filter_map(difference).collect();
        if all.is_empty() {
            let text = format!("{} and {} have no statistic in common", self.file, other.file);
            return Err(Refusal::new(Code::Premise, text));
        }
        let is_sure = |own: &Estimate| own.lower > 0.0 || own.upper < 0.0;
        let exactly = |value: f64| Estimate { value, lower: value, upper: value, confidence: 1.0 };
        let changed = all.iter().filter(|(_, own)| is_sure(own)).count();
        let records = all.len() as u64;
        let share = exactly(changed as f64 / all.len() as f64);
        let mut measures = vec![DisclosureMeasure {
            what: "share of statistics that surely differ; the baseline is the share of mistakes that intervals allow".to_owned(),
            condition: format!("{} statistics of both releases", all.len()),
            rises: true,
            attack: share,
            baseline: Some(exactly(1.0 - sure)),
            difference: Some(exactly(share.value - (1.0 - sure))),
        }];
        let width = |own: &Estimate| own.value.abs() / (own.upper - own.lower).max(1e-300);
        all.sort_by(|(_, a), (_, b)| width(b).total_cmp(&width(a)));
        measures.extend(
            all.into_iter()
                .take(LISTED)
                .filter(|(_, own)| own.lower.is_finite() && own.upper.is_finite())
                .map(|(name, own)| DisclosureMeasure {
                    what: "second release less the first".to_owned(),
                    condition: name,
                    rises: true,
                    attack: own,
                    baseline: None,
                    difference: None,
                }),
        );
        let warnings = match sure < confidence {
            true => vec![format!(
                "intervals of differences hold with confidence {sure:.3} each: both releases' errors add up"
            )],
            false => Vec::new(),
        };
        Ok(Disclosure {
            name: "release-difference".to_owned(),
            kind: AttackKind::AttributeInference,
            about: "subtracts the statistics of two releases, of which one has somebody more".to_owned(),
            settings: BTreeMap::new(),
            threat: Threat {
                access: "two releases about the same people, with and without somebody".to_owned(),
                knowledge: "who came or went between them".to_owned(),
                goal: AttackKind::AttributeInference.goal().to_owned(),
            },
            records,
            measures,
            bound: None,
            warnings,
        })
    }
}
