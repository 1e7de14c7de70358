//! `account compare`: every accountant on the same events.

mod chart;

use super::case::{self, Case};
use super::source::Training;
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits;
use crate::fail::{Fail, plain};
use crate::file::Target;
use crate::text::json_line;
use reticent::accounting::{Accountant, AccountingError, Answer, Method, moments, tradeoff};
use reticent::core::profile::gaussian_epsilon_up;
use reticent::core::{Delta, Event, Neighboring, NoiseMultiplier, SamplingRate};
use serde::Serialize;

/// What one accountant says.
#[derive(Serialize)]
struct Row {
    accountant: &'static str,
    /// Nothing where it cannot say.
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<f64>,
    /// The accountant whose bound was tighter and was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Numbers of sampled Gaussian steps that bound nothing.
#[derive(Debug, Clone, Copy, Serialize)]
struct NoBounds {
    clt_estimate: Option<f64>,
    strong_composition_as_published: Option<f64>,
}

#[derive(Serialize)]
struct Compared<'a> {
    delta: f64,
    neighboring: Neighboring,
    accountants: &'a [Row],
    #[serde(skip_serializing_if = "Option::is_none")]
    not_bounds: Option<NoBounds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curves: Option<&'a chart::Curves>,
}

/// ε by every accountant.
pub(super) fn compare(arguments: &args::Compare) -> Result<Output, Fail> {
    let delta = case::delta(arguments.delta.as_deref())?;
    if let Some(name) = &arguments.ask.accountant {
        return Err(Fail::conflict(
            "--accountant",
            name,
            "leave it out: 'account compare' shows all of them",
        ));
    }
    if let Some(path) = &arguments.plot {
        Target::plot(path).check()?;
    }
    let case = Case::only(&arguments.ask, Method::Pld, "all are compared")?;
    if let (Some(path), Some(1)) = (&arguments.plot, case.source.training().map(Training::steps)) {
        let remedy = "one step makes no curve: give more with --steps or --epochs";
        return Err(Fail::conflict("--plot", &path.display().to_string(), remedy));
    }
    let account = case.account()?;
    let rows: Vec<Row> = Method::ALL.into_iter().map(|method| row(&account, method, delta)).collect();
    if rows.iter().all(|row| row.epsilon.is_none()) {
        // Nobody can account for the events: the tightest accountant says why.
        account.epsilon(delta).map_err(|error| case.refused(error))?;
    }
    let not_bounds = no_bounds(&account, delta);
    let curves = match &arguments.plot {
        Some(path) => {
            let curves = chart::curves(&case, delta, not_bounds.is_some());
            Target::plot(path).write(&chart::chart(&case, &account, delta, &curves).svg())?;
            Some(curves)
        }
        None => None,
    };
    let best = rows.iter().filter_map(|row| row.epsilon).fold(f64::INFINITY, f64::min);
    let lower = rows.iter().filter_map(|row| row.lower).fold(0.0, f64::max);
    let claim = Claim { epsilon: Some(best), delta: Some(delta.get()), lower: Some(lower) };
    let warnings = warnings(&case.source, claim);
    let stdout = if case.json {
        let (neighboring, curves) = (account.neighboring(), curves.as_ref());
        json_line(&Compared { delta: delta.get(), neighboring, accountants: &rows, not_bounds, curves })?
    } else {
        table(&case, &account, delta, &rows, not_bounds)
            + &arguments.plot.as_ref().map_or(String::new(), |path| format!("plot: {}\n", path.display()))
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

fn row(account: &Accountant, method: Method, delta: Delta) -> Row {
    let accountant = method.name();
    let reason = |reason: String| Row {
        accountant,
        epsilon: None,
        lower: None,
        answered_by: None,
        reason: Some(plain(&reason)),
    };
    match account.by(method).epsilon(delta) {
        Ok(Answer { lower, upper, method: by, .. }) if upper.is_finite() => Row {
            accountant,
            epsilon: Some(upper),
            lower: Some(lower),
            answered_by: (by != method).then(|| by.name()),
            reason: None,
        },
        Ok(_) => reason("no finite epsilon".to_owned()),
        Err(AccountingError::Unsupported { event, why, .. }) => reason(format!("{event}: {why}")),
        Err(AccountingError::Invalid(invalid) | AccountingError::Impossible(invalid)) => {
            reason(invalid.remedy)
        }
    }
}

/// The one kind of step whose ε has been estimated and published without being bounded.
fn sampled_gaussian(account: &Accountant) -> Option<(SamplingRate, NoiseMultiplier, u64)> {
    let (Neighboring::AddRemove, [(steps, event)]) = (account.neighboring(), account.tally().parts()) else {
        return None;
    };
    match event {
        Event::Gaussian { noise_multiplier } | Event::ClippedSum { noise_multiplier } => {
            Some((SamplingRate::new(1.0).ok()?, *noise_multiplier, *steps))
        }
        Event::PoissonSampled { rate, event } => match **event {
            Event::Gaussian { noise_multiplier } | Event::ClippedSum { noise_multiplier } => {
                Some((*rate, noise_multiplier, *steps))
            }
            _ => None,
        },
        _ => None,
    }
}

fn no_bounds(account: &Accountant, delta: Delta) -> Option<NoBounds> {
    let (rate, noise, steps) = sampled_gaussian(account)?;
    let estimate = || {
        let mu = tradeoff::clt_estimate(rate, noise, steps).ok()?;
        Some(gaussian_epsilon_up(NoiseMultiplier::new(1.0 / mu.get()).ok()?, delta).ok()?.get())
    };
    let published = moments::strong_composition_as_published(rate, noise, steps, delta).ok();
    Some(NoBounds {
        clt_estimate: estimate(),
        strong_composition_as_published: published.filter(|value| value.is_finite()),
    })
}

fn table(
    case: &Case,
    account: &Accountant,
    delta: Delta,
    rows: &[Row],
    not_bounds: Option<NoBounds>,
) -> String {
    let mut lines: Vec<[String; 3]> = Vec::new();
    for row in rows {
        let note = match (&row.reason, row.answered_by, row.lower, row.epsilon) {
            (Some(reason), ..) => reason.clone(),
            (_, Some(by), ..) => format!("by {by}, which is tighter here"),
            (_, _, Some(lower), Some(upper)) if row.accountant == Method::Pld.name() && lower > 0.0 => {
                let [lower, upper] = digits::bracket(lower, upper);
                format!("between {lower} and {upper}")
            }
            _ => String::new(),
        };
        let value = row.epsilon.map_or("-".to_owned(), digits::spent);
        lines.push([row.accountant.to_owned(), value, note]);
    }
    if let Some(NoBounds { clt_estimate, strong_composition_as_published }) = not_bounds {
        let value = |value: Option<f64>| value.map_or("-".to_owned(), digits::brief);
        lines.push([
            "clt".to_owned(),
            value(clt_estimate),
            "no bound: estimate of the central limit theorem".to_owned(),
        ]);
        lines.push([
            "published".to_owned(),
            value(strong_composition_as_published),
            "no bound: strong composition as published by Abadi et al. (2016)".to_owned(),
        ]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = format!(
        "epsilon at delta = {}, {}\n{}\n",
        digits::exactly(delta.get()),
        account.neighboring(),
        plain(&words::happened(&case.source, account)),
    );
    for [name, value, note] in &lines {
        let line = format!("  {name:first$}  {value:>second$}  {note}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
