//! Ten thousand argument sets drawn from nasty tokens: whatever is typed, the command answers or
//! refuses in one line.

use crate::{Finished, run_from};
use std::ffi::OsString;

/// A small generator: the draws need to be varied, not random.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    pub(super) fn pick<'a>(&mut self, pool: &[&'a str]) -> &'a str {
        pool[self.below(pool.len())]
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const QUESTIONS: [&str; 9] =
    ["count", "sum", "mean", "histogram", "quantile", "mode", "proportion", "randomize", "estimate"];
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "1", "0.5", "50", "0", "-0", "-1", "51", "1e-6", "1e-5", "9e-7",
    "1e300", "-1e300", "1e308", "1e-300", "5e-324", "1e-12", "0.999999999999", "0.9999999999999999", "NaN", "inf",
    "-inf", "", " ", "abc", "1,2", "0x10", "1_000", "999999999999999999999999", "９", "1\n2",
    "--json", "0.1", "2", "1e15",
];
#[rustfmt::skip]
const BOUNDS: &[&str] = &[
    "0,120", "-5,5", "120,0", "1,1", "0,1e300", "-1e308,1e308", "0,5e-324", "1e-310,2e-310", "0,NaN", "inf,0",
    ",", "", "1", "1,2,3", "a,b", " 0 , 10 ", "0.5,1.5", "4503599627370496,9007199254740992", "-4503599627370496,4503599627370496", "1,1.0000000000000002",
    "9007199254740993,9007199254740995", "-1e15,1e15", "100,101", "-7,-3",
];
#[rustfmt::skip]
const LISTS: &[&str] = &[
    "a,b", "a", "a,a", "", ",", "a,,b", "\"x,y\",z", "\"x", "\"x\"y", "é,ü,日本",
    "1,2,3", "0,10,20", "a, b ,c", "\u{1b}[31m,b", "\"\"\"\",b", "20,10",
];
const FILTERS: [&str; 12] = [
    "kind=a",
    "age>=18",
    "age>",
    "",
    "nope=1",
    "kind='a",
    "kind=a and age<50",
    "age<kind",
    "kind!=a and",
    "x=\u{7f}",
    "note=y",
    "age>1e400",
];
const COLUMNS: [&str; 8] = ["age", "kind", "note", "nope", "", "AGE", "real", "\n"];
const MECHANISMS: [&str; 8] = [
    "laplace",
    "gaussian",
    "discrete-gaussian",
    "exponential",
    "permute-and-flip",
    "report-noisy-max",
    "x",
    "",
];

