use super::text::*;
use super::*;

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn an_unknown_column_lists_the_columns_and_suggests_one() {
    let error = DataError::unknown_column("people.csv", "agee", names(&["age", "sex", "income"]));
    assert_eq!(
        error.to_string(),
        "column \"agee\" is not in people.csv: it has age, sex, income (did you mean \"age\"?)"
    );
    let error = DataError::unknown_column("people.csv", "height", names(&["age", "sex"]));
    assert_eq!(error.to_string(), "column \"height\" is not in people.csv: it has age, sex");
    let error = DataError::unknown_column("people.csv", "age", Vec::new());
    assert_eq!(error.to_string(), "column \"age\" is not in people.csv: it has no columns");
}

#[test]
fn a_long_list_of_columns_is_cut() {
    let known: Vec<String> = (0..40).map(|i| format!("feature_{i:02}")).collect();
    let message = DataError::unknown_column("wide.csv", "x", known).to_string();
    assert!(message.ends_with("feature_10, feature_11 and 28 more"), "{message}");
}

#[test]
fn suggestions_allow_for_case_and_a_third_of_the_letters() {
    let known = names(&["a", "hours_per_week", "sex"]);
    assert_eq!(closest("hours-per-week", &known), Some("hours_per_week"));
    assert_eq!(closest("SEX", &known), Some("sex"));
    assert_eq!(closest("A", &known), Some("a"));
    assert_eq!(closest("b", &known), None);
    assert_eq!(closest("", &known), None);
}

#[test]
fn edit_distance_counts_insertions_deletions_and_substitutions() {
    let distance =
        |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(distance("abc", ""), 3);
    assert_eq!(distance("same", "same"), 0);
}

#[test]
fn messages_stay_on_one_line() {
    let error = DataError::unknown_column("t.csv", "a\nb", names(&["c\nd"]));
    assert!(!error.to_string().contains('\n'));
}

#[test]
fn rows_and_sizes_are_named() {
    let changed = DataError::Changed { file: "t.csv".into() };
    assert_eq!(
        changed.to_string(),
        "t.csv: the file changed while it was being read: run again once nothing writes to it"
    );
    let io = DataError::io("t.csv", "read", &std::io::Error::other("disk on fire"));
    assert_eq!(io.to_string(), "t.csv: cannot read: disk on fire");
}
