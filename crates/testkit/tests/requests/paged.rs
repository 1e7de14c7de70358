//! Pages: every question about people of 1 to 10⁴ rows, both relations, both noises; and twins that bound people wrongly.

use reticent_core::{Epsilon, Neighboring};
use reticent_curator::page::{Page, SuggestLimits};
use reticent_curator::watch::Unwatched;
use reticent_data::arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use reticent_data::{MemoryTable, Table};
use reticent_noise::entropy::Bits;
use reticent_noise::query::parts::{ContributionLimits, Part, PartNoise, RowValue, release_part};
use reticent_noise::{Entropy, PaidSource};
use reticent_testkit::replay::{Query, compare};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const BOTH: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];

/// The limits of every page here.
const ROWS: usize = 3;
const GROUPS: usize = 2;

/// Rows of the person that tables differ in.
const SIZES: [usize; 7] = [1, 2, 6, 40, 300, 2_000, 10_000];

/// Person, group, number, label.
type Row = [String; 4];

fn row(id: &str, group: usize, x: &str, k: &str) -> Row {
    [id.to_owned(), format!("g{group}"), x.to_owned(), k.to_owned()]
}

fn table(rows: &[Row]) -> Arc<dyn Table> {
    let texts = |place: usize| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row[place].as_str())))
    };
    // What is no number is missing, and not-a-number stays.
    let numbers: ArrayRef =
        Arc::new(Float64Array::from_iter(rows.iter().map(|row| row[2].parse::<f64>().ok())));
    let columns =
        [("id", texts(0), false), ("g", texts(1), false), ("x", numbers, true), ("k", texts(3), false)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    Arc::new(MemoryTable::new("people", batch.schema(), vec![batch]).unwrap())
}

/// Other people: odd cells, several rows each, some without a name.
fn others(entropy: &mut Entropy) -> Vec<Row> {
    let (ids, xs, ks) = (
        ["a", "b", "c", ""],
        ["", "nan", "abc", "-3", "12", "5", "1e308", "0.5"],
        ["a", "b", "c", "other", ""],
    );
    let mut pick = |n: usize| (entropy.word() % n as u64) as usize;
    (0..20).map(|_| row(ids[pick(4)], pick(6), xs[pick(8)], ks[pick(5)])).collect()
}

/// The rows of one person: at one end of the bounds or the other, in these groups, with these labels in turn.
fn person(size: usize, high: bool, groups: &[usize], labels: &[&str]) -> Vec<Row> {
    let x = if high { "12" } else { "-3" };
    (0..size)
        .map(|n| {
            // Every group gets its rows before the labels repeat.
            let (group, round) = (groups[n % groups.len()], n / groups.len());
            row("p", group, x, labels[round % labels.len()])
        })
        .collect()
}

/// Tables that differ in one person of so many rows.
fn pairs(entropy: &mut Entropy, neighboring: Neighboring, size: usize) -> Vec<[Vec<Row>; 2]> {
    let (first, second, many) = ([0, 1], [2, 3], [0, 1, 2, 3, 4, 5]);
    let with = |more: Vec<Row>, entropy: &mut Entropy, base: &[Row]| {
        let mut rows = base.to_vec();
        for row in more {
            let place = (entropy.word() % (rows.len() as u64 + 1)) as usize;
            rows.push(row);
            let last = rows.len() - 1;
            rows.swap(place, last);
        }
        rows
    };
    let (all, one) = (&["a", "b", "c"][..], &["a"][..]);
    let mut found = Vec::new();
    // Alone, and among others.
    for (base, labels) in
        [(Vec::new(), all), (Vec::new(), one), (others(entropy), all), (others(entropy), one)]
    {
        let mut pair = |one: Vec<Row>, other: Vec<Row>| {
            found.push([with(one, entropy, &base), with(other, entropy, &base)]);
        };
        let person = |size, high, groups: &[usize]| person(size, high, groups, labels);
        match neighboring {
            Neighboring::AddRemove => {
                pair(Vec::new(), person(size, true, &first));
                pair(person(size, false, &second), Vec::new());
                pair(Vec::new(), person(size, true, &many));
            }
            Neighboring::ReplaceOne => {
                pair(person(size, true, &first), person(size, true, &second));
                pair(person(size, false, &first), person(size, true, &first));
                pair(person(size, false, &many), person(1, true, &first));
            }
        }
    }
    found
}

/// A page about tables in memory.
struct Asked(Page);

impl Query for Asked {
    type Data = [Row];
    type Answer = String;

