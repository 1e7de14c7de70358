//! The page of a full dossier, of an empty one and of one with hostile text.

use reticent_audit::attacks::AttackKind;
use reticent_audit::findings::{
    BaselineFinding, EpsilonLower, Estimate, ExposedRecord, Exposure, GroupFinding, HeadlineChoice, NotRun,
    UserFinding,
};
use reticent_audit::{AuditUnit, Findings};
use reticent_report::{
    Declared, Dossier, Gallery, Picture, PictureStrip, ReportError, ReportProvenance, html, json, read,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static FULL: LazyLock<Dossier> = LazyLock::new(|| crate::sample::dossier().unwrap());

const SECTIONS: [&str; 16] = [
    "scope",
    "protected",
    "threats",
    "coverage",
    "strength",
    "rates",
    "precision",
    "baseline",
    "groups",
    "records",
    "users",
    "epsilon",
    "training",
    "limits",
    "origin",
    "annex",
];

fn empty() -> Dossier {
    Dossier {
        defences: None,
        findings: Findings {
            schema: reticent_audit::findings::SCHEMA.to_owned(),
            version: "0".to_owned(),
            headline: "none".to_owned(),
            headline_choice: HeadlineChoice::Rule,
            headline_chosen: String::new(),
            auc: f64::NAN,
            tpr_at_fpr: BTreeMap::new(),
            epsilon_lower: None,
            attacks: Vec::new(),
            not_run: Vec::new(),
            by_access: Vec::new(),
            disclosures: Vec::new(),
            trajectories: Vec::new(),
            observed: Vec::new(),
            baseline: BaselineFinding { performance: None, about: String::new(), shift: None },
            groups: Vec::new(),
            overfitting: Vec::new(),
            records: None,
            users: None,
            authors: None,
            key: String::new(),
            warnings: Vec::new(),
        },
        certificate: None,
        declared: Declared::default(),
        training: None,
        provenance: ReportProvenance::default(),
        inapplicable: BTreeMap::new(),
        galleries: Vec::new(),
    }
}

/// Dossiers that between them have and lack everything.
fn dossiers() -> Vec<Dossier> {
    let hollow = {
        let mut dossier = FULL.clone();
        let findings = &mut dossier.findings;
        for attack in &mut findings.attacks {
            for rate in &mut attack.performance.rates {
                (rate.tpr, rate.ppv, rate.true_positives, rate.false_positives) = (None, None, None, None);
                rate.reason = None;
            }
            attack.performance.histogram.edges.clear();
            attack.performance.auc.value = f64::NAN;
            attack.performance.roc = vec![(f64::NAN, 0.5)];
            attack.performance.prior = None;
            attack.settings.clear();
            attack.threat.knowledge.clear();
        }
        findings.headline = "nobody".to_owned();
        findings.groups.iter_mut().for_each(|group| (group.tpr, group.fpr, group.auc) = (None, None, None));
        findings.baseline.shift = None;
        findings.records =
            Some(Exposure { sorted_by: "score".into(), compared: 0, worst: vec![], reason: None });
        findings.users = Some(UserFinding { about: "mean".into(), performance: None, reason: None });
        dossier.training = Some(reticent_report::TrainingSummary::default());
        dossier
    };
    vec![FULL.clone(), empty(), hollow, hostile()]
}

fn hostile() -> Dossier {
    let bad = "<script>alert('x')</script>\" onload=\"y&z\u{202e}\u{2066}";
    let text = || bad.to_owned();
    let mut dossier = FULL.clone();
    let declared = &mut dossier.declared;
    for field in [
        &mut declared.title,
        &mut declared.model,
        &mut declared.purpose,
        &mut declared.sensitivity,
        &mut declared.author,
        &mut declared.contact,
    ] {
        *field = Some(text());
    }
    declared.notes = vec![text()];
    let findings = &mut dossier.findings;
    findings.warnings = vec![text()];
    findings.key = text();
    findings.baseline.about = text();
    findings.not_run = vec![NotRun { name: text(), kind: AttackKind::Exfiltration, reason: text() }];
    findings.headline = text();
    findings.headline_chosen = text();
    findings.by_access.iter_mut().for_each(|own| (own.attack, own.chosen) = (text(), text()));
    for attack in &mut findings.attacks {
        (attack.name, attack.about) = (text(), text());
        (attack.threat.access, attack.threat.goal) = (text(), text());
        attack.settings.insert(text(), text());
        attack.performance.rates[0].reason = Some(text());
    }
    let lower = findings.epsilon_lower.as_mut().unwrap();
    (lower.method, lower.premise, lower.correction) = (text(), text(), text());
    lower.counts.insert(text(), 1);
    let estimate = Estimate { value: 0.5, lower: 0.4, upper: 0.6, confidence: 0.95 };
    findings.groups = vec![GroupFinding {
        column: text(),
        group: text(),
        members: 1,
        non_members: 1,
        tpr: Some(estimate),
        fpr: None,
        auc: None,
        advantage: None,
        others: Some(estimate),
        reason: Some(text()),
    }];
    let record = ExposedRecord { place: 1, separation: None, accuracy: None };
    findings.records =
        Some(Exposure { sorted_by: text(), compared: 1, worst: vec![record], reason: Some(text()) });
    let certificate = dossier.certificate.as_mut().unwrap();
    (certificate.unit, certificate.accountant, certificate.public) = (text(), text(), vec![text().into()]);
    dossier.provenance.files[0].name = text();
    dossier.provenance.command = Some(text());
    dossier.provenance.seeds.insert(text(), text());
    dossier
}

/// Opening and closing tags fit each other; returns every attribute as (tag, name, value).
fn check_tags(page: &str) -> Vec<(String, String, String)> {
    let void = ["meta", "br", "hr", "img", "link", "input"];
    let (mut open, mut attributes): (Vec<String>, Vec<_>) = (Vec::new(), Vec::new());
    let start = page.find("<html").unwrap();
    let mut rest = &page[start..];
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap();
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}>");
            continue;
        }
        let closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let name = tag.split_whitespace().next().unwrap().to_owned();
        let mut inside = &tag[name.len()..];
        while let Some((key, after)) = inside.split_once("=\"") {
            let (value, after) = after.split_once('"').unwrap();
            attributes.push((name.clone(), key.trim().to_owned(), value.to_owned()));
            inside = after;
        }
        assert!(inside.trim().is_empty(), "<{tag}>");
        if !closed && !void.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    attributes
}

