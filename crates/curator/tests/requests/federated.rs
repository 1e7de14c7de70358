//! Parties that train together: what is trained, what is refused, and what attacks on it say.

use reticent_core::{Code, Fact};
use reticent_curator::audit::{
    ActiveChoice, Audit, CanaryAudit, CanaryKind, FederatedAudit, Fitting, ModelAudit, Outcome,
};
use reticent_curator::train::{Federated, FederatedUnit, Resume, Train, Trained};
use reticent_curator::{Planned, Refusal, Request, Session};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const SCHEMA: &str = "unit = \"row\"\n[label]\ncolumn = \"y\"\ncategories = [\"a\", \"b\"]\n[columns]\n\
                      x = { bounds = [0, 1] }\nz = { bounds = [0, 1] }\n";

const AVERAGE: &str = "method = \"average\"\nrounds = 6\nlocal-epochs = 5\nlocal-batch = 8\n";
const UNIFORM: &str = "[split]\nparties = 3\nby = \"uniform\"\n";

/// Rows of a table with random labels.
fn table(path: &Path, from: usize, count: usize) {
    let mut text = "x,z,y,site\n".to_owned();
    for row in from..from + count {
        let number = |what: u64| (row as u64 * 7919 + what * 104_729) % 1009;
        let label = if number(3) % 2 == 0 { "a" } else { "b" };
        let site = ["north", "south"][row % 2];
        writeln!(text, "{},{},{label},{site}", number(1) as f64 / 1009.0, number(2) as f64 / 1009.0).unwrap();
    }
    fs::write(path, text).unwrap();
}

/// A folder with data and a schema.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("schema.toml"), SCHEMA).unwrap();
    table(&place.path().join("train.csv"), 0, 120);
    table(&place.path().join("test.csv"), 500, 120);
    place
}

/// The request of a `parties.toml`.
fn request(place: &Path, parties: &str) -> Result<Train, Refusal> {
    let file = place.join("parties.toml");
    fs::write(&file, parties).unwrap();
    let federated = Federated::read(&file)?;
    Ok(Train {
        data: federated.split.is_some().then(|| place.join("train.csv")),
        schema: Some(place.join("schema.toml")),
        validation: Some(place.join("test.csv")),
        model: Some("mlp".to_owned()),
        non_private: Some(true),
        federated: Some(federated),
        threads: Some(1),
        ..Train::default()
    })
}

fn run(request: &Train) -> Result<Trained, Refusal> {
    request.check()?.run(&mut Session::without_limit()?)
}

fn finished(request: &Train) -> reticent_curator::train::Finished {
    match run(request).unwrap() {
        Trained::Finished(run) => *run,
        Trained::Interrupted(_) => panic!("nobody stopped it"),
    }
}

#[test]
fn parties_train_in_every_way_and_keep_their_rounds() {
    let place = place();
    let place = place.path();
    table(&place.join("north.csv"), 0, 40);
    table(&place.join("south.csv"), 40, 50);
    let files = "[[party]]\nname = \"north\"\ndata = \"north.csv\"\n[[party]]\nname = \"south\"\ndata = \"south.csv\"\n";
    for (number, (method, who, parties)) in [
        (AVERAGE, UNIFORM, 3),
        (AVERAGE, "[split]\nparties = 2\nby = \"label\"\nskew = 0.9\n", 2),
        (AVERAGE, "[split]\nby = \"column\"\ncolumn = \"site\"\n", 2),
        (AVERAGE, files, 2),
        ("method = \"gradient\"\nrounds = 6\nsnapshots = [2, 6]\n", UNIFORM, 3),
    ]
    .into_iter()
    .enumerate()
    {
        let out = place.join(format!("run{number}"));
        let request = Train { out: Some(out.clone()), ..request(place, &format!("{method}{who}")).unwrap() };
        let trained = finished(&request);
        let summary = trained.federated.unwrap();
        assert_eq!((summary.parties, summary.rounds, summary.unit), (parties, 6, None));
        let kept = fs::read_dir(out.join("snapshots")).unwrap().count();
        assert_eq!(kept, if method == AVERAGE { 6 } else { 2 });
        // A run that has ended can be resumed, and stays what it is.
        let again = Resume::new(out).check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        assert!(matches!(again, Trained::Finished(again) if again.steps == 6));
    }
}

