//! Audits of arrays and files, one module a suite.
#![allow(clippy::unwrap_used)]

mod coverage;
mod draws;
mod files;
mod registry;
mod validity;
