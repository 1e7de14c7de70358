//! How to reproduce the report.

use super::section::{Block, Body, Cell, Section};
use crate::dossier::Dossier;
use std::collections::BTreeMap;

pub(super) fn origin(dossier: &Dossier) -> Section {
    let Dossier { findings, provenance, .. } = dossier;
    let mut body = Body::default();
    body.facts(&[
        ("Tool", provenance.tool.clone()),
        ("Version of the audit", Some(findings.version.clone())),
        ("Layouts", Some(format!("{}, {}", crate::SCHEMA, findings.schema))),
        ("Date", provenance.date.clone()),
        ("Command", provenance.command.clone()),
        ("Machine", provenance.machine.clone()),
        ("Key of all splits", Some(findings.key.clone())),
    ]);
    body.h3("Keys and seeds");
    pairs(&mut body, "Keys and seeds by purpose", ["Purpose", "Key or seed"], &provenance.seeds);
    body.h3("Files");
    if provenance.files.is_empty() {
        body.missing("not declared");
    } else {
        let rows: Vec<Vec<Cell>> = provenance
            .files
            .iter()
            .map(|file| vec![Cell::text(&file.name), Cell::text(&file.digest)])
            .collect();
        body.table("Files with the digests of their contents", &["File", "Digest"], &rows);
    }
    body.h3("Versions");
    pairs(&mut body, "Versions", ["Component", "Version"], &provenance.versions);
    Section { id: "origin", title: "Versions, seeds and hashes", block: Block::About, body }
}

fn pairs(body: &mut Body, caption: &str, head: [&str; 2], pairs: &BTreeMap<String, String>) {
    if pairs.is_empty() {
        body.missing("not declared");
        return;
    }
    let rows: Vec<Vec<Cell>> =
        pairs.iter().map(|(name, value)| vec![Cell::text(name), Cell::text(value)]).collect();
    body.table(caption, &head, &rows);
}
