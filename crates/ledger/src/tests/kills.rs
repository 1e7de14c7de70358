//! Processes that are killed at random moments: what they were permitted is on record.

use super::child::{Task, Which};
use super::{Dice, Place, asked, lines, on_record, terms};
use crate::{BudgetStore, QuestionDigest, StoreOptions};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Kills, unless `RETICENT_KILLS` says otherwise.
const KILLS: u64 = 100;

/// Kills processes that charge; permits that are not on record, and other things that are wrong.
fn killed(place: &Place, folder: &Path, which: Which, kills: u64) -> Vec<String> {
    let options = StoreOptions::default().sealed_in(folder.join("seals"));
    drop(place.create(&terms(1e6, 1e-6), options.clone()).unwrap());
    let log = folder.join("log");
    let (mut dice, mut wrong, mut seen) = (Dice::new(), Vec::new(), BTreeSet::new());
    for number in 0..kills {
        let task = Task {
            place: place.clone(),
            which,
            seals: options.seals.clone(),
            charges: 0,
            epsilon: 1e-3,
            log: log.clone(),
            gate: None,
            name: format!("kill{number}"),
        };
        let before = lines(&log).len();
        let mut child = task.spawn();
        // Some anywhere, also while they start; most after a few permits and answers.
        let enough = before + 1 + dice.below(5) as usize;
        while number % 5 > 0 && lines(&log).len() < enough && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(500));
        }
        std::thread::sleep(Duration::from_micros(dice.below(25_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        if number % 10 == 9 || number + 1 == kills {
            let mut store = place.open(options.clone()).unwrap();
            // All permits, and the answers since the last look.
            let all = lines(&log);
            let new = |line: &&String| line.starts_with("permit ") || !seen.contains(*line);
            wrong.extend(lost(&mut *store, &all.iter().filter(new).cloned().collect()));
            seen = all;
            let problems = store.verify().unwrap();
            wrong.extend(problems.into_iter().map(|problem| problem.to_string()));
        }
    }
    println!("{kills} kills, {} permits and answers", seen.len());
    wrong
}

/// Permits that are not on record, and answers that are forgotten.
pub(super) fn lost(store: &mut dyn BudgetStore, log: &BTreeSet<String>) -> Vec<String> {
    let record: BTreeSet<String> = on_record(store).into_iter().collect();
    let mut wrong = Vec::new();
    for line in log {
        let (word, about) = line.split_once(' ').unwrap();
        let is_kept = match word {
            "permit" => record.contains(about),
            "answer" => {
                let found = store.remembered(&QuestionDigest::of(about.as_bytes()).into()).unwrap();
                found.is_some_and(|found| found.answer == about.as_bytes())
            }
            _ => false,
        };
        if !is_kept {
            wrong.push(format!("not on record: {line}"));
        }
    }
    wrong
}

#[test]
fn what_a_killed_process_was_permitted_is_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Sqlite(folder.path().join("hospital.budget"));
    let wrong = killed(&place, folder.path(), Which::Right, asked("RETICENT_KILLS", KILLS));
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_store_that_commits_after_the_permit_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let found = |wrong: Vec<String>| wrong.iter().any(|line| line.contains("not on record: permit"));
    // Chance decides where it is killed.
    let mut rounds = (0..20).map(|round| {
        let own = folder.path().join(round.to_string());
        std::fs::create_dir(&own).unwrap();
        killed(&Place::Sqlite(own.join("hospital.budget")), &own, Which::Late, 20)
    });
    assert!(rounds.any(found));
}

#[cfg(feature = "postgres")]
#[test]
fn what_a_killed_client_of_a_server_was_permitted_is_on_record() {
    let Some(server) = super::server::Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let wrong = killed(&server.place("kills"), folder.path(), Which::Right, asked("RETICENT_KILLS", KILLS));
    assert_eq!(wrong, Vec::<String>::new());
}
