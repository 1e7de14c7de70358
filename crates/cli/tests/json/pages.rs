use super::*;
use std::collections::BTreeSet;

pub(crate) const HEADINGS: &[&str] = &[
    "reticent release page",
    "reticent release people",
    "reticent release variance",
    "reticent release stddev",
    "reticent release median",
    "reticent release quantiles",
    "reticent release covariance",
    "reticent release correlation",
    "reticent release trend",
    "reticent release distinct",
    "reticent release top",
    "reticent release contingency",
    "reticent release page (dry run)",
    "reticent release limits",
    "page",
    "part",
];

const FLIGHTS: &str = "testdata/flights/flights.parquet";

/// Statistics and what they need besides a file and an epsilon.
const SINGLES: &[(&str, &[&str])] = &[
    ("people", &["--unit", "tailnum"]),
    ("variance", &["--column", "arr_delay", "--bounds=-60,180"]),
    ("stddev", &["--column", "arr_delay", "--bounds=-60,180"]),
    ("median", &["--column", "arr_delay", "--bounds=-60,180"]),
    ("quantiles", &["--column", "arr_delay", "--bounds=-60,180"]),
    ("covariance", &["--columns", "dep_delay in -60,180 and arr_delay in -60,180"]),
    ("correlation", &["--columns", "dep_delay in -60,180 and arr_delay in -60,180"]),
    ("trend", &["--columns", "arr_delay in -60,180 on dep_delay in -60,180"]),
    ("distinct", &["--column", "origin", "--categories", "EWR,JFK,LGA"]),
    ("top", &["--column", "carrier", "--categories", "AA,UA,DL", "--k", "2"]),
    ("contingency", &["--columns", "origin of EWR,JFK and carrier of AA,UA"]),
];

#[test]
fn pages() {
    let page = Page::read();
    let mut dry = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, flags) in SINGLES {
        let asked = [&["release", name, FLIGHTS, "--epsilon", "1"], *flags].concat();
        seen.extend(check(&page, &format!("reticent release {name}"), &[json(&asked)]));
        dry.push(json(&[&asked[..], &["--dry-run"]].concat()));
    }
    let by = ["--group-by", "origin", "--epsilon", "1", "--delta", "1e-6", "--unit", "tailnum"];
    let limits =
        ["--rows-per-person", "5", "--groups-per-person", "2", "--total-per-person", "distance in 0,9000"];
    let asked =
        ["release", "page", FLIGHTS, "--count", "--sum", "distance", "--mean", "arr_delay in -60,180"];
    let whole = [&asked[..], &by[..], &limits[..]].concat();
    let declared = json(&[&whole[..], &["--keys", "origin=EWR,JFK,LGA"]].concat());
    let selected = json(&[&whole[..], &["--select-keys"]].concat());
    let by_error = json(&["release", "page", FLIGHTS, "--split", "by-error", "--count=within 50"]);
    seen.extend(check(&page, "reticent release page", &[declared, selected, by_error]));
    dry.push(json(&[&whole[..], &["--select-keys", "--dry-run"]].concat()));
    dry.push(json(&["release", "page", FLIGHTS, "--split", "by-error", "--count=within 50", "--dry-run"]));
    dry.push(json(&[
        "release",
        "page",
        FLIGHTS,
        "--epsilon",
        "1",
        "--dry-run",
        "--mean",
        "arr_delay in -60,180 size 1000",
    ]));
    check(&page, "reticent release page (dry run)", &dry);
    // Nothing of a page depends on an earlier answer of it, and no budget is charged here.
    let elsewhere = ["warnings", "certificate.adaptive", "budget"];
    for (path, _) in page.rows("page") {
        let is_seen = seen.contains(&path) || elsewhere.iter().any(|known| path.starts_with(known));
        assert!(is_seen, "`{path}` is documented, and no page had it");
    }
    assert!(page.rows("part").keys().all(|path| seen.contains(&format!("parts[].{path}"))));
}

#[test]
fn limits() {
    let asked = ["release", "limits", FLIGHTS, "--unit", "tailnum", "--epsilon", "1"];
    let grouped = json(&[&asked[..], &["--group-by", "origin"]].concat());
    check(&Page::read(), "reticent release limits", &[json(&asked), grouped]);
}
