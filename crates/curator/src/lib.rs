//! The commands as a library: requests are checked, planned, charged and run.
//!
//! A request is plain data. [`check`](Request::check) reads public information only (flags, schemas, the columns of a file) and
//! returns a plan; running the plan in a [`Session`] charges its cost, reads the private data and returns an outcome, which is data
//! as well. The command, the demo and bindings turn flags into requests and outcomes into text; they make no privacy decisions.
//!
//! Keys of a request are the names of its fields, as a [`Refusal`] names them. Every request reads them with underscores
//! (`dataset_size`) and with hyphens (`dataset-size`), whichever of the two it writes: files of a model keep to hyphens.
//! Caveats about an outcome are in its `warnings`, and in its JSON if there are any.
//!
//! | module | contents |
//! |---|---|
//! | [`account`] | privacy accounting of events; spends nothing |
//! | [`fit`] | linear models from tables |
//! | [`train`] | networks |
//! | [`stored`] | models of either kind, read back |
//! | [`predict`], [`evaluate`] | a stored model on other data |
//! | [`sample`] | texts drawn from a stored language model |
//! | [`folder`] | models and runs on disk |
//! | [`audit`] | membership inference attacks, and lower bounds on ε |
//! | [`report`] | an audit and a certificate as one page |
//! | [`release`] | statistics of a table, and surveys in the local model |
//! | [`page`] | a page of statistics by group, about rows or people, under one budget |
//! | [`sheet`] | a released page as tables, HTML, CSV, Parquet and Arrow |
//! | [`schema`] | the schema of a table, drafted or learnt privately |
//! | [`perturb`] | mechanisms on numbers of the caller's own |
//! | [`session`] | data, privacy unit, ledger, entropy and progress of requests |
//! | [`budget`] | limits that several sessions charge, in memory and in files; remembered answers |
//! | [`refusal`] | why a request is refused: a code, the field, the remedy |
//! | [`watch`] | progress and cancellation |
//! | [`quantity`] | numbers and names that several requests share, checked |
//! | [`mod@file`] | where a file may be written |

pub mod account;
pub mod audit;
mod bill;
pub mod budget;
pub mod evaluate;
pub mod file;
pub mod fit;
pub mod folder;
pub mod page;
pub mod perturb;
pub mod predict;
pub mod quantity;
pub mod refusal;
pub mod release;
pub mod report;
pub mod sample;
mod scan;
pub mod schema;
pub mod session;
pub mod sheet;
pub mod stored;
mod table;
pub mod train;
pub mod tune;
pub mod watch;

pub use quantity::neighboring;
pub use refusal::Refusal;
pub use session::Session;
pub use watch::Watch;

/// A request: plain data that describes one task.
pub trait Request {
    /// The request after all checks that do not read private data.
    type Planned: Planned;

    /// Checks the request. Files are opened for their public columns; no value is read.
    ///
    /// # Errors
    /// [`Refusal`] naming the field and the remedy.
    fn check(&self) -> Result<Self::Planned, Refusal>;
}

/// A checked request; only the data themselves are unread.
pub trait Planned {
    /// The outcome: data, in the form of the command's JSON.
    type Outcome;

    /// Charges the session, reads the data, and returns the outcome.
    ///
    /// # Errors
    /// [`Refusal`].
    fn run(self, session: &mut Session) -> Result<Self::Outcome, Refusal>;
}

