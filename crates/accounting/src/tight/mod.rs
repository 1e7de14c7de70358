//! The tight accountant: exact privacy-loss distributions, with certified upper and lower bounds.
#![doc = include_str!("proof.md")]

pub(crate) mod balls;
mod complex;
mod compound;
mod contour;
pub(crate) mod events;
mod exact;
mod extremes;
mod few;
mod grid;
pub(crate) mod lattice;
mod loss;
mod many;
mod parallel;
mod replaced;
mod series;
pub(crate) mod shuffle;
mod single;
pub(crate) mod student;
mod tails;

pub use loss::{Direction, PrivacyLoss};
pub(crate) use replaced::{last_mode, log_part};

use crate::AccountingError;
use crate::clipped::{allowed, plain};
use contour::{Bounds, Contour, Sum};
use events::{End, Found};
use few::both;
use grid::Near;
use reticent_core::{Delta, Epsilon, Event, EventLog, Neighboring};
use shuffle::Shuffle;

/// Certified lower and upper bounds on a number; the upper bound is what may be claimed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Never above the truth for the worst mechanisms the events allow.
    pub lower: f64,
    /// Never below the truth.
    pub upper: f64,
    /// The direction that decides.
    pub direction: Direction,
}

/// A larger ε is not worth its digits.
const LARGEST_EPSILON: f64 = 1e12;

/// A smaller δ is beyond double precision.
const SMALLEST_DELTA: f64 = 1e-290;

/// Events as they add up, by the distribution of their privacy loss.
///
/// # Guarantee
/// For the sequence of all composed events under the relation given at the start: the upper ends of
/// [`delta`](Self::delta) and [`epsilon`](Self::epsilon) are true claims. The lower ends are those of
/// mechanisms that the events allow, so no claim below them follows from the events; a mechanism of a better
/// kind (a `pure` one that is not randomized response, say) may still lose less. Both directions of the relation
/// are kept apart to the end.
///
/// # Reference
/// Alghamdi et al., *The Saddle-Point Method in Differential Privacy* (2023), for the integral; Doroshenko et
/// al., *Connect the dots* (2022), for the grid; the bounds are derived in the proof.
#[derive(Clone)]
pub struct TightAccountant {
    neighboring: Neighboring,
    ceiling: Side,
    floor: Side,
}

/// One list of losses: the worst the events allow, or one they certainly allow.
#[derive(Default, Clone)]
struct Side {
    remove: Sum,
    add: Sum,
    /// ln of the probability that nothing is revealed outright, e.g. by the δ of (ε, δ) events.
    log_kept: f64,
    /// What rounding may have done to it.
    kept_error: f64,
    /// Shuffled epochs, of which only one event of the total is known.
    shuffled: Vec<Shuffle>,
    /// What a record may meet, where a single event on disjoint parts is all there is: the worst of these decides.
    alone: Option<Vec<Found>>,
}

impl TightAccountant {
    /// An account with nothing in it.
    pub fn new(neighboring: Neighboring) -> Self {
        Self { neighboring, ceiling: Side::default(), floor: Side::default() }
    }

