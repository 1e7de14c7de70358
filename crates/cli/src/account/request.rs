//! From flags to the request.

use super::typed::Typed;
use crate::args::account as args;
use crate::fail::Fail;
use crate::file;
use reticent::core::Neighboring;
use reticent::curator::account::{
    Account, AccountQuestion, Activity, Events, PrivacyTarget, Sampling, TrainingShorthand,
};
use reticent::curator::quantity;
use std::path::Path;

/// The flags of a question that are not its own.
pub(super) struct Asked<'a> {
    /// The request.
    pub(super) account: Account,
    /// Where a picture goes.
    pub(super) plot: Option<&'a Path>,
    /// Whether one line of JSON is wanted.
    pub(super) json: bool,
}

/// Reads the flags of a question.
pub(super) fn read<'a>(arguments: &'a args::Question, typed: &mut Typed) -> Result<Asked<'a>, Fail> {
    let (question, ask, plot) = question(arguments, typed);
    question.check().map_err(|refusal| typed.fail(refusal))?;
    let mut accountant = None;
    let check_plot = || plot.map_or(Ok(()), |path| file::plot(path).check());
    let is_comparison = matches!(question, AccountQuestion::Compare { .. });
    if !is_comparison {
        check_plot()?;
    }
    if let Some(name) = &ask.accountant {
        accountant = Some(question.accountant(name)?);
    }
    if is_comparison {
        check_plot()?;
    }
    let happened = match question {
        AccountQuestion::Posterior { epsilon: Some(_), .. } => None,
        _ => happened(&ask.source, &question, typed)?,
    };
    Ok(Asked { account: Account { question, happened, accountant }, plot, json: ask.json })
}

/// The question with its numbers, what all questions share, and where a picture goes.
fn question<'a>(
    arguments: &'a args::Question,
    typed: &mut Typed,
) -> (AccountQuestion, &'a args::Ask, Option<&'a Path>) {
    match arguments {
        args::Question::Epsilon(own) => {
            let delta = delta(&own.delta, typed);
            let width = typed.number("width", own.width.as_deref());
            (AccountQuestion::Epsilon { delta, width }, &own.ask, None)
        }
        args::Question::Delta(own) => {
            let epsilon = epsilon(&own.epsilon, typed);
            let width = typed.number("width", own.width.as_deref());
            (AccountQuestion::Delta { epsilon, width }, &own.ask, None)
        }
        args::Question::Noise(own) => (AccountQuestion::Noise(budget(own, typed)), &own.ask, None),
        args::Question::Steps(own) => (AccountQuestion::Steps(budget(own, typed)), &own.ask, None),
        args::Question::Rate(own) => (AccountQuestion::Rate(budget(own, typed)), &own.ask, None),
        args::Question::Rdp(own) => {
            let orders = own.orders.as_deref().map_or_else(Vec::new, |text| typed.list("orders", text));
            let delta = typed.number("delta", own.delta.as_deref());
            (AccountQuestion::Rdp { orders, delta }, &own.ask, None)
        }
        args::Question::Tradeoff(own) => {
            let fpr = own.fpr.as_deref().map_or_else(Vec::new, |text| typed.list("fpr", text));
            (AccountQuestion::Tradeoff { fpr, drawn: own.plot.is_some() }, &own.ask, own.plot.as_deref())
        }
        args::Question::Reconstruction(own) => {
            let prior = typed.list("prior", &own.prior);
            let drawn = own.plot.is_some();
            (AccountQuestion::Reconstruction { prior, drawn }, &own.ask, own.plot.as_deref())
        }
        args::Question::Group(own) => {
            let size = typed.count("size", &own.size);
            let delta = typed.number("delta", own.delta.as_deref());
            (AccountQuestion::Group { size, delta }, &own.ask, None)
        }
        args::Question::Outcome(own) => {
            let probability = typed.needed("probability", Some(&own.probability), "");
            let delta = typed.number("delta", own.delta.as_deref());
            (AccountQuestion::Outcome { probability, delta }, &own.ask, None)
        }
        args::Question::Posterior(own) => {
            let prior = typed.list("prior", &own.prior);
            let epsilon = own.epsilon.as_deref().map(|text| typed.each("epsilon", text));
            let delta = typed.number("delta", own.delta.as_deref());
            let orders = own.orders.as_deref().map_or_else(Vec::new, |text| typed.list("orders", text));
            let (drawn, plot) = (own.plot.is_some(), own.plot.as_deref());
            (AccountQuestion::Posterior { prior, epsilon, delta, orders, drawn }, &own.ask, plot)
        }
        args::Question::Compare(own) => {
            let delta = delta(&own.delta, typed);
            if let Some(path) = &own.plot {
                typed.shown("curves", "--plot", &path.display().to_string());
            }
            (AccountQuestion::Compare { delta, curves: own.plot.is_some() }, &own.ask, own.plot.as_deref())
        }
        args::Question::Statement(own) => {
            let delta = delta(&own.delta, typed);
            (AccountQuestion::Statement { delta, unit: own.unit.clone() }, &own.ask, None)
        }
    }
}

