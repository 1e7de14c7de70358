//! Requests as a caller of the library makes them.
#![allow(clippy::unwrap_used)]

mod budgets;
mod certificates;
mod limits;
