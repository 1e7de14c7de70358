//! Flags to checked settings, before a file is read.

use crate::args::audit::Statement;
use crate::fail::Fail;
use crate::file::Target;
use crate::read;
use reticent::audit::ExamineSettings;
use reticent::audit::attacks::{Attack, AttackSettings};
use reticent::audit::bound::{BoundSettings, Method, Selection, Tradeoff};
use reticent::audit::metrics::MetricSettings;
use reticent::core::Certificate;
use reticent::data::closest;
use reticent::noise::Entropy;
use reticent::noise::entropy::Bits;

/// The δ of a bound where no certificate gives one.
const DELTA: f64 = 1e-5;

/// What an audit was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) settings: ExamineSettings,
}

impl Asked {
    /// Checked settings; δ is the certificate's unless the flags say otherwise.
    pub(crate) fn of(
        statement: &Statement,
        attacks: &[String],
        certificate: Option<&Certificate>,
    ) -> Result<Self, Fail> {
        if let Some(path) = &statement.plot {
            Target::plot(path).check()?;
        }
        let confidence = share("--confidence", &statement.confidence)?;
        if confidence < 0.5 {
            let remedy = "give a number from 0.5 to below 1, such as 0.95";
            return Err(Fail::flag("--confidence", &statement.confidence, remedy));
        }
        let prior = statement.prior.as_deref().map(|text| share("--prior", text)).transpose()?;
        let delta = delta_of(statement, certificate)?;
        let key = statement.key.clone();
        let method = method(statement.bound.as_deref().unwrap_or("one-run"))?;
        let selection = match &statement.guesses {
            Some(text) => Selection::Declared { share: share("--guesses", text)? },
            None => Selection::BySize,
        };
        // Ties between equal scores are not broken by anything that a table may have been sorted by.
        let fresh = Some(Entropy::new()?.word());
        let bound = BoundSettings { confidence, selection, fresh, ..BoundSettings::new(delta, key.clone()) };
        let attacks = attacks.iter().map(|name| attack(name)).collect::<Result<Vec<_>, _>>()?;
        let settings = ExamineSettings {
            metrics: MetricSettings { confidence, prior, ..MetricSettings::default() },
            bound: method.map(|method| (method, bound)),
            attacks: (!attacks.is_empty()).then_some(attacks),
            attack: AttackSettings { key: key.clone(), ..AttackSettings::default() },
            worst: count("--worst", &statement.worst, 0, 100_000)?,
            key,
        };
        Ok(Self { settings })
    }
}

/// The δ of the bound.
fn delta_of(statement: &Statement, certificate: Option<&Certificate>) -> Result<f64, Fail> {
    match &statement.delta {
        Some(text) => {
            let value = read::number("--delta", text)?;
            if (0.0..1.0).contains(&value) {
                Ok(value)
            } else {
                Err(Fail::flag("--delta", text, "give a number from 0 to below 1, such as 1e-5"))
            }
        }
        None => Ok(certificate.map_or(DELTA, |certificate| certificate.guarantee.delta.get())),
    }
}

/// An attack by its name.
fn attack(name: &str) -> Result<Attack, Fail> {
    let names: Vec<&str> = Attack::ALL.iter().map(|attack| attack.name()).collect();
    Attack::ALL.iter().copied().find(|attack| attack.name() == name).ok_or_else(|| {
        let hint = closest(name, &names).map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        Fail::unknown("--attacks", name, format!("unknown{hint}: 'reticent attack list' names them"))
    })
}

fn method(name: &str) -> Result<Option<Method<'static>>, Fail> {
    Ok(Some(match name {
        "none" => return Ok(None),
        "one-run" => Method::OneRun,
        "f-dp" => Method::FDp(Tradeoff::Approximate),
        "f-dp-gaussian" => Method::FDp(Tradeoff::Gaussian),
        "clopper-pearson" => Method::ClopperPearson,
        "gaussian" => Method::Gaussian,
        _ => {
            let known = "unknown: give one-run, f-dp, f-dp-gaussian, clopper-pearson, gaussian or none";
            return Err(Fail::unknown("--bound", name, known));
        }
    }))
}

/// A number strictly between 0 and 1.
pub(crate) fn share(flag: &str, text: &str) -> Result<f64, Fail> {
    match read::number(flag, text)? {
        value if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err(Fail::flag(flag, text, "give a number above 0 and below 1")),
    }
}

/// A whole number in a range.
pub(crate) fn count(flag: &str, text: &str, least: u64, most: u64) -> Result<usize, Fail> {
    match text.trim().parse::<u64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number as usize),
        _ => Err(Fail::flag(flag, text, format!("give a whole number from {least} to {most}"))),
    }
}
