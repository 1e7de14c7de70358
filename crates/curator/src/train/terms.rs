//! From settings and the number of units to what a run agrees to.

use super::cyclic;
use super::federated::unit;
use super::growth;
use super::held_out::HeldOutTest;
use super::outcome::GrowthSummary;
use super::reader::Reader;
use super::recipe;
use super::request::{NoisyCount, Train};
use super::settings::{Budget, Settings};
use super::text;
use crate::bill::{Bill, Counting, Main, Purchase, SchemaCost, Sizing, spent};
use crate::refusal::Refusal;
use reticent_core::rounding::sub_down;
use reticent_core::{Certificate, Code, Delta, Epsilon, Fact, Guarantee, Neighboring};
use reticent_noise::NoiseSession;
use reticent_train::{
    Baseline, BatchGrowth, Batching, CyclicBatches, NoiseLaw, PlanSettings, PrivacyPlan, TrainingTerms,
};

/// The sizes of a run and what was spent before its first step.
pub(crate) struct AgreedTerms {
    /// The number of units, as it is public.
    pub(crate) size: u64,
    /// The expected batch size in units.
    pub(crate) batch: u64,
    pub(crate) terms: TrainingTerms,
    bill: Bill,
    counted: bool,
    /// What learning the schema has cost.
    schema: Option<SchemaCost>,
    /// What all steps are held to, whatever a noisy count or a learnt schema before them said; none where nothing came
    /// before, and the steps' own account is the proof.
    share: Option<Guarantee>,
    /// The test on held-out units beside the steps.
    pub(crate) test: Option<HeldOutTest>,
    /// Expected passes over the data in a round of parties that train by themselves.
    passes: Option<f64>,
    /// Whether parties train together, by way of a server.
    is_federated: bool,
    /// What else the certificate takes as public.
    pub(crate) facts: Vec<Fact>,
}

/// The most trained weights behind a schema that was learnt with privacy, where the noise is given: the account is for so many,
/// since the schema decides how many there are.
const MOST_DECIDED_WEIGHTS: usize = 1 << 24;

/// How many units there are as far as is public, and what is left for the steps.
#[derive(Clone)]
pub(crate) struct Size {
    units: u64,
    budget: Budget,
    /// What was paid for it.
    bill: Bill,
    counted: bool,
    /// What learning the schema has cost.
    schema: Option<SchemaCost>,
}

/// A run that is paid for before an example is read.
pub(crate) struct PaidTerms {
    pub(crate) purchase: Purchase,
    /// What the run agrees to, with its request as that settles it, where no example decides anything.
    pub(crate) settled: Option<(AgreedTerms, Train)>,
}

/// Charges the whole of a private run: the count and the steps of a model with so many trained weights. No example is read.
/// None without privacy, and where the noise is given and something public that the files alone tell decides its cost: the
/// number of units under replace-one, or the size of the images.
///
/// Where a count, a learnt schema or such a number decides the steps, their share of the budget is charged as one claim. A run
/// that goes on is charged as a whole again: its session need not be the one that it began in. Only a new one is counted.
pub(crate) fn pay(
    run: &Train,
    settings: &Settings,
    reader: &Reader,
    dimension: Option<usize>,
    is_new: bool,
    payer: &mut NoiseSession,
) -> Result<Option<PaidTerms>, Refusal> {
    let is_hidden = settings.neighboring == Neighboring::AddRemove;
    let is_declared = run.dataset_size.is_some() || matches!(settings.budget, Budget::Noise { .. });
    if let (Some(dimension), true) = (dimension, is_hidden && is_declared) {
        let mut settled = run.clone();
        let size = size(&mut settled, settings, reader, 0, None)?;
        let agreement = agree(&mut settled, settings, reader, size, dimension)?;
        let Some(plan) = agreement.plan() else { return Ok(None) };
        let main = agreement
            .share
            .map_or_else(|| plan.charges().map(Main::Events), |share| Ok(Main::Share(share)))?;
        let beside = agreement.test.as_ref().map(|test| test.event.clone());
        let purchase = Purchase::charge(&agreement.bill.events, main, beside, payer)?;
        return Ok(Some(PaidTerms { purchase, settled: Some((agreement, settled)) }));
    }
    let Budget::Target(whole) = settings.budget else { return Ok(None) };
    let counting = counting(run, settings)?;
    if counting.is_some() && !is_new {
        return Err(uncounted());
    }
    let mut bill = Bill::default();
    let share = match (&counting, &run.counted) {
        (Some(counting), _) => counting.left,
        (None, Some(before)) if is_hidden && run.dataset_size.is_none() => {
            left_after(before, whole, &mut bill)?
        }
        (None, _) => whole,
    };
    let before = counting.as_ref().map_or(&bill.events[..], Counting::events);
    let beside = HeldOutTest::of(run, reader, whole.epsilon, settings.evaluations)?.map(|test| test.event);
    let purchase = Purchase::charge(before, Main::Share(share), beside, payer)?.counting(counting);
    Ok(Some(PaidTerms { purchase, settled: None }))
}

