use serde::{Deserialize, Serialize};
use std::fmt;

/// Which pairs of data sets a guarantee makes hard to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighboring {
    /// One privacy unit is added or removed: the number of records is itself private.
    AddRemove,
    /// One privacy unit's data is replaced by other data: the number of records is public.
    ReplaceOne,
}

impl fmt::Display for Neighboring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddRemove => "add-remove",
            Self::ReplaceOne => "replace-one",
        })
    }
}
