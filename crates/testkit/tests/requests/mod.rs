//! Requests of the curator on neighbouring files with their noise frozen: the same releases, each input within the declared
//! sensitivity, the same outcome. And requests that leak, which the harness must catch.
//!
//! `Release`, `Page`, `SuggestLimits`, `LearnSchema` and `Randomize` are run as they are, through `run_with`. `Fit` and `Train` draw with a permit of their session, and
//! a recorder cannot stand in for one: the number of rows, the held-out score and the minimiser of a fit are replayed beside its
//! code (`curator/src/fit/tests.rs`), and what a training adds noise to is compared here with its clipping norm.

mod learnt;
mod paged;
mod released;
mod surveyed;
mod trained;

use reticent_core::Neighboring;
use reticent_noise::Entropy;
use reticent_noise::entropy::Bits;
use std::path::{Path, PathBuf};

/// Pairs of files per request.
const PAIRS: usize = 40;

/// A table of two columns, `x` and `k`, as the text of its cells.
type Table = Vec<[&'static str; 2]>;

/// Cells as an adversary would pick them: numbers at and beyond the bounds, and what is none.
#[rustfmt::skip]
const NUMBERS: [&str; 24] = [
    "", " ", "nan", "inf", "-inf", "1e308", "-1e308", "abc", "0", "-0", "5", "4.5", "-3", "12", "-3.0000000000000004",
    "12.000000000000002", "5e-324", "11.999999999999998", "0.5", "7", "-2.75", "9", "1", "3",
];
/// Labels: declared ones, others, missing ones.
const LABELS: [&str; 6] = ["a", "b", "c", "other", "", " a "];

fn pick<'a>(entropy: &mut Entropy, pool: &[&'a str]) -> &'a str {
    pool[(entropy.word() % pool.len() as u64) as usize]
}

fn row(entropy: &mut Entropy) -> [&'static str; 2] {
    [pick(entropy, &NUMBERS), pick(entropy, &LABELS)]
}

/// Rows as far apart as any two are, for bounds from -3 to 12: by their values, and by being counted at all.
const APART: [[[&str; 2]; 2]; 2] = [[["-3", "a"], ["12", "b"]], [["", "other"], ["12", "b"]]];

/// A table and a neighbour: sizes from nothing up, many of them with all rows equal. In two of four rounds they differ as much
/// as they can.
fn pair(entropy: &mut Entropy, neighboring: Neighboring, round: usize) -> (Table, Table) {
    let replace = neighboring == Neighboring::ReplaceOne;
    let size = (entropy.word() % 30) as usize + usize::from(replace);
    let same = row(entropy);
    let equal = entropy.word().is_multiple_of(4);
    let table: Table = (0..size).map(|_| if equal { same } else { row(entropy) }).collect();
    let (mut table, mut neighbour) = (table.clone(), table);
    let place = (entropy.word() % (size as u64).max(1)) as usize;
    if let Some([one, other]) = APART.get(round % 4) {
        if replace {
            table[place] = *one;
            neighbour[place] = *other;
        } else {
            neighbour.insert(place, *other);
        }
    } else if replace {
        neighbour[place] = row(entropy);
    } else if size > 0 && entropy.bit() {
        neighbour.remove(place);
    } else {
        neighbour.insert(place, row(entropy));
    }
    if entropy.bit() { (table, neighbour) } else { (neighbour, table) }
}

/// A folder with the one file that both tables are written to in turn, so that no name tells them apart.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join("t.csv")
    }

    fn write(&self, table: &[[&str; 2]]) {
        let rows: String = table.iter().map(|[x, k]| format!("{x},{k}\n")).collect();
        std::fs::write(self.file(), format!("x,k\n{rows}")).unwrap();
    }
}
