use super::*;
use crate::watch::Unwatched;
use reticent_accounting::filter::Budget;
use reticent_accounting::{Verdict, verify};
use reticent_core::{Code, Epsilon, Guarantee, Neighboring, Unlimited};
use reticent_data::MemoryTable;
use reticent_data::arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use reticent_testkit::free::Free;
use serde_json::{Value, json};

/// Visits of 400 people: between 1 and 9 rows each, in up to three wards.
fn visits(order: impl Iterator<Item = usize>) -> Vec<RecordBatch> {
    let mut rows = Vec::new();
    for person in 0..400usize {
        for visit in 0..1 + person * person % 9 {
            let ward = ["A", "B", "C"][(person + visit * visit) % 3];
            rows.push((
                person as i64,
                ward,
                20.0 + ((person * 7 + visit * 3) % 60) as f64,
                (visit % 5) as f64,
            ));
        }
    }
    let rows: Vec<_> = order.map(|place| rows[place % rows.len()]).collect();
    let batch = |rows: &[(i64, &str, f64, f64)]| {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)));
        let wards: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.1)));
        let ages: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.2)));
        let costs: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.3)));
        RecordBatch::try_from_iter([("id", ids), ("ward", wards), ("age", ages), ("cost", costs)]).unwrap()
    };
    let (one, other) = rows.split_at(rows.len() / 3);
    vec![batch(one), batch(other)]
}

fn rows() -> usize {
    (0..400usize).map(|person| 1 + person * person % 9).sum()
}

fn table() -> Arc<dyn Table> {
    shuffled(0)
}

/// The same rows in another order, in batches of other lengths.
fn shuffled(turn: usize) -> Arc<dyn Table> {
    let rows = rows();
    // A step that has no factor in common with the number of rows visits each once.
    let step = (1 + 100 * turn..)
        .find(|step| (2..=rows).all(|d| !rows.is_multiple_of(d) || !step.is_multiple_of(d)))
        .unwrap();
    let batches = visits((0..rows).map(move |place| place * step + turn));
    Arc::new(MemoryTable::new("visits", batches[0].schema(), batches).unwrap())
}

fn page(text: Value) -> Page {
    serde_json::from_value(text).unwrap()
}

fn questions() -> Value {
    json!([
        {"kind": "count"},
        {"kind": "people"},
        {"kind": "count", "column": "age"},
        {"kind": "sum", "column": "age", "bounds": [0, 100]},
        {"kind": "mean", "column": "age", "bounds": [0, 100]},
        {"kind": "variance", "column": "age", "bounds": [0, 100]},
        {"kind": "standard-deviation", "column": "age", "bounds": [0, 100]},
        {"kind": "median", "column": "age", "bounds": [0, 100], "candidates": 101},
        {"kind": "quantiles", "column": "age", "bounds": [0, 100], "quantiles": [0.25, 0.75], "candidates": 101},
        {"kind": "histogram", "column": "age", "bins": [0, 30, 60, 100]},
        {"kind": "mode", "column": "ward", "categories": ["A", "B", "C"]},
        {"kind": "top-k", "k": 2, "column": "ward", "categories": ["A", "B", "C"]},
        {"kind": "proportion", "column": "ward", "value": "A"},
        {"kind": "distinct-count", "column": "ward", "categories": ["A", "B", "C", "D"]},
        {"kind": "covariance", "columns": ["age", "cost"], "bounds": [[0, 100], [0, 5]]},
        {"kind": "correlation", "columns": ["age", "cost"], "bounds": [[0, 100], [0, 5]]},
        {"kind": "trend", "columns": ["age", "cost"], "bounds": [[0, 100], [0, 5]]},
        {"kind": "contingency", "columns": [{"column": "ward", "categories": ["A", "B", "C"]},
            {"column": "age", "bins": [0, 50, 100]}], "margins": true},
    ])
}

fn all(unit: Value, delta: Option<f64>) -> Page {
    page(json!({"questions": questions(), "epsilon": 2.0, "delta": delta, "unit": unit}))
}

