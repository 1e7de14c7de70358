//! What attacks recovered of attributes and of whole records, beside what is guessed without the model.

use super::section::{Block, Body, Cell, Section, settings};
use crate::dossier::Dossier;
use crate::markup::{Element, Markup};
use crate::picture::{Gallery, PictureStrip};
use crate::words;
use reticent_audit::disclosure::{Disclosure, DisclosureBound, DisclosureMeasure};
use reticent_audit::findings::Estimate;
use reticent_core::Neighboring;

pub(super) fn disclosures(dossier: &Dossier) -> Section {
    let found = &dossier.findings.disclosures;
    let mut body = Body::default();
    if found.is_empty() {
        body.missing("No attack on attributes or on whole records was run.");
    } else {
        body.p("Such an attack is judged by what it adds to a guess that does not use the model: only the difference is leakage.");
    }
    for disclosure in found {
        one(&mut body, disclosure);
        let own = dossier.galleries.iter().filter(|gallery| gallery.disclosure == disclosure.name);
        own.for_each(|own| gallery(&mut body, own));
    }
    if !dossier.galleries.is_empty() {
        body.note("The pictures show training records. Whoever made this report declared that these records may be shown.");
    }
    Section { id: "disclosures", title: "Attributes and whole records", block: Block::Measured, body }
}

fn one(body: &mut Body, disclosure: &Disclosure) {
    let Disclosure { name, kind, about, records, measures, bound, warnings, .. } = disclosure;
    body.h3(&format!("{name} ({})", kind.name()));
    let settings = settings(&disclosure.settings);
    body.p(&format!("{about}. Records attacked: {records}. Settings: {settings}."));
    let row = |measure: &DisclosureMeasure| {
        let DisclosureMeasure { what, condition, rises, attack, baseline, difference } = measure;
        let more = if *rises { "more" } else { "less" };
        let shown = |estimate: &Option<Estimate>| match estimate {
            Some(estimate) => Cell::number(words::estimate(estimate)),
            None => Cell::Missing("not measured".to_owned()),
        };
        vec![
            Cell::text(format!("{what}: {more} means more leakage")),
            Cell::text(condition),
            Cell::number(words::estimate(attack)),
            shown(baseline),
            shown(difference),
        ]
    };
    let head = ["Measure", "Condition", "Attack", "Without the model", "Difference"];
    body.table(&format!("What {name} recovered"), &head, &measures.iter().map(row).collect::<Vec<_>>());
    if let Some(bound) = bound {
        body.p(&allowed(bound));
    }
    body.list(warnings);
}

/// What the certificate allows.
fn allowed(bound: &DisclosureBound) -> String {
    let DisclosureBound { prior, success, unit, neighboring } = bound;
    let without = match neighboring {
        Neighboring::AddRemove => "the data of that unit are left out",
        Neighboring::ReplaceOne => "the data of that unit are replaced",
    };
    format!(
        "By the certificate, an attack on one {unit} that would succeed with probability {} if {without} succeeds with probability {}\u{a0}% \
         at most, whatever it knows of the others. The first probability is not a rate in the population.",
        words::percent(*prior),
        words::at_most(100.0 * success)
    )
}

fn gallery(body: &mut Body, gallery: &Gallery) {
    let strip = |strip: &PictureStrip| {
        let pictures = strip.pictures.iter().enumerate().filter_map(|(place, picture)| {
            let described = format!("{}, number {}", strip.label, place + 1);
            Some(Element::picture(&picture.png()?, &described))
        });
        Element::of_class("div", "strip")
            .child(Element::of_class("p", "by").child(strip.label.as_str()))
            .child(pictures.collect::<Markup>())
    };
    let caption = Element::new("figcaption").child(format!("{}: {}", gallery.disclosure, gallery.condition));
    let strips: Markup = gallery.strips.iter().map(strip).collect();
    body.push(Element::of_class("figure", "wide").child(strips).child(caption));
}

/// The first figure of an attack in a few words.
pub(super) fn brief(disclosure: &Disclosure) -> String {
    let Some(DisclosureMeasure { what, condition, attack, baseline, .. }) = disclosure.measures.first()
    else {
        return format!("{} (nothing was measured)", disclosure.name);
    };
    let without = match baseline {
        Some(baseline) => format!("; without the model {}", words::estimate(baseline)),
        None => String::new(),
    };
    format!("{} ({what}, {condition}: {}{without})", disclosure.name, words::estimate(attack))
}
