//! The first box: the headline facts in plain words.

use super::bounds;
use super::headline;
use super::precision::{exposed, ppv};
use super::scope::release;
use super::section::list;
use super::threat::{FAMILIES, Tested};
use crate::dossier::Dossier;
use crate::markup::{Element, Markup};
use crate::words;
use reticent_audit::comparison::CertificateComparison;
use reticent_audit::findings::RateAt;

pub(super) fn summary(dossier: &Dossier, comparison: Option<&CertificateComparison>) -> Element {
    let cards = [
        ("card measured", "Measured", measured(dossier)),
        ("card declared", "Declared", declared(dossier)),
        ("card combined", "Combined", combined(dossier, comparison)),
    ];
    let card = |(class, name, facts): (&str, &str, Vec<String>)| {
        Element::of_class("div", class).child(Element::new("h3").child(name)).child(list(facts))
    };
    let cards: Markup = cards.into_iter().map(card).collect();
    Element::of_class("div", "summary")
        .with_all(&[("role", "region"), ("aria-labelledby", "summary-h")])
        .child(Element::new("h2").with("id", "summary-h").child("Summary"))
        .child(Element::of_class("div", "cards").child(cards))
}

/// The strictest rate that could be measured.
fn strictest(rates: &[RateAt]) -> Option<&RateAt> {
    let measured =
        rates.iter().filter(|rate| rate.tpr.as_ref().is_some_and(words::sound) && rate.fpr.is_finite());
    measured.min_by(|a, b| a.fpr.total_cmp(&b.fpr))
}

fn measured(dossier: &Dossier) -> Vec<String> {
    let findings = &dossier.findings;
    let mut facts = Vec::new();
    match headline(dossier) {
        None => facts.push("No attack was run.".to_owned()),
        Some(attack) => {
            let measured = &attack.performance;
            facts.push(format!(
                "Shown one member and one non-member, the attack {} picks the member with probability {} (the AUC). Guessing gives 0.5.",
                attack.name,
                words::estimate(&measured.auc)
            ));
            facts.push(match strictest(&measured.rates).and_then(|rate| Some((rate, rate.tpr.as_ref()?))) {
                Some((rate, tpr)) => format!(
                    "At a false-positive rate of {}, its true-positive rate is {}.",
                    words::percent(rate.fpr),
                    words::share(tpr)
                ),
                None => {
                    "Its true-positive rate at low false-positive rates is not measurable with these records."
                        .to_owned()
                }
            });
        }
    }
    facts.push(match (&findings.baseline.performance, findings.baseline.shift) {
        (Some(measured), Some(true)) => format!(
            "Without the model, AUC is already {}: members and non-members differ by themselves.",
            words::estimate(&measured.auc)
        ),
        (Some(measured), _) => format!("Without the model, AUC is {}.", words::estimate(&measured.auc)),
        (None, _) => "The baseline without the model is not measurable here.".to_owned(),
    });
    let run = FAMILIES.iter().filter(|family| matches!(family.tested(dossier), Tested::Run(_))).count();
    facts.push(format!(
        "{} run; {run} of {} kinds of attack were tried.",
        match findings.attacks.len() + findings.disclosures.len() {
            1 => "1 attack was".to_owned(),
            count => format!("{count} attacks were"),
        },
        FAMILIES.len()
    ));
    facts
}

fn declared(dossier: &Dossier) -> Vec<String> {
    let declared = &dossier.declared;
    let or_missing = |text: Option<String>| text.unwrap_or_else(|| words::NOT_DECLARED.to_owned());
    let mut facts = vec![match &dossier.certificate {
        Some(certificate) => format!(
            "A certificate guarantees {} at {} for every {}, against any attack.",
            words::related("ε", '≤', &words::at_most(certificate.guarantee.epsilon.get())),
            words::related("δ", '=', &words::at_most(certificate.guarantee.delta.get())),
            certificate.unit
        ),
        None => "No certificate: no differential privacy guarantee.".to_owned(),
    }];
    facts.push(format!("Release: {}.", or_missing(release(declared.release).map(str::to_owned))));
    facts.push(format!("Data subjects: {}.", or_missing(declared.subjects.map(|count| count.to_string()))));
    facts.push(format!("Attacker's prior: {}.", or_missing(declared.prior.map(words::percent))));
    facts.push(format!("Sensitivity: {}.", or_missing(declared.sensitivity.clone()).trim_end_matches('.')));
    facts
}

fn combined(dossier: &Dossier, comparison: Option<&CertificateComparison>) -> Vec<String> {
    let mut facts = Vec::new();
    let attack = headline(dossier);
    let rate = attack.and_then(|attack| strictest(&attack.performance.rates));
    let prior = super::precision::prior(dossier);
    let found = rate.zip(attack).zip(prior);
    let found =
        found.and_then(|((rate, attack), prior)| Some((rate, ppv(rate, attack.performance.prior, prior)?)));
    facts.push(match (found, prior) {
        (Some((rate, ppv)), Some(prior)) => format!(
            "At a false-positive rate of {} and a prior of {}, {} of the flags are right.",
            words::percent(rate.fpr),
            words::percent(prior),
            words::share(&ppv)
        ),
        (_, None) => "How often a flag is right: not declared, no prior was given.".to_owned(),
        _ => "How often a flag is right is not measurable with these records.".to_owned(),
    });
    let tpr = rate.and_then(|rate| Some((rate, rate.tpr.as_ref()?)));
    facts.push(match (tpr, dossier.declared.subjects) {
        (Some((rate, tpr)), Some(subjects)) => format!(
            "Expected exposed subjects at a false-positive rate of {}, beyond guessing: {}.",
            words::percent(rate.fpr),
            exposed(tpr, rate.fpr, subjects)
        ),
        (_, None) => "Expected exposed subjects: not declared, no number of subjects was given.".to_owned(),
        _ => "Expected exposed subjects: not measurable with these records.".to_owned(),
    });
    facts.push(match (&dossier.certificate, bounds::lower(dossier)) {
        (Some(certificate), Some(bound)) => {
            let (lower, level) = (words::at_least(bound.value), words::level(bound.confidence));
            let own = words::at_most(certificate.guarantee.epsilon.get());
            let (unit, whom) = (&certificate.unit, bounds::about(bound));
            let both = match comparison {
                Some(CertificateComparison::Compared { upper, .. }) => format!(
                    "ε of {whom} is at most {} by the certificate and at least {lower} by the audit ({level} confidence, if its \
                     premise holds).",
                    words::at_most(*upper)
                ),
                _ => format!(
                    "ε is at most {own} for one {unit} by the certificate, and at least {lower} for {whom} by the audit ({level} \
                     confidence, if its premise holds); the two are not about the same ε."
                ),
            };
            both + "  A small lower bound does not prove safety."
        }
        (None, Some(bound)) => format!(
            "The audit proves {} ({} confidence), if its premise holds, which it cannot check (see the section on ε); there is no \
             upper bound on ε.",
            words::related("ε", '≥', &words::at_least(bound.value)),
            words::level(bound.confidence)
        ),
        (Some(_), None) => "ε has an upper bound; no lower bound was measured.".to_owned(),
        (None, None) => "ε has neither an upper nor a lower bound.".to_owned(),
    });
    if comparison.is_some_and(CertificateComparison::is_contradiction) {
        facts.push("The two bounds on ε contradict each other: see the section on ε.".to_owned());
    }
    facts
}