    /// The same account with brackets of about this relative width, where that takes no more memory than a grid may
    /// have; they are certified in any case. 10⁻⁴ unless another is asked for.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] for a width that is not between 10⁻⁹ and 0.5.
    pub fn with_width(mut self, width: f64) -> Result<Self, AccountingError> {
        let width = checked_width(width)?;
        for side in [&mut self.ceiling, &mut self.floor] {
            (side.remove.width, side.add.width) = (width, width);
        }
        Ok(self)
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

    /// Adds `count` uses of an event. Where it has no known loss the account is from then on good for its floor
    /// only.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when the event's loss distribution is not known.
    pub fn compose(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        event.validate()?;
        let (worst, allowed) = (plain(event, self.neighboring)?, allowed(event, self.neighboring)?);
        let mut ceiling = Found::new(self.neighboring, End::Ceiling);
        let known = ceiling.collect(&worst, count);
        let mut floor = Found::new(self.neighboring, End::Floor);
        if floor.collect(&allowed, count).is_ok() {
            // Where it is not known what is added, less than all is a floor too.
            self.floor.extend(&floor).ok();
        }
        known?;
        self.ceiling.extend(&ceiling)
    }

    /// δ at ε.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when no bracket can be certified.
    pub fn delta(&self, epsilon: Epsilon) -> Result<Bracket, AccountingError> {
        let bracket = self.ceiling.delta(epsilon.get())?;
        if bracket.upper.is_nan() {
            return Err(uncertified("the noise is too small"));
        }
        let lower = if self.is_exact() { bracket.lower } else { self.floor_delta(epsilon) };
        Ok(Bracket { lower: lower.min(bracket.upper), ..bracket })
    }

    /// δ at ε in one direction, from above.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when no bracket can be certified.
    pub fn delta_one_way(&self, epsilon: Epsilon, direction: Direction) -> Result<f64, AccountingError> {
        self.ceiling.delta_one_way(epsilon.get(), direction)
    }

    /// A δ that mechanisms the events allow certainly lose at ε.
    pub fn floor_delta(&self, epsilon: Epsilon) -> f64 {
        let floor = self.floor.delta(epsilon.get()).map_or(0.0, |floor| floor.lower);
        self.floor.shuffled.iter().map(|one| one.delta_down(epsilon.get())).fold(floor, f64::max)
    }

    /// An ε that mechanisms the events allow certainly lose at δ.
    pub fn floor_epsilon(&self, delta: Delta) -> f64 {
        let floor = self.floor.epsilon(delta.get()).map_or(0.0, |floor| floor.lower);
        self.floor.shuffled.iter().map(|one| one.epsilon_down(delta.get())).fold(floor, f64::max)
    }

    /// ε at δ.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when δ = 0; [`AccountingError::Impossible`] when it is below what the events reveal
    /// outright; [`AccountingError::Unsupported`] when no bracket can be certified.
    pub fn epsilon(&self, delta: Delta) -> Result<Bracket, AccountingError> {
        if delta.get() < SMALLEST_DELTA {
            return Err(AccountingError::invalid("delta", delta, "give a delta of at least 1e-290"));
        }
        let bracket = self.ceiling.epsilon(delta.get())?;
        if !bracket.upper.is_finite() || bracket.upper > LARGEST_EPSILON {
            return Err(uncertified("epsilon is beyond 1e12: the noise is too small"));
        }
        let lower = if self.is_exact() { bracket.lower } else { self.floor_epsilon(delta) };
        Ok(Bracket { lower: lower.min(bracket.upper), ..bracket })
    }

    /// Whether both directions lose the same.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.ceiling.is_symmetric()
    }

    /// Whether the worst that the events allow is known to be among them.
    fn is_exact(&self) -> bool {
        self.floor.shuffled.is_empty()
            && self.ceiling.alone.is_none()
            && self.floor.alone.is_none()
            && self.ceiling.log_kept == self.floor.log_kept
            && self.ceiling.remove.parts == self.floor.remove.parts
            && self.ceiling.add.parts == self.floor.add.parts
    }
}

impl Side {
    /// Adds what was found; nothing when it fails.
    fn extend(&mut self, found: &Found) -> Result<(), AccountingError> {
        let is_empty = self.remove.parts.is_empty() && self.log_kept == 0.0 && self.shuffled.is_empty();
        match (&self.alone, &found.parallels[..]) {
            (None, [(1.0, parts)]) if is_empty && found.is_only_parallel() => {
                self.alone = Some(parts.clone());
                return Ok(());
            }
            _ if found.is_empty() => return Ok(()),
            (Some(parts), _) => {
                let mut both = Found::new(found.neighboring, found.end);
                both.parallels.push((1.0, parts.clone()));
                both.absorb(found, 1.0);
                let settled = both.settled()?;
                self.alone = None;
                self.add(&settled);
            }
            _ => self.add(&found.settled()?),
        }
        Ok(())
    }

    /// One account for each of what a record may meet, where that is all there is.
    fn branches(&self) -> Result<Option<Vec<Self>>, AccountingError> {
        let Some(parts) = &self.alone else { return Ok(None) };
        let side = |part: &Found| {
            let mut side = Self::default();
            (side.remove.width, side.add.width) = (self.remove.width, self.add.width);
            side.extend(part).map(|()| side)
        };
        Ok(Some(parts.iter().map(side).collect::<Result<Vec<Self>, AccountingError>>()?))
    }

