//! The noise of every part, so that the whole page is within its budget.

use super::pieces::Piece;
use crate::refusal::Refusal;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod, calibrate};
use reticent_core::rounding::{add_up, div_down, mul_down, mul_up, sub_down};
use reticent_core::{Code, Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier};
use reticent_noise::Mechanism;
use reticent_noise::mechanism::StableHistogram;
use reticent_noise::query::NoiseKind;
use reticent_noise::query::parts::{ContributionLimits, PartMechanism, PartNoise};

/// More numbers than a page with selected groups releases.
const MOST_NUMBERS: f64 = 4_294_967_296.0;

/// How often a little noise is added so that the claim is within the budget.
const MOST_SETTLED: i32 = 24;

/// What the parts of a page are for.
pub(super) struct Terms<'a> {
    pub(super) limits: &'a ContributionLimits,
    pub(super) neighboring: Neighboring,
    pub(super) kind: NoiseKind,
    /// The number of groups that noise is worked out for.
    pub(super) groups: usize,
    /// Whether the number of groups comes out of a selection.
    pub(super) selection: Option<StableHistogram>,
}

/// Noise that keeps within a budget.
#[derive(Debug, Clone)]
pub(super) struct Priced {
    pub(super) noises: Vec<PartNoise>,
    pub(super) mechanisms: Vec<PartMechanism>,
    pub(super) guarantee: Guarantee,
    pub(super) accountant: String,
}

