//! The accountant against references, against itself and against what went wrong elsewhere.

#![allow(clippy::unwrap_used)]

mod conformance;
mod counting;
mod events;
mod extremes;
mod golden;
mod peers;
mod trees;
