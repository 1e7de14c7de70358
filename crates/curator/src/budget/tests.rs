use super::*;
use crate::fit::Fit;
use crate::page::Page;
use crate::release::survey::Randomize;
use crate::release::{Release, ReleaseQuestion};
use crate::schema::LearnSchema;
use crate::{Planned, Refusal, Request, Session};
use reticent_core::{Code, Neighboring};
use reticent_data::{Quoting, Reading, open_table_with};
use std::path::{Path, PathBuf};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (0..400).map(|row| format!("{},{}\n", 20 + row % 50, row % 2)).collect();
        std::fs::write(folder.path().join("visits.csv"), format!("age,sex\n{rows}")).unwrap();
        std::fs::write(folder.path().join("others.csv"), "age,sex\n1,1\n").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn create(&self, request: CreateBudget) -> StoredBudget {
        run(&request).unwrap();
        StoredBudget::open(&request.file).unwrap()
    }

    fn budget(&self, epsilon: f64, delta: Option<f64>) -> StoredBudget {
        let create = CreateBudget::new(self.path("hospital.budget"), epsilon, self.path("visits.csv"));
        self.create(CreateBudget { delta, ..create })
    }

    fn count(&self, epsilon: f64, filter: Option<&str>) -> Release {
        let question = ReleaseQuestion::Count { column: None, error: None };
        let filter = filter.map(str::to_owned);
        Release { filter, ..Release::new(self.path("visits.csv"), question, epsilon) }
    }
}

fn run<R: Request>(request: &R) -> Result<<R::Planned as Planned>::Outcome, Refusal> {
    request.check()?.run(&mut Session::without_limit()?)
}

fn ask(budget: &StoredBudget, request: &Release) -> Result<Charged<crate::release::ReleasedAnswer>, Refusal> {
    budget.answer(request, request.check()?, false, None)
}

fn shown(file: &Path) -> BudgetSummary {
    run(&ShowBudget { file: file.to_path_buf() }).unwrap()
}

#[test]
fn the_same_question_is_free_and_comes_back_whole() {
    let place = Place::new();
    let budget = place.budget(1.0, None);
    let mut requests = vec![place.count(0.1, None), place.count(0.1, Some("age>=30"))];
    for question in [
        ReleaseQuestion::Sum {
            column: "age".to_owned(),
            bounds: [0.0, 120.0],
            integers: true,
            count_clamped: true,
            schema: None,
            error: None,
        },
        ReleaseQuestion::Mean {
            column: "age".to_owned(),
            bounds: [0.0, 120.0],
            integers: false,
            count_clamped: false,
            schema: None,
        },
        ReleaseQuestion::Histogram {
            column: "sex".to_owned(),
            categories: Some(vec!["0".to_owned(), "1".to_owned()]),
            bins: None,
        },
        ReleaseQuestion::Quantile {
            column: "age".to_owned(),
            bounds: [0.0, 120.0],
            integers: true,
            count_clamped: false,
            schema: None,
            quantile: 0.5,
            candidates: 101,
        },
        ReleaseQuestion::Mode {
            column: "sex".to_owned(),
            categories: vec!["0".to_owned(), "1".to_owned()],
            rule: Default::default(),
        },
        ReleaseQuestion::Proportion { column: "sex".to_owned(), value: "1".to_owned() },
    ] {
        requests.push(Release { question, ..place.count(0.1, None) });
    }
    let count = requests.len() as u64;
    for request in &requests {
        let first = ask(&budget, request).unwrap();
        assert_eq!((first.standing.charges.len(), first.standing.remembered), (1, None));
        let again = ask(&budget, request).unwrap();
        // Everything comes back, also what the command's JSON leaves out.
        assert_eq!(again.outcome, first.outcome);
        assert!(again.standing.charges.is_empty() && again.standing.remembered.is_some());
        assert_eq!(
            serde_json::to_string(&again.outcome).unwrap(),
            serde_json::to_string(&first.outcome).unwrap()
        );
    }
    assert_eq!(shown(budget.file()).charges, count);
    // Whatever the data hold by then.
    let first = ask(&budget, &requests[0]).unwrap().outcome;
    std::fs::write(place.path("visits.csv"), "age,sex\n1,1\n").unwrap();
    assert_eq!(ask(&budget, &requests[0]).unwrap().outcome, first);
    // A refreshed answer is paid for, and is the one that is remembered.
    let request = &requests[0];
    let fresh = budget.answer(request, request.check().unwrap(), true, None).unwrap();
    assert_eq!(fresh.standing.charges.len(), 1);
    assert_eq!(ask(&budget, request).unwrap().outcome, fresh.outcome);
    assert_eq!(shown(budget.file()).charges, count + 1);
}

