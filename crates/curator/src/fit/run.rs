//! A plan carried out: rows, their number, the model, its test, its folder.

use super::claim::{certificate, public_warnings};
use super::held_out::{Score, Tested, exactly, released};
use super::model::{Size, fit, pay, size};
use super::outcome::{Fitted, Test};
use super::plan::{FitPlan, same_data};
use super::rows::{encode, read};
use super::stored;
use super::task::model_of;
use crate::Planned;
use crate::bill::{Purchase, Sizing};
use crate::folder::{Content, Divided, ModelKind, Writer, store_fingerprint};
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::{Certificate, Code, Neighboring};
use reticent_data::FeatureMatrix;
use reticent_data::schema::PrivacyUnit;
use reticent_erm::{AnyModel, FitMethod, FitReport};
use reticent_noise::NoiseSession;

impl Planned for FitPlan {
    type Outcome = Fitted;

    fn run(self, session: &mut Session) -> Result<Fitted, Refusal> {
        if self.budget.is_none() {
            session.unprotected("a fit without privacy")?;
        }
        if self.encoder.schema().is_draft() {
            session.unprotected("a fit with a draft schema")?;
        }
        let is_open = session.is_open();
        // Before anything is read: a second process is refused, having drawn and written nothing.
        let out = self.request.out.as_deref();
        let mut writer = out.map(|out| Writer::of_new(out, ModelKind::Linear)).transpose()?;
        let Payment { payer, watch } = session.payment(&self.settings.unit, self.settings.neighboring)?;
        // The count, the fit and its test are on record as one plan before a row is read.
        let mut purchase = pay(&self, payer)?;
        let (train, held_out) = encode(&self, watch)?;
        let test = self.test.as_ref().map(|test| read(&self, test, watch)).transpose()?;
        if let (Some(design), Some(table)) = (&test, &self.test)
            && design.rows() == 0
        {
            return Err(Refusal::value("test", table.name(), "it has no rows").coded(Code::NoRows));
        }
        // Equality is an exact fact about the rows: where a ledger is kept, paths are all that is compared.
        if let (Some(design), Some(table), Some(_), true) = (&test, &self.test, self.budget, is_open)
            && Divided::rows(&train, held_out.as_ref()).has(Content::Rows(design))?
        {
            return Err(same_data(table));
        }
        let tables = Tables { train, held_out, test };
        if let Some(writer) = &mut writer {
            stored::begin(writer, self.encoder.schema(), &self.request)?;
            store_fingerprint(writer, Divided::rows(&tables.train, tables.held_out.as_ref()))?;
        }
        let sized = size(&self, &tables.train, purchase.as_mut(), payer)?;
        let trained = fit_and_test(&self, &tables, &sized, purchase, payer)?;
        if let Some(writer) = &mut writer {
            stored::finish(writer, &trained.model, trained.certificate.as_ref())?;
        }
        Ok(outcome(self, trained))
    }
}

/// Rows in memory.
struct Tables {
    train: FeatureMatrix,
    /// Rows of the same table that were set aside.
    held_out: Option<FeatureMatrix>,
    /// Rows of another table, which are not protected.
    test: Option<FeatureMatrix>,
}

/// A model with what was found and claimed about it.
struct Trained {
    model: AnyModel,
    method: FitMethod,
    tested: Option<Tested>,
    /// None without privacy.
    certificate: Option<Certificate>,
    warnings: Vec<String>,
}

