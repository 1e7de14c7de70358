//! Linear parts: sums over rows, group by group, from which the figures of a page are computed.
//!
//! A privacy unit with several rows is bounded first ([`ContributionLimits`]); then every row adds a vector of integers to the sums of
//! its group ([`Part`]), and one release adds noise to the sums of all groups ([`release_part`]). Everything else is
//! post-processing of noisy sums: [`NoisyPart`] has the figures, each with its interval.
//!
//! ```
//! use reticent_core::{Confidence, Epsilon, Neighboring};
//! use reticent_noise::NoiseSession;
//! use reticent_noise::query::parts::{ContributionLimits, Part, PartColumn, PartNoise, RowValue, release_part};
//!
//! let part = Part::moments(PartColumn::new(0.0, 120.0, true)?, 2)?;
//! let mut sums = vec![0; 2 * part.gathered_width()];
//! for (group, age) in [(0, 31.0), (0, 42.0), (1, 77.0)] {
//!     let width = part.gathered_width();
//!     part.add(&mut sums[group * width..(group + 1) * width], RowValue::Number(age));
//! }
//! let limits = ContributionLimits::new(3, 2, None)?; // up to 3 rows in each of 2 groups
//! let mut session = NoiseSession::without_limit("patient", Neighboring::AddRemove)?;
//! let noise = PartNoise::Laplace { epsilon: Epsilon::new(1.0)? };
//! let noisy = release_part(&mut session.charging(), &part, &limits, Neighboring::AddRemove, &noise, &sums)?;
//! let mean = noisy.mean(0, Confidence::P95)?;
//! assert!((0.0..=120.0).contains(&mean.value));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("proof.md")]

mod column;
mod estimate;
mod limits;
mod moments;
mod part;
mod release;
mod tail;
mod tree;

pub use column::PartColumn;
pub use estimate::{CountTable, ErrorOf, Figure, Trend, consistent_counts};
pub use limits::{ContributionLimits, PartSensitivity};
pub use part::{Part, RankTree, RowValue};
pub use release::{NoisyPart, PartMechanism, PartNoise, release_part};
pub use tree::{RangeStrategy, TreeShape, better_margins, better_tree};

#[cfg(test)]
mod tests;
