//! From settings and the number of units to what a run agrees to.

use super::reader::Reader;
use super::run::{Counted, Run};
use super::settings::{Budget, Settings};
use crate::explain::Code;
use crate::fail::Fail;
use crate::learn::{Bill, DECIDED, count_rows, spent};
use reticent::core::rounding::sub_down;
use reticent::core::{Certificate, Delta, Epsilon, Event, Fact, Guarantee, Neighboring};
use reticent::noise::Entropy;
use reticent::train::{Baseline, Batches, PlanSettings, PrivacyPlan, Terms};

/// The sizes of a run and what was spent before its first step.
pub(super) struct Agreement {
    /// The number of units, as it is public.
    pub(super) size: u64,
    /// The expected number of units in a step.
    pub(super) batch: u64,
    pub(super) terms: Terms,
    bill: Bill,
    counted: bool,
    /// What learning the schema has cost.
    schema: Option<Guarantee>,
    /// What all steps are held to, whatever a noisy count or a learnt schema before them said; none where nothing came
    /// before, and the steps' own account is the proof.
    share: Option<Guarantee>,
}

/// The most trained weights behind a schema that was learnt with privacy, where the noise is given: the account is for so many,
/// since the schema decides how many there are.
const MOST_DECIDED_WEIGHTS: usize = 1 << 24;

/// Settles sizes, steps and noise for a model with so many trained weights. With add-remove, the true number of units
/// enters through a noisy count alone, and not at all if a size is declared.
pub(super) fn agree(
    run: &mut Run,
    settings: &Settings,
    reader: &Reader,
    units: usize,
    dimension: usize,
    entropy: &mut Entropy,
) -> Result<Agreement, Fail> {
    let neighboring = settings.neighboring;
    let schema = match (&reader.schema, settings.budget) {
        (Some(schema), Budget::Target(_) | Budget::Noise { .. }) => spent(schema, neighboring)?,
        _ => None,
    };
    let mut bill = Bill::default();
    let mut budget = settings.budget;
    let is_known = budget == Budget::None || neighboring == Neighboring::ReplaceOne;
    let mut counted = false;
    let size = match (run.size, is_known) {
        (_, true) => units as u64,
        (Some(size), false) => size,
        (None, false) => {
            let Budget::Target(whole) = budget else {
                return Err(Fail::missing(
                    "--dataset-size",
                    "with --noise-multiplier there is no epsilon to count the rows with: declare their public number",
                ));
            };
            let (size, left) = count(run, whole, units, entropy, &mut bill)?;
            (budget, counted) = (Budget::Target(left), true);
            size
        }
    };
    if size == 0 {
        return Err(Fail::new(Code::NoRows, "there are no rows to train on: give data"));
    }
    let batch = *run.batch_size.get_or_insert_with(|| usual_batch(size));
    let batch = if counted {
        // A refusal would tell the count without anyone paying for it: the run goes on with all rows in every step.
        *run.batch_size.insert(batch.min(size))
    } else {
        batch
    };
    if batch == 0 || batch > size {
        let words = reader.unit_words();
        let remedy = format!("there are {size} {words}: give a number from 1 to {size}");
        return Err(Fail::flag("--batch-size", &batch.to_string(), remedy));
    }
    let steps = match run.steps {
        Some(steps) => steps,
        // At most 1e6 epochs of 2^50 units.
        None => (run.epochs.unwrap_or(1.0) * size as f64 / batch as f64 - 1e-9).ceil().max(1.0) as u64,
    };
    let mut share = None;
    let terms = match budget {
        Budget::None => {
            Terms::NonPrivate(Baseline { batches: Batches::Shuffled { size: batch as usize }, steps })
        }
        Budget::Target(_) | Budget::Noise { .. } => {
            let plan = PlanSettings {
                neighboring,
                unit: reader.unit(),
                size,
                sampling_rate: batch as f64 / size as f64,
                steps,
                clipping: settings.clipping.clone(),
                dimension,
            };
            Terms::Private(match budget {
                Budget::Noise { multiplier, delta } => {
                    if schema.is_some() {
                        share = Some(widest(&plan, multiplier, delta)?);
                    }
                    PrivacyPlan::new(plan, multiplier, delta.get())?
                }
                Budget::Target(left) => {
                    share = (counted || schema.is_some()).then_some(left);
                    PrivacyPlan::target(plan, left)?
                }
                Budget::None => return Err(Fail::missing("--epsilon", "say how much privacy to spend")),
            })
        }
    };
    Ok(Agreement { size, batch, terms, bill, counted, schema, share })
}

