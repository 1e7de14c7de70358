//! ε from above and from below.

use super::markup::{Block, Body, Cell, Section};
use crate::dossier::Dossier;
use crate::plot::{Axis, Mark, Row, Rows};
use crate::words;
use reticent_audit::Unit;
use reticent_audit::comparison::{Comparison, compare};
use reticent_audit::findings::EpsilonLower;

/// The bound of the headline attack, as the findings carry it.
pub(super) fn lower(dossier: &Dossier) -> Option<&EpsilonLower> {
    let own = || super::headline(dossier).and_then(|attack| attack.epsilon_lower.as_ref());
    dossier.findings.epsilon_lower.as_ref().or_else(own).filter(|bound| !bound.value.is_nan())
}

/// The certificate set against the measured bound; none where one of them is missing.
pub(super) fn comparison(dossier: &Dossier) -> Option<Comparison> {
    Some(compare(dossier.certificate.as_ref()?, lower(dossier)?))
}

/// What a bound is about, in words.
pub(super) fn about(bound: &EpsilonLower) -> String {
    let whom = match (bound.unit, bound.unit_records) {
        (Unit::Record, _) => "one record".to_owned(),
        (Unit::User, records) => format!("all records of one user, at most {records}"),
        (Unit::Unknown, _) => "not recorded".to_owned(),
    };
    match bound.neighboring {
        Some(relation) => format!("{whom} ({relation})"),
        None => whom,
    }
}

pub(super) fn bounds(dossier: &Dossier, comparison: Option<&Comparison>) -> Section {
    let is_contradiction = comparison.is_some_and(Comparison::is_contradiction);
    let apart = match comparison {
        Some(Comparison::Apart { why }) => Some(why),
        _ => None,
    };
    let mut body = Body::default();
    body.p("ε limits what the data of one unit can change. A certificate bounds it from above, by proof; an audit bounds it from \
            below, by an attack that worked.");
    // What the certificate allows for what the audit measured is another number than its claim.
    let is_carried = match (comparison, &dossier.certificate) {
        (Some(Comparison::Compared { upper, .. }), Some(certificate)) => {
            *upper != certificate.guarantee.epsilon.get()
        }
        _ => false,
    };
    let certified = dossier.certificate.as_ref().map(|certificate| certificate.guarantee);
    let lower = lower(dossier);
    let mut rows = Vec::new();
    if let Some(guarantee) = certified {
        rows.push(Row {
            label: "certificate: at most".to_owned(),
            value: words::related("ε", '≤', &words::at_most(guarantee.epsilon.get())),
            mark: Mark::AtMost(guarantee.epsilon.get()),
            colour: 0,
        });
    }
    if let Some(bound) = lower {
        rows.push(Row {
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
        body.missing("not run: there is neither a certificate nor a bound from an attack");
    } else {
        let chart = Rows {
            title: "ε from above and from below".to_owned(),
            x: Axis::linear("ε", 0.0, if most > 0.0 { 1.15 * most } else { 1.0 }),
            rows,
            guides: Vec::new(),
        };
        let caption = match (certified.is_some(), lower.is_some()) {
            (true, true) if is_contradiction => {
                "The two bars do not overlap: no ε is both within the certificate and above what the audit proves."
            }
            (true, true) if apart.is_some() || is_carried => {
                "The two bars are about different things: they stand on one axis, but one does not limit the other. See below."
            }
            (true, true) => {
                "The bar from the left is what the certificate allows; the bar to the right is what the audit leaves \
                             possible. The true ε is where the two bars overlap."
            }
            (true, false) => "The certificate alone: the true ε is anywhere in the bar.",
            _ => "The audit alone: the true ε is anywhere in the bar, and nothing limits it from above.",
        };
        let description = "One axis of ε with the certified upper bound and the measured lower bound; the table below has the \
                           numbers.";
        body.figures(&[(chart.page("epsilon-chart", description), caption.to_owned())]);
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
                "not run: no bound was asked for, or how members were drawn supports none",
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
    let head = ["Side", "ε", "δ", "Of what", "How sure", "Method"];
    body.table("Both sides of ε", &head, &[upper_row, lower_row]);
    match comparison {
        Some(Comparison::Compared { upper, theorem, .. }) => body.p(&format!(
            "For what the audit measured, the certificate allows {}: {theorem}.",
            words::related("ε", '≤', &words::at_most(*upper))
        )),
        Some(Comparison::Apart { why }) => body.note(&format!("The two sides are not compared: {why}.")),
        None => &mut body,
    };
    if is_contradiction {
        body.note("The two sides contradict each other: the audit proves more leakage than the certificate allows. At this \
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
    body.note("A small lower bound is no proof of safety. Even an ideal audit in one run, on a mechanism with a known ε, recovers \
               only some 30–45 % of it: what the audit did not prove may still be there.");
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
        body.p("Each holds at its own confidence; the largest of them does not.");
        body.list(&others);
    }
    Section { id: "epsilon", title: "ε from above and from below", block: Block::Combined, body }
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