/// The count that comes before the steps, where the number of units is neither public, declared nor counted before.
pub(crate) fn counting(run: &Train, settings: &Settings) -> Result<Option<Counting>, Refusal> {
    let is_private = settings.neighboring == Neighboring::AddRemove;
    match settings.budget {
        Budget::Target(whole) if is_private && run.dataset_size.is_none() && run.counted.is_none() => {
            Counting::of(whole).map(Some)
        }
        _ => Ok(None),
    }
}

/// Settles the number of units. With add-remove, the true one enters through a noisy count alone, and not at all if a size is
/// declared.
pub(crate) fn size(
    run: &mut Train,
    settings: &Settings,
    reader: &Reader,
    units: usize,
    counting: Option<(&mut Purchase, &mut NoiseSession)>,
) -> Result<Size, Refusal> {
    let neighboring = settings.neighboring;
    let schema = match (&reader.schema, settings.budget) {
        (Some(schema), Budget::Target(_) | Budget::Noise { .. }) => spent(schema, neighboring)?,
        _ => None,
    };
    let (mut bill, mut budget, mut counted) = (Bill::default(), settings.budget, false);
    let is_known = budget == Budget::None || neighboring == Neighboring::ReplaceOne;
    let units = match (run.dataset_size, is_known) {
        (_, true) => units as u64,
        (Some(size), false) => size,
        (None, false) => {
            let Budget::Target(whole) = budget else {
                return Err(Refusal::missing(
                    "dataset_size",
                    "with ⟦noise_multiplier⟧ there is no epsilon for a noisy count of the rows: give their public number",
                ));
            };
            let (size, left) = count(run, whole, units, counting, &mut bill)?;
            (budget, counted) = (Budget::Target(left), true);
            size
        }
    };
    if units == 0 {
        return Err(Refusal::new(Code::NoRows, "there are no training rows: give data"));
    }
    Ok(Size { units, budget, bill, counted, schema })
}

/// Settles steps and noise for a model with so many trained weights.
pub(crate) fn agree(
    run: &mut Train,
    settings: &Settings,
    reader: &Reader,
    size: Size,
    dimension: usize,
) -> Result<AgreedTerms, Refusal> {
    let law = settings.noise.law;
    let target = |plan, left| Ok(PrivacyPlan::target_with_law(plan, law, left)?);
    agree_by(run, settings, reader, size, dimension, &target)
}

/// The noise of a plan within a budget.
pub(crate) type Calibration<'a> = &'a dyn Fn(PlanSettings, Guarantee) -> Result<PrivacyPlan, Refusal>;

