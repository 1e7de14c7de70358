//! Bad input: exit status 2, one line that names the flag, nothing on standard output.

use super::{ADULT, SURVEY, release};
use std::path::Path;

/// Asserts a refusal whose line begins as given.
fn refused(words: &[&str], start: &str) {
    let output = release(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{words:?}");
    assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
    assert!(stderr.starts_with("error[R") && stderr.contains(&format!("]: {start}")), "{words:?}: {stderr}");
    assert!(stderr.trim_end().matches(": ").count() >= 2, "no remedy: {stderr}");
}

fn table(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn files_and_columns() {
    refused(&["count", "nowhere.csv", "--epsilon", "1"], "nowhere.csv: no such file: check");
    refused(&["count", "testdata", "--epsilon", "1"], "testdata: the folder has no .parquet files");
    refused(&["count", "README.md", "--epsilon", "1"], "README.md: unknown table format");
    let mean = ["mean", ADULT, "--bounds", "0,9", "--epsilon", "1"];
    refused(&[&mean[..], &["--column", "agee"]].concat(), "--column: column \"agee\" is not in");
    refused(
        &[&mean[..], &["--column", "sex"]].concat(),
        "--column sex: this column holds text or Boolean values: ",
    );
    refused(&["count", ADULT, "--epsilon", "1", "--where", "agee>1"], "--where: column \"agee\" is not in");
}

#[test]
fn contents() {
    let folder = tempfile::tempdir().unwrap();
    let empty = table(folder.path(), "e.csv", "x\n");
    let public = ["count", &empty, "--epsilon", "1", "--neighboring", "replace-one"];
    refused(&public, &format!("{empty} has no rows: "));
    let open = table(folder.path(), "q.csv", "x,y\n1,a\n2,\"b\n3,c\n");
    refused(&["count", &open, "--epsilon", "1"], &format!("{open}: line 3: a field starts with a quote"));
    let stray = table(folder.path(), "s.csv", "x,y\n1,a\n\"2\" in,b\n");
    refused(
        &["count", &stray, "--epsilon", "1"],
        &format!("{stray}: line 3: text follows the closing quote"),
    );
    let nothing = table(folder.path(), "z.csv", "");
    refused(&["count", &nothing, "--epsilon", "1"], &format!("{nothing}: the file is empty"));
    let ragged = table(folder.path(), "r.csv", "x,y\n1\n");
    refused(&["count", &ragged, "--epsilon", "1"], &format!("{ragged}: row 1 "));
    let broken = table(folder.path(), "b.parquet", "PAR1 nonsense PAR1");
    refused(&["count", &broken, "--epsilon", "1"], &format!("{broken}: not a readable Parquet file"));
}

#[test]
fn numbers() {
    let flag = |question: &[&str], flag: &str, values: &[&str]| {
        for value in values {
            refused(&[question, &[flag, value]].concat(), &format!("{flag} {value}: "));
        }
    };
    let count = ["count", SURVEY];
    flag(&count, "--epsilon", &["0", "-1", "NaN", "inf", "-inf", "abc", "51", "1e9", "1e-9"]);
    flag(&["count", SURVEY], "--error", &["0", "-3", "NaN", "x"]);
    let epsilon = ["count", SURVEY, "--epsilon", "1"];
    flag(&epsilon, "--error", &["3"]);
    flag(&epsilon, "--delta", &["1", "2", "-1", "0", "NaN", "x"]);
    flag(&epsilon, "--confidence", &["0", "1", "95", "NaN", "x"]);
    flag(&epsilon, "--neighboring", &["next-door"]);
    flag(&epsilon, "--mechanism", &["geometric", "exponential"]);
    let age = ["quantile", SURVEY, "--column", "age", "--epsilon", "1"];
    flag(&age, "--bounds", &["90,17", "5,5", "1", "1,2,3", "a,b", "0,inf", "NaN,1", "-1e308,1e308"]);
    let bounded = [&age[..], &["--bounds", "0,9"]].concat();
    flag(&bounded, "--candidates", &["1", "0", "-2", "1e9", "2.5", "x"]);
    flag(&bounded, "--quantile", &["0", "1", "-0.5", "50", "x"]);
    flag(&bounded, "--delta", &["1e-6"]);
}

#[test]
fn the_remedy_is_in_the_line() {
    let say = |words: &[&str]| String::from_utf8(release(words).stderr).unwrap();
    let mean = ["mean", ADULT, "--column", "age", "--epsilon", "1", "--bounds"];
    assert_eq!(
        say(&[&mean[..], &["90,17"]].concat()),
        "error[R204]: --bounds 90,17: give the lower bound first: --bounds 17,90\n"
    );
    let count = ["count", ADULT, "--epsilon", "1"];
    assert_eq!(
        say(&[&count[..], &["--mechanism", "gaussian"]].concat()),
        "error[R102]: --delta: missing: Gaussian noise needs a delta, e.g. --delta 1e-6\n"
    );
    assert_eq!(
        say(&[&count[..], &["--mechanism", "laplace", "--delta", "1e-6"]].concat()),
        "error[R103]: --delta 0.000001: Laplace noise needs no delta: leave it out, or choose --mechanism gaussian\n"
    );
    assert_eq!(
        say(&["count", ADULT, "--epsilon", "1000"]),
        "error[R207]: --epsilon 1000: so large an epsilon gives no protection: give at most 50\n"
    );
    assert_eq!(
        say(&["mean", ADULT, "--epsilon", "1"]),
        "error[R102]: missing --column <COLUMN>, --bounds <LO,HI>: see 'reticent release mean --help'\n"
    );
    assert_eq!(
        say(&["count", ADULT, "--epsilom", "1"]),
        "error[R101]: unexpected argument '--epsilom' found (did you mean --epsilon?): see 'reticent release count --help'\n"
    );
}

#[test]
fn lists_and_filters() {
    let histogram = ["histogram", SURVEY, "--column", "sex", "--epsilon", "1"];
    for list in ["a,b,a", "a,,b", "", "\"a", "\"a\"b"] {
        refused(&[&histogram[..], &["--categories", list]].concat(), &format!("--categories {list}: "));
    }
    refused(&histogram, "--categories: missing: ");
    for edges in ["1", "2,1", "1,1", "a,b", "0,inf"] {
        let output = release(&[&histogram[..], &["--bins", edges]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("]: --bins "));
    }
    let filters = [
        "sex",
        "sex=",
        "=Male",
        "age<50K",
        "sex='Male",
        "sex=Male and",
        "sex=Male or",
        "(sex=Male",
        "age<3)",
    ];
    for filter in filters {
        refused(
            &["count", SURVEY, "--epsilon", "1", "--where", filter],
            &format!("--where: filter \"{filter}\": "),
        );
    }
    refused(&["count", SURVEY, "--epsilon", "1", "--where", "age<old or sex=Male"], "--where: ");
}

#[test]
fn missing_and_unknown_flags() {
    refused(&["count", SURVEY], "--epsilon: missing: ");
    refused(&["mode", SURVEY, "--column", "sex", "--epsilon", "1"], "missing --categories");
    refused(&["proportion", SURVEY, "--column", "sex", "--epsilon", "1"], "missing --value");
    refused(&["middle", SURVEY], "unrecognized subcommand 'middle'");
    refused(&["median", SURVEY], "missing --column");
    refused(
        &["count", SURVEY, "--epsilon", "1", "--epsilon", "2"],
        "the argument '--epsilon <E>' cannot be used",
    );
    refused(
        &[
            "mode",
            SURVEY,
            "--column",
            "sex",
            "--categories",
            "a,b",
            "--epsilon",
            "1",
            "--mechanism",
            "laplace",
        ],
        "--mechanism laplace: unknown",
    );
}

#[test]
fn a_name_is_not_drawn() {
    let mode = ["mode", ADULT, "--column", "sex", "--categories", "Male,Female", "--epsilon", "1"];
    refused(
        &[&mode[..], &["--plot", "m.svg"]].concat(),
        "--plot m.svg: the answer of this statistic is a category",
    );
}

/// Whatever a cell holds, what is said is the same: no cell is an error, a warning or a word on standard error.
#[test]
fn no_cell_changes_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = ["", "NaN", "-inf", "1e999", "x", "true", "99999999999999999999", "\u{202e}", "\"a\nb\""];
    let filter = ["--where", "x>=0 and y!=q"];
    let questions: [&[&str]; 9] = [
        &["count"],
        &["count", "--column", "x"],
        &["sum", "--column", "x", "--bounds", "0,9"],
        &["mean", "--column", "x", "--bounds", "0,9", "--count-clamped", "--confidence", "0.999999999"],
        &["quantile", "--column", "x", "--bounds", "0,9"],
        &["histogram", "--column", "x", "--bins", "0,5,9"],
        &["histogram", "--column", "y", "--categories", "a,b"],
        &["mode", "--column", "y", "--categories", "a,b"],
        &["proportion", "--column", "y", "--value", "a"],
    ];
    for cell in hostile {
        let file = table(folder.path(), "t.csv", &format!("x,y\n1,a\n{cell},{cell}\n3,b\n"));
        for question in questions {
            for more in [&[][..], &filter] {
                let words = [question, &[&file, "--epsilon", "1"], more].concat();
                let output = release(&words);
                let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success() && stderr.is_empty(), "{words:?} {cell:?}: {stderr}");
            }
        }
        let out = folder.path().join("r.csv");
        let words = [
            "randomize",
            &file,
            "--column",
            "y",
            "--categories",
            "a,b",
            "--epsilon",
            "1",
            "--out",
            out.to_str().unwrap(),
        ];
        assert!(release(&words).status.success(), "{cell:?}");
        assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 4);
    }
    // That there are no rows is private too.
    let empty = table(folder.path(), "e.csv", "x,y\n");
    for question in questions {
        let output = release(&[question, &[&empty, "--epsilon", "1"]].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{question:?}: {output:?}");
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (pipe, link) = (pipe.to_str().unwrap(), folder.path().join("link.csv"));
    std::os::unix::fs::symlink("/dev/full", &link).unwrap();
    for out in [pipe, link.to_str().unwrap()] {
        refused(
            &[
                "randomize",
                SURVEY,
                "--column",
                "sex",
                "--categories",
                "Male,Female",
                "--epsilon",
                "1",
                "--out",
                out,
            ],
            &format!("--out {out}: this is "),
        );
    }
}