    /// The worst of the branches.
    fn over(
        branches: &[Self],
        ask: impl Fn(&Self) -> Result<Bracket, AccountingError>,
    ) -> Result<Bracket, AccountingError> {
        let start = Bracket { lower: 0.0, upper: 0.0, direction: Direction::Remove };
        branches.iter().try_fold(start, |worst, side| {
            let found = ask(side)?;
            if found.upper.is_nan() {
                return Err(uncertified("the noise is too small"));
            }
            let direction = if found.upper > worst.upper { found.direction } else { worst.direction };
            let (lower, upper) = (worst.lower.max(found.lower), worst.upper.max(found.upper));
            Ok(Bracket { lower, upper, direction })
        })
    }

    fn is_symmetric(&self) -> bool {
        match self.branches() {
            Ok(None) => self.remove.parts == self.add.parts,
            Ok(Some(branches)) => branches.iter().all(Self::is_symmetric),
            Err(_) => false,
        }
    }

    fn add(&mut self, found: &Found) {
        for (direction, sum) in [(Direction::Remove, &mut self.remove), (Direction::Add, &mut self.add)] {
            for (times, loss) in found.losses(direction) {
                sum.push(times, loss);
            }
        }
        self.log_kept += found.log_kept;
        self.kept_error += 4.0 * f64::EPSILON * (found.log_kept + self.log_kept).abs();
        self.shuffled.extend(&found.shuffled);
    }

    fn delta(&self, epsilon: f64) -> Result<Bracket, AccountingError> {
        if let Some(branches) = self.branches()? {
            return Self::over(&branches, |side| side.delta(epsilon));
        }
        let inner =
            self.worst(|sum| delta_of(sum, epsilon), |sum, known| chernoff(sum, epsilon) < known.lower)?;
        Ok(Bracket {
            lower: self.with_kept(inner.lower, -1.0),
            upper: self.with_kept(inner.upper, 1.0),
            direction: inner.direction,
        })
    }

    fn delta_one_way(&self, epsilon: f64, direction: Direction) -> Result<f64, AccountingError> {
        if let Some(branches) = self.branches()? {
            let mut each = branches.iter().map(|side| side.delta_one_way(epsilon, direction));
            return each.try_fold(0.0, |worst: f64, delta| Ok(worst.max(delta?)));
        }
        let sum = if direction == Direction::Remove { &self.remove } else { &self.add };
        let inner = if sum.parts.is_empty() { 0.0 } else { delta_of(sum, epsilon)?.upper };
        Ok(self.with_kept(inner, 1.0))
    }

    fn epsilon(&self, delta: f64) -> Result<Bracket, AccountingError> {
        if let Some(branches) = self.branches()? {
            return Self::over(&branches, |side| side.epsilon(delta));
        }
        // 1 − kept·(1 − inner) = δ
        let kept = libm::exp(self.log_kept);
        let inner = (delta + libm::expm1(self.log_kept)) / kept;
        let error = self.kept_error + 4.0 * f64::EPSILON * delta;
        let doubt = 1e-13 + error / inner.max(f64::MIN_POSITIVE);
        if inner * kept < -error {
            return Err(AccountingError::impossible(delta, -libm::expm1(self.log_kept)));
        }
        if inner <= 0.0 || doubt > 0.1 {
            return Err(uncertified("delta is all but what the events reveal outright: give a larger delta"));
        }
        self.worst(
            |sum| epsilon_of(sum, inner * (1.0 - doubt), inner * (1.0 + doubt)),
            |sum, known| chernoff(sum, known.lower) < inner * (1.0 - 1e-9 - doubt),
        )
    }

