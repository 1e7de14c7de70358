//! What a claim takes as public.

use crate::GradientPremise;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// One thing that was known without the private data, or is declared to be.
///
/// Its wire form is its text, which stays as it is. A text that is read is the fact that is always written so, such as
/// [`Fact::DraftSchema`], and [`Fact::Other`] otherwise: what it says is for people. Two facts are equal when their texts
/// are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Fact {
    /// Values are clamped to these bounds.
    Bounds {
        /// The least value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// Whether values are whole numbers.
    Integers(bool),
    /// How many candidates an answer was chosen from.
    Candidates(usize),
    /// The values that are told apart.
    Categories(Vec<String>),
    /// The edges of the cells of a histogram.
    Bins(Vec<f64>),
    /// The value that is looked for.
    Value(String),
    /// Which rows are looked at.
    Filter(String),
    /// How a column is computed from others, with its bounds.
    Derived(String),
    /// The number of rows that a question is answered from.
    Rows(u64),
    /// Columns that are given out as they are.
    Copied(Vec<String>),
    /// The number of rows of a fit.
    FittedRows(u64),
    /// A size that was declared for a fit, because the number of rows is private.
    DeclaredSize(u64),
    /// The weights of a linear model.
    Weights {
        /// Their number.
        count: usize,
        /// The value of the constant feature.
        constant: f64,
    },
    /// How large a row of a fit can be, beside its l2 norm of at most 1.
    RowNorm {
        /// The bound on the l1 norm.
        l1: f64,
    },
    /// The loss of a fit.
    Loss(String),
    /// The regularization of a fit.
    Regularization(f64),
    /// The number of units that a network is trained on.
    Units(u64),
    /// What every sum of gradients is divided by.
    Divisor(f64),
    /// What the sums of gradients are divided by where batches grow: the number of steps of each stage, and their divisor.
    StagedDivisor(Vec<(u64, f64)>),
    /// The model, its start, the recipe and the number of steps.
    Recipe,
    /// A file of weights that a run started from, which was made without the private data.
    InitialWeights(PublicFile),
    /// A file of word vectors that a run started from.
    WordVectors(PublicFile),
    /// Data that a run was trained on first, without protection.
    Pretraining(String),
    /// The server of a federated run, which is trusted with what no guarantee covers.
    TrustedServer,
    /// The number of trials of a search, which is random and must stay hidden.
    HiddenTrials,
    /// Why a run ended, and what its claim then rests on.
    Stopped(String),
    /// A schema that was written without the data.
    Schema,
    /// A schema that was read off the records, which voids the claim.
    DraftSchema,
    /// What learning the schema took as public.
    LearntSchema,
    /// The labels that the data hold, which were declared to be public.
    ObservedLabels,
    /// Names and declared types of columns.
    Columns,
    /// Which value of the label counts as positive.
    Positive {
        /// The value.
        value: String,
        /// The label's column.
        label: String,
    },
    /// What is known of images.
    Images,
    /// The vocabulary and the length of texts.
    Vocabulary,
    /// The key that divides rows into those for training and those for testing.
    SplitKey(String),
    /// How much of one privacy unit counts: the most rows of it in one group, and the most groups.
    UnitLimits {
        /// The column whose values name the units.
        unit: String,
        /// The most rows in one group; none where no rows are counted.
        rows: Option<u64>,
        /// The most groups.
        groups: u64,
    },
    /// The bounds on what one privacy unit adds to the sum of a column in one group.
    UnitTotal {
        /// The column whose values name the units.
        unit: String,
        /// The column that is summed.
        column: String,
        /// The least total.
        low: f64,
        /// The largest total.
        high: f64,
    },
    /// The groups that questions are answered for; rows of other groups are left out.
    DeclaredGroups {
        /// The columns whose values name a group.
        columns: Vec<String>,
        /// The number of groups.
        count: u64,
    },
    /// Groups that were selected from the data, within the events.
    SelectedGroups {
        /// The columns whose values name a group.
        columns: Vec<String>,
    },
    /// Why gradients that another framework computed are those of single units.
    ForeignGradients(GradientPremise),
    /// What follows from an answer that was paid for, such as a default that a noisy count decided: it says no more about
    /// the data than that answer. It reads as the fact itself.
    Decided(Box<Fact>),
    /// A text.
    Other(String),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounds { low, high } => write!(f, "bounds {} to {}", number(*low), number(*high)),
            Self::Integers(true) => f.write_str("whole numbers"),
            Self::Integers(false) => f.write_str("real numbers"),
            Self::Candidates(count) => write!(f, "{count} candidates"),
            Self::Categories(names) => write!(f, "categories {}", listed(names)),
            Self::Bins(edges) => {
                let edges: Vec<String> = edges.iter().map(|edge| number(*edge)).collect();
                write!(f, "bins {}", edges.join(","))
            }
            Self::Value(value) => write!(f, "value {value}"),
            Self::Filter(filter) => write!(f, "filter {filter}"),
            Self::Derived(derivation) => write!(f, "derived column {derivation}"),
            Self::Rows(rows) => write!(f, "number of rows {rows}"),
            Self::Copied(names) => write!(f, "columns copied without protection: {}", listed(names)),
            Self::FittedRows(rows) => write!(f, "number of rows: {rows}"),
            Self::DeclaredSize(size) => write!(f, "declared size: {size}"),
            Self::Weights { count, constant } => write!(f, "weights: {count}, constant feature {constant}"),
            Self::RowNorm { l1 } => {
                write!(f, "rows of l2 norm at most 1 and l1 norm at most {:.4}", l1 + 5e-5)
            }
            Self::Loss(loss) => write!(f, "loss: {loss}"),
            Self::Regularization(strength) => write!(f, "regularization: {strength}"),
            Self::Units(units) => write!(f, "the number of units: {units}"),
            Self::Divisor(divisor) => write!(f, "the divisor of every gradient sum: {divisor}"),
            Self::StagedDivisor(stages) => {
                let stage = |(steps, divisor): &(u64, f64)| match steps {
                    1 => format!("{divisor} in 1 step"),
                    steps => format!("{divisor} in {steps} steps"),
                };
                let stages: Vec<String> = stages.iter().map(stage).collect();
                write!(f, "the divisor of the gradient sums: {}", stages.join(", then "))
            }
            Self::Recipe => f.write_str("the model, its initial weights, the recipe and the number of steps"),
            Self::InitialWeights(file) => {
                write!(f, "initial weights of {file}, declared to be made without the private data")
            }
            Self::WordVectors(file) => write!(f, "word vectors of {file}, declared to be public"),
            Self::Pretraining(name) => {
                write!(f, "{name}, declared to be public: the initial weights were trained on it without protection")
            }
            Self::TrustedServer => f.write_str(
                "a trusted server: it alone sees the parties' updates before the noise and who takes part in a round, neither of which \
                 is covered by this claim",
            ),
            Self::HiddenTrials => f.write_str(
                "the searched settings and the law of the number of trials; how many trials there were must stay hidden, and the running time \
                 tells it: that is not covered by this claim",
            ),
            Self::Schema => f.write_str("schema"),
            Self::DraftSchema => f.write_str("schema: a DRAFT read off the records, which voids this claim"),
            Self::ObservedLabels => f.write_str("the set of labels, as found in the data"),
            Self::LearntSchema => {
                f.write_str("names of the columns and what learning the schema took as public")
            }
            Self::Columns => f.write_str("names and declared types of the columns"),
            Self::Positive { value, label } => write!(f, "positive value {value} of {label}"),
            Self::Images => {
                f.write_str("size, channels and classes of the images, and the constants for their pixels")
            }
            Self::Vocabulary => f.write_str("vocabulary and length of the texts"),
            Self::SplitKey(key) => write!(f, "split key: {key}"),
            Self::UnitLimits { unit, rows: Some(rows), groups } => {
                write!(f, "at most {rows} rows of one {unit} in a group, and {groups} groups of one {unit}")
            }
            Self::UnitLimits { unit, rows: None, groups } => {
                write!(f, "at most {groups} groups of one {unit}")
            }
            Self::UnitTotal { unit, column, low, high } => {
                write!(f, "total of {column} of one {unit} in a group {} to {}", number(*low), number(*high))
            }
            Self::DeclaredGroups { columns, count } => {
                write!(f, "{count} declared groups of {}: other rows are left out", listed(columns))
            }
            Self::SelectedGroups { columns } => {
                write!(f, "groups of {} selected from the data", listed(columns))
            }
            Self::ForeignGradients(premise) => premise.fmt(f),
            Self::Decided(fact) => fact.fmt(f),
            Self::Stopped(text) | Self::Other(text) => f.write_str(text),
        }
    }
}

