//! What a training run prints.

use super::fit::Trained;
use super::held_out::{Score, Tested};
use super::plan::Plan;
use super::task::model_name;
use crate::Output;
use crate::cost::cost;
use crate::digits;
use crate::fail::Fail;
use crate::file::CERTIFICATE_FILE;
use crate::text::{aligned, json_line};
use reticent::core::{Certificate, Neighboring};
use reticent::data::schema::Unit;
use reticent::erm::Method;
use serde::Serialize;

#[derive(Serialize)]
struct Answer<'a> {
    accuracy: Option<f64>,
    /// What noise may have added to it or taken, about 95 % of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy_doubt: Option<f64>,
    /// By how much fresh rows may differ from the held-out ones because those are only so many, about 95 % of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy_sampling: Option<f64>,
    /// Share of the largest class.
    #[serde(skip_serializing_if = "Option::is_none")]
    majority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse_sampling: Option<[f64; 2]>,
    /// Whether the score was released with noise, is exact, or there is none.
    tested: &'static str,
    model: &'static str,
    method: Method,
    features: usize,
    regularization: f64,
    dataset_size: u64,
    certificate: Option<&'a Certificate>,
    out: Option<&'a std::path::Path>,
    warnings: &'a [String],
}

pub(super) fn trained(plan: &Plan, trained: &Trained) -> Result<Output, Fail> {
    let warnings = trained.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
    if plan.json {
        return Ok(Output { stdout: json(plan, trained)?, warnings, ..Output::default() });
    }
    let report = trained.report();
    let chosen = if plan.method.is_none() { ", chosen by its bound from public numbers" } else { "" };
    let mut lines = vec![
        ("model".to_owned(), format!("{} on {} features", model_name(plan.loss), report.dimension)),
        ("method".to_owned(), format!("{}{chosen}", words(trained.method))),
        ("trained on".to_owned(), trained_on(plan, report.size)),
    ];
    lines.extend(score(plan, trained));
    match &trained.certificate {
        Some(certificate) => {
            let file = plan.out.as_ref().map(|folder| folder.join(CERTIFICATE_FILE));
            lines.extend(cost(certificate, certificate.accountant.clone(), file.as_deref())?);
        }
        None => lines.push(("privacy".to_owned(), "none: this model may tell what it was trained on".into())),
    }
    match &plan.out {
        Some(folder) => lines.push(("saved to".to_owned(), folder.display().to_string())),
        None => lines.push(("saved to".to_owned(), "nowhere: give --out DIR to keep the model".to_owned())),
    }
    Ok(Output { stdout: aligned(&lines), warnings, ..Output::default() })
}

fn json(plan: &Plan, trained: &Trained) -> Result<String, Fail> {
    let (mut accuracy, mut accuracy_doubt, mut accuracy_sampling, mut majority) = (None, None, None, None);
    let (mut rmse, mut rmse_interval, mut rmse_sampling) = (None, None, None);
    match trained.tested.as_ref().map(Tested::score) {
        Some(Score::Classes { accuracy: share, noise, sampling, majority: largest }) => {
            (accuracy, majority) = (*share, largest.map(|(_, share)| share));
            accuracy_doubt = share.and(Some(*noise)).filter(|noise| *noise > 0.0);
            accuracy_sampling = share.and(Some(*sampling));
        }
        Some(Score::Number { rmse: found, interval, sampling }) => {
            (rmse, rmse_interval, rmse_sampling) = (Some(*found), Some(*interval), Some(*sampling));
        }
        None => {}
    }
    let report = trained.report();
    json_line(&Answer {
        accuracy,
        accuracy_doubt,
        accuracy_sampling,
        majority,
        rmse,
        rmse_interval,
        rmse_sampling,
        tested: match &trained.tested {
            Some(Tested::Released { .. }) => "held-out rows, with noise",
            Some(Tested::Exact(_)) => "exactly, not covered by any certificate",
            None => "not at all",
        },
        model: model_name(plan.loss),
        method: trained.method,
        features: report.dimension,
        regularization: report.regularization,
        certificate: trained.certificate.as_ref(),
        dataset_size: report.size,
        out: plan.out.as_deref(),
        warnings: &trained.warnings,
    })
}

fn trained_on(plan: &Plan, size: u64) -> String {
    let part = if plan.split.is_some() { ", without the held-out rows" } else { "" };
    let units = if *plan.encoder.schema().unit() == Unit::Row { "rows" } else { "users" };
    let rows = match (plan.settings.neighboring, plan.settings.size, plan.budget) {
        (_, _, None) | (Neighboring::ReplaceOne, ..) => format!("{size} {units}"),
        (_, Some(_), _) => format!("declared size {size}"),
        _ => format!("about {size} {units}, counted with noise"),
    };
    format!("{} ({rows}{part})", plan.data)
}

fn score(plan: &Plan, trained: &Trained) -> Option<(String, String)> {
    let tested = trained.tested.as_ref()?;
    let how = match tested {
        Tested::Released { .. } => "on held-out rows, noise included",
        Tested::Exact(_) => "exactly, for your eyes only",
    };
    let text = match tested.score() {
        Score::Number { rmse, interval, sampling } => {
            let ends =
                |[low, high]: &[f64; 2]| format!("{} to {}", digits::brief(*low), digits::brief(*high));
            let noise = match interval[0] < interval[1] {
                true => format!("; 95 %: {} (noise)", ends(interval)),
                false => "; 95 %".to_owned(),
            };
            let text =
                format!("{} ({how}{noise}, at most {} (sampling))", digits::brief(*rmse), ends(sampling));
            return Some(("rmse".to_owned(), text));
        }
        Score::Classes { accuracy: None, .. } => "cannot be told".to_owned(),
        Score::Classes { accuracy: Some(accuracy), noise, sampling, majority } => {
            let always = majority.map(|(class, share)| {
                let name = plan.task.classes().get(class).cloned().unwrap_or_default();
                format!("; always answering '{name}': {}", percent(share))
            });
            let sampling = format!("± {} (sampling)", rounded_up(*sampling));
            let doubt = match *noise > 0.0 {
                true => format!(" ± {} (noise), {sampling}", rounded_up(*noise)),
                false => format!(" {sampling}"),
            };
            format!("{}{doubt} ({how}{})", percent(*accuracy), always.unwrap_or_default())
        }
    };
    Some(("accuracy".to_owned(), text))
}

fn words(method: Method) -> &'static str {
    match method {
        Method::Exact => "exact minimum, not private",
        Method::Output => "output perturbation: noise on the best weights",
        Method::Objective => "objective perturbation: noise in what is minimised",
        Method::Chaudhuri => "objective perturbation as published by Chaudhuri et al. 2011",
        Method::Kifer => "objective perturbation as published by Kifer et al. 2012",
        Method::Iyengar => "approximate minima perturbation as published by Iyengar et al. 2019",
        Method::Descent => "gradient perturbation: noise on every step of a descent",
        Method::Sgd => "gradient perturbation on random samples of the rows",
    }
}

/// A share that an accuracy may be off by, in percent.
fn rounded_up(share: f64) -> String {
    format!("{} %", digits::significant(100.0 * share, 2, digits::Side::Up))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