fn by_person() -> Value {
    json!({"column": "id", "rows": 3, "groups": 2})
}

fn run(page: &Page, table: Arc<dyn Table>) -> PageOutcome {
    page.check_table(table).unwrap().run(&mut Session::without_limit().unwrap()).unwrap()
}

#[test]
fn every_question_is_answered_and_the_certificate_recomputes() {
    for delta in [None, Some(1e-6)] {
        let planned = all(by_person(), delta).check_table(table()).unwrap();
        let preview = planned.preview().unwrap();
        assert!(
            preview.guarantee.epsilon.get() <= 2.0 && preview.guarantee.epsilon.get() > 1.999,
            "{preview:?}"
        );
        let stated = planned.events().unwrap();
        let found = planned.run(&mut Session::without_limit().unwrap()).unwrap();
        assert_eq!(found.certificate.events, stated);
        assert_eq!(found.certificate.guarantee, preview.guarantee);
        assert!(matches!(verify(&found.certificate).unwrap(), Verdict::Holds(_)), "{:?}", found.certificate);
        assert_eq!(found.certificate.unit, "all rows of one id");
        let facts = reticent_core::Fact::line(&found.certificate.public);
        assert!(facts.contains("at most 3 rows of one id;"), "{facts}");
        for question in &found.questions {
            let rows: Vec<&PageRow> = found.rows.iter().filter(|row| row.question == question.name).collect();
            assert!(!rows.is_empty(), "{}", question.name);
            for row in rows {
                assert!(row.interval[0] <= row.interval[1], "{row:?}");
            }
        }
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<PageOutcome>(&text).unwrap(), found);
    }
}

#[test]
fn statistics_of_a_column_share_a_release() {
    let planned = all(by_person(), None).check_table(table()).unwrap();
    let parts = planned.preview().unwrap().parts;
    let of = |name: &str| parts.iter().position(|part| part.questions.iter().any(|own| own == name)).unwrap();
    for name in ["sum of age", "mean of age", "variance of age", "standard deviation of age"] {
        assert_eq!(of(name), of("count of age"), "{name}");
    }
    assert_eq!(of("median of age"), of("quantiles of age"));
    assert_eq!(of("mode of ward"), of("top-k of ward"));
    assert_eq!(of("covariance of age, cost"), of("trend of age, cost"));
    assert_eq!(parts.len(), 10);
}

#[test]
fn intervals_hold_what_they_are_about() {
    // A large budget: the answers are close to the exact ones, and intervals at 99.99 % hold them.
    let request = Page {
        epsilon: Some(40.0),
        confidence: 0.9999,
        ..all(json!({"column": "id", "rows": 100, "groups": 1}), Some(1e-5))
    };
    let found = run(&request, table());
    let batches = visits(0..rows());
    let numbers = |column: usize| -> Vec<f64> {
        use reticent_data::arrow_array::cast::AsArray;
        use reticent_data::arrow_array::types::Float64Type;
        batches
            .iter()
            .flat_map(|batch| batch.column(column).as_primitive::<Float64Type>().values().to_vec())
            .collect()
    };
    let (ages, costs) = (numbers(2), numbers(3));
    let n = ages.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (age, cost) = (mean(&ages), mean(&costs));
    let variance = mean(&ages.iter().map(|value| (value - age).powi(2)).collect::<Vec<_>>());
    let covariance = mean(&ages.iter().zip(&costs).map(|(x, y)| (x - age) * (y - cost)).collect::<Vec<_>>());
    let mut sorted = ages.clone();
    sorted.sort_by(f64::total_cmp);
    let expected = [
        ("count", n),
        ("people", 400.0),
        ("count of age", n),
        ("sum of age", ages.iter().sum()),
        ("mean of age", age),
        ("variance of age", variance),
        ("standard deviation of age", variance.sqrt()),
        ("median of age", sorted[(ages.len() - 1) / 2]),
        ("covariance of age, cost", covariance),
        ("distinct-count of ward", 3.0),
    ];
    for (name, exact) in expected {
        let row = found.rows.iter().find(|row| row.question == name).unwrap();
        assert!((row.interval[0]..=row.interval[1]).contains(&exact), "{name}: {exact} {row:?}");
    }
    let near = |name: &str, exact: f64, by: f64| {
        let row = found.rows.iter().find(|row| row.question == name).unwrap();
        assert!((row.estimate.unwrap() - exact).abs() < by, "{name}: {exact} {row:?}");
    };
    // The scale of its noise is about 2.
    near("mean of age", age, 40.0);
    near("people", 400.0, 30.0);
}

