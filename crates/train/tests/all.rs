//! Training as a caller of the library does it, one module a suite.
#![allow(clippy::unwrap_used)]

mod adapted;
mod contract;
mod cuda;
mod cyclic;
mod encoded;
mod federated;
mod growth;
mod guest;
mod guest_clip;
mod inspect;
mod language;
mod model;
mod parties;
mod quantile;
mod repeatable;
mod resume;
mod sparse;
mod training;
