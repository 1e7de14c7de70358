//! What tells events apart.

use super::Event;

/// An event as words to compare, sort and hash by.
///
/// Two events have the same key exactly where they are equal; numbers are told apart to the last bit, and 0 and −0 are one. A key
/// is for comparisons within one program: it is not stored, as its words depend on the order of the list of kinds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey(Vec<u64>);

impl Event {
    /// What tells it from other events.
    pub fn key(&self) -> EventKey {
        let mut words = Vec::with_capacity(8);
        self.write_key(&mut words);
        EventKey(words)
    }
}
