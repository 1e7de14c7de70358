//! The report as one page: a summary, a table of contents and the sections.
//!
//! | file | what is in it |
//! |---|---|
//! | `section`, `style.css` | what sections are made of, and how it looks |
//! | `summary` | the first box |
//! | `scope`, `threat`, `strength` with `access`, `precision`, `people`, `authors`, `disclosure`, `bounds`, `defence`, `federated`, `training`, `limits`, `origin`, `annex` | the sections |

mod access;
mod annex;
mod authors;
mod bounds;
pub(crate) mod defence;
mod disclosure;
pub(crate) mod federated;
mod limits;
mod origin;
mod overfitting;
mod people;
mod precision;
mod scope;
pub(crate) mod section;
pub(crate) mod strength;
mod summary;
mod threat;
mod training;

use crate::dossier::Dossier;
use crate::markup::{Element, Markup};
use reticent_audit::findings::AttackFinding;
use section::Section;

const STYLE: &str = include_str!("style.css");

/// The attack that was chosen as the headline; the first one where the name fits none.
fn headline(dossier: &Dossier) -> Option<&AttackFinding> {
    let attacks = &dossier.findings.attacks;
    attacks.iter().find(|attack| attack.name == dossier.findings.headline).or_else(|| attacks.first())
}

/// The whole page.
pub(crate) fn page(dossier: &Dossier) -> String {
    let comparison = bounds::comparison(dossier);
    let mut sections: Vec<Section> = vec![
        scope::scope(dossier),
        scope::protected(dossier),
        threat::threats(dossier),
        threat::coverage(dossier),
        strength::strength(dossier),
        strength::rates(dossier),
        precision::precision(dossier),
        strength::baseline(dossier),
        people::groups(dossier),
        people::records(dossier),
        people::users(dossier),
        disclosure::disclosures(dossier),
        bounds::bounds(dossier, comparison.as_ref()),
        overfitting::overfitting(dossier),
        training::training(dossier),
        limits::limits(dossier),
        origin::origin(dossier),
    ];
    if let Some(section) = authors::authors(dossier) {
        let place = sections.iter().position(|section| section.id == "disclosures").unwrap_or(sections.len());
        sections.insert(place, section);
    }
    if let Some(section) = federated::federated(dossier) {
        let place = sections.iter().position(|section| section.id == "overfitting").unwrap_or(sections.len());
        sections.insert(place, section);
    }
    if let Some(section) = defence::defences(dossier) {
        let place = sections.iter().position(|section| section.id == "training").unwrap_or(sections.len());
        sections.insert(place, section);
    }
    let annex = annex::annex(&sections);
    sections.push(annex);
    let declared = &dossier.declared;
    let title = declared.title.as_deref().unwrap_or("Privacy report (title not declared)");
    let model = declared.model.as_deref().unwrap_or("model not declared");
    let author = declared.author.as_deref().unwrap_or("author not declared");
    let date = dossier.provenance.date.as_deref().unwrap_or("date not declared");
    let contents: Markup = sections.iter().map(Section::entry).collect();
    let contents = Element::new("nav")
        .with("aria-labelledby", "contents-h")
        .child(Element::new("h2").with("id", "contents-h").child("Contents"))
        .child(Element::new("ol").child(contents));
    let mut main = Markup::default();
    main.push(summary::summary(dossier, comparison.as_ref())).push(contents);
    for (section, number) in sections.iter().zip(1..) {
        main.push(section.html(number));
    }
    let footer = "This page states what was measured and what was declared. It contains no grade and no verdict: those are for \
                  the people who are responsible for the data.";
    let by = format!("{model} · {author} · {date}");
    document(&Opening { kicker: "Privacy report", title, by: &by }, main, footer.into())
}

/// What stands at the top of a page.
pub(crate) struct Opening<'a> {
    pub(crate) kicker: &'a str,
    pub(crate) title: &'a str,
    pub(crate) by: &'a str,
}

/// A whole page: no script, nothing to load.
pub(crate) fn document(opening: &Opening, main: Markup, footer: Markup) -> String {
    let Opening { kicker, title, by } = opening;
    let meta = |name, content| Element::new("meta").with("name", name).with("content", content);
    let head = Element::new("head")
        .child(Element::new("meta").with("charset", "utf-8"))
        .child(meta("viewport", "width=device-width, initial-scale=1"))
        .child(meta("color-scheme", "light dark"))
        .child(Element::new("title").child(*title))
        .child(Element::style(STYLE));
    let header = Element::new("header")
        .child(Element::of_class("p", "kicker").child(*kicker))
        .child(Element::new("h1").child(*title))
        .child(Element::of_class("p", "by").child(*by));
    let body = Element::new("body")
        .child(header)
        .child(Element::new("main").child(main))
        .child(Element::new("footer").child(Element::new("p").child(footer)));
    Markup::document(Element::new("html").with("lang", "en").child(head).child(body))
}
