//! Upper and lower bounds on ε.

use super::section::{Block, Body, Cell, Figure, Section};
use crate::dossier::Dossier;
use crate::plot::{Axis, DotPlot, DotRow, Mark};
use crate::words;
use reticent_audit::AuditUnit;
use reticent_audit::comparison::{CertificateComparison, compare};
use reticent_audit::findings::EpsilonLower;

/// The bound of the headline attack, as the findings carry it.
pub(super) fn lower(dossier: &Dossier) -> Option<&EpsilonLower> {
    let own = || super::headline(dossier).and_then(|attack| attack.epsilon_lower.as_ref());
    dossier.findings.epsilon_lower.as_ref().or_else(own).filter(|bound| !bound.value.is_nan())
}

/// The certificate set against the measured bound; none where one of them is missing.
pub(super) fn comparison(dossier: &Dossier) -> Option<CertificateComparison> {
    Some(compare(dossier.certificate.as_ref()?, lower(dossier)?))
}

/// What a bound is about, in words.
pub(super) fn about(bound: &EpsilonLower) -> String {
    let whom = match (bound.unit, bound.unit_records) {
        (AuditUnit::Record, _) => "one record".to_owned(),
        (AuditUnit::User, records) => format!("all records of one user, at most {records}"),
        (AuditUnit::Party, _) => "one party with all its records".to_owned(),
        (AuditUnit::Unknown, _) => "not recorded".to_owned(),
    };
    match bound.neighboring {
        Some(relation) => format!("{whom} ({relation})"),
        None => whom,
    }
}

