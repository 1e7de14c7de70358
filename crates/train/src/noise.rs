//! The noise of a step, drawn while the step computes.

mod law;

pub use law::NoiseLaw;

use crate::TrainError;
use reticent_core::{Event, Permit};
use reticent_noise::bulk::device::DeviceNoise;
use reticent_noise::bulk::{BulkGaussian, BulkNoise, Drawing, NoiseAhead};
use std::sync::atomic::{AtomicU64, Ordering};

/// The noise of one step after the other, in memory of one integer a weight. Only a permit makes it, for as many steps as were paid for.
///
/// # Guarantee
/// [`add_on`](Self::add_on) adds the noise of the plan's event to a sum, once per drawing and at most as often as was paid for.
///
/// # Reference
/// [`NoiseAhead`].
pub struct StepNoise {
    noise: BulkNoise,
    ahead: NoiseAhead,
    /// What a device draws now, if it does.
    ticket: Option<Ticket>,
}

/// The name of one drawing on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl Ticket {
    fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl StepNoise {
    /// The noise of as many steps as the events have together, which the permit must cover.
    pub(crate) fn new(noise: BulkNoise, permit: &mut Permit, events: &[Event]) -> Result<Self, TrainError> {
        let ahead = NoiseAhead::in_sequence(&noise, permit, events)?;
        Ok(Self { noise, ahead, ticket: None })
    }

    /// The noise of all steps of a run whose cost is this one event.
    pub(crate) fn together(
        noise: BulkGaussian,
        permit: &mut Permit,
        event: &Event,
        steps: u64,
    ) -> Result<Self, TrainError> {
        let ahead = NoiseAhead::together(&noise, permit, event, steps)?;
        Ok(Self { noise: noise.into(), ahead, ticket: None })
    }

    /// Begins to draw the noise of a step; threads that have nothing else to do can help.
    pub(crate) fn begin(&mut self) -> Drawing<'_> {
        self.noise.draw_ahead(&mut self.ahead)
    }

    /// Whether noise is drawn and not used yet.
    pub fn is_drawn(&self) -> bool {
        self.ahead.is_fresh()
    }

    /// Draws the noise of a step on the threads of the caller, as [`add_on`](Self::add_on) adds it.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the operating system gives no randomness.
    pub fn draw_on(&mut self, spread: impl FnOnce(usize, &(dyn Fn() + Sync))) -> Result<(), TrainError> {
        let drawing = self.begin();
        // A thread that cannot draw leaves it to the end of the drawing, which says why.
        spread(usize::MAX, &|| drawing.help().unwrap_or(()));
        Ok(drawing.finish()?)
    }

    /// Adds the noise to the step's sum, on the threads of the caller: `spread` is told how many threads are worth it, and gets work that
    /// any number of them may call at once. The drawing must be finished.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when nothing is drawn, all steps that were paid for are taken, or the sum has another length.
    pub fn add_on(
        &mut self,
        sum: &mut [f32],
        spread: impl FnOnce(usize, &(dyn Fn() + Sync)),
    ) -> Result<(), TrainError> {
        self.noise.add_ahead_on(sum, &mut self.ahead, spread)?;
        Ok(())
    }

    /// Draws the noise of a step while it is added, as [`draw_on`](Self::draw_on) and then [`add_on`](Self::add_on), with no memory for
    /// all of it.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when all steps that were paid for are taken, the sum has another length, or the operating system gives no
    /// randomness.
    pub fn add_now_on(
        &mut self,
        sum: &mut [f32],
        spread: impl Fn(usize, &(dyn Fn() + Sync)),
    ) -> Result<(), TrainError> {
        self.noise.add_now_on(sum, &mut self.ahead, spread)?;
        Ok(())
    }

    /// Takes the noise of a step, to be drawn and added on a device. Nothing need be drawn before.
    ///
    /// # Guarantee
    /// The step counts as taken. The noise is that of the plan's event, if the caller keeps the conditions of [`DeviceNoise`].
    ///
    /// # Reference
    /// [`BulkNoise::take_for_device`].
    ///
    /// # Errors
    /// [`TrainError::Noise`] when all steps that were paid for are taken, the operating system gives no randomness, or the noise is not
    /// Gaussian.
    pub fn take_for_device(&mut self) -> Result<DeviceNoise, TrainError> {
        let taken = self.noise.take_for_device(&mut self.ahead)?;
        self.ticket = Some(Ticket::fresh());
        Ok(taken)
    }

    /// The name of what [`take_for_device`](Self::take_for_device) gave last, as long as it has not been added.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }

    /// Says that what a device drew is being added: from now on it serves nothing else.
    pub(crate) fn use_ticket(&mut self) -> Option<Ticket> {
        self.ticket.take()
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
            let mut noise = StepNoise::new(noise.into(), &mut permit, std::slice::from_ref(&event)).unwrap();
            let (mut first, mut second) = (vec![1.0f32; length], vec![1.0f32; length]);
            for sum in [&mut first, &mut second] {
                noise.begin().finish().unwrap();
                noise.add_on(sum, |_, work| work()).unwrap();
            }
            let n = length as f64;
            for sum in [&first, &second] {
                let variance = sum.iter().map(|v| (f64::from(*v) - 1.0).powi(2)).sum::<f64>() / n;
                assert!((variance - 9.0).abs() < 7.0 * 9.0 * (2.0 / n).sqrt(), "{variance}");
            }
            let product =
                first.iter().zip(&second).map(|(a, b)| f64::from((a - 1.0) * (b - 1.0))).sum::<f64>() / n;
            assert!(product.abs() < 7.0 * 9.0 / n.sqrt(), "{product}");
            assert!(noise.add_on(&mut first, |_, work| work()).is_err());
            noise.begin().finish().unwrap();
            assert!(noise.add_on(&mut first[1..], |_, work| work()).is_err());
            assert!(noise.add_on(&mut first, |_, work| work()).is_err(), "two steps were paid for");
        }
    }

    #[test]
    fn a_step_on_a_device_is_paid_for_as_any_other() {
        let noise = BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(3.0).unwrap(), 10).unwrap();
        let event = Event::Repeated { count: 2, event: Box::new(noise.event()) };
        let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
        let mut noise = StepNoise::new(noise.into(), &mut permit, std::slice::from_ref(&event)).unwrap();
        let taken = noise.take_for_device().unwrap();
        assert_eq!(taken.launch(10, |arguments| arguments.length).unwrap(), 10);
        noise.begin().finish().unwrap();
        noise.add_on(&mut [0.0; 10], |_, work| work()).unwrap();
        assert!(noise.take_for_device().is_err(), "two steps were paid for");
    }
}
