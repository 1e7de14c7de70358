//! A few uses: the losses of all but one on points counted from the end that bounds them, the last one exactly.
//!
//! Few samples at a small rate lose hardly anything and, rarely, much: neither a transform nor a contour sees both.
//! Sums of products without a negative term keep every digit of either.

use super::contour::{Bounds, Sum};
use super::grid::end;
use super::loss::PrivacyLoss;
use super::series::Series;
use super::tails::Tails;
use super::{is_narrow, uses};

/// More uses than this are left to the other methods.
const MOST_USES: f64 = 40.0;

/// Multiplications for one law at most, and points.
const MOST_WORK: f64 = 1.5e8;
const POINTS: std::ops::RangeInclusive<f64> = 128.0..=8192.0;

/// Points of a first look, and of the first law that may answer.
const ROUGH: usize = 160;
const FIRST: usize = 512;

/// What is cut off the ends, relative to δ, all uses together.
const CUT: f64 = 1e-7;

/// Losses beyond this are left to the other methods.
const LARGEST_LOSS: f64 = 500.0;

/// All uses but one as a law from above and one from below, and the last use.
struct Few<'a> {
    last: &'a PrivacyLoss,
    /// Where the last loss begins and ends, but for what is cut off.
    last_range: (f64, f64),
    /// Q(L ≤ the beginning) of the last loss, and P(L > the end).
    last_cut: (f64, f64),
    base: f64,
    step: f64,
    upwards: bool,
    upper: Series,
    lower: Series,
    /// The ε up to which (upwards) or from which (downwards) the upper law speaks.
    limit: f64,
    /// P-mass that counts as revealed.
    revealed: f64,
    relative: f64,
    drift: f64,
}

/// Parts with their ends.
struct Split<'a> {
    last: usize,
    parts: &'a [(f64, PrivacyLoss)],
    ends: Vec<(f64, f64)>,
    uses: f64,
}

impl<'a> Split<'a> {
    fn new(sum: &'a Sum, share: f64) -> Option<Self> {
        let uses: f64 = sum.parts.iter().map(|(count, _)| count).sum();
        if !(2.0..=MOST_USES).contains(&uses) {
            return None;
        }
        let last = sum.parts.iter().position(|(_, loss)| !loss.is_discrete())?;
        let ends = sum
            .parts
            .iter()
            .map(|(_, loss)| Some((end(loss, share, false)?, end(loss, share, true)?)))
            .collect::<Option<Vec<_>>>()?;
        Some(Self { last, parts: &sum.parts, ends, uses })
    }

    /// The sum of all beginnings or ends.
    fn total(&self, pick: impl Fn(&(f64, f64)) -> f64) -> f64 {
        self.parts.iter().zip(&self.ends).map(|((count, _), ends)| count * pick(ends)).sum()
    }

    /// Products of series that the law of all but one takes.
    fn work(&self, points: f64) -> f64 {
        let products: f64 = self.parts.iter().map(|(count, _)| 2.0 * libm::log2(*count) + 1.0).sum();
        4.0 * products * 0.5 * points * points
    }

    fn most_points(&self) -> usize {
        let most = (MOST_WORK / self.work(1.0)).sqrt();
        most.clamp(*POINTS.start(), *POINTS.end()) as usize
    }

