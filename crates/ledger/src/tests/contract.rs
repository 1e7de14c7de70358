//! What a store promises, one statement at a time. Each function takes a place where nothing is yet.

use super::{Place, exceeded, guarantee, on_record, pure, question, terms};
use crate::*;
use reticent_core::{Code, Coded, Delta, Epsilon, Event, LedgerError, NoiseMultiplier, Plan, charge};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A statement about stores at a place; what else it writes is in a folder.
type Statement = fn(&Place, &Path);

/// The statements, by name.
const STATEMENTS: [(&str, Statement); 14] = [
    ("charges", charges_are_recorded_and_refused_beyond_the_limit),
    ("terms", terms_and_data_come_back),
    ("answers", answers_are_remembered_by_their_question),
    ("commits", commits_are_for_open_reservations),
    ("parts", sub_budgets_hold_at_the_same_time_as_the_total),
    ("named", who_asks_needs_a_sub_budget_where_there_are_any),
    ("recalled", a_remembered_answer_costs_the_part_of_who_asks),
    ("over", after_the_end_nothing_is_answered),
    ("clock", the_later_of_the_clock_and_the_last_entry_counts),
    ("closing", a_closed_budget_is_charged_no_more),
    ("remedy", a_refusal_says_what_still_fits),
    ("ledger", sessions_charge_it_and_commit_by_their_receipt),
    ("export", an_export_has_everything_in_order),
    ("taken", a_place_is_taken_once_and_its_terms_are_checked),
];

#[test]
fn a_sqlite_file_keeps_the_contract() {
    for (name, statement) in STATEMENTS {
        let folder = tempfile::tempdir().unwrap();
        println!("{name}");
        statement(&Place::Sqlite(folder.path().join("hospital.budget")), folder.path());
    }
}

#[cfg(feature = "postgres")]
#[test]
fn a_postgresql_database_keeps_the_contract() {
    let Some(server) = super::server::Server::start() else { return };
    for (name, statement) in STATEMENTS {
        let folder = tempfile::tempdir().unwrap();
        println!("{name}");
        statement(&server.place(name), folder.path());
    }
}

fn charges_are_recorded_and_refused_beyond_the_limit(place: &Place, folder: &Path) {
    let options = StoreOptions::default().sealed_in(folder.join("seals"));
    let mut store = place.create(&terms(1.0, 0.0), options.clone()).unwrap();
    let numbers: Vec<u64> = (0..7)
        .map(|number| store.reserve(&question(pure(0.125), &format!("question{number}"))).unwrap().number())
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
    let (scope, remedy) = exceeded(store.reserve(&question(pure(0.25), "too much")));
    assert_eq!(scope, BudgetScope::Total);
    assert!(remedy.starts_with("one more question of up to epsilon = 0.125 fits the limit"), "{remedy}");
    // Another process goes on where this one was; a refusal left nothing.
    let mut again = place.open(options).unwrap();
    assert_eq!(again.status().unwrap().last.number(), 7);
    again.reserve(&question(pure(0.125), "the last one")).unwrap();
    for store in [&mut store, &mut again] {
        let (_, remedy) = exceeded(store.reserve(&question(pure(0.125), "one more")));
        assert!(remedy.starts_with("nothing is left"), "{remedy}");
        let status = store.status().unwrap();
        assert_eq!((status.last.number(), status.uncommitted, status.limits[0].charges), (8, 8, 8));
        assert_eq!(status.limits[0].left.get(), 0.0);
        assert_eq!(store.verify().unwrap(), []);
    }
    // What costs nothing still fits.
    store.reserve(&question(Plan::default(), "nothing")).unwrap();
}

