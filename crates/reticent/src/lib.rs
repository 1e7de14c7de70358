//! Reticent: private machine learning in one library. This crate holds no logic: it gathers the
//! others under one name and draws the map.
//!
//! # How data flows
//!
//! ```text
//!   tables, images, texts                entropy of the operating system
//!           │                                        │
//!         data ── rows, by a public schema         noise ── exact samplers, mechanisms, queries
//!           │                                        │
//!           ├───────────────┬────────────────────────┤
//!           │               │                        │
//!        release          learn                    train
//!     noise::query       erm::fit              train::Trainer
//!           │               │                        │
//!           └── values ─────┴─ models ───────────────┘
//!                 │  and with each its Events
//!                 ↓
//!             accounting ── what Events add up to: (ε, δ), from both sides
//!                 ↓
//!           core::Certificate ── what was protected, what happened, what it cost, what was public
//!
//!       a model of ours, or scores of anybody's
//!                 ↓
//!     attack ── reference models, canaries ──→ audit::Study
//!                                                    ↓
//!                      audit ── strength of attacks, ε from below, who is at risk: Findings
//!                                                    ↓
//!                     report ── Findings and Certificate on one page of HTML, and as JSON
//! ```
//!
//! Mechanisms know nothing of accountants: an [`Event`](core::Event) is the language between them. Nothing is drawn before its
//! events are charged to a [`Session`](noise::Session): mechanisms, fits and trainers need the [`Permit`](core::Permit) that follows.
//! The command `reticent` is made of this crate alone.
//!
//! # The crates
//!
//! | here | what is in it | where to start reading |
//! |---|---|---|
//! | [`core`] | the vocabulary: checked quantities, events, certificates, directed rounding | [`core::Event`], [`core::Certificate`] |
//! | [`noise`] | the only entropy source, exact samplers, mechanisms, queries | [`noise::Session`], [`noise::query`] |
//! | [`accounting`] | composition theorems, Rényi and tight accountants, calibration | [`accounting::Accountant`] |
//! | [`data`] | CSV and Parquet, the public schema, encoders, splits, images, arrays | [`data::TableFile`], [`data::Schema`] |
//! | [`erm`] | linear models by output, objective and gradient perturbation | [`erm::fit()`] |
//! | [`train`] | networks by DP-SGD: sampling, clipping, noise, checkpoints | [`train::PrivacyPlan`], [`train::Trainer`] |
//! | [`attack`] | models under attack: reference models and canaries | [`attack::ReferencePlan`] |
//! | [`audit`] | attacks on scores, lower bounds on ε, risk of records and groups | [`audit::examine`], [`audit::bound`] |
//! | [`report`] | the page for whoever assesses a risk, charts, digits | [`report::html`] |
//!
//! # The four verbs
//!
//! **Release**: a number about private rows, with its interval and its cost.
//!
//! ```
//! use reticent::core::{Epsilon, Neighboring};
//! use reticent::noise::query::{self, Terms};
//! use reticent::noise::Session;
//!
//! let mut session = Session::without_limit("row", Neighboring::AddRemove)?;
//! let terms = Terms::pure(Epsilon::new(1.0)?);
//! // What it costs is charged before a row is read.
//! let mut permit = session.charge(&query::quote(|source| query::count(source, &terms, 0))?)?;
//! let answer = query::count(&mut session.with(&mut permit), &terms, 1234)?;
//! println!("{} (95 %: {:?}), cost {}", answer.value, answer.interval[0], answer.guarantee);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Learn**: a model whose weights tell little about any one row. Networks are trained by [`train::Trainer`].
//!
//! ```
//! use reticent::core::{Delta, Epsilon, Guarantee};
//! use reticent::erm::{Loss, Method, Rows, Settings, fit};
//! use reticent::noise::Session;
//!
//! // Sparse rows of norm at most 1, labels -1 and 1: row i has the columns from offsets[i] to offsets[i + 1].
//! let (offsets, columns) = ([0, 1, 2, 3, 4], [0, 1, 0, 1]);
//! let (values, labels) = ([1.0, 1.0, 0.5, 0.5], [1.0, -1.0, 1.0, -1.0]);
//! let rows = Rows::new(2, &offsets, &columns, &values, &labels)?;
//! let budget = Guarantee { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-6)? };
//! let settings = Settings::default();
//! let mut session = Session::without_limit(&settings.unit, settings.neighboring)?;
//! let model = fit(&rows, Loss::Logistic, Method::Objective, budget, &settings, &mut session)?;
//! let certificate = model.certificate.ok_or("no certificate")?;
//! assert!(certificate.guarantee.epsilon.get() <= 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Account**: what a training run costs, known from both sides; the upper end is the claim.
//!
//! ```
//! use reticent::accounting::{Accountant, Method};
//! use reticent::core::{Delta, Event, Neighboring, NoiseMultiplier, SamplingRate};
//!
//! let step = Event::PoissonSampled {
//!     rate: SamplingRate::new(0.01)?,
//!     event: Box::new(Event::Gaussian { noise_multiplier: NoiseMultiplier::new(1.0)? }),
//! };
//! let mut account = Accountant::new(Neighboring::AddRemove, Method::Pld);
//! account.compose(&step, 1000)?;
//! let epsilon = account.epsilon(Delta::new(1e-5)?)?;
//! assert!(epsilon.lower > 1.82823 && epsilon.upper < 1.82824);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Audit**: what scores of records that were put in by coin prove about ε, whoever trained the model.
//!
//! ```
//! use reticent::audit::Membership;
//! use reticent::audit::bound::{self, BoundSettings, Method};
//! use reticent::audit::metrics::{MetricSettings, measure};
//!
//! // Who was put in; in an audit a coin decides for every record. The model gives away a tenth of the members.
//! let members: Vec<bool> = (0..2000).map(|record| record * 7919 % 2003 < 1000).collect();
//! let scores = (0..2000).map(|record| match members[record] && record % 10 == 0 {
//!     true => 2.0,
//!     false => (record * 104_729 % 1000) as f64 / 1000.0,
//! });
//! let study = Membership::new(scores.collect(), members.clone())?;
//! let found = measure(&study, &MetricSettings::default())?;
//! let proven = bound::lower(&study, Method::OneRun, &BoundSettings::new(1e-5, "example"))?;
//! println!("AUC {:.3}; epsilon is at least {:.2}, with 95 % confidence", found.auc.value, proven.value);
//! assert!(proven.value > 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use reticent_accounting as accounting;
pub use reticent_attack as attack;
pub use reticent_audit as audit;
pub use reticent_core as core;
pub use reticent_curator as curator;
pub use reticent_data as data;
pub use reticent_erm as erm;
pub use reticent_noise as noise;
pub use reticent_report as report;
pub use reticent_train as train;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
