use crate::Membership;
use crate::findings::Histogram;

const BINS: usize = 40;

/// Counts between the half-percent quantiles of the finite scores; the first and the last bin take what lies outside,
/// infinities too.
pub(super) fn histogram(membership: &Membership) -> Histogram {
    let mut finite: Vec<f64> =
        membership.scores().iter().copied().filter(|score| score.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    let (low, high) = range(&finite);
    // Divided first: the difference of two finite numbers may overflow.
    let width = high / BINS as f64 - low / BINS as f64;
    let mut edges: Vec<f64> = (0..=BINS).map(|edge| low + width * edge as f64).collect();
    edges[BINS] = high;
    let mut out = Histogram { edges, members: vec![0; BINS], non_members: vec![0; BINS] };
    for (score, member) in membership.scores().iter().zip(membership.members()) {
        let bin = out.edges[1..BINS].partition_point(|edge| edge <= score);
        if *member {
            out.members[bin] += 1;
        } else {
            out.non_members[bin] += 1;
        }
    }
    out
}

fn range(sorted: &[f64]) -> (f64, f64) {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return (-0.5, 0.5) };
    let cut = sorted.len() / 200;
    let (low, high) = (sorted[cut], sorted[sorted.len() - 1 - cut]);
    if low < high {
        (low, high)
    } else if first < last {
        (*first, *last)
    } else {
        let reach = 0.5_f64.max(first.abs() * 1e-6);
        ((first - reach).max(f64::MIN), (first + reach).min(f64::MAX))
    }
}
