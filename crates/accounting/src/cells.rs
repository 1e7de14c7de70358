//! Many Gaussian events on Poisson samples, each as a revealed mixture of the corners of a cell.
//!
//! A cell is a range of rates and of noise. An event inside it is never worse than a mixture of the four events at the
//! corners with probabilities that keep the rate and the total variation distance, which corner it is being revealed:
//! see the proof of the tight accountant. The excess is of second order in the size of the cell.

use std::collections::HashMap;

/// Splits at most; every one adds two corners at most.
const MOST_SPLITS: usize = 500;

/// Cells are split until the excess they cause is about this share of the total.
const EXCESS: f64 = 2e-4;

/// Cells of fewer events than this are not worth their corners.
const FEWEST: usize = 5;

/// A Gaussian event on a Poisson sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) rate: f64,
    pub(crate) sigma: f64,
}

impl Step {
    /// About the variance of its loss.
    fn weight(self) -> f64 {
        self.rate * self.rate * libm::expm1((1.0 / (self.sigma * self.sigma)).min(8.0))
    }

    /// The total variation distance without sampling.
    fn distance(self) -> f64 {
        libm::erf(std::f64::consts::FRAC_1_SQRT_2 * 0.5 / self.sigma)
    }
}

/// One event as a mixture of corners.
#[derive(Debug, Clone)]
pub(crate) struct Mixed {
    /// Its place in the list.
    pub(crate) index: usize,
    /// Corners with their probabilities, which add up to 1.
    pub(crate) corners: [(usize, f64); 4],
}

/// Events as mixtures, and those that are left as they are.
pub(crate) struct Cells {
    pub(crate) corners: Vec<Step>,
    pub(crate) mixed: Vec<Mixed>,
    pub(crate) alone: Vec<usize>,
}

struct Cell {
    /// Least and largest rate and noise.
    rates: (f64, f64),
    sigmas: (f64, f64),
    members: Vec<usize>,
    weight: f64,
}

impl Cell {
    /// Relative sizes in either direction, as they change the loss.
    fn sizes(&self) -> (f64, f64) {
        let steepness = 1.0 + 1.0 / (self.sigmas.0 * self.sigmas.1);
        (libm::log(self.rates.1 / self.rates.0), libm::log(self.sigmas.1 / self.sigmas.0) * steepness)
    }

    fn excess(&self) -> f64 {
        let (a, b) = self.sizes();
        if self.members.len() < FEWEST { 0.0 } else { self.weight * (a * a + b * b) / 6.0 }
    }

    fn split(self, steps: &[(f64, Step)]) -> [Self; 2] {
        let (a, b) = self.sizes();
        let middle = |(low, high): (f64, f64)| (low * high).sqrt();
        let (by_rate, at) = if a >= b { (true, middle(self.rates)) } else { (false, middle(self.sigmas)) };
        let low = |i: &usize| if by_rate { steps[*i].1.rate <= at } else { steps[*i].1.sigma <= at };
        let (first, second): (Vec<usize>, Vec<usize>) = self.members.iter().copied().partition(low);
        let cell = |members: Vec<usize>, lower: bool| {
            let side = |range: (f64, f64)| if lower { (range.0, at) } else { (at, range.1) };
            Self {
                rates: if by_rate { side(self.rates) } else { self.rates },
                sigmas: if by_rate { self.sigmas } else { side(self.sigmas) },
                weight: weight(&members, steps),
                members,
            }
        };
        [cell(first, true), cell(second, false)]
    }
}

fn weight(members: &[usize], steps: &[(f64, Step)]) -> f64 {
    members.iter().map(|i| steps[*i].0 * steps[*i].1.weight()).sum()
}

