//! The attacks that an audit knows.

use super::{
    Attack, BASE, BASE_OFFLINE, GIVEN_SCORE, GRADIENT_COSINE_THRESHOLD, GRADIENT_NORM_THRESHOLD,
    INPUT_GRADIENT_THRESHOLD, INVERSE_HESSIAN_ATTACK, LABEL_ONLY, LEAVE_ONE_OUT_ATTACK, LIRA_LABEL_ONLY,
    LIRA_OFFLINE, LIRA_OFFLINE_GRADIENT, LIRA_OFFLINE_TWO_TAILED, LIRA_ONLINE, LIRA_ONLINE_GRADIENT,
    MODIFIED_ENTROPY, QUANTILE_REGRESSION, RMIA_OFFLINE, RMIA_OFFLINE_GRADIENT, RMIA_ONLINE,
    RMIA_ONLINE_GRADIENT, SHOKRI, YEOM_LOSS, YEOM_PER_CLASS,
};
use crate::AuditError;

/// The attacks of this crate, from those that need least.
pub const STANDARD: &[&dyn Attack] = &[
    GIVEN_SCORE,
    LABEL_ONLY,
    YEOM_LOSS,
    YEOM_PER_CLASS,
    MODIFIED_ENTROPY,
    QUANTILE_REGRESSION,
    SHOKRI,
    LIRA_OFFLINE,
    LIRA_OFFLINE_TWO_TAILED,
    LIRA_ONLINE,
    RMIA_OFFLINE,
    RMIA_ONLINE,
    BASE_OFFLINE,
    BASE,
    LIRA_LABEL_ONLY,
    GRADIENT_NORM_THRESHOLD,
    INPUT_GRADIENT_THRESHOLD,
    GRADIENT_COSINE_THRESHOLD,
    LIRA_OFFLINE_GRADIENT,
    LIRA_ONLINE_GRADIENT,
    RMIA_OFFLINE_GRADIENT,
    RMIA_ONLINE_GRADIENT,
    INVERSE_HESSIAN_ATTACK,
    LEAVE_ONE_OUT_ATTACK,
];

/// A list of attacks with different names: what an audit runs, lists, and chooses its headline from.
#[derive(Debug, Clone)]
pub struct Registry {
    attacks: Vec<&'static dyn Attack>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

impl Registry {
    /// The attacks of this crate.
    pub fn standard() -> Self {
        Self { attacks: STANDARD.to_vec() }
    }

    /// These attacks, whose names differ.
    pub(super) fn of(attacks: &[&'static dyn Attack]) -> Self {
        Self { attacks: attacks.to_vec() }
    }

    /// The same attacks and one more, after the others.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for a name that is taken.
    pub fn with(mut self, attack: &'static dyn Attack) -> Result<Self, AuditError> {
        if self.find(attack.name()).is_some() {
            let remedy = "an attack of this name is registered: give another name";
            return Err(AuditError::setting("attacks", attack.name(), remedy));
        }
        self.attacks.push(attack);
        Ok(self)
    }

    /// All of them, in order.
    pub fn attacks(&self) -> &[&'static dyn Attack] {
        &self.attacks
    }

    /// The attack of a name.
    pub fn find(&self, name: &str) -> Option<&'static dyn Attack> {
        self.attacks.iter().copied().find(|attack| attack.name() == name)
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.attacks.iter().map(|attack| attack.name()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_found() {
        let registry = Registry::standard();
        let names: BTreeSet<&str> = registry.names().into_iter().collect();
        assert_eq!(names.len(), STANDARD.len());
        for attack in STANDARD {
            assert_eq!(registry.find(attack.name()), Some(*attack));
            assert!(!attack.about().is_empty() && !attack.needs().is_empty());
        }
        assert!(registry.find("none").is_none());
        assert!(registry.with(LIRA_ONLINE).unwrap_err().to_string().contains("lira-online"));
    }
}