#[test]
fn a_budget_protects_records_or_parties_and_names_them() {
    let place = place();
    let private = |parties: &str, participants: Option<u64>| Train {
        non_private: None,
        epsilon: Some(4.0),
        delta: Some(1e-5),
        batch_size: participants,
        ..request(place.path(), parties).unwrap()
    };
    let gradient = format!("method = \"gradient\"\nrounds = 6\nunit = \"record\"\n{UNIFORM}");
    let records = finished(&private(&gradient, Some(40)));
    let certificate = records.certificate.unwrap();
    assert_eq!(certificate.unit, "row");
    assert!(certificate.guarantee.epsilon.get() <= 4.0 && certificate.public.contains(&Fact::TrustedServer));
    let averaged = format!("{AVERAGE}participation = 0.5\n[split]\nparties = 12\nby = \"uniform\"\n");
    let parties = finished(&private(&averaged, None));
    assert_eq!((parties.dataset_size, parties.units), (12, "parties"));
    assert_eq!(parties.federated.unwrap().unit, Some(FederatedUnit::Party));
    let certificate = parties.certificate.unwrap();
    assert_eq!(certificate.unit, "party");
    assert!(certificate.guarantee.epsilon.get() <= 4.0 && certificate.public.contains(&Fact::Units(12)));
    assert!(certificate.public.contains(&Fact::Divisor(6.0)));
}

#[test]
fn bad_parties_are_refused_with_the_field() {
    let place = place();
    let place = place.path();
    table(&place.join("same.csv"), 0, 40);
    table(&place.join("copy.csv"), 0, 40);
    table(&place.join("nobody.csv"), 0, 0);
    let files = |one: &str, two: &str| {
        format!(
            "{AVERAGE}[[party]]\nname = \"one\"\ndata = \"{one}\"\n[[party]]\nname = \"two\"\ndata = \"{two}\"\n"
        )
    };
    let wrong = |parties: &str| match request(place, parties).and_then(|request| run(&request)) {
        Err(refusal) => (refusal.code(), refusal.field().unwrap_or_default().to_owned(), refusal.to_string()),
        Ok(_) => panic!("{parties} was trained"),
    };
    for (parties, field) in [
        (format!("{AVERAGE}[split]\nparties = 1\nby = \"uniform\"\n"), "split.parties"),
        (AVERAGE.to_owned(), "split"),
        (format!("{AVERAGE}participation = 0\n{UNIFORM}"), "participation"),
        (format!("{AVERAGE}snapshots = [7]\n{UNIFORM}"), "snapshots"),
        (format!("{AVERAGE}unit = \"party\"\n{UNIFORM}"), "unit"),
        (format!("method = \"gradient\"\nrounds = 3\nlocal-epochs = 2\n{UNIFORM}"), "local_epochs"),
        (format!("{AVERAGE}[split]\nby = \"column\"\n"), "split.column"),
        (format!("{AVERAGE}[split]\nparties = 2\nby = \"uniform\"\nskew = 0.5\n"), "split.skew"),
        (files("same.csv", "same.csv"), "party"),
        (files("same.csv", "copy.csv"), "party"),
        (files("same.csv", "nobody.csv"), "party"),
        (format!("{AVERAGE}[split]\nparties = 121\nby = \"uniform\"\n"), "party"),
    ] {
        let (_, found, text) = wrong(&parties);
        assert_eq!(found, field, "{text}");
    }
    let (code, _, text) = wrong(&format!("{AVERAGE}round = 3\n{UNIFORM}"));
    assert!(code != Code::Internal && text.contains("unknown key \"round\""), "{code:?} {text}");
    // FedAvg does not protect single records, and says why.
    let records = format!("{AVERAGE}unit = \"record\"\n{UNIFORM}");
    let private = Train {
        non_private: None,
        epsilon: Some(1.0),
        delta: Some(1e-5),
        ..request(place, &records).unwrap()
    };
    let refusal = run(&private).unwrap_err();
    assert_eq!(refusal.field(), Some("unit"));
    assert!(refusal.to_string().contains("nothing bounds what one record adds"), "{refusal}");
}