/// What the parts of a page come to.
fn sums(planned: &PlannedPage) -> Vec<Vec<i128>> {
    let pass = pass::gather(planned, &Unwatched::new()).unwrap();
    let places = planned.groups.places().unwrap().clone();
    let sums = pass.gathered.sums(planned, places, &Unwatched::new()).unwrap();
    planned.pieces.iter().enumerate().map(|(place, piece)| sums.settled(place, &piece.part)).collect()
}

#[test]
fn no_order_of_rows_or_division_into_files_matters() {
    let group_by = json!({"columns": ["ward"], "keys": {"lists": {"ward": ["A", "B"]}}});
    let request =
        Page { group_by: Some(serde_json::from_value(group_by).unwrap()), ..all(by_person(), None) };
    let expected = sums(&request.check_table(table()).unwrap());
    for turn in 1..6 {
        assert_eq!(sums(&request.check_table(shuffled(turn)).unwrap()), expected, "{turn}");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    table()
        .scan(&["id", "ward", "age", "cost"], &mut |_| {}, &mut |_, cells| {
            let fields: Vec<_> = cells.iter().map(|cell| cell.csv_text().into_owned()).collect();
            lines.push(fields.join(","));
            Ok::<(), Refusal>(())
        })
        .unwrap();
    let write = |name: &str, lines: &[String]| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("id,ward,age,cost\n{}\n", lines.join("\n"))).unwrap();
        path
    };
    let (one, other) = lines.split_at(lines.len() / 4);
    let (one, other) = (write("one.csv", one), write("other.csv", other));
    for [first, second] in [[&one, &other], [&other, &one]] {
        let mut files = Page { file: first.clone(), ..request.clone() };
        files.reading.also = vec![second.clone()];
        assert_eq!(sums(&files.check().unwrap()), expected);
    }
}

#[test]
fn many_counts_cost_far_less_than_their_sum_with_delta() {
    let error = |counts: usize, delta: Option<f64>| {
        let value = |n: usize| json!({"kind": "proportion", "column": "ward", "value": format!("w{n}")});
        let questions: Vec<Value> = (0..counts).map(value).collect();
        let request = page(json!({"questions": questions, "epsilon": 1.0, "delta": delta}));
        let preview = request.check_table(table()).unwrap().preview().unwrap();
        assert_eq!(preview.parts.len(), counts);
        assert!(preview.guarantee.epsilon.get() <= 1.0 && preview.guarantee.epsilon.get() > 0.9999);
        preview.parts[0].error
    };
    // Shares of a pure ε cost as many times as there are counts; a page with δ is composed tightly.
    assert!(error(10, Some(1e-6)) < error(10, None));
    assert!(error(60, Some(1e-6)) < 0.45 * error(60, None));
    // One sparse number: Laplace noise is better, and chosen.
    let one = page(json!({"questions": [{"kind": "count"}], "epsilon": 1.0, "delta": 1e-9}));
    let preview = one.check_table(table()).unwrap().preview().unwrap();
    assert_eq!((preview.parts[0].mechanism.as_str(), preview.guarantee.delta.get()), ("laplace", 0.0));
}

