//! What a flag means at the declared prior, and how many people it may affect.

use super::headline;
use super::section::{Block, Body, Cell, Section};
use super::strength::people;
use crate::digits::RoundingSide;
use crate::dossier::Dossier;
use crate::words;
use reticent_audit::findings::{Estimate, RateAt};

/// What stands beside a rate that is not known.
const UNKNOWN: &str = "not measurable: the rate is not";

pub(super) fn precision(dossier: &Dossier) -> Section {
    let declared = &dossier.declared;
    let mut body = Body::default();
    body.p("Measured rates become statements about people only together with the declared prior (the probability that a record is a \
            member) and the declared number of people.");
    let Some(attack) = headline(dossier) else {
        body.missing("not measurable: no attack was run");
        return section(body);
    };
    let measured = &attack.performance;
    let used = prior(dossier);
    body.facts(&[
        ("Prior used below", used.map(words::percent)),
        ("Declared data subjects", declared.subjects.map(|count| count.to_string())),
    ]);
    if let (Some(declared), Some(audit)) = (declared.prior, measured.prior)
        && (declared - audit).abs() > 1e-12
    {
        body.note(&format!(
            "The audit was made with a prior of {}; the shares below are for the declared one, {}.",
            words::percent(audit),
            words::percent(declared)
        ));
    }
    let rows: Vec<Vec<Cell>> = measured
        .rates
        .iter()
        .map(|rate| {
            let ppv = match used {
                None => Err("not declared: no prior".to_owned()),
                Some(used) => ppv(rate, measured.prior, used)
                    .map(|ppv| words::share(&ppv))
                    .ok_or_else(|| UNKNOWN.to_owned()),
            };
            let exposed = match (&rate.tpr, declared.subjects) {
                (Some(tpr), Some(subjects)) if words::sound(tpr) => Ok(exposed(tpr, rate.fpr, subjects)),
                (_, None) => Err("not declared: no number of data subjects".to_owned()),
                _ => Err(UNKNOWN.to_owned()),
            };
            vec![
                Cell::number(words::percent(rate.fpr)),
                Cell::result(words::rate(rate)),
                Cell::result(ppv),
                Cell::result(exposed),
            ]
        })
        .collect();
    if rows.is_empty() {
        body.missing("not measurable: no rate was requested");
    } else {
        body.table(
            &format!("What a flag by {} means", attack.name),
            &[
                "False-positive rate",
                "True-positive rate",
                "Positive predictive value",
                "Expected exposed subjects, beyond guessing",
            ],
            &rows,
        );
        body.p("Positive predictive value: the share of flagged records that are members, at that prior. Expected exposed subjects: the \
                declared subjects times the true-positive rate minus the false-positive rate (which guessing reaches too), assuming that \
                all of them are like the audited members and that the attacker tries all of them.");
        if declared.records_per_subject != Some(1.0) {
            let records = declared.records_per_subject.map_or("is not declared".to_owned(), |records| {
                format!("is declared as {}", words::number(records))
            });
            body.note(&format!(
                "The rates are per record, and the number of records per subject {records}. A person with several records gives an \
                 attacker several chances: the count of people may be higher than shown."
            ));
        }
    }
    section(body)
}

fn section(body: Body) -> Section {
    Section { id: "precision", title: "What a flag means for people", block: Block::Combined, body }
}

/// The prior of the page: what was declared, or what the audit was given.
pub(super) fn prior(dossier: &Dossier) -> Option<f64> {
    dossier.declared.prior.or_else(|| headline(dossier)?.performance.prior)
}

/// The share of members among the flagged at a prior: the audit's own where it used that prior, else by Bayes' rule for an attacker
/// who keeps exactly to the false-positive rate. It grows with the true-positive rate, so the ends of one are those of the other.
pub(super) fn ppv(rate: &RateAt, audit: Option<f64>, prior: f64) -> Option<Estimate> {
    if audit.is_some_and(|audit| (audit - prior).abs() <= 1e-12) {
        return rate.ppv.filter(words::sound);
    }
    let tpr = rate.tpr.filter(words::sound)?;
    let share = |tpr: f64| prior * tpr / (prior * tpr + (1.0 - prior) * rate.fpr);
    let found = Estimate {
        value: share(tpr.value),
        lower: share(tpr.lower.max(0.0)),
        upper: share(tpr.upper.min(1.0)),
        confidence: tpr.confidence,
    };
    Some(found).filter(words::sound)
}

/// `123 (95 %: 101 to 150)` of the subjects that are found beyond those that guessing finds, the ends rounded outwards.
pub(super) fn exposed(tpr: &Estimate, fpr: f64, subjects: u64) -> String {
    let beyond = |rate: f64| (rate.min(1.0) - fpr).max(0.0) * subjects as f64;
    let (low, high) =
        (people(beyond(tpr.lower), RoundingSide::Down), people(beyond(tpr.upper), RoundingSide::Up));
    let found = format!("{} of {subjects}", people(beyond(tpr.value).round(), RoundingSide::Down));
    words::interval(&found, tpr.confidence, &low, &high)
}
