//! Pages of statistics: answers near the known truth, files, refusals. An answer is off by more than 25 times its noise scale with
//! probability e⁻²⁵, so these tests do not fail by chance.

use super::{ADULT, json, release, stdout};
use crate::temporary::Folder;
use serde_json::Value;

const FLIGHTS: &str = "testdata/flights/flights.parquet";
const ORIGINS: [&str; 4] = ["--group-by", "origin", "--keys", "origin=EWR,JFK,LGA"];

/// The only figure of a question, or that of a cell or group.
fn figure(page: &Value, question: &str, place: &str) -> f64 {
    let rows = page["rows"].as_array().unwrap();
    let fits = |row: &&Value| {
        let own = row["cell"].as_str().unwrap_or_else(|| row["group"][0].as_str().unwrap_or(""));
        row["question"] == question && (place.is_empty() || own == place)
    };
    let row = rows.iter().find(fits).unwrap_or_else(|| panic!("{question} {place}: {page}"));
    let value = row["estimate"].as_f64().unwrap();
    let [low, high] = [0, 1].map(|end| row["interval"][end].as_f64());
    assert!(low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high), "{row}");
    value
}

fn near(page: &Value, question: &str, place: &str, truth: f64, most: f64) {
    let value = figure(page, question, place);
    assert!((value - truth).abs() <= most, "{question} {place}: {value} is not within {most} of {truth}");
}

#[test]
fn a_page_of_the_census() {
    let page = json(&[
        "page",
        ADULT,
        "--epsilon",
        "4",
        "--count",
        "--mean",
        "age in 17,90",
        "--variance",
        "age in 17,90",
        "--median",
        "age in 17,90",
        "--histogram",
        "sex of Female,Male",
        "--proportion",
        "income is >50K",
    ]);
    near(&page, "count", "", 32561.0, 60.0);
    near(&page, "mean of age", "", 38.58, 0.5);
    near(&page, "variance of age", "", 186.06, 30.0);
    near(&page, "median of age", "", 37.0, 3.0);
    near(&page, "histogram of sex", "Male", 21790.0, 60.0);
    near(&page, "proportion of income", "", 0.2408, 0.01);
    assert_eq!(page["certificate"]["unit"], "row");
    assert!(page["certificate"]["epsilon"].as_f64().unwrap() <= 4.0);
    // The order is that of the flags.
    let names: Vec<&str> =
        page["questions"].as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["count", "mean of age", "variance of age"]);
}

#[test]
fn planes_are_protected_with_all_their_flights() {
    let limits =
        ["--unit", "tailnum", "--rows-per-person", "67", "--groups-per-person", "3", "--epsilon", "20"];
    let page = json(&[&["page", FLIGHTS, "--count"], &ORIGINS[..], &limits[..]].concat());
    near(&page, "count", "EWR", 10175.0, 250.0);
    near(&page, "count", "LGA", 8596.0, 250.0);
    assert!(page["certificate"]["unit"].as_str().unwrap().contains("tailnum"), "{}", page["certificate"]);
    let people = json(&["people", FLIGHTS, "--unit", "tailnum", "--epsilon", "1"]);
    // 308 flights have no plane, and are left out.
    near(&people, "people", "", 3164.0, 30.0);
    let mean = json(&[
        "mean",
        FLIGHTS,
        "--column",
        "arr_delay",
        "--bounds=-60,180",
        "--unit",
        "tailnum",
        "--rows-per-person",
        "10",
        "--epsilon",
        "10",
    ]);
    assert_eq!(mean["questions"].as_array().unwrap().len(), 1);
}

