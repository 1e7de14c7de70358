//! A parameter's gradient for every unit of a chunk, in factors: norms and weighted sums come from them without writing
//! out what is larger than its factors.
//!
//! | letter | meaning |
//! |---|---|
//! | u | units |
//! | G | groups of channels (1 but for grouped convolutions) |
//! | T | places in time or space, over all examples of a unit |
//! | p, q | the two axes of a weight |

use super::backend::{Backend, Bool, IndexingUpdateOp, Int, Tensor};
use std::ops::Range;

/// How many numbers an intermediate array may have.
const ROOM: usize = 1 << 24;

/// Squared lengths of rows above this count as not finite.
const LONGEST: f32 = 1e12;

/// A norm from inner products of rows loses what cancels between the rows: at most about this share of the squared sum of
/// the rows' lengths, which is added so that no norm comes out too small. Errors of an inner product grow with the root of
/// the number of its terms.
fn cancellation(terms: [usize; 2]) -> f64 {
    f64::from(f32::EPSILON) * (4.0 + terms.iter().map(|count| (*count as f64).sqrt()).sum::<f64>() / 2.0)
}

/// The gradient of one parameter, for every unit.
#[derive(Debug, Clone)]
pub(super) enum Term<I: Backend> {
    /// The sum over T of products of rows: `left` is `[u, G, T, p]`, `right` is `[u, G, T, q]`, the gradient `[G, p, q]`.
    Product { left: Tensor<I, 4>, right: Tensor<I, 4> },
    /// Rows `[u, T, q]` added at the places `[u, T]` of `rows` rows.
    Rows { places: Tensor<I, 2, Int>, added: Tensor<I, 3>, rows: usize },
    /// As it is, `[u, size]`.
    Whole(Tensor<I, 2>),
}

/// What a unit's gradient is multiplied by.
pub(super) struct Weights<I: Backend> {
    /// One per unit.
    factors: Tensor<I, 1>,
    /// The units that add nothing, whatever their gradient holds; absent when there are none.
    dropped: Option<Tensor<I, 1, Bool>>,
}

impl<I: Backend> Weights<I> {
    /// Factors, of which a 0 drops the unit.
    pub(super) fn new(factors: &[f32], device: &I::Device) -> Self {
        let dropped = factors.contains(&0.0).then(|| {
            let dropped: Vec<bool> = factors.iter().map(|factor| *factor == 0.0).collect();
            Tensor::from_data(dropped.as_slice(), device)
        });
        Self { factors: Tensor::from_data(factors, device), dropped }
    }

    /// The rows times their factor.
    fn weigh<const D: usize>(&self, rows: Tensor<I, D>) -> Tensor<I, D> {
        let shape = self.column(rows.dims());
        self.drop(rows) * self.factors.clone().reshape(shape)
    }

    /// The rows without those of dropped units.
    fn drop<const D: usize>(&self, rows: Tensor<I, D>) -> Tensor<I, D> {
        match &self.dropped {
            Some(dropped) => {
                let dims = rows.dims();
                let dropped = dropped.clone().reshape(self.column(dims)).expand(dims);
                rows.mask_fill(dropped, 0.0)
            }
            None => rows,
        }
    }

    fn column<const D: usize>(&self, dims: [usize; D]) -> [usize; D] {
        let mut shape = [1; D];
        shape[0] = dims[0];
        shape
    }
}

