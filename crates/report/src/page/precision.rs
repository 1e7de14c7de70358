//! What was measured, at what was declared: what a flag means, and how many people it may reach.

use super::headline;
use super::markup::{Block, Body, Cell, Section};
use super::strength::people;
use crate::digits::Side;
use crate::dossier::Dossier;
use crate::words;
use reticent_audit::findings::Estimate;

/// What stands beside a rate that is not known.
const UNKNOWN: &str = "not measurable: the rate is not";

pub(super) fn precision(dossier: &Dossier) -> Section {
    let declared = &dossier.declared;
    let mut body = Body::default();
    body.p("Measured rates become statements about people only together with what is declared: how likely a record is a member \
            to begin with, and how many people there are.");
    let Some(attack) = headline(dossier) else {
        body.missing("not measurable: no attack was run");
        return section(body);
    };
    let measured = &attack.performance;
    let used = measured.prior;
    body.facts(&[
        ("Prior that was declared", declared.prior.map(words::percent)),
        (
            "Prior of the numbers below",
            Some(used.map_or("none was given to the audit".to_owned(), words::percent)),
        ),
        ("Data subjects that were declared", declared.subjects.map(|count| count.to_string())),
    ]);
    if let (Some(declared), Some(used)) = (declared.prior, used)
        && (declared - used).abs() > 1e-12
    {
        body.note(&format!(
            "The declared prior ({}) is not the one that the audit used ({}): the shares below hold for the latter.",
            words::percent(declared),
            words::percent(used)
        ));
    }
    let rows: Vec<Vec<Cell>> = measured
        .rates
        .iter()
        .map(|rate| {
            let ppv = match (&rate.ppv, used) {
                (Some(ppv), _) if words::sound(ppv) => Ok(words::share(ppv)),
                (_, None) if declared.prior.is_some() => {
                    Err("not known: the audit was made without a prior".to_owned())
                }
                (_, None) => Err("not declared: no prior".to_owned()),
                _ => Err(UNKNOWN.to_owned()),
            };
            let exposed = match (&rate.tpr, declared.subjects) {
                (Some(tpr), Some(subjects)) if words::sound(tpr) => Ok(exposed(tpr, subjects)),
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
        body.missing("not measurable: no rate was asked for");
    } else {
        body.table(
            &format!("What a flag by {} means", attack.name),
            &["False-positive rate", "Members found", "Flags that are right", "Expected exposed subjects"],
            &rows,
        );
        body.p("Flags that are right: of all records that the attack flags, the share that truly are members, at that prior. \
                Expected exposed subjects: the declared subjects times the share of members found, as if all of them were like \
                the members of the audit and the attacker tried all of them.");
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

/// `123 (95 %: 101 to 150)` of the subjects, the ends rounded outwards.
pub(super) fn exposed(tpr: &Estimate, subjects: u64) -> String {
    let all = subjects as f64;
    let (low, high) =
        (people(tpr.lower.max(0.0) * all, Side::Down), people(tpr.upper.min(1.0) * all, Side::Up));
    let found = format!("{} of {subjects}", people((tpr.value * all).round(), Side::Down));
    words::interval(&found, tpr.confidence, &low, &high)
}
