//! What is stated about an attack, and the checked settings that follow from it.

use crate::{Refusal, Session};
use reticent_attack::learned::registry;
use reticent_audit::attacks::{Attack, AttackSettings};
use reticent_audit::bound::{BoundMethod, BoundSettings, ThresholdSelection, Tradeoff};
use reticent_audit::metrics::MetricSettings;
use reticent_audit::{ExamineSettings, Registry};
use reticent_core::Certificate;
use reticent_data::closest;
use reticent_noise::entropy::Bits;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The δ of a bound where no certificate gives one.
const DELTA: f64 = 1e-5;

/// How many records most at risk may be listed.
pub const WORST: RangeInclusive<u64> = 0..=100_000;

/// How ε is bounded from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundChoice {
    /// One training run, each record put in by a coin of its own.
    OneRun,
    /// The same, by the trade-off curve of (ε, δ).
    FDp,
    /// The same, by the trade-off curve of a Gaussian mechanism.
    FDpGaussian,
    /// Every row is a training run of its own.
    ClopperPearson,
    /// Every row is a run of its own, of a mechanism that is declared to be Gaussian.
    Gaussian,
    /// Not at all.
    None,
}

impl BoundChoice {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::OneRun, Self::FDp, Self::FDpGaussian, Self::ClopperPearson, Self::Gaussian, Self::None];

    /// As requests name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneRun => "one-run",
            Self::FDp => "f-dp",
            Self::FDpGaussian => "f-dp-gaussian",
            Self::ClopperPearson => "clopper-pearson",
            Self::Gaussian => "gaussian",
            Self::None => "none",
        }
    }

    /// Whether asking for it by name declares that every row is a run of its own.
    pub(super) fn is_of_runs(self) -> bool {
        matches!(self, Self::ClopperPearson | Self::Gaussian)
    }

    fn method(self) -> Option<BoundMethod<'static>> {
        Some(match self {
            Self::OneRun => BoundMethod::OneRun,
            Self::FDp => BoundMethod::FDp(Tradeoff::Approximate),
            Self::FDpGaussian => BoundMethod::FDp(Tradeoff::Gaussian),
            Self::ClopperPearson => BoundMethod::ClopperPearson,
            Self::Gaussian => BoundMethod::Gaussian,
            Self::None => return None,
        })
    }
}

impl FromStr for BoundChoice {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|bound| bound.name() == name).ok_or_else(|| {
            let known = "unknown: give one-run, f-dp, f-dp-gaussian, clopper-pearson, gaussian or none";
            Refusal::unknown("bound", name, known)
        })
    }
}

/// What is stated about an attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct AuditStatement {
    /// How ε is bounded from below; by default [`BoundChoice::OneRun`] where it is known how members were drawn, and not at all
    /// elsewhere.
    pub bound: Option<BoundChoice>,
    /// Bounds from one run: the share of records that is guessed, half from each end, fixed before any result is seen.
    pub guesses: Option<f64>,
    /// The δ of the bound; by default the certificate's, or 1e-5.
    pub delta: Option<f64>,
    /// Confidence of intervals and bounds.
    pub confidence: f64,
    /// The share of members among those an attacker would try.
    pub prior: Option<f64>,
    /// How many of the records most at risk are listed.
    pub worst: u64,
    /// The key of every split; the same key gives the same audit.
    pub key: String,
}

impl Default for AuditStatement {
    fn default() -> Self {
        Self {
            bound: None,
            guesses: None,
            delta: None,
            confidence: 0.95,
            prior: None,
            worst: 20,
            key: super::KEY.to_owned(),
        }
    }
}

/// A checked statement about checked attacks.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    statement: AuditStatement,
    attacks: Option<Vec<&'static dyn Attack>>,
    worst: usize,
}

impl Stated {
    /// Checks a statement about these attacks; none are all that can be run.
    pub(super) fn of(statement: &AuditStatement, attacks: &[String]) -> Result<Self, Refusal> {
        let confidence = share("confidence", statement.confidence)?;
        if confidence < 0.5 {
            let remedy = "give a number from 0.5 to below 1, such as 0.95";
            return Err(Refusal::value("confidence", confidence, remedy));
        }
        statement.prior.map(|prior| share("prior", prior)).transpose()?;
        if let Some(delta) = statement.delta.filter(|delta| !(0.0..1.0).contains(delta)) {
            let remedy = "give a number from 0 to below 1, such as 1e-5";
            return Err(Refusal::value("delta", delta, remedy));
        }
        statement.guesses.map(|guesses| share("guesses", guesses)).transpose()?;
        let attacks = attacks.iter().map(|name| attack(name)).collect::<Result<Vec<_>, _>>()?;
        let worst = whole("worst", statement.worst, &WORST)?;
        Ok(Self { statement: statement.clone(), attacks: (!attacks.is_empty()).then_some(attacks), worst })
    }