/// As [`agree`], with another rule for the noise of a budget.
pub(crate) fn agree_by(
    run: &mut Train,
    settings: &Settings,
    reader: &Reader,
    size: Size,
    dimension: usize,
    target: Calibration<'_>,
) -> Result<AgreedTerms, Refusal> {
    let Size { units: size, budget, bill, counted, schema } = size;
    let extent = extent(run, settings, reader, size, counted)?;
    let Extent { batch, steps, .. } = extent;
    let mut share = None;
    let terms = match budget {
        Budget::None => TrainingTerms::NonPrivate(Baseline {
            batches: Batching::Shuffled { size: batch as usize },
            steps,
            adversarial: settings.adversarial,
        }),
        Budget::Target(_) | Budget::Noise { .. } => {
            let plan = plan_settings(run, settings, reader, (size, extent), dimension)?;
            let law = settings.noise.law;
            TrainingTerms::Private(match budget {
                Budget::Noise { multiplier, delta } => {
                    if schema.is_some() {
                        share = Some(widest(&plan, law, multiplier, delta)?);
                    }
                    PrivacyPlan::with_law(plan, law, multiplier, delta.get())?
                }
                Budget::Target(left) => {
                    share = (counted || schema.is_some()).then_some(left);
                    target(plan, left)?
                }
                Budget::None => return Err(Refusal::missing("epsilon", "give a privacy budget")),
            })
        }
    };
    // As for a linear model, the test has the ε of all that is beside it: other units pay for it.
    let test = match (settings.budget, &terms) {
        (Budget::Target(whole), _) => HeldOutTest::of(run, reader, whole.epsilon, settings.evaluations)?,
        (Budget::Noise { .. }, TrainingTerms::Private(plan)) => {
            HeldOutTest::of(run, reader, plan.epsilon(plan.steps())?, settings.evaluations)?
        }
        _ => None,
    };
    let passes = settings.local.map(|local| share_of_parties(run) * local.epochs as f64);
    let is_federated = run.federated.is_some();
    let facts = Vec::new();
    Ok(AgreedTerms { size, batch, terms, bill, counted, schema, share, test, passes, is_federated, facts })
}

/// How much a run computes.
#[derive(Clone, Copy)]
struct Extent {
    /// The expected batch size.
    batch: u64,
    steps: u64,
    /// Where nothing is sampled.
    cyclic: Option<CyclicBatches>,
    /// Where batches grow.
    growth: Option<BatchGrowth>,
}

/// How much a run on so many units computes. What the request leaves open is filled in.
fn extent(
    run: &mut Train,
    settings: &Settings,
    reader: &Reader,
    size: u64,
    counted: bool,
) -> Result<Extent, Refusal> {
    let batch = match (run.batch_size, text::batch_share(run)) {
        (Some(batch), _) => batch,
        (None, share) => {
            let usual = || recipe::batch(run, size).unwrap_or_else(|| usual_batch(size));
            let batch = share.map_or_else(usual, |share| batch_of(size, share));
            *run.batch_size.insert(batch)
        }
    };
    let batch = if counted {
        // A refusal would tell the count without anyone paying for it: the run goes on with all rows in every step.
        *run.batch_size.insert(batch.min(size))
    } else {
        batch
    };
    if batch == 0 || batch > size {
        let words = reader.unit_words(run.is_private() || run.examples_per_user.is_some());
        let remedy = format!("there are {size} {words}: give a number from 1 to {size}");
        return Err(Refusal::value("batch_size", batch, remedy));
    }
    let per_epoch = settings.is_cyclic.then(|| cyclic::per_epoch(size, batch));
    let (given, epochs) = (run.steps, run.epochs.unwrap_or(1.0));
    let steps = |growth: Option<BatchGrowth>| {
        // At most 1e6 epochs of 2^50 units.
        let of_epoch = per_epoch.map_or(size as f64 / batch as f64, |own| own as f64);
        match (given, growth) {
            (Some(steps), _) => steps,
            (None, None) => (epochs * of_epoch - 1e-9).ceil().max(1.0) as u64,
            (None, Some(own)) => own.steps_for(epochs * of_epoch),
        }
    };
    let growth = match settings.growth {
        Some(asked) => growth::agreed(run, asked, (batch, size), &steps, counted)?,
        None => None,
    };
    let steps = steps(growth);
    let cyclic = per_epoch.map(|own| cyclic::agreed(run, own, steps, counted)).transpose()?;
    Ok(Extent { batch, steps, cyclic, growth })
}

/// The share of the parties that take part in a round.
fn share_of_parties(run: &Train) -> f64 {
    run.federated.as_ref().and_then(|own| own.participation).unwrap_or(1.0)
}