    /// A law that answers for ε between the two ends; from the side that takes the shorter stretch.
    fn few(&self, (low, high): (f64, f64), points: usize) -> Option<Few<'a>> {
        let (up, down) = (high - self.total(|ends| ends.0), self.total(|ends| ends.1) - low);
        let upwards = up > 0.0 && (up <= down || down <= 0.0);
        let reach = if upwards { up } else { down };
        let far = high.abs() + self.total(|ends| ends.0.abs());
        if !(reach > 0.0 && reach < LARGEST_LOSS && far < LARGEST_LOSS) {
            return None;
        }
        let step = reach / (points - 1) as f64;
        let (mut upper, mut lower) = (Series::one(points, false), Series::one(points, true));
        let (mut base, mut revealed, mut drift) = (0.0, 0.0, 0.0);
        let last = &self.parts[self.last].1;
        for (index, ((count, loss), ends)) in self.parts.iter().zip(&self.ends).enumerate() {
            let edge = if upwards { ends.0 } else { ends.1 };
            let range = edge.abs() + reach;
            drift += count * (64.0 + 4.0 * loss.sharpness() * loss.sharpness()) * f64::EPSILON * range;
            let count = if index == self.last { count - 1.0 } else { *count };
            if !upwards {
                revealed += (count + 1.0) * loss.tails(edge).p_above;
            }
            if count == 0.0 {
                continue;
            }
            let (above, below) = laws(loss, edge, step, points, upwards);
            base += count * edge;
            let first = index == 0 || self.parts[..index].iter().all(|(count, _)| *count == 0.0);
            let raised = |series: &Series, total: &Series| {
                let power = series.power(count as u64, step, upwards);
                if first { power } else { total.times(&power, step, upwards) }
            };
            (upper, lower) = (raised(&above, &upper), raised(&below, &lower));
        }
        let last_range = self.ends[self.last];
        let last_cut = (last.tails(last_range.0).q_below, last.tails(last_range.1).p_above);
        Some(Few {
            last,
            last_range,
            last_cut,
            base,
            step,
            upwards,
            upper,
            lower,
            limit: if upwards { high } else { low },
            revealed,
            relative: 4.0 * self.uses * (points as f64 + 64.0) * f64::EPSILON,
            drift,
        })
    }
}

/// What a difference of tails may be off by: a few units, and more where the tail is steep.
fn difference(above: (f64, f64), below: (f64, f64)) -> (f64, f64) {
    let (value, size) =
        if above.0 < below.1 { (above.0 - above.1, above.0) } else { (below.1 - below.0, below.1) };
    let steepness = 8.0 - 8.0 * libm::log(size.max(f64::MIN_POSITIVE));
    (value.max(0.0), f64::EPSILON * steepness * size)
}

/// One loss as a law that is never better and one that is never worse. A cell's P-mass and Q-mass are split between its
/// ends for the first, and put together for the second.
fn laws(loss: &PrivacyLoss, edge: f64, step: f64, points: usize, upwards: bool) -> (Series, Series) {
    let (mut upper, mut lower) = (Series::one(points, false), Series::one(points, true));
    (upper.mass[0], lower.mass[0]) = (0.0, 0.0);
    let at = |i: usize| if upwards { edge + step * i as f64 } else { edge - step * i as f64 };
    let shrink = -libm::expm1(-step);
    let mut near = loss.tails(edge);
    if upwards {
        upper.mass[0] = near.p_below;
    }
    for i in 1..points {
        let far = loss.tails(at(i));
        let (low, high, floor): (Tails, Tails, f64) =
            if upwards { (near, far, at(i - 1)) } else { (far, near, at(i)) };
        let (p, p_doubt) = difference((low.p_above, high.p_above), (low.p_below, high.p_below));
        let (q, q_doubt) = difference((low.q_above, high.q_above), (low.q_below, high.q_below));
        // P-mass times how far above the cell's lower end it lies, as 1 − e^{−d}.
        let scale = libm::exp(floor);
        let (lift, doubt) = (p - scale * q, p_doubt + scale * q_doubt);
        let most = p + p_doubt;
        let right = ((lift + doubt) / shrink).clamp(0.0, most);
        let (lower_end, upper_end) = if upwards { (i - 1, i) } else { (i, i - 1) };
        upper.mass[upper_end] += right;
        upper.mass[lower_end] += most - right;
        let least = (p - p_doubt).max(0.0);
        lower.mass[lower_end] += least;
        lower.lift[lower_end] += (lift - doubt).clamp(0.0, least * shrink);
        near = far;
    }
    if upwards {
        let profile = loss.delta(at(points - 1));
        let p = near.p_above;
        let doubt = f64::EPSILON * (8.0 - 8.0 * libm::log(p.max(f64::MIN_POSITIVE))) * p;
        (upper.beyond, lower.beyond) = (p + doubt, (p - doubt).max(0.0));
        upper.beyond_lift = profile.upper.min(upper.beyond);
        lower.beyond_lift = (profile.lower - doubt).clamp(0.0, lower.beyond);
    }
    (upper, lower)
}