#[test]
fn the_structure_is_whole() {
    for (place, dossier) in dossiers().iter().enumerate() {
        let page = html(dossier);
        let attributes = check_tags(&page);
        let values = |name: &'static str| {
            attributes.iter().filter(move |(_, key, _)| key == name).map(|(_, _, value)| value.as_str())
        };
        let ids: Vec<&str> = values("id").collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "ids of dossier {place}");
        let order: Vec<usize> = SECTIONS
            .iter()
            .map(|id| page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("{id}")))
            .collect();
        assert!(order.is_sorted());
        for link in values("href") {
            assert!(unique.contains(link.strip_prefix('#').unwrap()), "{link}");
        }
        for labels in values("aria-labelledby") {
            assert!(labels.split(' ').all(|label| unique.contains(label)), "{labels}");
        }
        assert_eq!(page.matches("<h1").count(), 1);
    }
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    for dossier in dossiers() {
        let page = html(&dossier);
        for (tag, key, value) in check_tags(&page) {
            assert!(!["script", "img", "link", "iframe", "object"].contains(&tag.as_str()), "{tag}");
            assert!(key != "src" && !key.starts_with("on") && key != "style", "{key}={value}");
        }
        assert!(
            !page.contains("http:")
                && !page.contains("https:")
                && !page.contains("url(")
                && !page.contains("@import")
        );
    }
}

#[test]
fn pictures_of_records_are_on_the_page_that_is_given_them_and_nowhere_else() {
    let mut dossier = FULL.clone();
    let picture = |shade: u8| Picture::new(2, 2, vec![shade; 4]).unwrap();
    let label = "<img src=x onerror=alert(1)>".to_owned();
    dossier.galleries = vec![Gallery {
        disclosure: dossier.findings.disclosures[0].name.clone(),
        condition: "batch of 4".to_owned(),
        strips: vec![PictureStrip { label, pictures: vec![picture(0), picture(255)] }],
    }];
    let page = html(&dossier);
    let attributes = check_tags(&page);
    let sources: Vec<&String> =
        attributes.iter().filter(|(_, key, _)| key == "src").map(|(_, _, value)| value).collect();
    assert_eq!(sources.len(), 2);
    assert!(sources.iter().all(|source| source.starts_with("data:image/png;base64,iVBORw0KGgo")));
    assert!(page.contains("declared that these records may be shown"));
    assert_eq!(json(&dossier), json(&FULL));
    // Those of an attack that is not in the findings are not shown.
    dossier.findings.disclosures.clear();
    assert!(!html(&dossier).contains("<img"));
}

