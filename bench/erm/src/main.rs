//! Fits every method on Adult and KDDCup99, and writes the features for the peers.
//!
//! ```text
//! reticent-bench-erm features adult|kdd OUT     train and test features as .npy, dense
//! reticent-bench-erm fits adult|kdd SEEDS       a line of JSON per fit
//! reticent-bench-erm tail adult|kdd METHOD EPSILON FITS
//!                                               the same for many fits of one method, to see the worst of them
//! ```
//!
//! The data are found through `RETICENT_DATA`.

mod data;

use anyhow::{Context, Result, bail};
use data::{Sides, load};
use reticent::core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent::erm::{FitMethod, FittedModel, MarginLoss, Settings, SparseRows, evaluate, fit, fit_exact};
use reticent::noise::NoiseSession;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["features", name, out] => load(name)?.write(Path::new(out)),
        ["fits", name, seeds] => fits(name, seeds.parse().context("the number of seeds")?),
        ["tail", name, method, epsilon, seeds] => {
            let epsilon = epsilon.parse().context("epsilon")?;
            tail(name, method, epsilon, seeds.parse().context("the number of fits")?)
        }
        _ => {
            bail!("give: features adult|kdd OUT, fits adult|kdd SEEDS, or tail adult|kdd METHOD EPSILON FITS")
        }
    }
}

/// A way to fit: name, method, whether δ is 1/n², relation.
const WAYS: [(&str, FitMethod, bool, Neighboring); 8] = [
    ("objective", FitMethod::Objective, false, Neighboring::ReplaceOne),
    ("output", FitMethod::Output, false, Neighboring::ReplaceOne),
    ("objective", FitMethod::Objective, false, Neighboring::AddRemove),
    ("objective", FitMethod::Objective, true, Neighboring::ReplaceOne),
    ("objective", FitMethod::Objective, true, Neighboring::AddRemove),
    ("output", FitMethod::Output, true, Neighboring::ReplaceOne),
    ("gradient", FitMethod::Descent, true, Neighboring::ReplaceOne),
    ("gradient", FitMethod::Descent, true, Neighboring::AddRemove),
];

const EPSILONS: [f64; 7] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0];

fn fits(name: &str, seeds: u32) -> Result<()> {
    let sides = load(name)?;
    let (train, test) = (sides.rows(&sides.train)?, sides.rows(&sides.test)?);
    let (exact, seconds) = timed(|| Ok(fit_exact(&train, MarginLoss::Logistic, &Settings::default())?))?;
    print(&sides, &test, "exact", None, Neighboring::ReplaceOne, &exact, seconds)?;
    for way in WAYS {
        for epsilon in EPSILONS {
            repeat(&sides, (&train, &test), way, epsilon, seeds)?;
        }
    }
    Ok(())
}

/// Many fits of every way with this method.
fn tail(name: &str, method: &str, epsilon: f64, seeds: u32) -> Result<()> {
    let sides = load(name)?;
    let (train, test) = (sides.rows(&sides.train)?, sides.rows(&sides.test)?);
    for way in WAYS.into_iter().filter(|(own, ..)| *own == method) {
        repeat(&sides, (&train, &test), way, epsilon, seeds)?;
    }
    Ok(())
}

/// So many fits of one way.
fn repeat(
    sides: &Sides,
    (train, test): (&SparseRows<'_>, &SparseRows<'_>),
    (way, method, approximate, neighboring): (&str, FitMethod, bool, Neighboring),
    epsilon: f64,
    seeds: u32,
) -> Result<()> {
    let n = train.len() as u64;
    let settings = match neighboring {
        Neighboring::AddRemove => Settings::add_remove(n),
        Neighboring::ReplaceOne => Settings::default(),
    };
    let delta = if approximate { (n as f64).powi(-2) } else { 0.0 };
    let budget = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? };
    let mut session = NoiseSession::without_limit(&settings.unit, neighboring)?;
    for _ in 0..seeds {
        let (fitted, seconds) =
            timed(|| Ok(fit(train, MarginLoss::Logistic, method, budget, &settings, &mut session)?))?;
        print(sides, test, way, Some(budget), neighboring, &fitted, seconds)?;
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let done = work()?;
    Ok((done, start.elapsed().as_secs_f64()))
}

fn print(
    sides: &Sides,
    test: &SparseRows<'_>,
    way: &str,
    budget: Option<Guarantee>,
    neighboring: Neighboring,
    fitted: &FittedModel,
    seconds: f64,
) -> Result<()> {
    let found = evaluate(fitted, test)?;
    let line = json!({
        "data": sides.name, "method": way, "neighboring": neighboring.to_string(),
        "epsilon": budget.map(|budget| budget.epsilon.get()), "delta": budget.map(|budget| budget.delta.get()),
        "accuracy": found.accuracy, "majority": found.majority, "seconds": seconds,
        "warned": !fitted.report.warnings.is_empty(),
    });
    println!("{line}");
    Ok(())
}
