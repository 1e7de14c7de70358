//! Drafts: what is found in the records, with a loud warning.

use super::{ADULT, SURVEY, binary, bounds, json, kind, labels, parsed, table, told};
use reticent::data::Schema;
use reticent::data::schema::{FeatureKind, LabelKind, PrivacyUnit};
use std::path::Path;

#[test]
fn the_draft_of_adult_agrees_with_its_public_schema() {
    let (text, warnings) = told(&[ADULT, "--label", "income", "--positive", ">50K", "--ignore", "fnlwgt"]);
    assert!(warnings.starts_with("warning: THIS SCHEMA IS NOT PRIVATE: "), "{warnings}");
    assert!(text.starts_with("# THIS SCHEMA IS NOT PRIVATE: "), "{text}");
    let draft = parsed(&text);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/adult/schema.toml");
    let public = Schema::read(&path).unwrap();
    assert_eq!((draft.unit(), draft.spent()), (&PrivacyUnit::Row, None));
    assert_eq!(draft.label(), Some(&binary("income", ">50K")));
    assert_eq!(draft.columns().len(), public.columns().len());
    for (mine, theirs) in draft.columns().iter().zip(public.columns()) {
        assert_eq!(mine.name, theirs.name);
        match (&mine.kind, &theirs.kind) {
            (FeatureKind::Numeric(mine), FeatureKind::Numeric(theirs)) => {
                assert!(mine.low() >= theirs.low() && mine.high() <= theirs.high(), "{}", theirs.low());
            }
            (FeatureKind::Categorical(mine), FeatureKind::Categorical(theirs)) => {
                assert!(mine.labels().iter().all(|label| theirs.position(label).is_some()));
            }
            (mine, theirs) => assert_eq!(mine, theirs),
        }
    }
    assert_eq!(bounds(&draft, "age"), [17.0, 90.0]);
    assert_eq!(labels(&draft, "sex"), ["Female", "Male"]);
}

#[test]
fn csv_columns_are_what_their_cells_read_as() {
    let schema = parsed(&told(&[SURVEY]).0);
    assert_eq!(bounds(&schema, "age"), [17.0, 90.0]);
    assert_eq!(labels(&schema, "income"), ["<=50K", ">50K"]);
    let folder = tempfile::tempdir().unwrap();
    let mut text = "id,score,odd name.x,note,same,empty,flag\n".to_owned();
    for n in 0..150 {
        text += &format!("user {},{}.5,\"a, \"\"b\"\"\",text {n},7,,{}\n", n / 3, n - 20, n % 2);
    }
    text += "user 50,nan,c,x,,,1\n";
    let file = table(folder.path(), "t.csv", &text);
    let (text, warnings) = told(&[&file, "--unit", "id", "--label", "score"]);
    let schema = parsed(&text);
    assert_eq!(*schema.unit(), PrivacyUnit::Column("id".to_owned()));
    let LabelKind::Number(range) = schema.label().unwrap().target else { panic!("not a number") };
    assert_eq!([range.low(), range.high()], [-20.5, 129.5]);
    assert_eq!(labels(&schema, "odd name.x"), ["a, \"b\"", "c"]);
    assert_eq!(bounds(&schema, "flag"), [0.0, 1.0]);
    for (ignored, reason) in
        [("note", "more than 100 different labels"), ("same", "every number is 7"), ("empty", "no values")]
    {
        assert_eq!(*kind(&schema, ignored), FeatureKind::Ignored);
        let note = format!("column \"{ignored}\" is ignored: {reason}\n");
        assert!(
            text.contains(&format!("# {note}")) && warnings.contains(&format!("warning: {note}")),
            "{text}"
        );
    }
}

#[test]
fn labels_are_read_by_what_they_hold() {
    let (text, warnings) = told(&[SURVEY, "--label", "income"]);
    assert_eq!(parsed(&text).label(), Some(&binary("income", ">50K")));
    assert!(warnings.contains("\">50K\" is taken as the positive class, against \"<=50K\""), "{warnings}");
    let schema = parsed(&told(&[SURVEY, "--label", "education"]).0);
    let LabelKind::Classes { categories, other: 0 } = &schema.label().unwrap().target else {
        panic!("several classes were expected")
    };
    assert_eq!(categories.labels().len(), 16);
    let schema = parsed(&told(&[SURVEY, "--label", "education", "--positive", "Masters"]).0);
    assert_eq!(schema.label(), Some(&binary("education", "Masters")));
    let schema = parsed(&told(&[SURVEY, "--label", "age", "--positive", "40"]).0);
    assert_eq!(schema.label(), Some(&binary("age", "40")));
}

#[test]
fn json_and_files_hold_the_same_schema() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("schema.toml");
    let path = out.to_str().unwrap();
    let (summary, _) = told(&[SURVEY, "--out", path]);
    assert!(
        summary.starts_with("schema ") && summary.contains("1 numeric, 3 categorical, 0 ignored"),
        "{summary}"
    );
    let written = std::fs::read_to_string(&out).unwrap();
    let value = json(&[SURVEY]);
    assert_eq!(value["schema"], serde_json::json!(written));
    assert_eq!(
        (&value["private"], &value["certificate"]),
        (&serde_json::json!(false), &serde_json::Value::Null)
    );
    assert!(value["warnings"][0].as_str().unwrap().contains("NOT PRIVATE"));
    let again = told(&[SURVEY, "--out", path, "--force", "--ignore", "sex"]).0;
    assert!(again.contains("2 categorical, 1 ignored"), "{again}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file was left");
}
