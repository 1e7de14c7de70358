//! Reference models on disk: what is missing is trained, in one job or several.

use super::case;
use crate::args::audit::{Fit, Fitting, RECORDS};
use crate::audit::count;
use crate::bar::StepBar;
use crate::fail::Fail;
use crate::text::json_line;
use crate::{INTERRUPTED, Output, interrupt};
use reticent::attack::{Fitted, Job, Progress, ReferencePlan, Run, Store};
use reticent::audit::Reference;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Where reference models are, in the folder of an audit.
pub(super) const REFERENCES_FOLDER: &str = "references";

/// The reference models of an audit's folder.
pub(super) struct Fits {
    folder: PathBuf,
    store: Store,
    threads: usize,
}

impl Fits {
    pub(super) fn of(folder: &Path, fitting: &Fitting) -> Result<Self, Fail> {
        let usual = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = fitting.threads.as_deref().map(|text| count("--threads", text, 1, 4096)).transpose()?;
        let store = Store::open(&folder.join(REFERENCES_FOLDER))?;
        Ok(Self { folder: folder.to_owned(), store, threads: threads.unwrap_or(usual) })
    }

    /// Trains what is missing of a job.
    fn job(&self, plan: &ReferencePlan<'_>, job: Job, progress: bool) -> Result<Fitted, Fail> {
        interrupt::listen();
        let total = (job.index..plan.len()).step_by(job.of.max(1)).count();
        let bar = StepBar::new(total as u64, progress);
        bar.say("reference models");
        let tell = |now: Progress| bar.at(now.finished as u64);
        let run = Run { threads: self.threads, progress: &tell, halt: interrupt::flag() };
        Ok(plan.fit(&self.store, job, run)?)
    }

    /// All references, those that are missing trained first; none when it was interrupted.
    pub(super) fn whole(
        &self,
        plan: &ReferencePlan<'_>,
        progress: bool,
    ) -> Result<Option<Vec<Reference>>, Fail> {
        let fitted = self.job(plan, Job::WHOLE, progress)?;
        if fitted.left > 0 {
            return Ok(None);
        }
        self.collected(plan).map(Some)
    }

    /// All references; an error names those that are missing.
    pub(super) fn collected(&self, plan: &ReferencePlan<'_>) -> Result<Vec<Reference>, Fail> {
        Ok(plan.collect(&self.store)?)
    }

    /// What is said after Ctrl-C.
    pub(super) fn interrupted(&self, json: bool) -> Output {
        let folder = self.folder.display();
        let stdout = match json {
            true => format!("{}\n", json!({"interrupted": true, "out": self.folder})),
            false => format!(
                "Interrupted. Finished models are kept in {folder}; the same command goes on from there.\n"
            ),
        };
        Output { stdout, status: INTERRUPTED, ..Output::default() }
    }
}

/// One job.
pub(super) fn fit(arguments: &Fit, progress: bool) -> Result<Output, Fail> {
    let of = count("--of", &arguments.of, 1, 65_536)?;
    let index = count("--index", &arguments.index, 0, of as u64 - 1)?;
    let quiet = !progress || arguments.json;
    let case = case::read(&arguments.run, &arguments.fitting, &arguments.key, !quiet)?;
    let settings = case::settings(&arguments.fitting, &arguments.key)?;
    let learner = case.audited()?;
    let plan = ReferencePlan::new(&settings, &learner)?;
    let fits = Fits::of(&arguments.out, &arguments.fitting)?;
    let fitted = fits.job(&plan, Job { index, of }, !quiet)?;
    if fitted.left > 0 {
        return Ok(fits.interrupted(arguments.json));
    }
    let records = match arguments.fitting.records() {
        RECORDS => String::new(),
        records => format!(" --records {records}"),
    };
    let stdout = match arguments.json {
        true => json_line(&json!({
            "index": index, "of": of, "references": plan.len(), "trained": fitted.trained, "present": fitted.present,
            "out": arguments.out,
        }))?,
        false => format!(
            "Job {index} of {of}: {} reference models trained, {} were there; {} in all jobs together\n\
             When all jobs are done: reticent attack collect {} --references {}{records} --out {}\n",
            fitted.trained.len(),
            fitted.present,
            plan.len(),
            arguments.run.display(),
            plan.len(),
            arguments.out.display()
        ),
    };
    Ok(Output { stdout, ..Output::default() })
}
