//! A session with a limit charges what it gives out, or refuses it.

use reticent_accounting::filter::Budget;
use reticent_core::{Code, Epsilon, Guarantee, Neighboring};
use reticent_curator::audit::{Audit, FitReferences, Fitting, KEY, ScoreAudit};
use reticent_curator::evaluate::Evaluate;
use reticent_curator::fit::{Fit, method};
use reticent_curator::predict::Predict;
use reticent_curator::release::survey::{EstimateShares, Randomize};
use reticent_curator::release::{Release, ReleaseQuestion};
use reticent_curator::schema::LearnSchema;
use reticent_curator::train::Train;
use reticent_curator::{Planned, Refusal, Request, Session};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A session with a pure limit.
fn limited(unit: &str, epsilon: f64) -> Session {
    let limit = Guarantee::pure(Epsilon::new(epsilon).unwrap());
    let budget = Budget::new(limit, Neighboring::AddRemove).unwrap();
    Session::new("people", unit, Neighboring::AddRemove, Box::new(budget)).unwrap()
}

fn refused<P: Planned>(planned: P) {
    let refusal = planned.run(&mut limited("row", 100.0)).map(drop).unwrap_err();
    assert_eq!(refusal.code(), Code::Unreachable, "{refusal}");
    assert!(refusal.to_string().contains("the budget of \"people\""), "{refusal}");
}

struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn table(&self) -> PathBuf {
        let path = self.path("people.csv");
        fs::write(&path, "age,sex\n".to_owned() + &"30,f\n41,m\n".repeat(200)).unwrap();
        path
    }

    /// A model of the table, in a folder.
    fn model(&self, name: &str, epsilon: Option<f64>) -> PathBuf {
        let out = self.path(name);
        self.fit(epsilon, Some(&out)).check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        out
    }

    /// A fit, exact without an ε.
    fn fit(&self, epsilon: Option<f64>, out: Option<&Path>) -> Fit {
        let schema = self.path("schema.toml");
        let text = "unit = \"row\"\n[label]\ncolumn = \"sex\"\npositive = \"f\"\n[columns]\nage = { bounds = [0, 100] }\n";
        fs::write(&schema, text).unwrap();
        let exact = method("exact").unwrap().filter(|_| epsilon.is_none());
        let (data, out) = (Some(self.table()), out.map(Path::to_owned));
        Fit { data, schema: Some(schema), epsilon, method: exact, out, ..Fit::default() }
    }
}

#[test]
fn a_draft_of_a_schema_is_refused() {
    let desk = Desk::new();
    refused(LearnSchema::draft(desk.table()).check().unwrap());
    let learnt = LearnSchema::private(desk.table(), 1.0, 1e-6).check().unwrap();
    let limit =
        Guarantee { epsilon: Epsilon::new(2.0).unwrap(), delta: reticent_core::Delta::new(1e-5).unwrap() };
    let budget = Box::new(Budget::new(limit, Neighboring::AddRemove).unwrap());
    let mut session = Session::new("people", "row", Neighboring::AddRemove, budget).unwrap();
    learnt.run(&mut session).unwrap();
}

#[test]
fn an_exact_fit_is_refused_and_writes_nothing() {
    let desk = Desk::new();
    let out = desk.path("model");
    refused(desk.fit(None, Some(&out)).check().unwrap());
    assert!(!out.exists());
    desk.fit(Some(1.0), None).check().unwrap().run(&mut limited("row", 2.0)).unwrap();
}

#[test]
fn a_draft_is_refused_as_the_schema_of_a_training() {
    let desk = Desk::new();
    let fit = desk.fit(Some(1.0), None);
    let schema = fit.schema.clone().unwrap();
    fs::write(&schema, "draft = true\n".to_owned() + &fs::read_to_string(&schema).unwrap()).unwrap();
    refused(fit.check().unwrap());
    let (epsilon, delta, steps) = (Some(1.0), Some(1e-6), Some(1));
    refused(
        Train { data: fit.data, schema: Some(schema), epsilon, delta, steps, ..Train::default() }
            .check()
            .unwrap(),
    );
}

#[test]
fn whether_two_tables_are_equal_is_told_without_a_limit_only() {
    let desk = Desk::new();
    let copy = desk.path("copy.csv");
    let fit = Fit { test: Some(copy.clone()), ..desk.fit(Some(1.0), None) };
    fs::copy(desk.table(), &copy).unwrap();
    let open = fit.check().unwrap().run(&mut Session::without_limit().unwrap());
    assert_eq!(open.map(drop).unwrap_err().field(), Some("test"));
    fit.check().unwrap().run(&mut limited("row", 2.0)).unwrap();
}

#[test]
fn estimates_and_copied_columns_are_refused() {
    let desk = Desk::new();
    let categories = vec!["f".to_owned(), "m".to_owned()];
    let estimate = EstimateShares::new(desk.table(), "sex", categories.clone(), 1.0);
    refused(estimate.check().unwrap());
    let randomize = Randomize::new(desk.table(), "sex", categories, 1.0, desk.path("said.csv"));
    refused(Randomize { keep_columns: Some(vec!["age".to_owned()]), ..randomize }.check().unwrap());
    assert!(!desk.path("said.csv").exists());
}

#[test]
fn no_file_of_a_model_is_replaced_by_predictions() {
    let desk = Desk::new();
    let model = desk.model("model", Some(1.0));
    let out = Some(model.join("model.json"));
    let refusal = Predict { out, ..Predict::new(model, desk.table()) }.check().map(drop).unwrap_err();
    assert_eq!((refusal.code(), refusal.field()), (Code::Taken, Some("out")));
}

#[test]
fn a_training_without_privacy_is_refused() {
    refused(Train { non_private: Some(true), steps: Some(1), ..Train::default() }.check().unwrap());
}

#[test]
fn exact_scores_are_refused_and_so_is_what_an_exact_model_predicts() {
    let desk = Desk::new();
    let (private, exact, data) = (desk.model("private", Some(1.0)), desk.model("exact", None), desk.table());
    refused(Evaluate::new(private.clone(), data.clone()).check().unwrap());
    refused(Predict::new(exact, data.clone()).check().unwrap());
    let predicted = Predict::new(private, data).check().unwrap();
    assert_eq!(predicted.run(&mut limited("row", 1.0)).unwrap().rows, 400);
}

#[test]
fn audits_are_refused() {
    let desk = Desk::new();
    let table = desk.path("scores.csv");
    fs::write(&table, "score,member\n0.9,1\n0.8,1\n0.7,0\n0.6,1\n0.3,0\n0.2,0\n").unwrap();
    refused(Audit::Scores(ScoreAudit { scores: table, ..ScoreAudit::default() }).check().unwrap());
    let (model, out) = (desk.model("model", Some(1.0)), desk.path("references"));
    let fitting = Fitting { references: 2, ..Fitting::default() };
    refused(FitReferences { model, index: 0, of: 1, fitting, key: KEY.to_owned(), out }.check().unwrap());
}

#[test]
fn what_is_charged_uses_the_limit_up() -> Result<(), Refusal> {
    let (desk, mut session) = (Desk::new(), limited("row", 1.0));
    let count =
        Release::new(desk.table(), ReleaseQuestion::Count { column: None, error: None }, 0.75).check()?;
    count.clone().run(&mut session)?;
    assert_eq!(count.run(&mut session).map(drop).unwrap_err().code(), Code::Spent);
    Ok(())
}