#[test]
fn another_spelling_is_the_same_question_and_another_value_is_not() {
    let place = Place::new();
    let budget = place.budget(1.0, None);
    ask(&budget, &place.count(0.1, Some("age>=30 and sex=1"))).unwrap();
    let spelt = place.count(0.1, Some("age >= 30  and  sex = 1"));
    assert!(ask(&budget, &spelt).unwrap().standing.remembered.is_some());
    let dotted = Release { file: place.path("./visits.csv"), ..place.count(0.1, Some("age>=30 and sex=1")) };
    assert!(ask(&budget, &dotted).unwrap().standing.remembered.is_some());
    for other in [
        place.count(0.1, Some("age>=31 and sex=1")),
        place.count(0.11, Some("age>=30 and sex=1")),
        Release { confidence: 0.9, ..place.count(0.1, Some("age>=30 and sex=1")) },
    ] {
        assert_eq!(ask(&budget, &other).unwrap().standing.remembered, None);
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_could_be_asked() {
    let place = Place::new();
    let budget = place.budget(1.0, None);
    let first = ask(&budget, &place.count(0.75, None)).unwrap();
    let still = first.standing.still.unwrap();
    assert_eq!((still.question.as_str(), still.epsilon), ("count", Some(0.25)));
    let refusal = ask(&budget, &place.count(0.5, Some("age>=30"))).unwrap_err();
    assert_eq!(refusal.code(), Code::Spent);
    let words = refusal.to_string();
    assert!(words.contains("this count could still be asked at epsilon = 0.25"), "{words}");
    assert_eq!(shown(budget.file()).charges, 1);
    // What the message says is true.
    ask(&budget, &place.count(0.25, Some("age>=30"))).unwrap();
    let refusal = ask(&budget, &place.count(0.1, Some("age>=31"))).unwrap_err();
    assert!(refusal.to_string().contains("this count cannot be asked any more"), "{refusal}");
    let foreseen = budget.foresee(&place.count(0.1, None), &place.count(0.1, None).check().unwrap()).unwrap();
    assert_eq!(foreseen.still.unwrap().epsilon, None);
}

#[test]
fn data_unit_and_relation_are_the_budgets() {
    let place = Place::new();
    let budget = place.budget(1.0, None);
    let others = Release { file: place.path("others.csv"), ..place.count(0.1, None) };
    let refusal = ask(&budget, &others).unwrap_err();
    assert_eq!(refusal.code(), Code::OtherData);
    assert!(refusal.to_string().contains("reticent budget add-data"), "{refusal}");
    let added = AddData {
        file: budget.file().to_path_buf(),
        data: vec![place.path("oth*.csv")],
        reading: Default::default(),
    };
    assert_eq!(run(&added).unwrap().summary.data, ["visits.csv", "oth*.csv"]);
    ask(&budget, &others).unwrap();
    let replace = Release { neighboring: Neighboring::ReplaceOne, ..place.count(0.1, None) };
    assert_eq!(ask(&budget, &replace).unwrap_err().code(), Code::Relation);
    let people = CreateBudget {
        unit: "patient_id".to_owned(),
        ..CreateBudget::new(place.path("people.budget"), 1.0, place.path("visits.csv"))
    };
    let people = place.create(people);
    let refusal = ask(&people, &place.count(0.1, None)).unwrap_err();
    assert_eq!((refusal.code(), refusal.field()), (Code::Relation, Some("unit")));
    assert_eq!(shown(people.file()).charges, 0);
    // Exact outcomes fit no budget.
    let draft = LearnSchema::draft(place.path("visits.csv"));
    let refusal = budget.charge_for(&draft, draft.check().unwrap(), None).err().unwrap();
    assert_eq!(refusal.code(), Code::Unreachable);
}

#[test]
fn other_verbs_are_charged_and_not_remembered() {
    let place = Place::new();
    let create = CreateBudget {
        delta: Some(1e-6),
        ..CreateBudget::new(place.path("b.budget"), 10.0, place.path("visits.csv"))
    };
    let budget = place.create(create);
    let schema = LearnSchema::private(place.path("visits.csv"), 1.0, 1e-7);
    for charges in 1..=2 {
        let learnt = budget.charge_for(&schema, schema.check().unwrap(), None).unwrap();
        assert_eq!(learnt.standing.charges.len(), 1);
        assert_eq!(learnt.standing.still.unwrap().question, "schema");
        assert_eq!(shown(budget.file()).charges, charges);
    }
    let text = "unit = \"row\"\n[label]\ncolumn = \"sex\"\npositive = \"1\"\n[columns]\nage = { bounds = [0, 120] }\n";
    std::fs::write(place.path("schema.toml"), text).unwrap();
    let fit = Fit {
        data: Some(place.path("visits.csv")),
        schema: Some(place.path("schema.toml")),
        epsilon: Some(1.0),
        ..serde_json::from_str("{}").unwrap()
    };
    budget.charge_for(&fit, fit.check().unwrap(), None).unwrap();
    let summary = shown(budget.file());
    assert_eq!((summary.charges, summary.answers, summary.unanswered), (3, 0, 0));
    // Answers of a survey are rows of a budget under replace-one.
    let create = CreateBudget {
        neighboring: Neighboring::ReplaceOne,
        ..CreateBudget::new(place.path("survey.budget"), 1.0, place.path("visits.csv"))
    };
    let survey = place.create(create);
    let answers = vec!["0".to_owned(), "1".to_owned()];
    let randomize = Randomize::new(place.path("visits.csv"), "sex", answers, 0.5, place.path("out.csv"));
    survey.charge_for(&randomize, randomize.check().unwrap(), None).unwrap();
    let kept = Randomize { keep_columns: Some(vec!["age".to_owned()]), ..randomize };
    assert!(survey.charge_for(&kept, kept.check().unwrap(), None).is_err());
    assert_eq!(shown(survey.file()).charges, 1);
}

#[test]
fn parts_history_closing_and_the_page() {
    let place = Place::new();
    let budget = place.budget(1.0, Some(1e-6));
    let file = budget.file().to_path_buf();
    ask(&budget, &place.count(0.1, None)).unwrap();
    let allot = |analyst: &str, epsilon: f64| AllotBudget {
        file: file.clone(),
        analyst: Some(analyst.to_owned()),
        purpose: None,
        epsilon,
        delta: None,
        valid_until: None,
    };
    run(&allot("ana", 0.2)).unwrap();
    assert_eq!(run(&allot("ana", 0.2)).unwrap_err().code(), Code::SubBudget);
    assert_eq!(run(&allot("bob", 2.0)).unwrap_err().field(), Some("epsilon"));
    let named =
        |name: Option<&str>| budget.clone().asked_by(name.map(str::to_owned), Some("report".into())).unwrap();
    let (ana, bob) = (named(Some("ana")), named(Some("bob")));
    assert_eq!(ask(&bob, &place.count(0.05, Some("sex=1"))).unwrap_err().code(), Code::SubBudget);
    let paid = ask(&ana, &place.count(0.15, Some("sex=1"))).unwrap();
    assert!(paid.standing.left <= 0.05 + 1e-12);
    let refusal = ask(&ana, &place.count(0.15, Some("sex=0"))).unwrap_err();
    assert_eq!(refusal.code(), Code::Spent);
    assert!(refusal.to_string().contains("at epsilon = 0.0"), "{refusal}");
    // A remembered answer costs a part what it cost at first: nothing for who has paid, and nothing without a part.
    let again = ask(&ana, &place.count(0.15, Some("sex=1"))).unwrap();
    assert!(again.standing.remembered.is_some() && again.standing.charges.is_empty());
    assert_eq!(ask(&bob, &place.count(0.1, None)).unwrap_err().code(), Code::SubBudget);
    let refusal = ask(&ana, &place.count(0.1, None)).unwrap_err();
    assert_eq!(refusal.code(), Code::Spent);
    assert!(
        refusal.to_string().contains("the answer is remembered, and the sub-budget of analyst \"ana\""),
        "{refusal}"
    );
    run(&allot("eve", 0.1)).unwrap();
    let eve = named(Some("eve"));
    let given = ask(&eve, &place.count(0.1, None)).unwrap();
    assert!(given.standing.remembered.is_some() && given.standing.charges.len() == 1);
    assert_eq!(given.standing.left, 0.0);
    assert!(ask(&eve, &place.count(0.1, None)).unwrap().standing.charges.is_empty());
    let history = |analyst: Option<&str>, last: Option<u64>| {
        run(&BudgetHistory { file: file.clone(), analyst: analyst.map(str::to_owned), purpose: None, last })
    };
    let all = history(None, None).unwrap();
    assert_eq!((all.charges.len(), all.total), (2, 2));
    assert_eq!(all.changes[0].what, "created");
    let given = "answer of charge 1 given again, charged to the part of analyst eve, purpose report alone";
    assert!(all.changes.iter().any(|change| change.what == given), "{:?}", all.changes);
    let own = &history(Some("ana"), None).unwrap().charges;
    assert_eq!(
        (own.len(), own[0].about.as_str()),
        (1, &*format!("count where sex=1, {}", place.path("visits.csv").display()))
    );
    assert!(own[0].answered && own[0].remembered);
    assert_eq!(own[0].cost.unwrap().epsilon.get(), 0.15);
    assert_eq!(history(None, Some(1)).unwrap().charges.len(), 1);
    assert!(history(None, Some(0)).is_err());
    assert!(run(&VerifyBudget { file: file.clone() }).unwrap().problems.is_empty());
    let out = place.path("ledger.json");
    run(&ExportBudget { file: file.clone(), out: Some(out.clone()) }).unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("reticent-budget/1") && !text.contains("interval"));
    let page = DrawSpending { file: file.clone(), out: place.path("page.html") };
    assert_eq!(run(&page).unwrap().charges, 2);
    let html = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(html.contains("count where sex=1") && html.contains("ana"));
    run(&CloseBudget { file: file.clone(), reason: None }).unwrap();
    assert_eq!(shown(&file).state, BudgetState::Closed);
    assert_eq!(ask(&ana, &place.count(0.01, Some("sex=0"))).unwrap_err().code(), Code::BudgetClosed);
    assert!(ask(&eve, &place.count(0.1, None)).unwrap().standing.remembered.is_some());
    assert_eq!(ask(&ana, &place.count(0.1, None)).unwrap_err().code(), Code::BudgetClosed);
}

#[test]
fn requests_are_checked_before_a_file_is_made() {
    let place = Place::new();
    let good = CreateBudget::new(place.path("new.budget"), 1.0, place.path("visits.csv"));
    for (bad, field) in [
        (CreateBudget { epsilon: 0.0, ..good.clone() }, "epsilon"),
        (CreateBudget { delta: Some(2.0), ..good.clone() }, "delta"),
        (CreateBudget { unit: " ".to_owned(), ..good.clone() }, "unit"),
        (CreateBudget { data: Vec::new(), ..good.clone() }, "data"),
        (CreateBudget { name: Some(String::new()), ..good.clone() }, "name"),
        (CreateBudget { valid_until: Some("tomorrow".to_owned()), ..good.clone() }, "valid_until"),
        (
            CreateBudget { unit: "id".to_owned(), neighboring: Neighboring::ReplaceOne, ..good.clone() },
            "neighboring",
        ),
    ] {
        assert_eq!(bad.check().unwrap_err().field(), Some(field), "{bad:?}");
    }
    assert!(!good.file.exists());
    run(&good).unwrap();
    assert_eq!(run(&good).unwrap_err().code(), Code::Taken);
    let none = ShowBudget { file: place.path("none.budget") };
    assert_eq!(none.check().unwrap_err().code(), Code::NotFound);
}

#[test]
fn a_schema_names_its_budget() {
    let place = Place::new();
    let schema = place.path("schema.toml");
    let text = "unit = \"row\"\nbudget = \"h.budget\"\n[columns]\nage = { bounds = [0, 120] }\n";
    std::fs::write(&schema, text).unwrap();
    let (own, other) = (place.path("h.budget"), place.path("o.budget"));
    assert_eq!(declared_budget(None, Some(&schema)).unwrap(), Some(own.clone()));
    assert_eq!(declared_budget(Some(&own), Some(&schema)).unwrap(), Some(own));
    assert_eq!(declared_budget(Some(&other), Some(&schema)).unwrap_err().field(), Some("budget"));
    assert_eq!(declared_budget(Some(&other), None).unwrap(), Some(other));
    assert_eq!(declared_budget(None, None).unwrap(), None);
}

#[test]
fn work_in_memory_needs_a_budget_for_it() {
    let place = Place::new();
    let budget = place.budget(1.0, None);
    let refusal = budget.within("numbers", None, |_| Ok(())).unwrap_err();
    assert_eq!(refusal.code(), Code::OtherData);
    let create = CreateBudget::new(place.path("memory.budget"), 1.0, MEMORY);
    let memory = place.create(create);
    assert_eq!(memory.within("numbers", None, |_| Ok(7)).unwrap(), 7);
}

#[test]
fn how_a_table_is_read_is_part_of_the_question() {
    let place = Place::new();
    let create = CreateBudget::new(place.path("hospital.budget"), 9.0, place.path("visits.csv"));
    let budget = place.create(create);
    let ask = |derive: &str, filter: Option<&str>| {
        let reading = Reading { derive: vec![derive.to_owned()], ..Reading::default() };
        let table = open_table_with(&place.path("visits.csv"), &reading).unwrap();
        let question = ReleaseQuestion::Mean {
            column: "x".to_owned(),
            bounds: [0.0, 120.0],
            integers: false,
            count_clamped: false,
            schema: None,
        };
        let request = Release { filter: filter.map(str::to_owned), ..Release::new("", question, 1.0) };
        budget.answer(&request, request.check_table(table).unwrap(), false, None).unwrap()
    };
    let first = ask("x = age in 0,120", None);
    assert_eq!(ask("x = sex in 0,120", None).standing.remembered, None);
    let again = ask("x  =  age in 0, 120", None);
    assert!(again.standing.remembered.is_some() && again.outcome == first.outcome);
    // The history names the files of a table that was opened before.
    let history =
        run(&BudgetHistory { file: budget.file().into(), analyst: None, purpose: None, last: None }).unwrap();
    assert!(history.charges.iter().all(|charge| charge.about.contains("visits.csv")), "{history:?}");
    // The same for a page.
    let page = |derive: &str| {
        let reading = Reading { derive: vec![derive.to_owned()], ..Reading::default() };
        let table = open_table_with(&place.path("visits.csv"), &reading).unwrap();
        let text = serde_json::json!({"epsilon": 0.5, "questions": [
            {"kind": "mean", "column": "x", "bounds": [0, 120]}]});
        let request: Page = serde_json::from_value(text).unwrap();
        budget.answer(&request, request.check_table(table).unwrap(), false, None).unwrap().standing.remembered
    };
    assert_eq!(page("x = age in 0,120"), None);
    assert_eq!(page("x = sex in 0,120"), None);
    assert!(page("x = age in 0,120").is_some());
}

#[test]
fn a_budget_settles_how_its_files_are_read() {
    let place = Place::new();
    let budget = place.budget(9.0, None);
    let read = |separator: Option<char>, quoting: Option<Quoting>| Release {
        reading: Reading { separator, quoting, ..Reading::default() },
        ..place.count(0.1, None)
    };
    for other in [read(None, Some(Quoting::None)), read(Some(','), None)] {
        let refusal = ask(&budget, &other).unwrap_err();
        assert_eq!(refusal.code(), Code::OtherData, "{refusal}");
        assert!(refusal.to_string().contains("without options about its text"), "{refusal}");
        let foreseen = budget.foresee(&other, &other.check().unwrap());
        assert_eq!(foreseen.unwrap_err().code(), Code::OtherData);
    }
    ask(&budget, &read(None, Some(Quoting::Double))).unwrap();
    // Every verb asks.
    let schema = LearnSchema {
        reading: Reading { quoting: Some(Quoting::None), ..Reading::default() },
        ..LearnSchema::private(place.path("visits.csv"), 1.0, 1e-7)
    };
    let refusal = budget.charge_for(&schema, schema.check().unwrap(), None).err().unwrap();
    assert_eq!(refusal.code(), Code::OtherData, "{refusal}");
    assert_eq!(shown(budget.file()).charges, 1);
    let settled = Reading { separator: Some(','), quoting: Some(Quoting::None), ..Reading::default() };
    let other = place.create(CreateBudget {
        reading: settled.clone(),
        ..CreateBudget::new(place.path("other.budget"), 1.0, place.path("visits.csv"))
    });
    assert!(shown(other.file()).data[0].contains("quoting"), "{:?}", shown(other.file()).data);
    assert_eq!(ask(&other, &place.count(0.1, None)).unwrap_err().code(), Code::OtherData);
    ask(&other, &read(Some(','), Some(Quoting::None))).unwrap();
    // Another way is declared, not asked for.
    let added = AddData {
        file: other.file().to_path_buf(),
        data: vec![place.path("visits.csv")],
        reading: Reading::default(),
    };
    run(&added).unwrap();
    ask(&other, &place.count(0.1, None)).unwrap();
    for bad in [
        Reading { derive: vec!["x = age in 0,1".into()], ..Reading::default() },
        Reading { separator: Some('"'), ..Reading::default() },
    ] {
        let create = CreateBudget::new(place.path("bad.budget"), 1.0, place.path("visits.csv"));
        assert!(CreateBudget { reading: bad, ..create }.check().is_err());
    }
}

#[test]
fn the_data_of_a_budget_declare_no_groups() {
    let place = Place::new();
    let create = CreateBudget {
        data: vec![place.path("visits.csv"), place.path("oth*.csv")],
        ..CreateBudget::new(place.path("h.budget"), 1.0, place.path("visits.csv"))
    };
    let budget = place.create(create);
    std::fs::write(place.path("sexes.csv"), "sex\n0\n1\n").unwrap();
    let ask = |keys: &str| {
        let group_by = serde_json::json!({"columns": ["sex"], "keys": {"file": place.path(keys)}});
        let text = serde_json::json!({"file": place.path("visits.csv"), "epsilon": 0.1, "group_by": group_by,
            "questions": [{"kind": "count"}]});
        let request: Page = serde_json::from_value(text).unwrap();
        let planned = request.check()?;
        budget.foresee(&request, &planned)?;
        budget.answer(&request, planned, false, None)
    };
    ask("sexes.csv").unwrap();
    let refusal = ask("others.csv").unwrap_err();
    assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("keys")), "{refusal}");
}

#[test]
fn a_unit_of_the_schema_is_not_forgotten() {
    let place = Place::new();
    let schema = place.path("s.toml");
    std::fs::write(&schema, "unit = { column = \"sex\" }\n[columns]\nage = { bounds = [0, 120] }\n").unwrap();
    let question = ReleaseQuestion::Mean {
        column: "age".to_owned(),
        bounds: [0.0, 120.0],
        integers: false,
        count_clamped: false,
        schema: Some(schema),
    };
    let refusal = Release::new(place.path("visits.csv"), question, 1.0).check().unwrap_err();
    assert_eq!((refusal.code(), refusal.field()), (Code::Missing, Some("rows")), "{refusal}");
    assert!(refusal.to_string().contains("all rows of one sex"), "{refusal}");
}