impl Few<'_> {
    fn point(&self, i: usize) -> f64 {
        let along = self.step * i as f64;
        if self.upwards { self.base + along } else { self.base - along }
    }

    /// δ of the last use at an ε of any size.
    fn last_upper(&self, epsilon: f64) -> f64 {
        if epsilon <= self.last_range.0 {
            -libm::expm1(epsilon) + libm::exp(epsilon) * self.last_cut.0
        } else if epsilon >= self.last_range.1 {
            self.last_cut.1
        } else {
            self.last.delta(epsilon).upper
        }
    }

    fn last_lower(&self, epsilon: f64) -> f64 {
        if epsilon <= self.last_range.0 {
            -libm::expm1(epsilon)
        } else if epsilon >= self.last_range.1 {
            0.0
        } else {
            self.last.delta(epsilon).lower
        }
    }

    /// Mass beyond the last point: every further loss leaves it above ε.
    fn beyond(&self, series: &Series, epsilon: f64) -> f64 {
        let below = epsilon - self.point(series.mass.len() - 1);
        series.beyond * -libm::expm1(below) + libm::exp(below) * series.beyond_lift
    }

    fn delta_up(&self, epsilon: f64) -> f64 {
        if !self.upwards && epsilon < self.limit {
            return 1.0;
        }
        // δ falls with ε: beyond the limit the value there is still above the truth.
        let epsilon = if self.upwards { epsilon.min(self.limit) } else { epsilon } - self.drift;
        let mut sum = 0.0;
        for (i, p) in self.upper.mass.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            sum += p * self.last_upper(epsilon - self.point(i));
        }
        if self.upwards {
            sum += self.beyond(&self.upper, epsilon) + self.upper.beyond * self.last_cut.0;
        }
        let upper = sum * (1.0 + self.relative) + self.revealed;
        if upper.is_nan() { 1.0 } else { upper.clamp(0.0, 1.0) }
    }

    fn delta_down(&self, epsilon: f64) -> f64 {
        let epsilon = epsilon + self.drift;
        let mut sum = 0.0;
        for (i, p) in self.lower.mass.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let lifted = libm::log1p(-(self.lower.lift[i] / p).min(0.5));
            sum += p * self.last_lower(epsilon - self.point(i) + lifted);
        }
        if self.upwards {
            sum += self.beyond(&self.lower, epsilon).max(0.0);
        }
        let lower = sum * (1.0 - self.relative) - f64::MIN_POSITIVE;
        if lower.is_nan() { 0.0 } else { lower.clamp(0.0, 1.0) }
    }

    fn delta(&self, epsilon: f64) -> Bounds {
        let upper = self.delta_up(epsilon);
        Bounds { lower: self.delta_down(epsilon).min(upper), upper }
    }

    /// The ends of ε within two known ones.
    fn epsilon(&self, (low, high): (f64, f64), delta: (f64, f64), tolerance: f64) -> Bounds {
        let upper = if self.delta_up(high) <= delta.0 {
            falling(&|e| self.delta_up(e), delta.0, (low, high), tolerance).1
        } else {
            high
        };
        let lower = if self.delta_down(low) >= delta.1 {
            falling(&|e| self.delta_down(e), delta.1, (low, high), tolerance).0
        } else {
            low
        };
        Bounds { lower: lower.min(upper), upper }
    }
}

