//! Defences against membership inference, each with models of its own as reference models, as JSON.
//!
//! ```text
//! bench-defences FOLDER --out results.json [--threads 2] [--targets 5] [--quick]
//! ```
//!
//! `FOLDER` holds `location30`, `fashion_mnist` and `adult`. First λ of adversarial training is chosen on every data set with models of
//! another key; then every defence is measured. Tasks run beside each other, and the results are written after every one.

mod data;
#[path = "../../audit/src/data.rs"]
mod location;
mod measure;
mod recipe;

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use data::Dataset;
use measure::{Measured, measure};
use recipe::Defence;
use reticent_audit::defence::{DefenceCurve, DefencePoint, compare_curves};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Strengths that are tried on the key `tuning`, which shares no model with the key `judged`.
const TRIED: [f64; 4] = [1.0, 2.0, 3.0, 10.0];

/// Test accuracy that the chosen λ may cost: what the paper's models lose, at most.
const COST: f64 = 0.05;

/// Measures defences.
#[derive(Parser)]
struct Asked {
    /// Holds `location30`, `fashion_mnist` and `adult`.
    folder: PathBuf,
    /// Where the results go.
    #[arg(long)]
    out: PathBuf,
    /// Tasks beside each other.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Models of every defence that are attacked, each with other members; twice as many are trained.
    #[arg(long, default_value_t = 5)]
    targets: usize,
    /// Few records, epochs and strengths: whether it runs.
    #[arg(long)]
    quick: bool,
}

/// One defence on one data set.
struct Task {
    dataset: Arc<Dataset>,
    defence: Defence,
    key: &'static str,
    targets: usize,
    /// Models that are trained beside each other.
    threads: usize,
    /// Whether all attacks are run, or the one that λ is chosen by.
    is_whole: bool,
}

/// What is written.
struct Results {
    out: PathBuf,
    started: Instant,
    done: Mutex<Vec<Measured>>,
    chosen: Mutex<BTreeMap<String, Value>>,
    about: Value,
}

impl Results {
    /// Writes everything that is known.
    fn write(&self) -> Result<()> {
        let lock = |_| anyhow!("a task panicked");
        let done = self.done.lock().map_err(lock)?;
        let chosen = self.chosen.lock().map_err(|_| anyhow!("a task panicked"))?;
        let rows = |key: &str| -> Vec<Value> {
            done.iter().filter(|own| own.key == key).map(Measured::json).collect()
        };
        let all = json!({
            "about": self.about, "seconds": self.started.elapsed().as_secs_f64(), "chosen": *chosen,
            "tuning": rows("tuning"), "judged": rows("judged"), "curves": curves(&done)?,
        });
        let beside = self.out.with_extension("part");
        std::fs::write(&beside, format!("{all:#}\n")).with_context(|| beside.display().to_string())?;
        std::fs::rename(&beside, &self.out).with_context(|| self.out.display().to_string())
    }
}

/// Utility against leakage on Location-30, by attack, and what follows where curves overlap.
fn curves(done: &[Measured]) -> Result<Value> {
    let own: Vec<&Measured> =
        done.iter().filter(|own| own.key == "judged" && own.dataset == "location-30").collect();
    let mut found = serde_json::Map::new();
    for attack in ["lira-online", "rmia-online", "lira-label-only", "lira-online-gradient"] {
        for figure in ["auc", "tpr"] {
            let mut points: BTreeMap<&str, Vec<DefencePoint>> = BTreeMap::new();
            for row in &own {
                let Some(leakage) = row.mean_of(attack, figure) else { continue };
                let point = DefencePoint { strength: row.strength, utility: row.test(), leakage };
                // Without a defence: the weak end of those that can be switched off.
                let names = match row.defence.as_str() {
                    "none" => vec!["adversarial", "dropout", "early stopping", "label smoothing"],
                    name => vec![name],
                };
                names.into_iter().for_each(|name| points.entry(name).or_default().push(point));
            }
            let curves = points
                .into_iter()
                .map(|(name, points)| DefenceCurve::new(name, points))
                .collect::<Result<Vec<_>, _>>()?;
            let compared = compare_curves(&curves);
            found.insert(format!("{attack} {figure}"), json!({"curves": curves, "compared": compared}));
        }
    }
    Ok(Value::Object(found))
}

