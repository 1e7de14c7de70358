//! RMIA's scores by sorting and searching.

use reticent_audit::attacks::rmia_scores;
use serde_json::{Value, json};
use std::time::Instant;

const RECORDS: usize = 10_000;

/// The median of eleven times, in milliseconds.
pub(crate) fn measure() -> Value {
    let ratios = |offset: u64| -> Vec<f64> {
        let word = |place: u64| (place ^ offset).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
        (0..RECORDS as u64).map(|place| (word(place) >> 11) as f64 / 9e15).collect()
    };
    let (records, population) = (ratios(1), ratios(2));
    let mut times: Vec<f64> = (0..11)
        .map(|_| {
            let begun = Instant::now();
            let scores = rmia_scores(&records, &population, 2.0);
            let taken = begun.elapsed().as_secs_f64() * 1000.0;
            assert_eq!(scores.len(), RECORDS);
            taken
        })
        .collect();
    times.sort_by(f64::total_cmp);
    json!({"records": RECORDS, "population": RECORDS, "milliseconds": times[times.len() / 2]})
}
