//! Stored models as targets of an audit.

pub(super) mod linear;
pub(super) mod network;

pub use network::canary_training;
