//! Writes that were lost: logs that are cut off, pages that are half written, full disks, flipped bytes.
//!
//! No store holds a connection between two operations, so a test may read the files themselves.

use super::child::{Task, Which};
use super::kills::lost;
use super::twins::Late;
use super::{Dice, Place, asked, lines, on_record, pure, question, terms};
use crate::{BudgetStore, SqliteBudget, StoreError, StoreOptions};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the head of a log, of the head of a frame, and of a page.
const HEAD: usize = 32;
const FRAME: usize = 24 + 4096;

/// The files at some moment.
#[derive(Clone, Default)]
struct Snapshot {
    file: Vec<u8>,
    log: Vec<u8>,
    seal: Vec<u8>,
}

fn log_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

fn snapshot(path: &Path, seals: &Path) -> Snapshot {
    let seal = fs::read_dir(seals).unwrap().next().unwrap().unwrap().path();
    Snapshot {
        file: fs::read(path).unwrap(),
        log: fs::read(log_of(path)).unwrap_or_default(),
        seal: fs::read(seal).unwrap(),
    }
}

/// A budget whose files are these.
fn restored(snapshot: &Snapshot, seal_name: &str) -> (tempfile::TempDir, Result<SqliteBudget, StoreError>) {
    let folder = tempfile::tempdir().unwrap();
    let (path, seals) = (folder.path().join("hospital.budget"), folder.path().join("seals"));
    fs::create_dir(&seals).unwrap();
    fs::write(seals.join(seal_name), &snapshot.seal).unwrap();
    fs::write(&path, &snapshot.file).unwrap();
    fs::write(log_of(&path), &snapshot.log).unwrap();
    let store = SqliteBudget::open(&path, StoreOptions::default().sealed_in(seals));
    (folder, store)
}

/// Charges one after the other, each followed by a copy of the files; then every log is cut. What is wrong.
fn cut_logs(is_late: bool) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (path, seals) = (folder.path().join("hospital.budget"), folder.path().join("seals"));
    let store = SqliteBudget::create(&path, &terms(10.0, 1e-6), StoreOptions::default().sealed_in(&seals));
    let store = store.unwrap();
    let seal_name = fs::read_dir(&seals).unwrap().next().unwrap().unwrap().file_name();
    let seal_name = seal_name.to_str().unwrap().to_owned();
    let mut store: Box<dyn BudgetStore> = if is_late { Box::new(Late::new(store)) } else { Box::new(store) };
    let mut moments = Vec::new();
    for number in 0..8_u64 {
        let about = format!("question{number}");
        let entry = store.reserve(&question(pure(0.1), &about)).unwrap();
        moments.push(snapshot(&path, &seals));
        if number % 3 == 0 {
            store.commit(entry, Some(about.as_bytes())).unwrap();
        }
    }
    let last = snapshot(&path, &seals);
    let (mut dice, mut tried, mut wrong) = (Dice::new(), 0, Vec::new());
    for (number, moment) in moments.iter().enumerate() {
        let synced = moment.log.len();
        let after = moments.get(number + 1).unwrap_or(&last).log.len();
        // What was written after the last sync is there in part, or as something else.
        let mut cuts: Vec<usize> =
            (0..).map(|frame| HEAD + frame * FRAME).take_while(|cut| *cut <= after).collect();
        cuts.retain(|cut| *cut >= synced);
        cuts.extend((0..6).map(|_| synced + dice.below((after - synced) as u64 + 1) as usize));
        for cut in cuts {
            for tail in 0..3_u64 {
                let mut log = last.log[..cut].to_vec();
                match tail {
                    0 => {}
                    1 => log.resize(after.max(cut), 0),
                    _ => log.extend((0..after.saturating_sub(cut)).map(|_| dice.below(256) as u8)),
                }
                tried += 1;
                let (_folder, store) = restored(&Snapshot { log, ..moment.clone() }, &seal_name);
                let permits = (0..=number).map(|number| format!("permit question{number}")).collect();
                match store {
                    Err(error) => wrong.push(format!("after {number}, cut at {cut}: {error}")),
                    Ok(mut store) => {
                        wrong.extend(lost(&mut store, &permits));
                        wrong.extend(store.verify().unwrap().into_iter().map(|problem| problem.to_string()));
                        if tried % 8 == 0 {
                            store.reserve(&question(pure(0.1), "one more")).unwrap();
                            assert_eq!(store.verify().unwrap(), []);
                        }
                    }
                }
            }
        }
        // A disk that lost what it said was synced: the seal tells.
        for cut in (0..).map(|frame| HEAD + frame * FRAME).take_while(|cut| *cut < synced) {
            tried += 1;
            let log = last.log[..cut].to_vec();
            let (_folder, store) = restored(&Snapshot { log, ..moment.clone() }, &seal_name);
            if !matches!(store, Err(StoreError::Altered { .. })) {
                wrong.push(format!("after {number}, less than was synced, {cut}: it opens"));
            }
        }
    }
    (tried, wrong)
}

