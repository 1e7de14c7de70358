//! One column of the records of a model of ours, guessed with and without it.

use super::disclosed::Disclosed;
use super::folder::{self, Subject};
use super::statement::{share, whole};
use super::target::{FittedRows, Opened, TrainedExamples, WithRecords, repeated};
use crate::folder::Content;
use crate::watch::{Watch, Work};
use crate::{Planned, Refusal, Request, Session};
use reticent_attack::attribute::{AttributeSettings, AttributeStudy, FEWEST, MOST_VALUES};
use reticent_attack::{Learner, LinearLearner, LinearSettings, NetworkLearner, NetworkTraining, Wanted};
use reticent_audit::disclosure::DisclosureBound;
use reticent_audit::{Features, Outputs, Signal};
use reticent_core::{Certificate, Code};
use reticent_data::encode::{Feature, FeaturePart};
use reticent_data::{FeatureMatrix, keyed_hash};
use reticent_erm::{AnyModel, FitMethod, Linear, MarginLoss, Settings};
use reticent_train::{Examples, Inputs, Targets};
use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many records may be judged.
pub const ATTRIBUTE_RECORDS: RangeInclusive<u64> = 40..=1_000_000;
/// How many models the attacker may train.
pub const ATTRIBUTE_REFERENCES: RangeInclusive<u64> = 0..=1024;
/// The most records that the attacker learns from.
const MOST_OWN: usize = 20_000;
/// The most rows that models are asked about.
const MOST_ROWS: usize = 2_000_000;

/// Attribute inference against a model of ours that was trained on a table.
///
/// Half of the records that the model was not trained on are the attacker's own; members are judged beside the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Attribute {
    /// The folder of the model.
    pub model: PathBuf,
    /// The column to guess, one of categories.
    pub column: String,
    /// Data that the model was not trained on; by default rows that were held out, or the test part.
    pub non_members: Option<PathBuf>,
    /// How many records are judged at most, half of them members.
    pub records: u64,
    /// How many models the attacker trains, each on half of its own records.
    pub references: u64,
    /// Confidence of intervals.
    pub confidence: f64,
    /// The key of all choices of records; the same key gives the same records.
    pub key: String,
    /// The folder of the audit; by default a folder beside the model's, of its name and `-audit`.
    pub out: Option<PathBuf>,
}

impl Default for Attribute {
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            column: String::new(),
            non_members: None,
            records: 4000,
            references: 4,
            confidence: 0.95,
            key: super::KEY.to_owned(),
            out: None,
        }
    }
}

/// A checked attribute inference.
pub struct AttributePlan {
    request: Attribute,
    subject: Subject,
    target: Opened,
    out: PathBuf,
}

impl Request for Attribute {
    type Planned = AttributePlan;

    fn check(&self) -> Result<AttributePlan, Refusal> {
        if self.column.is_empty() {
            return Err(Refusal::missing("column", "give the column to guess, e.g. ⟦column⟧ sex"));
        }
        whole("records", self.records, &ATTRIBUTE_RECORDS)?;
        whole("references", self.references, &ATTRIBUTE_REFERENCES)?;
        share("confidence", self.confidence)?;
        let out = folder::place(&self.model, self.out.as_deref())?;
        let target = Opened::open(&self.model, self.non_members.as_deref())?;
        Ok(AttributePlan { subject: Subject::of_model(&self.model)?, target, out, request: self.clone() })
    }
}

impl Planned for AttributePlan {
    type Outcome = Disclosed;

    /// Reads the records and guesses. What comes out is for the auditor's eyes: no guarantee covers it, and nothing is charged for it.
    fn run(self, session: &mut Session) -> Result<Disclosed, Refusal> {
        session.unprotected("attribute inference, which reads the records themselves,")?;
        let Self { request, subject, target, out } = self;
        let watch = session.watch();
        let (table, model, certificate) = match target.with_records(watch)? {
            WithRecords::Linear(fitted) => of_linear(*fitted)?,
            WithRecords::Network(trained) => of_network(*trained)?,
        };
        let values = table.values(&request.column)?;
        let split = table.split(&request, values.len())?;
        let study = study(&table, &model, &values, &split, &request, watch)?;
        let settings = AttributeSettings { confidence: request.confidence, key: request.key };
        let mut disclosures = study.run(&settings)?;
        if let Some(certificate) = &certificate {
            for disclosure in &mut disclosures {
                // What the same attack achieves where the record was not used, at most.
                let prior = disclosure.measures.get(1).map_or(1.0, |others| others.attack.upper);
                disclosure.bound = Some(DisclosureBound::of(certificate, prior));
            }
        }
        Disclosed::written(disclosures, Vec::new(), certificate, &subject, out)
    }
}

/// The rows of members and then of others, as numbers.
struct Rows {
    features: Vec<Feature>,
    values: Vec<f64>,
    /// As the model's data have them.
    labels: Vec<f64>,
    members: usize,
    repeated: Vec<bool>,
}

