//! Whole training records of a model of ours, from its weights and from gradients at them.

use super::disclosed::Disclosed;
use super::folder::{self, Subject};
use super::statement::{share, whole};
use super::target::{FittedRows, Opened, TrainedExamples, WithRecords};
use crate::watch::{Watch, Work};
use crate::{Planned, Refusal, Request, Session};
use reticent_attack::AttackError;
use reticent_attack::reconstruction::{
    GradientRelease, GradientSettings, InformedSettings, InversionSettings, LinearTarget, Reconstructed,
    Reconstruction, ShadowSettings, from_gradients, informed, informed_by_shadows, typical_records,
};
use reticent_audit::disclosure::DisclosureBound;
use reticent_core::{Certificate, Delta, Epsilon};
use reticent_erm::{AnyModel, FitMethod, FitReport, Linear, MarginLoss};
use reticent_report::{Gallery, Picture, PictureStrip};
use reticent_train::TrainingTerms;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// How many records a batch may have.
pub const BATCH: RangeInclusive<u64> = 1..=1024;
/// How many batches of every size, and how many records of a linear model, may be attacked.
pub const ATTACKED: RangeInclusive<u64> = 1..=100_000;
/// How many steps an inversion may take.
pub const STEPS: RangeInclusive<u64> = 1..=1_000_000;
/// How many models a reconstruction network may learn from.
pub const SHADOWS: RangeInclusive<u64> = 0..=1_000_000;
/// The clipping norm where the model has none of its own.
const NORM: f64 = 1.0;
/// A reconstruction network is judged by one model for so many that it learned from.
const JUDGED: u64 = 8;

/// An attack on whole training records of a model of ours.
///
/// Of a network, records are recovered from gradients of batches at its weights; with `shadows` also from the weights of models of its
/// recipe. Of a linear model, every record is recovered by somebody who knows all the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Reconstruct {
    /// The folder of the model.
    pub model: PathBuf,
    /// Sizes of batches whose exact gradient is seen.
    pub batches: Vec<u64>,
    /// Batches of every size, or records of a linear model, that are attacked; by default 12 and 200.
    pub attacked: Option<u64>,
    /// Each an ε of one private step on a batch of one record, whose noisy gradient is seen.
    pub epsilons: Vec<f64>,
    /// The δ of these steps.
    pub delta: f64,
    /// Steps of the optimizer of an inversion.
    pub steps: u64,
    /// Models of the same recipe that a reconstruction network learns from; 0 for none.
    pub shadows: u64,
    /// The probability of success against a model without the record, for which the certificate's bound is stated.
    pub prior: f64,
    /// Confidence of intervals.
    pub confidence: f64,
    /// The key of the choice of records; the same key gives the same records.
    pub key: String,
    /// The folder of the audit; by default a folder beside the model's, of its name and `-audit`.
    pub out: Option<PathBuf>,
}

impl Default for Reconstruct {
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            batches: vec![1, 4, 16],
            attacked: None,
            epsilons: vec![1.0, 8.0],
            delta: 1e-5,
            steps: 600,
            shadows: 0,
            prior: 0.01,
            confidence: 0.95,
            key: super::KEY.to_owned(),
            out: None,
        }
    }
}

/// A checked attack on records.
pub struct ReconstructPlan {
    request: Reconstruct,
    batches: Vec<usize>,
    steps: usize,
    subject: Subject,
    target: Opened,
    out: PathBuf,
}

impl Request for Reconstruct {
    type Planned = ReconstructPlan;

    fn check(&self) -> Result<ReconstructPlan, Refusal> {
        let batches: Vec<usize> =
            self.batches.iter().map(|size| whole("batches", *size, &BATCH)).collect::<Result<_, _>>()?;
        if batches.is_empty() {
            return Err(Refusal::missing("batches", "give at least one size of a batch"));
        }
        self.attacked.iter().try_for_each(|count| whole("attacked", *count, &ATTACKED).map(drop))?;
        whole("shadows", self.shadows, &SHADOWS)?;
        share("confidence", self.confidence)?;
        share("prior", self.prior)?;
        for epsilon in &self.epsilons {
            if *epsilon <= 0.0 || Epsilon::new(*epsilon).is_err() {
                return Err(Refusal::value("epsilons", epsilon, "give positive numbers, such as 1,8"));
            }
        }
        if self.delta <= 0.0 || Delta::new(self.delta).is_err() {
            return Err(Refusal::value("delta", self.delta, "give a number between 0 and 1, such as 1e-5"));
        }
        let steps = whole("steps", self.steps, &STEPS)?;
        let out = folder::place(&self.model, self.out.as_deref())?;
        Ok(ReconstructPlan {
            batches,
            steps,
            subject: Subject::of_model(&self.model)?,
            target: Opened::open(&self.model, None)?,
            out,
            request: self.clone(),
        })
    }
}