fn terms_and_data_come_back(place: &Place, _: &Path) {
    let given = BudgetTerms {
        unit_column: Some("patient_id".to_owned()),
        key: Some("00ff".to_owned()),
        valid_until: Some("2999-12-31".parse().unwrap()),
        data: vec![DataName {
            path: "visits/*.parquet".to_owned(),
            digest: Some("sha256:0".to_owned()),
            reading: Some("{}".to_owned()),
        }],
        ..terms(0.1, 1e-9)
    };
    let mut store = place.create(&given, StoreOptions::default()).unwrap();
    assert_eq!(store.terms().unwrap(), given);
    let more = DataName::new("visits-02.parquet");
    assert_eq!(store.add_data(&more).unwrap().number(), 1);
    let mut all = given.clone();
    all.data.push(more);
    assert_eq!(place.open(StoreOptions::default()).unwrap().terms().unwrap(), all);
    assert_eq!(store.status().unwrap().terms, all);
    assert!(store.add_data(&DataName::new(" ")).is_err());
    assert_eq!(store.verify().unwrap(), []);
}

fn answers_are_remembered_by_their_question(place: &Place, _: &Path) {
    let mut store = place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap();
    let asked = QuestionDigest::of(b"how many?");
    assert_eq!(store.remembered(&asked.into()).unwrap(), None);
    let first = store.reserve(&question(pure(0.25), "how many?")).unwrap();
    assert_eq!(store.remembered(&asked.into()).unwrap(), None);
    store.commit(first, Some(b"about 40")).unwrap();
    let found = store.remembered(&asked.into()).unwrap().unwrap();
    assert_eq!((found.entry, found.answer.as_slice()), (first, b"about 40".as_slice()));
    // More data change nothing; a refreshed answer takes its place; one without an answer does not.
    store.add_data(&DataName::new("more.csv")).unwrap();
    let second = store.reserve(&question(pure(0.25), "how many?")).unwrap();
    assert_eq!(store.remembered(&asked.into()).unwrap().unwrap().answer, b"about 40");
    store.commit(second, Some(b"about 42")).unwrap();
    let third = store.reserve(&question(pure(0.25), "how many?")).unwrap();
    store.commit(third, None).unwrap();
    let mut again = place.open(StoreOptions::default()).unwrap();
    assert_eq!(again.remembered(&asked.into()).unwrap().unwrap().answer, b"about 42");
    assert_eq!(again.remembered(&QuestionDigest::of(b"how old?").into()).unwrap(), None);
    let status = again.status().unwrap();
    assert_eq!((status.answers, status.uncommitted), (2, 0));
    let large = vec![7; 300_000];
    let fourth = store.reserve(&question(pure(0.125), "everything")).unwrap();
    store.commit(fourth, Some(&large)).unwrap();
    assert_eq!(again.remembered(&QuestionDigest::of(b"everything").into()).unwrap().unwrap().answer, large);
    assert_eq!(again.verify().unwrap(), []);
}

fn commits_are_for_open_reservations(place: &Place, _: &Path) {
    let mut store = place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap();
    let entry = store.reserve(&question(pure(0.25), "how many?")).unwrap();
    store.commit(entry, None).unwrap();
    let wrong = [entry, EntryId(0), EntryId(2), EntryId(99), EntryId(u64::MAX)];
    for entry in wrong {
        let refused = store.commit(entry, None).unwrap_err();
        assert!(matches!(refused, StoreError::NotOpen { .. }), "{refused}");
    }
    assert_eq!(store.status().unwrap().last.number(), 2);
}

