//! The Rényi curve of every event.

use super::balls::BallsInBins;
use super::replaced::replaced_log_moment;
use super::sampled::{mixture_log_moment, sampled_gaussian_log_moment};
use super::selection::repeat_and_select;
use super::student::student_t_rdp;
use super::truncated::TruncatedPoisson;
use super::without_replacement::{GaussianDifferences, Inner, without_replacement_rdp};
use crate::AccountingError;
use crate::amplification::subsampled;
use crate::clipped::multiplier;
use reticent_core::{Epsilon, Event, Guarantee, Neighboring};

/// An upper bound on D_α as a function of α > 1.
pub struct Curve(Box<dyn Fn(f64) -> f64 + Send + Sync>);

impl Curve {
    /// A curve from its function.
    pub fn new(f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self(Box::new(f))
    }

    /// The bound at an order; infinite where there is none.
    pub fn at(&self, order: f64) -> f64 {
        (self.0)(order)
    }
}

/// What rounding can add to a logarithm that is divided by α − 1.
fn divided(log_moment: f64, order: f64) -> f64 {
    if log_moment.is_nan() {
        return f64::INFINITY;
    }
    (log_moment.max(0.0) * (1.0 + 1e-14) + 4.0 * f64::EPSILON) / (order - 1.0)
}

/// The same for a logarithm that is small to a relative error only.
pub(super) fn divided_finely(log_moment: f64, order: f64) -> f64 {
    if log_moment.is_nan() {
        return f64::INFINITY;
    }
    log_moment.max(0.0) * (1.0 + 1e-14) / (order - 1.0)
}

pub(super) fn log_sum_exp(a: f64, b: f64) -> f64 {
    let top = a.max(b);
    top + libm::log1p(libm::exp(a.min(b) - top))
}

fn gaussian(z: f64) -> Curve {
    Curve::new(move |order| order / (2.0 * z * z) * (1.0 + 1e-15))
}

/// D_α of Laplace noise with ε = 1/z.
fn laplace(z: f64) -> Curve {
    Curve::new(move |order| {
        let e = 1.0 / z;
        let up = libm::log(order / (2.0 * order - 1.0)) + (order - 1.0) * e;
        let down = libm::log((order - 1.0) / (2.0 * order - 1.0)) - order * e;
        divided(log_sum_exp(up, down), order).min(e * (1.0 + 1e-15))
    })
}

/// D_α of k-ary randomized response between two answers.
fn response(keep: f64, categories: u64) -> Curve {
    Curve::new(move |order| {
        let others = categories as f64 - 1.0;
        let (kept, stray) = (libm::log(keep), libm::log((1.0 - keep) / others));
        let largest = response_loss(keep, categories);
        let swap = log_sum_exp(order * kept + (1.0 - order) * stray, order * stray + (1.0 - order) * kept);
        let unmoved = libm::log((categories as f64 - 2.0) * libm::exp(stray));
        let total = if categories > 2 { log_sum_exp(swap, unmoved) } else { swap };
        divided(total, order).min(largest)
    })
}

/// ln(keep/stray) without cancellation where the two are close, rounded up.
pub(crate) fn response_loss(keep: f64, categories: u64) -> f64 {
    let k = categories as f64;
    let stray = (1.0 - keep) / (k - 1.0);
    // keep − stray = (k·keep − 1)/(k − 1), with one rounding.
    let gap = libm::fma(k, keep, -1.0).max(0.0) / (k - 1.0);
    libm::log1p(gap / stray) * (1.0 + 1e-14) + f64::EPSILON * gap
}

/// The tight curve of anything ε-private: binary randomized response.
fn pure(epsilon: f64) -> Curve {
    Curve::new(move |order| {
        // ln(p^α(1−p)^{1−α} + (1−p)^α p^{1−α}) with p = e^ε/(1 + e^ε).
        let log_p = -libm::log1p(libm::exp(-epsilon));
        let up = (order - 1.0) * epsilon + log_p;
        let down = -order * epsilon + log_p;
        divided(log_sum_exp(up, down), order).min(epsilon)
    })
}

