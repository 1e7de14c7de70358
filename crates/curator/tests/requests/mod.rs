//! Requests as a caller of the library makes them.

mod budgets;
mod certificates;
mod limits;
mod memory;
mod reading;
