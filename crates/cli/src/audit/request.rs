//! Flags to requests: text becomes numbers and names, and nothing is decided.

use crate::args::audit::{self as args, AttackRun, Audit, Canary, Collect, Fit, Statement, Table};
use crate::fail::Fail;
use crate::file;
use crate::network;
use crate::read;
use reticent::curator::audit::{
    self, CANARIES, CanaryAudit, CanaryKind, Collected, Drawn, FitReferences, Fitting, JOBS, ModelAudit,
    RECORDS, REFERENCES, SAMPLES, ScoreAudit, THREADS, WORST,
};
use std::ops::RangeInclusive;
use std::path::Path;

/// The request of the flags.
pub(crate) fn audit(arguments: &Audit) -> Result<audit::Audit, Fail> {
    Ok(match &arguments.run {
        Some(folder) => audit::Audit::Model(model(folder, arguments)?),
        None => audit::Audit::Scores(scores(arguments)?),
    })
}

/// The statements; the file of the plot is checked first.
pub(crate) fn statement(flags: &Statement) -> Result<audit::AuditStatement, Fail> {
    if let Some(path) = &flags.plot {
        file::plot(path).check()?;
    }
    let number =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| read::number(flag, text)).transpose();
    Ok(audit::AuditStatement {
        confidence: read::number("--confidence", &flags.confidence)?,
        prior: number("--prior", &flags.prior)?,
        delta: number("--delta", &flags.delta)?,
        bound: flags.bound.as_deref().map(str::parse).transpose()?,
        guesses: number("--guesses", &flags.guesses)?,
        worst: count("--worst", &flags.worst, &WORST)?,
        key: flags.key.clone(),
    })
}

/// An audit of a table.
fn scores(arguments: &Audit) -> Result<ScoreAudit, Fail> {
    if let Some((flag, value)) = arguments.fitting.for_models() {
        let remedy = "only for models of this tool, not for a table of scores: leave it out (--references-from gives \
                      reference models)";
        return Err(Fail::conflict(flag, &value, remedy));
    }
    let drawn = arguments.fitting.drawn.as_deref();
    let request = of_table(&arguments.table, &arguments.statement, drawn)?;
    Ok(ScoreAudit { attacks: arguments.attacks.clone(), out: arguments.out.clone(), ..request })
}

/// One attack on a table.
pub(crate) fn single(arguments: &AttackRun) -> Result<ScoreAudit, Fail> {
    let request = of_table(&arguments.table, &arguments.statement, arguments.drawn.as_deref())?;
    Ok(ScoreAudit { attacks: vec![arguments.name.clone()], ..request })
}

fn of_table(table: &Table, flags: &Statement, drawn: Option<&str>) -> Result<ScoreAudit, Fail> {
    let statement = statement(flags)?;
    Ok(ScoreAudit {
        scores: table.scores.clone().unwrap_or_default(),
        references_from: table.references_from.clone(),
        groups: table.groups.clone(),
        features: table.features.clone(),
        drawn: drawn.map(str::parse::<Drawn>).transpose()?,
        statement,
        ..ScoreAudit::default()
    })
}

/// An audit of a model of this tool.
fn model(model: &Path, arguments: &Audit) -> Result<ModelAudit, Fail> {
    let Table { groups, features, .. } = &arguments.table;
    for (flag, names) in [("--groups", groups), ("--features", features)] {
        if !names.is_empty() {
            let remedy = "only for a table of scores, not for a model of this tool: leave it out";
            return Err(Fail::conflict(flag, &names.join(","), remedy));
        }
    }
    Ok(ModelAudit {
        model: model.to_owned(),
        statement: statement(&arguments.statement)?,
        attacks: arguments.attacks.clone(),
        fitting: fitting(&arguments.fitting)?,
        out: arguments.out.clone(),
    })
}

/// One job.
pub(crate) fn job(arguments: &Fit) -> Result<FitReferences, Fail> {
    let of = count("--of", &arguments.of, &JOBS)?;
    Ok(FitReferences {
        model: arguments.run.clone(),
        index: count("--index", &arguments.index, &(0..=of - 1))?,
        of,
        fitting: fitting(&arguments.fitting)?,
        key: arguments.key.clone(),
        out: arguments.out.clone(),
    })
}

/// An audit with the reference models of all jobs.
pub(crate) fn collected(arguments: &Collect) -> Result<Collected, Fail> {
    Ok(Collected {
        model: arguments.run.clone(),
        statement: statement(&arguments.statement)?,
        fitting: fitting(&arguments.fitting)?,
        out: arguments.out.clone(),
    })
}

/// An audit with canaries.
pub(crate) fn canaries(arguments: &Canary) -> Result<CanaryAudit, Fail> {
    Ok(CanaryAudit {
        model: arguments.run.clone(),
        kind: match arguments.kind {
            args::CanaryKind::Mislabelled => CanaryKind::Mislabelled,
            args::CanaryKind::Blank => CanaryKind::Blank,
            args::CanaryKind::Dirac => CanaryKind::Dirac,
        },
        canaries: count("--canaries", &arguments.canaries, &CANARIES)?,
        device: network::device(&arguments.computing)?.unwrap_or_default(),
        chunk: network::chunk(&arguments.computing)?,
        statement: statement(&arguments.statement)?,
        out: arguments.out.clone(),
    })
}

fn fitting(flags: &args::Fitting) -> Result<Fitting, Fail> {
    Ok(Fitting {
        records: count("--records", flags.records(), &RECORDS)?,
        drawn: flags.drawn.as_deref().map(|text| read::number("--drawn", text)).transpose()?,
        non_members: flags.non_members.clone(),
        references: count("--references", flags.references(), &REFERENCES)?,
        white_box: flags.white_box,
        label_only: flags.label_only,
        activations: flags.activations.clone(),
        unit: flags.unit.clone(),
        samples: flags.samples.clone(),
        samples_per_author: flags
            .samples_per_author
            .as_deref()
            .map(|text| count("--samples-per-author", text, &SAMPLES))
            .transpose()?,
        threads: flags.threads.as_deref().map(|text| count("--threads", text, &THREADS)).transpose()?,
        device: network::device(&flags.computing)?.unwrap_or_default(),
        chunk: network::chunk(&flags.computing)?,
    })
}

/// A whole number in a range.
pub(crate) fn count(flag: &str, text: &str, range: &RangeInclusive<u64>) -> Result<u64, Fail> {
    match text.trim().parse::<u64>() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => {
            let remedy = format!("give a whole number from {} to {}", range.start(), range.end());
            Err(Fail::flag(flag, text, remedy))
        }
    }
}