fn words(draws: &mut Dice, folder: &std::path::Path, round: usize) -> Vec<OsString> {
    let question = draws.pick(&QUESTIONS);
    let files = ["empty.csv", "none.csv", "bad.parquet", "bytes.csv", "", "."];
    let mut words: Vec<OsString> = ["reticent", "release", question].map(OsString::from).to_vec();
    let file = if draws.chance(93) { "t.csv" } else { draws.pick(&files) };
    words.push(folder.join(file).into());
    let mut flag = |draws: &mut Dice, percent: usize, name: &str, good: &str, pool: &[&str]| {
        if draws.chance(percent) {
            let value = if draws.chance(82) { good } else { draws.pick(pool) };
            words.push(format!("{name}={value}").into());
        }
    };
    let by_error = matches!(question, "count" | "sum") && draws.chance(25);
    flag(draws, if by_error { 2 } else { 98 }, "--epsilon", "1", NUMBERS);
    let numeric = matches!(question, "sum" | "mean" | "quantile");
    flag(draws, 98, "--column", if numeric { "age" } else { "kind" }, &COLUMNS);
    match question {
        "sum" | "mean" | "quantile" => flag(draws, 98, "--bounds", "0,120", BOUNDS),
        "histogram" | "mode" | "randomize" | "estimate" => flag(draws, 97, "--categories", "a,b,c", LISTS),
        _ => {}
    }
    match question {
        "count" | "sum" => flag(draws, if by_error { 98 } else { 2 }, "--error", "10", NUMBERS),
        "histogram" => flag(draws, 5, "--bins", "0,10,20", LISTS),
        "quantile" => {
            flag(draws, 50, "--quantile", "0.25", NUMBERS);
            flag(draws, 50, "--candidates", "11", &["2", "1", "0", "-3", "1e6", "1e7", "2.5", "NaN", "x"]);
        }
        "proportion" => flag(draws, 95, "--value", "a", &COLUMNS),
        "randomize" => {
            let output = folder.join(format!("out{round}.csv"));
            let poor = ["/proc/x.csv", "out.txt", "", "/nowhere/x.csv", "/"];
            flag(draws, 95, "--out", &output.to_string_lossy(), &poor);
            flag(draws, 20, "--keep-columns", "note", &COLUMNS);
        }
        "estimate" => flag(draws, 4, "--keep-probability", "0.75", NUMBERS),
        _ => {}
    }
    let survey = matches!(question, "randomize" | "estimate");
    let additive = !survey && !matches!(question, "quantile" | "mode");
    if additive && draws.chance(40) {
        flag(draws, 95, "--delta", "1e-6", NUMBERS);
        let known = if draws.chance(50) { "gaussian" } else { "discrete-gaussian" };
        flag(draws, 70, "--mechanism", known, &MECHANISMS);
    } else {
        flag(draws, if question == "mode" { 60 } else { 1 }, "--mechanism", "exponential", &MECHANISMS);
    }
    let asked = if survey { 1 } else { 35 };
    flag(draws, asked, "--where", "kind=a", &FILTERS);
    flag(draws, asked, "--neighboring", "replace-one", &["add-remove", "x", ""]);
    flag(draws, if question == "randomize" { 1 } else { 20 }, "--confidence", "0.99", NUMBERS);
    let (dry, whole) = (if survey { 1 } else { 20 }, if numeric { 40 } else { 1 });
    let switches =
        [(40, "--json"), (dry, "--dry-run"), (whole, "--integers"), (1, "--nonsense"), (1, "--help")];
    for (percent, switch) in switches {
        if draws.chance(percent) {
            words.push(switch.into());
        }
    }
    words
}

#[test]
fn ten_thousand_argument_sets_are_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let table = "age,kind,note,real\n30,a,x,0.5\n41,b,,1e300\n, a ,y,-2\n-7,c,\"q\"\"q\",nan\n";
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    std::fs::write(folder.path().join("empty.csv"), "age,kind\n").unwrap();
    std::fs::write(folder.path().join("bad.parquet"), b"PAR1 not really PAR1").unwrap();
    std::fs::write(folder.path().join("bytes.csv"), b"age,kind\n\xff\xfe,a\n1,2,3\n").unwrap();
    let mut draws = Dice(7);
    let (mut answered, mut refused) = (0, 0);
    for round in 0..10_000 {
        let words = words(&mut draws, folder.path(), round);
        let Finished { status, stdout, stderr } = run_from(&words, false);
        let control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(!control(&stdout) && !control(&stderr), "{words:?}\n{stdout}\n{stderr}");
        match status {
            0 => {
                answered += 1;
                let told = stdout.replace("\"interval\":null", "");
                // The help names `null` as a text that counts as missing.
                let is_help = told.contains("Usage:");
                let nonsense = ["NaN", "inf ", "null"].iter().any(|word| told.contains(word)) && !is_help;
                assert!(
                    !told.is_empty() && !nonsense,
                    "{words:?}
{stdout}"
                );
            }
            2 => {
                refused += 1;
                assert!(stdout.is_empty() && crate::fail::is_refusal(&stderr), "{words:?}\n{stderr}");
                assert_eq!(stderr.lines().count(), 1, "{words:?}\n{stderr}");
                assert!(!folder.path().join(format!("out{round}.csv")).exists(), "{words:?}");
            }
            other => panic!("status {other} from {words:?}\n{stderr}"),
        }
    }
    assert!(answered > 3000 && refused > 3000, "{answered} answered, {refused} refused");
    let hidden = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    let left = std::fs::read_dir(folder.path()).unwrap().flatten().filter(hidden).count();
    assert_eq!(left, 0, "temporary files left behind");
}
