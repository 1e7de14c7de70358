//! How certificates are read: the present form and those from before it.

use super::chain::{COUNT, SCHEMA};
use super::{Certificate, Guarantee};
use crate::{Event, Fact, InvalidValue, Neighboring};
use serde::{Deserialize, Serialize, Serializer};

/// The version of certificates that is written and read.
const VERSION: u64 = 1;

/// The version of every certificate in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Version;

impl Version {
    /// Refuses every other version.
    pub(crate) fn check(found: u64) -> Result<Self, InvalidValue> {
        if found == VERSION {
            return Ok(Self);
        }
        let remedy = format!("this program reads certificates of version {VERSION}: use a newer one");
        Err(InvalidValue::new("version", found, remedy))
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(VERSION)
    }
}

/// Whether a certificate without a version lists events that earlier answers among them decided. Such events were not held
/// apart once; their `accountant` says that a count or a schema came first.
pub(crate) fn are_decided(accountant: &str, is_held_apart: bool) -> bool {
    !is_held_apart && [COUNT, SCHEMA].iter().any(|first| accountant.starts_with(first))
}

/// A certificate as it is read.
#[derive(Deserialize)]
#[serde(expecting = "struct Certificate")]
pub(super) struct Wire {
    #[serde(default)]
    version: Option<u64>,
    unit: String,
    neighboring: Neighboring,
    #[serde(deserialize_with = "crate::event::validated")]
    events: Vec<Event>,
    #[serde(default, deserialize_with = "crate::event::validated")]
    adaptive: Vec<Event>,
    #[serde(flatten)]
    guarantee: Guarantee,
    accountant: String,
    public: Vec<Fact>,
}

impl TryFrom<Wire> for Certificate {
    type Error = InvalidValue;

    fn try_from(wire: Wire) -> Result<Self, InvalidValue> {
        let Wire { version, unit, neighboring, mut events, mut adaptive, guarantee, accountant, public } =
            wire;
        match version {
            Some(version) => {
                Version::check(version)?;
            }
            // Composing these events proves nothing: the claim stands for them.
            None if are_decided(&accountant, !adaptive.is_empty()) => {
                adaptive = std::mem::replace(&mut events, vec![guarantee.claim()]);
            }
            None => {}
        }
        Ok(Self { version: Version, unit, neighboring, events, adaptive, guarantee, accountant, public })
    }
}
