//! Whose texts were used: the premise of an audit by author, and a block for each author most at risk.

use super::section::{Block, Body, Cell, Section};
use crate::dossier::Dossier;
use crate::words;
use reticent_audit::findings::{AuthorPage, AuthorsFinding};

/// The section, where rows of the audit are authors.
pub(super) fn authors(dossier: &Dossier) -> Option<Section> {
    let found = dossier.findings.authors.as_ref()?;
    let AuthorsFinding { column, authors, premise, samples_per_author, fewest_samples, most_samples, .. } =
        found;
    let mut body = Body::default();
    let used = match samples_per_author {
        Some(most) => format!("{most} samples of each"),
        None => format!("all samples of each, {fewest_samples} to {most_samples}"),
    };
    body.p(&format!(
        "Every figure of this report is about authors (column {column}): a model is trained on all samples of an author or on none. \
         {authors} authors were audited, with {used}. Premise: {premise}."
    ));
    body.p(&format!(
        "The model was trained on {} authors. A guarantee for authors means something only if its \u{3b4} is well below one over that number, \
         {}, and rates at very low false-positive rates need more authors than there are: they are left out where fewer than 10 false \
         positives are expected.",
        words::number((1.0 / found.one_author).round()),
        words::number(found.one_author)
    ));
    if found.pages.is_empty() {
        body.missing("too few reference models to compare any author with and without: 2 of each are needed");
    } else {
        body.p(
            "The authors most at risk, the worst first. Names are replaced by hashes under a key that no shared file holds, and nothing below \
             depends on who was in the model: it compares reference models with each other. Who they are, and which samples of theirs the \
             model itself gives away, is in the audit's private.json, which is not for sharing.",
        );
        found.pages.iter().for_each(|page| one(&mut body, page));
    }
    Some(Section { id: "authors", title: "Authors", block: Block::Measured, body })
}

/// One author.
fn one(body: &mut Body, page: &AuthorPage) {
    let AuthorPage { author, place, separation, accuracy, gains } = page;
    body.h3(&format!("Author {author} (place {place})"));
    let none = || Cell::Missing("not measurable".to_owned());
    let gains = match &gains[..] {
        [] => none(),
        some => {
            let each: Vec<String> = some.iter().map(|gain| words::number(*gain)).collect();
            Cell::text(each.join(", "))
        }
    };
    let rows = [vec![
        separation.map_or_else(none, |value| Cell::number(words::number(value))),
        accuracy.as_ref().map_or_else(none, |value| Cell::number(words::share(value))),
        gains,
    ]];
    let head = [
        "Separation in standard deviations",
        "Reference models classified correctly",
        "Samples that leak most: nats per token that training on the author adds",
    ];
    body.table(&format!("Author {author}"), &head, &rows);
}