impl Cells {
    /// Cells for events with their numbers of uses.
    pub(crate) fn new(steps: &[(f64, Step)]) -> Self {
        let range = |value: fn(&Step) -> f64| {
            let values = || steps.iter().map(|(_, step)| value(step));
            let (low, high) =
                (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
            (low * (1.0 - 1e-9), high * (1.0 + 1e-9))
        };
        let (least, most) = range(|step| step.rate);
        let members: Vec<usize> = (0..steps.len()).collect();
        let total = weight(&members, steps);
        let root =
            Cell { rates: (least, most.min(1.0)), sigmas: range(|step| step.sigma), weight: total, members };
        let mut cells = vec![root];
        for _ in 0..MOST_SPLITS {
            let excess: f64 = cells.iter().map(Cell::excess).sum();
            let worst = (0..cells.len()).max_by(|a, b| cells[*a].excess().total_cmp(&cells[*b].excess()));
            match worst {
                Some(worst) if excess > EXCESS * total => {
                    let halves = cells.swap_remove(worst).split(steps);
                    cells.extend(halves.into_iter().filter(|half| !half.members.is_empty()));
                }
                _ => break,
            }
        }
        Self::of(&cells, steps)
    }

    fn of(cells: &[Cell], steps: &[(f64, Step)]) -> Self {
        let mut found = Self { corners: Vec::new(), mixed: Vec::new(), alone: Vec::new() };
        let mut places: HashMap<(u64, u64), usize> = HashMap::new();
        for cell in cells {
            if cell.members.len() < FEWEST {
                found.alone.extend(&cell.members);
                continue;
            }
            let mut corner = |rate: f64, sigma: f64| {
                *places.entry((rate.to_bits(), sigma.to_bits())).or_insert_with(|| {
                    found.corners.push(Step { rate, sigma });
                    found.corners.len() - 1
                })
            };
            // Better before worse: a smaller rate, more noise.
            let ((slow, fast), (loud, calm)) = (cell.rates, cell.sigmas);
            let corners = [corner(slow, calm), corner(slow, loud), corner(fast, calm), corner(fast, loud)];
            let distance = |sigma: f64| Step { rate: slow, sigma }.distance();
            let (least, most) = (distance(calm), distance(loud));
            for index in &cell.members {
                let step = steps[*index].1;
                // The worse corner's share, rounded up.
                let share = |at: f64, low: f64, high: f64| {
                    let doubt = 1e-12 + 8.0 * f64::EPSILON * high / (high - low);
                    ((at - low) / (high - low) + doubt).clamp(0.0, 1.0)
                };
                let rate = share(step.rate, slow, fast);
                let noise = share(step.distance(), least, most);
                let weights =
                    [(1.0 - rate) * (1.0 - noise), (1.0 - rate) * noise, rate * (1.0 - noise), rate * noise];
                found
                    .mixed
                    .push(Mixed { index: *index, corners: [0, 1, 2, 3].map(|k| (corners[k], weights[k])) });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdp::sampled_gaussian_log_moment;

    /// The mixture is never better, at any order, and not much worse.
    #[test]
    fn mixtures_of_corners_are_never_better() {
        let steps: Vec<(f64, Step)> = (0..400)
            .map(|i| f64::from(i) * 0.618)
            .map(|t| (t.fract(), (t * t).fract()))
            .map(|(a, b)| (1.0, Step { rate: 0.001 * libm::exp(4.0 * a), sigma: libm::exp(2.0 * b - 0.7) }))
            .collect();
        let cells = Cells::new(&steps);
        assert!(cells.mixed.len() + cells.alone.len() == steps.len() && cells.mixed.len() > 50);
        for order in [1.1, 2.0, 5.0, 20.0] {
            for mixed in &cells.mixed {
                let moment =
                    |step: Step| libm::exp(sampled_gaussian_log_moment(step.rate, step.sigma, order));
                let (own, upper) = (
                    moment(steps[mixed.index].1),
                    mixed.corners.iter().map(|(corner, p)| p * moment(cells.corners[*corner])).sum::<f64>(),
                );
                assert!(upper >= own * (1.0 - 1e-10), "{order} {mixed:?} {own} {upper}");
            }
        }
    }
}