/// D_α of discrete Laplace noise on integers that move by `sensitivity` in all.
fn discrete_laplace(z: f64, sensitivity: u64) -> Curve {
    let plain = pure(1.0 / z * (1.0 + 1e-15));
    if sensitivity == 1 {
        return plain;
    }
    let (s, scale) = (sensitivity as f64, z * sensitivity as f64);
    Curve::new(move |order| {
        // Masses 1/(1 + r) of loss s/b and r^s/(1 + r) of −s/b, and (1 − r)r^j/(1 + r) of (s − 2j)/b between them.
        let log_end = -libm::log1p(libm::exp(-1.0 / scale));
        let top = (order - 1.0) / z;
        let ends = log_sum_exp(top + log_end, log_end - order / z);
        let decay = (2.0 * order - 1.0) / scale;
        let series = -decay + libm::log(libm::expm1(-decay * (s - 1.0)) / libm::expm1(-decay));
        let between = log_end + libm::log(-libm::expm1(-1.0 / scale)) + top + series;
        divided(log_sum_exp(ends, between), order).min(plain.at(order))
    })
}

/// A selection of range ε: ε²/8-zCDP, and pure.
fn bounded_range(epsilon: f64) -> Curve {
    let plain = pure(epsilon);
    Curve::new(move |order| (order * epsilon * epsilon / 8.0 * (1.0 + 1e-15)).min(plain.at(order)))
}

pub(super) fn unsupported(event: &'static str, why: &str) -> AccountingError {
    AccountingError::Unsupported { event, accountant: "rdp", why: why.into() }
}

/// Splits an event into curves with their counts.
pub(super) fn collect(
    whole: &Event,
    count: u64,
    neighboring: Neighboring,
    parts: &mut Vec<(u64, Curve)>,
) -> Result<(), AccountingError> {
    match whole {
        _ if count == 0 => Ok(()),
        Event::Repeated { count: times, event } => {
            let total = count.checked_mul(*times).ok_or_else(|| {
                AccountingError::invalid("count", times, "give fewer repetitions: the total is beyond 2^64")
            })?;
            collect(event, total, neighboring, parts)
        }
        Event::Composed { events } => events.iter().try_for_each(|e| collect(e, count, neighboring, parts)),
        Event::Parallel { events } => {
            let mut inner = Vec::new();
            for e in events {
                let mut own = Vec::new();
                collect(e, 1, neighboring, &mut own)?;
                inner.push(own);
            }
            parts.push((count, parallel(inner, neighboring)));
            Ok(())
        }
        Event::Shuffled { epochs, event, .. } | Event::BallsInBins { epochs, event, .. } => {
            let total = count
                .checked_mul(*epochs)
                .ok_or_else(|| AccountingError::invalid("epochs", epochs, "give fewer epochs"))?;
            if let (Event::BallsInBins { bins, .. }, Event::Gaussian { noise_multiplier }) = (whole, &**event)
                && neighboring == Neighboring::AddRemove
            {
                let epoch = BallsInBins::new(*bins, noise_multiplier.get());
                parts.push((total, Curve::new(move |order| epoch.rdp(order))));
                return Ok(());
            }
            // Each record is in one batch an epoch: without amplification this is the event once an epoch.
            collect(event, total, neighboring, parts)
        }
        other => {
            parts.push((count, single(other, neighboring)?));
            Ok(())
        }
    }
}

/// The largest of the parts' curves; under replace-one the two largest, as a record may change parts.
fn parallel(inner: Vec<Vec<(u64, Curve)>>, neighboring: Neighboring) -> Curve {
    Curve::new(move |order| {
        let mut sums: Vec<f64> =
            inner.iter().map(|own| own.iter().map(|(n, curve)| *n as f64 * curve.at(order)).sum()).collect();
        sums.sort_by(|a, b| b.total_cmp(a));
        let touched = match neighboring {
            Neighboring::AddRemove => 1,
            Neighboring::ReplaceOne => 2,
        };
        sums.into_iter().take(touched).sum::<f64>() * (1.0 + 1e-14)
    })
}

