//! Times stored budgets and prints one JSON object per measurement: `cargo run --release --package reticent-bench-ledger [ENTRIES
//! [FOLDER [RECORD]]]`.
//!
//! A record of so many entries (100 000 unless given) is built in memory (`/dev/shm`), where syncs cost nothing, and then copied to
//! the folder (the system's temporary one unless given), where opening and charging are timed. A record that was built before may be
//! given instead.

use anyhow::{Context, Result};
use reticent_accounting::filter::{Filter, FilterRule, FilterState};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, Plan, SamplingRate};
use reticent_ledger::{Asking, BudgetStore, BudgetTerms, Charge, QuestionDigest, SqliteBudget, StoreOptions};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Repetitions of a measurement.
const TIMES: usize = 41;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let entries: u64 = words.next().map_or(Ok(100_000), |text| text.parse())?;
    let folder = words.next().map_or_else(std::env::temp_dir, PathBuf::from);
    accounting()?;
    let disk = tempfile::tempdir_in(&folder)?;
    let memory =
        tempfile::tempdir_in(if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { folder })?;
    let built = match words.next() {
        Some(record) => PathBuf::from(record),
        None => build(&memory.path().join("bench.budget"), entries)?,
    };
    let path = disk.path().join("bench.budget");
    std::fs::copy(&built, &path)?;
    println!("{}", json!({"case": "file", "entries": entries, "bytes": std::fs::metadata(&path)?.len()}));
    let options = || StoreOptions::default().sealed_in(disk.path().join("seals"));
    drop(SqliteBudget::open(&path, options())?);
    print("open", median(|| SqliteBudget::open(&path, options()).map(drop))?, entries);
    let mut store = SqliteBudget::open(&path, options())?;
    print("status", median(|| store.status().map(drop))?, entries);
    let asked = QuestionDigest::of(b"question 7");
    print("remembered", median(|| store.remembered(&asked.into()).map(drop))?, entries);
    let mut number = 0;
    let charged = median(|| {
        number += 1;
        store
            .reserve(&charge(pure()?, &format!("new question {number}")))
            .map(drop)
            .map_err(anyhow::Error::from)
    })?;
    print("charge, synced", charged, entries);
    let start = Instant::now();
    let problems = store.verify()?;
    anyhow::ensure!(problems.is_empty(), "{problems:?}");
    print("verify", start.elapsed(), entries);
    Ok(())
}

/// Builds a record: a charge and its commit are two entries.
fn build(path: &Path, entries: u64) -> Result<PathBuf> {
    let start = Instant::now();
    let mut store = SqliteBudget::create(path, &terms()?, StoreOptions::default())?;
    for number in 0..entries / 2 {
        let entry = store.reserve(&charge(pure()?, &format!("question {number}")))?;
        store.commit(entry, Some(b"{\"estimate\": 4711.0, \"error\": 12.5}"))?;
    }
    drop(store);
    print("build without syncs, per entry", start.elapsed() / u32::try_from(entries.max(1))?, entries);
    Ok(path.to_owned())
}

fn guarantee(epsilon: f64, delta: f64) -> Result<Guarantee> {
    Ok(Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
}

fn terms() -> Result<BudgetTerms> {
    Ok(BudgetTerms::new("bench", guarantee(1e3, 1e-6)?, Neighboring::AddRemove, "row"))
}

fn pure() -> Result<Plan> {
    Ok(Plan::new(vec![Event::Pure { epsilon: Epsilon::new(1e-4)? }])?)
}

fn charge(plan: Plan, about: &str) -> Charge {
    let question = Some(QuestionDigest::of(about.as_bytes()));
    Charge { plan, asking: Asking { question, about: about.to_owned(), ..Asking::default() } }
}

fn gaussian(z: f64) -> Result<Event> {
    Ok(Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z)? })
}

/// The accounting of a charge by itself: from the state as text, through the filter, to the next state as text.
fn accounting() -> Result<()> {
    let page: Vec<Event> = (0..20_u32)
        .map(|part| match part % 2 {
            0 => gaussian(20.0 + f64::from(part)),
            _ => Ok(Event::Laplace { noise_multiplier: NoiseMultiplier::new(40.0 + f64::from(part))? }),
        })
        .collect::<Result<_>>()?;
    let step = Event::PoissonSampled { rate: SamplingRate::new(0.01)?, event: Box::new(gaussian(1.2)?) };
    let plans = [
        ("a count", pure()?),
        ("a Gaussian mean", Plan::new(vec![gaussian(30.0)?])?),
        ("a page of 20 parts", Plan::new(page)?),
        (
            "a training of 1000 steps",
            Plan::new(vec![Event::Repeated { count: 1000, event: Box::new(step) }])?,
        ),
    ];
    for (name, plan) in plans {
        let mut used = Filter::new(guarantee(30.0, 1e-6)?, Neighboring::AddRemove, FilterRule::Best)?;
        anyhow::ensure!(used.admit(&pure()?)?, "{name}");
        let before = used.state().to_string();
        let time = median(|| -> Result<()> {
            let mut filter = Filter::restore(before.parse::<FilterState>()?);
            anyhow::ensure!(filter.admit(&plan)?, "{name} does not fit");
            anyhow::ensure!(filter.state().to_string() != before);
            Ok(())
        });
        println!("{}", json!({"case": "accounting", "plan": name, "milliseconds": milliseconds(time?)}));
    }
    Ok(())
}

fn median<T, E: Into<anyhow::Error>>(mut work: impl FnMut() -> Result<T, E>) -> Result<Duration> {
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let start = Instant::now();
        work().map_err(Into::into)?;
        times.push(start.elapsed());
    }
    times.sort();
    times.get(TIMES / 2).copied().context("no times")
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn print(case: &str, time: Duration, entries: u64) {
    println!("{}", json!({"case": case, "entries": entries, "milliseconds": milliseconds(time)}));
}