#[test]
fn a_shared_part_has_the_largest_weight_of_its_questions() {
    let request = page(json!({"epsilon": 1.0, "questions": [
        {"kind": "count", "weight": 2.0},
        {"kind": "mean", "column": "age", "bounds": [0, 100], "weight": 1.0},
        {"kind": "variance", "column": "age", "bounds": [0, 100], "weight": 6.0, "name": "spread"},
    ]}));
    let preview = request.check_table(table()).unwrap().preview().unwrap();
    let moments = preview.parts.iter().find(|part| part.questions.len() == 2).unwrap();
    assert_eq!((moments.weight, moments.weight_from.as_str()), (Some(6.0), "spread"));
    let epsilons: Vec<f64> = preview
        .parts
        .iter()
        .map(|part| match &part.event {
            reticent_core::Event::DiscreteLaplace { noise_multiplier, .. } => 1.0 / noise_multiplier.get(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!((epsilons.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{epsilons:?}");
    assert!(epsilons.iter().any(|epsilon| (epsilon - 0.75).abs() < 1e-9), "{epsilons:?}");
}

#[test]
fn wanted_errors_are_reached_at_the_least_cost() {
    let text = |most: Option<f64>| {
        json!({"split": "by-error", "epsilon": most, "delta": 1e-6, "questions": [
            {"kind": "count", "error": 20.0},
            {"kind": "mean", "column": "age", "bounds": [0, 100], "error": 2.0, "size": 400},
        ]})
    };
    let preview = page(text(None)).check_table(table()).unwrap().preview().unwrap();
    for (question, wanted) in preview.questions.iter().zip([20.0, 2.0]) {
        let error = question.error.unwrap();
        assert!(error <= wanted && error > 0.8 * wanted, "{question:?}");
    }
    let needed = preview.guarantee.epsilon.get();
    assert!(page(text(Some(needed * 1.01))).check_table(table()).is_ok());
    let refused = page(text(Some(needed * 0.9))).check_table(table()).unwrap_err();
    assert_eq!(refused.field(), Some("epsilon"), "{refused}");
    let mut without = text(None);
    without["questions"][1]["size"] = Value::Null;
    assert_eq!(page(without).check_table(table()).unwrap_err().field(), Some("size"));
}

#[test]
fn limits_are_stated_or_refused_with_the_helper() {
    let grouped = json!({"columns": ["ward"], "keys": {"lists": {"ward": ["A", "B"]}}});
    let request = |unit: Value, questions: Value| {
        page(json!({"questions": questions, "epsilon": 1.0, "unit": unit, "group_by": grouped}))
    };
    let count = json!([{"kind": "count"}]);
    for (unit, field) in [
        (json!({"column": "id", "groups": 1}), "rows"),
        (json!({"column": "id", "rows": 1}), "groups"),
        (json!({"rows": 1, "groups": 1}), "unit"),
    ] {
        let refused = request(unit, count.clone()).check_table(table()).unwrap_err();
        assert_eq!((refused.code(), refused.field()), (Code::Missing, Some(field)), "{refused}");
        assert!(field == "unit" || refused.to_string().contains("suggest_limits"), "{refused}");
    }
    // People and totals need no limit on rows.
    let unit = json!({"column": "id", "groups": 2, "totals": {"cost": [0, 20]}});
    let questions = json!([{"kind": "people"}, {"kind": "sum", "column": "cost"}]);
    let found = run(&request(unit, questions), table());
    assert!(found.questions[1].clamped[0].person);
}

#[test]
fn groups_are_selected_within_their_share() {
    let group_by = json!({"columns": ["ward"], "keys": {"selected": {"share": 0.2, "delta": 1e-7}}});
    for unit in [Value::Null, by_person()] {
        let request = page(
            json!({"questions": [{"kind": "count"}, {"kind": "mean", "column": "age", "bounds": [0, 100]}],
            "epsilon": 8.0, "delta": 1e-6, "group_by": group_by, "unit": unit}),
        );
        let planned = request.check_table(table()).unwrap();
        let stated = planned.events().unwrap();
        let found = planned.run(&mut Session::without_limit().unwrap()).unwrap();
        assert_eq!(found.certificate.events, stated);
        assert!(matches!(verify(&found.certificate).unwrap(), Verdict::Holds(_)), "{:?}", found.certificate);
        assert!(found.certificate.guarantee.epsilon.get() <= 8.0);
        // Hundreds of people in each: all three are named, in order.
        let groups: Vec<&str> = found.rows.iter().step_by(2).map(|row| row.group[0].as_str()).collect();
        assert_eq!(groups, ["A", "B", "C"]);
        assert_eq!(found.parts[0].mechanism, "selection");
        // The events do not depend on what is found: a filter leaves nobody.
        let nobody = Page { filter: Some("ward=Z".to_owned()), ..request };
        let empty = nobody.check_table(table()).unwrap();
        assert_eq!(empty.events().unwrap(), stated);
        let found = empty.run_with(&mut Free::new().unwrap(), &Unwatched::new()).unwrap();
        assert_eq!((found.certificate.events, found.rows.len(), found.warnings.len()), (stated, 0, 1));
    }
}

#[test]
fn a_page_is_charged_before_a_row_is_read_and_only_for_its_unit() {
    let limit = Guarantee::pure(Epsilon::new(3.0).unwrap());
    let session = |unit: &str| {
        let ledger = Box::new(Budget::new(limit, Neighboring::AddRemove).unwrap());
        Session::new("visits", unit, Neighboring::AddRemove, ledger).unwrap()
    };
    let planned = || all(by_person(), None).check_table(table()).unwrap();
    let mut own = session("all rows of one id");
    assert!(planned().run(&mut own).is_ok());
    assert_eq!(planned().run(&mut own).unwrap_err().code(), Code::Spent);
    assert_eq!(planned().run(&mut session("row")).unwrap_err().code(), Code::Relation);
    let mut unlimited =
        Session::new("visits", "all rows of one id", Neighboring::AddRemove, Box::new(Unlimited::new()))
            .unwrap();
    assert!(planned().run(&mut unlimited).is_ok());
}

#[test]
fn figures_are_consistent_on_request() {
    let request = page(json!({"epsilon": 0.2, "consistent": true, "questions": [
        {"kind": "contingency", "columns": [{"column": "ward", "categories": ["A", "B", "Z"]},
            {"column": "age", "bins": [0, 10, 50, 100]}], "margins": true},
        {"kind": "histogram", "column": "ward", "categories": ["A", "X", "Y", "Z"]},
    ]}));
    let found = run(&request, table());
    assert!(found.rows.iter().all(|row| row.estimate.unwrap() >= 0.0));
    let sum = |cells: &mut dyn Iterator<Item = &PageRow>| cells.map(|row| row.estimate.unwrap()).sum::<f64>();
    let table: Vec<&PageRow> =
        found.rows.iter().filter(|row| row.question.starts_with("contingency")).collect();
    let is_total = |row: &PageRow| row.cell.as_ref().unwrap().contains("total");
    let cells = sum(&mut table.iter().copied().filter(|row| !is_total(row)));
    let all = table.last().unwrap().estimate.unwrap();
    assert!((cells - all).abs() < 1e-6, "{cells} {all}");
    assert!(
        found.rows.iter().all(|row| (row.interval[0]..=row.interval[1]).contains(&row.estimate.unwrap()))
    );
}

#[test]
fn limits_are_suggested_from_a_paid_estimate() {
    let request: SuggestLimits =
        serde_json::from_value(json!({"unit": "id", "group-by": ["ward"], "epsilon": 4.0})).unwrap();
    let planned = request.check_table(table()).unwrap();
    let events = planned.events().unwrap();
    let found = planned.run(&mut Session::without_limit().unwrap()).unwrap();
    assert_eq!(found.certificate.events, events);
    assert!(matches!(verify(&found.certificate).unwrap(), Verdict::Holds(_)));
    assert!(found.certificate.guarantee.epsilon.get() <= 4.0);
    // People have up to 9 rows, up to 5 of them in one ward.
    assert!((2..=16).contains(&found.rows) && (2..=4).contains(&found.groups.unwrap()), "{found:?}");
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<SuggestedLimits>(&text).unwrap(), found);
}

#[test]
fn bounds_and_categories_come_from_the_schema_and_from_derivations() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.toml");
    let text = "unit = { column = \"id\" }\n[columns]\nage = { bounds = [0, 100] }\nward = { categories = [\"A\", \"B\"] }\n";
    std::fs::write(&schema, text).unwrap();
    let request = json!({"schema": schema, "epsilon": 1.0, "unit": {"rows": 2, "groups": 1},
        "reading": {"derive": ["half = age / 2 in 0,50"]}, "group-by": {"columns": ["ward"]},
        "questions": [{"kind": "mean", "column": "age"}, {"kind": "mean", "column": "half"}, {"kind": "people"}]});
    let found = run(&page(request), table());
    assert_eq!(found.questions[0].clamped[0].bounds, [0.0, 100.0]);
    assert_eq!(found.questions[1].clamped[0].bounds, [0.0, 50.0]);
    assert_eq!((found.rows.len(), found.certificate.unit.as_str()), (6, "all rows of one id"));
}

#[test]
fn what_means_nothing_is_refused() {
    let refused = |text: Value| page(text).check_table(table()).unwrap_err();
    let one = |question: Value| json!({"questions": [question], "epsilon": 1.0});
    let cases = [
        (json!({"questions": [], "epsilon": 1.0}), "questions"),
        (json!({"questions": [{"kind": "count"}]}), "epsilon"),
        (one(json!({"kind": "people"})), "unit"),
        (one(json!({"kind": "mean", "column": "age"})), "bounds"),
        (one(json!({"kind": "mean", "column": "agee", "bounds": [0, 1]})), "column"),
        (one(json!({"kind": "histogram", "column": "age"})), "categories"),
        (
            one(json!({"kind": "quantiles", "column": "age", "bounds": [0, 1], "quantiles": [1.5]})),
            "quantiles",
        ),
        (one(json!({"kind": "top-k", "column": "ward", "categories": ["A"], "k": 2})), "k"),
        (one(json!({"kind": "count", "weight": 0.0})), "weight"),
        (json!({"questions": [{"kind": "count"}], "epsilon": 1.0, "mechanism": "gaussian"}), "delta"),
        (
            json!({"questions": [{"kind": "count"}], "epsilon": 1.0, "group_by": {"columns": ["ward"]}}),
            "keys",
        ),
        (
            json!({"questions": [{"kind": "count"}], "epsilon": 1.0,
                "group_by": {"columns": ["ward"], "keys": {"selected": {}}}}),
            "delta",
        ),
    ];
    for (text, field) in cases {
        let refusal = refused(text.clone());
        assert_eq!(refusal.field(), Some(field), "{text}: {refusal}");
    }
    for typo in [
        json!({"questions": [{"kind": "count", "colum": "age"}], "epsilon": 1.0}),
        json!({"questions": [{"kind": "mean", "column": "age", "bound": [0, 1]}], "epsilon": 1.0}),
        json!({"questions": [{"kind": "median", "column": "age", "weigth": 1}], "epsilon": 1.0}),
        json!({"questions": [{"kind": "count"}], "epsilom": 1.0}),
    ] {
        assert!(serde_json::from_value::<Page>(typo.clone()).is_err(), "{typo}");
    }
}

/// A CSV file in a folder of its own.
fn csv(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("visits.csv");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

/// What the parts of a page add up to, without noise.
fn file_sums(
    file: &std::path::Path,
    missing: Option<Vec<String>>,
    neighboring: Neighboring,
) -> Vec<Vec<i128>> {
    let text = json!({"file": file, "epsilon": 1.0, "neighboring": neighboring,
        "reading": {"missing": missing}, "unit": {"column": "user", "rows": 2},
        "questions": [{"kind": "count"}, {"kind": "people"}, {"kind": "sum", "column": "age", "bounds": [0, 100]}]});
    let mut text = text;
    if missing.is_none() {
        text["reading"] = json!({});
    }
    sums(&page(text).check().unwrap())
}

#[test]
fn a_person_called_na_is_a_person_and_rows_without_a_name_are_nobodys() {
    let others: String = (0..20).map(|row| format!("u{},{}\n", row / 2, 30 + row)).collect();
    let of = |rows: &str| csv(&format!("user,age\n{others}{rows}"));
    let (_kept, plain) = of("");
    for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
        let before = file_sums(&plain, None, neighboring);
        for name in ["NA", "null", "N/A", "u7x"] {
            // Ten thousand rows of one person move a count by two, whatever their name is and whatever counts as missing.
            let (_kept, file) = of(&format!("{name},50\n").repeat(10_000));
            for missing in [None, Some(vec![]), Some(vec![name.to_owned()])] {
                let after = file_sums(&file, missing.clone(), neighboring);
                let moved: Vec<i128> = before
                    .iter()
                    .zip(&after)
                    .flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| b - a))
                    .collect();
                assert_eq!((moved[0], moved[1]), (2, 1), "{name} {missing:?} {moved:?}");
            }
        }
        // Rows without a name change nothing, however many there are.
        let (_kept, file) = of(&",50\n ,60\n".repeat(500));
        assert_eq!(file_sums(&file, None, neighboring), before);
    }
    let (_kept, file) = of("NA,NA\n,1\n");
    let text = json!({"file": file, "epsilon": 1.0, "unit": {"column": "user", "rows": 2},
        "questions": [{"kind": "count"}]});
    let found = page(text.clone()).check().unwrap().preview().unwrap();
    let facts = reticent_core::Fact::line(&found.public);
    assert!(facts.contains("rows without a user are left out"), "{facts}");
    // In other columns the list holds as before, and a value that is missing is refused.
    for (question, is_there) in [
        (json!({"kind": "proportion", "column": "user", "value": "NA"}), true),
        (json!({"kind": "proportion", "column": "age", "value": "NA"}), false),
        (json!({"kind": "histogram", "column": "age", "categories": ["NA", "30"]}), false),
    ] {
        let mut text = text.clone();
        text["questions"] = json!([question]);
        assert_eq!(page(text).check().is_ok(), is_there, "{question}");
    }
}

#[test]
fn a_name_that_is_not_a_number_is_none() {
    let ids: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, f64::NAN, 1.0, 1.0, 2.0]));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let table = MemoryTable::new("t", batch.schema(), vec![batch]).unwrap();
    let text = json!({"questions": [{"kind": "people"}], "epsilon": 1.0, "unit": {"column": "id"}});
    assert_eq!(sums(&page(text).check_table(Arc::new(table)).unwrap()), [[2]]);
}

