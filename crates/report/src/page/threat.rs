//! The threat models, what was run and what was not.

use super::disclosure::brief;
use super::section::{Block, Body, Cell, Section, settings};
use crate::dossier::Dossier;
use crate::words;
use reticent_audit::Findings;
use reticent_audit::attacks::AttackKind;
use reticent_audit::findings::{AttackFinding, HeadlineChoice};

/// A kind of attack of EDPB Opinion 28/2024, paragraph 55, and the question it asks.
pub(super) struct Family {
    pub(super) name: &'static str,
    kind: AttackKind,
    question: &'static str,
}

impl Family {
    const fn new(kind: AttackKind, question: &'static str) -> Self {
        Self { name: kind.name(), kind, question }
    }

    /// What is known of this kind.
    pub(super) fn tested<'a>(&self, dossier: &'a Dossier) -> Tested<'a> {
        let findings = &dossier.findings;
        let attacks: Vec<&AttackFinding> =
            findings.attacks.iter().filter(|attack| attack.kind == self.kind).collect();
        let named = attacks.iter().map(|attack| match attack.name == findings.headline {
            true => format!(
                "{} (the headline attack: AUC {})",
                attack.name,
                words::estimate(&attack.performance.auc)
            ),
            false => attack.name.clone(),
        });
        let disclosures = findings.disclosures.iter().filter(|disclosure| disclosure.kind == self.kind);
        let run: Vec<String> = named.chain(disclosures.map(brief)).collect();
        let reason = || findings.not_run.iter().find(|other| other.kind == self.kind);
        match (run.is_empty(), dossier.inapplicable.get(&self.kind)) {
            (false, _) => Tested::Run(run),
            (true, Some(why)) => Tested::Inapplicable(why),
            (true, None) => Tested::NotRun(reason().map_or(self.remedy(), |other| &other.reason)),
        }
    }

    /// What to say of a kind that no attack was run of.
    fn remedy(&self) -> &'static str {
        match self.kind {
            AttackKind::AttributeInference => "'reticent attack attribute' runs such an attack",
            AttackKind::ModelInversion | AttackKind::Reconstruction => {
                "'reticent attack reconstruct' runs such an attack"
            }
            _ => "no attack of this kind was part of this audit",
        }
    }
}

/// What is known of a kind of attack.
pub(super) enum Tested<'a> {
    /// What was run and found.
    Run(Vec<String>),
    /// It does not apply to the model, and why.
    Inapplicable(&'a str),
    /// It was not run, and why.
    NotRun(&'a str),
}

/// All of them; those that no attack belongs to are shown as not run.
pub(super) const FAMILIES: [Family; AttackKind::ALL.len()] = [
    Family::new(AttackKind::MembershipInference, "was this record, or this person, in the training data?"),
    Family::new(AttackKind::AttributeInference, "what is the missing attribute of a known person?"),
    Family::new(AttackKind::Exfiltration, "can training data be extracted?"),
    Family::new(AttackKind::Regurgitation, "does the model repeat training data in its output?"),
    Family::new(AttackKind::ModelInversion, "what does a typical input of a class or person look like?"),
    Family::new(AttackKind::Reconstruction, "can whole training records be rebuilt from the model?"),
];

pub(super) fn threats(dossier: &Dossier) -> Section {
    let Findings { attacks, disclosures, .. } = &dossier.findings;
    let mut body = Body::default();
    if attacks.is_empty() && disclosures.is_empty() {
        body.missing("No attack was run.");
    } else {
        body.p("The results of an attack are for an attacker with this access and this knowledge. A stronger attacker may do better.");
        let named = attacks.iter().map(|attack| (&attack.name, &attack.threat));
        let named = named.chain(disclosures.iter().map(|attack| (&attack.name, &attack.threat)));
        let rows: Vec<Vec<Cell>> = named
            .map(|(name, threat)| {
                [name, &threat.access, &threat.knowledge, &threat.goal].into_iter().map(Cell::text).collect()
            })
            .collect();
        body.table(
            "Threat model of each attack",
            &["Attack", "Access to the model", "Knowledge", "Goal"],
            &rows,
        );
        let rows: Vec<Vec<Cell>> = attacks
            .iter()
            .map(|attack| {
                vec![
                    Cell::text(&attack.name),
                    Cell::text(&attack.about),
                    Cell::text(settings(&attack.settings)),
                ]
            })
            .collect();
        body.table("What each attack does", &["Attack", "How it works", "Settings"], &rows);
    }
    Section { id: "threats", title: "Threat model of each attack", block: Block::Measured, body }
}

pub(super) fn coverage(dossier: &Dossier) -> Section {
    let findings = &dossier.findings;
    let mut body = Body::default();
    body.p("Testing is evidence of resistance to the attacks that were run, and to no others. Attacks that were not run are listed as \
            well.");
    let rows: Vec<Vec<Cell>> = FAMILIES
        .iter()
        .map(|family| {
            let outcome = match family.tested(dossier) {
                Tested::Run(run) => Cell::text(format!("run: {}", run.join(", "))),
                Tested::Inapplicable(why) => Cell::text(format!("does not apply: {why}")),
                Tested::NotRun(why) => Cell::Missing(format!("not run: {why}")),
            };
            vec![Cell::text(family.name), Cell::text(family.question), outcome]
        })
        .collect();
    let head = ["Kind of attack", "The question", "In this audit"];
    body.table("Kinds of attack named in EDPB Opinion 28/2024, paragraph 55", &head, &rows);
    let mut rows: Vec<Vec<Cell>> = findings
        .attacks
        .iter()
        .map(|attack| {
            let counts = &attack.performance;
            let outcome = format!("run on {} members and {} non-members", counts.members, counts.non_members);
            vec![Cell::text(&attack.name), Cell::text(outcome)]
        })
        .collect();
    rows.extend(findings.disclosures.iter().map(|disclosure| {
        vec![Cell::text(&disclosure.name), Cell::text(format!("run on {} records", disclosure.records))]
    }));
    rows.extend(findings.not_run.iter().map(|other| {
        let reason = if other.reason.trim().is_empty() { "no reason was recorded" } else { &other.reason };
        vec![Cell::text(&other.name), Cell::Missing(format!("not run: {reason}"))]
    }));
    if rows.is_empty() {
        body.missing("No attack was run, and none was recorded as left out.");
    } else {
        body.table("Attacks of this audit, one by one", &["Attack", "What happened"], &rows);
    }
    if let Some(attack) = super::headline(dossier) {
        if !findings.headline_chosen.is_empty() {
            body.p(&format!("How the headline attack was chosen: {}.", findings.headline_chosen));
        }
        if attack.name == findings.headline {
            let how = match findings.headline_choice {
                HeadlineChoice::Rule => {
                    "A fixed rule chose it before any score of the target was computed, so its numbers are not the best of many attacks of \
                     this audit"
                }
                HeadlineChoice::Name => {
                    "The auditor asked for it by name. Whether they had seen results of this or of other attacks before is not known"
                }
            };
            body.p(&format!("The headline attack is {}. {how}.", attack.name));
        } else {
            body.note(&format!(
                "The findings name “{}” as the headline, which is not one of the attacks that were run: {} is shown instead.",
                findings.headline, attack.name
            ));
        }
    }
    Section { id: "coverage", title: "What was run, and what was not", block: Block::Measured, body }
}
