//! An attack from outside the crate: one type, and one line that registers it.

use reticent_audit::attacks::{
    AUTHOR_ATTACKS, AttackKind, Candidacy, CannotRun, LIRA_ONLINE, Lira, LiraForm, ReferenceNeed,
    Requirements, STANDARD,
};
use reticent_audit::bound::{BoundMethod, BoundSettings};
use reticent_audit::metrics::MetricSettings;
use reticent_audit::{
    Attack, AttackScores, AttackSettings, AuditError, Draw, ExamineSettings, Reference, Registry,
    SignalSource, SignalValues, Signals, Study, StudyParts, examine,
};
use reticent_data::keyed_hash;

/// Scores a record by the largest of its values over layers.
#[derive(Debug)]
struct LargestLayer {
    name: &'static str,
    rank: u32,
}

const PER_LAYER: &str = "gradient-norms";

impl Attack for LargestLayer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "the largest value over layers"
    }

    fn needs(&self) -> &'static str {
        "gradient norms by layer"
    }

    fn requirements(&self) -> Requirements {
        Requirements { signals: &[PER_LAYER], references: ReferenceNeed::None }
    }

    fn knowledge(&self, _study: &Study) -> String {
        "the record and its true class".to_owned()
    }

    fn candidacy(&self) -> Option<Candidacy> {
        Some(Candidacy { rank: self.rank, plays: true, by_evidence: Some(0) })
    }

    fn score(&self, study: &Study, _settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let signal = study.signal(PER_LAYER).ok_or(CannotRun::NoSignal(PER_LAYER))?;
        let largest = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scores = signal.target().chunks_exact(signal.width()).map(largest).collect();
        Ok(AttackScores::new(scores, [("layers", signal.width().to_string())]))
    }
}

static LARGEST: LargestLayer = LargestLayer { name: "largest-layer", rank: 5 };

/// The likelihood ratio on a signal of gradients: only the name of the signal is new.
static LIRA_GRADIENT: Lira = Lira {
    name: "lira-gradient",
    form: LiraForm::Online,
    signals: &["gradient-norm"],
    is_norm: false,
    candidacy: None,
};

fn uniform(place: usize, what: &str) -> f64 {
    (keyed_hash(what, &place.to_le_bytes()) >> 11) as f64 / (1u64 << 53) as f64
}

/// Signals of gradients that tell members, and scores that say little.
fn study() -> Study {
    let records = 400;
    let signals = |inside: &[bool], what: &str| {
        let value = |record: usize, column: usize| {
            let gap = if inside[record] { 0.5 } else { 0.0 };
            uniform(3 * record + column, what) + gap
        };
        let wide = (0..records).flat_map(|record| [value(record, 0), value(record, 1)]).collect();
        let scalar = (0..records).map(|record| value(record, 2)).collect();
        let scores = (0..records).map(|record| uniform(record, &format!("score {what}"))).collect();
        Signals::of_scores(scores)
            .with(PER_LAYER, SignalValues::rows(SignalSource::Gradients, 2, wide).unwrap())
            .with("gradient-norm", SignalValues::scalar(SignalSource::Gradients, scalar))
    };
    let mask = |what: &str| -> Vec<bool> { (0..records).map(|record| uniform(record, what) < 0.5).collect() };
    let members = mask("target");
    let reference = |place: usize| {
        let name = format!("reference {place}");
        let inside = mask(&name);
        Reference { signals: signals(&inside, &name), name, outputs: None, inside }
    };
    Study::new(StudyParts {
        signals: signals(&members, "target"),
        references: (0..12).map(reference).collect(),
        draw: Draw::Coins(0.5),
        members,
        ..StudyParts::default()
    })
    .unwrap()
}

fn settings(registry: Registry) -> ExamineSettings {
    let bound = BoundSettings { fresh: Some(3), ..BoundSettings::new(1e-5, "t") };
    ExamineSettings {
        metrics: MetricSettings::default(),
        bound: Some((BoundMethod::OneRun, bound)),
        registry,
        attacks: None,
        attack: AttackSettings::default(),
        worst: 5,
        key: "t".to_owned(),
        expects_baseline: false,
    }
}