impl<I: Backend> Term<I> {
    /// The gradient of a parameter that is used here and there.
    pub(super) fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole(one), Self::Whole(two)) => Self::Whole(one + two),
            (Self::Rows { places, added, rows }, Self::Rows { places: places_2, added: added_2, .. }) => {
                Self::Rows {
                    places: Tensor::cat(vec![places, places_2], 1),
                    added: Tensor::cat(vec![added, added_2], 1),
                    rows,
                }
            }
            (one, two) => match (one.product(), two.product()) {
                (Self::Product { left, right }, Self::Product { left: left_2, right: right_2 }) => {
                    Self::Product {
                        left: Tensor::cat(vec![left, left_2], 2),
                        right: Tensor::cat(vec![right, right_2], 2),
                    }
                }
                (one, two) => Self::Whole(one.whole() + two.whole()),
            },
        }
    }

    /// Added rows as a product with rows that are 1 at one place.
    fn product(self) -> Self {
        match self {
            Self::Rows { places, added, rows } => {
                let [units, times] = places.dims();
                let [_, _, q] = added.dims();
                let every =
                    Tensor::<I, 1, Int>::arange(0..rows as i64, &places.device()).reshape([1, 1, rows]);
                let places = places.reshape([units, times, 1]).expand([units, times, rows]);
                let left = places.equal(every.expand([units, times, rows])).float();
                Self::Product {
                    left: left.reshape([units, 1, times, rows]),
                    right: added.reshape([units, 1, times, q]),
                }
            }
            other => other,
        }
    }

    /// Written out, `[u, size]`.
    pub(super) fn whole(self) -> Tensor<I, 2> {
        match self {
            Self::Product { left, right } => {
                let [units, groups, _, p] = left.dims();
                let q = right.dims()[3];
                left.swap_dims(2, 3).matmul(right).reshape([units, groups * p * q])
            }
            Self::Whole(whole) => whole,
            rows => rows.product().whole(),
        }
    }

    /// The squared norm of every unit's gradient, and the term in the form in which its sum is cheapest.
    pub(super) fn norms(self) -> (Tensor<I, 1>, Self) {
        match self {
            Self::Whole(whole) => (squares(whole.clone()), Self::Whole(whole)),
            Self::Rows { ref added, rows, .. } if rows <= added.dims()[1] => self.product().norms(),
            Self::Rows { places, added, rows } => {
                let [units, times, q] = added.dims();
                let norms = sliced(units, times * times, |range| {
                    let places = places.clone().slice([range.clone(), 0..times]);
                    let added = added.clone().slice([range.clone(), 0..times, 0..q]);
                    let units = range.len();
                    let square = [units, times, times];
                    let here = places.clone().reshape([units, times, 1]).expand(square);
                    let there = places.reshape([units, 1, times]).expand(square);
                    let products = added.clone().matmul(added.clone().swap_dims(1, 2));
                    let same = products.mask_fill(here.not_equal(there), 0.0);
                    total(same) + cancelled(lengths(added).reshape([units, 1, times]), [q, 1])
                });
                (norms, Self::Rows { places, added, rows })
            }
            Self::Product { left, right } => product_norms(left, right),
        }
    }

    /// The weighted sum over the units, written out; without weights every unit counts once.
    pub(super) fn sum(self, weights: Option<&Weights<I>>) -> Tensor<I, 1> {
        match self {
            Self::Whole(whole) => {
                let [units, size] = whole.dims();
                let sum = match weights {
                    Some(weights) => weights.factors.clone().reshape([1, units]).matmul(weights.drop(whole)),
                    None => whole.sum_dim(0),
                };
                sum.reshape([size])
            }
            Self::Rows { places, added, rows } => {
                let [units, times, q] = added.dims();
                let added = match weights {
                    Some(weights) => weights.weigh(added),
                    None => added,
                };
                Tensor::<I, 2>::zeros([rows, q], &added.device())
                    .select_assign(
                        0,
                        places.reshape([units * times]),
                        added.reshape([units * times, q]),
                        IndexingUpdateOp::Add,
                    )
                    .reshape([rows * q])
            }
            Self::Product { left, right } => {
                let ([units, groups, times, p], q) = (left.dims(), right.dims()[3]);
                let (left, right) = match weights {
                    Some(weights) if p < q => (weights.weigh(left), weights.drop(right)),
                    Some(weights) => (weights.drop(left), weights.weigh(right)),
                    None => (left, right),
                };
                let left = left.swap_dims(0, 1).reshape([groups, units * times, p]);
                let right = right.swap_dims(0, 1).reshape([groups, units * times, q]);
                left.swap_dims(1, 2).matmul(right).reshape([groups * p * q])
            }
        }
    }
}

/// Norms of a product of rows: from the rows' lengths where there is one row, else from the rows' inner products or from
/// the gradients written out, whichever takes fewer operations.
fn product_norms<I: Backend>(left: Tensor<I, 4>, right: Tensor<I, 4>) -> (Tensor<I, 1>, Term<I>) {
    let ([units, groups, times, p], q) = (left.dims(), right.dims()[3]);
    if times == 1 {
        // The square of a short row is lost in single precision, which a long one beside it would make good: rows as long as that count
        // as not finite.
        let of = |rows: &Tensor<I, 4>| {
            let squares = rows.clone().square().sum_dim(3);
            let long = squares.clone().greater_elem(LONGEST);
            squares.mask_fill(long, f32::INFINITY)
        };
        let (of_left, of_right) = (of(&left), of(&right));
        let norms = of_left * of_right;
        return (total(norms.reshape([units, groups, 1])), Term::Product { left, right });
    }
    let part = |tensor: &Tensor<I, 4>, range: &Range<usize>, last: usize| {
        tensor.clone().slice([range.clone(), 0..groups, 0..times, 0..last])
    };
    if times * (p + q) < p * q {
        let norms = sliced(units, 2 * groups * times * times, |range| {
            let (left, right) = (part(&left, &range, p), part(&right, &range, q));
            let rows = lengths(left.clone()) * lengths(right.clone());
            let inner =
                left.clone().matmul(left.swap_dims(2, 3)) * right.clone().matmul(right.swap_dims(2, 3));
            let inner = inner.reshape([range.len(), groups, times * times]);
            total(inner) + cancelled(rows.reshape([range.len(), groups, times]), [p, q])
        });
        return (norms, Term::Product { left, right });
    }
    if units * groups * p * q <= ROOM {
        let whole = Term::Product { left, right }.whole();
        return (squares(whole.clone()), Term::Whole(whole));
    }
    let norms = sliced(units, groups * p * q, |range| {
        let (left, right) = (part(&left, &range, p), part(&right, &range, q));
        let rows = lengths(left.clone()) * lengths(right.clone());
        let lost = cancelled(rows.reshape([range.len(), groups, times]), [p, q]);
        squares(Term::Product { left, right }.whole()) + lost
    });
    (norms, Term::Product { left, right })
}

