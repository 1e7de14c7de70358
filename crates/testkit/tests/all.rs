//! The suites that attack the rest, one module each.
#![allow(clippy::unwrap_used)]

mod accounting;
mod accuracy;
mod attacks;
mod cyclic;
mod distributions;
mod encoded;
mod extremes;
mod filters;
mod growth;
mod mechanisms;
mod partitions;
mod parts;
mod replay;
mod requests;
mod samplers;
mod timing;
mod training;
