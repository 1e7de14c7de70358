//! A stored linear model as the target of an audit.

use super::repeats::Repeats;
use crate::Request;
use crate::audit::case::{Case, Chosen, RecordChoice};
use crate::fit::{FitPlan, Stored, Task, encode, read as read_table, read_request, reference_terms};
use crate::folder::{Content, Divided, Fingerprint};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::stored::read_certificate;
use crate::table::tables;
use crate::watch::Watch;
use reticent_attack::{LinearLearner, LinearSettings, Population};
use reticent_audit::{Draw, Features};
use reticent_core::{Certificate, Code};
use reticent_data::encode::Feature;
use reticent_data::schema::PrivacyUnit;
use reticent_data::{FeatureMatrix, Table};
use reticent_erm::{AnyModel, FitMethod, Linear};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stored linear model, the request that made it, and where other rows are.
pub(in crate::audit) struct LinearTarget {
    folder: PathBuf,
    stored: Stored,
    plan: FitPlan,
    others: Option<Others>,
    certificate: Option<Certificate>,
}

/// A linear model with the rows that it was fitted to, and others.
pub(in crate::audit) struct FittedRows {
    pub(in crate::audit) rows: FeatureMatrix,
    pub(in crate::audit) others: Option<FeatureMatrix>,
    pub(in crate::audit) model: AnyModel,
    /// What every number of a row says.
    pub(in crate::audit) features: Vec<Feature>,
    pub(in crate::audit) classes: u32,
    pub(in crate::audit) certificate: Option<Certificate>,
}

/// Rows that a model was not trained on.
enum Others {
    /// Those that were held out.
    HeldOut,
    /// Those of another table.
    Table(Arc<dyn Table>),
}

impl LinearTarget {
    /// Reads the folder of a model and opens the tables that its request names.
    pub(super) fn open(folder: &Path, others: Option<&Path>) -> Result<Self, Refusal> {
        let target = Self::alone(folder, others)?;
        match target.others {
            Some(_) => Ok(target),
            None => Err(Refusal::missing(
                "non_members",
                "nothing was held out: give a table of the same kind that the model was not trained on",
            )),
        }
    }

    /// The same where rows that the model was not trained on are not needed.
    pub(super) fn alone(folder: &Path, others: Option<&Path>) -> Result<Self, Refusal> {
        let stored = Stored::read(folder)?;
        let refuse = |why: String| Refusal::new(Code::Premise, format!("{}: {why}", folder.display()));
        if let Task::Number(_) = stored.task {
            return Err(refuse("the label is a number, and attacks here are on classifiers".to_owned()));
        }
        if let PrivacyUnit::Column(column) = stored.encoder.schema().unit() {
            return Err(refuse(format!(
                "the unit is all rows of one {column}, and references here leave out single rows: audit it from a score table \
                 with a column user (⟦scores⟧)"
            )));
        }
        let request = read_request(folder)?;
        let plan = request.check()?;
        let others = match (others, &plan.split, &plan.test) {
            (Some(data), _, _) => {
                let reading = request.reading.of_one_file();
                let (table, official, _) = tables(Some(data), request.data_dir.as_deref(), &reading)?;
                let table = official.unwrap_or(table);
                plan.encoder.check(&table).map_err(Refusal::data("non_members"))?;
                Some(Others::Table(table))
            }
            (None, Some(_), _) => Some(Others::HeldOut),
            (None, None, test) => test.clone().map(Others::Table),
        };
        let certificate = read_certificate(folder)?;
        Ok(Self { folder: folder.to_owned(), stored, plan, others, certificate })
    }

    /// Reads training rows and, where they are known, others.
    pub(super) fn fitted(self, watch: &dyn Watch) -> Result<FittedRows, Refusal> {
        let (rows, held_out) = self.rows(watch)?;
        let others = match &self.others {
            Some(Others::Table(table)) => Some(read_table(&self.plan, table, watch)?),
            Some(Others::HeldOut) => held_out,
            None => None,
        };
        let (features, classes) =
            (self.plan.encoder.features().to_vec(), self.plan.task.classes().len() as u32);
        Ok(FittedRows {
            rows,
            others,
            model: self.stored.model,
            features,
            classes,
            certificate: self.certificate,
        })
    }

    /// The training rows and those that were held out.
    fn rows(&self, watch: &dyn Watch) -> Result<(FeatureMatrix, Option<FeatureMatrix>), Refusal> {
        let (members, held_out) = encode(&self.plan, watch)?;
        Fingerprint::check(&self.folder, &self.plan.data, Divided::rows(&members, held_out.as_ref()))?;
        Ok((members, held_out))
    }

