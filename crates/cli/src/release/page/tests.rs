//! Five hundred pages drawn from nasty tokens: whatever is typed, the command answers or refuses in one line.

use crate::release::tests::Dice;
use crate::{Finished, run_from};
use std::ffi::OsString;

#[rustfmt::skip]
const STATISTICS: &[&str] = &[
    "--count", "--count=age", "--count=weight 2", "--people", "--sum=age in 0,120", "--mean=age in 0,120",
    "--variance=age in -5,5", "--stddev=real in 0,1", "--median=age in 0,120", "--quantiles=age in 0,120 at 0.1,0.9",
    "--histogram=kind of a,b,c", "--histogram=age by 0,20,40", "--mode=kind of a,b", "--top=2 kind of a,b,c",
    "--proportion=kind is a", "--distinct=kind of a,b", "--covariance=age in 0,120 and real in 0,1",
    "--correlation=age in 0,120 and real in 0,1", "--trend=age in 0,120 on real in 0,1",
    "--contingency=kind of a,b and note of x,y",
];
#[rustfmt::skip]
const NASTY: &[&str] = &[
    "--count=in", "--mean=", "--mean=age", "--mean=nope in 0,1", "--mean=age in 1,0", "--mean=age in 0,1e300", "--mean=age in NaN,1",
    "--mean=\"age in 0,1", "--mean=age in 0,1 in 0,2", "--mean=kind in 0,1", "--mean=age in 0,120 weight -1", "--mean=age in 0,1 as ",
    "--quantiles=age in 0,1 at 2", "--quantiles=age in 0,1 at ", "--histogram=kind", "--histogram=kind of a,a", "--histogram=age by 5,1",
    "--histogram=age by 2013-01-01,x", "--top=99 kind of a", "--top=-1 kind of a", "--proportion=kind is ", "--trend=age in 0,1 and real in 0,1",
    "--correlation=age in 0,1 and age in 0,1", "--contingency=kind of a", "--people=x", "--count=size 0", "--sum=\u{1b}[31m in 0,1",
    "--histogram=kind of \"", "--mean=age in 0,120 within 1e-300 size 1", "--count=within 0", "--mean=日本 in 0,1",
];
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "--delta=0", "--split=equally", "--split=weights", "--split=by-error", "--split=x", "--unit=kind", "--unit=nope",
    "--rows-per-person=3", "--rows-per-person=0", "--rows-per-person=1e9", "--groups-per-person=2", "--groups-per-person=x",
    "--total-per-person=age in 0,50", "--total-per-person=age", "--bounding-key=k", "--group-by=kind", "--group-by=kind,note",
    "--group-by=", "--group-by=nope", "--keys=kind=a,b", "--keys=note=x", "--keys=none.csv", "--keys=kind=", "--select-keys",
    "--select-keys=0.5", "--select-keys=2", "--consistent", "--where=age>18", "--where=age>", "--confidence=0.5", "--confidence=2",
    "--neighboring=replace-one", "--neighboring=x", "--mechanism=gaussian", "--mechanism=x", "--csv=/nowhere/x.csv", "--csv=x.txt",
    "--schema=none.toml", "--json", "--dry-run", "--derive=b = age * 2 in 0,9",
];

#[test]
fn five_hundred_pages_are_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let table = "age,kind,note,real\n30,a,x,0.5\n41,b,,1e300\n, a ,y,-2\n-7,c,\"q\"\"q\",nan\n";
    let file = folder.path().join("t.csv");
    std::fs::write(&file, table).unwrap();
    let mut draws = Dice(11);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..500 {
        let mut words: Vec<OsString> = ["reticent", "release", "page"].map(OsString::from).to_vec();
        words.push(file.clone().into());
        if draws.chance(97) {
            words.push(format!("--epsilon={}", if draws.chance(95) { "1" } else { "0" }).into());
        }
        for _ in 0..=draws.below(3) {
            let pool = if draws.chance(93) { STATISTICS } else { NASTY };
            words.push(draws.pick(pool).into());
        }
        for _ in 0..draws.below(3) {
            let other = draws.pick(OTHERS);
            let flag = other.split('=').next().unwrap();
            // A flag given twice is refused, except for lists.
            if !words.iter().any(|word| word.to_string_lossy().starts_with(flag)) {
                words.push(other.into());
            }
        }
        let Finished { status, stdout, stderr } = run_from(&words, false);
        let control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(!control(&stdout) && !control(&stderr), "{words:?}\n{stdout}\n{stderr}");
        match status {
            0 => {
                answered += 1;
                assert!(!stdout.is_empty() && !stdout.contains("NaN"), "{words:?}\n{stdout}");
            }
            2 => {
                refused += 1;
                assert!(stdout.is_empty() && crate::fail::is_refusal(&stderr), "{words:?}\n{stderr}");
                assert_eq!(stderr.lines().count(), 1, "{words:?}\n{stderr}");
            }
            other => panic!("status {other} from {words:?}\n{stderr}"),
        }
    }
    assert!(answered > 100 && refused > 100, "{answered} answered, {refused} refused");
}
