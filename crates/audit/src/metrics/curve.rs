use super::Blocks;
use std::collections::BTreeSet;

/// How many places are looked up along either axis.
const PLACES: usize = 190;

/// Corners of the curve from (0, 0) to (1, 1). Of many, those nearest to places that are evenly spaced in the logarithm of
/// the false-positive rate and evenly spaced in the true-positive rate.
pub(super) fn corners(blocks: &Blocks<'_>) -> Vec<(f64, f64)> {
    let (n1, n0) = (blocks.members as f64, blocks.non_members as f64);
    let mut all = vec![(0.0, 0.0)];
    let (mut tp, mut fp) = (0, 0);
    for (members, non_members) in &blocks.counts {
        tp += members;
        fp += non_members;
        let corner = (fp as f64 / n0, tp as f64 / n1);
        // Three points on a vertical or a horizontal line: the middle one is no corner.
        if let [.., before, last] = all[..]
            && ((before.0 == last.0 && last.0 == corner.0) || (before.1 == last.1 && last.1 == corner.1))
        {
            all.pop();
        }
        all.push(corner);
    }
    if all.len() <= 2 * PLACES {
        return all;
    }
    let mut kept = BTreeSet::from([0, all.len() - 1]);
    for place in 0..PLACES {
        let share = place as f64 / (PLACES - 1) as f64;
        let fpr = libm::pow(n0, share - 1.0);
        kept.insert(all.partition_point(|corner| corner.0 <= fpr * (1.0 + 1e-12)).saturating_sub(1));
        kept.insert(all.partition_point(|corner| corner.1 < share).min(all.len() - 1));
    }
    // The highest corner without a false positive.
    kept.insert(all.partition_point(|corner| corner.0 == 0.0).saturating_sub(1));
    kept.into_iter().map(|place| all[place]).collect()
}
