//! Proof by attack: testers that try to catch Reticent's noise and queries in a lie.
//!
//! | module | what it asks |
//! |---|---|
//! | [`goodness`] | does a sample come from the distribution it claims? |
//! | [`exact`] | those distributions, from formulas |
//! | [`hockey`] | which ε do samples on two neighbouring inputs prove at least? |
//! | [`free`] | draws that nobody limits |
//! | [`replay`] | does the data reach an answer only through its mechanisms? |
//! | [`rank`] | do two measurements rise together? |
//! | [`twins`] | deliberately broken mechanisms that the testers must catch |
//! | [`contract`] | does an engine or a model bound what every unit adds to a gradient sum? |
//! | [`emulator`] | do the kernels of a GPU compute what they should, without a GPU? |
//! | [`budget`] | how often may all this fail by chance? |
//!
//! The suites are in `tests/`. Every run draws fresh randomness.
//!
//! | suite | what it covers |
//! |---|---|
//! | `samplers`, `distributions` | samplers, whole mechanisms and bulk noise against exact distributions |
//! | `mechanisms` | neighbouring inputs, honest mechanisms and broken twins |
//! | `attacks`, `timing` | published attacks on bits, precision, inversion, order, generators, time |
//! | `replay` | every query on neighbouring data with frozen noise, and queries that leak |
//! | `extremes` | extreme and fuzzed arguments |
//! | `training` | Poisson samples, and whole private trainings audited by a canary, with broken twins |
//! | `accuracy` | coverage of errors and intervals, and the ε for an error |
//!
//! # False alarms
//! With everything in order, a run of all suites fails by chance with probability at most 10⁻⁴
//! ([`budget::TOTAL_ALPHA`]). At most [`budget::MAX_TESTS`] = 1000 comparisons are made, each at level
//! 10⁻⁷; [`budget::TABLE`] lists how many each test makes, about a quarter of what is allowed. Binomial
//! and hockey-stick comparisons hold their level exactly and Kolmogorov–Smirnov ones by the
//! Dvoretzky–Kiefer–Wolfowitz inequality; chi-square and correlation comparisons hold it
//! asymptotically (cells are pooled to 100 expected draws), for which the unused part is the margin;
//! timing is held by the median of five measurements.
//!
//! Broken twins are the other way round: each is so far off that the chance of missing one is
//! far below the same 10⁻⁷, and a miss fails the run.

pub mod budget;
pub mod contract;
pub mod emulator;
pub mod exact;
pub mod free;
pub mod goodness;
pub mod hockey;
pub mod rank;
pub mod replay;
pub mod twins;
pub mod vectors;
