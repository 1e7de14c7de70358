//! The loops over weights: one pass each, without branches, for the compiler to vectorise.

use super::{Adam, StepInput};
use pulp::{Arch, Simd, WithSimd};

/// w ← w − η·(g + λw).
pub(super) fn descend(weights: &mut [f32], sum: &[f32], weight_decay: f64, input: StepInput) {
    let shrink = (1.0 - input.rate * weight_decay) as f32;
    let rate = (input.rate * input.scale) as f32;
    for (weight, sum) in weights.iter_mut().zip(sum) {
        *weight = shrink * *weight - rate * *sum;
    }
}

pub(super) struct Momentum {
    pub(super) momentum: f64,
    pub(super) nesterov: bool,
    pub(super) weight_decay: f64,
}

impl Momentum {
    /// v ← μv + g; w ← w − ηv, or w − η(g + μv).
    pub(super) fn step(&self, weights: &mut [f32], sum: &[f32], velocity: &mut [f32], input: StepInput) {
        let (keep, decay) = (self.momentum as f32, self.weight_decay as f32);
        let (rate, scale) = (input.rate as f32, input.scale as f32);
        // The move is a·v + b·g.
        let (along, ahead) = if self.nesterov { (rate * keep, rate) } else { (rate, 0.0) };
        for ((weight, sum), velocity) in weights.iter_mut().zip(sum).zip(velocity) {
            let gradient = scale * *sum + decay * *weight;
            *velocity = keep * *velocity + gradient;
            *weight -= along * *velocity + ahead * gradient;
        }
    }
}

struct AdamStep<'a> {
    rule: &'a AdamRule,
    weights: &'a mut [f32],
    sum: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl WithSimd for AdamStep<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { rule, weights, sum, first, second } = self;
        let (new1, new2) = (1.0 - rule.beta1, 1.0 - rule.beta2);
        for (((weight, sum), first), second) in weights.iter_mut().zip(sum).zip(first).zip(second) {
            let gradient = rule.scale * *sum + rule.coupled * *weight;
            let m = rule.beta1 * *first + new1 * gradient;
            let v = rule.beta2 * *second + new2 * gradient * gradient;
            (*first, *second) = (m, v);
            let size = (rule.second_scale * v - rule.noise).max(rule.floor).sqrt() + rule.stability;
            *weight = rule.shrink * *weight - rule.rate * m / size;
        }
    }
}

/// The constants of one step of Adam.
pub(crate) struct AdamRule {
    beta1: f32,
    beta2: f32,
    scale: f32,
    coupled: f32,
    shrink: f32,
    rate: f32,
    second_scale: f32,
    noise: f32,
    floor: f32,
    stability: f32,
}

impl AdamRule {
    pub(crate) fn new(adam: &Adam, steps: u64, input: StepInput) -> Self {
        let left = |beta: f64| 1.0 - libm::pow(beta, steps as f64);
        let noise = input.noise_variance.filter(|_| adam.subtract_noise).unwrap_or(0.0);
        let (coupled, shrink) = if adam.decoupled {
            (0.0, 1.0 - input.rate * adam.weight_decay)
        } else {
            (adam.weight_decay, 1.0)
        };
        Self {
            beta1: adam.beta1 as f32,
            beta2: adam.beta2 as f32,
            scale: input.scale as f32,
            coupled: coupled as f32,
            shrink: shrink as f32,
            rate: (input.rate / left(adam.beta1)) as f32,
            second_scale: (1.0 / left(adam.beta2)) as f32,
            noise: noise as f32,
            floor: (noise * adam.noise_floor) as f32,
            stability: adam.stability as f32,
        }
    }

    /// β₁, β₂, the scale of the sum, the coupled weight decay, what weights are multiplied by, the rate, the scale of the second moment,
    /// the noise in it, its least value, and the stability.
    pub(crate) fn numbers(&self) -> [f32; 10] {
        let Self { beta1, beta2, scale, coupled, shrink, rate, second_scale, noise, floor, stability } =
            *self;
        [beta1, beta2, scale, coupled, shrink, rate, second_scale, noise, floor, stability]
    }

    /// m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g²; w ← w − η·m̂/(√max(v̂ − Φ, floor) + ε).
    pub(super) fn step(&self, weights: &mut [f32], sum: &[f32], first: &mut [f32], second: &mut [f32]) {
        Arch::new().dispatch(AdamStep { rule: self, weights, sum, first, second });
    }
}
