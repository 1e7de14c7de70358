//! The tight accountant: exact privacy-loss distributions, certified from both sides.
#![doc = include_str!("proof.md")]

mod complex;
mod contour;
mod events;
mod loss;

pub use loss::{Direction, Loss};

use crate::AccountingError;
use contour::{Bounds, Contour, Sum};
use reticent_core::{Delta, Epsilon, Event, EventLog, Neighboring};

/// A number known from both sides; the upper end is what may be claimed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Never above the truth for the worst mechanisms the events allow.
    pub lower: f64,
    /// Never below the truth.
    pub upper: f64,
    /// The direction that decides.
    pub direction: Direction,
}

/// Events as they add up, by the exact distribution of their privacy loss.
///
/// # Guarantee
/// For the sequence of all composed events under the relation given at the start: the upper ends of
/// [`delta`](Self::delta) and [`epsilon`](Self::epsilon) are true claims. The lower ends show that no much
/// smaller claim follows from the events: they are those of the worst mechanisms the events allow, so a
/// `pure`, `approximate`, `exponential` or `discrete_laplace` mechanism of a better kind may lose less. Both
/// directions of the relation are kept apart to the end.
///
/// # Reference
/// Alghamdi et al., *The Saddle-Point Method in Differential Privacy* (2023), for the integral; the
/// bounds are derived in the proof.
pub struct TightAccountant {
    neighboring: Neighboring,
    remove: Sum,
    add: Sum,
    /// Probability that everything is revealed, e.g. the δ of (ε, δ) events.
    log_kept: f64,
}

impl TightAccountant {
    /// An account with nothing in it.
    pub fn new(neighboring: Neighboring) -> Self {
        Self { neighboring, remove: Sum { parts: Vec::new() }, add: Sum { parts: Vec::new() }, log_kept: 0.0 }
    }

    /// An account of everything in a log.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] naming the first event without a known loss distribution.
    pub fn of_log(log: &EventLog) -> Result<Self, AccountingError> {
        let mut account = Self::new(log.neighboring);
        for event in &log.events {
            account.compose(event, 1)?;
        }
        Ok(account)
    }

    /// Adds `count` uses of an event. Nothing is added when it is not supported.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when the event's loss distribution is not known.
    pub fn compose(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        event.validate()?;
        let mut found = events::Found::default();
        found.collect(event, count, self.neighboring)?;
        for (direction, sum) in [(Direction::Remove, &mut self.remove), (Direction::Add, &mut self.add)] {
            for (times, loss) in found.losses(direction) {
                match sum.parts.iter_mut().find(|(_, known)| *known == loss) {
                    Some((total, _)) => *total += times,
                    None => sum.parts.push((times, loss)),
                }
            }
        }
        self.log_kept += found.log_kept;
        Ok(())
    }

    /// δ at ε.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when the bracket cannot be certified, e.g. for a few steps only.
    pub fn delta(&self, epsilon: Epsilon) -> Result<Bracket, AccountingError> {
        let inner = self.worst(
            |sum| delta_of(sum, epsilon.get()),
            |sum, known| chernoff(sum, epsilon.get()) < known.lower,
        )?;
        Ok(Bracket {
            lower: self.with_kept(inner.lower, -1e-14),
            upper: self.with_kept(inner.upper, 1e-14),
            direction: inner.direction,
        })
    }

    /// ε at δ.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when δ = 0 or below what the events reveal outright;
    /// [`AccountingError::Unsupported`] when the bracket cannot be certified.
    pub fn epsilon(&self, delta: Delta) -> Result<Bracket, AccountingError> {
        if delta.get() == 0.0 {
            return Err(AccountingError::invalid("delta", 0, "give a delta above 0"));
        }
        // 1 − kept·(1 − inner) = δ
        let kept = libm::exp(self.log_kept);
        let inner = (delta.get() + libm::expm1(self.log_kept)) / kept;
        if inner <= 0.0 {
            return Err(AccountingError::invalid(
                "delta",
                delta,
                "give a larger delta: the events' own deltas already add up to more",
            ));
        }
        self.worst(
            |sum| epsilon_of(sum, inner * (1.0 - 1e-13), inner * (1.0 + 1e-13)),
            |sum, known| chernoff(sum, known.lower) < inner * (1.0 - 1e-9),
        )
    }

    /// The worse of the two directions. The second is not worked out where it is certainly the lesser.
    fn worst(
        &self,
        bracket: impl Fn(&Sum) -> Result<Bounds, AccountingError>,
        lesser: impl Fn(&Sum, &Bracket) -> bool,
    ) -> Result<Bracket, AccountingError> {
        if self.remove.parts.is_empty() {
            return Err(uncertified("nothing was composed that has a loss"));
        }
        let first = bracket(&self.remove)?;
        let first = Bracket { lower: first.lower, upper: first.upper, direction: Direction::Remove };
        if self.remove.parts == self.add.parts || lesser(&self.add, &first) {
            return Ok(first);
        }
        let second = bracket(&self.add)?;
        let direction = if second.upper > first.upper { Direction::Add } else { Direction::Remove };
        Ok(Bracket { lower: first.lower.max(second.lower), upper: first.upper.max(second.upper), direction })
    }

