//! Text and JSON of a trained linear model.

use super::warned;
use crate::Output;
use crate::budget;
use crate::cost::{Whole, cost};
use crate::digits;
use crate::fail::{Fail, words};
use crate::screen::present;
use crate::text::aligned;
use reticent::curator::budget::BudgetStanding;
use reticent::curator::fit::{Fitted, Sizing, Test};
use reticent::curator::folder::CERTIFICATE_FILE;
use reticent::curator::train::HeldOutScore;

pub(super) fn fitted(
    mut fitted: Fitted,
    json: bool,
    standing: Option<&BudgetStanding>,
) -> Result<Output, Fail> {
    let warnings = warned(&fitted.warnings);
    if json {
        fitted.warnings.iter_mut().for_each(|warning| *warning = words(warning));
        return Ok(Output { stdout: budget::json(&fitted, standing)?, warnings, ..Output::default() });
    }
    let chosen =
        if fitted.is_method_chosen { ", chosen by its error bound for the public numbers" } else { "" };
    let mut lines = vec![
        ("model".to_owned(), format!("{} on {} features", fitted.model.name(), fitted.features)),
        ("method".to_owned(), format!("{}{chosen}", method_words(fitted.method.name()))),
        ("trained on".to_owned(), trained_on(&fitted)),
    ];
    lines.extend(score(&fitted));
    match &fitted.certificate {
        Some(certificate) => {
            let file = fitted.out.as_ref().map(|folder| folder.join(CERTIFICATE_FILE));
            let whole = file.as_deref().map_or(Whole::Flag("--out DIR"), Whole::File);
            lines.extend(cost(certificate, certificate.accountant.clone(), whole));
        }
        None => lines.push(("privacy".to_owned(), "none: this model may leak its training data".into())),
    }
    lines.extend(budget::lines(standing));
    match &fitted.out {
        Some(folder) => lines.push(("saved to".to_owned(), folder.display().to_string())),
        None => lines.push(("saved to".to_owned(), "not saved: give --out DIR to keep the model".to_owned())),
    }
    Ok(Output { stdout: present(&aligned(&lines)), warnings, ..Output::default() })
}

fn trained_on(fitted: &Fitted) -> String {
    let part = if fitted.is_split { ", without the held-out rows" } else { "" };
    let (size, units) = (fitted.dataset_size, if fitted.is_by_user { "users" } else { "rows" });
    let rows = match fitted.sizing {
        Sizing::Known => format!("{size} {units}"),
        Sizing::Declared => format!("declared size {size}"),
        Sizing::Counted => format!("about {size} {units}, counted with noise"),
    };
    format!("{} ({rows}{part})", fitted.data)
}

fn score(fitted: &Fitted) -> Option<(String, String)> {
    let how = match fitted.tested {
        Test::Released => "on held-out rows",
        Test::Exact => "exact, not protected",
        Test::None => return None,
    };
    let score = Scored {
        accuracy: fitted.accuracy.zip(fitted.accuracy_sampling),
        doubt: fitted.accuracy_doubt,
        always: fitted.majority_class.as_deref().zip(fitted.majority),
        rmse: fitted.rmse,
        intervals: fitted.rmse_interval.zip(fitted.rmse_sampling),
    };
    Some(scored(&score, how))
}

/// A score with its intervals.
pub(crate) struct Scored<'a> {
    /// The accuracy, and its margin for sampling.
    accuracy: Option<(f64, f64)>,
    /// The margin of the accuracy for the noise.
    doubt: Option<f64>,
    /// The largest class and its share.
    always: Option<(&'a str, f64)>,
    rmse: Option<f64>,
    /// The intervals of the rmse for noise and sampling.
    intervals: Option<([f64; 2], [f64; 2])>,
}

impl<'a> From<&'a HeldOutScore> for Scored<'a> {
    fn from(score: &'a HeldOutScore) -> Self {
        Self {
            accuracy: score.accuracy.zip(score.accuracy_sampling),
            doubt: score.accuracy_doubt,
            always: score.majority_class.as_deref().zip(score.majority),
            rmse: score.rmse,
            intervals: score.rmse_interval.zip(score.rmse_sampling),
        }
    }
}

/// The line of a score.
pub(crate) fn scored(score: &Scored<'_>, how: &str) -> (String, String) {
    if let (Some(rmse), Some((interval, sampling))) = (score.rmse, &score.intervals) {
        let ends = |[low, high]: &[f64; 2]| format!("{} to {}", digits::brief(*low), digits::brief(*high));
        let noise = match interval[0] < interval[1] {
            true => format!("; 95 %: {} (noise)", ends(interval)),
            false => "; 95 %".to_owned(),
        };
        let text = format!("{} ({how}{noise}, at most {} (sampling))", digits::brief(rmse), ends(sampling));
        return ("rmse".to_owned(), text);
    }
    let text = match score.accuracy {
        Some((accuracy, sampling)) => {
            let always =
                score.always.map(|(name, share)| format!("; always predicting '{name}': {}", percent(share)));
            let sampling = format!("± {} (sampling)", rounded_up(sampling));
            let doubt = match score.doubt {
                Some(noise) => format!(" ± {} (noise), {sampling}", rounded_up(noise)),
                None => format!(" {sampling}"),
            };
            format!("{}{doubt} ({how}{})", percent(accuracy), always.unwrap_or_default())
        }
        None => "too noisy to state".to_owned(),
    };
    ("accuracy".to_owned(), text)
}

fn method_words(name: &str) -> &str {
    match name {
        "exact" => "exact minimum of the objective, not private",
        "output" => "output perturbation: noise on the optimal weights",
        "objective" => "objective perturbation: noise in the objective function",
        "chaudhuri-2011" => "objective perturbation as published by Chaudhuri et al. 2011",
        "kifer-2012" => "objective perturbation as published by Kifer et al. 2012",
        "iyengar-2019" => "approximate minima perturbation as published by Iyengar et al. 2019",
        "descent" => "gradient perturbation: noise on every step of gradient descent",
        "sgd" => "gradient perturbation on Poisson-sampled batches (DP-SGD)",
        other => other,
    }
}

/// The half-width of an interval, in percent.
fn rounded_up(share: f64) -> String {
    format!("{} %", digits::significant(100.0 * share, 2, digits::RoundingSide::Up))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
