//! From events to privacy losses.

use super::loss::{Direction, Loss};
use crate::AccountingError;
use reticent_core::{Event, Neighboring};

/// What a list of events consists of.
#[derive(Default)]
pub(super) struct Found {
    parts: Vec<(f64, Pair)>,
    /// ln of the probability that nothing is revealed outright.
    pub(super) log_kept: f64,
}

/// A loss that is the same both ways, or a mixture that is not.
enum Pair {
    Same(Loss),
    Mixture { shifts: Vec<f64>, weights: Vec<f64>, sigma: f64 },
}

fn unsupported(event: &'static str, why: &str) -> AccountingError {
    AccountingError::Unsupported { event, accountant: "tight", why: why.into() }
}

/// The worst ε-private pair.
fn pure(epsilon: f64) -> Loss {
    let minus = 1.0 / (1.0 + libm::exp(epsilon));
    Loss::Response { epsilon, plus: 1.0 - minus, minus }
}

impl Found {
    /// The losses in one direction.
    pub(super) fn losses(&self, direction: Direction) -> Vec<(f64, Loss)> {
        self.parts
            .iter()
            .map(|(count, pair)| {
                let loss = match pair {
                    Pair::Same(loss) => loss.clone(),
                    Pair::Mixture { shifts, weights, sigma } => Loss::Mixture {
                        shifts: shifts.clone(),
                        weights: weights.clone(),
                        sigma: *sigma,
                        direction,
                    },
                };
                (*count, loss)
            })
            .collect()
    }

    pub(super) fn collect(
        &mut self,
        event: &Event,
        count: u64,
        neighboring: Neighboring,
    ) -> Result<(), AccountingError> {
        let times = |n: u64, field: &'static str| {
            count
                .checked_mul(n)
                .ok_or_else(|| AccountingError::invalid(field, n, "give less: the total is beyond 2^64"))
        };
        if count == 0 {
            return Ok(());
        }
        let pair = match event {
            Event::Repeated { count: n, event } => {
                return self.collect(event, times(*n, "count")?, neighboring);
            }
            Event::Composed { events } => {
                return events.iter().try_for_each(|e| self.collect(e, count, neighboring));
            }
            Event::Gaussian { noise_multiplier } => Pair::Same(Loss::Gaussian(noise_multiplier.get())),
            Event::Gdp { mu } if mu.get() == 0.0 => return Ok(()),
            Event::Gdp { mu } => Pair::Same(Loss::Gaussian(1.0 / mu.get())),
            Event::Laplace { noise_multiplier } => Pair::Same(Loss::Laplace(1.0 / noise_multiplier.get())),
            Event::DiscreteLaplace { noise_multiplier } => Pair::Same(pure(1.0 / noise_multiplier.get())),
            Event::Pure { epsilon } | Event::Exponential { epsilon } => Pair::Same(pure(epsilon.get())),
            Event::RandomizedResponse { keep_probability, categories } => {
                let keep = keep_probability.get();
                let stray = (1.0 - keep) / (*categories as f64 - 1.0);
                Pair::Same(Loss::Response { epsilon: libm::log(keep / stray), plus: keep, minus: stray })
            }
            Event::Approximate { epsilon, delta } => {
                self.log_kept += count as f64 * libm::log1p(-delta.get());
                Pair::Same(pure(epsilon.get()))
            }
            Event::TreeAggregation { noise_multiplier, steps } => {
                // A record is in one node of each level.
                let levels = u64::from(u64::BITS - steps.leading_zeros());
                self.parts.push((
                    times(levels, "steps")? as f64,
                    Pair::Same(Loss::Gaussian(noise_multiplier.get())),
                ));
                return Ok(());
            }
            Event::MixtureOfGaussians { sensitivities, probabilities, noise_multiplier } => Pair::Mixture {
                shifts: sensitivities.clone(),
                weights: probabilities.clone(),
                sigma: noise_multiplier.get(),
            },
            Event::PoissonSampled { rate, event } => match (&**event, neighboring) {
                (_, Neighboring::ReplaceOne) => {
                    return Err(unsupported(
                        "poisson_sampled",
                        "the loss is known for add-remove: state the events under that relation",
                    ));
                }
                (inner, _) if rate.get() == 1.0 => return self.collect(inner, count, neighboring),
                (_, _) if rate.get() == 0.0 => return Ok(()),
                (Event::Gaussian { noise_multiplier }, _) => Pair::Mixture {
                    shifts: vec![0.0, 1.0],
                    weights: vec![1.0 - rate.get(), rate.get()],
                    sigma: noise_multiplier.get(),
                },
                _ => {
                    return Err(unsupported(
                        "poisson_sampled",
                        "the loss is known for Gaussian noise only: use the rdp accountant",
                    ));
                }
            },
            Event::Shuffled { .. } => {
                return Err(unsupported("shuffled", "only an upper bound is known: use the rdp accountant"));
            }
            Event::BallsInBins { .. } => {
                return Err(unsupported(
                    "balls_in_bins",
                    "only an upper bound is known: use the rdp accountant",
                ));
            }
            Event::DiscreteGaussian { .. } => {
                return Err(unsupported("discrete_gaussian", "use the rdp accountant"));
            }
            Event::StudentT { .. } => return Err(unsupported("student_t", "use the rdp accountant")),
            Event::Zcdp { .. } => {
                return Err(unsupported(
                    "zcdp",
                    "a zCDP claim has no loss distribution: use the rdp accountant",
                ));
            }
            Event::Rdp { .. } => {
                return Err(unsupported(
                    "rdp",
                    "a Rényi claim has no loss distribution: use the rdp accountant",
                ));
            }
            Event::SampledWithoutReplacement { .. } => {
                return Err(unsupported("sampled_without_replacement", "use the rdp accountant"));
            }
            Event::TruncatedPoisson { .. } => {
                return Err(unsupported("truncated_poisson", "no bound is implemented"));
            }
            Event::RepeatAndSelect { .. } => {
                return Err(unsupported("repeat_and_select", "no bound is implemented"));
            }
            Event::Parallel { .. } => return Err(unsupported("parallel", "use the rdp accountant")),
        };
        self.parts.push((count as f64, pair));
        Ok(())
    }
}
