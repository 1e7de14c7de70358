//! What one privacy unit may contribute, and how far it can then move sums over groups.

use crate::NoiseError;
use reticent_core::Neighboring;
use reticent_core::rounding::{add_up, mul_up, sqrt_up};

/// The largest limit: the product of two fits 64 bits.
const MOST: u64 = 1 << 31;

/// What one privacy unit contributes at most, after bounding: rows in each group, groups, and rows in all.
///
/// # Guarantee
/// The limits are a premise: whoever gathers the sums keeps to them, unit by unit, before anything is added up.
///
/// # Reference
/// Wilson et al., *Differentially Private SQL with Bounded User Contribution* (2020).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContributionLimits {
    rows_per_group: u64,
    groups: u64,
    rows: u64,
}

impl ContributionLimits {
    /// A unit that is a row: one row in one group.
    pub const ROW: Self = Self { rows_per_group: 1, groups: 1, rows: 1 };

    /// At most `rows_per_group` rows in each of at most `groups` groups, and at most `rows` rows over all groups where that is
    /// limited too.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless each is from 1 to 2³¹.
    pub fn new(rows_per_group: u64, groups: u64, rows: Option<u64>) -> Result<Self, NoiseError> {
        let given = [("rows_per_group", Some(rows_per_group)), ("groups", Some(groups)), ("rows", rows)];
        for (field, value) in given {
            if let Some(value) = value.filter(|value| !(1..=MOST).contains(value)) {
                return Err(NoiseError::invalid(field, value, "give a whole number from 1 to 2^31"));
            }
        }
        let product = rows_per_group.saturating_mul(groups);
        let rows = rows.unwrap_or(product).min(product);
        // No group has more rows than all together, and each group of a unit has at least one.
        Ok(Self { rows_per_group: rows_per_group.min(rows), groups: groups.min(rows), rows })
    }

    /// Rows of one unit in one group, at most.
    pub fn rows_per_group(&self) -> u64 {
        self.rows_per_group
    }

    /// Groups of one unit, at most.
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// Rows of one unit over all groups, at most.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The same limits where there are only so many groups.
    #[must_use]
    pub fn within(&self, groups: u64) -> Self {
        let groups = self.groups.min(groups.max(1));
        let rows = self.rows.min(self.rows_per_group.saturating_mul(groups));
        Self { rows_per_group: self.rows_per_group, groups, rows }
    }

    /// The same limits with at most so many rows in a group.
    #[must_use]
    pub(super) fn with_rows_per_group(&self, most: u64) -> Self {
        let rows_per_group = self.rows_per_group.min(most.max(1));
        let rows = self.rows.min(rows_per_group.saturating_mul(self.groups));
        Self { rows_per_group, groups: self.groups, rows }
    }
}

/// How far one privacy unit moves the sums of a part over all groups, at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartSensitivity {
    /// The sum of the absolute changes, exactly.
    pub l1: u64,
    /// The root of the sum of their squares, rounded up.
    pub l2: f64,
}

/// The rows of one unit when they are spread so as to move sums furthest: as many full groups as there can be, and the rest in
/// one more.
struct Spread {
    full_groups: u128,
    full: u128,
    rest: u128,
    /// How many groups there are.
    groups: u128,
}

impl Spread {
    fn of(limits: &ContributionLimits, groups: u64) -> Self {
        let limits = limits.within(groups);
        let (rows, full) = (u128::from(limits.rows), u128::from(limits.rows_per_group));
        Self { full_groups: rows / full, full, rest: rows % full, groups: u128::from(groups.max(1)) }
    }

    fn rows(&self) -> u128 {
        self.full_groups * self.full + self.rest
    }

    /// The largest sum of squared rows per group.
    fn squares(&self) -> u128 {
        self.full_groups * self.full * self.full + self.rest * self.rest
    }
}

