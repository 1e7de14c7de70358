//! Groups, records and users.

use super::headline;
use super::section::{Block, Body, Cell, Figure, Section};
use crate::dossier::Dossier;
use crate::plot::{Axis, DotPlot, DotRow, Mark};
use crate::words;
use reticent_audit::findings::{Estimate, GroupFinding, Performance};

/// More groups of a column than this are only in the table.
const DRAWN: usize = 24;

pub(super) fn groups(dossier: &Dossier) -> Section {
    let groups = &dossier.findings.groups;
    let mut body = Body::default();
    if groups.is_empty() {
        body.missing("not run: no groups were declared to the audit");
    } else {
        let name = headline(dossier).map_or("the headline attack", |attack| &attack.name);
        body.p(&format!(
            "How {name} performs on each group. Groups are compared by the AUC between their own members and non-members: a group in \
             which members and non-members both score higher is flagged more often, but is not more exposed. The intervals hold for \
             all groups simultaneously."
        ));
        let mut columns: Vec<(&str, Vec<&GroupFinding>)> = Vec::new();
        for group in groups {
            match columns.iter_mut().find(|(column, _)| *column == group.column) {
                Some((_, groups)) => groups.push(group),
                None => columns.push((&group.column, vec![group])),
            }
        }
        let figures: Vec<Figure> = columns
            .iter()
            .enumerate()
            .filter_map(|(place, (column, groups))| chart(place, column, groups))
            .collect();
        if figures.is_empty() {
            body.missing("not measurable: no group has enough records for a chart");
        } else {
            body.figures(figures);
        }
        let rows: Vec<Vec<Cell>> = groups
            .iter()
            .map(|group| {
                let shown = |estimate: &Option<Estimate>, text: fn(&Estimate) -> String| match estimate {
                    Some(estimate) if words::sound(estimate) => Cell::number(text(estimate)),
                    _ => Cell::Missing(words::not_measurable(group.reason.as_deref())),
                };
                vec![
                    Cell::text(format!("{} = {}", group.column, group.group)),
                    Cell::number(group.members.to_string()),
                    Cell::number(group.non_members.to_string()),
                    shown(&group.tpr, words::share),
                    shown(&group.fpr, words::share),
                    shown(&group.advantage, words::share),
                    shown(&group.auc, words::estimate),
                    Cell::text(if group.stands_out() { "yes" } else { "no" }),
                ]
            })
            .collect();
        let head = [
            "Group",
            "Members",
            "Non-members",
            "True-positive rate",
            "False-positive rate",
            "TPR less FPR",
            "AUC of the group",
            "Stands out",
        ];
        body.table("The headline attack by group", &head, &rows);
    }
    Section { id: "groups", title: "Groups", block: Block::Measured, body }
}

/// The areas of the groups of one column; none when no group has one.
fn chart(place: usize, column: &str, groups: &[&GroupFinding]) -> Option<Figure> {
    groups.iter().find_map(|group| group.auc.filter(words::sound))?;
    let rows: Vec<DotRow> = groups
        .iter()
        .take(DRAWN)
        .map(|group| {
            let auc = group.auc.filter(words::sound);
            DotRow {
                label: group.group.clone(),
                value: auc.map_or("not measurable".to_owned(), |auc| words::estimate(&auc)),
                mark: auc.map_or(Mark::Nothing, |auc| Mark::Interval {
                    value: auc.value,
                    low: auc.lower,
                    high: auc.upper,
                }),
                colour: 0,
            }
        })
        .collect();
    let left_out = groups.len().saturating_sub(DRAWN);
    let chart = DotPlot {
        title: format!("AUC by {column}"),
        x: Axis::unit("AUC within the group (0.5 is guessing)"),
        rows,
        guides: vec![0.5],
    };
    let description =
        format!("AUC with interval for each group of {column}; the numbers are in the table below.");
    let mut caption = format!(
        "How well members of a group are separated from its own non-members, by {column}. Groups whose whiskers do not overlap are \
         not equally exposed, at the stated confidence; wide whiskers mean few records."
    );
    if left_out > 0 {
        caption.push_str(&format!(" {left_out} more groups are in the table only."));
    }
    Some(Figure { drawing: chart.page(&format!("groups-{place}"), &description), caption })
}

pub(super) fn records(dossier: &Dossier) -> Section {
    let mut body = Body::default();
    match &dossier.findings.records {
        None => {
            body.missing("not run: no list of records was requested");
        }
        Some(records) if records.worst.is_empty() => {
            body.missing(&words::not_measurable(records.reason.as_deref()));
        }
        Some(records) => {
            body.p(&format!(
                "The {} most exposed of {} records, sorted by {}. Ids, scores and membership are not shown, so this page identifies no one. Which records they are is in the audit's \
                 private.json, which is not for sharing.",
                records.worst.len(),
                records.compared,
                records.sorted_by
            ));
            if let Some(reason) = &records.reason {
                body.note(reason);
            }
            let none =
                || Cell::Missing("not measurable: needs reference models with and without it".to_owned());
            let rows: Vec<Vec<Cell>> = records
                .worst
                .iter()
                .map(|record| {
                    vec![
                        Cell::number(record.place.to_string()),
                        record.separation.map_or_else(none, |value| Cell::number(words::number(value))),
                        record.accuracy.as_ref().map_or_else(none, |value| Cell::number(words::share(value))),
                    ]
                })
                .collect();
            let head =
                ["Place", "Separation in standard deviations", "Reference models classified correctly"];
            body.table("The records most at risk, the worst first", &head, &rows);
        }
    }
    Section { id: "records", title: "The records most at risk", block: Block::Measured, body }
}

pub(super) fn users(dossier: &Dossier) -> Section {
    let mut body = Body::default();
    match &dossier.findings.users {
        None => {
            body.missing("not run: the audit was not told which records belong to the same person");
        }
        Some(users) => {
            body.p(&format!(
                "Whether a person's data was used at all: {}.",
                users.about.trim_end_matches('.')
            ));
            match &users.performance {
                None => {
                    body.missing(&words::not_measurable(users.reason.as_deref()));
                }
                Some(measured) => {
                    performance(&mut body, measured);
                }
            }
        }
    }
    Section { id: "users", title: "People with several records", block: Block::Measured, body }
}

fn performance(body: &mut Body, measured: &Performance) {
    body.facts(&[
        ("Users", Some(format!("{} members, {} non-members", measured.members, measured.non_members))),
        ("AUC", Some(words::estimate(&measured.auc))),
        ("Advantage", Some(words::estimate(&measured.advantage))),
    ]);
    let rows: Vec<Vec<Cell>> = measured
        .rates
        .iter()
        .map(|rate| vec![Cell::number(words::percent(rate.fpr)), Cell::result(words::rate(rate))])
        .collect();
    if rows.is_empty() {
        body.missing("not run: no rate was requested");
    } else {
        body.table(
            "True-positive rates per user at low false-positive rates",
            &["False-positive rate", "True-positive rate"],
            &rows,
        );
    }
}