    /// Reads training rows and others, and chooses whom to audit.
    pub(super) fn case(self, choice: &RecordChoice, session: &mut Session) -> Result<Case, Refusal> {
        let watch = session.watch();
        let (members, held_out) = self.rows(watch)?;
        let (rest, name, known) = match (&self.others, held_out) {
            (Some(Others::HeldOut), Some(held_out)) => {
                // A keyed hash of its content, and of how many equal rows came before it, sent every row to one of the sides.
                let known = self.plan.split.as_ref().map(|split| Draw::Coins(1.0 - split.test_share()));
                (held_out, format!("rows of {} that were held out", self.plan.data), known)
            }
            (Some(Others::Table(table)), _) => {
                (read_table(&self.plan, table, watch)?, table.name().to_owned(), None)
            }
            (Some(Others::HeldOut) | None, _) => {
                return Err(Refusal::internal("a split without a held-out side"));
            }
        };
        // Of equal rows it is not known which is a member: none of them is audited.
        let repeats = Repeats::of(Content::Rows(&members), Content::Rows(&rest))?;
        // Rows that were held out were not trained on, whatever they hold.
        if repeats.holds_training_data && matches!(self.others, Some(Others::Table(_))) {
            return Err(super::same_data(&name));
        }
        let count = members.rows();
        let draw = choice.declared.or(known).unwrap_or(Draw::Undeclared);
        let (method, size, models) = parts(&self.stored.model);
        let terms = reference_terms(&self.plan, method, &members, size)?;
        let how = LinearSettings {
            classes: self.plan.task.classes().len() as u32,
            loss: self.plan.loss,
            method,
            budget: terms.budget,
            settings: terms.settings,
            l1_bound: Some(self.plan.encoder.l1_bound()),
        };
        let others = rest.rows();
        let all = members.followed_by(&rest)?;
        let may = |row: usize| !repeats.is_repeated[row];
        let chosen = Chosen::of((count, others), draw, choice.most, &choice.key, may)?;
        let audited = all.subset(&chosen.audited);
        let labels: Vec<u32> =
            audited.labels().iter().map(|label| self.plan.task.class_of(*label) as u32).collect();
        let names = self.plan.task.classes();
        let group = |label: &u32| names.get(*label as usize).cloned().unwrap_or_default();
        let population = Population {
            ids: chosen.ids(&choice.key),
            groups: vec![("class".to_owned(), labels.iter().map(group).collect())],
            labels,
            users: None,
            user_records: None,
            features: Some(dense(&audited)),
        };
        let asked = LinearLearner::new(audited, how.clone())?;
        let learner = Box::new(LinearLearner::new(all, how)?);
        let wanted = choice.wanted(&*learner)?;
        let mut target = asked.artifact(&models, &wanted)?;
        if wanted.gradients {
            let trained: Vec<usize> = (0..count).collect();
            let found =
                learner.influence(&models, regularization(&self.stored.model), &trained, &chosen.audited);
            target.signals = target.signals.and(super::informed(found)?);
        }
        Ok(Case {
            learner,
            chosen,
            population,
            target,
            wanted,
            certificate: self.certificate,
            draw,
            others: name,
            left_out: repeats.count(),
            references_are_central: false,
            authors: None,
        })
    }
}

/// How a model was fitted, on how many rows as far as is public, and its weights: one set for two classes, one a class for
/// several.
fn parts(model: &AnyModel) -> (FitMethod, u64, Vec<Linear>) {
    match model {
        AnyModel::Binary(fit) => {
            let weights = Linear { weights: fit.weights.clone(), intercept: fit.intercept };
            (fit.method, fit.report.size, vec![weights])
        }
        AnyModel::Multiclass(many) => (many.method, many.report.size, many.models.clone()),
    }
}

/// Λ of the fit.
fn regularization(model: &AnyModel) -> f64 {
    match model {
        AnyModel::Binary(fit) => fit.report.regularization,
        AnyModel::Multiclass(many) => many.report.regularization,
    }
}

/// Rows with their zeros.
fn dense(design: &FeatureMatrix) -> Features {
    let columns = design.dimension();
    let mut values = vec![0.0; columns * design.rows()];
    for row in 0..design.rows() {
        let (own, entries) = design.row(row);
        for (column, value) in own.iter().zip(entries) {
            values[row * columns + *column as usize] = *value as f32;
        }
    }
    Features { columns, values }
}
