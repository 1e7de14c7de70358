//! What is timed. The names are shared with `peers.py`.

use crate::measure::measure;
use anyhow::Result;
use reticent_core::{Delta, Epsilon, Event, Neighboring, Plan, Scale, Sensitivity};
use reticent_noise::bulk::{BulkGaussian, Parallelism};
use reticent_noise::mechanism::{
    DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, PrivateSelection, SelectionRule,
};
use reticent_noise::{Mechanism, NoiseSession, Releaser};
use std::hint::black_box;

/// Length of the vectors that mechanisms release.
const VECTOR: usize = 100_000;

/// Names with the scale of the noise.
const LAPLACE_SCALES: [(&str, f64); 3] = [("1", 1.0), ("100", 100.0), ("2^40", (1u64 << 40) as f64)];
const GAUSSIAN_SIGMAS: [(&str, f64); 3] = [("1", 1.0), ("100", 100.0), ("4096", 4096.0)];

/// Runs the cases whose names are wanted.
pub(crate) fn run(wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    let session = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
    let mut cases = Cases { wanted, session };
    cases.integer_vectors()?;
    cases.real_vectors()?;
    cases.bulk()?;
    cases.selections()?;
    cases.latencies()
}

struct Cases<'a> {
    wanted: &'a dyn Fn(&str) -> bool,
    session: NoiseSession,
}

impl Cases<'_> {
    /// Times whole draws of a mechanism on one input.
    fn draws<M: Mechanism>(
        &mut self,
        name: &str,
        items: usize,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<()> {
        if (self.wanted)(name) {
            let mut draws = self.session.draws(&often(mechanism.event()))?;
            measure(name, items, || {
                let _ = black_box(draws.draw(mechanism, black_box(input)));
            });
        }
        Ok(())
    }

    fn integer_vectors(&mut self) -> Result<()> {
        let zeros = vec![0i128; VECTOR];
        for (label, scale) in LAPLACE_SCALES {
            let mechanism = DiscreteLaplace::with_scale(1, Scale::new(scale)?)?;
            self.draws(&format!("discrete_laplace/{label}"), VECTOR, &mechanism, &zeros)?;
        }
        for (label, sigma) in GAUSSIAN_SIGMAS {
            let mechanism = DiscreteGaussian::with_sigma(one()?, Scale::new(sigma)?, delta()?)?;
            self.draws(&format!("discrete_gaussian/{label}"), VECTOR, &mechanism, &zeros)?;
        }
        Ok(())
    }

    fn real_vectors(&mut self) -> Result<()> {
        let zeros = vec![0.0f64; VECTOR];
        let laplace = Laplace::with_scale(one()?, Scale::new(1.0)?, VECTOR)?;
        self.draws("real_laplace/1", VECTOR, &laplace, &zeros)?;
        let gaussian = Gaussian::with_sigma(one()?, Scale::new(1.0)?, delta()?, VECTOR)?;
        self.draws("real_gaussian/1", VECTOR, &gaussian, &zeros)?;
        Ok(())
    }

    fn bulk(&mut self) -> Result<()> {
        for (label, length) in [("1e6", 1_000_000), ("1e7", 10_000_000)] {
            for threads in [1, 2] {
                let name = format!("bulk_gaussian/{label}/{threads}");
                if (self.wanted)(&name) {
                    let mechanism = BulkGaussian::new(one()?, Scale::new(1.0)?, length)?;
                    let mut values = vec![0.0f32; length];
                    let mut outcome = Ok(mechanism.event());
                    let mut draws = self.session.draws(&often(mechanism.event()))?;
                    measure(&name, length, || {
                        outcome = mechanism.add_noise(&mut values, &mut draws, Parallelism { threads });
                    });
                    outcome?;
                }
            }
        }
        Ok(())
    }

    /// Scores evenly spread over 0…100, and the hard case of one candidate far above all others.
    fn selections(&mut self) -> Result<()> {
        let rules = [
            ("exponential", SelectionRule::Exponential),
            ("permute_and_flip", SelectionRule::PermuteAndFlip),
            ("noisy_max", SelectionRule::ReportNoisyMax),
        ];
        for (label, rule) in rules {
            let mechanism = PrivateSelection::new(rule, one()?, Epsilon::new(1.0)?)?;
            for candidates in [100, 10_000] {
                let spread: Vec<f64> =
                    (0..candidates).map(|i| 100.0 * i as f64 / candidates as f64).collect();
                self.choices(&format!("{label}/spread/{candidates}"), &mechanism, &spread)?;
            }
            let mut peak = vec![0.0; 10_000];
            peak[5_000] = 1000.0;
            self.choices(&format!("{label}/peak/10000"), &mechanism, &peak)?;
        }
        Ok(())
    }

    /// Times one choice from real scores, their rounding to the grid included.
    fn choices(&mut self, name: &str, mechanism: &PrivateSelection, scores: &[f64]) -> Result<()> {
        if (self.wanted)(name) {
            let mut draws = self.session.draws(&often(mechanism.event()))?;
            measure(name, 1, || {
                let points = mechanism.points(black_box(scores));
                let _ = black_box(draws.draw(mechanism, &points));
            });
        }
        Ok(())
    }

    /// One number released by a mechanism that is already built and paid for.
    fn latencies(&mut self) -> Result<()> {
        let integer = DiscreteLaplace::with_scale(1, Scale::new(1.0)?)?;
        self.releases("latency/discrete_laplace", &integer, &[1000])?;
        let laplace = Laplace::with_scale(one()?, Scale::new(1.0)?, 1)?;
        self.releases("latency/real_laplace", &laplace, &[1000.0])?;
        let gaussian = Gaussian::with_sigma(one()?, Scale::new(1.0)?, delta()?, 1)?;
        self.releases("latency/real_gaussian", &gaussian, &[1000.0])?;
        Ok(())
    }

    fn releases<M: Mechanism<Input = [T]>, T: Clone + 'static>(
        &mut self,
        name: &str,
        mechanism: &M,
        input: &[T],
    ) -> Result<()>
    where
        M::Output: Clone + 'static,
    {
        if (self.wanted)(name) {
            let mut permit = self.session.charge(&Plan::new(vec![often(mechanism.event())])?)?;
            let mut paid = self.session.with(&mut permit);
            let mut outcome = Ok(());
            measure(name, 1, || {
                outcome = paid.release(mechanism, black_box(input)).map(|released| {
                    black_box(released);
                });
            });
            outcome?;
        }
        Ok(())
    }
}

/// More draws than are ever measured.
fn often(event: Event) -> Event {
    Event::Repeated { count: 1 << 40, event: Box::new(event) }
}

fn one() -> Result<Sensitivity> {
    Ok(Sensitivity::new(1.0)?)
}

fn delta() -> Result<Delta> {
    Ok(Delta::new(1e-6)?)
}