    /// The worse of the two directions. The second is not worked out where it is certainly the lesser.
    fn worst(
        &self,
        bracket: impl Fn(&Sum) -> Result<Bounds, AccountingError>,
        lesser: impl Fn(&Sum, &Bracket) -> bool,
    ) -> Result<Bracket, AccountingError> {
        if self.remove.parts.is_empty() {
            return Ok(Bracket { lower: 0.0, upper: 0.0, direction: Direction::Remove });
        }
        let first = bracket(&self.remove)?;
        let first = Bracket { lower: first.lower, upper: first.upper, direction: Direction::Remove };
        if self.remove.parts == self.add.parts || lesser(&self.add, &first) {
            return Ok(first);
        }
        let second = bracket(&self.add)?;
        if !(first.upper.is_finite() && second.upper.is_finite()) {
            return Err(uncertified("the noise is too small"));
        }
        let direction = if second.upper > first.upper { Direction::Add } else { Direction::Remove };
        Ok(Bracket { lower: first.lower.max(second.lower), upper: first.upper.max(second.upper), direction })
    }

    fn with_kept(&self, inner: f64, side: f64) -> f64 {
        if self.log_kept == 0.0 {
            return inner;
        }
        let total = -libm::expm1(self.log_kept) + libm::exp(self.log_kept) * inner;
        (total + side * (self.kept_error + 1e-14 * total)).clamp(0.0, 1.0)
    }
}

/// A width that a bracket can have.
pub(crate) fn checked_width(width: f64) -> Result<f64, AccountingError> {
    if (1e-9..=0.5).contains(&width) {
        return Ok(width);
    }
    Err(AccountingError::invalid("width", width, "give a number from 1e-9 to 0.5"))
}

fn uncertified(why: &str) -> AccountingError {
    AccountingError::Unsupported { event: "this list of events", accountant: "pld", why: why.into() }
}

fn too_many_points() -> AccountingError {
    uncertified("it would take too many points: use the rdp accountant")
}

/// What all ways that were tried say together: each is asked only while the bracket is wider than wanted. Every one
/// of them is true, so the least upper end and the largest lower end are.
fn together(
    is_enough: impl Fn(&Bounds) -> bool,
    ways: &[&dyn Fn() -> Option<Bounds>],
) -> Result<Bounds, AccountingError> {
    let mut found: Option<Bounds> = None;
    for way in ways {
        if found.is_some_and(|bounds| is_enough(&bounds)) {
            break;
        }
        found = match (found, way()) {
            (Some(known), Some(next)) => Some(both(known, next)),
            (known, next) => known.or(next),
        };
    }
    found.ok_or_else(too_many_points)
}

/// How many uses there are.
fn uses(sum: &Sum) -> f64 {
    sum.parts.iter().map(|(count, _)| count).sum()
}

fn delta_of(sum: &Sum, epsilon: f64) -> Result<Bounds, AccountingError> {
    let long = if sum.is_long() { many::delta(sum, epsilon) } else { None };
    if let Some(bounds) = long.filter(|bounds| sum.is_very_long() || is_narrow(bounds, 1e-2)) {
        return Ok(bounds);
    }
    if sum.is_very_long() {
        return Err(too_many_points());
    }
    let contour = || Some(sum.contour(sum.place(epsilon)?, epsilon)?.delta(epsilon));
    let found = together(
        // Also where δ is tiny.
        |bounds| bounds.upper - bounds.lower <= sum.width * bounds.upper,
        &[
            &|| Some(sum.extremes(epsilon)),
            &|| Some(sum.exact()?.delta(epsilon)),
            &|| if sum.is_smooth() { contour() } else { sum.few_delta(epsilon) },
            &|| if sum.is_smooth() { sum.few_delta(epsilon) } else { contour() },
        ],
    );
    // A grid takes long, and keeps no more digits of a tiny δ.
    if found.as_ref().is_ok_and(|bounds| is_narrow(bounds, sum.width)) {
        return found;
    }
    let grid = sum.grid(Near { epsilon: Some(epsilon), ..Near::default() });
    match (found, grid.map(|grid| grid.delta(epsilon))) {
        (Ok(known), Some(next)) => Ok(both(known, next)),
        (known, None) => known,
        (Err(_), Some(next)) => Ok(next),
    }
}