/// What the cost of a private run of this extent depends on, for so many units.
fn plan_settings(
    run: &Train,
    settings: &Settings,
    reader: &Reader,
    (size, extent): (u64, Extent),
    dimension: usize,
) -> Result<PlanSettings, Refusal> {
    let (unit, Extent { batch, steps, cyclic, growth }) = (unit(run, settings), extent);
    Ok(PlanSettings {
        neighboring: settings.neighboring,
        unit: unit.map_or_else(|| reader.unit(), str::to_owned),
        size,
        sampling_rate: match (unit, cyclic) {
            (Some(_), _) => share_of_parties(run),
            (None, Some(_)) => 1.0,
            (None, None) => batch as f64 / size as f64,
        },
        steps,
        clipping: settings.clipping_for(dimension)?,
        dimension,
        cyclic,
        growth,
    })
}

impl Size {
    /// What is left for the steps; none where there is no target.
    pub(crate) fn left(&self) -> Option<Guarantee> {
        match self.budget {
            Budget::Target(left) => Some(left),
            Budget::Noise { .. } | Budget::None => None,
        }
    }

    /// What the cost of this run depends on, with so many weights.
    pub(crate) fn plan_settings(
        &self,
        run: &mut Train,
        settings: &Settings,
        reader: &Reader,
        dimension: usize,
    ) -> Result<PlanSettings, Refusal> {
        let extent = extent(run, settings, reader, self.units, self.counted)?;
        plan_settings(run, settings, reader, (self.units, extent), dimension)
    }
}

/// What steps with this noise cost for every number of weights that a learnt schema may lead to: the noise's grid takes
/// the most from the longest vector.
fn widest(plan: &PlanSettings, law: NoiseLaw, multiplier: f64, delta: Delta) -> Result<Guarantee, Refusal> {
    if law != NoiseLaw::Gaussian {
        let remedy = "the schema was learnt with privacy and decides the profile of the gradients: with ⟦noise⟧ student-t give \
                      ⟦epsilon⟧ instead";
        return Err(Refusal::conflict("noise_multiplier", multiplier, remedy));
    }
    if plan.dimension > MOST_DECIDED_WEIGHTS {
        let remedy = "the schema was learnt with privacy: with ⟦noise_multiplier⟧ train at most 2^24 weights, or give \
                      ⟦epsilon⟧";
        return Err(Refusal::conflict("noise_multiplier", multiplier, remedy));
    }
    let widest = PlanSettings { dimension: MOST_DECIDED_WEIGHTS, ..plan.clone() };
    let epsilon = PrivacyPlan::new(widest, multiplier, delta.get())?.epsilon(plan.steps)?;
    Ok(Guarantee { epsilon, delta })
}

/// A noisy number of units and what is left of the budget; one that was counted before is taken over.
fn count(
    run: &mut Train,
    whole: Guarantee,
    units: usize,
    counting: Option<(&mut Purchase, &mut NoiseSession)>,
    bill: &mut Bill,
) -> Result<(u64, Guarantee), Refusal> {
    if let Some(before) = &run.counted {
        return Ok((before.size, left_after(before, whole, bill)?));
    }
    let counted = match counting {
        Some((purchase, payer)) => purchase.count(units as u64, payer, bill)?,
        None => None,
    };
    let Some((size, left)) = counted else {
        return Err(uncounted());
    };
    if let Some(guarantee) = bill.guarantee {
        run.counted = Some(NoisyCount::new(size, guarantee, &bill.events)?);
    }
    Ok((size, left))
}

/// A run that goes on has no count.
fn uncounted() -> Refusal {
    Refusal::new(Code::Broken, "run.toml: the noisy count of the rows is missing: train again")
}

/// What is left of a budget after a count that was made before, which is put on the bill.
fn left_after(before: &NoisyCount, whole: Guarantee, bill: &mut Bill) -> Result<Guarantee, Refusal> {
    let (events, guarantee) = before.cost()?;
    bill.add(&events, guarantee)?;
    let left = sub_down(whole.epsilon.get(), guarantee.epsilon.get());
    if left <= 0.0 {
        let remedy =
            "the noisy count of the rows costs more than that: give a larger epsilon, or ⟦dataset_size⟧";
        return Err(Refusal::value("epsilon", whole.epsilon, remedy).coded(Code::Spent));
    }
    Ok(Guarantee { epsilon: Epsilon::new(left)?, ..whole })
}