#[test]
fn a_log_that_is_cut_off_loses_nothing_that_was_permitted() {
    let (tried, wrong) = cut_logs(false);
    println!("{tried} logs were cut off");
    assert!(tried > 200, "{tried}");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_log_that_lacks_a_permit_is_caught() {
    let (_, wrong) = cut_logs(true);
    assert!(wrong.iter().any(|line| line.contains("not on record: permit")), "{wrong:?}");
}

#[test]
fn a_file_whose_pages_are_half_written_back_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (path, seals) = (folder.path().join("hospital.budget"), folder.path().join("seals"));
    let options = StoreOptions::default().sealed_in(&seals);
    let mut store = SqliteBudget::create(&path, &terms(10.0, 1e-6), options).unwrap();
    for number in 0..40 {
        let entry = store.reserve(&question(pure(0.01), &format!("question{number}"))).unwrap();
        store.commit(entry, Some(&[7; 500])).unwrap();
    }
    let before = snapshot(&path, &seals);
    // The last connection writes the log back.
    drop(store);
    let after = snapshot(&path, &seals);
    assert!(after.log.is_empty() && after.file.len() > before.file.len());
    let seal_name = fs::read_dir(&seals).unwrap().next().unwrap().unwrap().file_name();
    let mut dice = Dice::new();
    for _ in 0..30 {
        let mut file = before.file.clone();
        file.resize(after.file.len(), 0);
        for (old, new) in file.chunks_mut(512).zip(after.file.chunks(512)) {
            if dice.below(2) == 0 {
                old.copy_from_slice(new);
            }
        }
        let (_folder, store) = restored(&Snapshot { file, ..before.clone() }, seal_name.to_str().unwrap());
        let mut store = store.unwrap();
        assert_eq!(on_record(&mut store).len(), 40);
        assert_eq!(store.verify().unwrap(), []);
    }
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_permitted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let place = Place::Sqlite(path.clone());
    drop(place.create(&terms(1e6, 1e-6), StoreOptions::default()).unwrap());
    let log = folder.path().join("log");
    let task = Task {
        place: place.clone(),
        which: Which::Right,
        seals: None,
        charges: 40,
        epsilon: 1e-3,
        log: log.clone(),
        gate: None,
        name: "full".to_owned(),
    };
    // Writes beyond a size fail, as on a disk that is full: 100 KiB for the log.
    let mut child = task.command(Some("trap '' XFSZ; ulimit -f 200")).spawn().unwrap();
    assert!(child.wait().unwrap().success());
    let log = lines(&log);
    let failed: Vec<&String> = log.iter().filter(|line| line.starts_with("failed ")).collect();
    let permits = log.iter().filter(|line| line.starts_with("permit ")).count();
    println!("{permits} permits, then: {:?}", failed.first());
    assert!(permits > 0 && !failed.is_empty() && permits + failed.len() >= 40, "{log:?}");
    assert!(failed.iter().all(|line| line.starts_with("failed R303 ")), "{failed:?}");
    let kept = log.iter().filter(|line| !line.starts_with("failed ")).cloned().collect();
    let mut store = place.open(StoreOptions::default()).unwrap();
    assert_eq!(lost(&mut *store, &kept), Vec::<String>::new());
    assert_eq!(store.verify().unwrap(), []);
    // There is room again.
    store.reserve(&question(pure(0.1), "one more")).unwrap();
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_written_is_an_error_and_nothing_is_permitted() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let path = inner.join("hospital.budget");
    let place = Place::Sqlite(path.clone());
    let mut store = place.create(&terms(1.0, 0.0), StoreOptions::default()).unwrap();
    store.reserve(&question(pure(0.5), "how many?")).unwrap();
    drop(store);
    let allow = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(folder.path(), 0o777);
    allow(&inner, 0o555);
    allow(&path, 0o444);
    let log = folder.path().join("log");
    let task = Task {
        place: place.clone(),
        which: Which::Right,
        seals: None,
        charges: 2,
        epsilon: 0.125,
        log: log.clone(),
        gate: None,
        name: "reader".to_owned(),
    };
    // Whoever may do everything may write: it is somebody else who tries.
    let plain = task.command(None);
    let mut reader = std::process::Command::new("setpriv");
    reader.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    reader.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        reader.env(name, value.unwrap());
    }
    let _ = reader.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status();
    allow(&inner, 0o755);
    allow(&path, 0o644);
    let log = lines(&log);
    let permits = log.iter().filter(|line| line.starts_with("permit ")).count();
    assert_eq!(permits, 0, "{log:?}");
    assert!(log.iter().all(|line| line.starts_with("failed R30")), "{log:?}");
    println!("{log:?}");
    let mut store = place.open(StoreOptions::default()).unwrap();
    assert_eq!(on_record(&mut *store), ["how many?"]);
}

