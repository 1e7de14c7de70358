//! Entries as they are stored, and the digests that chain them.

use crate::charge::hex;
use crate::{BudgetEntry, BudgetTerms, DataName, EntryId, EntryKind, Moment, SubBudget};
use reticent_core::{Event, Plan};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256.
pub(crate) type Digest = [u8; 32];

/// What comes before the first entry.
pub(crate) const ORIGIN: Digest = [0; 32];

/// The kinds of entries by their stored names.
pub(crate) mod kind {
    pub(crate) const CREATED: &str = "created";
    pub(crate) const RESERVED: &str = "reserved";
    pub(crate) const COMMITTED: &str = "committed";
    pub(crate) const RECALLED: &str = "recalled";
    pub(crate) const DATA: &str = "data";
    pub(crate) const SUB_BUDGET: &str = "sub_budget";
    pub(crate) const CLOSED: &str = "closed";
}

/// An entry as it is stored. Every field is covered by the digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub(crate) number: u64,
    pub(crate) kind: String,
    /// What the clock said.
    pub(crate) time: i64,
    /// The latest that the clock said in any entry up to this one.
    pub(crate) latest: i64,
    /// How many reservations there are up to this one.
    pub(crate) charges: u64,
    /// The last entry up to this one that has the state of the total.
    pub(crate) charged: u64,
    pub(crate) analyst: Option<String>,
    pub(crate) purpose: Option<String>,
    pub(crate) question: Option<Digest>,
    /// The reservation that is committed.
    pub(crate) refers: Option<u64>,
    /// What the entry says, as JSON.
    pub(crate) body: String,
    /// The digest of the answer that is kept with it.
    pub(crate) answer: Option<Digest>,
    /// The states of the filters after it, where it changed them.
    pub(crate) state: Option<String>,
    pub(crate) analyst_state: Option<String>,
    pub(crate) purpose_state: Option<String>,
    pub(crate) digest: Digest,
}

/// The body of a reservation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reserved {
    about: String,
    events: Vec<Event>,
}

/// The body of a closing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Closing {
    reason: String,
}

/// An entry that cannot be read.
pub(crate) struct Unread(pub(crate) String);

impl Record {
    /// The first entry.
    pub(crate) fn first(body: String, time: i64, state: String) -> Self {
        let first = Self {
            number: 0,
            kind: kind::CREATED.to_owned(),
            time,
            latest: time,
            charges: 0,
            charged: 0,
            analyst: None,
            purpose: None,
            question: None,
            refers: None,
            body,
            answer: None,
            state: Some(state),
            analyst_state: None,
            purpose_state: None,
            digest: ORIGIN,
        };
        first.chained(&ORIGIN)
    }

    /// The entry after this one, about nothing yet; [`chained`](Self::chained) completes it.
    pub(crate) fn next(&self, kind: &str, time: i64, body: String) -> Self {
        Self {
            number: self.number + 1,
            kind: kind.to_owned(),
            time,
            latest: self.latest.max(time),
            charges: self.charges,
            charged: self.charged,
            body,
            ..Self::first(String::new(), 0, String::new()).without_state()
        }
    }

    fn without_state(self) -> Self {
        Self { state: None, ..self }
    }

    /// The same entry with the digest that follows from the one before.
    pub(crate) fn chained(self, previous: &Digest) -> Self {
        let digest = self.follows(previous);
        Self { digest, ..self }
    }

    /// The digest that it has after this one.
    pub(crate) fn follows(&self, previous: &Digest) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"reticent ledger 1\n");
        hash.update(previous);
        let mut field = |value: Option<&[u8]>| {
            // Presence, length, bytes: no two lists of fields are written alike.
            hash.update([u8::from(value.is_some())]);
            let value = value.unwrap_or_default();
            hash.update((value.len() as u64).to_le_bytes());
            hash.update(value);
        };
        field(Some(&self.number.to_le_bytes()));
        field(Some(self.kind.as_bytes()));
        field(Some(&self.time.to_le_bytes()));
        field(Some(&self.latest.to_le_bytes()));
        field(Some(&self.charges.to_le_bytes()));
        field(Some(&self.charged.to_le_bytes()));
        field(self.analyst.as_deref().map(str::as_bytes));
        field(self.purpose.as_deref().map(str::as_bytes));
        field(self.question.as_ref().map(<[u8; 32]>::as_slice));
        field(self.refers.map(u64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice));
        field(Some(self.body.as_bytes()));
        field(self.answer.as_ref().map(<[u8; 32]>::as_slice));
        field(self.state.as_deref().map(str::as_bytes));
        field(self.analyst_state.as_deref().map(str::as_bytes));
        field(self.purpose_state.as_deref().map(str::as_bytes));
        hash.finalize().into()
    }

    fn body<T: DeserializeOwned>(&self) -> Result<T, Unread> {
        serde_json::from_str(&self.body).map_err(|error| Unread(format!("its text cannot be read: {error}")))
    }

    pub(crate) fn terms(&self) -> Result<BudgetTerms, Unread> {
        self.body()
    }

    pub(crate) fn data(&self) -> Result<DataName, Unread> {
        self.body()
    }

    pub(crate) fn sub_budget(&self) -> Result<SubBudget, Unread> {
        self.body()
    }

    pub(crate) fn reason(&self) -> Result<String, Unread> {
        Ok(self.body::<Closing>()?.reason)
    }

    pub(crate) fn plan(&self) -> Result<Plan, Unread> {
        let Reserved { events, .. } = self.body()?;
        Plan::new(events).map_err(|invalid| Unread(format!("its events do not fit: {invalid}")))
    }

    /// The entry as it is shown.
    pub(crate) fn shown(&self) -> Result<BudgetEntry, Unread> {
        let kind = match self.kind.as_str() {
            kind::CREATED => EntryKind::Created { terms: self.terms()? },
            kind::RESERVED => {
                let Reserved { about, events } = self.body()?;
                EntryKind::Reserved { events, about }
            }
            kind::COMMITTED => {
                let entry = EntryId(self.refers.ok_or_else(|| Unread("it refers to no entry".to_owned()))?);
                EntryKind::Committed { entry, has_answer: self.answer.is_some() }
            }
            kind::RECALLED => {
                let entry = EntryId(self.refers.ok_or_else(|| Unread("it refers to no entry".to_owned()))?);
                EntryKind::Recalled { entry }
            }
            kind::DATA => EntryKind::DataAdded { data: self.data()? },
            kind::SUB_BUDGET => EntryKind::SubBudgetAdded { sub_budget: self.sub_budget()? },
            kind::CLOSED => EntryKind::Closed { reason: self.reason()? },
            other => return Err(Unread(format!("\"{other}\" is not a kind of entries"))),
        };
        Ok(BudgetEntry {
            entry: EntryId(self.number),
            time: Moment::new(self.time),
            analyst: self.analyst.clone(),
            purpose: self.purpose.clone(),
            question: self.question.map(|digest| hex(&digest)),
            kind,
            digest: hex(&self.digest),
        })
    }
}

/// JSON of plain data, which always exists.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Unread> {
    serde_json::to_string(value).map_err(|error| Unread(error.to_string()))
}

pub(crate) fn reservation(about: &str, plan: &Plan) -> Result<String, Unread> {
    json(&Reserved { about: about.to_owned(), events: plan.events().to_vec() })
}

pub(crate) fn closing(reason: &str) -> Result<String, Unread> {
    json(&Closing { reason: reason.to_owned() })
}
