//! The help below the flags of the commands.

pub(super) mod account;
pub(super) mod audit;
pub(super) mod demo;
pub(super) mod learn;
pub(super) mod manual;
pub(super) mod release;
pub(super) mod schema;
