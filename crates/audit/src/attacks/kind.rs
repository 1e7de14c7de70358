use serde::{Deserialize, Serialize};

/// The question that an attack answers: the kinds that EDPB Opinion 28/2024 names in paragraph 55.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackKind {
    /// Was a record, or a person, in the training data?
    #[default]
    MembershipInference,
    /// What is the missing attribute of a known person?
    AttributeInference,
    /// Can training data be extracted?
    Exfiltration,
    /// Does the model repeat training data in its output?
    Regurgitation,
    /// What does a typical input of a class or person look like?
    ModelInversion,
    /// Can whole training records be rebuilt?
    Reconstruction,
}

impl AttackKind {
    /// All of them, in the order of the Opinion.
    pub const ALL: [Self; 6] = [
        Self::MembershipInference,
        Self::AttributeInference,
        Self::Exfiltration,
        Self::Regurgitation,
        Self::ModelInversion,
        Self::Reconstruction,
    ];

    /// Its name in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MembershipInference => "membership inference",
            Self::AttributeInference => "attribute inference",
            Self::Exfiltration => "exfiltration",
            Self::Regurgitation => "regurgitation",
            Self::ModelInversion => "model inversion",
            Self::Reconstruction => "reconstruction",
        }
    }

    /// What the attacker wants to learn.
    pub const fn goal(self) -> &'static str {
        match self {
            Self::MembershipInference => "tell whether the record was in the training data",
            Self::AttributeInference => "infer a missing attribute of a known person",
            Self::Exfiltration => "extract training data from the model",
            Self::Regurgitation => "make the model repeat training data",
            Self::ModelInversion => "find a typical input of a class or person",
            Self::Reconstruction => "rebuild whole training records",
        }
    }
}