fn single(event: &Event, neighboring: Neighboring) -> Result<Curve, AccountingError> {
    Ok(match event {
        Event::ClippedSum { noise_multiplier } => gaussian(multiplier(*noise_multiplier, neighboring)?.get()),
        Event::Gaussian { noise_multiplier } | Event::DiscreteGaussian { noise_multiplier, .. } => {
            gaussian(noise_multiplier.get())
        }
        Event::Laplace { noise_multiplier } => laplace(noise_multiplier.get()),
        Event::DiscreteLaplace { noise_multiplier, sensitivity } => {
            discrete_laplace(noise_multiplier.get(), sensitivity.unwrap_or(1))
        }
        Event::RandomizedResponse { keep_probability, categories } => {
            response(keep_probability.get(), *categories)
        }
        Event::Exponential { epsilon } => bounded_range(epsilon.get()),
        Event::Pure { epsilon } => pure(epsilon.get()),
        Event::StudentT { noise_multiplier, degrees_of_freedom } => {
            let (z, freedom) = (noise_multiplier.get(), *degrees_of_freedom);
            Curve::new(move |order| student_t_rdp(z, freedom, order))
        }
        Event::Zcdp { rho } => {
            let rho = rho.get();
            Curve::new(move |order| rho * order * (1.0 + 1e-15))
        }
        Event::Gdp { mu } => {
            let mu = mu.get();
            Curve::new(move |order| order * mu * mu / 2.0 * (1.0 + 1e-15))
        }
        Event::Rdp { order: known, epsilon } => {
            // Divergences grow with the order: one point bounds the orders below it.
            let (known, epsilon) = (known.get(), epsilon.get());
            Curve::new(move |order| if order <= known { epsilon } else { f64::INFINITY })
        }
        Event::TreeAggregation { noise_multiplier, steps } => {
            // A record is in one node of each level of the binary tree.
            let (z, levels) = (noise_multiplier.get(), f64::from(u64::BITS - steps.leading_zeros()));
            Curve::new(move |order| levels * order / (2.0 * z * z) * (1.0 + 1e-15))
        }
        Event::MixtureOfGaussians { .. } if neighboring == Neighboring::ReplaceOne => {
            return Err(unsupported(
                "mixture_of_gaussians",
                "the bound is for add-remove: state the events under that relation",
            ));
        }
        Event::MixtureOfGaussians { sensitivities, probabilities, noise_multiplier } => {
            let (s, p, z) = (sensitivities.clone(), probabilities.clone(), noise_multiplier.get());
            Curve::new(move |order| {
                let (remove, add) =
                    (mixture_log_moment(&s, &p, z, order), mixture_log_moment(&s, &p, z, 1.0 - order));
                divided_finely(if remove.is_nan() { remove } else { add.max(remove) }, order)
            })
        }
        Event::PoissonSampled { rate, event } => sampled(rate.get(), event, neighboring)?,
        Event::SampledWithoutReplacement { dataset_size, batch_size, event } => {
            if neighboring == Neighboring::AddRemove {
                return Err(unsupported(
                    "sampled_without_replacement",
                    "the bound is for replace-one: state the events under that relation",
                ));
            }
            if matches!(**event, Event::SampledWithoutReplacement { .. } | Event::RepeatAndSelect { .. }) {
                return Err(unsupported(
                    "sampled_without_replacement",
                    "a sampler inside a sampler is not supported: state what is run on the batch",
                ));
            }
            let inner = single(event, neighboring)?;
            let rate = *batch_size as f64 / *dataset_size as f64;
            let differences = match **event {
                Event::Gaussian { noise_multiplier } => {
                    Some(GaussianDifferences::new(noise_multiplier.get()))
                }
                _ => None,
            };
            Curve::new(move |order| {
                let difference = |l| differences.as_ref().map_or(f64::INFINITY, |d| d.log_difference(l));
                let inner = Inner {
                    curve: &|j| inner.at(j),
                    log_difference: differences.is_some().then_some(&difference),
                };
                without_replacement_rdp(rate, order, &inner)
            })
        }
        Event::Approximate { .. } => {
            return Err(unsupported(
                "approximate",
                "an (epsilon, delta) claim has no Rényi curve: use optimal composition",
            ));
        }
        Event::TruncatedPoisson { dataset_size, rate, max_batch, event } => {
            truncated(*dataset_size, rate.get(), *max_batch, event, neighboring)?
        }
        Event::RepeatAndSelect { event, .. } if matches!(**event, Event::RepeatAndSelect { .. }) => {
            return Err(unsupported(
                "repeat_and_select",
                "a selection inside a selection is not supported: state the inner one's own claim",
            ));
        }
        Event::RepeatAndSelect { mean, shape, event } => {
            repeat_and_select(single(event, neighboring)?, *mean, *shape)
        }
        Event::Repeated { .. }
        | Event::Composed { .. }
        | Event::Parallel { .. }
        | Event::Shuffled { .. }
        | Event::BallsInBins { .. } => {
            let mut parts = Vec::new();
            collect(event, 1, neighboring, &mut parts)?;
            Curve::new(move |order| {
                parts.iter().map(|(n, curve)| *n as f64 * curve.at(order)).sum::<f64>() * (1.0 + 1e-14)
            })
        }
    })
}

