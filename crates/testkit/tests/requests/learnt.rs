//! Schemas learnt from files.

use super::{Desk, PAIRS, Table, pair};
use reticent_core::Neighboring;
use reticent_curator::Request;
use reticent_curator::schema::LearnSchema;
use reticent_curator::watch::Unwatched;
use reticent_noise::{Entropy, PaidSource};
use reticent_testkit::free::Free;
use reticent_testkit::replay::{Query, compare};

/// A schema of the file on the desk.
struct Learning<'a> {
    desk: &'a Desk,
    request: LearnSchema,
}

impl Query for Learning<'_> {
    type Data = [[&'static str; 2]];
    type Answer = String;

    fn run(&self, table: &[[&'static str; 2]], source: &mut impl PaidSource) -> String {
        self.desk.write(table);
        let planned = self.request.check().unwrap();
        match planned.run_with(source, &Unwatched::new()) {
            Ok(learnt) => format!("{}{learnt:?}", learnt.schema.to_toml()),
            Err(refusal) => refusal.to_string(),
        }
    }
}

/// The rows of a table many times over, so that something stands out of the noise, with one row more or less.
fn larger((table, neighbour): (Table, Table), times: usize) -> (Table, Table) {
    let common: Table = table
        .iter()
        .filter(|row| neighbour.contains(row))
        .cycle()
        .take(times * table.len())
        .copied()
        .collect();
    ([&common[..], &table].concat(), [&common[..], &neighbour].concat())
}

#[test]
fn learnt_schemas_are_private() {
    let desk = Desk::new();
    let mut entropy = Entropy::new().unwrap();
    let private = LearnSchema::private(desk.file(), 2.0, 1e-6);
    let labelled = LearnSchema { label: Some("k".to_owned()), ..private.clone() };
    let positive = LearnSchema { positive: Some("a".to_owned()), ..labelled.clone() };
    let ignoring = LearnSchema { ignore: vec!["k".to_owned()], ..private.clone() };
    for request in [private, labelled, positive, ignoring] {
        let learning = Learning { desk: &desk, request };
        let mut most = 0;
        for round in 0..PAIRS {
            let (table, neighbour) =
                larger(pair(&mut entropy, Neighboring::AddRemove, round), 40 * (round % 3));
            let report = compare(&learning, &table, &neighbour).unwrap();
            assert!(report.clean(), "{:?}: {report:?}\n{table:?}\n{neighbour:?}", learning.request);
            most = most.max(report.releases);
            // The cost is settled before the data are read.
            let stated = learning.request.check().unwrap().events().unwrap();
            desk.write(&table);
            let planned = learning.request.check().unwrap();
            let learnt = planned.run_with(&mut Free::new().unwrap(), &Unwatched::new()).unwrap();
            assert_eq!(learnt.certificate.unwrap().events, stated);
        }
        assert!(most >= 2, "{:?}: only {most} releases", learning.request);
    }
}

#[test]
fn a_draft_is_caught() {
    let desk = Desk::new();
    let draft = Learning { desk: &desk, request: LearnSchema::draft(desk.file()) };
    let table: Table = vec![["1", "a"], ["2", "b"], ["3", "a"]];
    let mut neighbour = table.clone();
    neighbour.push(["40", "a"]);
    let report = compare(&draft, &table, &neighbour).unwrap();
    assert!(report.leaks.iter().any(|leak| leak.contains("answer")), "{report:?}");
    assert!(draft.request.check().unwrap().events().unwrap().is_empty());
}
