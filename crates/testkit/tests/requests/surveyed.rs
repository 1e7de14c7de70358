//! Answers randomized one by one.

use super::{Desk, PAIRS, pair};
use reticent_core::Neighboring;
use reticent_curator::Request;
use reticent_curator::release::survey::Randomize;
use reticent_curator::watch::Unwatched;
use reticent_noise::{Entropy, PaidSource};
use reticent_testkit::replay::{Query, compare};

/// A randomized copy of a column of the file on the desk.
struct Survey<'a> {
    desk: &'a Desk,
    request: Randomize,
}

impl Query for Survey<'_> {
    type Data = [[&'static str; 2]];
    type Answer = String;

    fn run(&self, table: &[[&'static str; 2]], source: &mut impl PaidSource) -> String {
        self.desk.write(table);
        let planned = self.request.check().unwrap();
        let randomized = planned.run_with(source, &mut Entropy::new().unwrap(), &Unwatched::new()).unwrap();
        assert_eq!(randomized.certificate.events, planned.events());
        format!("{randomized:?}{}", std::fs::read_to_string(&self.request.out).unwrap())
    }
}

#[test]
fn randomized_answers_are_private_and_kept_columns_are_not() {
    let desk = Desk::new();
    let mut entropy = Entropy::new().unwrap();
    let answers = ["a", "b", "c"].map(str::to_owned).to_vec();
    let request = Randomize::new(desk.file(), "k", answers, 1.0, desk.path().join("out.csv"));
    let survey = Survey { desk: &desk, request };
    let mut worst = 0.0f64;
    for round in 0..PAIRS {
        let (table, mut neighbour) = pair(&mut entropy, Neighboring::ReplaceOne, round);
        let report = compare(&survey, &table, &neighbour).unwrap();
        assert!(report.clean(), "{report:?}\n{table:?}\n{neighbour:?}");
        assert_eq!(report.releases, table.len());
        worst = worst.max(report.worst_distance);
        neighbour.clone_from(&table);
        neighbour[0][0] = if table[0][0] == "1" { "3" } else { "1" };
        let keep_columns = Some(vec!["x".to_owned()]);
        let keeping = Survey { desk: &desk, request: Randomize { keep_columns, ..survey.request.clone() } };
        let report = compare(&keeping, &table, &neighbour).unwrap();
        assert!(report.leaks.iter().any(|leak| leak.contains("answer")), "{report:?}");
    }
    assert!(worst >= 0.99, "the pairs only reach {worst}");
}
