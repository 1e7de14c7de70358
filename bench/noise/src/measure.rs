//! Repeats a call for a fixed time and prints what it took.

use crate::clock::cpu_time;
use serde_json::json;
use std::time::{Duration, Instant};

/// Wall time for which a case is repeated.
const LONG_ENOUGH: Duration = Duration::from_millis(250);

/// Runs `call` once to warm up, then repeatedly, and prints one line of JSON.
///
/// `items` is how many draws, numbers or releases one call makes.
pub(crate) fn measure(case: &str, items: usize, mut call: impl FnMut()) {
    call();
    let (start, cpu_start) = (Instant::now(), cpu_time());
    let (mut calls, mut best) = (0u64, Duration::MAX);
    while start.elapsed() < LONG_ENOUGH {
        let began = Instant::now();
        call();
        best = best.min(began.elapsed());
        calls += 1;
    }
    let (wall, cpu) = (start.elapsed(), cpu_time().saturating_sub(cpu_start));
    let line = json!({
        "case": case,
        "library": "reticent",
        "items_per_call": items,
        "calls": calls,
        "wall_s": wall.as_secs_f64(),
        "cpu_s": cpu.as_secs_f64(),
        "best_call_s": best.as_secs_f64(),
    });
    println!("{line}");
}
