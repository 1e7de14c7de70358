//! Burn modules as models: what the taps give is what a loop of one-example backward passes gives.
#![allow(clippy::unwrap_used)]

mod conformance;
mod inspect;
mod networks;
mod reference;
mod refusals;
