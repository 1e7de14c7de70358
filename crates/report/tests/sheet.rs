//! A page of statistics: whole, with hostile text, and with figures missing.

use reticent_report::sheet::{Sheet, SheetRow, SheetTable, SheetValue};

/// A page in which all words are `text`.
fn sheet(text: &str, rows: usize) -> Sheet {
    let own = || text.to_owned();
    let number = |place: usize| SheetRow {
        names: vec![format!("{text}{place}"), own()],
        value: SheetValue::Number {
            value: place as f64 - 1.25,
            interval: [place as f64 - 3.0, place as f64 + 2.0],
            whole: false,
        },
    };
    let mut answers: Vec<SheetRow> = (0..rows).map(number).collect();
    answers.push(SheetRow { names: vec![own(), own()], value: SheetValue::Words(own()) });
    answers.push(SheetRow { names: vec![own(), own()], value: SheetValue::Missing(own()) });
    let table = |bars| SheetTable {
        title: own(),
        notes: vec![own()],
        axis: own(),
        bars,
        names: vec![own(), own()],
        rows: answers.clone(),
    };
    Sheet {
        title: own(),
        subtitle: own(),
        facts: vec![(own(), own())],
        warnings: vec![own()],
        confidence: 0.95,
        tables: vec![table(true), table(false)],
    }
}

#[test]
fn a_page_shows_every_figure_with_its_interval() {
    let page = sheet("age", 5).html();
    for shown in ["2.8", "1.0 to 6.0", "age4", "95\u{a0}% interval", "<svg", "Error bars: 95"] {
        assert!(page.contains(shown), "{shown}");
    }
    assert_eq!(page.matches("<section").count(), 2);
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
    // One figure has no chart, and many have one of bounded height.
    assert!(!sheet("age", 1).html().contains("<svg"));
    assert!(sheet("age", 500).html().contains("The first 60 of 502 rows."));
}

#[test]
fn text_is_never_markup() {
    let hostile = "</style><script>alert(1)</script>\"' onload=x \u{202e}";
    let page = sheet(hostile, 3).html();
    assert!(!page.contains("<script") && !page.contains('\u{202e}'));
    assert_eq!(page.matches("</style>").count(), 1);
}
