//! Scope and release context; what is protected.

use super::markup::{Block, Body, Section};
use crate::dossier::{Dossier, Release};
use crate::words;
use reticent_core::rounding::exp_up;

/// Events beyond these are only counted.
const EVENTS: usize = 20;

/// A release context in words, none where nobody said.
pub(super) fn release(release: Release) -> Option<&'static str> {
    match release {
        Release::Internal => Some("internal: only people of the organisation reach the model"),
        Release::QueryApi => Some("query API: outsiders send queries and see answers"),
        Release::OpenWeights => Some("open weights: anybody may download the model and look inside"),
        Release::Undeclared => None,
    }
}

pub(super) fn scope(dossier: &Dossier) -> Section {
    let declared = &dossier.declared;
    let mut body = Body::default();
    body.p("What the people responsible say about the model. None of this was measured.");
    body.facts(&[
        ("Model", declared.model.clone()),
        ("Purpose", declared.purpose.clone()),
        ("Release context", release(declared.release).map(str::to_owned)),
        ("Data subjects", declared.subjects.map(|count| count.to_string())),
        ("Records per subject", declared.records_per_subject.map(words::number)),
        ("Sensitivity of the data", declared.sensitivity.clone()),
        ("Attacker's prior", declared.prior.map(words::percent)),
        ("Author", declared.author.clone()),
        ("Contact", declared.contact.clone()),
    ]);
    body.p(match declared.release {
        Release::Internal => {
            "For an internal model the attackers to think of are people with access, and whoever reaches the model \
             through them."
        }
        Release::QueryApi => {
            "Behind a query API an attacker sees answers, not weights: attacks that need more than answers overstate \
             what outsiders can do, as long as the weights stay inside."
        }
        Release::OpenWeights => {
            "With open weights any attack can be run, without limit, by anybody, also attacks that are not known today: a \
             release cannot be taken back."
        }
        Release::Undeclared => {
            "The release context decides which attackers are reasonably likely. It is not declared, so nothing here may \
             be read as limited to a weaker attacker."
        }
    });
    if !declared.notes.is_empty() {
        body.h3("Notes");
        body.list(&declared.notes);
    }
    Section { id: "scope", title: "Scope and release context", block: Block::Declared, body }
}

pub(super) fn protected(dossier: &Dossier) -> Section {
    let mut body = Body::default();
    match &dossier.certificate {
        None => {
            body.missing("No certificate: no differential privacy is claimed for this model.");
            body.p("There is then no proven limit on what any attack can learn. All that follows is what the attacks that were \
                    run did learn.");
        }
        Some(certificate) => {
            let guarantee = certificate.guarantee;
            let epsilon = words::at_most(guarantee.epsilon.get());
            let delta = match guarantee.delta.get() {
                0.0 => "0 (pure)".to_owned(),
                delta => words::at_most(delta),
            };
            body.p("The certificate that the training run left behind. It is a proof about the computation as described; this \
                    report repeats it and does not check that the run was as described.");
            body.facts(&[
                ("Unit of privacy", Some(certificate.unit.clone())),
                ("Neighbouring relation", Some(words::relation(certificate.neighboring, &certificate.unit))),
                ("ε, at most", Some(epsilon.clone())),
                ("δ, at most", Some(delta)),
                ("Accountant", Some(certificate.accountant.clone())),
            ]);
            let factor = exp_up(guarantee.epsilon.get());
            if factor.is_finite() && factor < 1e6 {
                let factor = words::at_most(factor);
                body.p(&format!(
                    "In words: whatever the training may bring about, its probability on one data set is at most {factor} times \
                     its probability on any neighbouring data set, plus δ. This holds against every attacker, known or not."
                ));
            } else {
                body.p("In words: the factor by which the data of one unit may change the probability of an outcome, e to the \
                        power of ε, is above a million. A claim this large limits little.");
            }
            body.h3("What touched the data");
            let mut events: Vec<String> = certificate.events.iter().take(EVENTS).map(words::event).collect();
            if events.is_empty() {
                body.missing("The certificate lists no events.");
            }
            if let Some(more) = certificate.events.len().checked_sub(EVENTS).filter(|more| *more > 0) {
                events.push(format!("and {more} more"));
            }
            body.list(&events);
            if !certificate.adaptive.is_empty() {
                body.p("An earlier answer among these, such as a noisy count, decided how the rest ran. The claim above covers \
                        every way it could have run; this is how it did run:");
                body.list(&certificate.adaptive.iter().take(EVENTS).map(words::event).collect::<Vec<_>>());
            }
            body.h3("Taken as public");
            if certificate.public.is_empty() {
                body.missing("The certificate names nothing.");
            }
            body.list(&certificate.public);
        }
    }
    Section { id: "protected", title: "What is protected, and what is claimed", block: Block::Declared, body }
}
