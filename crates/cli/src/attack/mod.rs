//! `reticent attack`: reference models as jobs, canaries, single attacks.

mod attribute;
mod disclosed;
mod exposure;
mod federated;
mod records;

use crate::Output;
use crate::args::audit::{Attack, AttackRun, Canary, Collect, Fit, RECORDS};
use crate::audit::{answer, interrupted, request, shown};
use crate::fail::Fail;
use crate::file::OutputFile;
use crate::learn;
use crate::screen::present;
use crate::text::{aligned, json_line};
use reticent::curator::audit::{Audit, JobOutcome, ListedAttack, Outcome, attacks};

/// Runs one part of an audit.
pub(crate) fn run(question: &Attack, progress: bool) -> Result<Output, Fail> {
    match question {
        Attack::List { json } => list(*json),
        Attack::Run(arguments) => single(arguments, progress),
        Attack::Fit(arguments) => fit(arguments, progress),
        Attack::Collect(arguments) => collect(arguments, progress),
        Attack::Canary(arguments) => canary(arguments, progress),
        Attack::Attribute(arguments) => attribute::run(arguments, progress),
        Attack::Reconstruct(arguments) => records::reconstruct(arguments, progress),
        Attack::Difference(arguments) => records::difference(arguments, progress),
        Attack::Exposure(arguments) => exposure::run(arguments, progress),
        Attack::Federated(arguments) => federated::run(arguments, progress),
    }
}

/// Lists all attacks.
fn list(json: bool) -> Result<Output, Fail> {
    let known = attacks();
    let stdout = if json {
        json_line(&known)?
    } else {
        let line = |attack: &ListedAttack| {
            (attack.name.to_owned(), format!("{} (needs {})", attack.about, attack.needs))
        };
        present(&aligned(&known.attacks.iter().map(line).collect::<Vec<_>>()))
    };
    Ok(Output { stdout, ..Output::default() })
}

/// Runs one attack on a table of scores.
fn single(arguments: &AttackRun, progress: bool) -> Result<Output, Fail> {
    let file = arguments.out.as_deref().map(|path| OutputFile { field: "out", path, extension: "csv" });
    file.iter().try_for_each(OutputFile::check)?;
    let outcome = learn::run(&Audit::Scores(request::single(arguments)?), progress && !arguments.json)?;
    if let (Some(file), Outcome::Found(found)) = (&file, &outcome) {
        found.write_scores(file.path)?;
    }
    shown(&outcome, arguments.statement.plot.as_deref(), arguments.json)
}

/// Trains the reference models of one job.
fn fit(arguments: &Fit, progress: bool) -> Result<Output, Fail> {
    let fitted = match learn::run(&request::job(arguments)?, progress && !arguments.json)? {
        JobOutcome::Fitted(fitted) => fitted,
        JobOutcome::Interrupted(stop) => return interrupted(&stop, arguments.json),
    };
    let records = match arguments.fitting.records() {
        RECORDS => String::new(),
        records => format!(" --records {records}"),
    };
    let white_box = match &arguments.fitting.activations[..] {
        _ if !arguments.fitting.white_box => String::new(),
        [] => " --white-box".to_owned(),
        layers => format!(" --white-box --activations {}", layers.join(",")),
    };
    let label_only = if arguments.fitting.label_only { " --label-only" } else { "" };
    let stdout = match arguments.json {
        true => json_line(&fitted)?,
        false => format!(
            "Job {} of {}: trained {} reference models, found {} already trained; {} in all jobs together\n\
             When all jobs are done: reticent attack collect {} --references {}{records}{white_box}{label_only} --out {}\n",
            fitted.index,
            fitted.of,
            fitted.trained.len(),
            fitted.present,
            fitted.references,
            arguments.run.display(),
            fitted.references,
            arguments.out.display()
        ),
    };
    Ok(Output { stdout, ..Output::default() })
}

/// Audits with the reference models of all jobs.
fn collect(arguments: &Collect, progress: bool) -> Result<Output, Fail> {
    let request = Audit::Collected(request::collected(arguments)?);
    answer(&request, arguments.statement.plot.as_deref(), arguments.json, progress)
}

/// Trains with canaries and audits.
fn canary(arguments: &Canary, progress: bool) -> Result<Output, Fail> {
    let request = Audit::Canaries(request::canaries(arguments)?);
    answer(&request, arguments.statement.plot.as_deref(), arguments.json, progress)
}
