//! The arithmetic that takes the time, on one thread, with the processor's widest vectors.

pub(super) mod activation;
pub mod product;
pub(super) mod slide;
pub(super) mod sparse;
pub(super) mod transpose;
pub(super) mod vector;

#[cfg(test)]
mod tests;