impl Terms<'_> {
    /// The mechanisms of these noises.
    fn mechanisms(&self, pieces: &[Piece], noises: &[PartNoise]) -> Result<Vec<PartMechanism>, Refusal> {
        pieces.iter().zip(noises).map(|(piece, noise)| self.mechanism(piece, noise)).collect()
    }

    /// The mechanism of one part.
    pub(super) fn mechanism(&self, piece: &Piece, noise: &PartNoise) -> Result<PartMechanism, Refusal> {
        Ok(PartMechanism::new(&piece.part, self.limits, self.neighboring, noise, self.groups)?)
    }

    /// The events of the page, in sequence.
    pub(super) fn events(&self, mechanisms: &[PartMechanism]) -> Vec<Event> {
        self.selection.iter().map(Mechanism::event).chain(mechanisms.iter().map(Mechanism::event)).collect()
    }

    /// Laplace noise whose ε are shares of the budget by weight, once a selection of groups has its own.
    ///
    /// # Guarantee
    /// By basic composition the page is ε-private for the ε of the budget, and with a selection (ε, δ)-private for the δ of that.
    /// A tight account of a few Laplace releases is hardly any better.
    pub(super) fn shares(&self, pieces: &[Piece], budget: Epsilon) -> Result<Priced, Refusal> {
        let weights: f64 = pieces.iter().map(|piece| piece.weight).sum();
        let first = self.selection.map_or(0.0, |selection| selection.guarantee().epsilon.get());
        let mut whole = sub_down(budget.get(), first);
        for _ in 0..MOST_SETTLED {
            let share = |piece: &Piece| {
                let epsilon = Epsilon::new(mul_down(whole, div_down(piece.weight, weights)))?;
                Ok(PartNoise::Laplace { epsilon })
            };
            let noises = pieces.iter().map(share).collect::<Result<Vec<_>, Refusal>>()?;
            let priced = self.summed(pieces, noises)?;
            if priced.guarantee.epsilon <= budget {
                return Ok(priced);
            }
            whole = mul_down(whole, 1.0 - 1e-15 * (1 + pieces.len()) as f64);
        }
        Err(Refusal::internal("the shares of epsilon exceed it"))
    }

    /// What these noises cost by basic composition.
    fn summed(&self, pieces: &[Piece], noises: Vec<PartNoise>) -> Result<Priced, Refusal> {
        let mechanisms = self.mechanisms(pieces, &noises)?;
        let mut guarantee = match &self.selection {
            Some(selection) => selection.guarantee(),
            None => Guarantee::pure(Epsilon::new(0.0)?),
        };
        for mechanism in &mechanisms {
            guarantee = guarantee.then(mechanism.guarantee())?;
        }
        let is_one = self.selection.is_none() && mechanisms.len() == 1;
        let accountant = if is_one { "stated by the mechanism" } else { "basic composition" };
        Ok(Priced { noises, mechanisms, guarantee, accountant: accountant.to_owned() })
    }

    /// The least common scale of Gaussian noise, divided by the root of the weight, with which the tight account is within the
    /// budget.
    ///
    /// # Guarantee
    /// The page is (ε, δ)-private for the budget's ε and δ, by the tight account of its events and the distance of the normal
    /// sampler.
    pub(super) fn scaled(&self, pieces: &[Piece], budget: Guarantee) -> Result<Priced, Refusal> {
        let mean = pieces.iter().map(|piece| piece.weight).sum::<f64>() / pieces.len() as f64;
        let multiplier =
            |piece: &Piece, scale: f64| NoiseMultiplier::new(scale / (piece.weight / mean).sqrt());
        let account = |scale: f64| -> Result<Accountant, AccountingError> {
            let mut account = Accountant::new(self.neighboring, CompositionMethod::Pld);
            for piece in pieces {
                account.compose(&Event::Gaussian { noise_multiplier: multiplier(piece, scale)? }, 1)?;
            }
            Ok(account)
        };
        let mut inner = Guarantee { delta: self.spare(pieces, budget)?, ..budget };
        // Gaussian noise alone is accounted for in closed form, so it gets what basic composition leaves beside a selection; the
        // claim is the tight account of both.
        if let Some(selection) = self.selection.map(|selection| selection.guarantee()) {
            let left = sub_down(inner.epsilon.get(), selection.epsilon.get());
            let delta = sub_down(inner.delta.get(), selection.delta.get());
            inner = Guarantee { epsilon: Epsilon::new(left)?, delta: Delta::new(delta)? };
        }
        let mut scale = calibrate::noise_multiplier(inner, account)?;
        for round in 0..MOST_SETTLED {
            let noise =
                |piece: &Piece| Ok(PartNoise::Gaussian { noise_multiplier: multiplier(piece, scale)? });
            let noises = pieces.iter().map(noise).collect::<Result<Vec<_>, Refusal>>()?;
            let priced = self.accounted(pieces, noises, budget)?;
            if priced.guarantee.epsilon <= budget.epsilon {
                return Ok(priced);
            }
            scale *= 1.0 + 1e-9 * 2f64.powi(round);
        }
        Err(Refusal::internal("the noise of the page does not meet its budget"))
    }

    /// What these noises cost: Gaussian noise by the tight account, at the budget's δ.
    pub(super) fn accounted(
        &self,
        pieces: &[Piece],
        noises: Vec<PartNoise>,
        budget: Guarantee,
    ) -> Result<Priced, Refusal> {
        if self.kind == NoiseKind::Laplace {
            return self.summed(pieces, noises);
        }
        let mechanisms = self.mechanisms(pieces, &noises)?;
        let mut account = Accountant::new(self.neighboring, CompositionMethod::Pld);
        for event in self.events(&mechanisms) {
            account.compose(&event, 1)?;
        }
        let epsilon = Epsilon::new(account.epsilon(self.spare(pieces, budget)?)?.upper)?;
        let guarantee = Guarantee { epsilon, delta: budget.delta };
        Ok(Priced { noises, mechanisms, guarantee, accountant: "tight composition of all parts".to_owned() })
    }

    /// The δ that is left for the noise once the normal sampler has its share.
    fn spare(&self, pieces: &[Piece], budget: Guarantee) -> Result<Delta, Refusal> {
        let mut share = 0.0;
        for piece in pieces {
            // Any multiplier: what the sampler needs depends on the number of draws and ε alone.
            let noise = PartNoise::Gaussian { noise_multiplier: NoiseMultiplier::new(1.0)? };
            let mechanism = self.mechanism(piece, &noise)?;
            let own = mechanism.sampler_delta_up(budget.epsilon);
            let more = match self.selection {
                None => 1.0,
                Some(_) => MOST_NUMBERS / mechanism.numbers() as f64,
            };
            share = add_up(share, mul_up(own, more));
        }
        let spare = sub_down(budget.delta.get(), share);
        if spare < 0.9 * budget.delta.get() {
            let remedy = format!(
                "give a delta above {:e}, or a smaller epsilon: the sampler needs that much",
                10.0 * share
            );
            return Err(Refusal::value("delta", budget.delta, remedy).coded(Code::Range));
        }
        Ok(Delta::new(spare)?)
    }
}
