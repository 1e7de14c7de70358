//! What the numbers do not say, from what is missing.

use super::headline;
use super::markup::{Block, Body, Section};
use super::threat::FAMILIES;
use crate::dossier::{Dossier, Release};

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
        "Resistance was shown, at most, to the attacks that were run, with their access and their knowledge. Other attacks, and \
         better ones to come, may learn more."
            .to_owned(),
    ];
    let missing: Vec<&str> =
        FAMILIES.iter().filter(|family| family.run(dossier).is_empty()).map(|family| family.name).collect();
    if missing.len() == FAMILIES.len() {
        limits.push("No attack was run: nothing was measured about leakage.".to_owned());
    } else if missing.len() + 1 == FAMILIES.len() {
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
            "Thresholds of curves and tables were set on the same records that are counted. A real attacker must set them \
             without the answers, and may do worse."
                .to_owned(),
        );
    }
    let bounds = findings.attacks.iter().any(|attack| attack.epsilon_lower.is_some())
        || findings.epsilon_lower.is_some();
    if bounds {
        limits.push(
            "The lower bound on ε holds under its premise, which is stated beside it, and at its confidence; where it is small \
             nothing is proven."
                .to_owned(),
        );
    } else {
        limits.push(
            "There is no lower bound on ε. Such a bound needs members that were drawn by coins, and somebody who declares that \
             they were; otherwise rates of attacks say how well these records are told apart, not what ε is."
                .to_owned(),
        );
    }
    match (&findings.baseline.performance, findings.baseline.shift) {
        (None, _) => limits.push(
            "The baseline without a model was not measurable: part of the success of attacks may come from members and \
             non-members that differ by themselves."
                .to_owned(),
        ),
        (_, Some(true)) => limits.push(
            "Members and non-members differ without the model: the strength of attacks is overstated as a statement about the \
             model."
                .to_owned(),
        ),
        _ => {}
    }
    if findings.groups.is_empty() {
        limits.push("No groups were looked at: an average may hide a group that is exposed.".to_owned());
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
        limits.push("There is no certificate: nothing limits attacks that were not tried.".to_owned());
    }
    if declared.release == Release::Undeclared {
        limits.push(
            "The release context is not declared: which attackers are reasonably likely is open.".to_owned(),
        );
    }
    if declared.prior.is_none() {
        limits.push("No prior is declared: how often a flag is right in practice is open.".to_owned());
    }
    if declared.subjects.is_none() {
        limits.push(
            "The number of data subjects is not declared: no count of exposed people can be given."
                .to_owned(),
        );
    }
    limits
}
