use std::path::{Path, PathBuf};

use arrow_array::{BooleanArray, Float64Array, Int64Array, StringArray};
use proptest::prelude::*;

use super::*;
use crate::fixture::{Folder, array};
use crate::open_table;
use std::sync::Arc;

const ADULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/adult/adult.parquet");

const SCHEMA: &str = r#"
unit = "row"
label = { column = "y", positive = "yes" }
[columns]
age = { bounds = [0, 100] }
skipped = "ignore"
sex = { categories = ["F", "M"] }
"#;

fn encoder(schema: &str) -> Encoder {
    Encoder::new(&Schema::parse(schema, "s.toml").unwrap()).unwrap()
}

fn encoded(schema: &str, path: &Path) -> (FeatureMatrix, EncodingTally) {
    encoder(schema).encode(&open_table(path).unwrap(), &mut |_| {}).unwrap()
}

/// The rows as pairs of feature and value, without the scale.
fn unscaled(encoder: &Encoder, design: &FeatureMatrix) -> Vec<Vec<(String, f64)>> {
    let row = |row| {
        let (columns, values) = design.row(row);
        let named = columns
            .iter()
            .zip(values)
            .map(|(column, value)| (encoder.features()[*column as usize].to_string(), value / encoder.scale));
        named.collect()
    };
    (0..design.rows()).map(row).collect()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn adult() -> (Encoder, Arc<dyn Table>) {
    let schema = Schema::read(&Path::new(ADULT).with_file_name("schema.toml")).unwrap();
    (Encoder::new(&schema).unwrap(), open_table(ADULT.as_ref()).unwrap())
}

#[test]
fn features_are_named_after_the_schema() {
    let encoder = encoder(SCHEMA);
    let names: Vec<String> = encoder.features().iter().map(Feature::to_string).collect();
    assert_eq!(names, ["age", "age:missing", "sex=F", "sex=M", "sex:other", "sex:missing"]);
    assert_eq!(encoder.dimension(), 6);
    assert_eq!(encoder.columns(), ["age", "sex", "y"]);
    assert_eq!(encoder.without_label().columns(), ["age", "sex"]);
}

#[test]
fn every_kind_of_cell_has_its_place() {
    let folder = Folder::new();
    let rows = "25,F,yes\n0, M ,no\n-3,X,\n1e9,,YES\n,F,yes \nold,F,maybe\nnan,F,0\ninf,F,yes\n-inf,F,yes\n";
    let path = folder.file("t.csv", format!("age,sex,y\n{rows}"));
    let (design, tally) = encoded(SCHEMA, &path);
    let named = |cells: &[(&str, f64)]| -> Vec<(String, f64)> {
        cells.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    };
    let expected = [
        named(&[("age", 0.25), ("sex=F", 1.0)]),
        named(&[("sex=M", 1.0)]),
        named(&[("sex:other", 1.0)]),
        named(&[("age", 1.0), ("sex:missing", 1.0)]),
        named(&[("age:missing", 1.0), ("sex=F", 1.0)]),
        named(&[("age:missing", 1.0), ("sex=F", 1.0)]),
        named(&[("age:missing", 1.0), ("sex=F", 1.0)]),
        named(&[("age", 1.0), ("sex=F", 1.0)]),
        named(&[("sex=F", 1.0)]),
    ];
    assert_eq!(unscaled(&encoder(SCHEMA), &design), expected);
    assert_eq!(design.labels(), [1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0]);
    assert_eq!(design.users(), None);
    let column = |outside, missing| ColumnTally { outside, missing };
    assert_eq!(
        tally,
        EncodingTally { rows: 9, columns: vec![column(4, 3), column(1, 1)], label: column(0, 1) }
    );
}

#[test]
fn typed_columns_give_the_same_numbers() {
    let folder = Folder::new();
    let csv = folder.file("t.csv", "age,sex,y\n25,1,true\n,0,false\n50.5,,\n");
    let columns = vec![
        ("y", array(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("sex", array(Int64Array::from(vec![Some(1), Some(0), None]))),
        ("age", array(Float64Array::from(vec![25.0, f64::NAN, 50.5]))),
    ];
    let parquet = folder.parquet("t.parquet", columns);
    let schema = SCHEMA.replace("\"yes\"", "true").replace("[\"F\", \"M\"]", "[0, 1]");
    assert_eq!(encoded(&schema, &csv), encoded(&schema, &parquet));
    assert_eq!(encoded(&schema, &csv).0.labels(), [1.0, -1.0, -1.0]);
}

#[test]
fn labels_of_several_classes_and_of_numbers() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "age,sex,y\n1,F,0\n1,F,10\n1,F,5\n1,F,99\n1,F,\n1,F,x\n");
    let schema = |label: &str| SCHEMA.replace("positive = \"yes\"", label);
    let (design, tally) = encoded(&schema("bounds = [0, 10]"), &path);
    assert_eq!(design.labels(), [-1.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(tally.label, ColumnTally { outside: 1, missing: 2 });
    let (design, tally) = encoded(&schema("categories = [0, 5, 10], other = 5"), &path);
    assert_eq!(design.labels(), [0.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(tally.label, ColumnTally { outside: 2, missing: 1 });
    let (design, _) = encoded(&schema("categories = [0, 5, 10]"), &path);
    assert_eq!(design.labels(), [0.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_table_without_the_label_can_be_encoded_for_prediction() {
    let folder = Folder::new();
    let table = open_table(&folder.file("t.csv", "sex,age\nF,25\n")).unwrap();
    let error = encoder(SCHEMA).encode(&table, &mut |_| {}).unwrap_err();
    assert_eq!(folder.message(error), "column \"y\" is not in t.csv: it has sex, age");
    let encoder = encoder(SCHEMA).without_label();
    let (design, tally) = encoder.encode(&table, &mut |_| {}).unwrap();
    assert_eq!((design.rows(), design.labels()), (1, &[][..]));
    assert_eq!(tally.label, ColumnTally::default());
}

#[test]
fn tables_that_cannot_fit_are_refused_before_they_are_read() {
    let folder = Folder::new();
    let bools = || array(BooleanArray::from(vec![true]));
    let text = || array(StringArray::from(vec!["1"]));
    let columns = vec![("age", bools()), ("sex", text()), ("y", text())];
    let table = open_table(&folder.parquet("t.parquet", columns)).unwrap();
    assert_eq!(
        folder.message(encoder(SCHEMA).check(&table).unwrap_err()),
        "column \"age\" of t.parquet is true or false and the schema gives it bounds: declare categories = [\"false\", \"true\"]"
    );
    let columns = vec![("age", text()), ("sex", text()), ("y", bools())];
    let table = open_table(&folder.parquet("t.parquet", columns)).unwrap();
    assert!(encoder(SCHEMA).check(&table).is_ok());
    let regression = SCHEMA.replace("positive = \"yes\"", "bounds = [0, 1]");
    assert!(matches!(encoder(&regression).check(&table), Err(DataError::NotNumeric { .. })));
    let nothing = Schema::parse("unit = \"row\"\n[columns]\nx = \"ignore\"", "s.toml").unwrap();
    assert_eq!(Encoder::new(&nothing).unwrap_err(), DataError::NoFeatures);
}

const BY_USER: &str = "unit = { column = \"id\" }\n[columns]\nx = { bounds = [0, 1] }\n";

fn users_file(folder: &Folder) -> PathBuf {
    folder.file("t.csv", "x,id\n0.1,b\n0.2,a\n0.3,\n0.4, b\n0.5,\n0.6,c\n")
}

#[test]
fn users_are_numbered_and_a_row_without_one_is_by_itself() {
    let folder = Folder::new();
    let path = users_file(&folder);
    let (design, _) = encoded(BY_USER, &path);
    assert_eq!(design.users(), Some(&[0, 1, 2, 0, 3, 4][..]));
    assert!(design.labels().is_empty());
    let table = open_table(&path).unwrap();
    let mut chunks = Vec::new();
    let mut visit = |chunk: &FeatureMatrix| -> Result<(), DataError> {
        chunks.push(chunk.users().unwrap().to_vec());
        Ok(())
    };
    encoder(BY_USER).scan(&table, 4, &mut |_| {}, &mut visit).unwrap();
    assert_eq!(chunks, [vec![0, 1, 2, 0], vec![3, 4]]);
}

/// A list of missing texts would make every row of the user `NA` a user by itself, whom no limit holds.
#[test]
fn a_user_called_na_is_one_user() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "x,id\n0.1,NA\nNA,NA\n0.3,null\n0.4,null\n0.5,\n");
    assert_eq!(encoded(BY_USER, &path).0.users(), Some(&[0, 0, 1, 1, 2][..]));
}

#[test]
fn a_split_keeps_users_together() {
    let folder = Folder::new();
    let path = folder.file("t.csv", {
        let rows: String = (0..400).map(|row| format!("{},{}\n", row % 97, row % 40)).collect();
        format!("x,id\n{rows}")
    });
    let table = open_table(&path).unwrap();
    let split = Split::new("key", 0.3).unwrap();
    let (sides, tally) = encoder(BY_USER).encode_split(&table, &split, &mut |_| {}).unwrap();
    let distinct = |design: &FeatureMatrix| design.users().unwrap().iter().max().map_or(0, |most| most + 1);
    assert_eq!(distinct(&sides.train) + distinct(&sides.test), 40);
    assert_eq!((sides.train.rows() + sides.test.rows(), tally.rows), (400, 400));
}

/// The rows of both sides as collections: entries, label, and how often.
fn collections(table: &str, schema: &str, key: &str) -> [std::collections::BTreeMap<Vec<u64>, usize>; 2] {
    let folder = Folder::new();
    let table = open_table(&folder.file("t.csv", table)).unwrap();
    let split = Split::new(key, 0.3).unwrap();
    let (sides, _) = encoder(schema).encode_split(&table, &split, &mut |_| {}).unwrap();
    [sides.train, sides.test].map(|design| {
        let mut rows = std::collections::BTreeMap::new();
        for row in 0..design.rows() {
            let (columns, values) = design.row(row);
            let mut content: Vec<u64> = columns.iter().map(|column| u64::from(*column)).collect();
            content.extend(values.iter().chain(design.labels().get(row)).map(|value| value.to_bits()));
            *rows.entry(content).or_default() += 1;
        }
        rows
    })
}

const REPEATED: &str = "unit = \"row\"\n[columns]\nx = { bounds = [0, 5] }\nc = { categories = [\"a\", \"b\"] }\n\
                        [label]\ncolumn = \"y\"\npositive = \"yes\"";

/// Nine in ten rows are alike, and the share is met none the less.
#[test]
fn equal_rows_have_a_coin_each() {
    let lines: String = (0..20_000).map(|row| if row % 10 == 0 { "2,b,no\n" } else { "1,a,yes\n" }).collect();
    let [train, test] = collections(&format!("x,c,y\n{lines}"), REPEATED, "key");
    assert_eq!((train.len(), test.len()), (2, 2));
    // 6 000 with a standard deviation of 65; the key is fixed.
    let held_out: usize = test.values().sum();
    assert!(held_out.abs_diff(6000) < 260, "{held_out}");
    assert_eq!(train.values().sum::<usize>() + held_out, 20_000);
}

/// Rows that are encoded alike from different text, in any order: one less changes one side by that row.
#[test]
fn one_row_less_changes_one_side_by_that_row() {
    let lines = [
        "1,a,yes",
        "1.0,a,yes",
        "9,a,yes",
        "5,a,yes",
        "7,a,yes",
        "1,a,yes",
        " 1 ,a,yes",
        "2,z,no",
        "2,q,no",
        "2,z,",
        "2,q,maybe",
        ",b,no",
        "none,b,no",
        "3,b,no",
        "1,a,yes",
        "1,a,yes",
        "2,z,no",
    ];
    let table = |lines: &[&str]| format!("x,c,y\n{}\n", lines.join("\n"));
    for key in 0..40 {
        let key = key.to_string();
        let whole = collections(&table(&lines), REPEATED, &key);
        let mut turned = lines;
        for turn in 0..lines.len() {
            turned.rotate_left(1);
            assert_eq!(collections(&table(&turned), REPEATED, &key), whole, "order, key {key}");
            let less = collections(&table(&[&lines[..turn], &lines[turn + 1..]].concat()), REPEATED, &key);
            let mut removed = 0;
            for (before, after) in whole.iter().zip(&less) {
                for (content, count) in before {
                    removed += count - after.get(content).copied().unwrap_or(0);
                }
                assert!(after.keys().all(|content| before.contains_key(content)));
            }
            assert_eq!(removed, 1, "key {key}, without row {turn}");
        }
    }
}

#[test]
fn rows_without_a_user_do_not_share_a_coin() {
    let lines: String = (0..2000).map(|_| "1,\n").collect();
    let [train, test] = collections(&format!("x,id\n{lines}"), BY_USER, "key");
    let held_out: usize = test.values().sum();
    assert!(held_out.abs_diff(600) < 90 && !train.is_empty(), "{held_out}");
}

#[test]
fn adult_is_encoded_by_its_public_schema() {
    let (encoder, table) = adult();
    assert_eq!(encoder.dimension(), 5 * 2 + 99 + 8 * 2);
    let (design, tally) = encoder.encode(&table, &mut |_| {}).unwrap();
    assert_eq!((design.rows(), tally.rows), (32_561, 32_561));
    assert_eq!(design.labels().iter().filter(|label| **label > 0.0).count(), 7841);
    // The documentation covers the data: nothing is clamped or undeclared.
    assert!(tally.columns.iter().all(|column| column.outside == 0));
    let missing: Vec<u64> = tally.columns.iter().map(|column| column.missing).collect();
    assert_eq!(missing, [0, 1836, 0, 0, 0, 1843, 0, 0, 0, 0, 0, 0, 583]);
    assert!((0..design.rows()).all(|row| norm(design.row(row).1) <= 1.0));
    let split = Split::new("adult", 0.25).unwrap();
    let (sides, _) = encoder.encode_split(&table, &split, &mut |_| {}).unwrap();
    assert_eq!((sides.train.rows(), sides.test.rows()), (24_342, 8219));
}

#[test]
fn chunks_together_are_the_whole() {
    let (encoder, table) = adult();
    let (whole, tally) = encoder.encode(&table, &mut |_| {}).unwrap();
    let (mut values, mut labels, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    let mut visit = |chunk: &FeatureMatrix| -> Result<(), DataError> {
        values.extend_from_slice(chunk.values());
        labels.extend_from_slice(chunk.labels());
        sizes.push(chunk.rows());
        Ok(())
    };
    let chunked = encoder.scan(&table, 10_000, &mut |_| {}, &mut visit).unwrap();
    assert_eq!((values.as_slice(), labels.as_slice()), (whole.values(), whole.labels()));
    assert_eq!((sizes, chunked), (vec![10_000, 10_000, 10_000, 2561], tally));
    let stop = &mut |_: &FeatureMatrix| Err(DataError::NoFeatures);
    assert_eq!(encoder.scan(&table, 0, &mut |_| {}, stop), Err(DataError::NoFeatures));
}

#[test]
fn designs_are_checked() {
    let sparse = |offsets: &[usize], columns: &[u32], labels: &[f64], bound| {
        let values = vec![1.0; columns.len()];
        FeatureMatrix::sparse(3, offsets.to_vec(), columns.to_vec(), values, labels.to_vec(), bound)
    };
    assert!(sparse(&[0, 2, 2, 3], &[0, 2, 1], &[1.0, -1.0, 1.0], 1.0).is_ok());
    assert!(sparse(&[0], &[], &[], 1.0).is_ok());
    let refused = [
        sparse(&[], &[], &[], 1.0),
        sparse(&[0, 2], &[0], &[], 1.0),
        sparse(&[1, 1], &[0], &[], 1.0),
        sparse(&[0, 2, 1, 2], &[0, 1], &[], 1.0),
        sparse(&[0, 2], &[1, 1], &[], 1.0),
        sparse(&[0, 1], &[3], &[], 1.0),
        sparse(&[0, 1], &[0], &[1.0, 1.0], 1.0),
        sparse(&[0, 1], &[0], &[f64::NAN], 1.0),
        sparse(&[0, 1], &[0], &[], 0.0),
        sparse(&[0, 1], &[0], &[], f64::INFINITY),
        FeatureMatrix::sparse(3, vec![0, 1], vec![0, 1], vec![1.0], vec![], 1.0),
        FeatureMatrix::dense(2, &[1.0; 3], vec![], 1.0),
        FeatureMatrix::dense(0, &[], vec![], 1.0),
    ];
    for design in refused {
        assert!(matches!(design, Err(DataError::InvalidMatrix { .. })), "{design:?}");
    }
    let design =
        FeatureMatrix::dense(2, &[3.0, 4.0, 0.0, 0.5, f64::NAN, f64::INFINITY], vec![], 1.0).unwrap();
    assert_eq!((design.rows(), design.dimension(), design.norm_bound()), (3, 2, 1.0));
    assert!((design.values()[0] - 0.6).abs() < 1e-14 && norm(design.row(0).1) <= 1.0);
    assert_eq!(design.row(1), (&[1][..], &[0.5][..]));
    assert_eq!(design.row(2).1, [0.0, 0.0]);
    assert_eq!((design.offsets(), design.columns()), (&[0, 2, 3, 5][..], &[0, 1, 1, 0, 1][..]));
}

proptest! {
    #[test]
    fn clipped_rows_keep_their_bound(
        row in proptest::collection::vec(prop_oneof![any::<f64>(), -3.0..3.0f64], 1..40),
        bound in prop_oneof![1e-3..1e3f64, Just(1.0)],
    ) {
        let design = FeatureMatrix::dense(row.len(), &row, vec![], bound).unwrap();
        let (columns, values) = design.row(0);
        prop_assert!(norm(values) <= bound);
        for (column, value) in columns.iter().zip(values) {
            let given = row[*column as usize];
            prop_assert!(*value == 0.0 || (value.signum() == given.signum() && value.abs() <= given.abs()));
        }
    }

    #[test]
    fn any_row_has_norm_at_most_1_and_one_label(
        columns in 1usize..30,
        cells in proptest::collection::vec("[ a-z0-9.+-]{0,6}", 30),
    ) {
        let kinds = ["{ bounds = [0, 9] }", "{ categories = [\"a\", \"b\", 1] }"];
        let declared: String = (0..columns).map(|at| format!("c{at} = {}\n", kinds[at % 2])).collect();
        let schema = format!("unit = \"row\"\nlabel = {{ column = \"c30\", bounds = [0, 1] }}\n[columns]\n{declared}");
        let header: Vec<String> = (0..30).map(|at| format!("c{at}")).collect();
        let table = format!("{},c30\n{},1\n", header.join(","), cells.join(","));
        let folder = Folder::new();
        let (design, _) = encoded(&schema, &folder.file("t.csv", table));
        prop_assert_eq!(design.rows(), 1);
        prop_assert_eq!(design.labels(), [1.0]);
        prop_assert!(norm(design.values()) <= 1.0);
    }
}

#[test]
fn users_become_rows() {
    let schema = Schema::parse(
        "unit = { column = \"id\" }\n[label]\ncolumn = \"y\"\npositive = \"a\"\n[columns]\nx = { bounds = [0, 1] }",
        "s",
    )
    .unwrap();
    let folder = Folder::new();
    let path = folder.file("t.csv", "id,x,y\nu,1,a\nv,0.5,b\nu,0,b\nu,0.5,a\nv,0.5,a\n");
    let table = open_table(&path).unwrap();
    let design = Encoder::new(&schema).unwrap().encode(&table, &mut |_| {}).unwrap().0;
    let merged = design.clone().by_user(true);
    assert_eq!((merged.rows(), merged.users().unwrap()), (2, &[0, 1][..]));
    // The mean of 1, 0 and 0.5; two of three labels are positive; of equals the smaller, negative, one counts.
    assert!((merged.row(0).1[0] - 0.5).abs() < 1e-12 && (merged.row(1).1[0] - 0.5).abs() < 1e-12);
    assert_eq!(merged.labels(), [1.0, -1.0]);
    assert!((design.by_user(false).labels()[0] - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn without_a_user_one_row_is_gone_and_the_others_stay() {
    let schema = "unit = { column = \"id\" }\n[label]\ncolumn = \"y\"\npositive = \"a\"\n[columns]\nx = { bounds = [0, 1] }";
    let lines = ["u,1,a", "v,0.5,b", ",0.2,a", "u,0,b", "w,0.9,a", ",0.7,b", "v,0.1,a"];
    let rows_of = |kept: &dyn Fn(&str) -> bool| -> Vec<(Vec<f64>, f64)> {
        let folder = Folder::new();
        let text: String = lines.iter().filter(|line| kept(line)).map(|line| format!("{line}\n")).collect();
        let path = folder.file("t.csv", format!("id,x,y\n{text}"));
        let merged = encoded(schema, &path).0.by_user(true);
        let mut rows: Vec<_> =
            (0..merged.rows()).map(|row| (merged.row(row).1.to_vec(), merged.labels()[row])).collect();
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        rows
    };
    let whole = rows_of(&|_| true);
    // u, v, w, and the two rows that have no id.
    assert_eq!(whole.len(), 5);
    for gone in ["u,", "v,", "w,", ",0.2", ",0.7"] {
        let rest = rows_of(&|line| !line.starts_with(gone));
        let missing = whole.iter().filter(|row| !rest.contains(row)).count();
        assert!(rest.len() == 4 && missing == 1 && rest.iter().all(|row| whole.contains(row)), "{gone}");
    }
}

#[test]
fn rows_are_taken_and_joined() {
    let design = |first: f64| {
        FeatureMatrix::sparse(
            3,
            vec![0, 1, 1, 3],
            vec![2, 0, 1],
            vec![first, 0.3, 0.4],
            vec![1.0, -1.0, 1.0],
            1.0,
        )
        .unwrap()
    };
    let chosen = design(0.5).subset(&[2, 0, 2]);
    assert_eq!((chosen.rows(), chosen.labels()), (3, &[1.0, 1.0, 1.0][..]));
    assert_eq!(chosen.row(0), (&[0, 1][..], &[0.3, 0.4][..]));
    assert_eq!(chosen.row(1), (&[2][..], &[0.5][..]));
    let both = design(0.5).followed_by(&design(0.25)).unwrap();
    assert_eq!(both.rows(), 6);
    assert_eq!(both.row(3), (&[2][..], &[0.25][..]));
    assert_eq!(both.row(5), design(0.25).row(2));
    let narrow = FeatureMatrix::sparse(2, vec![0, 0], vec![], vec![], vec![1.0], 1.0).unwrap();
    assert!(design(0.5).followed_by(&narrow).is_err());
}

#[test]
fn tallies_of_parts_add_up_to_the_tally_of_the_whole() {
    use crate::MemoryTable;
    use arrow_array::{ArrayRef, RecordBatch};
    use reticent_core::Partial;
    let ages: ArrayRef =
        Arc::new(Float64Array::from(vec![Some(20.0), None, Some(500.0), Some(-7.0), Some(33.0)]));
    let labels: ArrayRef =
        Arc::new(StringArray::from(vec![Some("yes"), Some("no"), None, Some("maybe"), Some("yes")]));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("age", ages, true), ("paid", labels, true)]).unwrap();
    let schema = "unit = \"row\"\n[label]\ncolumn = \"paid\"\npositive = \"yes\"\n[columns]\nage = { bounds = [0, 100] }\n";
    let encoder = encoder(schema);
    let tally = |batches: Vec<RecordBatch>| {
        let table = MemoryTable::new("people", batch.schema(), batches).unwrap();
        encoder.encode(&table, &mut |_| {}).unwrap().1
    };
    let whole = tally(vec![batch.clone()]);
    assert_eq!((whole.rows, whole.columns[0].outside, whole.columns[0].missing), (5, 2, 1));
    for cut in 0..=5 {
        let mut merged = tally(vec![batch.slice(cut, 5 - cut)]);
        merged.merge(&tally(vec![batch.slice(0, cut)])).unwrap();
        assert_eq!(merged, whole);
    }
    assert!(tally(Vec::new()).merge(&EncodingTally::default()).is_err());
}
