//! Which section answers to which text.

use super::section::{Block, Body, Cell, Section};

/// A passage, what it asks for, and the sections that speak to it.
type Passage = (&'static str, &'static str, &'static [&'static str]);

const PASSAGES: [Passage; 9] = [
    (
        "GDPR Art. 35(7)(a)",
        "a description of the processing and its purposes",
        &["scope", "protected", "training", "origin"],
    ),
    ("GDPR Art. 35(7)(b)", "necessity and proportionality", &["scope", "training"]),
    (
        "GDPR Art. 35(7)(c)",
        "the risks to the rights and freedoms of data subjects",
        &[
            "threats",
            "coverage",
            "strength",
            "rates",
            "precision",
            "groups",
            "records",
            "users",
            "disclosures",
            "limits",
        ],
    ),
    ("GDPR Art. 35(7)(d)", "the measures that address the risks", &["protected", "epsilon"]),
    ("EDPB Opinion 28/2024, para. 46", "the context in which a model is released", &["scope", "threats"]),
    (
        "EDPB Opinion 28/2024, para. 55",
        "tests against known attacks, and what they cover",
        &["threats", "coverage", "strength", "rates", "baseline", "disclosures", "overfitting", "limits"],
    ),
    (
        "EDPB Opinion 28/2024, para. 58",
        "documentation: measures, threat models, metrics",
        &["scope", "protected", "threats", "rates", "epsilon", "origin"],
    ),
    (
        "NIST SP 800-226",
        "evaluating a claim of differential privacy: the unit, ε and δ, and what can undermine them",
        &["protected", "epsilon", "limits"],
    ),
    (
        "NIST AI RMF, MEASURE 2.10",
        "privacy risk examined and documented",
        &["coverage", "strength", "overfitting", "precision", "groups", "records", "disclosures", "limits"],
    ),
];

pub(super) fn annex(sections: &[Section]) -> Section {
    let mut body = Body::default();
    body.p("Which sections of this report address which provisions. The report is material for an assessment and not the assessment itself: \
            necessity, proportionality and the balance of risks are for people to judge.");
    let rows: Vec<Vec<Cell>> = PASSAGES
        .iter()
        .map(|(passage, asks, ids)| {
            let numbered = sections.iter().zip(1..).filter(|(section, _)| ids.contains(&section.id));
            let links = numbered
                .map(|(section, number)| (section.id, format!("{number} {}", section.title)))
                .collect();
            vec![Cell::text(*passage), Cell::text(*asks), Cell::Links(links)]
        })
        .collect();
    body.table("Provisions and sections", &["Provision", "What it requires", "Sections"], &rows);
    Section { id: "annex", title: "Annex: provisions and sections", block: Block::About, body }
}