fn sub_budgets_hold_at_the_same_time_as_the_total(place: &Place, _: &Path) {
    let mut store = place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap();
    let asking = |analyst: &str, purpose: &str, epsilon: f64| {
        let mut charge = question(pure(epsilon), "how many?");
        charge.asking.analyst = Some(analyst.to_owned());
        charge.asking.purpose = Some(purpose.to_owned());
        charge
    };
    // Before there are sub-budgets, names are words.
    store.reserve(&asking("ann", "quality", 0.25)).unwrap();
    for (scope, epsilon) in [
        (BudgetScope::Analyst("ann".to_owned()), 0.5),
        (BudgetScope::Analyst("bob".to_owned()), 0.75),
        (BudgetScope::Purpose("quality".to_owned()), 0.375),
        (BudgetScope::Purpose("research".to_owned()), 1.0),
    ] {
        let limit = guarantee(epsilon, 0.0);
        let sub = SubBudget { scope: scope.clone(), limit, valid_until: None };
        store.add_sub_budget(&sub).unwrap();
        let twice = store.add_sub_budget(&sub).unwrap_err();
        assert_eq!(twice.code(), Code::SubBudget, "{twice}");
    }
    store.reserve(&asking("ann", "quality", 0.25)).unwrap();
    // Quality has 0.125 left, Ann 0.25, the total 0.5.
    let (scope, remedy) = exceeded(store.reserve(&asking("ann", "quality", 0.25)));
    assert_eq!(scope, BudgetScope::Purpose("quality".to_owned()));
    assert!(remedy.contains("epsilon = 0.125 fits"), "{remedy}");
    store.reserve(&asking("ann", "quality", 0.125)).unwrap();
    let (scope, _) = exceeded(store.reserve(&asking("ann", "research", 0.25)));
    assert_eq!(scope, BudgetScope::Analyst("ann".to_owned()));
    store.reserve(&asking("ann", "research", 0.125)).unwrap();
    let (scope, _) = exceeded(store.reserve(&asking("bob", "research", 0.375)));
    assert_eq!(scope, BudgetScope::Total);
    store.reserve(&asking("bob", "research", 0.25)).unwrap();
    let left: Vec<(f64, u64)> =
        store.status().unwrap().limits.iter().map(|limit| (limit.left.get(), limit.charges)).collect();
    assert_eq!(left, [(0.0, 5), (0.0, 3), (0.5, 1), (0.0, 2), (0.625, 2)]);
    assert_eq!(store.verify().unwrap(), []);
    assert!(
        store
            .add_sub_budget(&SubBudget {
                scope: BudgetScope::Total,
                limit: guarantee(1.0, 0.0),
                valid_until: None
            })
            .is_err()
    );
}

fn who_asks_needs_a_sub_budget_where_there_are_any(place: &Place, _: &Path) {
    let mut store = place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap();
    let scope = BudgetScope::Analyst("ann".to_owned());
    store.add_sub_budget(&SubBudget { scope, limit: guarantee(0.5, 0.0), valid_until: None }).unwrap();
    for name in [None, Some("bob"), Some("Ann")] {
        let mut charge = question(pure(0.125), "how many?");
        charge.asking.analyst = name.map(str::to_owned);
        let refused = store.reserve(&charge).unwrap_err();
        assert_eq!(refused.code(), Code::SubBudget, "{refused}");
        assert!(refused.to_string().contains("analyst \"ann\""), "{refused}");
    }
    let mut charge = question(pure(0.125), "how many?");
    charge.asking.analyst = Some("ann".to_owned());
    store.reserve(&charge).unwrap();
    charge.asking.analyst = Some(String::new());
    assert!(matches!(store.reserve(&charge), Err(StoreError::Invalid(_))));
    assert_eq!(store.verify().unwrap(), []);
}

