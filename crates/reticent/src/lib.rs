//! Reticent: private machine learning in one library. This crate holds no logic: it gathers the
//! others under one name and draws the map.
//!
//! ```text
//!  core            vocabulary: Epsilon, Delta, Neighboring, Event, Certificate; directed rounding
//!   ↑   ↑   ↑
//!   │   │  data     tables in: CSV, Parquet; filters; atomic rewriting
//!   │  accounting   Event in: composition theorems, Rényi and tight accountants; (ε, δ) out
//!  noise   ↑        the entropy source, exact samplers, mechanisms, queries: (value, Event) out
//!   ↑      │
//!   ├──── erm        private linear models: (model, Events) out
//!   └──── train      networks by DP-SGD: (weights, Certificate) out
//!           ↑
//!         attack     reference models and canaries: a Study out
//!           ↓
//!         audit      Study or score table in: strength of attacks, ε from below, who is at risk
//!           ↓
//!         report     Findings and Certificate in: one page of HTML, and JSON
//! ```
//!
//! Mechanisms know nothing of accountants: an [`Event`](core::Event) is the language between them.
//!
//! ```
//! use reticent::core::Epsilon;
//! use reticent::noise::query::{self, Terms};
//! use reticent::noise::Entropy;
//!
//! let mut entropy = Entropy::new()?;
//! let terms = Terms::pure(Epsilon::new(1.0)?);
//! let answer = query::count(&mut entropy, &terms, 1234)?;
//! println!("{} (95 %: {:?}), cost {}", answer.value, answer.interval[0], answer.guarantee);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use reticent_accounting as accounting;
pub use reticent_attack as attack;
pub use reticent_audit as audit;
pub use reticent_core as core;
pub use reticent_data as data;
pub use reticent_erm as erm;
pub use reticent_noise as noise;
pub use reticent_report as report;
pub use reticent_train as train;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