impl Planned for ReconstructPlan {
    type Outcome = Disclosed;

    /// Reads the records and attacks. What comes out is for the auditor's eyes: no guarantee covers it, and nothing is charged for it.
    fn run(self, session: &mut Session) -> Result<Disclosed, Refusal> {
        session.unprotected("a reconstruction, which reads the records themselves,")?;
        let Self { request, batches, steps, subject, target, out } = self;
        let watch = session.watch();
        let (found, certificate) = match target.with_records(watch)? {
            WithRecords::Linear(fitted) => of_linear(*fitted, &request)?,
            WithRecords::Network(trained) => of_network(*trained, &request, batches, steps, watch)?,
        };
        let galleries = found.iter().flat_map(galleries).collect();
        let disclosures = found.into_iter().map(|own| own.disclosure).collect();
        Disclosed::written(disclosures, galleries, certificate, &subject, out)
    }
}

type Found = (Vec<Reconstruction>, Option<Certificate>);

/// What is known of a linear model besides its weights.
pub(super) struct LinearFacts {
    loss: MarginLoss,
    method: FitMethod,
    regularization: f64,
    size: u64,
    intercept: f64,
}

impl LinearFacts {
    /// With its weights.
    pub(super) fn of<'a>(&self, models: &'a [Linear]) -> LinearTarget<'a> {
        let Self { loss, method, regularization, size, intercept } = *self;
        LinearTarget { models, loss, method, regularization, size, intercept }
    }

    /// Whether it was fitted by descent, which ends at no minimum.
    pub(super) fn is_descent(&self) -> bool {
        matches!(self.method, FitMethod::Descent | FitMethod::Sgd)
    }
}

/// The weights of a linear model, one set for two classes and one a class for several, and what else is known of it.
pub(super) fn linear_model(model: &AnyModel) -> (Vec<Linear>, LinearFacts) {
    let (models, loss, method, report) = match model {
        AnyModel::Binary(fit) => {
            let weights = Linear { weights: fit.weights.clone(), intercept: fit.intercept };
            (vec![weights], fit.loss, fit.method, &fit.report)
        }
        AnyModel::Multiclass(many) => (many.models.clone(), many.loss, many.method, &many.report),
    };
    let FitReport { regularization, size, intercept_feature: intercept, .. } = *report;
    (models, LinearFacts { loss, method, regularization, size, intercept })
}

/// A linear model against somebody who knows all records but one.
fn of_linear(fitted: FittedRows, request: &Reconstruct) -> Result<Found, Refusal> {
    let FittedRows { rows, model, certificate, .. } = fitted;
    let (models, facts) = linear_model(&model);
    let target = facts.of(&models);
    let settings = InformedSettings {
        records: request.attacked.unwrap_or(200) as usize,
        confidence: request.confidence,
        key: request.key.clone(),
    };
    let found = bounded(informed(&rows, &target, &settings)?, certificate.as_ref(), request.prior);
    Ok((vec![found], certificate))
}

/// With what the certificate allows an attack on one record that the model was trained on. Exact gradients are not covered by it.
fn bounded(mut found: Reconstruction, certificate: Option<&Certificate>, prior: f64) -> Reconstruction {
    found.disclosure.bound = certificate.map(|certificate| DisclosureBound::of(certificate, prior));
    found
}