/// The ends of ε: upper(ε) ≤ δ_low and lower(ε) ≥ δ_high.
fn epsilon_of(sum: &Sum, delta_low: f64, delta_high: f64) -> Result<Bounds, AccountingError> {
    // So large a δ asks nothing of the events.
    if sum.extremes(0.0).upper <= delta_low {
        return Ok(Bounds { lower: 0.0, upper: 0.0 });
    }
    let long = if sum.is_long() { many::epsilon(sum, delta_low, delta_high) } else { None };
    if let Some(bounds) = long.filter(|bounds| sum.is_very_long() || is_narrow(bounds, 1e-2)) {
        return Ok(bounds);
    }
    if sum.is_very_long() {
        return Err(too_many_points());
    }
    let (few, contour) =
        (|| sum.few_epsilon((delta_low, delta_high)), || epsilon_by_contour(sum, delta_low, delta_high));
    together(
        |bounds| is_narrow(bounds, sum.width),
        &[
            &|| {
                let exact = sum.exact()?;
                ends(&|e| exact.delta(e), delta_low, delta_high)
            },
            &|| if sum.is_smooth() { contour() } else { few() },
            &|| if sum.is_smooth() { few() } else { contour() },
            &|| epsilon_by_grid(sum, delta_low, delta_high),
        ],
    )
}

fn is_narrow(bounds: &Bounds, width: f64) -> bool {
    bounds.upper - bounds.lower <= width * bounds.upper + 1e-12
}

/// The ends of ε where δ is known for every ε.
fn ends(delta: &dyn Fn(f64) -> Bounds, delta_low: f64, delta_high: f64) -> Option<Bounds> {
    let mut high = 1.0;
    while delta(high).upper > delta_low {
        high *= 2.0;
        if high > 1e12 {
            return None;
        }
    }
    let end = |above: &dyn Fn(f64) -> bool| if above(0.0) { bisect_up(0.0, high, above) } else { 0.0 };
    let upper = end(&|e| delta(e).upper > delta_low);
    let lower = end(&|e| delta(e).lower >= delta_high) * (1.0 - 1e-12);
    Some(Bounds { lower: lower.min(upper), upper: upper.next_up() })
}

fn epsilon_by_contour(sum: &Sum, delta_low: f64, delta_high: f64) -> Option<Bounds> {
    // Newton's method on the estimate of a short contour settles where the certified one is to be laid.
    let (mut guess, goal) = (first_guess(sum, delta_low), libm::log(delta_low));
    for _ in 0..12 {
        let (log_delta, slope) = sum.short_contour(sum.place(guess)?)?.estimate(guess);
        let step = (goal - log_delta) / slope;
        if !step.is_finite() {
            break;
        }
        let next = (guess + step).clamp(0.3 * guess, 2.0 * guess + 1e-6).max(1e-9);
        let settled = (next - guess).abs() <= 1e-4 * guess;
        guess = next;
        if settled {
            break;
        }
    }
    for _ in 0..12 {
        let contour: Contour = sum.contour(sum.place(guess)?, guess)?;
        let upper = solve(guess, delta_low, Round::Up, &|e| contour.delta(e).upper);
        if (upper - guess).abs() <= 0.02 * guess.abs() + 1e-9 {
            let lower = solve(upper, delta_high, Round::Down, &|e| contour.delta(e).lower);
            return Some(Bounds { lower: lower.next_down().max(0.0), upper: upper.next_up() });
        }
        guess = upper.max(1e-9);
    }
    None
}

fn epsilon_by_grid(sum: &Sum, delta_low: f64, delta_high: f64) -> Option<Bounds> {
    // First a rough grid, to see where to tilt.
    let mut near = Near { delta: Some(delta_low), rough: true, ..Near::default() };
    let mut found = None;
    for _ in 0..12 {
        let Some(grid) = sum.grid(near) else { return found };
        let (low, high) = grid.range();
        let low = low.max(0.0);
        if grid.delta(high).upper > delta_low {
            near.epsilon = Some(high);
            continue;
        }
        if low > 0.0 && grid.delta(low).upper <= delta_low {
            near.epsilon = Some(low);
            continue;
        }
        let above = |e: f64| grid.delta(e).upper > delta_low;
        let upper = if above(low) { bisect_up(low, high, &above) } else { low };
        if near.rough {
            near = Near { epsilon: Some(upper), rough: false, ..near };
            continue;
        }
        let lower = crossing(upper, |e| grid.delta(e).lower >= delta_high) * (1.0 - 1e-12);
        let bounds = Bounds { lower: lower.min(upper), upper: upper.next_up() };
        if is_narrow(&bounds, sum.width) || near.missed >= MOST_MISSED || sum.is_from_above() {
            return Some(bounds);
        }
        found = Some(bounds);
        near = Near { epsilon: Some(upper), missed: near.missed + 1, ..near };
    }
    found
}

