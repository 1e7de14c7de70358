//! The real binary, one module a suite.
#![allow(clippy::unwrap_used)]

mod account;
mod audit;
mod budget;
mod demo;
mod explain;
mod folder;
mod json;
mod learn;
mod release;
mod schema;
mod temporary;
mod terminal;
mod train_network;