pub(super) fn bounds(dossier: &Dossier, comparison: Option<&CertificateComparison>) -> Section {
    let is_contradiction = comparison.is_some_and(CertificateComparison::is_contradiction);
    let apart = match comparison {
        Some(CertificateComparison::Apart { why }) => Some(why),
        _ => None,
    };
    let mut body = Body::default();
    body.p("ε limits the effect of the data of one unit. A certificate is an upper bound on ε, by proof; an audit gives a lower bound, \
            by an attack that worked.");
    // What the certificate allows for what the audit measured is another number than its claim.
    let is_carried = match (comparison, &dossier.certificate) {
        (Some(CertificateComparison::Compared { upper, .. }), Some(certificate)) => {
            *upper != certificate.guarantee.epsilon.get()
        }
        _ => false,
    };
    let certified = dossier.certificate.as_ref().map(|certificate| certificate.guarantee);
    let lower = lower(dossier);
    let mut rows = Vec::new();
    if let Some(guarantee) = certified {
        rows.push(DotRow {
            label: "certificate: at most".to_owned(),
            value: words::related("ε", '≤', &words::at_most(guarantee.epsilon.get())),
            mark: Mark::AtMost(guarantee.epsilon.get()),
            colour: 0,
        });
    }
    if let Some(bound) = lower {
        rows.push(DotRow {
            label: format!("audit ({}): at least", bound.method),
            value: format!(
                "{} ({})",
                words::related("ε", '≥', &words::at_least(bound.value)),
                words::level(bound.confidence)
            ),
            mark: Mark::AtLeast(bound.value),
            colour: 1,
        });
    }
    let ends = [certified.map(|guarantee| guarantee.epsilon.get()), lower.map(|bound| bound.value)];
    let most = ends.into_iter().flatten().filter(|end| end.is_finite()).fold(0.0, f64::max);
    if rows.is_empty() {
        body.missing("not run: there is neither a certificate nor a lower bound from an attack");
    } else {
        let chart = DotPlot {
            title: "Upper and lower bounds on ε".to_owned(),
            x: Axis::linear("ε", 0.0, if most > 0.0 { 1.15 * most } else { 1.0 }),
            rows,
            guides: Vec::new(),
        };
        let caption = match (certified.is_some(), lower.is_some()) {
            (true, true) if is_contradiction => {
                "The two bars do not overlap: no ε is both within the certificate and above what the audit proves."
            }
            (true, true) if apart.is_some() || is_carried => {
                "The two bars are about different quantities on one axis: one does not limit the other. See below."
            }
            (true, true) => {
                "The bar from the left is what the certificate allows; the bar to the right is what the audit leaves \
                             possible. The true ε is where the two bars overlap."
            }
            (true, false) => "The certificate alone: the true ε is anywhere in the bar.",
            _ => "The audit alone: the true ε is anywhere in the bar, and there is no upper bound.",
        };
        let description = "One axis of ε with the certified upper bound and the measured lower bound; the table below has the \
                           numbers.";
        body.figures([Figure {
            drawing: chart.page("epsilon-chart", description),
            caption: caption.to_owned(),
        }]);
    }
    let upper_row = match (&dossier.certificate, certified) {
        (Some(certificate), Some(guarantee)) => vec![
            Cell::text("upper, from the certificate"),
            Cell::number(format!("at most {}", words::at_most(guarantee.epsilon.get()))),
            Cell::number(words::at_most(guarantee.delta.get())),
            Cell::text(format!("one {} ({})", certificate.unit, certificate.neighboring)),
            Cell::text("certain, if the computation was as described"),
            Cell::text(&certificate.accountant),
        ],
        _ => absent("upper, from the certificate", "not declared: no certificate"),
    };
    let lower_row = lower.map_or_else(
        || {
            absent(
                "lower, from the audit",
                "not run: no bound was requested, or the way members were chosen does not support one",
            )
        },
        |bound| {
            vec![
                Cell::text("lower, from the audit"),
                Cell::number(format!("at least {}", words::at_least(bound.value))),
                Cell::number(words::number(bound.delta)),
                Cell::text(about(bound)),
                Cell::text(format!("{} confidence", words::level(bound.confidence))),
                Cell::text(format!("{}; {}", bound.method, bound.correction)),
            ]
        },
    );
    let head = ["Bound", "ε", "δ", "For", "Confidence", "Method"];
    body.table("Upper and lower bounds on ε", &head, &[upper_row, lower_row]);
    match comparison {
        Some(CertificateComparison::Compared { upper, theorem, .. }) => body.p(&format!(
            "For what the audit measured, the certificate allows {}: {theorem}.",
            words::related("ε", '≤', &words::at_most(*upper))
        )),
        Some(CertificateComparison::Apart { why }) => {
            body.note(&format!("The two bounds are not compared: {why}."))
        }
        None => &mut body,
    };
    if is_contradiction {
        body.note("The two bounds contradict each other: the audit proves more leakage than the certificate allows. At this \
                   confidence, either the certificate does not describe what ran, or a premise of the audit is not met.");
    }
    if let Some(bound) = lower {
        body.h3("What the lower bound rests on");
        let counts: Vec<String> =
            bound.counts.iter().map(|(name, count)| format!("{name}: {count}")).collect();
        body.facts(&[
            ("Premise", or_unrecorded(&bound.premise)),
            ("Choice of thresholds", or_unrecorded(&bound.correction)),
            ("Counts", Some(if counts.is_empty() { "not recorded".to_owned() } else { counts.join("; ") })),
        ]);
    }
    body.note("A small lower bound does not prove safety. Even an ideal one-run audit of a mechanism with a known ε recovers only about \
               30–45 % of it: there may be more leakage than the audit proved.");
    let others: Vec<String> = dossier
        .findings
        .attacks
        .iter()
        .filter_map(|attack| Some((attack, attack.epsilon_lower.as_ref()?)))
        .map(|(attack, bound)| {
            format!(
                "{}: at least {} at δ = {} for {}, {} confidence, {}",
                attack.name,
                words::at_least(bound.value),
                words::number(bound.delta),
                about(bound),
                words::level(bound.confidence),
                bound.method
            )
        })
        .collect();
    if others.len() > 1 {
        body.h3("Bounds of all attacks");
        body.p("Each bound holds at its own confidence; the maximum of them does not.");
        body.list(&others);
    }
    Section { id: "epsilon", title: "Upper and lower bounds on ε", block: Block::Combined, body }
}

fn or_unrecorded(text: &str) -> Option<String> {
    Some(if text.trim().is_empty() { "not recorded".to_owned() } else { text.to_owned() })
}

fn absent(side: &str, why: &str) -> Vec<Cell> {
    let short = why.split(':').next().unwrap_or(why);
    let mut row = vec![Cell::text(side), Cell::Missing(why.to_owned())];
    row.extend((0..4).map(|_| Cell::Missing(short.to_owned())));
    row
}
