//! Where a report comes from.

use crate::Refusal;
use crate::audit::disclosed;
use crate::audit::folder::AUDIT_FILE;
use crate::folder::{digest, digests};
use reticent_audit::Findings;
use reticent_core::Code;
use reticent_report::{FileDigest, ReportProvenance};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Files of an audit whose digests are stated, where they are there.
const OF_AUDIT: &[&str] = &[AUDIT_FILE, "scores.csv"];

/// Versions, keys, digests and the date.
pub(super) fn of(
    audit: &Path,
    run: Option<&Path>,
    findings: &Findings,
    command: Option<String>,
) -> Result<ReportProvenance, Refusal> {
    let of_model = run.map(digests).transpose()?.unwrap_or_default().into_iter();
    let mut files: Vec<FileDigest> =
        of_model.map(|(name, digest)| FileDigest { name: name.to_owned(), digest }).collect();
    let of_audit = OF_AUDIT.iter().map(|name| audit.join(name)).filter(|path| path.is_file());
    for path in of_audit.chain(disclosed::files(audit)?) {
        let bytes = fs::read(&path).map_err(|error| {
            Refusal::new(Code::Unreadable, format!("{}: cannot be read: {error}", path.display()))
        })?;
        let name = path.strip_prefix(audit).unwrap_or(&path).display().to_string();
        files.push(FileDigest { name, digest: digest(&bytes) });
    }
    let version = env!("CARGO_PKG_VERSION");
    Ok(ReportProvenance {
        tool: Some(format!("reticent {version}")),
        date: today(),
        command,
        seeds: BTreeMap::from([("splits of the audit".to_owned(), findings.key.clone())]),
        files,
        versions: BTreeMap::from([
            ("reticent".to_owned(), version.to_owned()),
            ("reticent (audit)".to_owned(), findings.version.clone()),
        ]),
        machine: Some(format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
    })
}

/// Today's date in universal time; none if the clock is before 1970.
fn today() -> Option<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(date(seconds / 86_400))
}

/// The date so many days after 1 January 1970.
fn date(days: u64) -> String {
    let (mut year, mut left) = (1970, days);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = |year: u64| 365 + u64::from(is_leap(year));
    while left >= length(year) {
        left -= length(year);
        year += 1;
    }
    let months = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for days in months {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_digests_are_the_known_ones() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(date(19_783), "2024-03-01");
        assert_eq!(date(20_772), "2026-11-15");
        let abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"abc"), abc);
    }
}