/// What steps with this noise cost for every number of weights that a learnt schema may lead to: the noise's grid takes
/// the most from the longest vector.
fn widest(plan: &PlanSettings, multiplier: f64, delta: Delta) -> Result<Guarantee, Fail> {
    if plan.dimension > MOST_DECIDED_WEIGHTS {
        let remedy = "the schema was learnt with privacy: with --noise-multiplier train at most 2^24 weights, or give \
                      --epsilon";
        return Err(Fail::flag("--noise-multiplier", &multiplier.to_string(), remedy).coded(Code::Conflict));
    }
    let widest = PlanSettings { dimension: MOST_DECIDED_WEIGHTS, ..plan.clone() };
    let epsilon = PrivacyPlan::new(widest, multiplier, delta.get())?.epsilon(plan.steps)?;
    Ok(Guarantee { epsilon, delta })
}

/// A noisy number of units and what is left of the budget; one that was counted before is taken over.
fn count(
    run: &mut Run,
    whole: Guarantee,
    units: usize,
    entropy: &mut Entropy,
    bill: &mut Bill,
) -> Result<(u64, Guarantee), Fail> {
    if let Some(before) = &run.counted {
        let (events, guarantee) = before.cost()?;
        bill.add(&events, guarantee)?;
        let left = sub_down(whole.epsilon.get(), guarantee.epsilon.get());
        if left <= 0.0 {
            let remedy =
                "counting the rows has cost more than that: give a larger epsilon, or --dataset-size";
            return Err(Fail::flag("--epsilon", &whole.epsilon.to_string(), remedy).coded(Code::Spent));
        }
        return Ok((before.size, Guarantee { epsilon: Epsilon::new(left)?, ..whole }));
    }
    let (size, left) = count_rows(whole, units as u64, entropy, bill)?;
    if let Some(guarantee) = bill.guarantee {
        run.counted = Some(Counted::new(size, guarantee, &bill.events)?);
    }
    Ok((size, left))
}

/// The power of two nearest to a fortieth of the units, from 16 to 4096: large batches drown the noise.
fn usual_batch(size: u64) -> u64 {
    let share = (size as f64 / 40.0).max(1.0).log2().round() as u32;
    (1u64 << share.clamp(4, 12)).min(size)
}

impl Agreement {
    pub(super) fn plan(&self) -> Option<&PrivacyPlan> {
        match &self.terms {
            Terms::Private(plan) => Some(plan),
            Terms::NonPrivate(_) => None,
        }
    }

    /// Whether the size was counted with noise.
    pub(super) fn is_counted(&self) -> bool {
        self.counted
    }

    /// Epochs after so many steps.
    pub(super) fn epoch(&self, steps: u64) -> f64 {
        steps as f64 * self.batch as f64 / self.size as f64
    }

    /// ε of the steps with what was spent before them. Where a count or a learnt schema decided the steps, what some of
    /// them cost is not known for every answer: their share stands for any number of them.
    pub(super) fn spent(&self, own: Epsilon) -> Result<f64, Fail> {
        let mut spent = Guarantee::pure(self.share.map_or(own, |share| share.epsilon));
        for before in [self.bill.guarantee, self.schema].into_iter().flatten() {
            spent = before.then(spent)?;
        }
        Ok(spent.epsilon.get())
    }

    /// The trainer's certificate with what was spent before its first step.
    pub(super) fn certificate(&self, own: Certificate, reader: &Reader) -> Result<Certificate, Fail> {
        let mut whole = match self.share.filter(|_| !own.events.is_empty()) {
            Some(share) => own.after(&self.bill.events, self.bill.cost()?, share)?,
            None => own.following(&self.bill.events, self.bill.cost()?)?,
        };
        if self.counted {
            whole.accountant = format!("rows counted with noise, then {}", whole.accountant);
            whole.public.retain(|known| !matches!(known, Fact::Units(_)));
        }
        match (&reader.schema, self.schema) {
            (Some(schema), _) if schema.is_draft() => {
                whole.public.push(Fact::DraftSchema);
            }
            (Some(_), Some(spent)) => {
                let event = Event::Approximate { epsilon: spent.epsilon, delta: spent.delta };
                whole.events.insert(0, event);
                whole.guarantee = spent.then(whole.guarantee)?;
                whole.accountant = format!("the schema's own cost, then {}", whole.accountant);
                whole.public.push(Fact::LearntSchema);
            }
            (Some(_), None) => whole.public.push(Fact::Schema),
            (None, _) => whole.public.push(Fact::Images),
        }
        if reader.vocabulary.is_some() {
            whole.public.push(Fact::Vocabulary);
        }
        if self.share.is_some() {
            whole.accountant += DECIDED;
        }
        Ok(whole)
    }
}