/// A file that was made without the private data, or is declared to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicFile {
    /// Its name, without its folder.
    pub name: String,
    /// The digest of its content with its kind, such as `sha256:…`; none where it was not taken.
    pub digest: Option<String>,
}

impl fmt::Display for PublicFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.digest {
            None => f.write_str(&self.name),
            Some(digest) => write!(f, "{} ({digest})", self.name),
        }
    }
}

/// All digits of a number, in powers of ten far from 1.
fn number(value: f64) -> String {
    if value == 0.0 || (1e-4..1e15).contains(&value.abs()) {
        (value + 0.0).to_string()
    } else {
        format!("{value:e}")
    }
}

/// Names between commas, in quotes where they have a comma or a quote.
fn listed(names: &[String]) -> String {
    let quoted = |name: &String| {
        if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    };
    names.iter().map(quoted).collect::<Vec<_>>().join(",")
}

impl Fact {
    /// Whether a claim that takes this as public holds for nobody, because it was read off the private data.
    pub fn voids(&self) -> bool {
        matches!(self, Self::DraftSchema)
    }

    /// Facts in one line.
    pub fn line(facts: &[Self]) -> String {
        facts.iter().map(Self::to_string).collect::<Vec<_>>().join("; ")
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        let fixed = [
            Self::Integers(true),
            Self::Integers(false),
            Self::Recipe,
            Self::TrustedServer,
            Self::HiddenTrials,
            Self::Schema,
            Self::DraftSchema,
            Self::LearntSchema,
            Self::ObservedLabels,
            Self::Columns,
            Self::Images,
            Self::Vocabulary,
        ];
        fixed.into_iter().find(|fact| fact.to_string() == text).unwrap_or(Self::Other(text))
    }
}