#[test]
fn no_cell_is_empty_and_no_number_is_none() {
    for (place, dossier) in dossiers().iter().enumerate() {
        let page = html(dossier);
        for hole in ["NaN", ">inf<", "<tbody>\n</tbody>", ">None<"] {
            assert!(!page.contains(hole), "{hole} in dossier {place}");
        }
        for tag in ["td", "th", "dd", "dt", "li", "p", "caption", "h2", "h3", "figcaption"] {
            let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
            let inside = page.split(&open).skip(1).filter_map(|rest| rest.split_once('>'));
            let hollow = inside.map(|(_, rest)| rest.trim_start()).find(|rest| rest.starts_with(&close));
            assert!(hollow.is_none(), "<{tag}> in dossier {place}");
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = html(&hostile());
    assert!(!page.contains("<script") && !page.contains("onload=\"y") && !page.contains("alert('x')"));
    assert!(page.contains("&lt;script&gt;"));
    // Text that turns itself around is shown as it stands, on the page and in its JSON.
    for text in [&page, &json(&hostile())] {
        assert!(!text.contains(['\u{202e}', '\u{2066}']));
    }
    assert!(page.contains("\\u{202e}\\u{2066}"));
}

#[test]
fn what_is_missing_is_said() {
    let page = html(&empty());
    for words in ["not declared", "not run", "not measurable", "No certificate", "No attack was run"] {
        assert!(page.contains(words), "{words}");
    }
    let full = html(&FULL);
    for (family, outcome) in [
        ("attribute inference", "not run: 'reticent attack attribute' runs such an attack"),
        ("exfiltration", "not run"),
        ("regurgitation", "does not apply: the model outputs scores of classes"),
        ("model inversion", "not run"),
        ("reconstruction", "run: gradient-inversion (mean peak signal-to-noise ratio (dB), batch of 4: 17.1"),
    ] {
        let row = full.split("<tr>").find(|row| row.contains(&format!(">{family}</th>"))).unwrap();
        let row = row.replace("&#39;", "'");
        assert!(row.contains(outcome), "{family}: {row}");
    }
    assert!(full.contains("Nothing is known here about attribute inference, exfiltration, model inversion."));
    let member = full.split("<tr>").find(|row| row.contains(">membership inference</th>")).unwrap();
    assert!(member.contains("run: lira-online"));
    let suppressed = &FULL.findings.attacks[0].performance.rates[0];
    assert!(suppressed.tpr.is_none() && full.contains(suppressed.reason.as_deref().unwrap()));
}

#[test]
fn epsilon_is_rounded_to_the_safe_side() {
    let mut dossier = FULL.clone();
    let certificate = dossier.certificate.as_mut().unwrap();
    certificate.guarantee.epsilon = reticent_core::Epsilon::new(3.261_59).unwrap();
    dossier.findings.epsilon_lower.as_mut().unwrap().value = 1.279_9;
    let page = html(&dossier);
    assert!(page.contains("ε\u{a0}≤\u{a0}3.262") && page.contains("ε\u{a0}≥\u{a0}1.27 "));
    assert!(!page.contains("contradict"));
    dossier.findings.epsilon_lower.as_mut().unwrap().value = 3.3;
    assert!(html(&dossier).contains("contradict each other"));
    // At a smaller δ, or for users or swapped records, a larger ε contradicts nothing.
    let bound = dossier.findings.epsilon_lower.clone().unwrap();
    let with = |change: fn(&mut EpsilonLower)| {
        let mut dossier = dossier.clone();
        change(dossier.findings.epsilon_lower.as_mut().unwrap());
        html(&dossier)
    };
    assert!(bound.delta >= 1e-5);
    assert!(!with(|bound| bound.delta = 1e-7).contains("contradict"));
    let users = with(|bound| (bound.unit, bound.unit_records) = (AuditUnit::User, 20));
    assert!(
        !users.contains("contradict") && users.contains("all records of one user, at most 20 (add-remove)")
    );
    let unknown = with(|bound| bound.unit = AuditUnit::Unknown);
    assert!(!unknown.contains("contradict") && unknown.contains("The two bounds are not compared"));
}

/// AUC 0.5 exposes nobody: what guessing finds is not exposure.
#[test]
fn guessing_exposes_nobody_and_the_declared_prior_is_used() {
    let mut dossier = FULL.clone();
    dossier.declared.subjects = Some(32_561);
    dossier.declared.prior = Some(0.5);
    for rate in &mut dossier.findings.attacks[0].performance.rates {
        let fpr = rate.fpr;
        rate.tpr = Some(Estimate { value: fpr, lower: 0.5 * fpr, upper: 1.5 * fpr, confidence: 0.95 });
    }
    let page = html(&dossier);
    assert!(page.contains("0 of 32561 (95\u{a0}%:\u{a0}0\u{a0}to\u{a0}163)"), "at 1 % false positives");
    // At even odds and a true-positive rate that is the false-positive rate, every second flag is right.
    assert!(page.contains("prior of 50\u{a0}%") && page.contains("50\u{a0}% (95"));
    for attack in &mut dossier.findings.attacks {
        attack.performance.prior = None;
    }
    assert!(html(&dossier).contains("50\u{a0}% (95"));
}

#[test]
fn nothing_that_is_shared_tells_a_member() {
    let (page, data) = (html(&FULL), json(&FULL));
    assert!(!data.contains("\"member\"") && !data.contains("\"score\""));
    assert!(page.contains("private.json") && !page.contains("visit-"));
}

#[test]
fn the_page_says_what_is_known_of_the_choice_of_the_headline() {
    let mut dossier = FULL.clone();
    assert!(html(&dossier).contains("A fixed rule chose it"));
    dossier.findings.headline_choice = HeadlineChoice::Name;
    let page = html(&dossier);
    assert!(page.contains("asked for it by name") && !page.contains("before any result was seen"));
}

#[test]
fn json_comes_back_and_other_layouts_do_not() {
    let text = json(&FULL);
    assert_eq!(read(&text).unwrap(), *FULL);
    let error = read(&text.replacen("reticent-report/1", "reticent-report/9", 1)).unwrap_err();
    assert!(matches!(error, ReportError::Schema { .. }) && error.to_string().contains("reticent-report/9"));
    let error = read(&text.replacen("reticent-audit/2", "reticent-audit/9", 1)).unwrap_err();
    assert!(error.to_string().contains("reticent-audit/9"), "{error}");
    assert!(
        matches!(read("{}"), Err(ReportError::Schema { .. }))
            && matches!(read("["), Err(ReportError::Json(_)))
    );
    let mut odd = FULL.clone();
    odd.declared.prior = Some(1.5);
    let error = read(&json(&odd)).unwrap_err().to_string();
    assert!(error.contains("prior = 1.5"), "{error}");
}

#[test]
fn parties_that_train_together_have_a_section_of_their_own() {
    use reticent_audit::disclosure::{ObservedRounds, Trajectory, TrajectoryLine};
    assert!(!html(&FULL).contains("id=\"federated\""), "an audit of one party has none");
    let estimate = |value: f64| Estimate { value, lower: value - 0.1, upper: value + 0.1, confidence: 0.95 };
    let line = |label: &str, value: Vec<f64>| TrajectoryLine {
        label: label.to_owned(),
        records: 20,
        lower: value.iter().map(|value| 0.5 * value).collect(),
        upper: value.iter().map(|value| 2.0 * value).collect(),
        value,
    };
    let mut dossier = FULL.clone();
    dossier.findings.observed = vec![ObservedRounds {
        rounds: vec![6, 7, 8],
        attack: "snapshot-learned".to_owned(),
        records: 200,
        accuracy: estimate(0.75),
        auc: estimate(0.8),
    }];
    dossier.findings.trajectories = vec![Trajectory {
        about: "Loss <of> targets".to_owned(),
        unit: "round".to_owned(),
        what: "median loss".to_owned(),
        at: vec![1.0, 1.5, 2.0],
        lines: vec![
            line("members", vec![0.5, 9.0, 0.02]),
            line("non-members", vec![0.6, f64::NAN, 1.5]),
            // What somebody else wrote may not fit together.
            line("odd", vec![0.6]),
        ],
    }];
    let page = html(&dossier);
    for part in
        ["id=\"federated\"", "6-8", "75", "Loss &lt;of&gt; targets", "0.02 (0.01 to 0.04)", "1.5 (0.75 to 3)"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("NaN"));
    assert_eq!(
        read(&json(&Dossier {
            findings: Findings { trajectories: Vec::new(), ..dossier.findings.clone() },
            ..dossier.clone()
        }))
        .unwrap()
        .findings
        .observed,
        dossier.findings.observed
    );
}

#[test]
fn what_the_weights_reveal_stands_beside_what_predictions_reveal() {
    let page = html(&FULL);
    assert!(page.contains("By what the attacker sees") && page.contains("weights, by gradients"));
    let mut dossier = FULL.clone();
    dossier.findings.by_access.clear();
    assert!(!html(&dossier).contains("By what the attacker sees"));
}
