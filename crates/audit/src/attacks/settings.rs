use super::{Location, Variance};
use std::collections::BTreeMap;

/// Choices that attacks leave open; `None` lets the attack choose by what is available, never by the target's truth.
///
/// An attack may also carry settings of its own as fields of its type.
#[derive(Debug, Clone, PartialEq)]
pub struct AttackSettings {
    /// What every split and subsample depends on.
    pub key: String,
    /// The spread that LiRA uses.
    pub lira_variance: Option<Variance>,
    /// What LiRA's normal distributions are centred on.
    pub lira_location: Location,
    /// RMIA's γ. With one query per record, γ changes no order: above 1 it only ties records whose ratios are close, so 1
    /// is the default.
    pub rmia_gamma: f64,
    /// RMIA's temperature; tuned on references that play the target, else 2.
    pub rmia_temperature: Option<f64>,
    /// RMIA's offline factor; tuned on references that play the target, else 0.3.
    pub rmia_a: Option<f64>,
    /// The softmax temperature of `base` and `base-offline`; 1 is the published form.
    pub base_temperature: f64,
    /// How much the references count in `base-offline`.
    pub base_factor: f64,
    /// The quantile of `quantile-regression`.
    pub quantile_level: f64,
}

impl Default for AttackSettings {
    fn default() -> Self {
        Self {
            key: "audit".to_owned(),
            lira_variance: None,
            lira_location: Location::Mean,
            rmia_gamma: 1.0,
            rmia_temperature: None,
            rmia_a: None,
            base_temperature: 1.0,
            base_factor: 0.33,
            quantile_level: 0.9,
        }
    }
}

/// What an attack says.
#[derive(Debug, Clone, PartialEq)]
pub struct AttackScores {
    /// One per record, larger for members.
    pub scores: Vec<f64>,
    /// What was chosen, and how.
    pub settings: BTreeMap<String, String>,
    /// The records that the attack is judged by, in increasing order; none for all. An attack that learns from records whose
    /// membership it knows is judged by the others.
    pub judged: Option<Vec<usize>>,
}

impl AttackScores {
    /// Scores with the settings behind them.
    pub fn new<const N: usize>(scores: Vec<f64>, settings: [(&str, String); N]) -> Self {
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { scores, settings, judged: None }
    }
}
