//! The noise of a step, drawn while the step computes.

use crate::TrainError;
use reticent_noise::Entropy;
use reticent_noise::NoiseError;
use reticent_noise::bulk::{BulkGaussian, Effort, NoiseAhead};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Below this many weights the noise is drawn when it is needed: a second thread would cost more than it saves.
const WORTH: usize = 1 << 13;

/// Draws the noise of the next step on a thread of its own, with a generator of its own, in memory of one integer a
/// weight.
pub(crate) struct StepNoise {
    noise: BulkGaussian,
    source: Source,
}

enum Source {
    /// Drawn when it is needed.
    Here { entropy: Box<Entropy>, ahead: NoiseAhead },
    /// Drawn ahead. Without a sender the thread ends.
    Thread { ask: Option<Sender<NoiseAhead>>, answer: Receiver<NoiseAhead>, worker: Option<JoinHandle<()>> },
}

impl StepNoise {
    /// Starts drawing.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the operating system gives no randomness or no thread.
    pub(crate) fn new(noise: BulkGaussian, dimension: usize) -> Result<Self, TrainError> {
        if dimension < WORTH {
            let source = Source::Here { entropy: Box::new(Entropy::new()?), ahead: NoiseAhead::empty() };
            return Ok(Self { noise, source });
        }
        // A first generator here, so that a system without randomness is an error and not a thread that ends.
        Entropy::new()?;
        let (ask, asked) = channel::<NoiseAhead>();
        let (give, answer) = channel();
        let draw = move || {
            let Ok(mut entropy) = Entropy::new() else { return };
            while let Ok(mut ahead) = asked.recv() {
                noise.draw_ahead(&mut ahead, &mut entropy, Effort { threads: 1 });
                if give.send(ahead).is_err() {
                    return;
                }
            }
        };
        let worker = std::thread::Builder::new().name("noise".to_owned()).spawn(draw);
        let worker =
            worker.map_err(|error| NoiseError::Entropy(format!("no thread for the noise: {error}")))?;
        // The thread may be gone already; the first step finds out.
        let _ = ask.send(NoiseAhead::empty());
        Ok(Self { noise, source: Source::Thread { ask: Some(ask), answer, worker: Some(worker) } })
    }

    /// Adds the noise of a step to its sum, and has that of the next one drawn.
    pub(crate) fn add(&mut self, sum: &mut [f32]) -> Result<(), TrainError> {
        match &mut self.source {
            Source::Here { entropy, ahead } => {
                self.noise.draw_ahead(ahead, entropy, Effort { threads: 1 });
                self.noise.add_ahead(sum, ahead, Effort { threads: 1 })?;
            }
            Source::Thread { ask, answer, .. } => {
                let gone = || NoiseError::Entropy("the thread that draws noise has ended".to_owned());
                let mut ahead = answer.recv().map_err(|_| gone())?;
                self.noise.add_ahead(sum, &mut ahead, Effort::default())?;
                ask.as_ref().and_then(|ask| ask.send(ahead).ok()).ok_or_else(gone)?;
            }
        }
        Ok(())
    }
}

impl Drop for StepNoise {
    fn drop(&mut self) {
        if let Source::Thread { ask, worker, .. } = &mut self.source {
            ask.take();
            if let Some(worker) = worker.take() {
                // A thread that panicked has nothing left to say.
                let _ = worker.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Scale, Sensitivity};

    #[test]
    fn steps_get_fresh_noise_of_the_stated_spread() {
        for length in [1000, 50_000] {
            let sensitivity = Sensitivity::new(1.0).unwrap();
            let noise = BulkGaussian::new(sensitivity, Scale::new(3.0).unwrap(), length).unwrap();
            let mut noise = StepNoise::new(noise, length).unwrap();
            let (mut first, mut second) = (vec![1.0f32; length], vec![1.0f32; length]);
            noise.add(&mut first).unwrap();
            noise.add(&mut second).unwrap();
            let n = length as f64;
            for sum in [&first, &second] {
                let variance = sum.iter().map(|v| (f64::from(*v) - 1.0).powi(2)).sum::<f64>() / n;
                assert!((variance - 9.0).abs() < 7.0 * 9.0 * (2.0 / n).sqrt(), "{variance}");
            }
            let product =
                first.iter().zip(&second).map(|(a, b)| f64::from((a - 1.0) * (b - 1.0))).sum::<f64>() / n;
            assert!(product.abs() < 7.0 * 9.0 / n.sqrt(), "{product}");
            assert!(noise.add(&mut first[1..]).is_err());
        }
    }
}