/// Whose rows are used for what, by their numbers.
struct Split {
    /// The attacker's own.
    own: Vec<usize>,
    /// Those that are judged: members first.
    judged: Vec<usize>,
    /// How many of them are members.
    members: usize,
}

/// How models are asked about rows, and made.
enum Model {
    Linear { models: Vec<Linear>, how: LinearSettings },
    Network { training: Box<NetworkTraining>, weights: Vec<f32> },
}

fn of_linear(fitted: FittedRows) -> Result<(Rows, Model, Option<Certificate>), Refusal> {
    let FittedRows { rows, others, model, features, classes, certificate } = fitted;
    let others = others.ok_or_else(no_others)?;
    let repeated = repeated(Content::Rows(&rows), Content::Rows(&others))?;
    let members = rows.rows();
    let all = rows.followed_by(&others)?;
    let mut values = vec![0.0; all.rows() * all.dimension()];
    for (row, into) in values.chunks_exact_mut(all.dimension()).enumerate() {
        let (columns, entries) = all.row(row);
        columns.iter().zip(entries).for_each(|(column, value)| into[*column as usize] = *value);
    }
    let (models, loss, report) = match model {
        AnyModel::Binary(fit) => {
            (vec![Linear { weights: fit.weights, intercept: fit.intercept }], fit.loss, fit.report)
        }
        AnyModel::Multiclass(many) => (many.models, many.loss, many.report),
    };
    // The attacker's own models need no noise.
    let settings = Settings { intercept: report.intercept_feature, ..Settings::default() };
    let method = FitMethod::Exact;
    let loss = if loss.is_classification() { loss } else { MarginLoss::Logistic };
    let how = LinearSettings { classes, loss, method, budget: None, settings, l1_bound: None };
    let labels = all.labels().to_vec();
    Ok((Rows { features, values, labels, members, repeated }, Model::Linear { models, how }, certificate))
}

fn of_network(trained: TrainedExamples) -> Result<(Rows, Model, Option<Certificate>), Refusal> {
    let TrainedExamples { examples, others, training, weights, features, certificate } = trained;
    if features.is_empty() {
        let text = "attribute inference is on models of tables: this one reads images or texts";
        return Err(Refusal::new(Code::Premise, text));
    }
    let others = others.ok_or_else(no_others)?;
    let repeated = repeated(Content::Examples(&examples, None), Content::Examples(&others, None))?;
    let members = examples.len();
    let all = examples.followed_by(&others)?;
    let Targets::Classes(labels) = all.targets() else {
        return Err(Refusal::new(
            Code::Premise,
            "the label is a number, and attacks here are on classifiers",
        ));
    };
    let labels = labels.iter().map(|label| f64::from(*label)).collect();
    let mut row = vec![0.0; all.size()];
    let mut values = Vec::with_capacity(all.len() * all.size());
    for record in 0..all.len() {
        all.read(record, &mut row);
        values.extend(row.iter().map(|value| f64::from(*value)));
    }
    let model = Model::Network { training: Box::new(training), weights };
    Ok((Rows { features, values, labels, members, repeated }, model, certificate))
}

fn no_outputs() -> Refusal {
    Refusal::internal("a classifier without outputs")
}

fn no_others() -> Refusal {
    let remedy = "nothing was held out: give a table of the same kind that the model was not trained on";
    Refusal::missing("non_members", remedy)
}

impl Rows {
    fn width(&self) -> usize {
        self.features.len()
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width()..][..self.width()]
    }

    /// Where the values of a column stand in a row.
    fn values(&self, column: &str) -> Result<Range<usize>, Refusal> {
        let is_own = |feature: &Feature| feature.column == column;
        let Some(first) = self.features.iter().position(is_own) else {
            let mut names: Vec<&str> = Vec::new();
            let categories =
                self.features.iter().filter(|feature| matches!(feature.part, FeaturePart::Category(_)));
            categories.for_each(|feature| names.push(&feature.column));
            names.dedup();
            let remedy = format!("the model does not read it: give one of {}", names.join(", "));
            return Err(Refusal::unknown("column", column, &remedy));
        };
        if self.features[first].part == FeaturePart::Value {
            let remedy = "it holds numbers: give a column of categories, or declare its ranges as categories";
            return Err(Refusal::value("column", column, remedy));
        }
        let count = self.features[first..].iter().take_while(|feature| is_own(feature)).count();
        match (2..=MOST_VALUES).contains(&count) {
            true => Ok(first..first + count),
            false => {
                let remedy = format!("it has {count} values: give a column of at most {MOST_VALUES}");
                Err(Refusal::value("column", column, remedy))
            }
        }
    }

    /// Half of the others are the attacker's own; as many members as of the rest are judged. Of equal rows it is not known who is a
    /// member: they are nobody's.
    fn split(&self, request: &Attribute, values: usize) -> Result<Split, Refusal> {
        let mut places: Vec<usize> = (0..self.labels.len()).filter(|row| !self.repeated[*row]).collect();
        places.sort_by_cached_key(|row| {
            (keyed_hash(&request.key, format!("attribute {row}").as_bytes()), *row)
        });
        let (mut judged, mut own): (Vec<usize>, Vec<usize>) =
            places.into_iter().partition(|row| *row < self.members);
        let others = own.split_off(own.len() / 2);
        own.truncate(MOST_OWN);
        let most = (request.records as usize / 2).min(MOST_ROWS / (2 * values));
        let half = judged.len().min(others.len()).min(most);
        if half < FEWEST || own.len() < FEWEST {
            let text = format!(
                "not measurable: {} members, {} others and {} records of the attacker differ from all other records: at least \
                 {FEWEST} of each are needed",
                judged.len(),
                others.len(),
                own.len()
            );
            return Err(Refusal::new(Code::NotMeasurable, text));
        }
        judged.truncate(half);
        judged.extend(&others[..half]);
        Ok(Split { own, judged, members: half })
    }
}

