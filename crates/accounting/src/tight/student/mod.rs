//! The loss of Student-t noise on a sum to which a record adds a vector of bounded shape, as atoms.
//!
//! | name | symbol | meaning |
//! |---|---|---|
//! | `levels`, `counts` | q | the profile |
//! | `shift` | u | a level over the scale of the noise |
//! | `missed` | r | what δ of the total may have beyond that of the atoms |

mod coordinate;
mod total;

use super::tails::Atoms;
use coordinate::{Coordinate, log_moment};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use total::{Equal, total, valley};

/// Points of the grid, as powers of 2: from, to, and all levels together.
const FEWEST_POINTS: u32 = 14;
const MOST_POINTS: u32 = 20;

/// Splitting losses between points adds at most this share to the variance of the total, unless the grid would be too long.
const ADDED_VARIANCE: f64 = 4e-5;

/// ln of the probability that the total is beyond the grid, roughly.
const LOG_BEYOND: f64 = -39.0;

/// Positive atoms of the result at most.
const MOST_ATOMS: usize = 4096;

/// 1 − e^{−1}, rounded down.
const KINK: f64 = 0.632_120_558;

/// Laws that are kept for the next time they are asked for.
const KEPT: usize = 16;

/// Atoms that are never better than Student-t noise of the multiplier on vectors of the profile, the same both ways, for a record
/// that is added or removed. None where hardly any noise is left.
///
/// # Guarantee
/// For every ε, δ of the atoms is at least that of every pair (noise, noise + g), g within the profile: see the proof.
pub(crate) fn encoded_student(
    multiplier: f64,
    freedom: u64,
    levels: &[f64],
    counts: &[u64],
) -> Option<Atoms> {
    static LAST: Mutex<VecDeque<(Vec<u64>, Option<Atoms>)>> = Mutex::new(VecDeque::new());
    let mut key = vec![multiplier.to_bits(), freedom];
    key.extend(levels.iter().map(|level| level.to_bits()));
    key.extend(counts);
    let kept = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, atoms)) = kept().iter().find(|(known, _)| *known == key) {
        return atoms.clone();
    }
    let atoms = atoms(multiplier, freedom, levels, counts);
    let mut kept = kept();
    kept.truncate(KEPT - 1);
    kept.push_front((key, atoms.clone()));
    atoms
}

/// Levels over the scale of the noise, rounded up, with their counts.
fn shifts(multiplier: f64, levels: &[f64], counts: &[u64]) -> Vec<(f64, f64)> {
    // Relative to the largest level, so no square is out of range.
    let largest = levels.first().copied().unwrap_or(1.0);
    let square = |(level, count): (&f64, &u64)| *count as f64 * (level / largest).powi(2);
    let norm = levels.iter().zip(counts).map(square).sum::<f64>().sqrt();
    let shift = |level: &f64| level / largest / norm / multiplier * (1.0 + 1e-13);
    levels.iter().map(shift).zip(counts.iter().map(|count| *count as f64)).collect()
}

