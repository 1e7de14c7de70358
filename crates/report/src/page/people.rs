//! Groups, records and users.

use super::headline;
use super::markup::{Block, Body, Cell, Section};
use crate::dossier::Dossier;
use crate::plot::{Axis, Mark, Row, Rows};
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
            "How {name} does on each group, with one threshold for everybody. The intervals hold for all groups together, so \
             that groups may be compared."
        ));
        let mut columns: Vec<(&str, Vec<&GroupFinding>)> = Vec::new();
        for group in groups {
            match columns.iter_mut().find(|(column, _)| *column == group.column) {
                Some((_, groups)) => groups.push(group),
                None => columns.push((&group.column, vec![group])),
            }
        }
        let figures: Vec<(String, String)> = columns
            .iter()
            .enumerate()
            .filter_map(|(place, (column, groups))| chart(place, column, groups))
            .collect();
        if figures.is_empty() {
            body.missing("not measurable: no group has enough records for a chart");
        } else {
            body.figures(&figures);
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
                    shown(&group.auc, words::estimate),
                ]
            })
            .collect();
        let head = [
            "Group",
            "Members",
            "Non-members",
            "True-positive rate",
            "False-positive rate",
            "AUC of the group",
        ];
        body.table("The headline attack by group", &head, &rows);
    }
    Section { id: "groups", title: "Groups", block: Block::Measured, body }
}

/// True-positive rates of the groups of one column; none when no group has one.
fn chart(place: usize, column: &str, groups: &[&GroupFinding]) -> Option<(String, String)> {
    let most = groups.iter().filter_map(|group| group.tpr.filter(words::sound)).map(|tpr| tpr.upper);
    let most = most.fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let rows: Vec<Row> = groups
        .iter()
        .take(DRAWN)
        .map(|group| {
            let tpr = group.tpr.filter(words::sound);
            Row {
                label: group.group.clone(),
                value: tpr.map_or("not measurable".to_owned(), |tpr| words::share(&tpr)),
                mark: tpr.map_or(Mark::Nothing, |tpr| Mark::Interval {
                    value: 100.0 * tpr.value,
                    low: 100.0 * tpr.lower,
                    high: 100.0 * tpr.upper,
                }),
                colour: 0,
            }
        })
        .collect();
    let left_out = groups.len().saturating_sub(DRAWN);
    let chart = Rows {
        title: format!("True-positive rate by {column}"),
        x: Axis::linear("true-positive rate in %", 0.0, (100.0 * most).min(100.0)),
        rows,
        guides: Vec::new(),
    };
    let description = format!(
        "True-positive rate with interval for each group of {column}; the numbers are in the table below."
    );
    let mut caption = format!(
        "Share of members found, by {column}. Groups whose whiskers do not overlap are not equally exposed, at the stated \
         confidence; wide whiskers mean few records."
    );
    if left_out > 0 {
        caption.push_str(&format!(" {left_out} more groups are in the table only."));
    }
    Some((chart.page(&format!("groups-{place}"), &description), caption))
}

pub(super) fn records(dossier: &Dossier) -> Section {
    let mut body = Body::default();
    match &dossier.findings.records {
        None => {
            body.missing("not run: no list of records was asked for");
        }
        Some(records) if records.worst.is_empty() => {
            body.missing(&words::not_measurable(records.reason.as_deref()));
        }
        Some(records) => {
            body.p(&format!(
                "The {} most exposed of {} records, sorted by {}. Neither ids nor scores nor who was a member are shown: this \
                 page does not give anybody away. Which records they are is in the audit's private.json, which is not for sharing.",
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
            let head = ["Place", "Separation in standard deviations", "Reference models told right"];
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
        ("Users", Some(format!("{} who were in, {} who were not", measured.members, measured.non_members))),
        ("AUC", Some(words::estimate(&measured.auc))),
        ("Advantage", Some(words::estimate(&measured.advantage))),
    ]);
    let rows: Vec<Vec<Cell>> = measured
        .rates
        .iter()
        .map(|rate| vec![Cell::number(words::percent(rate.fpr)), Cell::result(words::rate(rate))])
        .collect();
    if rows.is_empty() {
        body.missing("not run: no rate was asked for");
    } else {
        body.table("Users found at few false alarms", &["False-positive rate", "True-positive rate"], &rows);
    }
}