/// The sensitivity of one number a group, to which a row adds from −`down` to `up`.
pub(super) fn scalar(
    limits: &ContributionLimits,
    neighboring: Neighboring,
    groups: u64,
    up: u64,
    down: u64,
) -> Result<PartSensitivity, NoiseError> {
    let spread = Spread::of(limits, groups);
    let (most, other) = (u128::from(up.max(down)), u128::from(up.min(down)));
    let (l1, squares) = match neighboring {
        Neighboring::AddRemove => {
            (spread.rows() * most, mul_up(up_to_f64(spread.squares()), up_to_f64(most * most)))
        }
        Neighboring::ReplaceOne => replaced(&spread, most, other),
    };
    finished(l1, squares)
}

/// The sensitivity of several numbers a group, to which a row adds a vector without negative entries, of ℓ1 norm `l1` and squared
/// ℓ2 norm `l2_squared` at most.
pub(super) fn vector(
    limits: &ContributionLimits,
    neighboring: Neighboring,
    groups: u64,
    l1: u64,
    l2_squared: u128,
) -> Result<PartSensitivity, NoiseError> {
    let spread = Spread::of(limits, groups);
    let sides = match neighboring {
        Neighboring::AddRemove => 1,
        Neighboring::ReplaceOne => 2,
    };
    let squares = mul_up(up_to_f64(sides * spread.squares()), up_to_f64(l2_squared));
    finished(sides * spread.rows() * u128::from(l1), squares)
}

fn finished(l1: u128, squares: f64) -> Result<PartSensitivity, NoiseError> {
    let l1 = u64::try_from(l1).ok().filter(|l1| *l1 > 0);
    let l1 = l1.ok_or_else(|| {
        NoiseError::invalid("rows_per_group", "too many", "lower the limits: the sensitivity is beyond 2^64")
    })?;
    Ok(PartSensitivity { l1, l2: sqrt_up(squares) })
}

/// Largest ℓ1 distance and squared ℓ2 distance of two units' sums, where a row moves a sum by at most `most` one way and `other`
/// the other way.
///
/// A group that both units are in with x ≥ y rows moves by at most most·x + other·y, one that a single unit is in by most·x. Every
/// way to let full groups and rests meet is tried; between the fewest and the most meetings of full groups both are linear. A value moves
/// a sum by at most 2³³ steps and a unit has at most 2⁶² rows, so 128 bits hold everything.
fn replaced(spread: &Spread, most: u128, other: u128) -> (u128, f64) {
    let (full, rest) = (spread.full, spread.rest);
    let rests = u128::from(rest > 0);
    // (groups that the rests use by themselves or together, full groups of each unit that meet a rest, their moves)
    let both = most + other;
    let mut meetings: Vec<(u128, u128, Vec<u128>)> = Vec::new();
    if rests == 0 {
        meetings.push((0, 0, vec![]));
    } else {
        meetings.push((2, 0, vec![most * rest, most * rest]));
        meetings.push((1, 0, vec![both * rest]));
        if spread.full_groups > 0 {
            let met = most * full + other * rest;
            // One rest meets a full group of the other unit; the other rest is alone, so one unit has one full group fewer to spare.
            meetings.push((2, 1, vec![met, most * rest]));
            meetings.push((2, 2, vec![met, met]));
        }
    }
    let mut best = (0u128, 0f64);
    for (used, met, moves) in meetings {
        // `met` full groups have met a rest; the pairs of full groups come from what each unit has left.
        let left_total = 2 * spread.full_groups - met;
        let most_pairs = spread.full_groups - u128::from(met > 0);
        let least_pairs = (left_total + used).saturating_sub(spread.groups);
        if least_pairs > most_pairs {
            continue;
        }
        for pairs in [least_pairs, most_pairs] {
            let alone = left_total - 2 * pairs;
            let l1 = pairs * both * full + alone * most * full + moves.iter().sum::<u128>();
            let square =
                |times: u128, by: u128| mul_up(up_to_f64(times), mul_up(up_to_f64(by), up_to_f64(by)));
            let squares = moves
                .iter()
                .fold(add_up(square(pairs, both * full), square(alone, most * full)), |sum, by| {
                    add_up(sum, square(1, *by))
                });
            best = (best.0.max(l1), best.1.max(squares));
        }
    }
    best
}

/// The double at or above an integer.
fn up_to_f64(value: u128) -> f64 {
    let near = value as f64;
    if (near as u128) < value { near.next_up() } else { near }
}
