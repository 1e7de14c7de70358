//! Which writes are synced, and when, as `strace` sees it: the log of the database and its folder, then the permit.

use super::child::{Task, Which};
use super::{Place, lines, terms};
use crate::StoreOptions;
use std::io::Write;
use std::process::{Command, Stdio};

const CHARGES: usize = 10;

/// The calls of a process that charges: `log`, `folder` and `other` for what was synced, `seal` and `permit` for what was
/// written.
fn calls(which: Which) -> Option<Vec<&'static str>> {
    let has_strace = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    if !has_strace.is_ok_and(|status| status.success()) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: strace is not installed, so no call was counted");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Sqlite(folder.path().join("hospital.budget"));
    let seals = folder.path().join("seals");
    let options = StoreOptions::default().sealed_in(&seals);
    drop(place.create(&terms(1e3, 1e-6), options).unwrap());
    let task = Task {
        place,
        which,
        seals: Some(seals),
        charges: CHARGES as u64,
        epsilon: 1e-3,
        log: folder.path().join("permits"),
        gate: None,
        name: "traced".to_owned(),
    };
    let trace = folder.path().join("trace");
    let plain = task.command(None);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-qq", "-s", "12", "-e", "trace=fsync,fdatasync,write", "-o"]).arg(&trace);
    traced.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        traced.env(name, value.unwrap());
    }
    assert!(traced.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    assert!(lines(&task.log).len() >= 2 * CHARGES);
    let text = std::fs::read_to_string(&trace).unwrap();
    let found = text.lines().filter_map(|line| match () {
        () if line.contains("write(") && line.contains("\"permit ") => Some("permit"),
        () if line.contains("write(") && line.contains(".seal>") => Some("seal"),
        () if !line.contains("sync(") => None,
        () if line.contains(".budget-wal>") => Some("log"),
        () if line.contains(&format!("<{}>", folder.path().display())) => Some("folder"),
        () => Some("other"),
    });
    Some(found.collect())
}

#[test]
fn a_charge_is_two_synced_writes_and_both_come_before_its_permit() {
    let Some(calls) = calls(Which::Right) else { return };
    let end = calls.iter().rposition(|call| *call == "permit").unwrap();
    let charges: Vec<&[&str]> = calls[..=end].split_inclusive(|call| *call == "permit").collect();
    assert_eq!(charges.len(), CHARGES);
    for charge in &charges[1..] {
        assert_eq!(*charge, ["log", "folder", "seal", "permit"], "{calls:?}");
    }
    // The first write of all begins the log: its head is synced too.
    assert_eq!(charges[0], ["log", "folder", "log", "seal", "permit"], "{calls:?}");
}

#[test]
fn a_permit_before_its_sync_is_seen() {
    let Some(calls) = calls(Which::Late) else { return };
    assert!(calls.split_inclusive(|call| *call == "permit").any(|charge| charge == ["permit"]), "{calls:?}");
}