/// The power of two nearest to a fortieth of the units, from 16 to 4096: large batches drown the noise.
pub(super) fn usual_batch(size: u64) -> u64 {
    batch_of(size, 1.0 / 40.0)
}

/// The power of two nearest to a share of the units, from 16 to 4096.
fn batch_of(size: u64, share: f64) -> u64 {
    let share = (size as f64 * share).max(1.0).log2().round() as u32;
    (1u64 << share.clamp(4, 12)).min(size)
}

impl AgreedTerms {
    pub(crate) fn plan(&self) -> Option<&PrivacyPlan> {
        match &self.terms {
            TrainingTerms::Private(plan) => Some(plan),
            TrainingTerms::NonPrivate(_) => None,
        }
    }

    /// How the size is known, where so many were declared.
    pub(crate) fn sizing(&self, declared: Option<u64>) -> Sizing {
        match (self.plan(), self.counted, declared) {
            (Some(_), true, _) => Sizing::Counted,
            (Some(_), false, Some(_)) => Sizing::Declared,
            _ => Sizing::Known,
        }
    }

    /// Epochs after so many steps.
    pub(crate) fn epoch(&self, steps: u64) -> f64 {
        let plan = self.plan().map(PrivacyPlan::settings);
        match (self.passes, plan.and_then(|plan| plan.cyclic), plan.and_then(|plan| plan.growth)) {
            (Some(passes), _, _) => steps as f64 * passes,
            (None, Some(own), _) => steps as f64 / own.per_epoch as f64,
            (None, None, growth) => {
                let planned = plan.map_or(steps, |plan| plan.steps);
                let batches = growth.map_or(steps, |own| own.in_first_batches(planned, steps));
                batches as f64 * self.batch as f64 / self.size as f64
            }
        }
    }

    /// How batches grow; none where all have one expected size.
    pub(crate) fn growth(&self) -> Option<GrowthSummary> {
        let plan = self.plan()?.settings();
        Some(growth::summary(plan.growth?, self.batch, plan.steps))
    }

    /// ε of the steps with what was spent before them. Where a count or a learnt schema decided the steps, what some of
    /// them cost is not known for every answer: their share stands for any number of them.
    pub(crate) fn spent(&self, own: Epsilon) -> Result<f64, Refusal> {
        let mut spent = Guarantee::pure(self.share.map_or(own, |share| share.epsilon));
        for before in
            [self.bill.guarantee, self.schema.as_ref().map(|cost| cost.guarantee)].into_iter().flatten()
        {
            spent = before.then(spent)?;
        }
        Ok(spent.epsilon.get())
    }

    /// The trainer's certificate with what was spent before its first step.
    pub(crate) fn certificate(&self, own: Certificate, reader: &Reader) -> Result<Certificate, Refusal> {
        let mut whole = match self.share.filter(|_| !own.events.is_empty()) {
            Some(share) => own.after(&self.bill.events, self.bill.cost()?, share)?,
            None => own.following(&self.bill.events, self.bill.cost()?)?,
        };
        if self.counted {
            whole = whole.counted();
        }
        if let Some(test) = &self.test {
            whole = whole
                .beside(test.event.clone(), test.guarantee, "tested on held-out units")?
                .taking(test.fact());
        }
        if let Some(spent) = &self.schema {
            whole = whole.with_schema(&spent.events, spent.guarantee)?;
        }
        whole = whole.taking(match (&reader.schema, &self.schema) {
            (Some(schema), _) if schema.is_draft() => Fact::DraftSchema,
            (Some(_), Some(_)) => Fact::LearntSchema,
            (Some(_), None) => Fact::Schema,
            (None, _) => Fact::Images,
        });
        if reader.observed_labels {
            whole = whole.taking(Fact::ObservedLabels);
        }
        if reader.vocabulary.is_some() {
            whole = whole.taking(Fact::Vocabulary);
        }
        for fact in &self.facts {
            whole = whole.taking(fact.clone());
        }
        if self.is_federated {
            whole = whole.taking(Fact::TrustedServer);
        }
        Ok(if self.share.is_some() { whole.by_shares() } else { whole })
    }
}
