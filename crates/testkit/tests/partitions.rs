//! Any partition of the rows gives the same integers: for every query, the summaries of 1 to 9 parts, merged in any order, are the
//! summary of one pass, bit for bit, and so is every input that reaches a mechanism. A sum of floating-point numbers, which
//! depends on the order, must be caught.

use proptest::prelude::*;
use reticent_core::{Delta, Epsilon, MergeError, Neighboring, Partial};
use reticent_noise::mechanism::SelectionRule;
use reticent_noise::query::{
    BidTable, BoundedSum, NoiseKind, Quantile, QueryTerms, RankTable, count, counts, even_candidates,
    histogram, mean, mode, proportion, stable_histogram, sum,
};
use reticent_noise::{NoiseError, PaidSource};
use reticent_testkit::replay::{Query, Report, compare};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The public list of prices.
const PRICES: [f64; 4] = [0.5, 1.0, 2.25, 7.0];

/// Everything that the queries are asked about.
#[derive(Debug, Clone, PartialEq)]
struct Summary {
    rows: u64,
    overlapping: Vec<u64>,
    cells: Vec<u64>,
    labels: BTreeMap<String, u64>,
    whole: BoundedSum,
    fine: BoundedSum,
    ranks: RankTable,
    bids: BidTable,
}

impl Summary {
    fn empty() -> Self {
        Self {
            rows: 0,
            overlapping: vec![0; 3],
            cells: vec![0; 3],
            labels: BTreeMap::new(),
            whole: BoundedSum::new(-3.0, 12.0, true).unwrap(),
            fine: BoundedSum::new(-3.0, 0.1, false).unwrap(),
            ranks: RankTable::new(even_candidates(-3.0, 12.0, 40, false).unwrap()).unwrap(),
            bids: BidTable::new(PRICES.to_vec()).unwrap(),
        }
    }

    fn add(&mut self, row: f64) {
        self.rows += 1;
        for (count, bound) in self.overlapping.iter_mut().zip([-1.0, 0.0, 5.0]) {
            *count += u64::from(row >= bound);
        }
        if row.is_finite() {
            self.cells[(row.abs() as usize) % 3] += 1;
            *self.labels.entry(format!("{}", row.round())).or_default() += 1;
        }
        self.whole.add(row);
        self.fine.add(row);
        self.ranks.add(row);
        self.bids.add(row);
    }
}

impl Partial for Summary {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.rows.merge(&other.rows)?;
        self.overlapping.merge(&other.overlapping)?;
        self.cells.merge(&other.cells)?;
        Partial::merge(&mut self.labels, &other.labels)?;
        self.whole.merge(&other.whole)?;
        self.fine.merge(&other.fine)?;
        self.ranks.merge(&other.ranks)?;
        self.bids.merge(&other.bids)
    }
}

/// The broken twin: a sum of floating-point numbers.
#[derive(Debug, Clone, PartialEq)]
struct FloatSum(f64);

impl Partial for FloatSum {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.0 += other.0;
        Ok(())
    }
}

/// The summaries of the parts, merged in the order of their ranks, and that of one pass.
fn both_ways<P: Partial + Clone>(
    empty: &P,
    add: impl Fn(&mut P, f64),
    rows: &[f64],
    part_of: &[usize],
    order: &[u64],
) -> (P, P) {
    let mut parts = vec![empty.clone(); order.len()];
    let mut whole = empty.clone();
    for (row, part) in rows.iter().zip(part_of) {
        add(&mut parts[part % order.len()], *row);
        add(&mut whole, *row);
    }
    let mut ranked: Vec<(u64, P)> = order.iter().copied().zip(parts).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut merged = empty.clone();
    for (_, part) in &ranked {
        merged.merge(part).unwrap();
    }
    (merged, whole)
}

/// Every query, asked about a summary.
struct Ask(QueryTerms);

impl Query for Ask {
    type Data = Summary;
    type Answer = String;

    fn run(&self, data: &Summary, source: &mut impl PaidSource) -> String {
        self.answers(data, source).unwrap()
    }
}

