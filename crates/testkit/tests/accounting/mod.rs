//! The accountant against references, against itself and against what went wrong elsewhere.

mod conformance;
mod counting;
mod events;
mod extremes;
mod golden;
mod peers;
mod reconstruction;
mod trees;