#[test]
fn the_private_table_declares_no_groups() {
    let (folder, file) = csv("user,ward\n1,A\n2,B\n");
    let keys = |path: &std::path::Path| {
        let group_by = json!({"columns": ["ward"], "keys": {"file": path}});
        page(json!({"file": file, "epsilon": 1.0, "group_by": group_by, "questions": [{"kind": "count"}]}))
            .check()
    };
    let link = folder.path().join("link.csv");
    std::fs::hard_link(&file, &link).unwrap();
    for own in [file.clone(), folder.path().join("./visits.csv"), link] {
        let refused = keys(&own).unwrap_err();
        assert_eq!((refused.code(), refused.field()), (Code::Conflict, Some("keys")), "{refused}");
    }
    let public = folder.path().join("wards.csv");
    std::fs::write(&public, "ward\nA\nC\n").unwrap();
    let preview = keys(&public).unwrap().preview().unwrap();
    assert_eq!((preview.groups, preview.keys_file.as_deref()), (Some(2), Some(public.as_path())));
    let facts = reticent_core::Fact::line(&preview.public);
    assert!(facts.contains("groups of ") && facts.contains("wards.csv"), "{facts}");
}

/// Whole truths lose nothing by whole ends; a sum that is not whole would.
#[test]
fn rounding_a_sum_inward_is_caught() {
    let rows: String = (0..400).flat_map(|group| (0..25).map(move |_| format!("g{group},0.5\n"))).collect();
    let (_kept, file) = csv(&format!("g,x\n{rows}"));
    let groups: Vec<String> = (0..400).map(|group| format!("g{group}")).collect();
    let group_by = json!({"columns": ["g"], "keys": {"lists": {"g": groups}}});
    let text = |question: Value| {
        page(json!({"file": file, "epsilon": 3.0, "group_by": group_by, "questions": [question]}))
    };
    let session = || Session::without_limit().unwrap();
    let sum = json!({"kind": "sum", "column": "x", "bounds": [0, 1]});
    let found = text(sum).check().unwrap().run(&mut session()).unwrap();
    let missed = |interval: &dyn Fn(&PageRow) -> [f64; 2], truth: f64, found: &PageOutcome| {
        found.rows.iter().map(interval).filter(|[low, high]| truth < *low || truth > *high).count()
    };
    let inward = |row: &PageRow| {
        let [low, high] = row.interval;
        let ends = [low.ceil(), high.floor()];
        let value = row.estimate.unwrap_or(0.0).round();
        if ends[0] <= value && value <= ends[1] { ends } else { row.interval }
    };
    // 5 % of 400 are 20; 45 are 5.7 standard deviations more.
    assert!(missed(&|row| row.interval, 12.5, &found) <= 45);
    assert!(missed(&inward, 12.5, &found) > 45, "the twin is not caught");
    let counted = text(json!({"kind": "count"})).check().unwrap().run(&mut session()).unwrap();
    assert!(missed(&|row| row.interval, 25.0, &counted) <= 45);
    assert!(counted.rows.iter().all(|row| row.interval.iter().all(|end| end.fract() == 0.0)));
}