#[cfg(test)]
mod tests {
    use crate::{
        account, audit, budget, evaluate, fit, page, predict, release, report, sample, schema, train, tune,
    };
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};
    use std::fmt::Debug;

    /// The same data with every key respelt.
    fn spelt(value: &Value, old: &str, new: &str) -> Value {
        match value {
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (key.replace(old, new), spelt(value, old, new))).collect()
            }
            Value::Array(items) => items.iter().map(|item| spelt(item, old, new)).collect(),
            other => other.clone(),
        }
    }

    /// Reads the request, writes all its fields, and reads them back in both spellings.
    fn reads_both<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: Value) {
        let request: T = serde_json::from_value(text).unwrap();
        let written = serde_json::to_value(&request).unwrap();
        for spelling in [spelt(&written, "-", "_"), spelt(&written, "_", "-")] {
            match serde_json::from_value::<T>(spelling.clone()) {
                Ok(read) => assert_eq!(read, request),
                Err(error) => panic!("{error}: {spelling}"),
            }
        }
    }

    #[test]
    fn keys_are_read_with_underscores_and_with_hyphens() {
        for kind in ["sum", "mean", "quantile"] {
            let question = json!({"kind": kind, "column": "a", "bounds": [0.0, 1.0]});
            reads_both::<release::Release>(json!({"file": "t.csv", "question": question}));
        }
        let (column, categories) = ("a", json!(["x", "y"]));
        let mut survey = json!({"file": "t.csv", "column": column, "categories": categories, "epsilon": 1.0});
        reads_both::<release::survey::EstimateShares>(survey.clone());
        survey["out"] = json!("o.csv");
        reads_both::<release::survey::Randomize>(survey);
        for question in [
            json!({"kind": "count", "weight": 2.0}),
            json!({"kind": "top-k", "k": 1, "column": "a", "categories": ["x"]}),
            json!({"kind": "standard-deviation", "column": "a", "bounds": [0.0, 1.0], "error": 1.0, "size": 9}),
            json!({"kind": "contingency", "columns": [{"column": "a", "bins": [0.0, 1.0]}], "margins": true}),
        ] {
            let group = json!({"columns": ["g"], "keys": {"selected": {"share": 0.2}}});
            let unit = json!({"column": "id", "totals": {"a": [0.0, 1.0]}});
            let whole = json!({"file": "t.csv", "questions": [question], "group_by": group, "unit": unit});
            reads_both::<page::Page>(whole);
        }
        reads_both::<page::SuggestLimits>(json!({"unit": "id", "group_by": ["g"], "epsilon": 1.0}));
        reads_both::<schema::LearnSchema>(json!({"file": "t.csv"}));
        reads_both::<fit::Fit>(json!({}));
        reads_both::<train::Train>(json!({}));
        reads_both::<train::Train>(json!({"device": "cuda", "chunk": 64}));
        reads_both::<tune::Tune>(json!({"search": "clip=1|2"}));
        reads_both::<train::Resume>(json!({"folder": "run"}));
        let stored = json!({"model": "m", "data": "t.csv", "device": "cuda", "chunk": 64});
        reads_both::<predict::Predict>(stored.clone());
        reads_both::<evaluate::Evaluate>(stored);
        reads_both::<sample::Sample>(json!({"model": "m", "top_k": 3, "device": "cuda", "chunk": 64}));
        for kind in ["scores", "model", "collected", "canaries"] {
            reads_both::<audit::Audit>(json!({kind: {}}));
        }
        reads_both::<audit::Audit>(json!({"model": {"fitting": {"device": "cuda", "chunk": 64}}}));
        reads_both::<audit::Audit>(
            json!({"model": {"fitting": {"unit": "u", "samples": "s.csv", "samples_per_author": 2}}}),
        );
        reads_both::<audit::PlantSecrets>(json!({"model": "m", "repetitions": [1], "continuations": 3}));
        reads_both::<audit::Audit>(json!({"canaries": {"device": "cuda", "chunk": 64}}));
        reads_both::<audit::FitReferences>(json!({"model": "m", "index": 0, "of": 2, "out": "o"}));
        reads_both::<report::Report>(json!({}));
        let create =
            json!({"file": "b.budget", "epsilon": 1.0, "data": ["t.csv"], "valid_until": "2027-01-01"});
        reads_both::<budget::CreateBudget>(create);
        let allot =
            json!({"file": "b.budget", "epsilon": 1.0, "analyst": "ana", "valid_until": "2027-01-01"});
        reads_both::<budget::AllotBudget>(allot);
        let question = json!({"epsilon": {"delta": 1e-6}});
        reads_both::<account::Account>(json!({"question": question, "happened": {"training": {}}}));
    }
}
