//! The same events with other noise or another sampling rate.

use reticent_core::{Event, NoiseMultiplier, SamplingRate};

/// A number in an event that calibration may set.
pub(super) enum Knob<'a> {
    Noise(&'a mut NoiseMultiplier),
    Rate(&'a mut SamplingRate),
}

/// Shows every knob of an event, and of the events inside it, to `turn`.
pub(super) fn vary(event: &mut Event, turn: &mut dyn FnMut(Knob<'_>)) {
    match event {
        Event::Gaussian { noise_multiplier }
        | Event::ClippedSum { noise_multiplier }
        | Event::Laplace { noise_multiplier }
        | Event::DiscreteGaussian { noise_multiplier, .. }
        | Event::DiscreteLaplace { noise_multiplier, .. }
        | Event::StudentT { noise_multiplier, .. }
        | Event::MixtureOfGaussians { noise_multiplier, .. }
        | Event::TreeAggregation { noise_multiplier, .. } => turn(Knob::Noise(noise_multiplier)),
        Event::PoissonSampled { rate, event } | Event::TruncatedPoisson { rate, event, .. } => {
            turn(Knob::Rate(rate));
            vary(event, turn);
        }
        Event::SampledWithoutReplacement { event, .. }
        | Event::Repeated { event, .. }
        | Event::Shuffled { event, .. }
        | Event::BallsInBins { event, .. }
        | Event::RepeatAndSelect { event, .. } => vary(event, turn),
        Event::Composed { events } | Event::Parallel { events } => {
            events.iter_mut().for_each(|event| vary(event, turn));
        }
        Event::RandomizedResponse { .. }
        | Event::Exponential { .. }
        | Event::Pure { .. }
        | Event::Approximate { .. }
        | Event::Zcdp { .. }
        | Event::Rdp { .. }
        | Event::Gdp { .. } => {}
    }
}