/// Carries tasks out, as many at a time as there are threads.
fn carry_out(tasks: &[Task], threads: usize, results: &Results, store: &Path) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = Instant::now();
            let found = measure(task, store)?;
            eprintln!(
                "{:6.1} s  {} {} {}: test {:.3}, {:.1} s",
                results.started.elapsed().as_secs_f64(),
                task.key,
                found.dataset,
                task.defence.words(),
                found.test(),
                begun.elapsed().as_secs_f64()
            );
            results.done.lock().map_err(|_| anyhow!("a task panicked"))?.push(found);
            results.write()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let ended =
            started.into_iter().map(|own| own.join().unwrap_or_else(|_| Err(anyhow!("a task panicked"))));
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

/// The λ with the least accuracy of the attack it is trained against among those that cost little; the cheapest if all cost more.
fn choose(tuned: &[&Measured]) -> Option<f64> {
    let plain = tuned.iter().find(|own| own.defence == "none")?.test();
    let tried: Vec<&&Measured> = tuned.iter().filter(|own| own.defence == "adversarial").collect();
    let attack = |own: &Measured| own.mean_of(measure::ORIGINAL, "accuracy").unwrap_or(1.0);
    let cheap = tried.iter().filter(|own| own.test() >= plain - COST);
    let best = cheap.min_by(|a, b| attack(a).total_cmp(&attack(b)));
    best.or_else(|| tried.iter().max_by(|a, b| a.test().total_cmp(&b.test()))).map(|own| own.strength)
}

fn main() -> Result<()> {
    let Asked { folder, out, threads, targets, quick } = Asked::parse();
    let datasets: Vec<Arc<Dataset>> =
        [data::location30(&folder, quick)?, data::fashion(&folder, quick)?, data::adult(&folder, quick)?]
            .into_iter()
            .map(Arc::new)
            .collect();
    let about = json!({
        "targets": targets, "tries": TRIED.len(), "tried": TRIED, "cost": COST, "threads": threads, "quick": quick,
        "datasets": datasets.iter().map(|own| own.json()).collect::<Vec<_>>(),
    });
    let (done, chosen) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
    let results = Results { out, started: Instant::now(), done, chosen, about };
    let store = std::env::temp_dir().join(format!("bench-defences-{}", std::process::id()));
    let mut tasks = Vec::new();
    let tried = if quick { &TRIED[2..3] } else { &TRIED[..] };
    for dataset in &datasets {
        let task = |defence| Task {
            dataset: dataset.clone(),
            defence,
            key: "tuning",
            targets: 2,
            threads: 1,
            is_whole: false,
        };
        tasks.extend(tried.iter().rev().map(|strength| task(Defence::Adversarial(*strength))));
        tasks.push(task(Defence::None));
    }
    // Curves are on Location-30, at all strengths: they need no choice, and fill the processors while λ is chosen.
    let judged = |dataset: &Arc<Dataset>, defence, threads| Task {
        dataset: dataset.clone(),
        defence,
        key: "judged",
        targets,
        threads,
        is_whole: true,
    };
    let Some(first) = datasets.first() else { return Ok(()) };
    tasks.extend(recipe::curves(quick).into_iter().map(|defence| judged(first, defence, 1)));
    tasks.extend(datasets.iter().skip(1).map(|dataset| judged(dataset, Defence::None, 1)));
    carry_out(&tasks, threads, &results, &store)?;
    let mut rest = Vec::new();
    for dataset in &datasets {
        let done = results.done.lock().map_err(|_| anyhow!("a task panicked"))?;
        let of = |key: &str| {
            done.iter().filter(|own| own.key == key && own.dataset == dataset.name).collect::<Vec<_>>()
        };
        let strength = choose(&of("tuning")).context("nothing was tuned")?;
        let is_done = |defence: Defence| {
            of("judged").iter().any(|own| own.defence == defence.name() && own.strength == defence.strength())
        };
        for defence in [Defence::Adversarial(strength), Defence::None] {
            if !is_done(defence) {
                rest.push(judged(dataset, defence, (threads / datasets.len()).max(1)));
            }
        }
        drop(done);
        let mut chosen = results.chosen.lock().map_err(|_| anyhow!("a task panicked"))?;
        chosen.insert(dataset.name.to_owned(), json!(strength));
    }
    carry_out(&rest, threads, &results, &store)?;
    std::fs::remove_dir_all(&store).unwrap_or(());
    results.write()
}
