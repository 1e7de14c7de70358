//! The questions.

use super::check::{count, delta, epsilon, probabilities};
use super::happened::Unknown;
use super::{CompositionMethod, Sampling, wire};
use crate::Refusal;
use reticent_core::Code;
use serde::{Deserialize, Serialize};

/// More orders than this are a mistake.
const MOST_ORDERS: usize = 10_000;

/// What is asked about events.
///
/// ```
/// use reticent_curator::account::{Account, PrivacyTarget, Activity, AccountQuestion, TrainingShorthand};
/// # fn answered(question: AccountQuestion, training: TrainingShorthand) -> Result<(), reticent_curator::Refusal> {
/// #     Account::new(question, Activity::Training(training)).answer().map(drop)
/// # }
/// let run = || TrainingShorthand { noise_multiplier: Some(1.0), sampling_rate: Some(0.01), steps: Some(100), ..TrainingShorthand::default() };
/// let (delta, budget) = (1e-5, PrivacyTarget { epsilon: 1.0, delta: 1e-5 });
/// answered(AccountQuestion::Delta { epsilon: 1.0, width: None }, run())?;
/// answered(AccountQuestion::Noise(budget), TrainingShorthand { noise_multiplier: None, ..run() })?;
/// answered(AccountQuestion::Steps(budget), TrainingShorthand { steps: None, ..run() })?;
/// answered(AccountQuestion::Rate(budget), TrainingShorthand { sampling_rate: None, ..run() })?;
/// answered(AccountQuestion::Rdp { orders: vec![2.0, 32.0], delta: None }, run())?;
/// answered(AccountQuestion::Tradeoff { fpr: vec![0.01], drawn: false }, run())?;
/// answered(AccountQuestion::Reconstruction { prior: vec![0.01], drawn: false }, run())?;
/// answered(AccountQuestion::Group { size: 3, delta: Some(delta) }, run())?;
/// answered(AccountQuestion::Outcome { probability: 0.05, delta: None }, run())?;
/// answered(AccountQuestion::Posterior { prior: vec![0.5], epsilon: None, delta: Some(delta), orders: vec![2.0], drawn: false }, run())?;
/// answered(AccountQuestion::Compare { delta, curves: false }, run())?;
/// answered(AccountQuestion::Statement { delta, unit: None }, run())?;
/// # Ok::<(), reticent_curator::Refusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AccountQuestion {
    /// The ε that events add up to at a δ.
    Epsilon {
        /// The δ of the claim.
        delta: f64,
        /// How far apart the ends may be, relative to the upper one, where the accountant is pld.
        #[serde(default)]
        width: Option<f64>,
    },
    /// The δ that events add up to at an ε.
    Delta {
        /// The ε to hold.
        epsilon: f64,
        /// How far apart the ends may be, relative to the upper one, where the accountant is pld.
        #[serde(default)]
        width: Option<f64>,
    },
    /// The least noise multiplier for a budget.
    Noise(PrivacyTarget),
    /// The largest number of steps within a budget.
    Steps(PrivacyTarget),
    /// The largest sampling rate within a budget.
    Rate(PrivacyTarget),
    /// Rényi divergences at given orders.
    Rdp {
        /// Orders from 1, the Kullback-Leibler divergence, to infinity (`"inf"`), the largest loss.
        #[serde(default, with = "wire::orders")]
        orders: Vec<f64>,
        /// Also convert to ε at this δ, at the best order of all.
        #[serde(default)]
        delta: Option<f64>,
    },
    /// What an attacker can achieve: false-negative against false-positive rate.
    Tradeoff {
        /// False-positive rates from 0 to 1.
        #[serde(default)]
        fpr: Vec<f64>,
        /// Whether the points of the whole curve are wanted.
        #[serde(default)]
        drawn: bool,
    },
    /// How often a record or an attribute can be recovered.
    Reconstruction {
        /// Probabilities, from 0 to 1, that an attack succeeds against a release without the record.
        prior: Vec<f64>,
        /// Whether the points of the whole curve are wanted.
        #[serde(default)]
        drawn: bool,
    },
    /// The guarantee of a group.
    Group {
        /// How many people, or records of one person, change together.
        size: u64,
        /// The δ of the promise to the group; not needed for events that state a claim.
        #[serde(default)]
        delta: Option<f64>,
    },
    /// How much likelier a bad outcome becomes for a person whose record is used.
    Outcome {
        /// The probability of the outcome when the person's record is used.
        probability: f64,
        /// Also use the (ε, δ) claim at this δ.
        #[serde(default)]
        delta: Option<f64>,
    },
    /// How far an output can move a belief about one person.
    Posterior {
        /// Beliefs before, from 0 to 1.
        prior: Vec<f64>,
        /// Pure claims to compare, instead of what happened.
        #[serde(default)]
        epsilon: Option<Vec<f64>>,
        /// The probability with which the bound may fail.
        #[serde(default)]
        delta: Option<f64>,
        /// Orders α from 1 up, for the means of (posterior odds / prior odds)^(α−1); at 1, of the change of the log-odds.
        #[serde(default)]
        orders: Vec<f64>,
        /// Whether the points of the whole curves are wanted.
        #[serde(default)]
        drawn: bool,
    },
    /// ε by every accountant.
    Compare {
        /// The δ of the claim.
        delta: f64,
        /// Whether ε against the number of steps is wanted as well.
        #[serde(default)]
        curves: bool,
    },
    /// The paragraph for a paper or a model card.
    Statement {
        /// The δ of the claim.
        delta: f64,
        /// What one unit of protection is; as the certificate says, or `record`, where nothing is given.
        #[serde(default)]
        unit: Option<String>,
    },
}