#[test]
fn one_line_adds_an_attack_to_everything_an_audit_does() {
    let registry = Registry::standard().with(&LARGEST).unwrap().with(&LIRA_GRADIENT).unwrap();
    assert_eq!(registry.names().len(), STANDARD.len() + 2);
    assert_eq!(registry.find("largest-layer").unwrap().about(), "the largest value over layers");
    let findings = examine(&study(), &settings(registry.clone()), &|_| {}).unwrap().findings;
    // It ran, under its own threat model, and references chose it before the target was looked at.
    assert_eq!(findings.attacks.len() + findings.not_run.len(), registry.names().len());
    assert_eq!(findings.headline, "largest-layer");
    assert!(findings.headline_chosen.contains("largest-layer"), "{}", findings.headline_chosen);
    let bound = findings.epsilon_lower.as_ref().unwrap();
    assert!(bound.value > 0.5, "{bound:?}");
    let found = |name: &str| findings.attacks.iter().find(|attack| attack.name == name).unwrap();
    let own = found("largest-layer");
    assert!(own.threat.access.contains("gradient") && own.settings["layers"] == "2", "{own:?}");
    assert_eq!(own.kind, AttackKind::MembershipInference);
    assert!(own.performance.auc.value > 0.75, "{}", own.performance.auc.value);
    let lira = found("lira-gradient");
    assert_eq!(lira.settings["signal"], "gradient-norm");
    assert!(lira.performance.auc.value > found(LIRA_ONLINE.name()).performance.auc.value + 0.15);
}

#[test]
fn without_its_signal_it_is_not_run_and_the_reason_is_typed() {
    let mut parts = study().into_parts();
    for reference in &mut parts.references {
        reference.signals = Signals::of_scores(reference.signals.score().unwrap().to_vec());
    }
    let attack: &'static dyn Attack = &LIRA_GRADIENT;
    let reason = attack.can_run(&Study::new(parts.clone()).unwrap()).unwrap_err();
    let reference = "reference 0".to_owned();
    assert_eq!(reason, CannotRun::ReferenceWithoutSignal { signal: "gradient-norm", reference });
    parts.signals = Signals::of_scores(parts.signals.score().unwrap().to_vec());
    let study = Study::new(parts).unwrap();
    assert_eq!(attack.can_run(&study).unwrap_err(), CannotRun::NoGradients);
    let registry = Registry::standard().with(&LARGEST).unwrap();
    let findings = examine(&study, &settings(registry), &|_| {}).unwrap().findings;
    let other = findings.not_run.iter().find(|other| other.name == "largest-layer").unwrap();
    assert_eq!(other.reason, "it needs gradients of the target, which white-box audits have");
    // A name is registered once.
    static TWIN: LargestLayer = LargestLayer { name: "lira-online", rank: 1 };
    assert!(Registry::standard().with(&TWIN).is_err());
}

/// Signals of references that tell the target's members are noticed like scores and outputs are.
#[test]
fn signals_of_references_that_foresee_members_are_used_by_nothing() {
    let mut parts = study().into_parts();
    for (place, reference) in parts.references.iter_mut().enumerate() {
        let told = |record: usize| {
            uniform(record, &format!("own {place}")) + if parts.members[record] { 0.5 } else { 0.0 }
        };
        let values = (0..parts.members.len()).map(told).collect();
        reference.signals.insert("gradient-norm", SignalValues::scalar(SignalSource::Gradients, values));
    }
    let registry = Registry::standard().with(&LIRA_GRADIENT).unwrap();
    let findings = examine(&Study::new(parts).unwrap(), &settings(registry), &|_| {}).unwrap().findings;
    let lira = findings.not_run.iter().find(|other| other.name == "lira-gradient").unwrap();
    assert!(lira.reason.contains("alone distinguish"), "{}", lira.reason);
}

/// The table of the manual is the registry's.
#[test]
fn the_manual_lists_every_attack_as_the_registry_does() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/auditing.md");
    let text = std::fs::read_to_string(page).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "| attack | needs | score |")
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let listed: Vec<String> = STANDARD
        .iter()
        .map(|attack| format!("| `{}` | {} | {} |", attack.name(), attack.needs(), attack.about()))
        .collect();
    assert_eq!(rows, listed);
}

/// The table of attacks on authors is that of the manual.
#[test]
fn the_manual_lists_every_attack_on_authors() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/auditing.md");
    let text = std::fs::read_to_string(page).unwrap();
    let rows = text.lines().skip_while(|line| *line != "| attack on authors | needs | score |").skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    let listed: Vec<String> = AUTHOR_ATTACKS
        .iter()
        .map(|attack| format!("| `{}` | {} | {} |", attack.name(), attack.needs(), attack.about()))
        .collect();
    assert_eq!(rows, listed);
}
