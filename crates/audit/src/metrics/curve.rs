//! The places along the sorted scores that are told to others. A curve with a corner for every record, or a bin for every
//! score, would reveal membership to anyone who has the scores.

use super::Blocks;
use crate::findings::RateAt;
use std::collections::{BTreeMap, BTreeSet};

/// The fewest members, and the fewest non-members, between two places that are told.
pub(crate) const FEWEST: u64 = 10;

/// How many places are looked up along either axis.
const PLACES: usize = 120;

/// Members and non-members at or above a place.
type Above = (u64, u64);

/// Places that are told. Between any two of them that [`Cuts::offer`] took, and between those and the ends, are [`FEWEST`] members
/// and as many non-members at least.
pub(super) struct Cuts {
    all: Above,
    /// Everything that is told, whether or not it is drawn.
    told: BTreeSet<Above>,
    /// Corners of the curve.
    drawn: BTreeMap<Above, (f64, f64)>,
}

impl Cuts {
    /// The two ends, and what the rates tell already. A rate is a corner too where it is far enough from the corners before it:
    /// the step after it, to the other end, may be a small one.
    pub(super) fn new(blocks: &Blocks<'_>, rates: &[RateAt]) -> Self {
        let all = (blocks.members, blocks.non_members);
        let drawn = BTreeMap::from([((0, 0), (0.0, 0.0))]);
        let mut cuts = Self { all, told: BTreeSet::from([(0, 0), all]), drawn };
        for rate in rates {
            let (Some(tpr), Some(fp), Some(tp)) = (rate.tpr, rate.false_positives, rate.true_positives)
            else {
                continue;
            };
            if cuts.drawn.keys().all(|other| is_far((tp, fp), *other)) {
                cuts.drawn.insert((tp, fp), (fp as f64 / all.1 as f64, tpr.value));
            }
            cuts.told.insert((tp, fp));
        }
        cuts.drawn.insert(all, (1.0, 1.0));
        cuts
    }

    /// Takes a place if it is far enough from all that are told; whether a bin may end there, as it may where a corner is that is
    /// far from both ends.
    pub(super) fn offer(&mut self, above: Above) -> bool {
        if self.drawn.contains_key(&above) {
            return is_far(above, (0, 0)) && is_far(above, self.all);
        }
        if !self.told.iter().all(|other| is_far(above, *other)) {
            return false;
        }
        self.told.insert(above);
        self.drawn.insert(above, (above.1 as f64 / self.all.1 as f64, above.0 as f64 / self.all.0 as f64));
        true
    }

    /// The curve from (0, 0) to (1, 1): the places that were taken, and of the others those nearest to places that are evenly spaced
    /// in the logarithm of the false-positive rate and evenly spaced in the true-positive rate.
    pub(super) fn curve(mut self, blocks: &Blocks<'_>) -> Vec<(f64, f64)> {
        let mut corners = Vec::with_capacity(blocks.counts.len());
        let (mut tp, mut fp) = (0, 0);
        for (members, non_members) in &blocks.counts {
            tp += members;
            fp += non_members;
            corners.push((tp, fp));
        }
        let (n1, n0) = (self.all.0 as f64, self.all.1 as f64);
        let shares = || (0..PLACES).map(|place| place as f64 / (PLACES - 1) as f64);
        for share in shares() {
            let most = n0 * libm::pow(n0, share - 1.0) * (1.0 + 1e-12);
            let place = corners.partition_point(|corner| corner.1 as f64 <= most);
            if place > 0 {
                self.offer(corners[place - 1]);
            }
        }
        for share in shares() {
            let place = corners.partition_point(|corner| (corner.0 as f64) < share * n1);
            if let Some(corner) = corners.get(place) {
                self.offer(*corner);
            }
        }
        self.drawn.into_values().collect()
    }
}

fn is_far(a: Above, b: Above) -> bool {
    a.0.abs_diff(b.0) >= FEWEST && a.1.abs_diff(b.1) >= FEWEST
}
