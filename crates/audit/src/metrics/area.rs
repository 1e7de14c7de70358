use super::Blocks;
use super::spread::{Spread, Tally, effective};
use crate::findings::Estimate;
use crate::interval;

/// The area under the curve: the share of pairs in which the member scores higher, ties counted half.
///
/// The interval is that of a proportion among an effective number of trials: the binomial variance of the area over DeLong's
/// variance of it, taken over users where there are any, drawn towards the worst, and known with few degrees of freedom
/// where few records carry it. At exactly 0 or 1 there is no variance to see: the trials are the records, or users, of the
/// smaller side.
pub(super) fn area(blocks: &Blocks<'_>, confidence: f64) -> Estimate {
    let (n1, n0) = (blocks.members as f64, blocks.non_members as f64);
    // Placements: of a member, the share of non-members below it; of a non-member, the share of members above it.
    let (mut above_members, mut above_non_members) = (0_u64, 0_u64);
    let mut placements = Vec::with_capacity(blocks.counts.len());
    let mut won = 0.0;
    for (members, non_members) in &blocks.counts {
        let below = (blocks.non_members - above_non_members - non_members) as f64;
        let inside = (below + 0.5 * *non_members as f64) / n0;
        placements.push((inside, (above_members as f64 + 0.5 * *members as f64) / n1));
        won += *members as f64 * inside;
        above_members += members;
        above_non_members += non_members;
    }
    let value = (won / n1).clamp(0.0, 1.0);
    let alpha = 1.0 - confidence;
    let worst = value * (1.0 - value);
    let (member, non_member, together) = tallies(blocks, &placements, value);
    if worst <= 0.0 {
        let trials = member.fewest().min(non_member.fewest()) * blocks.evidence;
        let (lower, upper) = if value > 0.5 {
            (interval::effective_lower(trials, trials, alpha), 1.0)
        } else {
            (0.0, interval::effective_upper(0.0, trials, alpha))
        };
        return Estimate { value, lower, upper, confidence };
    }
    let (a, b) = (member.spread(worst), non_member.spread(worst));
    let sum = a.variance + b.variance;
    let freedom = sum * sum / (a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom);
    let trials = effective(worst, Spread { variance: sum + together, freedom }, alpha) * blocks.evidence;
    let lower = interval::effective_lower(value * trials, trials, alpha / 2.0);
    let upper = interval::effective_upper(value * trials, trials, alpha / 2.0);
    Estimate { value, lower: lower.min(value), upper: upper.max(value), confidence }
}

/// Deviations of both sides by independent unit, and what users with records on both sides add to the variance.
fn tallies(blocks: &Blocks<'_>, placements: &[(f64, f64)], value: f64) -> (Tally, Tally, f64) {
    let (mut member, mut non_member) = (Tally::default(), Tally::default());
    let Some((users, places)) = blocks.by_user() else {
        for ((members, non_members), (inside, outside)) in blocks.counts.iter().zip(placements) {
            member.add(*members, 1.0, inside - value);
            non_member.add(*non_members, 1.0, outside - value);
        }
        return (member, non_member, 0.0);
    };
    // Records and deviations of every user, as non-member and as member.
    let mut sums = vec![[(0.0, 0.0); 2]; users.iter().max().map_or(0, |most| *most as usize + 1)];
    for ((user, place), inside) in users.iter().zip(places).zip(blocks.membership.members()) {
        let (as_member, as_other) = placements[*place as usize];
        let own = &mut sums[*user as usize][usize::from(*inside)];
        own.0 += 1.0;
        own.1 += if *inside { as_member } else { as_other } - value;
    }
    let mut both = 0.0;
    for [outside, inside] in &sums {
        if inside.0 > 0.0 {
            member.add(1, inside.0, inside.1);
        }
        if outside.0 > 0.0 {
            non_member.add(1, outside.0, outside.1);
        }
        both += inside.1 * outside.1;
    }
    let together = 2.0 * both / (blocks.members as f64 * blocks.non_members as f64);
    (member, non_member, together.max(0.0))
}
