//! Requests as a caller of the library makes them, one module a suite.
#![allow(clippy::unwrap_used)]

mod requests;
