//! Schemas learnt with noise. Each assertion on a noisy value fails by chance with probability below 10⁻⁸; the
//! reasons stand beside them.

use super::{ADULT, SURVEY, binary, bounds, json, labels, parsed, table, told};
use reticent::core::{Certificate, Event};
use reticent::data::Schema;

/// The sums of the events' ε and δ.
fn total(events: &[Event]) -> (f64, f64) {
    events.iter().fold((0.0, 0.0), |(epsilon, delta), event| match event {
        Event::DiscreteLaplace { noise_multiplier, .. } => (epsilon + 1.0 / noise_multiplier.get(), delta),
        Event::Pure { epsilon: more } | Event::Exponential { epsilon: more } => (epsilon + more.get(), delta),
        Event::Approximate { epsilon: more, delta: too } => (epsilon + more.get(), delta + too.get()),
        other => panic!("unexpected {other:?}"),
    })
}

/// The certificate and the schema's own account of the cost agree, and keep to the budget.
fn costs_at_most(value: &serde_json::Value, epsilon: f64, delta: f64) -> Schema {
    let certificate: Certificate = serde_json::from_value(value["certificate"].clone()).unwrap();
    let schema = parsed(value["schema"].as_str().unwrap());
    let spent = schema.spent().unwrap();
    let (claimed, claimed_delta) = (certificate.guarantee.epsilon.get(), certificate.guarantee.delta.get());
    assert_eq!((spent.epsilon(), spent.delta()), (claimed, claimed_delta));
    assert_eq!(spent.neighboring(), certificate.neighboring.to_string());
    assert_eq!(serde_json::from_str::<Vec<Event>>(spent.events()).unwrap(), certificate.events);
    assert!(claimed <= epsilon && claimed_delta <= delta, "{}", certificate.guarantee);
    let (sum, sum_of_deltas) = total(&certificate.events);
    assert!((sum - claimed).abs() < 1e-9 && (sum_of_deltas - claimed_delta).abs() < 1e-12);
    schema
}

#[test]
fn adult_at_epsilon_one() {
    let words = [ADULT, "--label", "income", "--epsilon", "1", "--delta", "1e-6"];
    let value = json(&words);
    assert_eq!(value["private"], true);
    let schema = costs_at_most(&value, 1.0, 1e-6);
    // Fifteen columns: text has noise of scale 15 and a threshold of about 230, and each label asked for has more
    // than 7000 rows, so it goes missing with probability below e^(−450).
    assert_eq!(schema.label(), Some(&binary("income", ">50K")));
    assert_eq!(labels(&schema, "sex"), ["Female", "Male"]);
    assert!(labels(&schema, "workclass").contains(&"Private".to_owned()));
    assert!(labels(&schema, "native_country").contains(&"United-States".to_owned()));
    assert!(labels(&schema, "marital_status").contains(&"Never-married".to_owned()));
    // An end is chosen at ε = 1/60 among at most 5600 candidates, so it misses its rank by r rows with probability
    // below 5600·e^(−r/120). More than 5000 rows lie below 25, from which on the lower bound would be 25 or more, and
    // more than 6000 above 50, up to which the upper one would be 50 or less.
    let [low, high] = bounds(&schema, "age");
    assert!(low <= 20.0 && high >= 60.0, "{low} to {high}");
    // Likewise: more than 28000 rows lie above 25 hours.
    assert!(bounds(&schema, "hours_per_week")[1] >= 50.0);
    assert!(
        value["schema"].as_str().unwrap().starts_with("# Learnt from the data with differential privacy: ")
    );
}

#[test]
fn the_columns_of_a_csv_file_are_told_apart() {
    let words = [SURVEY, "--label", "income", "--positive", ">50K", "--epsilon", "3", "--delta", "1e-6"];
    // Three columns with ε = 1 each: noise of scale 2 in the histograms, against hundreds of rows in every cell and
    // label asked for. An end misses by r rows with probability below 5600·e^(−r/8), and more than 1000 rows lie on
    // the way to a lower bound above 25 or an upper one below 50.
    let value = json(&words);
    let schema = costs_at_most(&value, 3.0, 1e-6);
    assert_eq!(schema.label(), Some(&binary("income", ">50K")));
    assert_eq!(labels(&schema, "sex"), ["Female", "Male"]);
    assert!(labels(&schema, "education").contains(&"HS-grad".to_owned()));
    let [low, high] = bounds(&schema, "age");
    assert!(low <= 25.0 && high >= 50.0, "{low} to {high}");
    let public = value["certificate"]["public"].as_array().unwrap();
    assert!(public.iter().any(|fact| fact == "positive value >50K of income"), "{public:?}");
}

#[test]
fn a_lone_label_stays_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("kind,number\n{}SECRET,3\n", "common,2\n".repeat(5000));
    let file = table(folder.path(), "t.csv", &text);
    let (schema, warnings) = told(&[&file, "--epsilon", "2", "--delta", "1e-9"]);
    // Shown with probability at most δ; and a schema that was paid for needs no warning.
    assert!(!schema.contains("SECRET") && !warnings.contains("SECRET") && !warnings.contains("NOT PRIVATE"));
    assert!(labels(&parsed(&schema), "kind").contains(&"common".to_owned()));
}

#[test]
fn numbers_alone_need_no_delta() {
    let text = ["workclass", "education", "marital_status", "occupation", "relationship", "race", "sex"];
    let mut words = vec![ADULT, "--epsilon", "1", "--ignore", "native_country", "--ignore", "income"];
    words.extend(text.iter().flat_map(|name| ["--ignore", name]));
    let schema = costs_at_most(&json(&words), 1.0, 0.0);
    assert!(schema.label().is_none() && schema.columns().len() == 15);
    // A budget that finds nothing leaves what it can unsaid, and costs no more than it says.
    let words = [SURVEY, "--epsilon", "0.0001", "--delta", "1e-6"];
    costs_at_most(&json(&words), 0.0001, 1e-6);
}

#[test]
fn the_cost_does_not_depend_on_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let tables = ["a,b\n1,x\n", &format!("a,b\n{}", "y,2\n".repeat(3000)), "a,b\n,\n"];
    let certificates = tables.map(|text| {
        let file = table(folder.path(), "t.csv", text);
        json(&[&file, "--epsilon", "1", "--delta", "1e-6"])["certificate"].clone()
    });
    assert!(certificates.iter().all(|certificate| *certificate == certificates[0]), "{certificates:?}");
}
