//! Several losses as one: what a part of the data, or a sample of it, meets in sequence.

use super::contour::Sum;
use super::events::End;
use super::exact::net;
use super::grid::{Law, end};
use super::loss::PrivacyLoss;
use super::tails::Atoms;

/// A single loss, and the probability that everything is revealed instead.
pub(super) struct Compound {
    pub(super) loss: PrivacyLoss,
    pub(super) leak: f64,
}

/// Outcomes listed at most, and points of a grid.
const MOST_OUTCOMES: f64 = 20_000.0;
const POINTS: f64 = 4096.0;

/// What is cut off the ends.
const CUT: f64 = 1e-200;

/// What rounding may have done to sums of many products, relative.
const ROUNDING: f64 = 1e-10;

/// The loss of all parts together: for the ceiling one that is never better, for the floor one that is never worse. None
/// where there is none of reasonable size.
pub(super) fn compound(parts: &[(f64, PrivacyLoss)], end: End) -> Option<Compound> {
    let mut sum = Sum::default();
    parts.iter().for_each(|(count, loss)| sum.push(*count, loss.clone()));
    let away = if end == End::Ceiling { -1e-15 } else { 1e-15 };
    let exact = |loss| Some(Compound { loss, leak: 0.0 });
    match &sum.parts[..] {
        [(count, PrivacyLoss::Gaussian(sigma))] => {
            exact(PrivacyLoss::Gaussian(sigma / count.sqrt() * (1.0 + 4.0 * away)))
        }
        [(count, loss)] if *count == 1.0 => exact(loss.clone()),
        parts => match listed(parts, end) {
            Some(loss) => exact(loss),
            None if end == End::Ceiling => discretised(parts),
            None => None,
        },
    }
}

/// Every outcome of discrete losses.
fn listed(parts: &[(f64, PrivacyLoss)], end: End) -> Option<PrivacyLoss> {
    let mut sums = vec![(0.0, 1.0)];
    for (count, loss) in parts {
        let own: Vec<(f64, f64)> = match loss {
            PrivacyLoss::Response { epsilon, plus, minus } if *count <= 1000.0 => {
                net(*count as usize, *plus, *minus)
                    .into_iter()
                    .enumerate()
                    .map(|(i, mass)| ((i as f64 - count) * epsilon, mass))
                    .collect()
            }
            PrivacyLoss::Atoms(atoms) if *count == 1.0 => atoms.iter().copied().collect(),
            _ => return None,
        };
        if own.len() as f64 * sums.len() as f64 > MOST_OUTCOMES {
            return None;
        }
        let all = sums.iter().flat_map(|(at, mass)| own.iter().map(move |(l, m)| (at + l, mass * m)));
        sums = all.filter(|(_, mass)| *mass > 0.0).collect();
    }
    sums.sort_by(|a, b| a.0.total_cmp(&b.0));
    let away = if end == End::Ceiling { ROUNDING } else { -ROUNDING };
    Some(PrivacyLoss::Atoms(Atoms::new(
        sums.into_iter().map(|(at, mass)| (at, mass * (1.0 + away))).collect(),
        None,
    )))
}

/// Masses at the points (first + i)·step.
struct Masses {
    first: i64,
    masses: Vec<f64>,
    /// Mass beyond the last point.
    leak: f64,
}

impl Masses {
    fn of(law: Law) -> Self {
        Self { first: law.first, masses: law.masses, leak: law.revealed }.trimmed()
    }

    /// Without ends that weigh next to nothing: the upper one counts as revealed, the lower one is moved up.
    fn trimmed(mut self) -> Self {
        let (mut cut, mut keep) = (0.0, self.masses.len());
        while keep > 1 && cut + self.masses[keep - 1] <= CUT {
            cut += self.masses[keep - 1];
            keep -= 1;
        }
        self.masses.truncate(keep);
        self.leak += cut;
        let (mut raised, mut start) = (0.0, 0);
        while start + 1 < self.masses.len() && raised + self.masses[start] <= CUT {
            raised += self.masses[start];
            start += 1;
        }
        self.masses.drain(..start);
        self.masses[0] += raised;
        self.first += start as i64;
        self
    }

    fn then(&self, other: &Self) -> Option<Self> {
        if self.masses.len() + other.masses.len() > 4 * POINTS as usize {
            return None;
        }
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        for (i, x) in self.masses.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            for (total, y) in masses[i..].iter_mut().zip(&other.masses) {
                *total += x * y;
            }
        }
        let leak = self.leak + other.leak;
        Some(Self { first: self.first + other.first, masses, leak }.trimmed())
    }

    fn times(self, count: f64) -> Option<Self> {
        let (mut result, mut power, mut left) = (None::<Self>, self, count as u64);
        while left > 0 {
            if left % 2 == 1 {
                result = Some(match &result {
                    Some(sum) => sum.then(&power)?,
                    None => Self { first: power.first, masses: power.masses.clone(), leak: power.leak },
                });
            }
            left /= 2;
            if left > 0 {
                power = power.then(&power)?;
            }
        }
        result
    }
}

/// The losses on one grid, never better than they are, added up without cancellation.
fn discretised(parts: &[(f64, PrivacyLoss)]) -> Option<Compound> {
    let uses: f64 = parts.iter().map(|(count, _)| count).sum();
    let share = CUT / uses;
    let mut ends = Vec::new();
    for (_, loss) in parts {
        ends.push((end(loss, share, false)?, end(loss, share, true)?));
    }
    // Widths add up like standard deviations where there are many uses, and not faster than their sum.
    let wide = parts.iter().zip(&ends).map(|((count, _), (low, high))| count.sqrt() * (high - low));
    let step = wide.sum::<f64>() / POINTS;
    let mut total = None::<Masses>;
    for ((count, loss), (low, high)) in parts.iter().zip(ends) {
        let own = Masses::of(Law::new(loss, step, low, high)?).times(*count)?;
        total = Some(match total {
            Some(sum) => sum.then(&own)?,
            None => own,
        });
    }
    let Masses { first, masses, leak } = total?;
    let at = |i: usize| (first + i as i64) as f64 * step;
    let atoms = masses.into_iter().enumerate().filter(|(_, mass)| *mass > 0.0);
    let atoms = atoms.map(|(i, mass)| (at(i), mass * (1.0 + ROUNDING))).collect();
    Some(Compound { loss: PrivacyLoss::Atoms(Atoms::new(atoms, Some(step))), leak })
}