    pub(super) fn statement(&self) -> &AuditStatement {
        &self.statement
    }

    /// The settings of an audit; δ is the certificate's unless the statement says otherwise.
    pub(super) fn settings(
        &self,
        certificate: Option<&Certificate>,
        session: &mut Session,
    ) -> ExamineSettings {
        let AuditStatement { bound, guesses, delta, confidence, prior, key, .. } = self.statement.clone();
        let delta = delta
            .unwrap_or_else(|| certificate.map_or(DELTA, |certificate| certificate.guarantee.delta.get()));
        let selection =
            guesses.map_or(ThresholdSelection::BySize, |share| ThresholdSelection::Declared { share });
        // Ties between equal scores are not broken by anything that a table may have been sorted by.
        let fresh = Some(session.entropy().word());
        let settings =
            BoundSettings { confidence, selection, fresh, ..BoundSettings::new(delta, key.clone()) };
        ExamineSettings {
            metrics: MetricSettings { confidence, prior, ..MetricSettings::default() },
            bound: bound.unwrap_or(BoundChoice::OneRun).method().map(|method| (method, settings)),
            registry: registry(),
            attacks: self.attacks.clone(),
            attack: AttackSettings { key: key.clone(), ..AttackSettings::default() },
            worst: self.worst,
            key,
            expects_baseline: true,
        }
    }
}

/// An attack by its name.
fn attack(name: &str) -> Result<&'static dyn Attack, Refusal> {
    let (registry, authors) = (registry(), Registry::authors());
    registry.find(name).or_else(|| authors.find(name)).ok_or_else(|| {
        let names = [registry.names(), authors.names()].concat();
        let hint = closest(name, &names).map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        Refusal::unknown("attacks", name, format!("unknown{hint}: give one of {}", names.join(", ")))
    })
}

/// A number strictly between 0 and 1.
pub(super) fn share(field: &str, value: f64) -> Result<f64, Refusal> {
    match value > 0.0 && value < 1.0 {
        true => Ok(value),
        false => Err(Refusal::value(field, value, "give a number above 0 and below 1")),
    }
}

/// A whole number in a range.
pub(super) fn whole(field: &str, value: u64, range: &RangeInclusive<u64>) -> Result<usize, Refusal> {
    match range.contains(&value) {
        true => Ok(value as usize),
        false => {
            let remedy = format!("give a whole number from {} to {}", range.start(), range.end());
            Err(Refusal::value(field, value, remedy))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_bounds_are_those_of_json() {
        for bound in BoundChoice::ALL {
            assert_eq!(bound.name().parse::<BoundChoice>().unwrap(), bound);
            assert_eq!(serde_json::to_value(bound).unwrap(), bound.name());
        }
        assert_eq!("katz".parse::<BoundChoice>().unwrap_err().field(), Some("bound"));
    }

    #[test]
    fn what_no_flag_can_say_is_refused() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -0.5];
        let base = AuditStatement::default;
        for value in odd {
            for (field, statement) in [
                ("confidence", AuditStatement { confidence: value, ..base() }),
                ("prior", AuditStatement { prior: Some(value), ..base() }),
                ("delta", AuditStatement { delta: Some(value), ..base() }),
                ("guesses", AuditStatement { guesses: Some(value), ..base() }),
            ] {
                let refusal = Stated::of(&statement, &[]).unwrap_err();
                assert_eq!(refusal.field(), Some(field), "{refusal}");
            }
        }
        assert!(Stated::of(&AuditStatement { worst: 100_001, ..base() }, &[]).is_err());
        assert!(
            Stated::of(&base(), &["lira-onlin".to_owned()]).unwrap_err().to_string().contains("lira-online")
        );
    }

    #[test]
    fn a_statement_is_read_from_little() {
        let read: AuditStatement = serde_json::from_str("{\"bound\": \"f-dp-gaussian\"}").unwrap();
        assert_eq!(
            read,
            AuditStatement { bound: Some(BoundChoice::FDpGaussian), ..AuditStatement::default() }
        );
        assert!(serde_json::from_str::<AuditStatement>("{\"bounds\": \"none\"}").is_err());
    }
}
