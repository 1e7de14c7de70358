use proptest::prelude::*;

use super::*;
use crate::fixture::Folder;

const ADULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/adult/schema.toml");

const PEOPLE: &str = r#"
unit = { column = "user id" }

[label]
column = "group"
categories = ["a", "b", 3, true]
other = 3

[columns]
age = { bounds = [17, 90.5] }
"hours.worked" = { bounds = [0x10, 1e3] }
note = "ignore"
[columns.sex]
categories = [" Female ", "Male"]
"#;

fn categories(labels: &[&str]) -> Categories {
    Categories::new(labels).unwrap()
}

fn error(text: &str) -> String {
    let message = Schema::parse(text, "s.toml").unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// A schema with that one line below `[columns]`, which is line 3.
fn column_error(line: &str) -> String {
    error(&format!("unit = \"row\"\n[columns]\n{line}\n"))
}

/// A schema with these lines below `[label]`, from line 3 on.
fn label_error(lines: &str) -> String {
    error(&format!("unit = \"row\"\n[label]\n{lines}\n[columns]\nx = {{ bounds = [0, 1] }}\n"))
}

#[test]
fn everything_is_read_in_the_order_of_the_text() {
    let schema = Schema::parse(PEOPLE, "s.toml").unwrap();
    assert_eq!(*schema.unit(), PrivacyUnit::Column("user id".into()));
    let target = LabelKind::Classes { categories: categories(&["a", "b", "3", "true"]), other: 2 };
    assert_eq!(schema.label(), Some(&Label { column: "group".into(), target }));
    let column = |name: &str, kind| Column { name: name.into(), kind };
    assert_eq!(
        schema.columns(),
        [
            column("age", FeatureKind::Numeric(Bounds::new(17.0, 90.5).unwrap())),
            column("hours.worked", FeatureKind::Numeric(Bounds::new(16.0, 1000.0).unwrap())),
            column("note", FeatureKind::Ignored),
            column("sex", FeatureKind::Categorical(categories(&["Female", "Male"]))),
        ]
    );
}

#[test]
fn labels_may_be_binary_or_numbers_or_absent() {
    let read = |label: &str| {
        let text = format!("unit = \"row\"\n{label}\n[columns]\nx = \"ignore\"");
        Schema::parse(&text, "s.toml").unwrap().label().map(|label| label.target.clone())
    };
    let binary = |label: &str| Some(LabelKind::Binary { positive: label.to_owned() });
    assert_eq!(read(""), None);
    assert_eq!(read("label = { column = \"y\", positive = \" >50K\" }"), binary(">50K"));
    assert_eq!(read("label = { column = \"y\", positive = 1 }"), binary("1"));
    assert_eq!(read("label = { column = \"y\", positive = true }"), binary("true"));
    let number = LabelKind::Number(Bounds::new(-1.0, 1.0).unwrap());
    assert_eq!(read("[label]\nbounds = [-1, 1]\ncolumn = \"y\""), Some(number));
    let classes = LabelKind::Classes { categories: categories(&["a", "b"]), other: 0 };
    assert_eq!(read("[label]\ncolumn = \"y\"\ncategories = [\"a\", \"b\"]"), Some(classes));
}

#[test]
fn the_top_level_is_checked() {
    assert_eq!(
        error("units = \"row\"\n"),
        "s.toml:1: unknown key \"units\" in the schema (did you mean \"unit\"?): the keys are unit, draft, budget, label, columns, spent"
    );
    assert_eq!(
        error(""),
        "s.toml:1: the schema has no unit: write unit = \"row\" or unit = { column = \"user_id\" }"
    );
    assert_eq!(
        error("\nunit = \"person\""),
        "s.toml:2: unit is some other text: write unit = \"row\" or unit = { column = \"user_id\" }"
    );
    assert_eq!(
        error("unit = { colum = \"id\" }"),
        "s.toml:1: unknown key \"colum\" in unit (did you mean \"column\"?): the keys are column"
    );
    assert_eq!(
        error("unit = { column = 1 }"),
        "s.toml:1: the column of the unit is an integer: write it in quotes"
    );
    assert_eq!(
        error("unit = {}"),
        "s.toml:1: unit has no column: write unit = \"row\" or unit = { column = \"user_id\" }"
    );
    assert_eq!(
        error("unit = \"row\""),
        "s.toml:1: the schema has no columns: write [columns] and below it one line per column"
    );
    assert_eq!(
        error("unit = \"row\"\n[[columns]]\nname = \"age\""),
        "s.toml:2: columns is a list: write [columns] and below it one line per column"
    );
    assert!(error("unit = \"row\"\n\nunit = \"row\"").starts_with("s.toml:3: not valid TOML: duplicate key"));
    assert!(error("unit = row").starts_with("s.toml:1: not valid TOML: "));
    assert!(column_error("age = 1\nage = 2").starts_with("s.toml:4: not valid TOML: duplicate key"));
}

#[test]
fn columns_are_checked() {
    let cases = [
        (
            "age = { bound = [0, 1] }",
            "unknown key \"bound\" in column \"age\" (did you mean \"bounds\"?): the keys are bounds, categories",
        ),
        (
            "age = { kind = \"numeric\" }",
            "unknown key \"kind\" in column \"age\": the keys are bounds, categories",
        ),
        ("age = {}", "column \"age\" needs exactly one of bounds, categories"),
        (
            "age = { bounds = [0, 1], categories = [\"a\"] }",
            "column \"age\" needs exactly one of bounds, categories",
        ),
        (
            "age = \"numeric\"",
            "column \"age\" is some other text: write { bounds = [low, high] }, { categories = [\"a\", \"b\"] } or \"ignore\"",
        ),
        ("a.b = { bounds = [0, 1] }", "the column name \"a.b\" has a dot: put it in quotes"),
        ("age = { bounds = [1, 1] }", "the bounds [1, 1] do not increase: give the lower one first"),
        ("age = { bounds = [2, 1.5] }", "the bounds [2, 1.5] do not increase: give the lower one first"),
        ("age = { bounds = [0, inf] }", "the bounds are not finite: give two numbers, the lower one first"),
        ("age = { bounds = [nan, 1] }", "the bounds are not finite: give two numbers, the lower one first"),
        (
            "age = { bounds = [-1e308, 1e308] }",
            "the bounds are not finite: give two numbers, the lower one first",
        ),
        ("age = { bounds = [1] }", "bounds is not a list of two numbers: write bounds = [low, high]"),
        ("age = { bounds = [1, \"2\"] }", "a bound is some other text: write bounds = [low, high]"),
        ("age = { bounds = 1 }", "bounds is an integer: write bounds = [low, high]"),
        ("sex = { categories = \"a\" }", "categories is some other text: write categories = [\"a\", \"b\"]"),
        ("sex = { categories = [] }", "there are no categories: list at least one"),
        (
            "sex = { categories = [\"a\", \" \"] }",
            "a category is blank: blank cells are missing and need no category",
        ),
        ("sex = { categories = [1.5] }", "a category is a float: write it in quotes"),
        ("\" \" = \"ignore\"", "a column has no name: give it the one it has in the table"),
    ];
    for (line, message) in cases {
        assert_eq!(column_error(line), format!("s.toml:3: {message}"));
    }
    assert_eq!(
        column_error("sex = { categories = [\n  \"a\",\n  \"b\", \"a \",\n] }"),
        "s.toml:5: the category \"a\" is declared twice: remove one"
    );
}

#[test]
fn labels_are_checked() {
    let cases = [
        ("positive = \"a\"", 2, "[label] has no column: write [label] and below it column = \"name\""),
        ("column = \"y\"", 2, "[label] needs exactly one of positive, categories, bounds"),
        (
            "column = \"y\"\npositive = \"a\"\nbounds = [0, 1]",
            2,
            "[label] needs exactly one of positive, categories, bounds",
        ),
        (
            "column = \"y\"\npositve = \"a\"",
            4,
            "unknown key \"positve\" in [label] (did you mean \"positive\"?): the keys are column, positive, categories, other, bounds",
        ),
        (
            "column = \"y\"\npositive = \" \"",
            4,
            "a category is blank: blank cells are missing and need no category",
        ),
        ("column = \"y\"\ncategories = [\"a\"]", 4, "the label has one class: list at least two"),
        (
            "column = \"y\"\ncategories = [\"a\", \"b\"]\nother = \"c\"",
            5,
            "other = \"c\" is not one of the label's categories: name one of them",
        ),
        (
            "column = \"y\"\nother = \"c\"\npositive = \"c\"",
            4,
            "other says which of the label's categories undeclared labels count as: remove it, or list categories",
        ),
        ("column = \"\"\npositive = \"a\"", 3, "a column has no name: give it the one it has in the table"),
    ];
    for (lines, line, message) in cases {
        assert_eq!(label_error(lines), format!("s.toml:{line}: {message}"));
    }
    assert_eq!(
        label_error("column = \"x\"\npositive = 1"),
        "s.toml:6: \"x\" is the label and may not be a feature as well: remove it from [columns]"
    );
    assert_eq!(
        error("unit = { column = \"x\" }\n[columns]\ny = \"ignore\"\nx = \"ignore\""),
        "s.toml:4: \"x\" is the privacy unit and may not be a feature: remove it from [columns]"
    );
    assert_eq!(
        error("unit = { column = \"x\" }\n[label]\ncolumn = \"x\"\npositive = 1\n[columns]\ny = \"ignore\""),
        "s.toml:3: \"x\" is both the label and the privacy unit: choose another label"
    );
}

#[test]
fn schemas_made_by_hand_are_checked_too() {
    let column = |name: &str| Column { name: name.into(), kind: FeatureKind::Ignored };
    let error = Schema::new(PrivacyUnit::Row, None, vec![column("a"), column("b"), column("a")]).unwrap_err();
    assert_eq!(error.to_string(), "schema: the column \"a\" is declared twice: remove one");
    let target = LabelKind::Classes { categories: categories(&["a", "b"]), other: 2 };
    let label = Label { column: "y".into(), target };
    assert!(Schema::new(PrivacyUnit::Row, Some(label), Vec::new()).is_err());
    assert_eq!(
        Categories::new(["a", "b", " a"]),
        Err(SchemaProblem::DuplicateCategory { category: "a".into() })
    );
}

#[test]
fn places_lie_between_0_and_1() {
    let bounds = Bounds::new(17.0, 90.0).unwrap();
    assert_eq!(bounds.place(17.0), Some(0.0));
    assert_eq!(bounds.place(53.5), Some(0.5));
    assert_eq!(bounds.place(1000.0), Some(1.0));
    assert_eq!(bounds.place(f64::NEG_INFINITY), Some(0.0));
    assert_eq!(bounds.place(f64::NAN), None);
    assert_eq!(bounds.at(0.5), 53.5);
    let tiny = Bounds::new(0.0, f64::from_bits(1)).unwrap();
    assert_eq!(tiny.place(f64::from_bits(1)), Some(1.0));
}

#[test]
fn the_schema_of_adult_declares_its_columns() {
    let schema = Schema::read(ADULT.as_ref()).unwrap();
    assert_eq!(schema.columns().len(), 14);
    let counts = schema.columns().iter().filter_map(|column| match &column.kind {
        FeatureKind::Categorical(categories) => Some(categories.labels().len()),
        _ => None,
    });
    assert_eq!(counts.collect::<Vec<_>>(), [8, 16, 7, 14, 6, 5, 2, 41]);
    let table = crate::open_table(&Path::new(ADULT).with_file_name("adult.parquet")).unwrap();
    crate::Encoder::new(&schema).unwrap().check(&table).unwrap();
    assert_eq!(Schema::parse(&schema.to_toml(), "again").unwrap(), schema);
    assert!(schema.to_toml().lines().all(|line| line.chars().count() <= 110));
}

#[test]
fn files_are_read_under_limits() {
    let folder = Folder::new();
    let read = |path: &Path| folder.message(Schema::read(path).unwrap_err());
    assert_eq!(read(&folder.path("none.toml")), "none.toml: no such file");
    assert!(read(&folder.file("empty.toml", "")).contains("not a readable schema file (it is empty)"));
    assert!(read(&folder.file("latin.toml", b"unit = \"caf\xe9\"")).contains("it is not UTF-8 text"));
    assert!(read(&folder.file("s.toml", "unit = 1")).starts_with("s.toml:1: unit is an integer"));
    std::fs::create_dir(folder.path("folder")).unwrap();
    assert_eq!(read(&folder.path("folder")), "folder: not a regular file");
    let large = folder.path("large.toml");
    std::fs::File::create(&large).unwrap().set_len(MOST_BYTES + 1).unwrap();
    assert!(read(&large).contains("16777217 bytes, and the most is 16777216"));
}

fn bounds() -> impl Strategy<Value = Bounds> {
    (-1e300..1e300f64, -1e300..1e300f64)
        .prop_filter_map("two different numbers", |(a, b)| Bounds::new(a.min(b), a.max(b)).ok())
}

fn labels() -> impl Strategy<Value = Categories> {
    proptest::collection::btree_set("[ -~é\n\t\u{7f}]{1,30}", 2..12)
        .prop_filter_map("distinct labels", |labels| Categories::new(labels).ok())
}

fn schemas() -> impl Strategy<Value = Schema> {
    let target = prop_oneof![
        "[a-z<>=\"\\\\]{1,8}".prop_map(|positive| LabelKind::Binary { positive }),
        bounds().prop_map(LabelKind::Number),
        (labels(), any::<usize>()).prop_map(|(categories, other)| {
            let other = other % categories.labels().len();
            LabelKind::Classes { categories, other }
        }),
    ];
    let label = target.prop_map(|target| Label { column: "the label".into(), target });
    let kind = prop_oneof![
        bounds().prop_map(FeatureKind::Numeric),
        labels().prop_map(FeatureKind::Categorical),
        Just(FeatureKind::Ignored)
    ];
    let columns = proptest::collection::btree_map("[a-z.\"é-]{1,9}", kind, 0..6);
    let unit = prop_oneof![Just(PrivacyUnit::Row), "[A-Z ]{0,5}[A-Z]".prop_map(PrivacyUnit::Column)];
    (unit, proptest::option::of(label), columns).prop_map(|(unit, label, columns)| {
        let columns = columns.into_iter().map(|(name, kind)| Column { name, kind }).collect();
        Schema::new(unit, label, columns).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_written_reads_back(schema in schemas()) {
        let text = schema.to_toml();
        match Schema::parse(&text, "s.toml") {
            Ok(read) => prop_assert_eq!(read, schema),
            Err(error) => prop_assert!(false, "{error}\n{text}"),
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "([a-z\\[\\]{}=\",. \n0-9-]|unit|label|columns|bounds|categories){0,60}") {
        let _ = Schema::parse(&text, "s.toml");
    }

    #[test]
    fn altered_schemas_never_panic(at in 0usize..400, byte in 32u8..127) {
        let mut text = PEOPLE.as_bytes().to_vec();
        let at = at % text.len();
        text[at] = byte;
        let _ = Schema::parse(&String::from_utf8(text).unwrap(), "s.toml");
    }

    #[test]
    fn positions_are_those_of_the_labels(categories in labels()) {
        for (at, label) in categories.labels().iter().enumerate() {
            prop_assert_eq!(categories.position(label), Some(at));
        }
        prop_assert_eq!(categories.position("\u{1}"), None);
    }
}

#[test]
fn a_draft_says_so() {
    let text = "unit = \"row\"\ndraft = true\n\n[columns]\nx = { bounds = [0, 1] }\n";
    let schema = Schema::parse(text, "s.toml").unwrap();
    assert!(schema.is_draft() && schema.to_toml() == text);
    assert!(!Schema::parse(&text.replace("true", "false"), "s.toml").unwrap().is_draft());
    assert!(error("unit = \"row\"\ndraft = 1\n[columns]\n").contains("s.toml:2: draft"));
}

#[test]
fn a_schema_may_name_a_budget() {
    let text = "unit = \"row\"\nbudget = \"hospital.budget\"\n\n[columns]\nx = { bounds = [0, 1] }\n";
    let schema = Schema::parse(text, "s.toml").unwrap();
    assert_eq!((schema.budget(), schema.to_toml().as_str()), (Some("hospital.budget"), text));
    for wrong in ["1", "\"\"", "[\"a\"]"] {
        let text = format!("unit = \"row\"\nbudget = {wrong}\n[columns]\n");
        assert!(error(&text).contains("s.toml:2: budget"), "{wrong}");
    }
}
