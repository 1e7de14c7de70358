use super::{Artifact, ArtifactPart, Halt, Learner, Wanted};
use crate::AttackError;
use reticent_audit::{Outputs, OutputsKind, Signals};
use reticent_core::{Epsilon, Guarantee};
use reticent_data::FeatureMatrix;
use reticent_erm::{Classes, FitMethod, Linear, MarginLoss, Settings, SparseRows, fit, fit_multiclass};
use reticent_noise::NoiseSession;
use reticent_train::digest::{checksum, digest};
use serde::{Deserialize, Serialize};

/// A linear model and how it is fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearSettings {
    /// How many classes there are, at least 2.
    pub classes: u32,
    /// The loss, one of classification.
    pub loss: MarginLoss,
    /// How the model is made private, if it is.
    pub method: FitMethod,
    /// What a private method may spend; none for [`FitMethod::Exact`].
    pub budget: Option<Guarantee>,
    /// The public side of a fit.
    pub settings: Settings,
    /// A public bound on the ℓ1 norm of a row; none for √dimension.
    pub l1_bound: Option<f64>,
}

/// Linear classifiers by the methods of `reticent-erm`.
///
/// For two classes the logits are 0 and the margin; for several they are the classes' margins, each told from the rest
/// unless the method is a descent with the logistic loss, which fits the softmax. [`FitMethod::Exact`] is a function of its
/// records alone; every other method draws fresh noise and cannot be repeated.
#[derive(Debug, Clone)]
pub struct LinearLearner {
    design: FeatureMatrix,
    labels: Vec<u32>,
    how: LinearSettings,
    identity: String,
}

/// Rows in memory of their own.
struct Gathered {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// 1 and -1 for two classes, 0 for several.
    labels: Vec<f64>,
    classes: Vec<u32>,
}

impl LinearLearner {
    /// Checks rows and settings. Labels are 1 and -1 for two classes, the class from 0 for several.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for fewer than 2 classes, a loss that is not of classification, labels that are no
    /// classes, or a private method without a budget.
    pub fn new(design: FeatureMatrix, how: LinearSettings) -> Result<Self, AttackError> {
        if how.classes < 2 {
            return Err(AttackError::premise("classes", how.classes, "give at least 2"));
        }
        if !how.loss.is_classification() {
            let remedy = "give a loss of classification: attacks here are on classifiers";
            return Err(AttackError::premise("loss", format!("{:?}", how.loss), remedy));
        }
        if how.method != FitMethod::Exact && how.budget.is_none() {
            let remedy = format!("give one for the method `{}`, or use `exact`", how.method);
            return Err(AttackError::premise("budget", "none", remedy));
        }
        if design.labels().len() != design.rows() {
            let remedy = format!("give one for each of the {} rows", design.rows());
            return Err(AttackError::premise("label", design.labels().len(), remedy));
        }
        let class = |label: &f64| match how.classes {
            2 if label.abs() == 1.0 => Ok(u32::from(*label > 0.0)),
            2 => Err(AttackError::premise("label", label, "give 1 or -1 for two classes")),
            several if *label >= 0.0 && label.fract() == 0.0 && *label < f64::from(several) => {
                Ok(*label as u32)
            }
            several => {
                Err(AttackError::premise("label", label, format!("give a class from 0 to {}", several - 1)))
            }
        };
        let labels = design.labels().iter().map(class).collect::<Result<Vec<_>, _>>()?;
        let identity = digest(&("linear", &how, digest_of(&design)));
        Ok(Self { design, labels, how, identity })
    }

    /// The class of every record.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// How models are fitted.
    pub fn settings(&self) -> &LinearSettings {
        &self.how
    }

    /// The rows.
    pub(super) fn design(&self) -> &FeatureMatrix {
        &self.design
    }

    fn gather(&self, which: impl Iterator<Item = usize>) -> Gathered {
        let mut rows = Gathered {
            offsets: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            classes: Vec::new(),
        };
        for row in which {
            let (columns, values) = self.design.row(row);
            rows.columns.extend_from_slice(columns);
            rows.values.extend_from_slice(values);
            rows.offsets.push(rows.values.len());
            rows.labels.push(if self.how.classes == 2 { self.design.labels()[row] } else { 0.0 });
            rows.classes.push(self.labels[row]);
        }
        rows
    }

