//! The first box: the headline facts in plain words.

use super::bounds;
use super::headline;
use super::precision::{exposed, ppv};
use super::scope::release;
use super::threat::FAMILIES;
use crate::dossier::Dossier;
use crate::escape::escaped;
use crate::words;
use reticent_audit::comparison::Comparison;
use reticent_audit::findings::RateAt;

pub(super) fn summary(dossier: &Dossier, comparison: Option<&Comparison>) -> String {
    let cards = [
        ("measured", "Measured", measured(dossier)),
        ("declared", "Declared", declared(dossier)),
        ("combined", "Combined", combined(dossier, comparison)),
    ];
    let cards: String = cards
        .into_iter()
        .map(|(class, name, facts)| {
            let facts: String = facts.iter().map(|fact| format!("<li>{}</li>\n", escaped(fact))).collect();
            format!("<div class=\"card {class}\">\n<h3>{name}</h3>\n<ul>\n{facts}</ul>\n</div>\n")
        })
        .collect();
    format!(
        "<div class=\"summary\" role=\"region\" aria-labelledby=\"summary-h\">\n<h2 id=\"summary-h\">In short</h2>\n\
         <div class=\"cards\">\n{cards}</div>\n</div>\n"
    )
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
                "Shown one member and one non-member, the attack {} picks the member with probability {}. Guessing has 0.5.",
                attack.name,
                words::estimate(&measured.auc)
            ));
            facts.push(match strictest(&measured.rates).and_then(|rate| Some((rate, rate.tpr.as_ref()?))) {
                Some((rate, tpr)) => format!(
                    "While wrongly accusing at most {} of non-members it finds {} of members.",
                    words::percent(rate.fpr),
                    words::share(tpr)
                ),
                None => "How many members it finds at few false alarms is not measurable with these records."
                    .to_owned(),
            });
        }
    }
    facts.push(match (&findings.baseline.performance, findings.baseline.shift) {
        (Some(measured), Some(true)) => format!(
            "Without the model, AUC is already {}: members and non-members differ by themselves.",
            words::estimate(&measured.auc)
        ),
        (Some(measured), _) => format!("Without the model, AUC is {}.", words::estimate(&measured.auc)),
        (None, _) => "What is told without the model is not measurable here.".to_owned(),
    });
    let run = FAMILIES.iter().filter(|family| !family.run(dossier).is_empty()).count();
    facts.push(format!(
        "{} run; {run} of {} kinds of attack were tried.",
        match findings.attacks.len() {
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
            "A certificate claims {} at {} for every {}, whatever the attack.",
            words::related("ε", '≤', &words::at_most(certificate.guarantee.epsilon.get())),
            words::related("δ", '=', &words::at_most(certificate.guarantee.delta.get())),
            certificate.unit
        ),
        None => "No certificate: no differential privacy is claimed.".to_owned(),
    }];
    facts.push(format!("Release: {}.", or_missing(release(declared.release).map(str::to_owned))));
    facts.push(format!("Data subjects: {}.", or_missing(declared.subjects.map(|count| count.to_string()))));
    facts.push(format!("Attacker's prior: {}.", or_missing(declared.prior.map(words::percent))));
    facts.push(format!("Sensitivity: {}.", or_missing(declared.sensitivity.clone()).trim_end_matches('.')));
    facts
}

fn combined(dossier: &Dossier, comparison: Option<&Comparison>) -> Vec<String> {
    let mut facts = Vec::new();
    let attack = headline(dossier);
    let rate = attack.and_then(|attack| strictest(&attack.performance.rates));
    let prior = super::precision::prior(dossier);
    let found = rate.zip(attack).zip(prior);
    let found =
        found.and_then(|((rate, attack), prior)| Some((rate, ppv(rate, attack.performance.prior, prior)?)));
    facts.push(match (found, prior) {
        (Some((rate, ppv)), Some(prior)) => format!(
            "At {} false positives and a prior of {}, {} of flags are right.",
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
            "Expected exposed subjects at {} false positives, beyond guessing: {}.",
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
                Some(Comparison::Compared { upper, .. }) => format!(
                    "ε of {whom} is at most {} by the certificate and at least {lower} by the audit ({level} confidence, if its \
                     premise holds).",
                    words::at_most(*upper)
                ),
                _ => format!(
                    "ε is at most {own} for one {unit} by the certificate, and at least {lower} for {whom} by the audit ({level} \
                     confidence, if its premise holds); the two are not about the same ε."
                ),
            };
            both + " A small lower bound is no proof of safety."
        }
        (None, Some(bound)) => format!(
            "The audit proves {} ({} confidence), if its premise holds, which it cannot check (see the section on ε); nothing limits ε \
             from above.",
            words::related("ε", '≥', &words::at_least(bound.value)),
            words::level(bound.confidence)
        ),
        (Some(_), None) => "ε is bounded from above only; no bound from below was measured.".to_owned(),
        (None, None) => "ε is bounded from neither side.".to_owned(),
    });
    if comparison.is_some_and(Comparison::is_contradiction) {
        facts.push("The two sides of ε contradict each other: see the section on ε.".to_owned());
    }
    facts
}
