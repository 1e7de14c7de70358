use super::{ADULT, Folder, SCHEMA, json, stdout, tenth};
use serde_json::Value;

fn epsilon(answer: &Value) -> f64 {
    answer["certificate"]["epsilon"].as_f64().unwrap()
}

#[test]
fn every_method_trains_and_stays_within_its_budget() {
    let folder = Folder::new();
    let others = tenth(&folder);
    for (method, delta, relation) in [
        ("auto", None, "add-remove"),
        ("auto", Some("1e-9"), "replace-one"),
        ("output", None, "add-remove"),
        ("output", Some("1e-9"), "replace-one"),
        ("objective", None, "replace-one"),
        ("objective", Some("1e-9"), "add-remove"),
        ("gradient", Some("1e-9"), "add-remove"),
        ("sgd", Some("1e-9"), "add-remove"),
        ("chaudhuri-2011", None, "replace-one"),
        ("kifer-2012", Some("1e-9"), "add-remove"),
        ("iyengar-2019", Some("1e-9"), "replace-one"),
    ] {
        let mut words = vec!["train", "--epsilon", "2", "--method", method, "--neighboring", relation];
        words.extend(delta.iter().flat_map(|delta| ["--delta", delta]));
        if relation == "replace-one" {
            words.extend(["--test", &others]);
        }
        let answer = json(&words);
        assert!(epsilon(&answer) <= 2.0, "{words:?}");
        let allowed: f64 = delta.map_or(0.0, |delta| delta.parse().unwrap());
        assert!(answer["certificate"]["delta"].as_f64().unwrap() <= allowed, "{words:?}");
        assert_eq!(answer["certificate"]["neighboring"], relation);
        let accuracy = answer["accuracy"].as_f64().unwrap();
        assert!(accuracy > 0.6, "{words:?}: {accuracy}");
    }
}

#[test]
fn a_declared_size_is_taken_as_public_and_saves_the_counting() {
    let answer = json(&["train", "--epsilon", "1", "--dataset-size", "26000"]);
    let text = answer["certificate"].to_string();
    assert!(text.contains("declared size: 26000") && !text.contains("rows counted"), "{text}");
    let answer = json(&["train", "--epsilon", "1"]);
    assert!(answer["certificate"].to_string().contains("rows counted"));
}

#[test]
fn several_classes_share_the_budget() {
    let folder = Folder::new();
    let schema = folder.file(
        "classes.toml",
        "unit = \"row\"\n[label]\ncolumn = \"relationship\"\ncategories = [\"Husband\", \"Wife\", \"Own-child\", \
         \"Not-in-family\", \"Other-relative\", \"Unmarried\"]\n[columns]\nage = { bounds = [17, 90] }\n\
         sex = { categories = [\"Male\", \"Female\"] }\nmarital_status = { categories = [\"Never-married\", \
         \"Married-civ-spouse\", \"Divorced\"] }\n",
    );
    let model = folder.path("model");
    let words = ["train", ADULT, "--schema", &schema, "--epsilon", "6", "--out", &model];
    let answer = json(&words);
    assert!(epsilon(&answer) <= 6.0);
    assert!(answer["accuracy"].as_f64().unwrap() > 0.5, "{answer}");
    let found = json(&["evaluate", &model, ADULT]);
    assert_eq!(found["classes"].as_array().unwrap().len(), 6);
    assert!(found["accuracy"].as_f64().unwrap() > 0.5 && found["auc"].is_null());
    assert!(stdout(&["predict", &model, ADULT]).lines().skip(1).any(|line| line == "Husband"));
}

#[test]
fn a_number_is_predicted_by_ridge() {
    let folder = Folder::new();
    let schema = folder.file(
        "number.toml",
        "unit = \"row\"\n[label]\ncolumn = \"education_num\"\nbounds = [1, 16]\n[columns]\nage = { bounds = [17, 90] }\n\
         education = { categories = [\"Bachelors\", \"HS-grad\", \"Masters\", \"Some-college\", \"11th\"] }\n",
    );
    let model = folder.path("model");
    let answer = json(&["train", ADULT, "--schema", &schema, "--epsilon", "5", "--out", &model]);
    assert_eq!((&answer["model"], &answer["accuracy"]), (&Value::from("ridge"), &Value::Null));
    let rmse = answer["rmse"].as_f64().unwrap();
    let found = json(&["evaluate", &model, ADULT]);
    // The labels' own spread is about 2.6.
    assert!(rmse < 3.5 && found["rmse"].as_f64().unwrap() < 3.5, "{rmse} {found}");
    let said = stdout(&["predict", &model, ADULT]);
    assert!(said.lines().skip(1).all(|line| (1.0..=16.0).contains(&line.parse::<f64>().unwrap())));
}

#[test]
fn a_user_counts_as_one() {
    let folder = Folder::new();
    let mut text = "id,x,y\n".to_owned();
    // A hundred rows of one user against one row of each of the others.
    (0..100).for_each(|_| text.push_str("u,1,no\n"));
    (0..3000).for_each(|user| {
        text.push_str(&format!("v{user},{},{}\n", user % 2, if user % 2 == 0 { "no" } else { "yes" }))
    });
    let table = folder.file("users.csv", &text);
    let schema = folder.file(
        "users.toml",
        "unit = { column = \"id\" }\n[label]\ncolumn = \"y\"\npositive = \"yes\"\n[columns]\nx = { bounds = [0, 1] }\n",
    );
    let answer = json(&["train", &table, "--schema", &schema, "--epsilon", "8"]);
    assert_eq!(answer["certificate"]["unit"], "all rows of one id");
    assert!(answer["accuracy"].as_f64().unwrap() > 0.9, "{answer}");
}

#[test]
fn svm_and_no_intercept_and_own_steps() {
    let words = ["train", ADULT, "--schema", SCHEMA, "--epsilon", "2", "--model", "svm"];
    assert_eq!(json(&[&words[..], &["--no-intercept"]].concat())["model"], "svm");
    let own = [
        "--delta",
        "1e-9",
        "--method",
        "sgd",
        "--steps",
        "40",
        "--sampling-rate",
        "0.1",
        "--learning-rate",
        "2",
    ];
    // The rows were counted first, so the steps are what that answer led to.
    let events = json(&[&words[..], &own].concat())["certificate"]["adaptive"].to_string();
    assert!(events.contains("\"count\":40") && events.contains("\"rate\":0.1"), "{events}");
}
