//! Outcomes that were written down, as tables and files.

use super::{clamping_in_words, html, parts_in_words, records, tables, write_csv, write_parquet};
use crate::page::PageOutcome;
use reticent_data::arrow_array::Array;
use reticent_report::sheet::SheetValue;
use serde_json::json;

/// A page by two columns: a count, a mean that one group lacks, a histogram.
fn outcome() -> PageOutcome {
    let row = |group: [&str; 2], question: &str, cell: Option<&str>, estimate: Option<f64>, unit: &str| {
        let ends = estimate.map_or([None, Some(9.0)], |value| [Some(value - 2.0), Some(value + 2.0)]);
        let mut row = json!({"group": group, "question": question, "estimate": estimate, "interval": ends, "unit": unit});
        if let Some(cell) = cell {
            row["cell"] = json!(cell);
        }
        row
    };
    let groups = [["AA", "JFK"], ["UA", "<b>"]];
    let mut rows = Vec::new();
    for (place, group) in groups.into_iter().enumerate() {
        rows.push(row(group, "count", None, Some(120.0), "rows"));
        rows.push(row(group, "mean of delay", None, (place == 0).then_some(12.5), "column"));
        rows.push(row(group, "histogram of dest", Some("ORD"), Some(7.0), "rows"));
        rows.push(row(group, "histogram of dest", Some("SFO"), Some(3.0), "rows"));
    }
    let part = |about: &str, questions: &[&str]| {
        json!({"about": about, "questions": questions, "weight": 1.0, "weight_from": questions[0], "mechanism": "laplace",
               "why": "δ = 0", "width": 2, "l1": 1.0, "l2": 1.0, "error": 2.0, "event": {"pure": {"epsilon": 0.5}}})
    };
    let question = |name: &str, kind: &str, columns: &[&str], parts: &[usize]| json!({"name": name, "kind": kind, "columns": columns, "parts": parts});
    let mut mean = question("mean of delay", "mean", &["delay"], &[0]);
    mean["clamped"] = json!([{"column": "delay", "bounds": [-60.0, 300.0]}]);
    let certificate = json!({
        "version": 1, "unit": "all rows that share a value of tailnum", "neighboring": "add-remove",
        "events": [{"pure": {"epsilon": 0.5}}, {"pure": {"epsilon": 0.5}}],
        "epsilon": 1.0, "delta": 0.0, "accountant": "basic", "public": ["filter a=b"]
    });
    let page = json!({
        "group_columns": ["question", "origin"],
        "questions": [question("count", "count", &[], &[0]), mean,
                      question("histogram of dest", "histogram", &["dest"], &[1])],
        "rows": rows, "confidence": 0.95,
        "parts": [part("moments of delay", &["count", "mean of delay"]), part("cells of dest", &["histogram of dest"])],
        "certificate": certificate, "warnings": ["⟦unit⟧: be careful"]
    });
    serde_json::from_value(page).unwrap()
}

#[test]
fn a_question_is_a_table_with_groups_cells_and_intervals() {
    let outcome = outcome();
    let tables = tables(&outcome);
    assert_eq!(tables.len(), 3);
    assert_eq!(tables[0].names, ["question", "origin"]);
    assert_eq!(tables[2].names, ["question", "origin", "dest"]);
    assert_eq!((tables[2].rows.len(), tables[2].bars, tables[1].bars), (4, true, false));
    assert!(matches!(tables[1].rows[1].value, SheetValue::Missing(_)));
    assert_eq!(clamping_in_words(&outcome), ["delay to -60 … 300"]);
    assert!(tables[1].notes.iter().any(|note| note.contains("-60 … 300")));
    assert_eq!(
        parts_in_words(&outcome.parts)[0],
        "moments of delay (laplace, shared by count, mean of delay): δ = 0"
    );
}

#[test]
fn a_page_of_html_says_what_it_cost() {
    let page = html(&outcome(), "flights.parquet");
    for shown in [
        "Statistics of flights.parquet by question, origin",
        "ε ≤ 1",
        "all rows that share a value of tailnum",
        "&lt;b&gt;",
        "12.5",
        "unit: be careful",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn figures_are_rows_of_files() {
    let (outcome, folder) = (outcome(), tempfile::tempdir().unwrap());
    let batch = records(&outcome).unwrap();
    assert_eq!(batch.num_rows(), 8);
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["group_question", "origin", "question", "cell", "estimate", "low", "high", "unit"]);
    assert_eq!(batch.column(4).null_count(), 1);
    assert_eq!(batch.column(5).null_count(), 1);
    let csv = folder.path().join("p.csv");
    assert_eq!(write_csv(&outcome, &csv).unwrap(), 8);
    let text = std::fs::read_to_string(&csv).unwrap();
    assert!(text.starts_with("group_question,origin,question,cell,estimate,low,high,unit\n"), "{text}");
    assert!(text.contains("AA,JFK,mean of delay,,12.5,10.5,14.5,column\n"), "{text}");
    assert!(text.contains("UA,<b>,mean of delay,,,,9,column\n"), "{text}");
    let parquet = folder.path().join("p.parquet");
    write_parquet(&outcome, &parquet).unwrap();
    let table = reticent_data::open_table(&parquet).unwrap();
    assert_eq!(reticent_data::Table::columns(&table).len(), 8);
}