fn study(
    rows: &Rows,
    model: &Model,
    values: &Range<usize>,
    split: &Split,
    request: &Attribute,
    watch: &dyn Watch,
) -> Result<AttributeStudy, Refusal> {
    // The attacker's own rows as they are, then every judged row with every value.
    let mut asked: Vec<f64> = split.own.iter().flat_map(|row| rows.row(*row)).copied().collect();
    for row in &split.judged {
        let size = rows.row(*row)[values.clone()].iter().copied().fold(0.0, f64::max);
        for value in values.clone() {
            let place = asked.len();
            asked.extend_from_slice(rows.row(*row));
            asked[place + values.start..place + values.end].fill(0.0);
            asked[place + value] = size;
        }
    }
    let each = |row: &usize| std::iter::repeat_n(rows.labels[*row], values.len());
    let labels: Vec<f64> =
        split.own.iter().map(|row| rows.labels[*row]).chain(split.judged.iter().flat_map(each)).collect();
    let stage = watch.begin(Work::Thinking);
    watch.listen();
    stage.say("asking the model and training the attacker's own");
    let (learner, target, classes): (Box<dyn Learner>, Outputs, Vec<u32>) = match model {
        Model::Linear { models, how } => {
            let design = FeatureMatrix::dense(rows.width(), &asked, labels, 1.0)?;
            let learner = LinearLearner::new(design, how.clone())?;
            let (outputs, classes) = (learner.outputs(models)?, learner.labels().to_vec());
            (Box::new(learner), outputs, classes)
        }
        Model::Network { training, weights } => {
            let classes: Vec<u32> = labels.iter().map(|label| *label as u32).collect();
            let inputs = Inputs::Real(asked.iter().map(|value| *value as f32).collect());
            let examples = Examples::new(&[rows.width()], inputs, Targets::Classes(classes.clone()))?;
            let learner = NetworkLearner::new(Arc::new(examples), (**training).clone())?;
            let outputs = learner.artifact(weights.clone(), &Wanted::default())?.outputs;
            (Box::new(learner), outputs.ok_or_else(no_outputs)?, classes)
        }
    };
    let said = |outputs: &Outputs| -> Result<Vec<f64>, Refusal> {
        Ok(Signal::Loss.compute(outputs, &classes)?.split_off(split.own.len()))
    };
    let halt = watch.halt();
    let is_halted = || halt.load(Ordering::SeqCst);
    let mut references = Vec::new();
    for reference in 0..request.references {
        let is_in = |place: &usize| {
            keyed_hash(&request.key, format!("attribute reference {reference} {place}").as_bytes()) >> 63 == 1
        };
        let inside: Vec<usize> = (0..split.own.len()).filter(is_in).collect();
        let key = format!("{}: attribute reference {reference}", request.key);
        let found = learner.fit(&inside, &key, &Wanted::default(), &is_halted)?;
        references.push(said(&found.outputs.ok_or_else(no_outputs)?)?);
    }
    let all: Vec<usize> = split.own.iter().chain(&split.judged).copied().collect();
    let true_value = |row: &usize| {
        let own = &rows.row(*row)[values.clone()];
        (1..own.len()).fold(0, |best, other| if own[other] > own[best] { other } else { best }) as u32
    };
    let others = |row: &usize| {
        let row = rows.row(*row);
        row[..values.start].iter().chain(&row[values.end..]).map(|value| *value as f32)
    };
    Ok(AttributeStudy {
        column: request.column.clone(),
        values: values.len(),
        known: Features {
            columns: rows.width() - values.len(),
            values: all.iter().flat_map(others).collect(),
        },
        labels: classes[..split.own.len()]
            .iter()
            .chain(classes[split.own.len()..].iter().step_by(values.len()))
            .copied()
            .collect(),
        truth: all.iter().map(true_value).collect(),
        members: (0..split.judged.len()).map(|place| place < split.members).collect(),
        target: said(&target)?,
        references,
    })
}