/// What may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivacyTarget {
    /// The ε to stay within.
    pub epsilon: f64,
    /// The δ of the claim.
    pub delta: f64,
}

impl AccountQuestion {
    /// Checks the numbers of the question, as far as they can be without knowing what happened.
    ///
    /// # Errors
    /// [`Refusal`] naming the field and the remedy.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Epsilon { delta: at, .. }
            | Self::Compare { delta: at, .. }
            | Self::Statement { delta: at, .. } => delta(*at).map(drop),
            Self::Delta { epsilon: at, .. } => epsilon(*at).map(drop),
            Self::Noise(budget) | Self::Steps(budget) | Self::Rate(budget) => budget.checked().map(drop),
            Self::Rdp { orders: asked, delta: at } => {
                orders(asked, at.is_some())?;
                at.map_or(Ok(()), |at| delta(at).map(drop))
            }
            Self::Tradeoff { fpr, drawn } => {
                if fpr.is_empty() && !drawn {
                    return Err(Refusal::missing("fpr", "give false-positive rates, e.g. ⟦fpr⟧ 0.01,0.1"));
                }
                let remedy = "give numbers from 0 to 1 with commas between, such as 0.01,0.1";
                probabilities("fpr", fpr, remedy).map_err(|refusal| refusal.coded(Code::List)).map(drop)
            }
            Self::Reconstruction { prior, .. } => {
                let remedy = "give numbers from 0 to 1 with commas between, such as 0.001,0.01";
                if prior.is_empty() {
                    return Err(Refusal::missing("prior", remedy));
                }
                probabilities("prior", prior, remedy).map_err(|refusal| refusal.coded(Code::List)).map(drop)
            }
            Self::Group { size, delta: at } => {
                count("size", *size)?;
                at.map_or(Ok(()), |at| delta(at).map(drop))
            }
            Self::Outcome { probability, delta: at } => {
                super::check::probability("probability", *probability)?;
                at.map_or(Ok(()), |at| delta(at).map(drop))
            }
            Self::Posterior { prior, epsilon: claims, delta: at, orders: moments, .. } => {
                let remedy = "give numbers from 0 to 1 with commas between, such as 0.01,0.5";
                if prior.is_empty() {
                    return Err(Refusal::missing("prior", remedy));
                }
                probabilities("prior", prior, remedy)?;
                orders(moments, true)?;
                if let Some(order) = moments.iter().find(|order| order.is_infinite()) {
                    let remedy = "give finite orders of at least 1, such as 1,2,32";
                    return Err(Refusal::value("orders", order, remedy).coded(Code::List));
                }
                if let (Some(_), [first, ..]) = (claims, &moments[..]) {
                    let remedy =
                        "goes with events: give ⟦events⟧ or the flags of a training run instead of ⟦epsilon⟧";
                    return Err(Refusal::value("orders", first, remedy));
                }
                match (claims, at) {
                    (Some(_), Some(at)) => {
                        let remedy = "goes with events: beliefs under a claim with a delta need to know what happened: \
                                      give ⟦events⟧ or the flags of a training run instead of ⟦epsilon⟧";
                        Err(Refusal::value("delta", at, remedy))
                    }
                    (Some(claims), None) if claims.is_empty() => {
                        Err(Refusal::missing("epsilon", "give the claims to compare, such as 0.5,1"))
                    }
                    (Some(claims), None) => claims.iter().try_for_each(|claim| epsilon(*claim).map(drop)),
                    (None, Some(at)) => delta(*at).map(drop),
                    (None, None) => Ok(()),
                }
            }
        }
    }

    /// The accountant of this name, where the question leaves a choice.
    ///
    /// # Errors
    /// [`Refusal`] where there is no such accountant, or no choice.
    pub fn accountant(&self, name: &str) -> Result<CompositionMethod, Refusal> {
        match self.own() {
            Some((own, why)) if own.is_none_or(|own| own.name() != name) => {
                Err(Refusal::conflict("accountant", name, format!("leave it out: {why}")))
            }
            _ => name.parse().map_err(|_| {
                let remedy = "unknown: give pld, rdp, moments, optimal, advanced or basic";
                Refusal::unknown("accountant", name, remedy)
            }),
        }
    }

    /// The way of this name to draw batches, where the question leaves a choice.
    ///
    /// # Errors
    /// [`Refusal`] where there is no such way, or no choice.
    pub fn sampling(&self, name: &str) -> Result<Sampling, Refusal> {
        name.parse().map_err(|unknown| match self.unknown() {
            Unknown::Rate => not_for_a_rate(name),
            _ => unknown,
        })
    }

    /// The accountant that answers.
    pub(super) fn method(&self, given: Option<CompositionMethod>) -> Result<CompositionMethod, Refusal> {
        let own = || self.own().and_then(|(own, _)| own);
        match given {
            Some(given) => self.accountant(given.name()),
            None => Ok(own().unwrap_or(CompositionMethod::Pld)),
        }
    }

    /// The only accountant that answers the question, or none where all do, and why.
    fn own(&self) -> Option<(Option<CompositionMethod>, &'static str)> {
        match self {
            Self::Rdp { .. } => Some((Some(CompositionMethod::Rdp), "'account rdp' gives Rényi divergences")),
            Self::Tradeoff { .. } => {
                Some((Some(CompositionMethod::Pld), "trade-offs come from the pld accountant"))
            }
            Self::Reconstruction { .. } => {
                Some((Some(CompositionMethod::Pld), "this bound comes from the pld accountant"))
            }
            Self::Compare { .. } => Some((None, "'account compare' shows all of them")),
            _ => None,
        }
    }

    /// What the question leaves open of what happened.
    pub(super) fn unknown(&self) -> Unknown {
        match self {
            Self::Noise(_) => Unknown::Noise,
            Self::Steps(_) => Unknown::Steps,
            Self::Rate(_) => Unknown::Rate,
            _ => Unknown::Nothing,
        }
    }
}

/// The refusal of batches for which no rate is found.
pub(super) fn not_for_a_rate(sampling: &str) -> Refusal {
    Refusal::conflict("sampling", sampling, "leave it out: a rate is for poisson sampling")
}

/// Orders from 1 to infinity; none are needed where something else is asked.
fn orders(orders: &[f64], is_optional: bool) -> Result<(), Refusal> {
    if orders.is_empty() && !is_optional {
        return Err(Refusal::missing("orders", "give orders of at least 1, e.g. ⟦orders⟧ 1.5,2,32"));
    }
    if let Some(order) = orders.iter().find(|order| order.is_nan() || **order < 1.0) {
        let remedy = "give orders of at least 1, or inf, such as 1.5,2,32";
        return Err(Refusal::value("orders", order, remedy).coded(Code::List));
    }
    if orders.len() > MOST_ORDERS {
        let remedy = format!("give at most {MOST_ORDERS}");
        return Err(Refusal::value("orders", orders.len(), remedy).coded(Code::List));
    }
    Ok(())
}
