//! The noise of a step, drawn while the step computes.

use crate::TrainError;
use reticent_core::{Event, Permit};
use reticent_noise::bulk::{BulkGaussian, Drawing, Effort, NoiseAhead};

/// The noise of one step after the other, in memory of one integer a weight.
pub(crate) struct StepNoise {
    noise: BulkGaussian,
    ahead: NoiseAhead,
}

impl StepNoise {
    /// The noise of as many steps as the event has, which the permit must cover.
    pub(crate) fn new(noise: BulkGaussian, permit: &mut Permit, event: &Event) -> Result<Self, TrainError> {
        Ok(Self { noise, ahead: NoiseAhead::new(&noise, permit, event)? })
    }

    /// Begins to draw the noise of a step; threads that have nothing else to do can help.
    pub(crate) fn begin(&mut self) -> Drawing<'_> {
        self.noise.draw_ahead(&mut self.ahead)
    }

    /// Adds the noise to the step's sum. The drawing must be finished.
    pub(crate) fn add(&mut self, sum: &mut [f32]) -> Result<(), TrainError> {
        self.noise.add_ahead(sum, &mut self.ahead, Effort::default())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Plan, Scale, Sensitivity, Unlimited, charge};

    #[test]
    fn steps_get_fresh_noise_of_the_stated_spread() {
        for length in [1000, 50_000] {
            let sensitivity = Sensitivity::new(1.0).unwrap();
            let noise = BulkGaussian::new(sensitivity, Scale::new(3.0).unwrap(), length).unwrap();
            let event = Event::Repeated { count: 2, event: Box::new(noise.event()) };
            let plan = Plan::new(vec![event.clone()]).unwrap();
            let mut permit = charge(&mut Unlimited::new(), &plan).unwrap();
            let mut noise = StepNoise::new(noise, &mut permit, &event).unwrap();
            let (mut first, mut second) = (vec![1.0f32; length], vec![1.0f32; length]);
            for sum in [&mut first, &mut second] {
                noise.begin().finish().unwrap();
                noise.add(sum).unwrap();
            }
            let n = length as f64;
            for sum in [&first, &second] {
                let variance = sum.iter().map(|v| (f64::from(*v) - 1.0).powi(2)).sum::<f64>() / n;
                assert!((variance - 9.0).abs() < 7.0 * 9.0 * (2.0 / n).sqrt(), "{variance}");
            }
            let product =
                first.iter().zip(&second).map(|(a, b)| f64::from((a - 1.0) * (b - 1.0))).sum::<f64>() / n;
            assert!(product.abs() < 7.0 * 9.0 / n.sqrt(), "{product}");
            assert!(noise.add(&mut first).is_err());
            noise.begin().finish().unwrap();
            assert!(noise.add(&mut first[1..]).is_err());
            assert!(noise.add(&mut first).is_err(), "two steps were paid for");
        }
    }
}
