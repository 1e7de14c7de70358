mod figures;
mod sensitivity;

use super::{Part, PartColumn, RankTree, RowValue};
use crate::query::NoiseKind;

fn column(low: f64, high: f64) -> PartColumn {
    PartColumn::new(low, high, true).unwrap()
}

/// Every part, with row values that go as far as values can.
fn all_parts() -> Vec<(Part, Vec<RowValue>)> {
    let numbers = |values: &[f64]| values.iter().map(|v| RowValue::Number(*v)).collect::<Vec<_>>();
    let cells = |count: usize| (0..count).map(RowValue::Cell).collect::<Vec<_>>();
    let tree = RankTree::with_branching((0..5).map(f64::from).collect(), 2).unwrap();
    let pairs = [(0.0, 0.0), (10.0, 10.0), (0.0, 10.0), (4.3, 1.7)];
    vec![
        (Part::Rows, vec![RowValue::Present]),
        (Part::People, vec![RowValue::Present]),
        (Part::Sum(column(-2.0, 5.0)), numbers(&[-2.0, 5.0])),
        (Part::Sum(column(-4.0, 5.0)), numbers(&[-4.0, 5.0])),
        (Part::Sum(column(-3.0, 3.0)), numbers(&[-3.0, 3.0])),
        (Part::Sum(column(3.0, 7.0)), numbers(&[3.0, 7.0])),
        (Part::Sum(column(-7.0, -3.0)), numbers(&[-7.0, -3.0])),
        (Part::PersonSum(column(-2.0, 5.0)), numbers(&[-3.0, 9.0, 1.0])),
        (Part::moments(column(0.0, 10.0), 1).unwrap(), numbers(&[0.0, 10.0, 3.3])),
        (Part::moments(column(0.0, 10.0), 2).unwrap(), numbers(&[0.0, 10.0, 3.3])),
        (
            Part::Joint(column(0.0, 10.0), column(0.0, 10.0)),
            pairs.iter().map(|(x, y)| RowValue::Numbers(*x, *y)).collect(),
        ),
        (Part::cells(1).unwrap(), cells(1)),
        (Part::cells(3).unwrap(), cells(3)),
        (Part::contingency(vec![2, 2], false).unwrap(), cells(4)),
        (Part::contingency(vec![2, 2], true).unwrap(), cells(4)),
        (Part::Tree(tree), numbers(&[0.0, 2.0, 4.0])),
        (Part::Tree(RankTree::new(vec![0.0, 1.0, 2.0], NoiseKind::Laplace).unwrap()), numbers(&[0.0, 2.0])),
        (Part::distinct(3).unwrap(), cells(3)),
    ]
}

/// Numbers that look random and are the same every time.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.below(1 << 30) as f64 / (1u64 << 30) as f64
    }
}
