//! Attacks on models of our own, one module a suite.
#![allow(clippy::unwrap_used)]

mod artifacts;
mod authors;
mod canaries;
mod federated;
mod linear;
mod references;
mod tiny;
