//! An audit as text and as JSON.

use crate::digits::{RoundingSide, brief, confidence, significant};
use crate::fail::{Fail, flags_named, warnings};
use crate::file;
use crate::screen::present;
use crate::text::{aligned, json_line, spent};
use crate::{INTERRUPTED, Output};
use reticent::audit::comparison::CertificateComparison;
use reticent::audit::findings::{
    AccessFinding, AttackFinding, EpsilonLower, Estimate, GroupFinding, NotRun, Performance, RateAt,
};
use reticent::audit::{AuditUnit, Findings};
use reticent::curator::audit::{Audited, InterruptedAudit, Outcome};
use reticent::report::plot::Chart;
use reticent::report::{roc, trajectory};
use std::fmt::Write;
use std::path::Path;

/// The findings of an audit as JSON, or a summary as text.
pub(crate) fn shown(outcome: &Outcome, plot: Option<&Path>, json: bool) -> Result<Output, Fail> {
    let found = match outcome {
        Outcome::Found(found) => found,
        Outcome::Interrupted(stop) => return interrupted(stop, json),
    };
    let findings = &found.findings;
    if let Some(path) = plot {
        let named: Vec<(&str, &Performance)> =
            findings.attacks.iter().map(|attack| (attack.name.as_str(), &attack.performance)).collect();
        let chart = match findings.trajectories.first() {
            Some(first) => {
                Chart { subtitle: "thin lines: confidence intervals".to_owned(), ..trajectory(first) }
            }
            None => Chart {
                title: "ROC curves of the attacks".to_owned(),
                subtitle: "above the dotted line, an attack is better than guessing".to_owned(),
                ..roc(&named)
            },
        };
        file::plot(path).write(&chart.svg())?;
    }
    let stdout = match json {
        true => {
            let named = findings.warnings.iter().map(|warning| flags_named(warning)).collect();
            json_line(&Findings { warnings: named, ..findings.clone() })?
        }
        false => present(&summary(found, plot)),
    };
    let warnings = warnings(&findings.warnings);
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// The output after Ctrl-C.
pub(crate) fn interrupted(stop: &InterruptedAudit, json: bool) -> Result<Output, Fail> {
    let stdout = match &stop.out {
        None => "Interrupted. A training with canaries cannot be resumed: the same command starts over.\n"
            .to_owned(),
        Some(_) if json => json_line(stop)?,
        Some(folder) => format!(
            "Interrupted. Finished models are kept in {}; run the same command again to continue.\n",
            folder.display()
        ),
    };
    Ok(Output { stdout, status: INTERRUPTED, ..Output::default() })
}

fn summary(found: &Audited, plot: Option<&Path>) -> String {
    let (findings, mut text) = (&found.findings, String::new());
    if let Some(headline) = findings.attacks.iter().find(|attack| attack.name == findings.headline) {
        text += &aligned(&headline_lines(found, headline));
    }
    text += "\n";
    text += &table(findings);
    if !findings.by_access.is_empty() {
        let _ = writeln!(
            text,
            "\nBy what the attacker sees (the attack of each level is chosen without the target)"
        );
        text += &aligned(
            &findings.by_access.iter().filter_map(|own| access_line(findings, own)).collect::<Vec<_>>(),
        );
    }
    text += &federated(findings);
    let groups: Vec<&GroupFinding> = worst_groups(findings);
    if !groups.is_empty() {
        let _ = writeln!(text, "\nGroups that stand out (AUC within the group)");
        let lines: Vec<(String, String)> = groups.iter().map(|group| group_line(group)).collect();
        text += &aligned(&lines);
    }
    if !findings.not_run.is_empty() {
        let _ = writeln!(text, "\nNot run");
        text += &not_run(findings);
    }
    if let Some(path) = plot {
        let _ = writeln!(text, "\nplot: {}", path.display());
    }
    if let Some(folder) = &found.out {
        let folder = folder.display();
        let _ = writeln!(
            text,
            "\nSaved to {folder}: audit.json can be shared; private.json and scores.csv reveal who is a member\nNext: reticent report {folder}"
        );
    }
    text
}

/// The headline attack, line by line.
fn headline_lines(found: &Audited, headline: &AttackFinding) -> Vec<(String, String)> {
    let (findings, performance) = (&found.findings, &headline.performance);
    let mut lines = vec![
        (
            if findings.authors.is_some() { "authors" } else { "records" }.to_owned(),
            format!("{} members, {} non-members", performance.members, performance.non_members),
        ),
        ("attack".to_owned(), format!("{}: {}", headline.name, headline.about)),
    ];
    if !findings.headline_chosen.is_empty() {
        lines.push(("  chosen".to_owned(), findings.headline_chosen.clone()));
    }
    if let Some(target) = findings.overfitting.first() {
        let words = format!(
            "{:.1} % on members, {:.1} % on non-members; gap attack (correct means member): {:.1} % accuracy",
            target.train_accuracy * 100.0,
            target.test_accuracy * 100.0,
            target.attack_accuracy * 100.0
        );
        lines.insert(1, ("accuracy".to_owned(), words));
    }
    lines.extend([("AUC".to_owned(), format!("{} (0.5 is guessing)", with_interval(&performance.auc)))]);
    for rate in &performance.rates {
        let label = format!("TPR at {} % FPR", brief(rate.fpr * 100.0));
        lines.push((label, rate_words(rate)));
    }
    if let Some(prior) = performance.prior {
        for rate in performance.rates.iter().filter(|rate| rate.ppv.is_some()) {
            if let Some(ppv) = &rate.ppv {
                let label = format!("PPV at prior {}", brief(prior));
                let at = format!("{} at {} % FPR", percents(ppv), brief(rate.fpr * 100.0));
                lines.push((label, at));
            }
        }
    }
    let baseline = match &findings.baseline.performance {
        Some(found) => format!("AUC {} ({})", with_interval(&found.auc), findings.baseline.about),
        None => findings.baseline.about.clone(),
    };
    lines.push(("baseline without the model".to_owned(), baseline));
    if let Some(bound) = &findings.epsilon_lower {
        let value = significant(bound.value, 3, RoundingSide::Down);
        let sure = format!(
            "ε ≥ {value} at δ = {} for {}, {} % confidence ({}; {})",
            brief(bound.delta),
            whom(bound),
            confidence(bound.confidence),
            bound.method,
            bound.correction
        );
        lines.push(("lower bound on ε".to_owned(), sure));
        lines.push(("  premise".to_owned(), bound.premise.clone()));
    }
    if let Some(certificate) = &found.certificate {
        let who =
            format!("{} ({}, {})", spent(&certificate.guarantee), certificate.unit, certificate.neighboring);
        lines.push(("upper bound on ε".to_owned(), who));
        lines.extend(found.comparison.iter().map(|both| ("comparison".to_owned(), together(both))));
    }
    lines
}

/// The privacy unit of a bound.
fn whom(bound: &EpsilonLower) -> String {
    match (bound.unit, bound.unit_records) {
        (AuditUnit::Record, _) => "one record".to_owned(),
        (AuditUnit::User, records) => format!("all records of one user (at most {records})"),
        (AuditUnit::Party, _) => "one party with all its records".to_owned(),
        (AuditUnit::Unknown, _) => "the data that differed between runs".to_owned(),
    }
}

/// The certificate compared with the lower bound.
fn together(comparison: &CertificateComparison) -> String {
    match comparison {
        CertificateComparison::Compared { upper, theorem, contradiction } => {
            let upper = significant(*upper, 4, RoundingSide::Up);
            match contradiction {
                true => format!("CONTRADICTION: the certificate allows ε ≤ {upper} ({theorem})"),
                false => format!("no contradiction: the certificate allows ε ≤ {upper} ({theorem})"),
            }
        }
        CertificateComparison::Apart { why } => format!("not compared: {why}"),
    }
}

/// A table of all attacks.
fn table(findings: &Findings) -> String {
    let width = findings.attacks.iter().map(|attack| attack.name.len()).max().unwrap_or(6).max(6);
    let mut text = format!("{:width$}  {:>6}", "attack", "AUC");
    let rates: Vec<f64> = match findings.attacks.first() {
        Some(first) => first.performance.rates.iter().map(|rate| rate.fpr).collect(),
        None => Vec::new(),
    };
    for rate in &rates {
        let _ = write!(text, "  {:>10}", format!("TPR@{} %", brief(rate * 100.0)));
    }
    text += "  advantage\n";
    for attack in &findings.attacks {
        let performance = &attack.performance;
        let _ = write!(text, "{:width$}  {:>6.3}", attack.name, performance.auc.value);
        for rate in &performance.rates {
            let cell = rate.tpr.map_or_else(|| "—".to_owned(), |tpr| percent(tpr.value));
            let _ = write!(text, "  {cell:>10}");
        }
        let _ = writeln!(text, "  {:>9.3}", performance.advantage.value);
    }
    text
}

/// Attacks that were not run, those with the same reason together.
fn not_run(findings: &Findings) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for NotRun { name, reason, .. } in &findings.not_run {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons.iter().map(|(reason, names)| format!("  {}: {reason}\n", names.join(", "))).collect()
}

/// The strongest attack of a level of access.
fn access_line(findings: &Findings, own: &AccessFinding) -> Option<(String, String)> {
    let attack = findings.attacks.iter().find(|attack| attack.name == own.attack)?;
    let auc = with_interval(&attack.performance.auc);
    let accuracy = with_interval(&attack.performance.balanced_accuracy);
    Some((
        format!("  {}", own.access.words()),
        format!("{}: AUC {auc}, balanced accuracy {accuracy}", attack.name),
    ))
}

/// What an observer of a federation learns from which rounds, and how losses went.
fn federated(findings: &Findings) -> String {
    let mut text = String::new();
    if !findings.observed.is_empty() {
        let _ = writeln!(text, "\n{:24}  {:32}  AUC", "observed rounds", "accuracy of the learned attack");
        for row in &findings.observed {
            let rounds = rounds_in_words(&row.rounds);
            let _ =
                writeln!(text, "{rounds:24}  {:32}  {}", percents(&row.accuracy), with_interval(&row.auc));
        }
    }
    for trajectory in &findings.trajectories {
        let _ = writeln!(text, "\n{} (at the end)", trajectory.about);
        let last = |values: &[f64]| values.last().map_or_else(String::new, |value| format!("{value:.3}"));
        let lines: Vec<(String, String)> = trajectory
            .lines
            .iter()
            .map(|line| {
                let interval = format!(" ({} to {})", last(&line.lower), last(&line.upper));
                let interval = if line.records == 0 { String::new() } else { interval };
                (format!("  {}", line.label), format!("{}{interval}", last(&line.value)))
            })
            .collect();
        text += &aligned(&lines);
    }
    text
}

/// `1-5` for rounds in a row, `10, 20, 30` otherwise.
fn rounds_in_words(rounds: &[u64]) -> String {
    match rounds {
        [first, .., last] if last - first + 1 == rounds.len() as u64 => format!("{first}-{last}"),
        _ => rounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Groups whose AUC differs significantly from that of the other groups.
fn worst_groups(findings: &Findings) -> Vec<&GroupFinding> {
    let mut groups: Vec<&GroupFinding> = findings.groups.iter().filter(|group| group.stands_out()).collect();
    groups.sort_by(|a, b| {
        let value = |group: &GroupFinding| group.auc.map_or(0.0, |auc| auc.value);
        value(b).total_cmp(&value(a))
    });
    groups.truncate(8);
    groups
}

fn group_line(group: &GroupFinding) -> (String, String) {
    let label = format!("  {} = {}", group.column, group.group);
    let shown = |estimate: &Option<Estimate>| estimate.as_ref().map_or_else(String::new, with_interval);
    let words =
        format!("{}; other groups {}; {} members", shown(&group.auc), shown(&group.others), group.members);
    (label, words)
}

fn rate_words(rate: &RateAt) -> String {
    match (&rate.tpr, &rate.reason) {
        (Some(tpr), _) => percents(tpr),
        (None, Some(reason)) => format!("not measurable: {reason}"),
        (None, None) => "not measurable".to_owned(),
    }
}

/// `0.842 (0.831 to 0.852)`, the ends rounded outwards.
fn with_interval(estimate: &Estimate) -> String {
    let down = (estimate.lower * 1000.0).floor() / 1000.0;
    let up = (estimate.upper * 1000.0).ceil() / 1000.0;
    format!("{:.3} ({down:.3} to {up:.3})", estimate.value)
}

/// A share with its interval, in percent.
fn percents(estimate: &Estimate) -> String {
    let down = (estimate.lower * 1e4).floor() / 100.0;
    let up = (estimate.upper * 1e4).ceil() / 100.0;
    format!("{} ({down:.2} to {up:.2} %)", percent(estimate.value))
}

/// A share in percent.
fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}