fn atoms(multiplier: f64, freedom: u64, levels: &[f64], counts: &[u64]) -> Option<Atoms> {
    let parts = shifts(multiplier, levels, counts)
        .into_iter()
        .map(|(shift, count)| Some((count, Coordinate::new(shift, freedom)?)))
        .collect::<Option<Vec<_>>>()?;
    let over =
        |each: &dyn Fn(&Coordinate) -> f64| parts.iter().map(|(count, one)| count * each(one)).sum::<f64>();
    let largest = over(&|one| one.largest) * (1.0 + 1e-9);
    let square = over(&|one| {
        let (mean, square) = one.moments();
        square - mean * mean
    });
    // The least reach beyond which hardly anything lies: (K(λ) − ln P)/λ for the best λ.
    let reach = |log_lambda: f64| {
        let lambda = libm::exp(log_lambda);
        (over(&|one| log_moment(one.nodes.iter().copied(), lambda)) - LOG_BEYOND) / lambda
    };
    let reach = (valley(&reach).1 * 1.001).min(largest);
    if !(reach.is_finite() && square > 0.0) {
        return None;
    }
    let uses = over(&|_| 1.0);
    let wanted = 2.0 * reach / (square * 6.0 * ADDED_VARIANCE / uses).sqrt();
    let points = (wanted.log2().ceil().max(0.0) as u32).clamp(FEWEST_POINTS, MOST_POINTS);
    let length = 1usize << points;
    let step = reach / (length / 2 - 2) as f64;
    let law = |(count, one): &(f64, Coordinate)| Some(Equal { count: *count, masses: one.law(step)? });
    let laws = parts.iter().map(law).collect::<Option<Vec<_>>>()?;
    let found = total(&laws, step, length);
    mirrored(&found.masses, step, found.missed, largest)
}

/// Masses at step, 2·step, … on fewer points, with their mirror images, the rest at 0, and what was missed beyond the largest loss
/// that there can be.
fn mirrored(masses: &[f64], step: f64, missed: f64, largest: f64) -> Option<Atoms> {
    // What lies at the upper end and weighs no more than what was missed counts as missed.
    let (mut last, mut cut) = (masses.len(), 0.0);
    while last > 1 && cut + masses[last - 1] <= missed {
        last -= 1;
        cut += masses[last];
    }
    let missed = missed + cut;
    let group = last.div_ceil(MOST_ATOMS);
    let wide = step * group as f64;
    let mut coarse = vec![0.0; last.div_ceil(group) + 1];
    for (i, mass) in masses[..last].iter().enumerate() {
        let (cell, within) = ((i + 1) / group, (i + 1) % group);
        // Split between the ends with P-mass and Q-mass kept.
        let right = libm::expm1(-step * within as f64) / libm::expm1(-wide);
        coarse[cell] += mass * (1.0 - right);
        if within > 0 {
            coarse[cell + 1] += mass * right;
        }
    }
    let positive = coarse.iter().enumerate().skip(1).map(|(i, mass)| (wide * i as f64, mass * (1.0 + 1e-12)));
    let mut upper: Vec<(f64, f64)> = positive.filter(|(_, mass)| *mass > 0.0).collect();
    // δ at every ε up to the largest loss gains at least what was missed.
    let far = largest + 1.0;
    let mut revealed = missed / KINK * (1.0 + 1e-9);
    let weight = |(loss, mass): &(f64, f64)| mass * (1.0 + libm::exp(-loss));
    let mut excess = upper.iter().map(weight).sum::<f64>() + weight(&(far, revealed)) - 1.0;
    // Where that is more than all of the mass, the smallest losses become revealed: δ does not fall, and less is mirrored.
    for atom in &mut upper {
        if excess <= 0.0 {
            break;
        }
        let share = -libm::expm1(-atom.0) / KINK * (1.0 + 1e-9);
        let gain = weight(&(atom.0, 1.0)) - weight(&(far, share));
        if gain <= 0.0 {
            return None;
        }
        let moved = (excess / gain * (1.0 + 1e-9)).min(atom.1);
        atom.1 -= moved;
        revealed += moved * share;
        excess -= moved * gain;
    }
    if excess > 0.0 {
        return None;
    }
    upper.push((far, revealed));
    let rest = (1.0 - upper.iter().map(weight).sum::<f64>()).max(0.0);
    let lower = upper.iter().rev().map(|(loss, mass)| (-loss, mass * libm::exp(-loss)));
    let mut atoms: Vec<(f64, f64)> = lower.collect();
    atoms.push((0.0, rest));
    atoms.extend(upper);
    atoms.retain(|(_, mass)| *mass > 0.0);
    Some(Atoms::new(atoms, None).with_far(revealed))
}

#[cfg(test)]
mod tests;
