//! Rows that were changed, records that were rolled back or copied.

use super::{guarantee, on_record, pure, question, terms};
use crate::record::Record;
use crate::rows::{Backend, Mode};
use crate::{
    Asking, BudgetScope, BudgetStore, DataName, QuestionDigest, SqliteBudget, StoreError, StoreOptions,
    SubBudget,
};
use reticent_core::{Code, Coded};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// A budget with entries of every kind.
fn used(path: &Path, options: StoreOptions) -> SqliteBudget {
    let mut store = SqliteBudget::create(path, &terms(2.0, 1e-6), options).unwrap();
    for scope in [BudgetScope::Analyst("ann".to_owned()), BudgetScope::Purpose("quality".to_owned())] {
        let limit = guarantee(1.0, 1e-7);
        store.add_sub_budget(&SubBudget { scope, limit, valid_until: None }).unwrap();
    }
    store.add_data(&DataName::new("visits-02.parquet")).unwrap();
    for number in 0..5 {
        let mut charge = question(pure(0.0625), &format!("question{number}"));
        charge.asking.analyst = Some("ann".to_owned());
        charge.asking.purpose = Some("quality".to_owned());
        let entry = store.reserve(&charge).unwrap();
        store.commit(entry, Some(format!("answer{number}").as_bytes())).unwrap();
    }
    store
}

#[test]
fn every_change_of_a_row_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    drop(used(&path, StoreOptions::default()));
    let whole = fs::read(&path).unwrap();
    // 0: created, 1 and 2: sub-budgets, 3: data, 4: the first reservation, 5: its commit, …, 13: the last commit.
    let changes = [
        "UPDATE entries SET time = time + 1 WHERE number = 4",
        "UPDATE entries SET latest = latest + 1 WHERE number = 4",
        "UPDATE entries SET charges = 1 WHERE number = 13",
        "UPDATE entries SET charged = 4 WHERE number = 13",
        "UPDATE entries SET analyst = 'bob' WHERE number = 4",
        "UPDATE entries SET analyst = NULL WHERE number = 5",
        "UPDATE entries SET purpose = 'research' WHERE number = 6",
        "UPDATE entries SET question = zeroblob(32) WHERE number = 6",
        "UPDATE entries SET question = NULL WHERE number = 5",
        "UPDATE entries SET refers = 6 WHERE number = 5",
        "UPDATE entries SET body = replace(body, '0.0625', '0.03125') WHERE number = 4",
        "UPDATE entries SET body = replace(body, 'question', 'answer') WHERE number = 6",
        "UPDATE entries SET body = replace(body, '2.0', '3.0') WHERE number = 0",
        "UPDATE entries SET body = replace(body, '02', '03') WHERE number = 3",
        "UPDATE entries SET answer = zeroblob(32) WHERE number = 5",
        "UPDATE entries SET state = (SELECT state FROM entries WHERE number = 4) WHERE number = 12",
        "UPDATE entries SET analyst_state = (SELECT analyst_state FROM entries WHERE number = 1) WHERE number = 12",
        "UPDATE entries SET purpose_state = (SELECT purpose_state FROM entries WHERE number = 2) WHERE number = 12",
        "UPDATE entries SET digest = zeroblob(32) WHERE number = 7",
        "UPDATE entries SET kind = 'data' WHERE number = 12",
        "DELETE FROM entries WHERE number = 6",
        "DELETE FROM entries WHERE number = 0",
        "DELETE FROM entries",
        "DELETE FROM answers WHERE number = 5",
        "UPDATE answers SET body = X'00' WHERE number = 5",
        "INSERT INTO answers VALUES (4, X'00')",
        "INSERT INTO entries SELECT 14, kind, time, latest, charges, charged, analyst, purpose, question, refers, body, answer, \
         state, analyst_state, purpose_state, digest FROM entries WHERE number = 12",
        "CREATE TRIGGER forget AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE number > 4; END",
        "DROP INDEX entries_rare",
        "PRAGMA user_version = 2",
    ];
    for change in changes {
        fs::write(&path, &whole).unwrap();
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let found = match SqliteBudget::open(&path, StoreOptions::default()) {
            Err(error) => matches!(error.code(), Code::BudgetAltered | Code::Format),
            Ok(mut store) => !store.verify().unwrap().is_empty(),
        };
        assert!(found, "{change}");
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(SqliteBudget::open(&path, StoreOptions::default()).unwrap().verify().unwrap(), []);
}

#[test]
fn a_changed_state_is_refused_before_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let mut store = SqliteBudget::create(&path, &terms(1.0, 0.0), StoreOptions::default()).unwrap();
    for number in 0..8 {
        store.reserve(&question(pure(0.125), &format!("question{number}"))).unwrap();
    }
    super::exceeded(store.reserve(&question(pure(0.125), "one more")));
    let change = "UPDATE entries SET state = (SELECT state FROM entries WHERE number = 1) WHERE number = 8";
    Connection::open(&path).unwrap().execute_batch(change).unwrap();
    let refused = store.reserve(&question(pure(0.125), "one more")).unwrap_err();
    assert_eq!(refused.code(), Code::BudgetAltered, "{refused}");
}

#[test]
fn a_changed_answer_is_not_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let mut store = used(&path, StoreOptions::default());
    let asked = Asking {
        analyst: Some("ann".to_owned()),
        purpose: Some("quality".to_owned()),
        ..QuestionDigest::of(b"question3").into()
    };
    assert_eq!(store.remembered(&asked).unwrap().unwrap().answer, b"answer3");
    Connection::open(&path).unwrap().execute_batch("UPDATE answers SET body = X'00'").unwrap();
    assert_eq!(store.remembered(&asked).unwrap_err().code(), Code::BudgetAltered);
}

