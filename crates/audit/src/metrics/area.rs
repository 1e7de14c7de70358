use super::Blocks;
use crate::findings::Estimate;
use crate::interval;
use reticent_core::special::normal_tail_quantile;

/// The area under the curve: the share of pairs in which the member scores higher, ties counted half.
///
/// The interval is DeLong's: the variance of the two placement averages, normal on the logit scale, so that it stays inside
/// 0..1. Where there is no variance to speak of, an interval without assumptions takes its place: at exactly 0 or 1, that of
/// min(members, non-members) independent pairs; else Hoeffding's for two-sample averages.
pub(super) fn area(blocks: &Blocks, confidence: f64) -> Estimate {
    let (n1, n0) = (blocks.members as f64, blocks.non_members as f64);
    // Placements: of a member, the share of non-members below it; of a non-member, the share of members above it.
    let (mut above_members, mut above_non_members) = (0_u64, 0_u64);
    let (mut member, mut non_member) = (Moments::default(), Moments::default());
    for (members, non_members) in &blocks.counts {
        let below = (blocks.non_members - above_non_members - non_members) as f64;
        member.add(*members, (below + 0.5 * *non_members as f64) / n0);
        non_member.add(*non_members, (above_members as f64 + 0.5 * *members as f64) / n1);
        above_members += members;
        above_non_members += non_members;
    }
    let value = member.mean().clamp(0.0, 1.0);
    let alpha = 1.0 - confidence;
    let pairs = blocks.members.min(blocks.non_members);
    if value == 1.0 || value == 0.0 {
        let (lower, upper) = if value == 1.0 {
            (interval::lower(pairs, pairs, alpha), 1.0)
        } else {
            (0.0, interval::upper(0, pairs, alpha))
        };
        return Estimate { value, lower, upper, confidence };
    }
    let variance = member.variance() / n1 + non_member.variance() / n0;
    if pairs < 2 || variance <= 1e-12 {
        let slack = interval::band(pairs, alpha);
        return Estimate {
            value,
            lower: (value - slack).max(0.0),
            upper: (value + slack).min(1.0),
            confidence,
        };
    }
    let logit = libm::log(value / (1.0 - value));
    let reach = normal_tail_quantile(alpha / 2.0) * variance.sqrt() / (value * (1.0 - value));
    let back = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    Estimate { value, lower: back(logit - reach), upper: back(logit + reach), confidence }
}

/// Mean and variance of values that come in counts.
#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, count: u64, value: f64) {
        if count == 0 {
            return;
        }
        let count = count as f64;
        self.count += count;
        let step = value - self.mean;
        self.mean += step * count / self.count;
        self.squares += count * step * (value - self.mean);
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn variance(&self) -> f64 {
        if self.count < 2.0 { 0.0 } else { self.squares / (self.count - 1.0) }
    }
}
