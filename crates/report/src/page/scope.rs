//! Scope and release context; what is protected.

use super::section::{Block, Body, Section};
use crate::dossier::{Dossier, ModelAccess};
use crate::words;
use reticent_core::rounding::exp_up;

/// Events beyond these are only counted.
const EVENTS: usize = 20;

/// A release context in words, none where nobody said.
pub(super) fn release(release: ModelAccess) -> Option<&'static str> {
    match release {
        ModelAccess::Internal => Some("internal: only people in the organization have access to the model"),
        ModelAccess::QueryApi => Some("query API: outsiders send queries and see outputs"),
        ModelAccess::OpenWeights => Some("open weights: anyone can download the model and inspect it"),
        ModelAccess::Undeclared => None,
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
        ModelAccess::Internal => {
            "For an internal model, the relevant attackers are people with access, and others who obtain the model through them."
        }
        ModelAccess::QueryApi => {
            "Behind a query API an attacker sees outputs, not weights: attacks that need more than outputs overstate what outsiders can \
             do, as long as the weights stay internal."
        }
        ModelAccess::OpenWeights => {
            "With open weights anyone can run any attack, without limit, including attacks that are not known today: a release cannot be \
             undone."
        }
        ModelAccess::Undeclared => {
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
            body.missing("No certificate: there is no differential privacy guarantee for this model.");
            body.p("So there is no proven limit on what an attack can learn. The rest of this report says only what the attacks that were run \
                    learned.");
        }
        Some(certificate) => {
            let guarantee = certificate.guarantee;
            let epsilon = words::at_most(guarantee.epsilon.get());
            let delta = match guarantee.delta.get() {
                0.0 => "0 (pure)".to_owned(),
                delta => words::at_most(delta),
            };
            body.p("The certificate of the training run. It is a proof about the computation as described; this report repeats it and does not \
                    check that the run was as described.");
            body.facts(&[
                ("Privacy unit", Some(certificate.unit.clone())),
                ("Neighboring relation", Some(words::relation(certificate.neighboring, &certificate.unit))),
                ("ε, at most", Some(epsilon.clone())),
                ("δ, at most", Some(delta)),
                ("Accountant", Some(certificate.accountant.clone())),
            ]);
            let factor = exp_up(guarantee.epsilon.get());
            if factor.is_finite() && factor < 1e6 {
                let factor = words::at_most(factor);
                body.p(&format!(
                    "In words: the probability of any outcome of the training on one dataset is at most {factor} times its probability on any \
                     neighboring dataset, plus δ. This holds against every attacker, known or unknown."
                ));
            } else {
                body.p("In words: the factor by which the data of one unit may change the probability of an outcome, e to the \
                        power of ε, is above a million. A guarantee this weak limits little.");
            }
            body.h3("Mechanisms that ran on the data");
            let mut events: Vec<String> = certificate.events.iter().take(EVENTS).map(words::event).collect();
            if events.is_empty() {
                body.missing("The certificate lists no events.");
            }
            if let Some(more) = certificate.events.len().checked_sub(EVENTS).filter(|more| *more > 0) {
                events.push(format!("and {more} more"));
            }
            body.list(&events);
            if !certificate.adaptive.is_empty() {
                body.p("An earlier answer among these, such as a noisy count, determined how the rest ran. The guarantee above covers every way it \
                        could have run; this is how it ran:");
                body.list(&certificate.adaptive.iter().take(EVENTS).map(words::event).collect::<Vec<_>>());
            }
            body.h3("Taken as public");
            if certificate.public.is_empty() {
                body.missing("The certificate names nothing.");
            }
            body.list(&certificate.public);
        }
    }
    Section { id: "protected", title: "Privacy guarantee", block: Block::Declared, body }
}
