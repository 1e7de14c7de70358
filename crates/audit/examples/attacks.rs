//! Runs every attack on a study in a file and prints the area under its curve.
//!
//! ```text
//! cargo run --release -p reticent-audit --example attacks -- study.npz [references to keep]
//! ```

use reticent_audit::attacks::{AttackSettings, Registry, STANDARD};
use reticent_audit::table::{TableSettings, read_scores};
use reticent_audit::{AuditError, Study};
use std::time::Instant;

/// The share of pairs of a member and a non-member in which the member scores higher, and the share of members above all but
/// a share of the non-members.
fn curve(scores: &[f64], members: &[bool], fpr: f64) -> (f64, f64) {
    let pick = |member: bool| scores.iter().zip(members).filter(move |(_, m)| **m == member).map(|(s, _)| *s);
    let mut others: Vec<f64> = pick(false).collect();
    others.sort_unstable_by(f64::total_cmp);
    let own: Vec<f64> = pick(true).collect();
    let pairs: usize =
        own.iter().map(|s| others.partition_point(|z| z < s) + others.partition_point(|z| z <= s)).sum();
    let threshold = others[others.len() - 1 - (fpr * others.len() as f64) as usize];
    let above = own.iter().filter(|s| **s > threshold).count();
    (pairs as f64 / (2 * own.len() * others.len()) as f64, above as f64 / own.len() as f64)
}

fn main() -> Result<(), AuditError> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("give a study: a .csv, .parquet or .npz file");
        std::process::exit(2);
    };
    let mut parts = read_scores(path.as_ref(), &TableSettings::default())?.into_parts();
    if let Some(kept) = arguments.next().and_then(|text| text.parse().ok()) {
        parts.references.truncate(kept);
    }
    let study = Study::new(parts)?;
    let headline = Registry::standard().headline(&study, STANDARD, &AttackSettings::default())?;
    println!("headline: {}, {}", headline.attack.name(), headline.how);
    for attack in STANDARD {
        if let Err(reason) = attack.can_run(&study) {
            println!("{:24} not run: {reason}", attack.name());
            continue;
        }
        let start = Instant::now();
        let found = attack.run(&study, &AttackSettings::default())?;
        let took = start.elapsed();
        let (area, one) = curve(&found.scores, &study.parts().members, 0.01);
        let (_, tenth) = curve(&found.scores, &study.parts().members, 0.001);
        println!(
            "{:24} {area:.3} {:.1}% {:.1}% {took:.1?} {:?}",
            attack.name(),
            100.0 * one,
            100.0 * tenth,
            found.settings
        );
    }
    Ok(())
}