#[test]
fn an_older_copy_is_refused_by_the_seal() {
    let folder = tempfile::tempdir().unwrap();
    let (path, seals) = (folder.path().join("hospital.budget"), folder.path().join("seals"));
    let options = || StoreOptions::default().sealed_in(&seals);
    drop(used(&path, options()));
    let older = fs::read(&path).unwrap();
    let mut charge = question(pure(0.0625), "later");
    charge.asking.analyst = Some("ann".to_owned());
    charge.asking.purpose = Some("quality".to_owned());
    let mut store = SqliteBudget::open(&path, options()).unwrap();
    store.reserve(&charge).unwrap();
    drop(store);
    let newer = fs::read(&path).unwrap();
    // While a store is open, and when it is opened.
    let mut open = SqliteBudget::open(&path, options()).unwrap();
    fs::write(&path, &older).unwrap();
    let refused = open.reserve(&charge).unwrap_err();
    assert_eq!(refused.code(), Code::BudgetAltered);
    assert!(refused.to_string().contains("an older copy was put in its place"), "{refused}");
    drop(open);
    let refused = SqliteBudget::open(&path, options()).unwrap_err();
    assert_eq!(refused.code(), Code::BudgetAltered);
    // Without the seal nothing shows it: the record is whole by itself.
    let mut unsealed = SqliteBudget::open(&path, StoreOptions::default()).unwrap();
    assert_eq!(unsealed.verify().unwrap(), []);
    drop(unsealed);
    fs::write(&path, &newer).unwrap();
    assert_eq!(SqliteBudget::open(&path, options()).unwrap().verify().unwrap(), []);
}

#[test]
fn of_two_copies_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy, seals) =
        (folder.path().join("a.budget"), folder.path().join("b.budget"), folder.path().join("seals"));
    let options = || StoreOptions::default().sealed_in(&seals);
    drop(SqliteBudget::create(&path, &terms(1.0, 0.0), options()).unwrap());
    fs::copy(&path, &copy).unwrap();
    let mut first = SqliteBudget::open(&path, options()).unwrap();
    let mut second = SqliteBudget::open(&copy, options()).unwrap();
    first.reserve(&question(pure(0.5), "in the first")).unwrap();
    let refused = second.reserve(&question(pure(0.5), "in the second")).unwrap_err();
    assert_eq!(refused.code(), Code::BudgetAltered, "{refused}");
    // A charge without the seal in the other copy: the digests part.
    drop(second);
    let mut second = SqliteBudget::open(&copy, StoreOptions::default()).unwrap();
    second.reserve(&question(pure(0.25), "in the second")).unwrap();
    let refused = SqliteBudget::open(&copy, options()).unwrap_err();
    assert!(refused.to_string().contains("this is another copy of the budget"), "{refused}");
    first.reserve(&question(pure(0.5), "in the first")).unwrap();
    assert_eq!(on_record(&mut first), ["in the first", "in the first"]);
}

#[test]
fn a_rewritten_record_is_refused_by_the_seal() {
    let folder = tempfile::tempdir().unwrap();
    let (path, seals) = (folder.path().join("hospital.budget"), folder.path().join("seals"));
    let mut store =
        SqliteBudget::create(&path, &terms(1.0, 0.0), StoreOptions::default().sealed_in(&seals)).unwrap();
    for number in 0..8 {
        store.reserve(&question(pure(0.125), &format!("question{number}"))).unwrap();
    }
    // Whoever knows the form computes the digests again: the last entry has the first one's state.
    let forged = store.backend.transaction(Mode::Read, |rows| {
        let records: Vec<Record> = rows.from(0, 99)?;
        let last = Record { state: records[1].state.clone(), ..records[8].clone() };
        Ok(last.chained(&records[7].digest))
    });
    let forged = forged.unwrap();
    let connection = Connection::open(&path).unwrap();
    let text = "UPDATE entries SET state = ?, digest = ? WHERE number = 8";
    connection.execute(text, rusqlite::params![forged.state, forged.digest.as_slice()]).unwrap();
    drop(connection);
    let refused = store.reserve(&question(pure(0.125), "one more")).unwrap_err();
    assert_eq!(refused.code(), Code::BudgetAltered, "{refused}");
    // Verification finds it without the seal too, because it does not follow from the events.
    let mut unsealed = SqliteBudget::open(&path, StoreOptions::default()).unwrap();
    let problems = unsealed.verify().unwrap();
    assert!(problems.iter().any(|problem| problem.what.contains("not what the events give")), "{problems:?}");
}

#[test]
fn other_files_are_not_budgets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let open = || SqliteBudget::open(&path, StoreOptions::default()).map(drop);
    assert!(matches!(open(), Err(StoreError::NotFound { .. })));
    fs::write(
        &path,
        "a letter, and not a short one: it has more than a hundred characters, as any letter should have",
    )
    .unwrap();
    assert!(matches!(open(), Err(StoreError::NotABudget { .. })));
    fs::write(&path, "").unwrap();
    assert!(matches!(open(), Err(StoreError::NotABudget { .. })));
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE letters (text)").unwrap();
    assert!(matches!(open(), Err(StoreError::NotABudget { .. })));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(open().is_err());
    assert!(matches!(
        SqliteBudget::create(&path, &terms(1.0, 0.0), StoreOptions::default()).map(drop),
        Err(StoreError::Taken { .. })
    ));
    let nowhere = folder.path().join("no/such/folder");
    let refused = SqliteBudget::create(&nowhere, &terms(1.0, 0.0), StoreOptions::default()).unwrap_err();
    assert_eq!(refused.code(), Code::Unwritable, "{refused}");
}