/// The claim of a page with selected groups is about the selection too.
#[test]
fn a_claim_of_the_noise_alone_is_caught() {
    let group_by = json!({"columns": ["ward"], "keys": {"selected": {"share": 0.5}}});
    let request = page(json!({"questions": [{"kind": "count"}], "epsilon": 2.0, "delta": 1e-6,
        "mechanism": "gaussian", "group_by": group_by, "unit": by_person()}));
    let certificate = run(&request, table()).certificate;
    assert!(matches!(verify(&certificate).unwrap(), Verdict::Holds(_)), "{certificate:?}");
    let (selection, noise) = certificate.events.split_first().unwrap();
    assert!(!noise.is_empty() && !matches!(selection, Event::Gaussian { .. }), "{certificate:?}");
    let mut account = reticent_accounting::Accountant::new(
        certificate.neighboring,
        reticent_accounting::CompositionMethod::Pld,
    );
    noise.iter().for_each(|event| account.compose(event, 1).unwrap());
    let epsilon = Epsilon::new(account.epsilon(certificate.guarantee.delta).unwrap().upper).unwrap();
    let mut twin = certificate.clone();
    twin.guarantee.epsilon = epsilon;
    assert!(epsilon < certificate.guarantee.epsilon);
    assert!(matches!(verify(&twin).unwrap(), Verdict::Fails { .. }), "{:?}", verify(&twin));
}

#[test]
fn errors_of_chosen_counts_and_totals_are_the_largest() {
    let error = |question: Value| {
        let text = json!({"questions": [question], "epsilon": 1.0});
        page(text).check_table(table()).unwrap().preview().unwrap().questions[0].error.unwrap()
    };
    let wards = json!(["A", "B", "C"]);
    let cells = error(json!({"kind": "histogram", "column": "ward", "categories": wards}));
    for question in [
        json!({"kind": "mode", "column": "ward", "categories": wards}),
        json!({"kind": "top-k", "k": 1, "column": "ward", "categories": wards}),
    ] {
        assert!(error(question.clone()) > cells, "{question}");
    }
    let table = |margins: bool| {
        error(json!({"kind": "contingency", "margins": margins, "columns": [
            {"column": "ward", "categories": wards}, {"column": "age", "bins": [0, 50, 100]}]}))
    };
    assert!(table(true) > table(false) * 1.2, "{} {}", table(true), table(false));
}
