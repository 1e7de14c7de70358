//! The classes of a batch from the gradient of the last layer's offsets.
//!
//! With the cross-entropy, ∂L/∂b_k = (1/B) Σᵢ pᵢₖ − n_k/B, where n_k counts the records of class k. One record has exactly one negative
//! entry, at its class (Zhao, Mopuri, Bilen, *iDLG: improved deep leakage from gradients*, 2020). For several, n_k is near
//! B·(p̄_k − ∂L/∂b_k), with p̄ the mean of the model's probabilities on records like those of the batch.

use reticent_train::describe::LayerKind;
use reticent_train::{Description, Layout};
use std::ops::Range;

/// Where the last layer's offsets lie in the gradient; none for a last layer without trained ones.
pub(super) fn last_offsets(description: &Description, layout: &Layout) -> Option<Range<usize>> {
    let last = description.layers.last()?;
    let is_whole = !last.frozen && last.lora.is_none();
    let has_offsets = matches!(last.kind, LayerKind::Linear { bias: true, .. }) && is_whole;
    has_offsets.then(|| layout.gradient_range(layout.parameters().len() - 1))
}

/// The classes of a batch, in order, from the slopes of the last offsets and the model's mean probabilities.
pub(super) fn recovered(slopes: &[f32], mean: &[f64], batch: usize) -> Vec<u32> {
    if batch == 1 {
        let least = slopes.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
        return least.map_or_else(Vec::new, |(class, _)| vec![class as u32]);
    }
    let shares: Vec<f64> =
        mean.iter().zip(slopes).map(|(mean, slope)| (mean - f64::from(*slope)).max(0.0)).collect();
    apportioned(&shares, batch)
}

/// So many classes by these shares, those with the largest remainders first.
pub(super) fn apportioned(shares: &[f64], batch: usize) -> Vec<u32> {
    let total: f64 = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let wanted: Vec<f64> = shares.iter().map(|share| share / total * batch as f64).collect();
    let mut counts: Vec<usize> = wanted.iter().map(|wanted| wanted.floor() as usize).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let rest = |class: &usize| wanted[*class] - wanted[*class].floor();
    order.sort_by(|a, b| rest(b).total_cmp(&rest(a)));
    let missing = batch.saturating_sub(counts.iter().sum());
    order.iter().take(missing).for_each(|class| counts[*class] += 1);
    counts.iter().enumerate().flat_map(|(class, count)| vec![class as u32; *count]).collect()
}

/// The share of a batch's classes that are among the guessed ones, each guess counted once.
pub(super) fn share(classes: &[u32], guessed: &[u32]) -> f64 {
    let mut left = guessed.to_vec();
    let is_right = |class: &&u32| {
        let place = left.iter().position(|own| own == *class);
        place.map(|place| left.swap_remove(place)).is_some()
    };
    classes.iter().filter(is_right).count() as f64 / classes.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_from_exact_slopes() {
        assert_eq!(recovered(&[0.2, -0.9, 0.7], &[0.3; 3], 1), [1]);
        // Two of class 0, one of class 2, and the mean probabilities of the batch itself.
        let mean = [0.5, 0.3, 0.2];
        let slopes = [0.5 - 2.0 / 3.0, 0.3, 0.2 - 1.0 / 3.0].map(|slope| slope as f32);
        assert_eq!(recovered(&slopes, &mean, 3), [0, 0, 2]);
        assert!(apportioned(&[0.0, 0.0], 0).is_empty());
        assert_eq!(share(&[0, 0, 2], &[0, 2, 2]), 2.0 / 3.0);
    }
}