#[test]
fn flipped_bytes_are_errors_or_have_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hospital.budget");
    let mut store = SqliteBudget::create(&path, &terms(1.0, 0.0), StoreOptions::default()).unwrap();
    for number in 0..6 {
        let entry = store.reserve(&question(pure(0.125), &format!("question{number}"))).unwrap();
        store.commit(entry, Some(b"answer")).unwrap();
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let (mut dice, mut found) = (Dice::new(), 0);
    let tries = asked("RETICENT_FLIPS", 400);
    for _ in 0..tries {
        let mut file = whole.clone();
        for _ in 0..=dice.below(4) {
            let place = dice.below(file.len() as u64) as usize;
            file[place] ^= 1 << dice.below(8);
        }
        if dice.below(8) == 0 {
            file.truncate(dice.below(file.len() as u64) as usize);
        }
        let copy = folder.path().join("copy.budget");
        for file in [copy.clone(), log_of(&copy), folder.path().join("copy.budget-shm")] {
            let _ = fs::remove_file(file);
        }
        fs::write(&copy, &file).unwrap();
        let Ok(mut store) = SqliteBudget::open(&copy, StoreOptions::default()) else {
            found += 1;
            continue;
        };
        let problems = store.verify();
        let charges = (0..4).filter(|_| store.reserve(&question(pure(0.125), "more")).is_ok()).count();
        // Two more fit. Whoever could add more had a record that verification finds wrong.
        if problems.as_ref().is_ok_and(Vec::is_empty) {
            assert!(charges <= 2, "{charges}");
        } else {
            found += 1;
        }
        let _ = (store.status(), store.remembered(&crate::QuestionDigest::of(b"question1").into()));
    }
    println!("{found} of {tries} files with flipped bytes were found to be wrong");
    assert!(found > tries / 4, "{found}");
}