fn a_remembered_answer_costs_the_part_of_who_asks(place: &Place, _: &Path) {
    let mut store = place.create(&terms(2.0, 0.0), StoreOptions::default()).unwrap();
    let by = |analyst: &str, epsilon: f64, about: &str| {
        let mut charge = question(pure(epsilon), about);
        charge.asking.analyst = Some(analyst.to_owned());
        charge
    };
    // Before there are parts, everybody has every answer.
    let before = store.reserve(&by("ann", 0.125, "before")).unwrap();
    store.commit(before, Some(b"early")).unwrap();
    assert_eq!(store.remembered(&by("eve", 0.0, "before").asking).unwrap().unwrap().charged, None);
    for (name, epsilon) in [("ann", 1.0), ("bob", 0.75)] {
        let scope = BudgetScope::Analyst(name.to_owned());
        store
            .add_sub_budget(&SubBudget { scope, limit: guarantee(epsilon, 0.0), valid_until: None })
            .unwrap();
    }
    let first = store.reserve(&by("ann", 0.5, "how many?")).unwrap();
    store.commit(first, Some(b"about 40")).unwrap();
    let left = |store: &mut Box<dyn BudgetStore>| -> Vec<f64> {
        store.status().unwrap().limits.iter().map(|limit| limit.left.get()).collect()
    };
    assert_eq!(left(&mut store), [1.375, 0.5, 0.75]);
    let ask = |store: &mut Box<dyn BudgetStore>, name: &str, about: &str| {
        store.remembered(&by(name, 0.0, about).asking)
    };
    // Whoever paid has it for nothing; another part pays once, and the total never again.
    let own = ask(&mut store, "ann", "how many?").unwrap().unwrap();
    assert_eq!((own.charged, own.answer.as_slice()), (None, b"about 40".as_slice()));
    let bobs = ask(&mut store, "bob", "how many?").unwrap().unwrap();
    assert_eq!((bobs.charged.is_some(), bobs.entry, bobs.answer), (true, first, own.answer));
    assert_eq!(left(&mut store), [1.375, 0.5, 0.25]);
    assert_eq!(ask(&mut store, "bob", "how many?").unwrap().unwrap().charged, None);
    // Somebody without a part gets nothing, and nothing beyond a part is given.
    assert_eq!(ask(&mut store, "eve", "how many?").unwrap_err().code(), Code::SubBudget);
    let unnamed = store.remembered(&question(pure(0.5), "how many?").asking).unwrap_err();
    assert_eq!(unnamed.code(), Code::SubBudget);
    let second = store.reserve(&by("ann", 0.5, "how many?")).unwrap();
    store.commit(second, Some(b"about 42")).unwrap();
    // A refreshed answer is another one.
    let (scope, _) = exceeded(ask(&mut store, "bob", "how many?"));
    assert_eq!(scope, BudgetScope::Analyst("bob".to_owned()));
    assert_eq!(left(&mut store), [0.875, 0.0, 0.25]);
    // An answer from before the parts costs a part too.
    assert!(ask(&mut store, "bob", "before").unwrap().unwrap().charged.is_some());
    assert_eq!(left(&mut store), [0.875, 0.0, 0.125]);
    let status = store.status().unwrap();
    assert_eq!((status.limits[0].charges, status.limits[2].charges, status.uncommitted), (3, 2, 0));
    let entries = store.entries(0..u64::MAX).unwrap();
    assert!(entries.iter().any(|entry| entry.kind == EntryKind::Recalled { entry: first }));
    assert_eq!(store.verify().unwrap(), []);
    store.close("enough").unwrap();
    assert!(ask(&mut store, "bob", "before").unwrap().is_some());
    assert_eq!(ask(&mut store, "ann", "before").unwrap_err().code(), Code::BudgetClosed);
    assert_eq!(store.verify().unwrap(), []);
}

fn after_the_end_nothing_is_answered(place: &Place, _: &Path) {
    let time = Arc::new(AtomicI64::new(1000));
    let clock = Arc::clone(&time);
    let clock = BudgetClock::by(move || Moment::new(clock.load(Ordering::SeqCst)));
    let given = BudgetTerms { valid_until: Some(Moment::new(5000)), ..terms(1.0, 0.0) };
    let mut store = place.create(&given, StoreOptions::default().clocked(clock)).unwrap();
    let charge = question(pure(0.25), "how many?");
    let entry = store.reserve(&charge).unwrap();
    store.commit(entry, Some(b"about 40")).unwrap();
    assert!(store.remembered(&charge.asking).unwrap().is_some());
    time.store(5001, Ordering::SeqCst);
    let over = store.remembered(&charge.asking).unwrap_err();
    assert!(matches!(over, StoreError::Expired { scope: BudgetScope::Total, .. }), "{over}");
}