#[test]
fn every_new_statistic_answers() {
    let asked: [(&str, &[&str]); 10] = [
        ("variance", &["--column", "age", "--bounds", "17,90"]),
        ("stddev", &["--column", "age", "--bounds", "17,90"]),
        ("median", &["--column", "age", "--bounds", "17,90"]),
        ("quantiles", &["--column", "age", "--bounds", "17,90", "--quantiles", "0.1,0.9"]),
        ("covariance", &["--columns", "age in 17,90 and hours_per_week in 0,99"]),
        ("correlation", &["--columns", "age in 17,90 and hours_per_week in 0,99"]),
        ("trend", &["--columns", "hours_per_week in 0,99 on age in 17,90"]),
        ("distinct", &["--column", "sex", "--categories", "Female,Male,Other"]),
        ("top", &["--column", "education", "--categories", "HS-grad,Bachelors,Masters,11th", "--k", "2"]),
        ("contingency", &["--columns", "sex of Female,Male and income of <=50K,>50K"]),
    ];
    for (name, flags) in asked {
        let page = json(&[&[name, ADULT, "--epsilon", "1"], flags].concat());
        assert!(!page["rows"].as_array().unwrap().is_empty(), "{name}");
        let shown = stdout(&[&[name, ADULT, "--epsilon", "1"], flags].concat());
        assert!(shown.contains("privacy spent") && shown.contains("95 %"), "{name}: {shown}");
        let dry = json(&[&[name, ADULT, "--epsilon", "1", "--dry-run"], flags].concat());
        assert_eq!(dry["dry_run"], true, "{name}");
    }
    let top = json(&[
        "top",
        ADULT,
        "--column",
        "education",
        "--categories",
        "HS-grad,Bachelors,Masters,11th",
        "--k",
        "2",
        "--epsilon",
        "1",
    ]);
    let cells: Vec<&str> =
        top["rows"].as_array().unwrap().iter().map(|row| row["cell"].as_str().unwrap()).collect();
    assert_eq!(cells, ["HS-grad", "Bachelors"]);
}

#[test]
fn a_page_goes_to_files() {
    let folder = Folder::new();
    let [csv, parquet, html, certificate] =
        ["p.csv", "p.parquet", "p.html", "c.json"].map(|name| folder.path(name));
    let files = ["--csv", &csv, "--parquet", &parquet, "--html", &html, "--certificate", &certificate];
    let asked = ["page", FLIGHTS, "--epsilon", "1", "--count", "--mean", "arr_delay in -60,180"];
    let shown = stdout(&[&asked[..], &ORIGINS[..], &files[..]].concat());
    assert!(shown.lines().all(|line| line.chars().count() <= 200), "{shown}");
    let text = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(text.lines().next().unwrap(), "origin,question,cell,estimate,low,high,unit");
    assert_eq!(text.lines().count(), 7);
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script") && page.contains("mean of arr_delay"));
    let counted = json(&["count", &parquet, "--epsilon", "50"]);
    assert_eq!(counted["value"], 6);
    assert!(std::fs::read_to_string(&certificate).unwrap().contains("\"events\""));
}

