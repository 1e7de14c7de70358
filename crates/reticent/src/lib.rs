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
//! The verbs that go these ways are requests of [`curator`]. Mechanisms know nothing of accountants: an [`Event`](core::Event) is the language between them. Nothing is drawn before its
//! events are charged to a [`NoiseSession`](noise::NoiseSession): mechanisms, fits and trainers need the [`Permit`](core::Permit) that follows.
//! The command `reticent` is made of this crate alone.
//!
//! # The crates
//!
//! | here | what is in it | where to start reading |
//! |---|---|---|
//! | [`curator`] | the verbs as requests, sessions, model folders: begin here | [`curator::Request`], [`curator::Session`] |
//! | [`core`] | the vocabulary: checked quantities, events, certificates, directed rounding | [`core::Event`], [`core::Certificate`] |
//! | [`noise`] | the only entropy source, exact samplers, mechanisms, queries | [`noise::NoiseSession`], [`noise::query`] |
//! | [`accounting`] | composition theorems, Rényi and tight accountants, calibration | [`accounting::Accountant`] |
//! | [`ledger`] | budgets on disk: charges on record before noise is drawn, remembered answers, sub-budgets | [`ledger::BudgetStore`], [`ledger::SqliteBudget`] |
//! | [`files`] | atomic writes, lock files | [`files::write_atomic`] |
//! | [`data`] | tables (CSV, Parquet, Arrow, memory), the public schema, encoders, splits, images, arrays | [`data::Table`], [`data::Schema`] |
//! | [`erm`] | linear models by output, objective and gradient perturbation | [`erm::fit()`] |
//! | [`train`] | networks by DP-SGD: sampling, clipping, noise, checkpoints | [`train::PrivacyPlan`], [`train::Trainer`] |
//! | `burn` | modules of the Burn framework, behind the feature `burn` | `burn::BurnModel` |
//! | [`attack`] | models under attack: reference models and canaries | [`attack::ReferencePlan`] |
//! | [`audit`] | attacks on scores, lower bounds on ε, risk of records and groups | [`audit::examine`], [`audit::bound`] |
//! | [`report`] | the page for whoever assesses a risk, charts, digits | [`report::html`] |
//!
//! # The verbs
//!
//! Each verb is a request of [`curator`]: plain data that are checked, charged to a [`Session`](curator::Session) and run. The crates
//! below it are for what no verb does.
//!
//! **Release**: a number about private rows, with its interval and its cost.
//!
//! ```
//! use reticent::curator::release::{ReleaseQuestion, Release};
//! use reticent::curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("people.csv");
//! std::fs::write(&file, "age\n30\n41\n57\n")?;
//! let count = Release::new(&file, ReleaseQuestion::Count { column: None, error: None }, 1.0);
//! let released = count.check()?.run(&mut Session::without_limit()?)?;
//! println!("{:?}, cost {}", released.found, released.certificate.guarantee);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Learn**: a model whose weights tell little about any one row. [`Train`](curator::train::Train) asks for a network.
//!
//! ```
//! use reticent::curator::fit::Fit;
//! use reticent::curator::{Planned, Request, Session};
//!
//! // The bundled census records.
//! let request = Fit { epsilon: Some(1.0), ..Fit::default() };
//! let fitted = request.check()?.run(&mut Session::without_limit()?)?;
//! assert!(fitted.certificate.is_some_and(|certificate| certificate.guarantee.epsilon.get() <= 1.0));
//! # Ok::<(), reticent::curator::Refusal>(())
//! ```
//!
//! **Account**: what a training run costs, known from both sides; the upper end is the claim.
//!
//! ```
//! use reticent::curator::account::{Account, AccountResult, Activity, AccountQuestion, TrainingShorthand};
//!
//! let training = TrainingShorthand { noise_multiplier: Some(1.0), sampling_rate: Some(0.01), steps: Some(1000), ..TrainingShorthand::default() };
//! let question = AccountQuestion::Epsilon { delta: 1e-5, width: None };
//! let AccountResult::Epsilon(epsilon) = Account::new(question, Activity::Training(training)).answer()?.found else { unreachable!() };
//! assert!(epsilon.lower > 1.82823 && epsilon.upper < 1.82824);
//! # Ok::<(), reticent::curator::Refusal>(())
//! ```
//!
//! **Audit**: what scores of records that were put in by coin prove about ε, whichever tool trained the model.
//!
//! ```
//! use reticent::curator::audit::{Audit, Drawn, Outcome, ScoreAudit};
//! use reticent::curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let scores = folder.path().join("scores.csv");
//! // The model gives away a fifth of the members.
//! let row = |record: u64| (record * 7919 % 2003 < 1000, record % 5 == 0, record * 104_729 % 1000);
//! let lines = (0..2000).map(row).map(|(member, told, score)| {
//!     format!("{},{}\n", if member && told { 2000 } else { score }, u8::from(member))
//! });
//! std::fs::write(&scores, "score,member\n".to_owned() + &lines.collect::<String>())?;
//! let request = Audit::Scores(ScoreAudit { scores, drawn: Some(Drawn::Coins(0.5)), ..ScoreAudit::default() });
//! let Outcome::Found(found) = request.check()?.run(&mut Session::without_limit()?)? else { unreachable!() };
//! assert!(found.findings.epsilon_lower.is_some_and(|bound| bound.value > 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use reticent_accounting as accounting;
pub use reticent_attack as attack;
pub use reticent_audit as audit;
#[cfg(feature = "burn")]
pub use reticent_burn as burn;
pub use reticent_core as core;
pub use reticent_curator as curator;
pub use reticent_data as data;
pub use reticent_erm as erm;
pub use reticent_files as files;
pub use reticent_ledger as ledger;
pub use reticent_noise as noise;
pub use reticent_report as report;
pub use reticent_train as train;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
