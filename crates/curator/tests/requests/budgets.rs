//! Requests in sessions with a limit: what is charged is at most what is claimed, as one plan, and what is refused is refused
//! before a value is read.

use reticent_accounting::filter::{Budget, Filter, FilterRule};
use reticent_core::{
    Certificate, Code, Delta, Epsilon, Event, Guarantee, Ledger, LedgerError, Neighboring, Plan,
};
use reticent_curator::fit::{Fit, method};
use reticent_curator::release::{Release, ReleaseQuestion};
use reticent_curator::schema::LearnSchema;
use reticent_curator::train::{Resume, Train, Trained};
use reticent_curator::{Planned, Request, Session};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const ADD_REMOVE: Neighboring = Neighboring::AddRemove;
const REPLACE_ONE: Neighboring = Neighboring::ReplaceOne;

/// A budget that can be looked at while a session has it.
struct Shared(Rc<RefCell<Budget>>);

impl Ledger for Shared {
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
        self.0.borrow_mut().reserve(plan)
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.0.borrow().neighboring())
    }
}

fn guarantee(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

fn session(limit: Guarantee, neighboring: Neighboring) -> (Session, Rc<RefCell<Budget>>) {
    let budget = Rc::new(RefCell::new(Budget::new(limit, neighboring).unwrap()));
    let ledger = Box::new(Shared(budget.clone()));
    (Session::new("people", "row", neighboring, ledger).unwrap(), budget)
}

/// A table with its schemas, and a place for models.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        desk.write();
        let columns = "[columns]\nage = { bounds = [0, 100] }\nsex = { categories = [\"f\", \"m\"] }\n";
        for (name, label) in [
            ("two", "positive = \"a\""),
            ("many", "categories = [\"a\", \"b\", \"c\"]"),
            ("number", "bounds = [0, 10]"),
        ] {
            let column = if name == "number" { "income" } else { "class" };
            let text = format!("unit = \"row\"\n[label]\ncolumn = \"{column}\"\n{label}\n{columns}");
            fs::write(desk.path(name), &text).unwrap();
            if name == "two" {
                let events = r#"'[{"pure":{"epsilon":0.5}}]'"#;
                let spent = format!(
                    "[spent]\nepsilon = 0.5\ndelta = 0\nneighboring = \"add-remove\"\nevents = {events}\n"
                );
                fs::write(desk.path("learnt"), text + &spent).unwrap();
            }
        }
        desk
    }

    fn write(&self) {
        let row = |i: usize| {
            let (sex, class) = (["f", "m"][i % 2], ["a", "b", "c"][i % 3]);
            format!("{},{sex},{class},{}\n", 20 + i % 60, i % 10)
        };
        let rows: String = (0..200).map(row).collect();
        fs::write(self.table(), format!("age,sex,class,income\n{rows}")).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn table(&self) -> PathBuf {
        self.path("people.csv")
    }

    fn fit(&self, schema: &str, budget: Guarantee) -> Fit {
        Fit {
            data: Some(self.table()),
            schema: Some(self.path(schema)),
            epsilon: Some(budget.epsilon.get()),
            delta: Some(budget.delta.get()).filter(|delta| *delta > 0.0),
            ..Fit::default()
        }
    }

    fn train(&self, budget: Guarantee) -> Train {
        Train {
            data: Some(self.table()),
            schema: Some(self.path("two")),
            epsilon: Some(budget.epsilon.get()),
            delta: Some(budget.delta.get()),
            steps: Some(3),
            ..Train::default()
        }
    }

    /// Runs a request in a session whose limit is what it may cost, and in one with a little less.
    ///
    /// In the first it passes, with one plan on record that costs no more than the certificate says, or under replace-one
    /// than the request. In the second it is
    /// refused without a look at the table, which is gone by then, and nothing is left of `out`.
    fn try_limits<P: Planned>(
        &self,
        name: &str,
        limit: Guarantee,
        neighboring: Neighboring,
        out: Option<&Path>,
        check: impl Fn() -> P,
        certificate: impl Fn(P::Outcome) -> Certificate,
    ) {
        let (mut exact, budget) = session(limit, neighboring);
        let claimed = certificate(check().run(&mut exact).unwrap_or_else(|error| panic!("{name}: {error}")));
        let budget = budget.borrow();
        let [plan] = budget.plans() else { panic!("{name}: {:?}", budget.plans()) };
        // Under replace-one the number of rows is public and only the files tell it: the whole request is charged.
        let most = if neighboring == REPLACE_ONE { limit } else { claimed.guarantee };
        let fits = Filter::new(most, neighboring, FilterRule::Basic).unwrap().fits(plan).unwrap();
        assert!(fits, "{name}: {plan:?} costs more than {most}");
        if let Some(out) = out {
            fs::remove_dir_all(out).unwrap();
        }
        let less = guarantee(limit.epsilon.get() * 0.999, limit.delta.get());
        let (mut small, budget) = session(less, neighboring);
        let planned = check();
        fs::remove_file(self.table()).unwrap();
        let refusal = planned.run(&mut small).err().unwrap();
        assert_eq!(refusal.code(), Code::Spent, "{name}: {refusal}");
        assert!(budget.borrow().plans().is_empty(), "{name}");
        assert!(out.is_none_or(|out| !out.exists()), "{name}");
        // Whoever goes on does find it gone.
        self.write();
        let planned = check();
        fs::remove_file(self.table()).unwrap();
        let (mut enough, _) = session(limit, neighboring);
        let refusal = planned.run(&mut enough).err().unwrap();
        assert_eq!(refusal.code(), Code::Unreadable, "{name}: {refusal}");
        self.write();
    }

    fn try_fit(&self, name: &str, request: Fit) {
        let limit = guarantee(request.epsilon.unwrap(), request.delta.unwrap_or(0.0));
        let out = self.path("model");
        let request = Fit { out: Some(out.clone()), ..request };
        let check = || request.check().unwrap();
        self.try_limits(name, limit, request.neighboring, Some(&out), check, |fitted| {
            fitted.certificate.unwrap()
        });
    }

    fn try_train(&self, name: &str, limit: Guarantee, neighboring: Neighboring, request: Train) {
        let out = self.path("run");
        let request = Train { out: Some(out.clone()), ..request };
        let check = || request.check().unwrap();
        self.try_limits(name, limit, neighboring, Some(&out), check, |trained| {
            let Trained::Finished(run) = trained else { panic!("{name}: nobody stopped it") };
            run.certificate.unwrap()
        });
    }
}