fn the_later_of_the_clock_and_the_last_entry_counts(place: &Place, _: &Path) {
    let time = Arc::new(AtomicI64::new(1000));
    let clock = Arc::clone(&time);
    let clock = BudgetClock::by(move || Moment::new(clock.load(Ordering::SeqCst)));
    let given = BudgetTerms { valid_until: Some(Moment::new(5000)), ..terms(1.0, 0.0) };
    let options = StoreOptions::default().clocked(clock);
    let mut store = place.create(&given, options.clone()).unwrap();
    let mut at = |milliseconds: i64| {
        time.store(milliseconds, Ordering::SeqCst);
        store.reserve(&question(pure(0.03125), "how many?")).map(EntryId::number)
    };
    // Entries are in the order of their numbers, also when the clock goes back.
    assert_eq!((at(4000).unwrap(), at(2000).unwrap(), at(-7).unwrap(), at(5000).unwrap()), (1, 2, 3, 4));
    let late = at(5001).unwrap_err();
    assert_eq!(late.code(), Code::BudgetClosed, "{late}");
    // A refusal leaves no time behind.
    assert_eq!(at(4999).unwrap(), 5);
    time.store(2000, Ordering::SeqCst);
    let sub = BudgetScope::Purpose("quality".to_owned());
    let limit = guarantee(0.5, 0.0);
    store.add_sub_budget(&SubBudget { scope: sub, limit, valid_until: Some(Moment::new(4500)) }).unwrap();
    let mut charge = question(pure(0.125), "how many?");
    charge.asking.purpose = Some("quality".to_owned());
    // It is 2000 by the clock and 5000 by the entries.
    let refused = store.reserve(&charge).unwrap_err();
    assert!(matches!(refused, StoreError::Expired { scope: BudgetScope::Purpose(_), .. }), "{refused}");
    assert!(!store.status().unwrap().is_expired);
    time.store(9000, Ordering::SeqCst);
    assert!(store.status().unwrap().is_expired);
    // What is not a charge is still recorded; after it the budget is over, whatever the clock says.
    store.add_data(&DataName::new("more.csv")).unwrap();
    time.store(1000, Ordering::SeqCst);
    let over = store.reserve(&charge).unwrap_err();
    assert!(matches!(over, StoreError::Expired { scope: BudgetScope::Total, .. }), "{over}");
    let times: Vec<i64> =
        store.entries(0..99).unwrap().iter().map(|entry| entry.time.milliseconds()).collect();
    assert_eq!(times, [1000, 4000, 2000, -7, 5000, 4999, 2000, 9000]);
    assert_eq!(store.verify().unwrap(), []);
}

fn a_closed_budget_is_charged_no_more(place: &Place, _: &Path) {
    let mut store = place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap();
    let mut other = place.open(StoreOptions::default()).unwrap();
    let entry = store.reserve(&question(pure(0.25), "how many?")).unwrap();
    store.close("the study is over").unwrap();
    for store in [&mut store, &mut other] {
        let refused = store.reserve(&question(pure(0.25), "how old?")).unwrap_err();
        assert_eq!(refused.code(), Code::BudgetClosed);
        assert!(refused.to_string().contains("the study is over"), "{refused}");
        let limit = guarantee(0.5, 0.0);
        let sub = SubBudget { scope: BudgetScope::Analyst("ann".to_owned()), limit, valid_until: None };
        for refused in
            [store.close("again"), store.add_data(&DataName::new("more.csv")), store.add_sub_budget(&sub)]
        {
            assert_eq!(refused.unwrap_err().code(), Code::BudgetClosed);
        }
    }
    // What was reserved before is still committed, and remembered.
    other.commit(entry, Some(b"about 40")).unwrap();
    assert!(store.remembered(&QuestionDigest::of(b"how many?").into()).unwrap().is_some());
    assert!(store.status().unwrap().is_closed);
    assert_eq!(store.verify().unwrap(), []);
}