/// An event on a Poisson sample: exact for Gaussian noise, through ε′ = ln(1 + q(e^ε − 1)) for pure events, or as
/// without sampling where that is less.
fn sampled(rate: f64, event: &Event, neighboring: Neighboring) -> Result<Curve, AccountingError> {
    if neighboring == Neighboring::ReplaceOne {
        if let Event::ClippedSum { noise_multiplier } = event {
            let z = noise_multiplier.get();
            return Ok(Curve::new(move |order| divided_finely(replaced_log_moment(rate, z, order), order)));
        }
        return Err(unsupported(
            "poisson_sampled",
            "under replace-one the bound is for clipped_sum: state that, or the events under add-remove",
        ));
    }
    let pure_epsilon = match event {
        Event::Gaussian { noise_multiplier } => {
            let z = noise_multiplier.get();
            return Ok(Curve::new(move |order| {
                divided_finely(sampled_gaussian_log_moment(rate, z, order), order)
            }));
        }
        Event::Gdp { mu } => {
            let z = 1.0 / mu.get();
            return Ok(Curve::new(move |order| {
                divided_finely(sampled_gaussian_log_moment(rate, z, order), order)
            }));
        }
        Event::Laplace { noise_multiplier } | Event::DiscreteLaplace { noise_multiplier, .. } => {
            1.0 / noise_multiplier.get()
        }
        Event::Exponential { epsilon } | Event::Pure { epsilon } => epsilon.get(),
        _ => {
            return Err(unsupported("poisson_sampled", "only Gaussian and pure events are supported inside"));
        }
    };
    let inner = Guarantee::pure(Epsilon::new(pure_epsilon * (1.0 + 1e-15))?);
    let outer = subsampled(inner, reticent_core::SamplingRate::new(rate)?)?;
    // A mixture with the other law only brings the two closer (quasi-convexity): never above the event itself.
    let (amplified, whole) = (pure(outer.epsilon.get()), single(event, neighboring)?);
    Ok(Curve::new(move |order| amplified.at(order).min(whole.at(order))))
}

/// A Gaussian on a Poisson sample that is cut to a largest batch.
fn truncated(
    dataset_size: u64,
    rate: f64,
    max_batch: u64,
    event: &Event,
    neighboring: Neighboring,
) -> Result<Curve, AccountingError> {
    if neighboring == Neighboring::ReplaceOne {
        return Err(unsupported(
            "truncated_poisson",
            "the bound is for add-remove: state the events under that relation",
        ));
    }
    let Event::Gaussian { noise_multiplier } = event else {
        return Err(unsupported(
            "truncated_poisson",
            "only a gaussian event is supported inside: state that, or poisson_sampled without a cap",
        ));
    };
    let sampler = TruncatedPoisson::new(dataset_size, rate, max_batch, noise_multiplier.get());
    Ok(Curve::new(move |order| divided(sampler.log_moment(order), order)))
}
