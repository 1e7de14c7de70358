//! Ranks of scores.

/// The chance that a member scores above a non-member, ties counted half; none without one of each, or with a NaN.
pub(crate) fn auc(scores: &[f64], members: &[bool]) -> Option<f64> {
    if scores.len() != members.len() || scores.iter().any(|s| s.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let inside = members.iter().filter(|m| **m).count() as u64;
    let outside = members.len() as u64 - inside;
    if inside == 0 || outside == 0 {
        return None;
    }
    // Twice the number of pairs won.
    let (mut won, mut below, mut from) = (0u64, 0u64, 0);
    while from < order.len() {
        let value = scores[order[from]];
        let tied = order[from..].iter().take_while(|r| scores[**r] == value).count();
        let own = order[from..from + tied].iter().filter(|r| members[**r]).count() as u64;
        won += own * (2 * below + (tied as u64 - own));
        below += tied as u64 - own;
        from += tied;
    }
    Some(won as f64 / (2 * inside * outside) as f64)
}

/// The rank of every score among all, ties sharing their mean, divided by one more than their number: above 0 and below 1.
pub(crate) fn fractional_ranks(scores: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let mut ranks = vec![0.0; scores.len()];
    let mut from = 0;
    while from < order.len() {
        let value = scores[order[from]];
        let tied = order[from..].iter().take_while(|r| scores[**r] == value).count();
        let mean = from as f64 + 0.5 * (tied as f64 + 1.0);
        for record in &order[from..from + tied.max(1)] {
            ranks[*record] = mean / (scores.len() as f64 + 1.0);
        }
        from += tied.max(1);
    }
    ranks
}

/// By how many standard deviations of a random choice of as many members their ranks are above the others'; none with a NaN, with
/// one kind of records, and where all scores are the same.
///
/// The chance of more than t is about the normal tail at t, and less far out: the sum of ranks has lighter tails.
pub(crate) fn mann_whitney(scores: &[f64], members: &[bool]) -> Option<f64> {
    if scores.len() != members.len() || scores.iter().any(|s| s.is_nan()) {
        return None;
    }
    let ranks = fractional_ranks(scores);
    let (n, m) = (ranks.len() as f64, members.iter().filter(|m| **m).count() as f64);
    let mean = ranks.iter().sum::<f64>() / n;
    let variance = ranks.iter().map(|rank| (rank - mean) * (rank - mean)).sum::<f64>() / (n - 1.0);
    let sum: f64 =
        ranks.iter().zip(members).filter(|(_, member)| **member).map(|(rank, _)| rank - mean).sum();
    let spread = (variance * m * (n - m) / n).sqrt();
    (spread > 0.0).then(|| sum / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_as_far_apart_as_mann_and_whitney_say() {
        // U = 0 of 16: (0 − 8)/√(4·4·9/12), in the direction of the members.
        let scores: Vec<f64> = (0..8).map(f64::from).collect();
        let members: Vec<bool> = (0..8).map(|record| record >= 4).collect();
        let found = mann_whitney(&scores, &members).unwrap();
        assert!((found - 8.0 / 12.0_f64.sqrt()).abs() < 1e-12, "{found}");
        assert_eq!(mann_whitney(&[1.0; 8], &members), None);
        assert_eq!(mann_whitney(&scores, &[true; 8]), None);
    }

    #[test]
    fn area_counts_pairs() {
        assert_eq!(auc(&[1.0, 2.0, 2.0, 3.0], &[false, true, false, true]), Some(3.5 / 4.0));
        assert_eq!(auc(&[1.0, 1.0], &[true, false]), Some(0.5));
        assert_eq!(auc(&[1.0, 1.0], &[true, true]), None);
        assert_eq!(auc(&[f64::NAN, 1.0], &[true, false]), None);
        assert_eq!(auc(&[0.0, -0.0], &[true, false]), Some(0.5));
    }

    #[test]
    fn ranks_share_ties() {
        assert_eq!(fractional_ranks(&[5.0, 1.0, 5.0]), vec![2.5 / 4.0, 0.25, 2.5 / 4.0]);
    }
}
