//! `reticent attack`: reference models as jobs, canaries, single attacks.

use crate::Output;
use crate::args::audit::{Attack, AttackRun, Canary, Collect, Fit, RECORDS};
use crate::audit::{answer, interrupted, request, shown};
use crate::fail::Fail;
use crate::file::Target;
use crate::learn::asked;
use crate::text::{aligned, json_line};
use reticent::curator::audit::{Audit, JobOutcome, Listed, Outcome, attacks};

/// Runs one of the parts.
pub(crate) fn run(question: &Attack, progress: bool) -> Result<Output, Fail> {
    match question {
        Attack::List { json } => list(*json),
        Attack::Run(arguments) => single(arguments, progress),
        Attack::Fit(arguments) => fit(arguments, progress),
        Attack::Collect(arguments) => collect(arguments, progress),
        Attack::Canary(arguments) => canary(arguments, progress),
    }
}

/// All attacks.
fn list(json: bool) -> Result<Output, Fail> {
    let known = attacks();
    let stdout = if json {
        json_line(&known)?
    } else {
        let line =
            |attack: &Listed| (attack.name.to_owned(), format!("{} (needs {})", attack.about, attack.needs));
        aligned(&known.attacks.iter().map(line).collect::<Vec<_>>())
    };
    Ok(Output { stdout, ..Output::default() })
}

/// One attack on a table of scores.
fn single(arguments: &AttackRun, progress: bool) -> Result<Output, Fail> {
    let file = arguments.out.as_deref().map(|path| Target { field: "out", path, extension: "csv" });
    file.iter().try_for_each(Target::check)?;
    let outcome = asked(&Audit::Scores(request::single(arguments)?), progress && !arguments.json)?;
    if let (Some(file), Outcome::Found(found)) = (&file, &outcome) {
        found.write_scores(file.path)?;
    }
    shown(&outcome, arguments.statement.plot.as_deref(), arguments.json)
}

/// One job.
fn fit(arguments: &Fit, progress: bool) -> Result<Output, Fail> {
    let fitted = match asked(&request::job(arguments)?, progress && !arguments.json)? {
        JobOutcome::Fitted(fitted) => fitted,
        JobOutcome::Interrupted(stop) => return interrupted(&stop, arguments.json),
    };
    let records = match arguments.fitting.records() {
        RECORDS => String::new(),
        records => format!(" --records {records}"),
    };
    let stdout = match arguments.json {
        true => json_line(&fitted)?,
        false => format!(
            "Job {} of {}: {} reference models trained, {} were there; {} in all jobs together\n\
             When all jobs are done: reticent attack collect {} --references {}{records} --out {}\n",
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

/// Gathers what jobs have trained, then attacks.
fn collect(arguments: &Collect, progress: bool) -> Result<Output, Fail> {
    let request = Audit::Collected(request::collected(arguments)?);
    answer(&request, arguments.statement.plot.as_deref(), arguments.json, progress)
}

/// A training with canaries.
fn canary(arguments: &Canary, progress: bool) -> Result<Output, Fail> {
    let request = Audit::Canaries(request::canaries(arguments)?);
    answer(&request, arguments.statement.plot.as_deref(), arguments.json, progress)
}
