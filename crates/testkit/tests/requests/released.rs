//! Every question, both relations, every noise.

use super::{Desk, PAIRS, Table, pair};
use reticent_core::Neighboring;
use reticent_curator::Request;
use reticent_curator::release::{NoiseChoice, Release, ReleaseQuestion, SelectionMechanism};
use reticent_curator::watch::Unwatched;
use reticent_noise::{Entropy, PaidSource};
use reticent_testkit::free::Free;
use reticent_testkit::replay::{Query, compare};

const BOTH: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];
const NOISES: [NoiseChoice; 3] = [NoiseChoice::Laplace, NoiseChoice::Gaussian, NoiseChoice::DiscreteGaussian];
const BOUNDS: [f64; 2] = [-3.0, 12.0];

/// A release of the file on the desk.
struct Asked<'a> {
    desk: &'a Desk,
    request: Release,
}

impl Query for Asked<'_> {
    type Data = [[&'static str; 2]];
    type Answer = String;

    fn run(&self, table: &[[&'static str; 2]], source: &mut impl PaidSource) -> String {
        self.desk.write(table);
        let planned = self.request.check().unwrap();
        match planned.run_with(source, &Unwatched::new()) {
            Ok(released) => format!("{released:?}"),
            Err(refusal) => refusal.to_string(),
        }
    }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// Questions whose answer gets additive noise.
fn additive() -> Vec<ReleaseQuestion> {
    let (x, k) = ("x".to_owned(), "k".to_owned());
    let sum = |integers, count_clamped| ReleaseQuestion::Sum {
        column: x.clone(),
        bounds: BOUNDS,
        integers,
        count_clamped,
        schema: None,
        error: None,
    };
    let mean = |integers, count_clamped| ReleaseQuestion::Mean {
        column: x.clone(),
        bounds: BOUNDS,
        integers,
        count_clamped,
        schema: None,
    };
    vec![
        ReleaseQuestion::Count { column: None, error: None },
        ReleaseQuestion::Count { column: Some(x.clone()), error: None },
        sum(false, false),
        sum(true, true),
        mean(false, false),
        mean(true, true),
        ReleaseQuestion::Histogram {
            column: k.clone(),
            categories: Some(names(&["a", "b", "c"])),
            bins: None,
        },
        ReleaseQuestion::Histogram {
            column: x.clone(),
            categories: None,
            bins: Some(vec![-3.0, 0.0, 5.0, 12.0]),
        },
        ReleaseQuestion::Proportion { column: k, value: "a".to_owned() },
    ]
}

/// Questions answered by a private choice.
fn choices() -> Vec<ReleaseQuestion> {
    let quantile = |quantile, count_clamped| ReleaseQuestion::Quantile {
        column: "x".to_owned(),
        bounds: BOUNDS,
        integers: false,
        count_clamped,
        schema: None,
        quantile,
        candidates: 31,
    };
    let mode =
        |rule| ReleaseQuestion::Mode { column: "k".to_owned(), categories: names(&["a", "b", "c"]), rule };
    vec![
        quantile(0.5, false),
        quantile(0.1, true),
        mode(SelectionMechanism::Exponential),
        mode(SelectionMechanism::PermuteAndFlip),
        mode(SelectionMechanism::ReportNoisyMax),
    ]
}

/// Replays many pairs of files; the largest Δ_actual / Δ_declared. The events are those that the plan states beforehand.
fn replay(desk: &Desk, request: &Release) -> f64 {
    let mut entropy = Entropy::new().unwrap();
    let mut worst = 0.0f64;
    for round in 0..PAIRS {
        let filter = (round / 4 % 2 == 1).then(|| "k!=other".to_owned());
        let asked = Asked { desk, request: Release { filter, ..request.clone() } };
        let (table, neighbour) = pair(&mut entropy, request.neighboring, round);
        let report = compare(&asked, &table, &neighbour).unwrap();
        assert!(report.clean(), "{request:?}: {report:?}\n{table:?}\n{neighbour:?}");
        assert!(report.releases > 0, "{request:?}");
        worst = worst.max(report.worst_distance);
    }
    worst
}

fn request(desk: &Desk, question: ReleaseQuestion, neighboring: Neighboring) -> Release {
    Release { neighboring, ..Release::new(desk.file(), question, 1.0) }
}

#[test]
fn additive_answers_are_private() {
    let desk = Desk::new();
    for question in additive() {
        for neighboring in BOTH {
            for noise in NOISES {
                let delta = (noise != NoiseChoice::Laplace).then_some(1e-6);
                let request = Release {
                    mechanism: Some(noise),
                    delta,
                    ..request(&desk, question.clone(), neighboring)
                };
                let worst = replay(&desk, &request);
                // The adversarial rows reach the sensitivity in full, so an understated one would show.
                assert!(worst >= 0.99, "{request:?}: the pairs only reach {worst}");
            }
        }
    }
}

#[test]
fn choices_are_private() {
    let desk = Desk::new();
    for question in choices() {
        for neighboring in BOTH {
            replay(&desk, &request(&desk, question.clone(), neighboring));
        }
    }
}

#[test]
fn every_outcome_has_the_events_that_its_plan_states() {
    let desk = Desk::new();
    let mut entropy = Entropy::new().unwrap();
    let asked =
        additive().into_iter().flat_map(|question| NOISES.map(|noise| (question.clone(), Some(noise))));
    for (question, noise) in asked.chain(choices().into_iter().map(|question| (question, None))) {
        for neighboring in BOTH {
            for filter in [None, Some("k=a".to_owned())] {
                let delta = noise.filter(|noise| *noise != NoiseChoice::Laplace).map(|_| 1e-6);
                let request = request(&desk, question.clone(), neighboring);
                let request = Release { mechanism: noise, delta, filter, ..request };
                let (small, large) = pair(&mut entropy, neighboring, 3);
                for table in [small, large] {
                    desk.write(&table);
                    let planned = request.check().unwrap();
                    let stated = planned.events().unwrap();
                    let released = planned.run_with(&mut Free::new().unwrap(), &Unwatched::new()).unwrap();
                    assert_eq!(released.events(), stated, "{request:?}\n{table:?}");
                }
            }
        }
    }
}

/// A twin that chooses its bounds by the data.
struct BoundsFromData<'a>(&'a Desk);

impl Query for BoundsFromData<'_> {
    type Data = [[&'static str; 2]];
    type Answer = String;

    fn run(&self, table: &[[&'static str; 2]], source: &mut impl PaidSource) -> String {
        let numbers = table.iter().filter_map(|[x, _]| x.parse::<f64>().ok());
        let high = numbers.fold(1.0, f64::max);
        let question = ReleaseQuestion::Sum {
            column: "x".to_owned(),
            bounds: [0.0, high],
            integers: false,
            count_clamped: false,
            schema: None,
            error: None,
        };
        Asked { desk: self.0, request: Release::new(self.0.file(), question, 1.0) }.run(table, source)
    }
}

#[test]
fn leaks_are_caught() {
    let desk = Desk::new();
    let table: Table = vec![["1", "a"], ["2", "b"], ["3", "a"]];
    let mut neighbour = table.clone();
    neighbour[1] = ["11", "a"];
    let report = compare(&BoundsFromData(&desk), &table, &neighbour).unwrap();
    assert!(report.leaks.iter().any(|leak| leak.contains("answer")), "{report:?}");

    // A plan for add-remove on tables that replace a row: two cells move, and noise for one was declared.
    let question = ReleaseQuestion::Histogram {
        column: "k".to_owned(),
        categories: Some(names(&["a", "b"])),
        bins: None,
    };
    let understated =
        Asked { desk: &desk, request: request(&desk, question.clone(), Neighboring::AddRemove) };
    let report = compare(&understated, &table, &neighbour).unwrap();
    assert!(report.leaks.iter().any(|leak| leak.contains("moved 2 times")), "{report:?}");
    let honest = Asked { desk: &desk, request: request(&desk, question, Neighboring::ReplaceOne) };
    assert!(compare(&honest, &table, &neighbour).unwrap().clean());
}