    fn run(&self, rows: &[Row], source: &mut impl PaidSource) -> String {
        let planned = self.0.check_table(table(rows)).unwrap();
        let stated = planned.events().unwrap();
        match planned.run_with(source, &Unwatched::new()) {
            Ok(found) => {
                assert_eq!(found.certificate.events, stated);
                format!("{found:?}")
            }
            Err(refusal) => refusal.to_string(),
        }
    }
}

fn questions() -> Vec<Value> {
    let (bounds, labels) = (json!([-3, 12]), json!(["a", "b", "c"]));
    let number = |kind: &str| json!({"kind": kind, "column": "x", "bounds": bounds});
    let both = |kind: &str| json!({"kind": kind, "columns": ["x", "x2"], "bounds": [bounds, bounds]});
    let mut questions = vec![
        json!({"kind": "count"}),
        json!({"kind": "count", "column": "x"}),
        json!({"kind": "people"}),
        number("sum"),
        number("mean"),
        number("variance"),
        number("standard-deviation"),
        json!({"kind": "median", "column": "x", "bounds": bounds, "candidates": 31}),
        json!({"kind": "quantiles", "column": "x", "bounds": bounds, "quantiles": [0.1, 0.9], "candidates": 100}),
        json!({"kind": "histogram", "column": "k", "categories": labels}),
        json!({"kind": "histogram", "column": "x", "bins": [-3, 0, 5, 12]}),
        json!({"kind": "mode", "column": "k", "categories": labels}),
        json!({"kind": "top-k", "k": 2, "column": "k", "categories": labels}),
        json!({"kind": "proportion", "column": "k", "value": "a"}),
        json!({"kind": "distinct-count", "column": "k", "categories": labels}),
        json!({"kind": "contingency", "margins": true, "columns": [
            {"column": "k", "categories": labels}, {"column": "x", "bins": [-3, 5, 12]}]}),
    ];
    questions.extend(["covariance", "correlation", "trend"].map(both));
    questions
}

fn page(question: &Value, neighboring: Neighboring, gaussian: bool) -> Page {
    let keys: Vec<String> = (0..6).map(|group| format!("g{group}")).collect();
    let page = json!({
        "questions": [question],
        "epsilon": 1.0,
        "delta": gaussian.then_some(1e-6),
        "mechanism": if gaussian { "gaussian" } else { "laplace" },
        "neighboring": neighboring,
        "unit": {"column": "id", "rows": ROWS, "groups": GROUPS},
        "group-by": {"columns": ["g"], "keys": {"lists": {"g": keys}}},
        "reading": {"derive": ["x2 = x + 0 in -3,12"]},
    });
    serde_json::from_value(page).unwrap()
}

/// Replays pairs of every size; the largest Δ_actual / Δ_declared.
fn replay(asked: &impl Query<Data = [Row], Answer = String>, neighboring: Neighboring, what: &str) -> f64 {
    let mut entropy = Entropy::new().unwrap();
    let mut worst = 0.0f64;
    for size in SIZES {
        for [one, other] in pairs(&mut entropy, neighboring, size) {
            let report = compare(asked, &one, &other).unwrap();
            assert!(report.clean(), "{what}, a person of {size} rows under {neighboring}: {report:?}");
            assert!(report.releases > 0);
            worst = worst.max(report.worst_distance);
        }
    }
    worst
}

#[test]
fn every_question_about_people_is_private() {
    for question in questions() {
        for neighboring in BOTH {
            for gaussian in [false, true] {
                let asked = Asked(page(&question, neighboring, gaussian));
                let worst = replay(&asked, neighboring, &question.to_string());
                // People reach the sensitivity in full, so an understated one would show.
                assert!(worst >= 0.99, "{question} {neighboring} {gaussian}: the pairs only reach {worst}");
            }
        }
    }
}

