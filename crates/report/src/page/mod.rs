//! The report as one page: a summary, a table of contents and the sections.
//!
//! | file | what is in it |
//! |---|---|
//! | `markup`, `style.css` | elements and how they look |
//! | `summary` | the first box |
//! | `scope`, `threat`, `strength`, `precision`, `people`, `bounds`, `training`, `limits`, `origin`, `annex` | the sections |

mod annex;
mod bounds;
mod limits;
pub(crate) mod markup;
mod origin;
mod overfitting;
mod people;
mod precision;
mod scope;
pub(crate) mod strength;
mod summary;
mod threat;
mod training;

use crate::dossier::Dossier;
use crate::escape::escaped;
use markup::Section;
use reticent_audit::findings::AttackFinding;

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
        bounds::bounds(dossier, comparison.as_ref()),
        overfitting::overfitting(dossier),
        training::training(dossier),
        limits::limits(dossier),
        origin::origin(dossier),
    ];
    let annex = annex::annex(&sections);
    sections.push(annex);
    let declared = &dossier.declared;
    let title = escaped(declared.title.as_deref().unwrap_or("Privacy report (title not declared)"));
    let model = escaped(declared.model.as_deref().unwrap_or("model not declared"));
    let author = escaped(declared.author.as_deref().unwrap_or("author not declared"));
    let date = escaped(dossier.provenance.date.as_deref().unwrap_or("date not declared"));
    let summary = summary::summary(dossier, comparison.as_ref());
    let contents: String = sections.iter().map(Section::entry).collect();
    let body: String = sections.iter().zip(1..).map(|(section, number)| section.html(number)).collect();
    let header = format!(
        "<p class=\"kicker\">Privacy report</p>\n<h1>{title}</h1>\n<p class=\"by\">{model} · {author} · {date}</p>\n"
    );
    let main = format!(
        "{summary}<nav aria-labelledby=\"contents-h\">\n<h2 id=\"contents-h\">Contents</h2>\n<ol>\n{contents}</ol>\n</nav>\n{body}"
    );
    let footer = "This page states what was measured and what was declared. It holds no grade and no verdict: those are for \
                  the people who answer for the data.";
    shell(&title, &header, &main, footer)
}

/// A page around markup that is escaped already: no script, nothing to load.
pub(crate) fn shell(title: &str, header: &str, main: &str, footer: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n{header}</header>\n<main>\n{main}</main>\n\
         <footer>\n<p>{footer}</p>\n</footer>\n</body>\n</html>\n"
    )
}