#[test]
fn a_federation_is_attacked_by_its_server_and_by_a_party() {
    let place = place();
    let out = place.path().join("run");
    let parties =
        "method = \"average\"\nrounds = 10\nlocal-epochs = 10\nlocal-batch = 4\n".to_owned() + UNIFORM;
    finished(&Train {
        out: Some(out.clone()),
        learning_rate: Some(0.3),
        ..request(place.path(), &parties).unwrap()
    });
    let found = |audit: FederatedAudit| -> Result<_, Refusal> {
        let audit = Audit::Federated(FederatedAudit { model: out.clone(), threads: Some(1), ..audit });
        match audit.check()?.run(&mut Session::without_limit()?)? {
            Outcome::Found(found) => Ok(found.findings),
            Outcome::Interrupted(_) => panic!("nobody stopped it"),
        }
    };
    let passive = FederatedAudit { rounds: vec![vec![1, 2], vec![9, 10]], ..FederatedAudit::default() };
    for observer in ["server", "party-2"] {
        let findings = found(FederatedAudit { observer: observer.to_owned(), ..passive.clone() }).unwrap();
        assert_eq!(findings.headline, "snapshot-loss");
        assert!(findings.epsilon_lower.is_none(), "no coins, no bound");
        let rounds: Vec<_> = findings.observed.iter().map(|row| row.rounds.clone()).collect();
        assert_eq!(rounds, [vec![1, 2], vec![9, 10]]);
    }
    let active = |observer: &str, how| FederatedAudit {
        observer: observer.to_owned(),
        active: Some(how),
        rounds: vec![(3..=10).collect()],
        ..FederatedAudit::default()
    };
    for (audit, trajectories) in [
        (active("server", ActiveChoice::Ascent), 5),
        (active("server", ActiveChoice::Isolate), 5),
        (active("party-1", ActiveChoice::Ascent), 4),
    ] {
        let findings = found(audit).unwrap();
        assert_eq!(findings.headline, "gradient-ascent");
        assert_eq!(findings.trajectories.len(), trajectories);
    }
    for (audit, field) in [
        (FederatedAudit { observer: "party-4".to_owned(), ..passive.clone() }, "observer"),
        (FederatedAudit { victim: Some("nobody".to_owned()), ..passive.clone() }, "victim"),
        (FederatedAudit { rounds: vec![vec![11]], ..passive.clone() }, "rounds"),
        (FederatedAudit { rate: Some(0.1), ..passive.clone() }, "rate"),
        (active("party-1", ActiveChoice::Isolate), "active"),
    ] {
        assert_eq!(found(audit).unwrap_err().field(), Some(field));
    }
    let fitting = Fitting { references: 2, threads: Some(1), ..Fitting::default() };
    let audit = Audit::Model(ModelAudit { model: out.clone(), fitting, ..ModelAudit::default() });
    let Outcome::Found(audited) = audit.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap()
    else {
        panic!("nobody stopped it")
    };
    let said = audited.findings.warnings.iter().filter(|text| text.contains("trained by one party")).count();
    assert_eq!(said, 1, "references that are trained differently are named: {:?}", audited.findings.warnings);
    let canaries = |kind| {
        Audit::Canaries(CanaryAudit { model: out.clone(), kind, canaries: 10, ..CanaryAudit::default() })
    };
    assert_eq!(canaries(CanaryKind::Blank).check().err().unwrap().field(), Some("kind"));
}

#[test]
fn canary_parties_bound_the_epsilon_of_parties() {
    let place = place();
    let out = place.path().join("run");
    let parties = format!("{AVERAGE}[split]\nparties = 12\nby = \"uniform\"\n");
    finished(&Train {
        non_private: None,
        epsilon: Some(6.0),
        delta: Some(1e-5),
        out: Some(out.clone()),
        ..request(place.path(), &parties).unwrap()
    });
    let canaries =
        CanaryAudit { model: out, kind: CanaryKind::Dirac, canaries: 300, ..CanaryAudit::default() };
    let outcome =
        Audit::Canaries(canaries).check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    let Outcome::Found(found) = outcome else { panic!("nobody stopped it") };
    let bound = found.findings.epsilon_lower.unwrap();
    assert_eq!(bound.unit, reticent_audit::AuditUnit::Party);
    assert!(bound.premise.contains("each party"), "{}", bound.premise);
    assert!(found.comparison.is_some_and(|both| !both.is_contradiction()), "{}", bound.value);
}
