//! Stored models as targets of an audit.

pub(super) mod linear;
pub(super) mod network;

pub use network::canary_training;

use crate::refusal::Refusal;

/// The refusal of members as non-members.
fn same_data(name: &str) -> Refusal {
    let remedy = "these are the training data themselves: give data that the model was not trained on";
    Refusal::conflict("non_members", name, remedy)
}
