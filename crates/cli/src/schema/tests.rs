//! Every combination of good and nasty arguments: whatever is typed, the command answers with a schema that
//! reads back or refuses in one line.

use crate::{Finished, run_from};
use reticent::data::Schema;
use std::ffi::OsString;

const FILES: [&str; 5] = ["t.csv", "odd.csv", "empty.csv", "none.csv", "bad.parquet"];
const COLUMNS: [&str; 6] = ["", "kind", "age", "real", "nope", "blank"];
const POSITIVES: [&str; 4] = ["", "a", "\u{1b}[31m", "30"];
const UNITS: [&str; 3] = ["", "note", "kind"];
const EPSILONS: [&str; 5] = ["", "1", "0", "1e-300", "inf"];
const DELTAS: [&str; 3] = ["", "1e-6", "NaN"];

#[test]
fn every_combination_is_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let rows = "30,a,x,0.5,\n41,b,,1e300,\n, a ,y,-2,\n-7,c,\"q\"\"q\",nan,\n".repeat(50);
    write("t.csv", format!("age,kind,note,real,blank\n{rows}").as_bytes());
    let odd = "age,kind,note,real,blank,\"a\n.\u{7f}\"\n1e308,\u{1b}[0m,',-1e308,,\"\"\"\"\"\"\n-1e308,\\,x,1e308,,5\n";
    write("odd.csv", odd.as_bytes());
    write("empty.csv", b"age,kind\n");
    write("bad.parquet", b"PAR1 not really PAR1");
    let (mut answered, mut refused) = (0, 0);
    for number in
        0..FILES.len() * COLUMNS.len() * POSITIVES.len() * UNITS.len() * EPSILONS.len() * DELTAS.len()
    {
        let mut left = number;
        let mut pick = |pool: &[&'static str]| {
            let picked = pool[left % pool.len()];
            left /= pool.len();
            picked
        };
        let mut words: Vec<OsString> = ["reticent", "schema", "infer"].map(OsString::from).to_vec();
        words.push(folder.path().join(pick(&FILES)).into());
        let flags = [
            ("--label", pick(&COLUMNS)),
            ("--positive", pick(&POSITIVES)),
            ("--unit", pick(&UNITS)),
            ("--epsilon", pick(&EPSILONS)),
            ("--delta", pick(&DELTAS)),
        ];
        words.extend(
            flags
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(flag, value)| format!("{flag}={value}").into()),
        );
        let Finished { status, stdout, stderr } = run_from(&words, false);
        let control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(!control(&stdout) && !control(&stderr), "{words:?}\n{stdout}\n{stderr}");
        match status {
            0 => {
                answered += 1;
                let schema = Schema::parse(&stdout, "schema.toml").unwrap();
                let private = flags[3].1 == "1";
                assert_eq!(schema.spent().is_some(), private, "{words:?}\n{stdout}");
                assert_eq!(stderr.contains("NOT PRIVATE"), !private, "{words:?}\n{stderr}");
            }
            2 => {
                refused += 1;
                assert!(stdout.is_empty() && crate::fail::is_refusal(&stderr), "{words:?}\n{stderr}");
                assert_eq!(stderr.lines().count(), 1, "{words:?}\n{stderr}");
            }
            other => panic!("status {other} from {words:?}\n{stderr}"),
        }
    }
    assert!(answered > 50 && refused > 1000, "{answered} answered, {refused} refused");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "files were left behind");
}