    fn with_kept(&self, inner: f64, side: f64) -> f64 {
        if self.log_kept == 0.0 {
            return inner;
        }
        ((-libm::expm1(self.log_kept) + libm::exp(self.log_kept) * inner) * (1.0 + side)).clamp(0.0, 1.0)
    }
}

fn uncertified(why: &str) -> AccountingError {
    AccountingError::Unsupported { event: "this list of events", accountant: "tight", why: why.into() }
}

/// A bracket wider than this, relative, is not called an answer.
const WIDEST: f64 = 1e-3;

fn laid(sum: &Sum, epsilon: f64) -> Result<Contour, AccountingError> {
    let c = sum.saddle(epsilon);
    sum.contour(c, epsilon)
        .ok_or_else(|| uncertified("its quadrature would take too many points: use the rdp accountant"))
}

fn too_wide() -> AccountingError {
    uncertified("its loss has atoms, or too few steps, for a certified integral: use the rdp accountant")
}

fn delta_of(sum: &Sum, epsilon: f64) -> Result<Bounds, AccountingError> {
    let bounds = laid(sum, epsilon)?.delta(epsilon);
    if bounds.upper - bounds.lower > WIDEST * bounds.upper {
        return Err(too_wide());
    }
    Ok(bounds)
}

/// The ends of ε: upper(ε) ≤ δ_low and lower(ε) ≥ δ_high.
fn epsilon_of(sum: &Sum, delta_low: f64, delta_high: f64) -> Result<Bounds, AccountingError> {
    // Estimates by a short contour settle where the certified one is to be laid.
    let mut guess = first_guess(sum, delta_low);
    for _ in 0..8 {
        let Some(contour) = sum.short_contour(sum.saddle(guess), guess) else { break };
        let next = crossing(guess, |e| contour.estimate(e) > delta_low).max(1e-9);
        let settled = (next - guess).abs() <= 1e-3 * guess;
        guess = next;
        if settled {
            break;
        }
    }
    for _ in 0..12 {
        let contour = laid(sum, guess)?;
        let upper = crossing(guess, |e| contour.delta(e).upper > delta_low);
        if (upper - guess).abs() <= 0.02 * guess.abs() + 1e-9 {
            let lower = crossing(upper, |e| contour.delta(e).lower >= delta_high);
            let (lower, upper) = (lower.next_down().max(0.0), upper.next_up());
            // A relative 1e-12 is what bisection itself leaves near ε = 0.
            if upper - lower > WIDEST * upper + 1e-12 {
                return Err(too_wide());
            }
            return Ok(Bounds { lower, upper });
        }
        guess = upper.max(1e-9);
    }
    Err(uncertified("the search for epsilon did not settle"))
}

/// δ(ε) ≤ e^{K(c) − cε} for every c: the least over a few.
fn chernoff(sum: &Sum, epsilon: f64) -> f64 {
    (-4..14)
        .map(|i| libm::exp(0.5 * f64::from(i)))
        .map(|c| sum.cumulant(c) - c * epsilon)
        .filter(|exponent| !exponent.is_nan())
        .fold(0.0, |least: f64, exponent| least.min(exponent))
        .exp()
        * (1.0 + 1e-9)
}

/// The least ε for which Chernoff's bound is δ: a start from above.
fn first_guess(sum: &Sum, delta: f64) -> f64 {
    let at = |log_c: f64| {
        let c = libm::exp(log_c);
        let epsilon = (sum.cumulant(c) - libm::log(delta)) / c;
        if epsilon.is_finite() { epsilon } else { f64::INFINITY }
    };
    // Convex in shape: thirds are thrown away until the rest does not matter.
    let (mut low, mut high) = (-9.0, 14.0);
    while high - low > 0.5 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(a) <= at(b) {
            high = b;
        } else {
            low = a;
        }
    }
    at(0.5 * (low + high)).clamp(1e-9, 1e12)
}

/// The end of the interval around `near` on which `above` holds, from the right.
fn crossing(near: f64, above: impl Fn(f64) -> bool) -> f64 {
    let mut width = 1e-3 * near.abs() + 1e-9;
    let (mut low, mut high) = (near, near);
    if above(near) {
        while above(high) && width < 1e15 {
            low = high;
            high += width;
            width *= 2.0;
        }
    } else {
        while !above(low) && low > 0.0 {
            high = low;
            low = (low - width).max(0.0);
            width *= 2.0;
        }
        if low <= 0.0 && !above(0.0) {
            return 0.0;
        }
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if above(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests;
