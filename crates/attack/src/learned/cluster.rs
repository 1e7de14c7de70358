//! Two clusters.

use reticent_data::keyed_hash;

/// Starts and rounds of the search.
const STARTS: usize = 8;
const ROUNDS: usize = 50;

/// The centers of two clusters of rows with the smallest sum of squared distances that was found from several starts.
pub(super) fn two_means(rows: &[f32], columns: usize, key: &str) -> [Vec<f64>; 2] {
    let rows: Vec<Vec<f64>> =
        rows.chunks_exact(columns).map(|row| row.iter().map(|value| f64::from(*value)).collect()).collect();
    let start = |number: usize| -> [Vec<f64>; 2] {
        let pick = |which: usize| {
            let hash = keyed_hash(key, format!("center {number} {which}").as_bytes());
            rows.get((hash % rows.len().max(1) as u64) as usize)
                .cloned()
                .unwrap_or_else(|| vec![0.0; columns])
        };
        [pick(0), pick(1)]
    };
    let found = (0..STARTS).map(|number| settled(&rows, start(number)));
    let best = found.reduce(|best, other| if other.1 < best.1 { other } else { best });
    best.map_or([vec![0.0; columns], vec![0.0; columns]], |(centers, _)| centers)
}

/// Lloyd's rounds: every row to its nearer center, every center to the mean of its rows.
fn settled(rows: &[Vec<f64>], mut centers: [Vec<f64>; 2]) -> ([Vec<f64>; 2], f64) {
    let square =
        |row: &[f64], center: &[f64]| row.iter().zip(center).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let mut total = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut sums = centers.clone().map(|center| (vec![0.0; center.len()], 0.0_f64));
        let mut now = 0.0;
        for row in rows {
            let apart = [0, 1].map(|side: usize| square(row, &centers[side]));
            let side = usize::from(apart[1] < apart[0]);
            now += apart[side];
            sums[side].0.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            sums[side].1 += 1.0;
        }
        if now >= total {
            break;
        }
        total = now;
        for (center, (sum, count)) in centers.iter_mut().zip(sums).filter(|(_, (_, count))| *count > 0.0) {
            *center = sum.into_iter().map(|sum| sum / count).collect();
        }
    }
    (centers, total)
}
