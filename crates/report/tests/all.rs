//! Reports and stories as pages, one module a suite.
#![allow(clippy::unwrap_used)]

mod hostile;
mod page;
#[allow(dead_code)]
#[path = "../examples/sample.rs"]
mod sample;
mod sheet;
mod story;