#[test]
fn tables_for_the_terminal_fit_eighty_columns() {
    let shown = stdout(
        &[
            &[
                "page",
                FLIGHTS,
                "--epsilon",
                "1",
                "--count",
                "--mean",
                "arr_delay in -60,180",
                "--stddev",
                "arr_delay in -60,180",
                "--median",
                "dep_delay in -60,180",
            ],
            &ORIGINS[..],
        ]
        .concat(),
    );
    let table = shown.lines().take_while(|line| !line.starts_with("clamped"));
    for line in table {
        assert!(line.chars().count() <= 84, "{line}");
    }
    for word in ["EWR", "clamped", "arr_delay to -60 … 180", "privacy spent", "unit: row"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

#[test]
fn a_report_is_a_page_and_flags_override_it() {
    let folder = Folder::new();
    let report = folder.path("report.toml");
    let text = "epsilon = 1.0\n[[questions]]\nkind = \"mean\"\ncolumn = \"age\"\nbounds = [17, 90]\nname = \"average\"\n";
    std::fs::write(&report, text).unwrap();
    let page = json(&["page", ADULT, &report]);
    near(&page, "average", "", 38.58, 1.0);
    let page = json(&["page", ADULT, &report, "--count", "--epsilon", "2"]);
    assert_eq!(page["questions"].as_array().unwrap().len(), 1);
    near(&page, "count", "", 32561.0, 50.0);
    std::fs::write(&report, text.replace("bounds", "bonds")).unwrap();
    let refused = release(&["page", ADULT, &report]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("report.toml:"), "{refused:?}");
}

#[test]
fn suggested_limits_cover_most_people() {
    let found = json(&["limits", FLIGHTS, "--unit", "tailnum", "--epsilon", "2"]);
    let rows = found["rows"].as_u64().unwrap();
    // 95 % of planes have at most 26 flights, and limits are powers of two.
    assert!((16..=64).contains(&rows), "{found}");
    assert!(
        stdout(&["limits", FLIGHTS, "--unit", "tailnum", "--epsilon", "2"]).contains("--rows-per-person")
    );
}

#[test]
fn mistakes_are_refused_in_one_line() {
    let asked: [(&[&str], &str); 12] = [
        (&["page", ADULT, "--epsilon", "1"], "no statistic"),
        (&["page", ADULT, "--count"], "epsilon"),
        (&["page", ADULT, "--epsilon", "1", "--mean", "age"], "bounds"),
        (&["page", ADULT, "--epsilon", "1", "--mean", "nope in 0,1"], "nope"),
        (&["page", ADULT, "--epsilon", "1", "--mean", "age in 90,17"], "lower"),
        (&["page", ADULT, "--epsilon", "1", "--people"], "--unit"),
        (&["page", ADULT, "--epsilon", "1", "--count", "--keys", "sex=a"], "--group-by"),
        (&["page", ADULT, "--epsilon", "1", "--count", "--group-by", "sex", "--keys", "x"], "--keys"),
        (&["page", ADULT, "--epsilon", "1", "--count", "--group-by", "sex", "--select-keys"], "--delta"),
        (&["page", FLIGHTS, "--epsilon", "1", "--count", "--unit", "tailnum"], "--rows-per-person"),
        (&["page", ADULT, "--epsilon", "1", "--count", "--csv", "x.txt"], ".csv"),
        (&["page", ADULT, "--epsilon", "1", "--count", "--split", "evenly"], "by-error"),
    ];
    for (words, told) in asked {
        let output = release(words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(output.stdout.is_empty() && stderr.starts_with("error[R"), "{words:?}: {stderr}");
        assert!(stderr.contains(told) && stderr.lines().count() == 1, "{words:?}: {stderr}");
    }
}

#[test]
fn keys_of_a_file_are_said_to_be_read_and_are_never_those_of_the_table() {
    let folder = Folder::new();
    let visits = folder.file("visits.csv", "id,ward\n1,A\n2,B\n");
    let wards = folder.file("wards.csv", "ward\nA\nB\nC\n");
    let page = |keys: &str| {
        let words = ["page", &visits, "--group-by", "ward", "--keys", keys, "--count", "--epsilon", "1"];
        release(&[&words[..], &["--dry-run"]].concat())
    };
    let dry = String::from_utf8(page(&wards).stdout).unwrap();
    assert!(dry.contains("no values of the table were read") && dry.contains("3, read from "), "{dry}");
    let own = page(&visits);
    let said = String::from_utf8(own.stderr).unwrap();
    assert!(own.stdout.is_empty() && said.starts_with("error[R103]: --keys"), "{said}");
    assert!(said.contains("private table"), "{said}");
}

#[test]
fn the_unit_of_a_schema_is_kept_by_single_statistics() {
    let folder = Folder::new();
    let visits = folder.file("visits.csv", "user,age\n1,30\n1,31\n2,40\n");
    let schema =
        folder.file("s.toml", "unit = { column = \"user\" }\n[columns]\nage = { bounds = [0, 120] }\n");
    for (statistic, more) in [("mean", &[][..]), ("sum", &[]), ("quantile", &["--quantile", "0.5"])] {
        let words = [statistic, &visits, "--column", "age", "--bounds", "0,120", "--schema", &schema];
        let words = [&words[..], &["--epsilon", "1"], more].concat();
        let refused = release(&words);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.stdout.is_empty() && said.contains("--rows-per-person: missing"), "{said}");
        let page = json(&[&words[..], &["--rows-per-person", "2"]].concat());
        assert_eq!(page["certificate"]["unit"], "all rows of one user", "{statistic}");
    }
}
