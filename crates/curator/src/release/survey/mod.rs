//! Surveys in the local model: every answer is randomized independently, and population proportions are
//! estimated afterwards.
//!
//! ```
//! use reticent_curator::release::survey::{EstimateShares, Randomize};
//! use reticent_curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let (file, out) = (folder.path().join("survey.csv"), folder.path().join("randomized.csv"));
//! std::fs::write(&file, "smokes\nyes\nno\nno\n")?;
//! let answers = ["yes", "no"].map(str::to_owned).to_vec();
//! let mut session = Session::without_limit()?;
//! let randomized = Randomize::new(&file, "smokes", answers.clone(), 1.0, &out).check()?.run(&mut session)?;
//! let shares = EstimateShares::new(&out, "smokes", answers, 1.0).check()?.run(&mut session)?;
//! assert_eq!((randomized.rows, shares.shares.len()), (3, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod estimate;
mod randomize;

pub use estimate::{EstimateShares, Estimated, PlannedEstimate, Share};
pub use randomize::{PlannedRandomize, Randomize, Randomized};

/// Below this ε answers are as good as coin flips.
const LEAST_EPSILON: f64 = 1e-6;
