//! What a claim about gradients that another framework computed rests on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a loss combines the losses of the examples of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossReduction {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
}

/// How it is known that examples do not mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MixingCheck {
    /// By declaration alone.
    Declared,
    /// The module was run on made-up inputs.
    Module,
    /// The module and the loss were run on made-up inputs.
    ModuleAndLoss,
}

/// Why gradients that another framework computed are those of single units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradientPremise {
    /// How the loss combines the losses of examples.
    pub loss_reduction: LossReduction,
    /// How it is known that the module and the loss do not mix examples.
    pub check: MixingCheck,
    /// Whether it is declared that the loss ignores the target of no example.
    #[serde(default)]
    pub counts_all_targets: bool,
    /// The number of processes that are declared to have the same examples in the same order; none if there is one process.
    #[serde(default)]
    pub processes: Option<u64>,
}

impl fmt::Display for GradientPremise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reduction = match self.loss_reduction {
            LossReduction::Mean => "mean",
            LossReduction::Sum => "sum",
        };
        let check = match self.check {
            MixingCheck::Declared => "declared, not checked",
            MixingCheck::Module => "checked on made-up inputs",
            MixingCheck::ModuleAndLoss => "checked on made-up inputs and through the criterion",
        };
        write!(
            f,
            "a loss that is the {reduction} over the examples of a batch of losses that depend on one example each, and a module that \
             does not mix examples ({check})"
        )?;
        if self.counts_all_targets {
            f.write_str("; no example has a target that the criterion ignores (declared)")?;
        }
        match self.processes {
            Some(count) => {
                write!(f, "; {count} processes have the same examples in the same order (declared)")
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_told() {
        let premise = GradientPremise {
            loss_reduction: LossReduction::Mean,
            check: MixingCheck::ModuleAndLoss,
            counts_all_targets: true,
            processes: Some(2),
        };
        let json =
            r#"{"loss_reduction":"mean","check":"module-and-loss","counts_all_targets":true,"processes":2}"#;
        assert_eq!(serde_json::to_string(&premise).unwrap(), json);
        assert_eq!(serde_json::from_str::<GradientPremise>(json).unwrap(), premise);
        let told = premise.to_string();
        for part in ["the mean over", "through the criterion", "a target that", "2 processes"] {
            assert!(told.contains(part), "{told}");
        }
        let other = r#"{"loss_reduction":"sum","check":"declared"}"#;
        let other = serde_json::from_str::<GradientPremise>(other).unwrap().to_string();
        assert!(other.contains("the sum over") && other.ends_with("(declared, not checked)"), "{other}");
    }
}