#[test]
fn totals_of_people_and_selected_groups_are_private() {
    for neighboring in BOTH {
        let totals = json!({"questions": [{"kind": "sum", "column": "x"}, {"kind": "people"}], "epsilon": 1.0,
            "neighboring": neighboring, "unit": {"column": "id", "groups": GROUPS, "totals": {"x": [-3, 12]}},
            "group-by": {"columns": ["g"], "keys": {"rows": [["g0"], ["g1"], ["g2"], ["g3"], ["g4"], ["g5"]]}}});
        let worst = replay(&Asked(serde_json::from_value(totals).unwrap()), neighboring, "totals");
        assert!(worst >= 0.99, "{neighboring}: {worst}");
        // At this ε and δ, groups of one person are named now and then: the replay then sums a group that one table lacks.
        let selected = json!({"questions": [{"kind": "count"}, {"kind": "mean", "column": "x", "bounds": [-3, 12]}],
            "epsilon": 10.0, "delta": 0.1, "neighboring": neighboring,
            "unit": {"column": "id", "rows": ROWS, "groups": GROUPS},
            "group-by": {"columns": ["g"], "keys": {"selected": {"share": 0.5}}}});
        let worst = replay(&Asked(serde_json::from_value(selected).unwrap()), neighboring, "selected groups");
        assert!(worst >= 0.99, "{neighboring}: {worst}");
    }
}

/// An estimate of limits.
struct Suggested(SuggestLimits);

impl Query for Suggested {
    type Data = [Row];
    type Answer = String;

    fn run(&self, rows: &[Row], source: &mut impl PaidSource) -> String {
        let planned = self.0.check_table(table(rows)).unwrap();
        format!("{:?}", planned.run_with(source, &Unwatched::new()).unwrap())
    }
}

#[test]
fn suggested_limits_are_private() {
    for neighboring in BOTH {
        let request = json!({"unit": "id", "group_by": ["g"], "epsilon": 1.0, "neighboring": neighboring});
        replay(&Suggested(serde_json::from_value(request).unwrap()), neighboring, "limits");
    }
}

/// How a twin limits what people add.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bounded {
    /// As it should be: the first rows and groups of each person in an order of their own.
    Person,
    /// Group totals are cut once everybody is in them.
    AfterSumming,
    /// The rows that come first in the file: one that is gone lets another in.
    AcrossPeople,
    /// Rows in a group are limited and groups are not.
    RowsOnly,
}

/// Counts of rows by group with noise for the limits.
struct Twin(Bounded);

impl Query for Twin {
    type Data = [Row];
    type Answer = String;

    fn run(&self, rows: &[Row], source: &mut impl PaidSource) -> String {
        let mut sorted = rows.to_vec();
        if self.0 != Bounded::AcrossPeople {
            sorted.sort();
        }
        let mut sums = vec![0i128; 6];
        let mut kept: BTreeMap<String, BTreeMap<usize, usize>> = BTreeMap::new();
        let mut total = 0;
        for row in &sorted {
            let group: usize = row[1][1..].parse().unwrap();
            let groups = kept.entry(row[0].clone()).or_default();
            let counts = match self.0 {
                Bounded::Person => {
                    let is_open = groups.contains_key(&group) || groups.len() < GROUPS;
                    is_open && groups.get(&group).copied().unwrap_or(0) < ROWS
                }
                Bounded::AfterSumming => true,
                Bounded::AcrossPeople => total < 12 && groups.get(&group).copied().unwrap_or(0) < ROWS,
                Bounded::RowsOnly => groups.get(&group).copied().unwrap_or(0) < ROWS,
            };
            if counts {
                *groups.entry(group).or_default() += 1;
                total += 1;
                Part::Rows.add(&mut sums[group..=group], RowValue::Present);
            }
        }
        if self.0 == Bounded::AfterSumming {
            let most = (ROWS * 4) as i128;
            sums.iter_mut().for_each(|sum| *sum = (*sum).min(most));
        }
        let limits = ContributionLimits::new(ROWS as u64, GROUPS as u64, None).unwrap();
        let noise = PartNoise::Laplace { epsilon: Epsilon::new(1.0).unwrap() };
        let noisy =
            release_part(source, &Part::Rows, &limits, Neighboring::AddRemove, &noise, &sums).unwrap();
        format!("{:?}", noisy.values())
    }
}

#[test]
fn people_who_are_bounded_wrongly_are_caught() {
    let mut entropy = Entropy::new().unwrap();
    for kind in [Bounded::Person, Bounded::AfterSumming, Bounded::AcrossPeople, Bounded::RowsOnly] {
        let mut caught = false;
        for size in SIZES {
            for _ in 0..5 {
                for [one, other] in pairs(&mut entropy, Neighboring::AddRemove, size) {
                    // The twins know no people without a name.
                    let named = |rows: Vec<Row>| -> Vec<Row> {
                        rows.into_iter().filter(|row| !row[0].is_empty()).collect()
                    };
                    caught |= !compare(&Twin(kind), &named(one), &named(other)).unwrap().clean();
                }
            }
        }
        assert_eq!(caught, kind != Bounded::Person, "{kind:?}");
    }
}