fn a_refusal_says_what_still_fits(place: &Place, _: &Path) {
    let mut store = place.create(&terms(1.0, 1e-6), StoreOptions::default()).unwrap();
    store.reserve(&question(pure(0.5), "how many?")).unwrap();
    let gaussian = |z: f64| {
        let noise_multiplier = NoiseMultiplier::new(z).unwrap();
        Plan::new(vec![Event::Gaussian { noise_multiplier }]).unwrap()
    };
    let Err(StoreError::Exceeded { part: Some(part), remedy, .. }) =
        store.reserve(&question(gaussian(2.0), "how old?"))
    else {
        panic!()
    };
    assert!(remedy.contains("times the noise"), "{remedy}");
    assert!(part > 0.01 && part < 1.0, "{part}");
    // In terms of a question that is planned by its ε.
    let asking = Asking::default();
    let at = |part: f64| Some(pure(0.8 * part));
    let largest = store.largest(&asking, &at).unwrap().unwrap();
    assert!((0.8 * largest - 0.5).abs() < 1e-3 && 0.8 * largest <= 0.5, "{largest}");
    assert_eq!(store.largest(&asking, &|_| None).unwrap(), None);
    assert_eq!(store.largest(&asking, &|part| Some(pure(0.1 * part))).unwrap(), Some(1.0));
    // Nothing was recorded, and the part that was named fits.
    assert_eq!(store.status().unwrap().last.number(), 1);
    store.reserve(&question(gaussian(2.0 / part), "how old?")).unwrap();
}

fn sessions_charge_it_and_commit_by_their_receipt(place: &Place, _: &Path) {
    let shared = SharedStore::new(place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap()).unwrap();
    let asked = QuestionDigest::of(b"two plans");
    let asking = Asking { question: Some(asked), about: "two plans".to_owned(), ..Asking::default() };
    let (mut ledger, receipt) = shared.ledger(asking.clone());
    let permit = charge(&mut ledger, &pure(0.25)).unwrap();
    assert_eq!(permit.neighboring(), Some(shared.terms().neighboring));
    charge(&mut ledger, &pure(0.5)).unwrap();
    assert_eq!(receipt.entries().len(), 2);
    let refused = charge(&mut ledger, &pure(0.5)).unwrap_err();
    assert!(matches!(refused, LedgerError::Exceeded { .. }), "{refused}");
    receipt.commit(Some(b"both")).unwrap();
    assert_eq!(receipt.entries(), []);
    // No one of the two charges is what the answer cost.
    assert_eq!(shared.store().remembered(&asked.into()).unwrap(), None);
    let (mut ledger, receipt) = shared.ledger(asking.clone());
    charge(&mut ledger, &pure(0.125)).unwrap();
    receipt.commit(Some(b"one")).unwrap();
    let found = shared.store().remembered(&asking).unwrap().unwrap();
    assert_eq!((found.entry.number(), found.answer.as_slice()), (5, b"one".as_slice()));
    assert_eq!(shared.store().status().unwrap().uncommitted, 0);
    shared.store().close("enough").unwrap();
    let (mut ledger, _) = shared.ledger(asking);
    let refused = charge(&mut ledger, &pure(0.125)).unwrap_err();
    assert_eq!(refused.code(), Code::BudgetClosed, "{refused}");
}