/// A network against somebody who sees gradients, and with shadow models against somebody who knows all records but one.
fn of_network(
    trained: TrainedExamples,
    request: &Reconstruct,
    batches: Vec<usize>,
    steps: usize,
    watch: &dyn Watch,
) -> Result<Found, Refusal> {
    let TrainedExamples { examples, training, weights, certificate, .. } = trained;
    if examples.are_derived() {
        let text = "the network reads fixed features of its images ([features] in model.toml), and this attack recovers what the first \
                    layer reads, not images: use 'reticent audit', or train without features";
        return Err(Refusal::new(reticent_core::Code::Premise, text));
    }
    let norm = match &training.terms {
        TrainingTerms::Private(plan) => plan.settings().clipping.norm(),
        TrainingTerms::NonPrivate(_) => NORM,
    };
    let release = |epsilon: &f64| GradientRelease::Private { epsilon: *epsilon, delta: request.delta, norm };
    let settings = GradientSettings {
        batches,
        releases: request.epsilons.iter().map(release).collect(),
        repeats: request.attacked.unwrap_or(12) as usize,
        inversion: InversionSettings { steps, key: request.key.clone(), ..InversionSettings::default() },
        confidence: request.confidence,
        key: request.key.clone(),
    };
    let shadowing = (request.shadows > 0).then(|| ShadowSettings {
        shadows: request.shadows as usize,
        targets: request.shadows.div_ceil(JUDGED) as usize,
        confidence: request.confidence,
        key: request.key.clone(),
    });
    let is_adversarial =
        matches!(training.terms, TrainingTerms::NonPrivate(baseline) if baseline.adversarial.is_some());
    if shadowing.is_some() && is_adversarial {
        let remedy = "shadow models are not trained for a run with ⟦adversarial⟧: leave it out";
        return Err(Refusal::conflict("shadows", request.shadows, remedy));
    }
    if let Some(shadowing) = &shadowing {
        shadowing.check(examples.len(), weights.len())?;
    }
    let stage = watch.begin(Work::Thinking);
    watch.listen();
    let halt = watch.halt();
    let is_halted = || halt.load(Ordering::SeqCst);
    stage.say("recovering records from gradients");
    let stopped = |error: AttackError| match error {
        AttackError::Interrupted => {
            Refusal::new(reticent_core::Code::References, "interrupted: nothing was written")
        }
        error => error.into(),
    };
    let mut found =
        from_gradients(&training.description, &weights, &examples, &settings, &is_halted).map_err(stopped)?;
    let inverted = typical_records(
        &training.description,
        &weights,
        &examples,
        &settings.inversion,
        request.confidence,
        &is_halted,
    );
    found.push(inverted.map_err(stopped)?);
    if let Some(shadowing) = shadowing {
        stage.say("training models with unknown records");
        let shadowed = informed_by_shadows(&examples, &training, &shadowing, &is_halted).map_err(stopped)?;
        found.push(bounded(shadowed, certificate.as_ref(), request.prior));
    }
    Ok((found, certificate))
}

/// Records that are images beside what was recovered of them.
fn galleries(found: &Reconstruction) -> Vec<Gallery> {
    let name = &found.disclosure.name;
    let gallery = |shown: &Reconstructed| {
        let strip = |label: &str, values: &[f32]| {
            let pictures = values.chunks_exact(shown.guess.len()).map(|one| picture(&shown.shape, one));
            Some(PictureStrip { label: label.to_owned(), pictures: pictures.collect::<Option<_>>()? })
        };
        let strips = vec![
            strip("training records", &shown.records)?,
            strip("recovered", &shown.recovered)?,
            strip("guessed without the model", &shown.guess)?,
        ];
        Some(Gallery { disclosure: name.clone(), condition: shown.condition.clone(), strips })
    };
    found.shown.iter().filter_map(gallery).collect()
}

/// Numbers from 0 to 1, channel by channel, as pixels; none for what is not an image.
fn picture(shape: &[usize], values: &[f32]) -> Option<Picture> {
    let [channels @ (1 | 3), height, width] = *shape else { return None };
    let byte = |value: f32| (255.0 * value).round().clamp(0.0, 255.0) as u8;
    let plane = height * width;
    let pixels =
        (0..plane).flat_map(|pixel| (0..channels).map(move |channel| byte(values[channel * plane + pixel])));
    Picture::new(width, height, pixels.collect())
}