fn delta(text: &Option<String>, typed: &mut Typed) -> f64 {
    typed.needed("delta", text.as_deref(), "give the delta of the claim, e.g. --delta 1e-6")
}

fn epsilon(text: &Option<String>, typed: &mut Typed) -> f64 {
    typed.needed("epsilon", text.as_deref(), "give the privacy loss to hold, e.g. --epsilon 1")
}

fn budget(own: &args::Budget, typed: &mut Typed) -> PrivacyTarget {
    PrivacyTarget { epsilon: epsilon(&own.epsilon, typed), delta: delta(&own.delta, typed) }
}

/// The file of events, or the training run; nothing where neither is given.
fn happened(
    flags: &args::Source,
    question: &AccountQuestion,
    typed: &mut Typed,
) -> Result<Option<Activity>, Fail> {
    let neighboring = flags.neighboring.as_deref().map(quantity::neighboring).transpose()?;
    let files = [("--events", &flags.events), ("--opacus", &flags.opacus), ("--dp-event", &flags.dp_event)];
    let mut files = files.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
    let Some((flag, path)) = files.next() else {
        // A budget alone is a question about one step on all records.
        let is_described = shorthand(flags).next().is_some() || matches!(question, AccountQuestion::Noise(_));
        return match is_described {
            true => Ok(Some(Activity::Training(training(flags, neighboring, question, typed)?))),
            false => Ok(None),
        };
    };
    let second = files.next().map(|(flag, path)| (flag, path.display().to_string()));
    let described = || shorthand(flags).next().map(|(flag, value)| (flag, value.to_owned()));
    if let Some((other, value)) = second.or_else(described) {
        let remedy = format!("leave it out: {flag} {} says what happened", path.display());
        return Err(Fail::conflict(other, &value, remedy));
    }
    Ok(Some(Activity::Events(match flag {
        "--opacus" if neighboring == Some(Neighboring::ReplaceOne) => {
            let remedy = "Opacus states its noise under add-remove: leave it out";
            return Err(Fail::conflict("--neighboring", "replace-one", remedy));
        }
        "--opacus" => Events::read_opacus(path)?,
        "--dp-event" => Events::read_dp_event(path, neighboring)?,
        _ => Events::read(path, neighboring)?,
    })))
}

fn training(
    flags: &args::Source,
    neighboring: Option<Neighboring>,
    question: &AccountQuestion,
    typed: &mut Typed,
) -> Result<TrainingShorthand, Fail> {
    let sampling = match flags.sampling.as_deref() {
        Some(name) => question.sampling(name)?,
        None => Sampling::Poisson,
    };
    Ok(TrainingShorthand {
        noise_multiplier: typed.number("noise_multiplier", flags.noise_multiplier.as_deref()),
        sampling_rate: typed.number("sampling_rate", flags.sampling_rate.as_deref()),
        steps: flags.steps.as_deref().map(|text| typed.count("steps", text)),
        dataset_size: flags.dataset_size.as_deref().map(|text| typed.count("dataset_size", text)),
        batch_size: flags.batch_size.as_deref().map(|text| typed.count("batch_size", text)),
        epochs: typed.number("epochs", flags.epochs.as_deref()),
        sampling,
        neighboring: neighboring.unwrap_or(Neighboring::AddRemove),
    })
}

/// The flags of a training run that were given.
fn shorthand(flags: &args::Source) -> impl Iterator<Item = (&'static str, &str)> {
    [
        ("--noise-multiplier", &flags.noise_multiplier),
        ("--sampling-rate", &flags.sampling_rate),
        ("--steps", &flags.steps),
        ("--dataset-size", &flags.dataset_size),
        ("--batch-size", &flags.batch_size),
        ("--epochs", &flags.epochs),
        ("--sampling", &flags.sampling),
    ]
    .into_iter()
    .filter_map(|(flag, value)| value.as_deref().map(|value| (flag, value)))
}