#[test]
fn a_fit_costs_its_request_and_is_refused_unread() {
    let desk = Desk::new();
    let (pure, both) = (guarantee(1.0, 0.0), guarantee(1.0, 1e-6));
    desk.try_fit("pure, counted, tested", desk.fit("two", pure));
    desk.try_fit("counted, tested", desk.fit("two", both));
    let untested = Fit { test_share: Some(0.0), ..desk.fit("two", both) };
    desk.try_fit("counted", untested);
    desk.try_fit("pure, declared", Fit { dataset_size: Some(200), ..desk.fit("two", pure) });
    for name in ["output", "objective", "sgd"] {
        let method = method(name).unwrap();
        let counted = Fit { method, ..desk.fit("two", both) };
        desk.try_fit(&format!("{name}, counted"), counted.clone());
        let declared = Fit { dataset_size: Some(200), ..counted.clone() };
        desk.try_fit(&format!("{name}, declared"), declared);
        let replaced = Fit { neighboring: REPLACE_ONE, ..counted };
        desk.try_fit(&format!("{name}, replace-one"), replaced);
    }
    desk.try_fit("several classes", desk.fit("many", both));
    desk.try_fit("several classes, declared", Fit { dataset_size: Some(200), ..desk.fit("many", both) });
    desk.try_fit("a number", desk.fit("number", pure));
    desk.try_fit("a number, replace-one", Fit { neighboring: REPLACE_ONE, ..desk.fit("number", pure) });
    desk.try_fit("a learnt schema", Fit { dataset_size: Some(200), ..desk.fit("learnt", both) });
}

/// Shares are rounded down and sums up: whatever the digits of ε, a calibrated fit stays within its share.
#[test]
fn a_fit_of_any_budget_fits_it() {
    let desk = Desk::new();
    let mut refused = Vec::new();
    for step in 0..40 {
        let epsilon = 0.05 * 1.13f64.powi(step);
        for delta in [0.0, 1e-6 * 0.9f64.powi(step)] {
            let limit = guarantee(epsilon, delta);
            // The methods for either relation, those for add-remove alone, and those for replace-one alone.
            let (both, removed, one): (&[&str], &str, &str) = match delta > 0.0 {
                true => (&["output", "objective", "descent", "sgd"], "kifer-2012", "iyengar-2019"),
                false => (&["output", "objective"], "objective", "chaudhuri-2011"),
            };
            let pick = |names: &[&str]| method(names[step as usize % names.len()]).unwrap();
            let counted = desk.fit("two", limit);
            let replaced = Fit { neighboring: REPLACE_ONE, ..counted.clone() };
            for request in [
                Fit { method: pick(both), dataset_size: Some(100_000), ..counted.clone() },
                Fit { method: pick(both), ..counted.clone() },
                Fit { method: pick(&[removed]), ..counted },
                Fit { method: pick(both), ..replaced.clone() },
                Fit { method: pick(&[one]), ..replaced },
            ] {
                let (mut session, budget) = session(limit, request.neighboring);
                match request.check().unwrap().run(&mut session) {
                    Ok(_) => assert_eq!(budget.borrow().plans().len(), 1),
                    Err(refusal) => refused.push(format!("{request:?}: {refusal}")),
                }
            }
        }
    }
    assert!(refused.is_empty(), "{}: {}", refused.len(), refused.join("\n"));
}