    fn rows<'a>(&self, own: &'a Gathered) -> Result<SparseRows<'a>, AttackError> {
        let rows =
            SparseRows::new(self.design.dimension(), &own.offsets, &own.columns, &own.values, &own.labels)?;
        Ok(match self.how.l1_bound {
            Some(bound) => rows.with_l1_bound(bound)?,
            None => rows,
        })
    }

    /// The margins of all records, model by model.
    pub(super) fn margins(&self, models: &[Linear]) -> Result<Vec<Vec<f64>>, AttackError> {
        let everything = self.gather(0..self.design.rows());
        let rows = self.rows(&everything)?;
        Ok(models.iter().map(|model| model.margins(&rows)).collect::<Result<_, _>>()?)
    }

    /// What linear models say about all records: one model for two classes, one a class for several.
    ///
    /// # Errors
    /// [`AttackError::Erm`] when a model has another number of features; [`AttackError::Audit`] when an output is not finite
    /// or the models are not one a class.
    pub fn outputs(&self, models: &[Linear]) -> Result<Outputs, AttackError> {
        let margins = self.margins(models)?;
        let mut values = Vec::with_capacity(self.design.rows() * self.how.classes as usize);
        for row in 0..self.design.rows() {
            if self.how.classes == 2 {
                values.push(0.0);
            }
            values.extend(margins.iter().map(|margins| margins[row] as f32));
        }
        Ok(Outputs::new(OutputsKind::Logits, self.how.classes as usize, values)?)
    }

    /// What linear models that were fitted elsewhere give, such as a stored target.
    ///
    /// # Errors
    /// [`AttackError::NotOffered`] for a part that these models cannot give; otherwise as [`outputs`](Self::outputs).
    pub fn artifact(&self, models: &[Linear], wanted: &Wanted) -> Result<Artifact, AttackError> {
        wanted.check(self)?;
        let weights = wanted.weights.then(|| {
            let of_class = |model: &Linear| [&model.weights[..], &[model.intercept]].concat();
            models.iter().flat_map(of_class).map(|weight| weight as f32).collect()
        });
        let signals = if wanted.gradients { self.gradient_signals(models)? } else { Signals::none() };
        Ok(Artifact { weights, signals, ..self.outputs(models)?.into() })
    }

    /// One model for two classes, one a class for several.
    fn models(&self, own: &Gathered) -> Result<Vec<Linear>, AttackError> {
        let LinearSettings { classes, loss, method, budget, settings, .. } = &self.how;
        // An exact fit does not look at the budget.
        let budget = budget.map_or_else(|| Epsilon::new(1.0).map(Guarantee::pure), Ok)?;
        let rows = self.rows(own)?;
        // Models that an attack fits are for the owner of the data alone.
        let mut session = NoiseSession::without_limit(&settings.unit, settings.neighboring)?;
        if *classes == 2 {
            let fit = fit(&rows, *loss, *method, budget, settings, &mut session)?;
            return Ok(vec![Linear { weights: fit.weights, intercept: fit.intercept }]);
        }
        let classes = Classes { of: &own.classes, count: *classes };
        Ok(fit_multiclass(&rows, classes, *loss, *method, budget, settings, &mut session)?.models)
    }
}

fn digest_of(design: &FeatureMatrix) -> String {
    let numbers = |values: &[f64]| checksum(&values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
    let offsets: Vec<u8> = design.offsets().iter().flat_map(|v| (*v as u64).to_le_bytes()).collect();
    let columns: Vec<u8> = design.columns().iter().flat_map(|v| v.to_le_bytes()).collect();
    let entries = (checksum(&offsets), checksum(&columns), numbers(design.values()));
    digest(&(design.dimension(), entries, numbers(design.labels())))
}

impl Learner for LinearLearner {
    fn records(&self) -> usize {
        self.design.rows()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn is_repeatable(&self) -> bool {
        self.how.method == FitMethod::Exact
    }

    fn kind(&self) -> &'static str {
        "linear models"
    }

    fn offers(&self, part: ArtifactPart) -> bool {
        matches!(part, ArtifactPart::Weights | ArtifactPart::Gradients)
    }

    fn fit(
        &self,
        inside: &[usize],
        _key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        wanted.check(self)?;
        if halt() {
            return Err(AttackError::Interrupted);
        }
        self.artifact(&self.models(&self.gather(inside.iter().copied()))?, wanted)
    }

    fn fit_about(
        &self,
        inside: &[usize],
        asked: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        if !wanted.gradients {
            return Ok(self.fit(inside, key, wanted, halt)?.some(asked));
        }
        wanted.check(self)?;
        if halt() {
            return Err(AttackError::Interrupted);
        }
        // Means over records are those of the records that are asked about.
        let models = self.models(&self.gather(inside.iter().copied()))?;
        Self::new(self.design.subset(asked), self.how.clone())?.artifact(&models, wanted)
    }
}