impl PartialEq for Fact {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossReduction, MixingCheck};

    #[test]
    fn facts_are_written_as_their_texts_and_read_back() {
        let names = vec!["a,b".to_owned(), "c".to_owned()];
        let known = [
            (Fact::Bounds { low: -0.0, high: 1e20 }, "bounds 0 to 1e20"),
            (Fact::Candidates(7), "7 candidates"),
            (Fact::Categories(names.clone()), "categories \"a,b\",c"),
            (Fact::Bins(vec![0.0, 0.5, 2.0]), "bins 0,0.5,2"),
            (Fact::Rows(5), "number of rows 5"),
            (Fact::Copied(names), "columns copied without protection: \"a,b\",c"),
            (Fact::FittedRows(5), "number of rows: 5"),
            (Fact::DeclaredSize(5), "declared size: 5"),
            (Fact::Weights { count: 3, constant: 0.5 }, "weights: 3, constant feature 0.5"),
            (Fact::RowNorm { l1: 2.23606 }, "rows of l2 norm at most 1 and l1 norm at most 2.2361"),
            (Fact::Units(9), "the number of units: 9"),
            (Fact::Divisor(64.0), "the divisor of every gradient sum: 64"),
            (
                Fact::StagedDivisor(vec![(4, 64.0), (2, 128.0), (1, 256.0)]),
                "the divisor of the gradient sums: 64 in 4 steps, then 128 in 2 steps, then 256 in 1 step",
            ),
            (Fact::Positive { value: "yes".into(), label: "y".into() }, "positive value yes of y"),
            (Fact::SplitKey("k".into()), "split key: k"),
            (
                Fact::InitialWeights(PublicFile {
                    name: "w.safetensors".into(),
                    digest: Some("sha256:0f".into()),
                }),
                "initial weights of w.safetensors (sha256:0f), declared to be made without the private data",
            ),
            (
                Fact::WordVectors(PublicFile { name: "v.txt".into(), digest: None }),
                "word vectors of v.txt, declared to be public",
            ),
            (
                Fact::Pretraining("p.csv".into()),
                "p.csv, declared to be public: the initial weights were trained on it without protection",
            ),
            (
                Fact::UnitLimits { unit: "id".into(), rows: Some(3), groups: 2 },
                "at most 3 rows of one id in a group, and 2 groups of one id",
            ),
            (Fact::UnitLimits { unit: "id".into(), rows: None, groups: 2 }, "at most 2 groups of one id"),
            (
                Fact::UnitTotal { unit: "id".into(), column: "cost".into(), low: 0.0, high: 1e4 },
                "total of cost of one id in a group 0 to 10000",
            ),
            (
                Fact::DeclaredGroups { columns: vec!["ward".into()], count: 4 },
                "4 declared groups of ward: other rows are left out",
            ),
            (Fact::SelectedGroups { columns: vec!["ward".into()] }, "groups of ward selected from the data"),
            (
                Fact::ForeignGradients(GradientPremise {
                    loss_reduction: LossReduction::Sum,
                    check: MixingCheck::Module,
                    counts_all_targets: false,
                    processes: None,
                }),
                "a loss that is the sum over the examples of a batch of losses that depend on one example each, and a module that does not \
                 mix examples (checked on made-up inputs)",
            ),
            (Fact::Decided(Box::new(Fact::Regularization(0.5))), "regularization: 0.5"),
        ];
        for (fact, text) in known {
            let json = serde_json::to_value(&fact).unwrap();
            assert_eq!(json, text);
            let read: Fact = serde_json::from_value(json).unwrap();
            assert!(matches!(read, Fact::Other(_)) && read == fact);
        }
        for fact in [
            Fact::Integers(true),
            Fact::Integers(false),
            Fact::Recipe,
            Fact::TrustedServer,
            Fact::HiddenTrials,
            Fact::Schema,
            Fact::Columns,
        ]
        .into_iter()
        .chain([
            Fact::DraftSchema,
            Fact::LearntSchema,
            Fact::ObservedLabels,
            Fact::Images,
            Fact::Vocabulary,
        ]) {
            let read: Fact = serde_json::from_value(serde_json::to_value(&fact).unwrap()).unwrap();
            assert_eq!(std::mem::discriminant(&read), std::mem::discriminant(&fact), "{fact}");
            assert_eq!(read, fact);
        }
        assert_eq!(Fact::line(&[Fact::Schema, Fact::Rows(2)]), "schema; number of rows 2");
    }
}