impl Ask {
    fn answers(&self, data: &Summary, source: &mut impl PaidSource) -> Result<String, NoiseError> {
        let pure = QueryTerms { neighboring: self.0.neighboring, ..QueryTerms::pure(Epsilon::new(1.0)?) };
        let found = QueryTerms { delta: Delta::new(1e-6)?, ..pure };
        let rule = SelectionRule::PermuteAndFlip;
        let rest = data.rows - data.cells[0].min(data.rows);
        Ok(format!(
            "{:?}",
            (
                count(source, &self.0, data.rows)?.value,
                counts(source, &self.0, &data.overlapping)?.value,
                histogram(source, &self.0, &data.cells)?.value,
                stable_histogram(source, &found, &data.labels)?.value,
                proportion(source, &self.0, data.cells[0], rest, None)?.value,
                sum(source, &self.0, &data.whole)?.value,
                mean(source, &self.0, &data.fine, None)?.value,
                data.ranks.quantile(source, &pure, Quantile::MEDIAN)?.value,
                data.ranks.choose(source, &pure, Quantile::new(0.1)?)?.value,
                mode(source, &pure, rule, &data.cells)?.value,
                data.bids.best_price(source, &pure, rule)?.value,
            )
        ))
    }
}

/// The inputs of every release about one summary, against those about the other.
fn compared(terms: QueryTerms, one: &Summary, other: &Summary) -> Report {
    compare(&Ask(terms), one, other).unwrap()
}

fn row() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -10.0..20.0f64,
        2 => (-5i32..15).prop_map(f64::from),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-0.0), Just(1e-300), Just(-1e300)],
    ]
}

fn partition() -> impl Strategy<Value = (Vec<f64>, Vec<usize>, Vec<u64>)> {
    (0..120usize, 1..10usize).prop_flat_map(|(rows, parts)| {
        (
            prop::collection::vec(row(), rows),
            prop::collection::vec(any::<usize>(), rows),
            prop::collection::vec(any::<u64>(), parts),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_partition_gives_the_integers_of_one_pass((rows, part_of, order) in partition()) {
        let (merged, whole) = both_ways(&Summary::empty(), Summary::add, &rows, &part_of, &order);
        prop_assert_eq!(&merged, &whole);
        let delta = Delta::new(1e-6).unwrap();
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            let pure = QueryTerms { neighboring, ..QueryTerms::pure(Epsilon::new(1.0).unwrap()) };
            for terms in [pure, QueryTerms { delta, noise: NoiseKind::Gaussian, ..pure }] {
                let report = compared(terms, &whole, &merged);
                prop_assert!(report.clean() && report.worst_distance == 0.0, "{:?}", report);
            }
        }
    }
}

#[test]
fn float_sums_are_caught() {
    let rows: Vec<f64> = (0..100).map(|i| 0.1 + f64::from(i % 7) * 1e8).collect();
    let part_of: Vec<usize> = (0..100).map(|i| i * 5).collect();
    let order = [3, 1, 2, 9, 4, 7];
    let (merged, whole) = both_ways(&FloatSum(0.0), |sum, row| sum.0 += row, &rows, &part_of, &order);
    assert_ne!(merged, whole, "the twin must differ");
    let sum = BoundedSum::new(0.0, 1e9, false).unwrap();
    let (merged, whole) = both_ways(&sum, BoundedSum::add, &rows, &part_of, &order);
    assert_eq!(merged, whole);
}

#[test]
fn another_partition_is_seen_by_the_comparison() {
    let mut one = Summary::empty();
    [1.0, 2.0, 3.5].iter().for_each(|row| one.add(*row));
    let mut other = one.clone();
    other.add(4.0);
    let terms = QueryTerms::pure(Epsilon::new(1.0).unwrap());
    assert!(compared(terms, &one, &other).worst_distance > 0.0);
}

fn refused<P: Partial + Debug + PartialEq + Clone>(one: &P, other: &P) {
    let mut merged = one.clone();
    assert!(matches!(merged.merge(other), Err(MergeError::Mismatch { .. })), "{other:?}");
    assert_eq!(merged, *one);
}

#[test]
fn summaries_of_different_questions_do_not_merge() {
    let sum = |low, high, integers| BoundedSum::new(low, high, integers).unwrap();
    for other in [sum(0.0, 11.0, true), sum(-1.0, 10.0, true), sum(0.0, 10.0, false)] {
        refused(&sum(0.0, 10.0, true), &other);
    }
    let ranks = |high| RankTable::new(even_candidates(0.0, high, 5, false).unwrap()).unwrap();
    refused(&ranks(1.0), &ranks(2.0));
    refused(&BidTable::new(vec![1.0, 2.0]).unwrap(), &BidTable::new(vec![1.0, 3.0]).unwrap());
    refused(&vec![1, 2], &vec![1, 2, 3]);
}
