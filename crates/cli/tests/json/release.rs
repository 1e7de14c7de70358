use super::*;

pub(crate) const HEADINGS: &[&str] = &[
    "reticent release count",
    "reticent release sum",
    "reticent release mean",
    "reticent release histogram",
    "reticent release quantile",
    "reticent release mode",
    "reticent release proportion",
    "reticent release (dry run)",
    "reticent release randomize",
    "reticent release estimate",
];

const QUESTIONS: &[(&str, &[&str])] = &[
    ("count", &["--epsilon 1 --column age --where age>=65", "--error 20 --delta 1e-6"]),
    (
        "sum",
        &[
            "--column age --bounds 17,90 --epsilon 1 --where sex=Male",
            "--column age --bounds 17,90 --error 1000",
            "--column age --bounds 17,90 --epsilon 1 --count-clamped --confidence 0.999999999",
        ],
    ),
    (
        "mean",
        &[
            "--column age --bounds 17,90 --epsilon 1 --where sex=Male --neighboring replace-one",
            "--column age --bounds 17,90 --epsilon 1 --count-clamped --confidence 0.999999999",
        ],
    ),
    (
        "histogram",
        &[
            "--column sex --categories Female,Male --epsilon 1 --where age>30",
            "--column age --bins 17,30,90 --epsilon 1",
        ],
    ),
    (
        "quantile",
        &[
            "--column age --bounds 0,120 --epsilon 1 --where sex=Male",
            "--column age --bounds 0,120 --epsilon 1 --count-clamped --confidence 0.999999999",
        ],
    ),
    ("mode", &["--column sex --categories Female,Male --epsilon 1 --where age>30"]),
    ("proportion", &["--column sex --value Male --epsilon 1 --where age>30"]),
];

#[test]
fn questions() {
    let page = Page::read();
    let mut dry = Vec::new();
    for (name, flags) in QUESTIONS {
        let asked = |flags: &str| json(&[&["release", name, SURVEY], &words(flags)[..]].concat());
        let answers: Vec<Value> = flags.iter().map(|flags| asked(flags)).collect();
        check(&page, &format!("reticent release {name}"), &answers);
        dry.push(asked(&format!("{} --dry-run", flags[0])));
    }
    check(&page, "reticent release (dry run)", &dry);
}

#[test]
fn surveys() {
    let (page, folder) = (Page::read(), Folder::new());
    let out = folder.path("r.csv");
    let flags = ["--column", "sex", "--categories", "Male,Female", "--epsilon", "1"];
    let randomized = json(&[&["release", "randomize", SURVEY, "--out", &out], &flags[..]].concat());
    assert_eq!(randomized["out"], out.as_str());
    check(&page, "reticent release randomize", &[randomized]);
    let estimated = json(&[&["release", "estimate", &out], &flags[..]].concat());
    check(&page, "reticent release estimate", &[estimated]);
}