#[test]
fn a_run_costs_its_request_and_is_refused_unread() {
    let desk = Desk::new();
    for epsilon in [0.3, 1.0, 2.7] {
        let limit = guarantee(epsilon, 1e-6);
        let run = desk.train(limit);
        desk.try_train("counted", limit, ADD_REMOVE, run.clone());
        let learnt = Train { schema: Some(desk.path("learnt")), ..run };
        desk.try_train("a learnt schema", limit, ADD_REMOVE, learnt);
    }
}

/// Where no count decides the noise, a certificate states what the steps cost at the request's δ, which is at most its ε.
#[test]
fn a_run_of_a_known_size_stays_within_its_request() {
    let desk = Desk::new();
    let limit = guarantee(1.0, 1e-6);
    let declared = Train { dataset_size: Some(200), ..desk.train(limit) };
    let replaced = Train { neighboring: Some("replace-one".to_owned()), ..desk.train(limit) };
    let noisy = Train { epsilon: None, noise_multiplier: Some(5.0), ..declared.clone() };
    for (request, neighboring, is_claim) in
        [(declared, ADD_REMOVE, false), (replaced, REPLACE_ONE, true), (noisy, ADD_REMOVE, false)]
    {
        let (mut enough, budget) = session(guarantee(3.0, 1e-6), neighboring);
        let Trained::Finished(run) = request.check().unwrap().run(&mut enough).unwrap() else { panic!() };
        let certificate = run.certificate.unwrap();
        let budget = budget.borrow();
        let [plan] = budget.plans() else { panic!("{:?}", budget.plans()) };
        match is_claim {
            true => assert_eq!(plan.events(), [limit.claim()]),
            false => assert_eq!(plan.events(), certificate.events),
        }
        let (mut small, budget) = session(guarantee(0.1, 1e-6), neighboring);
        let planned = request.check().unwrap();
        fs::remove_file(desk.table()).unwrap();
        assert_eq!(planned.run(&mut small).err().unwrap().code(), Code::Spent);
        assert!(budget.borrow().plans().is_empty());
        desk.write();
    }
}

#[test]
fn a_run_that_goes_on_is_charged_as_a_whole() {
    let desk = Desk::new();
    let (limit, out) = (guarantee(1.0, 1e-6), desk.path("run"));
    let request = Train { out: Some(out.clone()), ..desk.train(limit) };
    let (mut first, began) = session(limit, ADD_REMOVE);
    request.check().unwrap().run(&mut first).unwrap();
    let resume = Resume { folder: out, changes: Train::default(), finish: false, stopped_by: None };
    // The session that it began in has nothing left for it; another has the same on record.
    assert_eq!(resume.check().unwrap().run(&mut first).err().unwrap().code(), Code::Spent);
    let (mut second, resumed) = session(limit, ADD_REMOVE);
    resume.check().unwrap().run(&mut second).unwrap();
    assert_eq!(began.borrow().plans(), resumed.borrow().plans());
    assert!(matches!(began.borrow().plans()[0].events(), [_, Event::Approximate { .. }]));
}

#[test]
fn a_schema_and_a_release_cost_their_request_and_are_refused_unread() {
    let desk = Desk::new();
    for epsilon in [0.1, 0.3, 1.0, 1.7] {
        let limit = guarantee(epsilon, 1e-6);
        let learn = LearnSchema::private(desk.table(), epsilon, 1e-6);
        desk.try_limits(
            "schema",
            limit,
            ADD_REMOVE,
            None,
            || learn.check().unwrap(),
            |learnt| learnt.certificate.unwrap(),
        );
        let pure = guarantee(epsilon, 0.0);
        let count = ReleaseQuestion::Count { column: None, error: None };
        let release = Release::new(desk.table(), count, epsilon);
        desk.try_limits(
            "count",
            pure,
            ADD_REMOVE,
            None,
            || release.check().unwrap(),
            |released| released.certificate,
        );
        let gaussian = Release { delta: Some(1e-6), ..release };
        desk.try_limits(
            "gaussian count",
            limit,
            ADD_REMOVE,
            None,
            || gaussian.check().unwrap(),
            |released| released.certificate,
        );
    }
}