fn an_export_has_everything_in_order(place: &Place, _: &Path) {
    let mut store = place.create(&terms(1.0, 1e-6), StoreOptions::default()).unwrap();
    let entry = store.reserve(&question(pure(0.25), "how many?")).unwrap();
    store.commit(entry, Some(b"about 40")).unwrap();
    store.close("enough").unwrap();
    let export = BudgetExport::of(&mut *store).unwrap();
    let json = serde_json::to_value(&export).unwrap();
    assert_eq!(json["status"]["terms"]["name"], "patients of 2026");
    assert_eq!(json["status"]["limits"][0]["epsilon"], 1.0);
    let kinds: Vec<&str> =
        json["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["created", "reserved", "committed", "closed"]);
    assert_eq!(json["entries"][1]["events"][0]["pure"]["epsilon"], 0.25);
    assert_eq!(json["entries"][1]["about"], "how many?");
    assert_eq!((&json["entries"][2]["entry"], &json["entries"][2]["reservation"]), (&2.into(), &1.into()));
    assert_eq!(json["entries"][3]["digest"], json["status"]["digest"]);
    assert_eq!(json["entries"][0]["digest"], json["status"]["id"]);
    assert_eq!(on_record(&mut *store), ["how many?"]);
    assert_eq!(store.entries(1..3).unwrap().len(), 2);
    assert_eq!(store.entries(9..20).unwrap(), []);
}

fn a_place_is_taken_once_and_its_terms_are_checked(place: &Place, _: &Path) {
    assert!(matches!(place.open(StoreOptions::default()).map(drop), Err(StoreError::NotFound { .. })));
    for wrong in [
        BudgetTerms { name: String::new(), ..terms(1.0, 0.0) },
        BudgetTerms { unit: " ".to_owned(), ..terms(1.0, 0.0) },
        terms(0.0, 1e-6),
    ] {
        assert!(matches!(
            place.create(&wrong, StoreOptions::default()).map(drop),
            Err(StoreError::Invalid(_))
        ));
    }
    drop(place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap());
    let taken = place.create(&terms(1.0, 0.0), StoreOptions::default()).map(drop).unwrap_err();
    assert!(matches!(taken, StoreError::Taken { .. }), "{taken}");
    assert_eq!(taken.code(), Code::Taken);
}

#[test]
fn a_thousand_small_questions_cost_far_less_than_their_sum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let mut store = SqliteBudget::create(&path, &terms(1.85, 1e-6), StoreOptions::default()).unwrap();
    let start = std::time::Instant::now();
    for number in 0..1000 {
        store.reserve(&question(pure(0.01), &format!("question{number}"))).unwrap();
    }
    let each = start.elapsed() / 1000;
    println!(
        "1000 counts of epsilon 0.01 fit a limit of epsilon 1.85, delta 1e-6; their sum is 10. {each:?} each"
    );
    assert_eq!(store.status().unwrap().limits[0].charges, 1000);
}

#[test]
fn a_busy_file_is_waited_for_and_then_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let options = StoreOptions::default().waiting(Duration::from_millis(60));
    let mut store = SqliteBudget::create(&path, &terms(1.0, 0.0), options).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.reserve(&question(pure(0.5), "how many?")).unwrap_err();
    assert_eq!(refused.code(), Code::BudgetBusy, "{refused}");
    // Reading goes on.
    assert_eq!(store.status().unwrap().last.number(), 0);
    other.execute_batch("ROLLBACK").unwrap();
    store.reserve(&question(pure(0.5), "how many?")).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn no_connection_is_held_between_operations() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let options = StoreOptions::default().sealed_in(folder.path().join("seals"));
    let mut store = SqliteBudget::create(&path, &terms(1.0, 0.0), options).unwrap();
    let entry = store.reserve(&question(pure(0.5), "how many?")).unwrap();
    store.commit(entry, Some(b"about 40")).unwrap();
    let own = |link: std::io::Result<std::fs::DirEntry>| {
        let target = std::fs::read_link(link.ok()?.path()).ok()?;
        target.starts_with(folder.path()).then_some(target)
    };
    let held: Vec<_> = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(own).collect();
    assert_eq!(held, Vec::<std::path::PathBuf>::new());
    drop(store);
    // One whole file is left.
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_first_plan_may_take_everything_by_its_tight_account() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let mut store = SqliteBudget::create(&path, &terms(1.0, 1e-6), StoreOptions::default()).unwrap();
    let claim = Event::Approximate { epsilon: Epsilon::new(1.0).unwrap(), delta: Delta::new(1e-6).unwrap() };
    store.reserve(&question(Plan::new(vec![claim]).unwrap(), "a training")).unwrap();
    let (_, remedy) = exceeded(store.reserve(&question(pure(0.01), "how many?")));
    assert!(remedy.starts_with("nothing is left"), "{remedy}");
    assert_eq!(store.verify().unwrap(), []);
}