/// Two ends around the place where a falling function passes the target: above it at the first, not above it at the
/// second.
fn falling(value: &dyn Fn(f64) -> f64, target: f64, within: (f64, f64), tolerance: f64) -> (f64, f64) {
    let height = |e: f64| libm::log(value(e).max(f64::MIN_POSITIVE) / target);
    let (mut low, mut high) = ((within.0, height(within.0)), (within.1, height(within.1)));
    if low.1 <= 0.0 {
        return (within.0, within.0);
    }
    for round in 0..60 {
        if high.0 - low.0 <= tolerance * high.0 {
            break;
        }
        // Where the straight line crosses, a little aside of it in turn; halves now and then.
        let line = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
        let aside = 0.3 * tolerance * high.0 * if round % 2 == 0 { 1.0 } else { -1.0 };
        let next = if round % 3 == 2 { 0.5 * (low.0 + high.0) } else { line + aside };
        let next = if next > low.0 && next < high.0 { next } else { 0.5 * (low.0 + high.0) };
        let here = (next, height(next));
        if here.1 > 0.0 {
            low = here;
        } else {
            high = here;
        }
    }
    (low.0, high.0)
}

impl Sum {
    /// δ at ε where there are few uses.
    pub(super) fn few_delta(&self, epsilon: f64) -> Option<Bounds> {
        let first = Split::new(self, 1e-40)?.few((epsilon, epsilon), ROUGH)?.delta(epsilon);
        let share = (CUT * first.upper / uses(self)).max(1e-290);
        let split = Split::new(self, share)?;
        let (mut bounds, mut points) = (first, FIRST);
        loop {
            let found = split.few((epsilon, epsilon), points)?.delta(epsilon);
            bounds = both(bounds, found);
            match finer(&split, points, &bounds, self.width) {
                Some(next) => points = next,
                None => return Some(bounds),
            }
        }
    }

    /// ε at δ where there are few uses: upper(ε) ≤ δ₀ and lower(ε) ≥ δ₁.
    pub(super) fn few_epsilon(&self, delta: (f64, f64)) -> Option<Bounds> {
        let share = (CUT * delta.0 / uses(self)).max(1e-290);
        let split = Split::new(self, share)?;
        // Some loss exceeds its part of this with probability δ at most.
        let each = delta.0 / uses(self);
        let ends = self.parts.iter().map(|(count, loss)| Some(count * end(loss, each, true)?));
        let high = ends.collect::<Option<Vec<f64>>>()?.iter().sum::<f64>();
        if high <= 0.0 {
            return Some(Bounds { lower: 0.0, upper: 0.0 });
        }
        let mut known = Bounds { lower: 0.0, upper: high };
        for _ in 0..40 {
            let found = split.few((known.lower, known.upper), ROUGH)?;
            let next = found.epsilon((known.lower, known.upper), delta, 1e-3);
            let settled = next.upper - next.lower > 0.6 * (known.upper - known.lower)
                || next.upper - next.lower < 0.1 * next.upper;
            known = both(known, next);
            if settled {
                break;
            }
        }
        let mut points = FIRST;
        loop {
            let found = split.few((known.lower, known.upper), points)?;
            known = both(known, found.epsilon((known.lower, known.upper), delta, 1e-9));
            match finer(&split, points, &known, self.width) {
                Some(next) => points = next,
                None => break,
            }
        }
        Some(Bounds { lower: known.lower * (1.0 - 1e-12), upper: known.upper.next_up() })
    }
}

/// What both say. Brackets that contradict each other prove nothing against each other: then the whole stretch is left.
pub(super) fn both(a: Bounds, b: Bounds) -> Bounds {
    let contradicts = |a: Bounds, b: Bounds| a.lower > b.upper * (1.0 + 1e-9) + 1e-300;
    if contradicts(a, b) || contradicts(b, a) {
        return Bounds { lower: a.lower.min(b.lower), upper: a.upper.max(b.upper) };
    }
    let upper = a.upper.min(b.upper);
    Bounds { lower: a.lower.max(b.lower).min(upper), upper }
}

/// More points where the bracket is wider than wanted: the width falls with their square.
fn finer(split: &Split<'_>, points: usize, bounds: &Bounds, width: f64) -> Option<usize> {
    let most = split.most_points();
    if is_narrow(bounds, width) || points >= most {
        return None;
    }
    let excess = (bounds.upper - bounds.lower) / (width * bounds.upper);
    let more = (1.2 * excess.sqrt()).clamp(1.5, 8.0);
    Some(((points as f64 * more) as usize).min(most))
}
