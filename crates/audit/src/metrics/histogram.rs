use super::curve::Cuts;
use crate::Membership;
use crate::findings::Histogram;

const BINS: usize = 40;

/// Counts between the half-percent quantiles of the finite scores; the first and the last bin take what lies outside,
/// infinities too. Bins are equally wide, but for those that are joined with the next ones because they hold too few members or
/// non-members to be told.
pub(super) fn histogram(membership: &Membership, cuts: &mut Cuts) -> Histogram {
    let mut finite: Vec<f64> =
        membership.scores().iter().copied().filter(|score| score.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    let (low, high) = range(&finite);
    // Divided first: the difference of two finite numbers may overflow.
    let width = high / BINS as f64 - low / BINS as f64;
    let mut edges: Vec<f64> = (0..=BINS).map(|edge| low + width * edge as f64).collect();
    edges[BINS] = high;
    let mut fine = vec![(0, 0); BINS];
    for (score, member) in membership.scores().iter().zip(membership.members()) {
        let bin = &mut fine[edges[1..BINS].partition_point(|edge| edge <= score)];
        if *member {
            bin.0 += 1;
        } else {
            bin.1 += 1;
        }
    }
    // From the highest scores down, as places are counted.
    let mut out = Histogram { edges: vec![high], members: Vec::new(), non_members: Vec::new() };
    let (mut bin, mut above) = ((0, 0), (0, 0));
    for (place, (members, non_members)) in fine.into_iter().enumerate().rev() {
        bin = (bin.0 + members, bin.1 + non_members);
        above = (above.0 + members, above.1 + non_members);
        if place == 0 || (bin != (0, 0) && cuts.offer(above)) {
            out.edges.push(edges[place]);
            out.members.push(bin.0);
            out.non_members.push(bin.1);
            bin = (0, 0);
        }
    }
    out.edges.reverse();
    out.members.reverse();
    out.non_members.reverse();
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