/// Norms of some units at a time, so that what is written for them fits.
fn sliced<I: Backend>(
    units: usize,
    each: usize,
    norms: impl Fn(Range<usize>) -> Tensor<I, 1>,
) -> Tensor<I, 1> {
    let step = (ROOM / each.max(1)).max(1);
    let parts: Vec<_> = (0..units).step_by(step).map(|start| norms(start..units.min(start + step))).collect();
    Tensor::cat(parts, 0)
}

/// The sum of each unit's numbers.
fn total<I: Backend>(numbers: Tensor<I, 3>) -> Tensor<I, 1> {
    let [units, a, b] = numbers.dims();
    numbers.reshape([units, a * b]).sum_dim(1).reshape([units])
}

/// The squared norm of each unit's numbers.
fn squares<I: Backend>(numbers: Tensor<I, 2>) -> Tensor<I, 1> {
    let units = numbers.dims()[0];
    numbers.square().sum_dim(1).reshape([units])
}

/// The lengths of the rows along the last axis.
fn lengths<I: Backend, const D: usize>(rows: Tensor<I, D>) -> Tensor<I, D> {
    rows.square().sum_dim(D - 1).sqrt()
}

/// What may be lost where rows of these lengths `[u, G, T]`, with so many numbers each, cancel.
fn cancelled<I: Backend>(lengths: Tensor<I, 3>, terms: [usize; 2]) -> Tensor<I, 1> {
    total(lengths.sum_dim(2).square()).mul_scalar(cancellation(terms))
}

#[cfg(test)]
mod tests {
    use super::super::backend::{Cpu, Inner, TensorData};
    use super::*;
    use reticent_noise::entropy::{Bits, SeededForTests};

    type I = Inner<Cpu>;

    fn number(bits: &mut SeededForTests) -> f32 {
        (bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// The squared norm of a sum of products of rows, in double precision.
    fn exact(left: &[f32], right: &[f32], p: usize, q: usize) -> f64 {
        let entry = |i: usize, j: usize| {
            let rows = left.chunks_exact(p).zip(right.chunks_exact(q));
            rows.map(|(left, right)| f64::from(left[i]) * f64::from(right[j])).sum::<f64>()
        };
        (0..p).flat_map(|i| (0..q).map(move |j| (i, j))).map(|(i, j)| entry(i, j).powi(2)).sum()
    }

    #[test]
    fn rows_that_cancel_never_make_a_norm_too_small() {
        let (p, q, times) = (40, 30, 4);
        let mut bits = SeededForTests::new(1);
        for scale in [1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
            for _ in 0..20 {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                let (row, other): (Vec<f32>, Vec<f32>) = (
                    (0..p).map(|_| number(&mut bits)).collect(),
                    (0..q).map(|_| number(&mut bits)).collect(),
                );
                for time in 0..times {
                    let sign = if time % 2 == 0 { 100.0 } else { -100.0 };
                    left.extend(row.iter().map(|x| sign * (x + scale * number(&mut bits))));
                    right.extend(other.iter().map(|x| 100.0 * (x + scale * number(&mut bits))));
                }
                let truth = exact(&left, &right, p, q);
                let shape = |numbers: &[f32], last: usize| {
                    Tensor::<I, 4>::from_data(
                        TensorData::new(numbers.to_vec(), [1, 1, times, last]),
                        &Default::default(),
                    )
                };
                let term = Term::Product { left: shape(&left, p), right: shape(&right, q) };
                let (norms, kept) = term.norms();
                assert!(matches!(kept, Term::Product { .. }), "the norm comes from inner products");
                let norm = f64::from(norms.into_scalar());
                assert!(norm >= truth * (1.0 - 1e-5), "{scale}: {norm} is below {truth}");
            }
        }
    }

    #[test]
    fn all_forms_of_a_gradient_have_the_same_norm_and_sum() {
        let (units, times, rows, q) = (3, 5, 4, 6);
        let mut bits = SeededForTests::new(2);
        let device = Default::default();
        let added: Vec<f32> = (0..units * times * q).map(|_| number(&mut bits)).collect();
        let places: Vec<i64> = (0..units * times).map(|_| (bits.word() % rows as u64) as i64).collect();
        let term = Term::<I>::Rows {
            places: Tensor::from_data(TensorData::new(places, [units, times]), &device),
            added: Tensor::from_data(TensorData::new(added, [units, times, q]), &device),
            rows,
        };
        let weights = Weights::new(&[0.5, 0.0, 2.0], &device);
        let forms = [term.clone(), term.clone().product(), Term::Whole(term.clone().whole())];
        let seen = forms.map(|form| {
            let sum = form.clone().sum(Some(&weights)).into_data().to_vec::<f32>().unwrap();
            (form.norms().0.into_data().to_vec::<f32>().unwrap(), sum)
        });
        for (norms, sum) in &seen {
            let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(close(norms, &seen[0].0) && close(sum, &seen[0].1), "{seen:?}");
        }
    }
}
