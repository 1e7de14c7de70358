//! What the numbers do not say, from what is missing.

use super::headline;
use super::section::{Block, Body, Section};
use super::threat::{FAMILIES, Family, Tested};
use crate::dossier::{Dossier, ModelAccess};

/// Fewer non-members than this cannot show a false-positive rate of 0.1 % with some certainty.
const FEW: u64 = 10_000;

pub(super) fn limits(dossier: &Dossier) -> Section {
    let mut body = Body::default();
    body.p("Read these before any number is quoted.");
    body.list(&limitations(dossier));
    let warnings = &dossier.findings.warnings;
    if !warnings.is_empty() {
        body.h3("Warnings of the audit");
        body.list(warnings);
    }
    Section { id: "limits", title: "Limitations", block: Block::About, body }
}

fn limitations(dossier: &Dossier) -> Vec<String> {
    let Dossier { findings, declared, .. } = dossier;
    let mut limits = vec![
        "The report shows resistance, at most, to the attacks that were run, with their access and knowledge. Other and future attacks \
         may learn more."
            .to_owned(),
    ];
    let is_missing = |family: &&Family| matches!(family.tested(dossier), Tested::NotRun(_));
    let missing: Vec<&str> =
        FAMILIES.iter().filter(|family| is_missing(family)).map(|family| family.name).collect();
    let run = FAMILIES.iter().filter(|family| matches!(family.tested(dossier), Tested::Run(_))).count();
    if run == 0 {
        limits.push("No attack was run: leakage was not measured.".to_owned());
    } else if run == 1 && !missing.is_empty() {
        limits.push(format!(
            "Only one kind of attack was run. Nothing is known here about {}.",
            missing.join(", ")
        ));
    } else if !missing.is_empty() {
        limits.push(format!("Nothing is known here about {}.", missing.join(", ")));
    }
    if let Some(attack) = headline(dossier) {
        let measured = &attack.performance;
        let suppressed = measured.rates.iter().filter(|rate| rate.tpr.is_none()).count();
        if suppressed > 0 {
            limits.push(format!(
                "{suppressed} of {} rates of the headline attack could not be measured: there are too few records for such low \
                 false-positive rates.",
                measured.rates.len()
            ));
        }
        if measured.non_members < FEW {
            limits.push(format!(
                "With {} non-members, a false-positive rate of 0.1 % allows {} of them to be flagged: such rates are coarse.",
                measured.non_members,
                measured.non_members / 1000
            ));
        }
        limits.push(
            "Thresholds of curves and tables were chosen on the same records that are counted. A real attacker has to choose them without \
             knowing membership, and may do worse."
                .to_owned(),
        );
    }
    let bounds = findings.attacks.iter().any(|attack| attack.epsilon_lower.is_some())
        || findings.epsilon_lower.is_some();
    if bounds {
        limits.push(
            "The lower bound on ε holds under its stated premise and at its stated confidence; a small lower bound proves nothing."
                .to_owned(),
        );
    } else {
        limits.push(
            "There is no lower bound on ε. Such a bound needs membership that was decided by coin flips, and a declaration of that; \
             otherwise the rates say how well these records are separated, and nothing about ε."
                .to_owned(),
        );
    }
    match (&findings.baseline.performance, findings.baseline.shift) {
        (None, _) => limits.push(
            "The baseline without a model was not measurable: part of the success of attacks may come from differences between members and non-members."
                .to_owned(),
        ),
        (_, Some(true)) => limits.push(
            "Members and non-members differ without the model: the attacks overstate what the model leaks."
                .to_owned(),
        ),
        _ => {}
    }
    if findings.groups.is_empty() {
        limits.push("No groups were examined: an average may hide an exposed group.".to_owned());
    } else if findings.groups.iter().any(|group| group.tpr.is_none()) {
        limits.push("Some groups are too small for a number: nothing is known about them.".to_owned());
    }
    if findings.records.as_ref().is_none_or(|records| records.worst.is_empty()) {
        limits.push(
            "Single records were not ranked: EDPB Opinion 28/2024 asks about any data subject, not about the average."
                .to_owned(),
        );
    }
    if findings.users.as_ref().is_none_or(|users| users.performance.is_none()) {
        limits.push("Nothing was measured per person: people with several records may be more exposed than a record is.".to_owned());
    }
    if dossier.certificate.is_none() {
        limits.push("There is no certificate: nothing limits attacks that were not run.".to_owned());
    }
    if declared.release == ModelAccess::Undeclared {
        limits.push(
            "The release context is not declared: it is open which attackers are reasonably likely."
                .to_owned(),
        );
    }
    if declared.prior.is_none() {
        limits.push("No prior is declared: it is open how often a flag is right in practice.".to_owned());
    }
    if declared.subjects.is_none() {
        limits.push(
            "The number of data subjects is not declared: no count of exposed people can be given."
                .to_owned(),
        );
    }
    limits
}
