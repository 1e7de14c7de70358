//! Requests as a caller of the library makes them.

mod attribute;
mod budgets;
mod certificates;
mod devices;
mod federated;
mod limits;
mod memory;
mod reading;
mod start;
