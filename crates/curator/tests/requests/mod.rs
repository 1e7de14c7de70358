//! Requests as a caller of the library makes them.

mod budgets;
mod certificates;
mod devices;
mod limits;
mod memory;
mod reading;