/// How often a grid is refined because its bracket is wider than wanted.
const MOST_MISSED: i32 = 2;

/// The upper end of bisection to a relative 1e-13.
fn bisect_up(low: f64, high: f64, above: &dyn Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if high - low <= 1e-13 * high || middle <= low || middle >= high {
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

/// δ(ε) ≤ e^{K(c) − cε}·c^c/(1 + c)^{1+c} for every c: here one near the best.
fn chernoff(sum: &Sum, epsilon: f64) -> f64 {
    if sum.is_long() {
        return many::chernoff(sum, epsilon);
    }
    let c = sum.saddle(epsilon);
    let exponent = sum.cumulant(c) - c * epsilon - libm::log1p(c) - c * libm::log1p(1.0 / c);
    if exponent.is_nan() { 1.0 } else { libm::exp(exponent.min(0.0)) * (1.0 + 1e-9) }
}

/// The least ε for which Chernoff's bound is δ, roughly: a start from above.
fn first_guess(sum: &Sum, delta: f64) -> f64 {
    let at = |log_c: f64| {
        let c = libm::exp(log_c);
        let epsilon = (sum.cumulant(c) - libm::log(delta) - libm::log1p(c)) / c - libm::log1p(1.0 / c);
        if epsilon.is_finite() { epsilon } else { f64::INFINITY }
    };
    // One valley: downhill by steps that shrink when they overshoot.
    let (mut here, mut step) = (1.0, 1.0);
    let mut value = at(here);
    while f64::abs(step) > 0.2 && f64::abs(here) < 18.0 {
        let next = at(here + step);
        if next < value {
            (here, value) = (here + step, next);
        } else {
            step *= -0.4;
        }
    }
    value.clamp(1e-9, 10.0 * LARGEST_EPSILON)
}

/// The side on which a solution must lie.
#[derive(Clone, Copy, PartialEq)]
enum Round {
    /// value(ε) ≤ target.
    Up,
    /// value(ε) ≥ target, or ε = 0.
    Down,
}

/// An ε at which a decreasing function passes the target, on the stated side of it.
fn solve(near: f64, target: f64, side: Round, value: &dyn Fn(f64) -> f64) -> f64 {
    // Whatever is not a number is not small enough.
    let beyond = |e: f64| {
        let value = value(e);
        if side == Round::Up { value.is_nan() || value > target } else { value >= target }
    };
    // The secant in ln value, which is nearly straight.
    let height = |e: f64| libm::log(value(e) / target);
    let (mut a, mut b) = (near, near * (1.0 + 1e-7) + 1e-12);
    let (mut at_a, mut at_b) = (height(a), height(b));
    for _ in 0..12 {
        let next = b - at_b * (b - a) / (at_b - at_a);
        if !next.is_finite() || next < 0.0 || (next - near).abs() > 0.5 * near + 1e-6 {
            return crossing(near, beyond);
        }
        (a, at_a) = (b, at_b);
        b = next;
        if (b - a).abs() <= 1e-14 * b {
            break;
        }
        at_b = height(b);
    }
    // Step to the stated side.
    let mut width = 1e-14 * b + 1e-300;
    while if side == Round::Up { beyond(b) } else { b > 0.0 && !beyond(b) } {
        if width > 1e-3 * near {
            return crossing(near, beyond);
        }
        b = if side == Round::Up { b + width } else { (b - width).max(0.0) };
        width *= 4.0;
    }
    b
}

/// The end of the interval on which `above` holds, from the right, searched from `near` by bisection.
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
    bisect_up(low, high, &above)
}

#[cfg(test)]
mod few_tests;
#[cfg(test)]
mod tests;