/// Fits, and tests on rows that the fit has not seen: in parallel where they were held out of the same table.
fn fit_and_test(
    plan: &FitPlan,
    tables: &Tables,
    sized: &Size,
    mut purchase: Option<Purchase>,
    payer: &mut NoiseSession,
) -> Result<Trained, Refusal> {
    let (mut model, method) = fit(plan, &tables.train, sized, purchase.as_mut(), payer)?;
    let own = match &model {
        AnyModel::Binary(fit) => fit.certificate.clone(),
        AnyModel::Multiclass(many) => many.certificate.clone(),
    };
    let report = report(&model);
    let mut warnings = report.warnings.clone();
    let tested = match (&tables.held_out, &tables.test) {
        (Some(held_out), _) => Some(match plan.budget {
            Some(budget) => {
                let unpaid = || Refusal::internal("the test is not paid for");
                let source = &mut payer.with(purchase.as_mut().ok_or_else(unpaid)?.permit());
                released(plan, &model, held_out, report.size, budget.epsilon, source)?
            }
            None => exactly(plan, &model, held_out)?,
        }),
        (None, Some(test)) => {
            if plan.budget.is_some() {
                warnings.push(
                    "the score on the test table is exact: the certificate does not cover its rows"
                        .to_owned(),
                );
            }
            Some(exactly(plan, &model, test)?)
        }
        (None, None) => None,
    };
    warnings.extend(public_warnings(plan.budget, plan.encoder.schema().is_draft(), report.size));
    warnings.extend(tested.iter().flat_map(|tested| tested.warnings(&plan.task.classes())));
    let certificate = match own {
        Some(own) => Some(certificate(plan, own, &sized.bill, sized.share, tested.as_ref())?),
        None => None,
    };
    if let (Some(certificate), Some(budget)) = (&certificate, plan.budget)
        && certificate.guarantee.delta.get() == 0.0
        && budget.delta.get() > 0.0
    {
        warnings.push(format!(
            "⟦delta⟧ {:e} is not used: this fit has a pure guarantee, with delta 0",
            budget.delta.get()
        ));
    }
    // One claim for the model, wherever it is looked up.
    let (kept, events) = match &mut model {
        AnyModel::Binary(fit) => (&mut fit.certificate, &mut fit.events),
        AnyModel::Multiclass(many) => (&mut many.certificate, &mut many.events),
    };
    *kept = certificate.clone();
    *events = certificate.as_ref().map_or_else(Vec::new, |certificate| certificate.events.clone());
    Ok(Trained { model, method, tested, certificate, warnings })
}

fn report(model: &AnyModel) -> &FitReport {
    match model {
        AnyModel::Binary(fit) => &fit.report,
        AnyModel::Multiclass(many) => &many.report,
    }
}

fn outcome(plan: FitPlan, trained: Trained) -> Fitted {
    let Trained { model, method, tested, certificate, warnings } = trained;
    let (mut accuracy, mut accuracy_doubt, mut accuracy_sampling, mut majority) = (None, None, None, None);
    let (mut rmse, mut rmse_interval, mut rmse_sampling) = (None, None, None);
    let mut majority_class = None;
    match tested.as_ref().map(Tested::score) {
        Some(Score::Classes { accuracy: share, noise, sampling, majority: largest }) => {
            (accuracy, majority) = (*share, largest.map(|(_, share)| share));
            accuracy_doubt = share.and(Some(*noise)).filter(|noise| *noise > 0.0);
            accuracy_sampling = share.and(Some(*sampling));
            majority_class =
                largest.map(|(class, _)| plan.task.classes().get(class).cloned().unwrap_or_default());
        }
        Some(Score::Number { rmse: found, interval, sampling }) => {
            (rmse, rmse_interval, rmse_sampling) = (Some(*found), Some(*interval), Some(*sampling));
        }
        None => {}
    }
    let (features, regularization, dataset_size) = {
        let report = report(&model);
        (report.dimension, report.regularization, report.size)
    };
    Fitted {
        accuracy,
        accuracy_doubt,
        accuracy_sampling,
        majority,
        rmse,
        rmse_interval,
        rmse_sampling,
        tested: match &tested {
            Some(Tested::Released { .. }) => Test::Released,
            Some(Tested::Exact(_)) => Test::Exact,
            None => Test::None,
        },
        model: model_of(plan.loss),
        method,
        features,
        regularization,
        dataset_size,
        certificate,
        out: plan.request.out,
        warnings,
        majority_class,
        is_method_chosen: plan.method.is_none(),
        data: plan.data,
        is_split: plan.split.is_some(),
        is_by_user: *plan.encoder.schema().unit() != PrivacyUnit::Row,
        sizing: match (plan.settings.neighboring, plan.settings.size, plan.budget) {
            (_, _, None) | (Neighboring::ReplaceOne, ..) => Sizing::Known,
            (_, Some(_), _) => Sizing::Declared,
            _ => Sizing::Counted,
        },
        weights: model,
    }
}
