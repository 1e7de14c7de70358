//! Many processes at once: never more than the limit, and nothing lost.

use super::child::{Task, Which};
use super::{Place, lines, on_record, terms};
use crate::StoreOptions;
use std::collections::BTreeSet;
use std::path::Path;

/// Processes at once.
const PROCESSES: u64 = 100;

/// Charges of each.
const CHARGES: u64 = 4;

/// Charges that fit.
const FITTING: usize = 64;

/// Lets processes charge the same budget at once; what is wrong afterwards.
pub(super) fn race(place: &Place, folder: &Path, which: Which, processes: u64) -> Vec<String> {
    let seals = Some(folder.join("seals"));
    let mut options = StoreOptions::default();
    options.seals.clone_from(&seals);
    drop(place.create(&terms(1.0, 0.0), options.clone()).unwrap());
    let (log, gate) = (folder.join("log"), folder.join("gate"));
    let task = |number: u64| Task {
        place: place.clone(),
        which,
        seals: seals.clone(),
        charges: CHARGES,
        epsilon: 1.0 / FITTING as f64,
        log: log.clone(),
        gate: Some(gate.clone()),
        name: format!("process{number}"),
    };
    let mut children: Vec<_> = (0..processes).map(|number| task(number).spawn()).collect();
    while lines(&gate.with_extension("ready")).len() < processes as usize {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    std::fs::write(&gate, "").unwrap();
    let mut wrong: Vec<String> = Vec::new();
    for child in &mut children {
        if !child.wait().unwrap().success() {
            wrong.push("a process failed".to_owned());
        }
    }
    let mut store = place.open(options).unwrap();
    let log = lines(&log);
    let of = |word: &str| -> BTreeSet<String> {
        log.iter().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
    };
    let (permits, refused, failed) = (of("permit "), of("refused "), of("failed "));
    let record = on_record(&mut *store);
    if record.len() > FITTING {
        wrong.push(format!("{} charges are on record, and {FITTING} fit", record.len()));
    }
    if record.len() < FITTING {
        wrong.push(format!("{} charges are on record, and {FITTING} were asked for", record.len()));
    }
    if record.iter().cloned().collect::<BTreeSet<_>>() != permits || record.len() != permits.len() {
        wrong.push(format!("{} permits and {} entries", permits.len(), record.len()));
    }
    if permits.len() + refused.len() != (processes * CHARGES) as usize {
        wrong.push(format!("{} permits and {} refusals", permits.len(), refused.len()));
    }
    wrong.extend(failed);
    wrong.extend(store.verify().unwrap().into_iter().map(|problem| problem.to_string()));
    wrong
}

#[test]
fn a_hundred_processes_stay_within_the_limit_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Sqlite(folder.path().join("hospital.budget"));
    assert_eq!(race(&place, folder.path(), Which::Right, PROCESSES), Vec::<String>::new());
}

#[test]
fn a_state_that_is_read_outside_of_the_transaction_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Sqlite(folder.path().join("hospital.budget"));
    let wrong = race(&place, folder.path(), Which::Outside, 12);
    assert!(
        wrong.iter().any(|line| line.contains("not what the events give") || line.contains("fit")),
        "{wrong:?}"
    );
}

#[cfg(feature = "postgres")]
#[test]
fn a_hundred_processes_share_a_server() {
    let Some(server) = super::server::Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let wrong = race(&server.place("race"), folder.path(), Which::Right, PROCESSES);
    assert_eq!(wrong, Vec::<String>::new());
}
