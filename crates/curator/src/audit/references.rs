//! Reference models on disk: what is missing is trained, in one job or several.

use super::case::RecordChoice;
use super::statement::{share, whole};
use super::target::Target;
use super::{InterruptedAudit, folder};
use crate::train::{Computing, Device};
use crate::watch::{Watch, Work};
use crate::{Planned, Refusal, Request, Session};
use reticent_attack::{
    Job, JobProgress, JobReport, JobSettings, ReferenceDesign, ReferencePlan, ReferenceSettings, Store,
    Wanted,
};
use reticent_audit::{Draw, Reference};
use reticent_files::{sweep, temporary_of};
use serde::{Deserialize, Serialize};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Where reference models are, in the folder of an audit.
const REFERENCES_FOLDER: &str = "references";

/// How many records may be audited.
pub const RECORDS: RangeInclusive<u64> = 4..=100_000_000;
/// How many reference models there may be.
pub const REFERENCES: RangeInclusive<u64> = 0..=65_536;
/// How many samples of an author the auditor may have.
pub const SAMPLES: RangeInclusive<u64> = 1..=1_000_000;
/// How many threads may be used.
pub const THREADS: RangeInclusive<u64> = 1..=4096;
/// How many reference models are trained at once on a GPU unless a request says otherwise: one alone leaves much of it idle.
const AT_ONCE: usize = 4;
/// Into how many jobs the training of reference models may be divided.
pub const JOBS: RangeInclusive<u64> = 1..=65_536;

/// How reference models are trained, and who is audited with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Fitting {
    /// How many reference models are trained like the target, each with a random half of the audited records.
    pub references: u64,
    /// Data of the same kind that the model was not trained on; by default the rows that were held out, or the test part.
    #[serde(alias = "non_members")]
    pub non_members: Option<PathBuf>,
    /// The probability with which each record was included, by its own coin flip. By default it is known for rows that were held
    /// out, and without a draw no bound on ε follows.
    pub drawn: Option<f64>,
    /// The most records to audit, about half of them members.
    pub records: u64,
    /// Whether attackers see the weights: gradients of the target and of all reference models are computed and attacked.
    #[serde(alias = "white_box")]
    pub white_box: bool,
    /// Names of layers of a network whose outputs a white-box attacker looks at too.
    pub activations: Vec<String>,
    /// The column that names the author of a row, where a run's unit is a column: it is audited by author. It must be that unit; by default
    /// it is.
    pub unit: Option<String>,
    /// Audits by author: a file with other samples of the same authors, which no model is trained on. By default the auditor has the
    /// samples of the training data and of the non-members.
    pub samples: Option<PathBuf>,
    /// Audits by author: how many samples of each the auditor has; authors with fewer are left out. All of them if none is given.
    #[serde(alias = "samples_per_author")]
    pub samples_per_author: Option<u64>,
    /// Threads to use, each for a model of its own; if none are given, all processors, or 4 on a GPU.
    pub threads: Option<u64>,
    /// The device that computes networks: `cpu` or `cuda`.
    pub device: Device,
    /// The number of examples that are computed at once, for networks; as many as fit if none is given.
    pub chunk: Option<u64>,
}

impl Default for Fitting {
    fn default() -> Self {
        Self {
            references: 16,
            non_members: None,
            drawn: None,
            records: 20_000,
            white_box: false,
            activations: Vec::new(),
            unit: None,
            samples: None,
            samples_per_author: None,
            threads: None,
            device: Device::Cpu,
            chunk: None,
        }
    }
}

/// A checked way to train reference models.
pub(super) struct FittingPlan {
    pub(super) target: Target,
    pub(super) choice: RecordChoice,
    pub(super) settings: ReferenceSettings,
    pub(super) threads: usize,
}

impl Fitting {
    /// Checks the numbers, and opens the folder of the model.
    pub(super) fn plan(&self, model: &Path, key: &str) -> Result<FittingPlan, Refusal> {
        let most = whole("records", self.records, &RECORDS)?;
        let declared = self.drawn.map(|drawn| share("drawn", drawn)).transpose()?.map(Draw::Coins);
        let references = whole("references", self.references, &REFERENCES)?;
        let threads = match (self.threads, self.device) {
            (Some(threads), _) => whole("threads", threads, &THREADS)?,
            (None, Device::Cpu) => std::thread::available_parallelism().map_or(1, usize::from),
            (None, _) => AT_ONCE,
        };
        if !self.white_box && !self.activations.is_empty() {
            let remedy = "are seen by an attacker who has the weights: add ⟦white_box⟧";
            return Err(Refusal::conflict("activations", self.activations.join(","), remedy));
        }
        let samples_per_author =
            self.samples_per_author.map(|most| whole("samples_per_author", most, &SAMPLES)).transpose()?;
        let computing = Computing::new(self.device, Some(threads as u64), self.chunk);
        let target = Target::open(model, self.non_members.as_deref(), computing)?;
        self.check_unit(&target)?;
        Ok(FittingPlan {
            target,
            choice: RecordChoice {
                most,
                declared,
                key: key.to_owned(),
                white_box: self.white_box,
                activations: self.activations.clone(),
                samples: self.samples.clone(),
                samples_per_author,
            },
            settings: ReferenceSettings {
                key: key.to_owned(),
                references,
                design: ReferenceDesign::Half,
                wanted: Wanted::default(),
            },
            threads,
        })
    }
}

impl Fitting {
    /// Refuses what is for authors where a row is the unit, and another column than the unit.
    fn check_unit(&self, target: &Target) -> Result<(), Refusal> {
        match (target.unit_column(), &self.unit) {
            (Some(column), Some(asked)) if column != asked => {
                let remedy =
                    format!("the unit of this run is the column {column}: give that, or leave it out");
                Err(Refusal::unknown("unit", asked, remedy))
            }
            (Some(_), _) => Ok(()),
            (None, Some(asked)) => {
                let remedy = format!(
                    "a row is the unit of this run: train it with a schema that has unit = {{ column = \"{asked}\" }}, or leave it out"
                );
                Err(Refusal::conflict("unit", asked, remedy))
            }
            (None, None) => {
                let path = self.samples.as_ref().map(|path| path.display().to_string());
                let most = self.samples_per_author.map(|most| most.to_string());
                for (field, given) in [("samples", path), ("samples_per_author", most)] {
                    if let Some(value) = given {
                        let remedy =
                            "is for audits by author, and a row is the unit of this run: leave it out";
                        return Err(Refusal::conflict(field, value, remedy));
                    }
                }
                Ok(())
            }
        }
    }
}

/// The reference models of an audit's folder.
pub(super) struct Fits {
    store: Store,
}

impl Fits {
    pub(super) fn open(folder: &Path) -> Result<Self, Refusal> {
        let folder = folder.join(REFERENCES_FOLDER);
        let store = Store::open(&folder)?;
        sweep_all(&folder);
        Ok(Self { store })
    }

    /// Trains what is missing of a job.
    fn job(
        &self,
        plan: &ReferencePlan<'_>,
        job: Job,
        threads: usize,
        watch: &dyn Watch,
    ) -> Result<JobReport, Refusal> {
        watch.listen();
        let total = (job.index..plan.len()).step_by(job.of.max(1)).count();
        let bar = watch.begin(Work::Steps(total as u64));
        bar.say("reference models");
        let tell = |now: JobProgress| bar.at(now.finished as u64);
        Ok(plan.fit(&self.store, job, JobSettings { threads, progress: &tell, halt: watch.halt() })?)
    }

    /// All references, those that are missing trained first; none when it was interrupted.
    pub(super) fn whole(
        &self,
        plan: &ReferencePlan<'_>,
        threads: usize,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Reference>>, Refusal> {
        match self.job(plan, Job::WHOLE, threads, watch)?.left {
            0 => self.collected(plan).map(Some),
            _ => Ok(None),
        }
    }

    /// All references; an error names those that are missing.
    pub(super) fn collected(&self, plan: &ReferencePlan<'_>) -> Result<Vec<Reference>, Refusal> {
        Ok(plan.collect(&self.store)?)
    }
}

/// Takes away what killed jobs left under temporary names, of whatever reference model.
fn sweep_all(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(target) = entry.file_name().to_str().and_then(temporary_of) {
            sweep(&folder.join(target));
        }
    }
}

/// The training of reference models: one of several independent jobs.
///
/// ```
/// use reticent_curator::audit::{FitReferences, Fitting, JobOutcome};
/// use reticent_curator::{Planned, Request, Session};
///
/// # let place = tempfile::tempdir()?;
/// # let (model, out) = (place.path().join("model"), place.path().join("jobs"));
/// # let mut session = Session::without_limit()?;
/// # reticent_curator::fit::Fit { epsilon: Some(1.0), out: Some(model.clone()), ..Default::default() }.check()?.run(&mut session)?;
/// let fitting = Fitting { references: 4, records: 400, ..Fitting::default() };
/// let job = FitReferences { model, index: 1, of: 4, fitting, key: "reticent".to_owned(), out };
/// let JobOutcome::Fitted(fitted) = job.check()?.run(&mut session)? else { return Err("interrupted".into()) };
/// assert_eq!((fitted.trained, fitted.references), (vec![1], 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FitReferences {
    /// The folder of the model.
    pub model: PathBuf,
    /// Which job this is, from 0.
    pub index: u64,
    /// How many jobs there are.
    pub of: u64,
    /// How they are trained.
    #[serde(default)]
    pub fitting: Fitting,
    /// The key of every split; the same for all jobs.
    #[serde(default = "usual_key")]
    pub key: String,
    /// The folder of the reference models, the same for all jobs.
    pub out: PathBuf,
}

fn usual_key() -> String {
    super::KEY.to_owned()
}

/// A checked job.
pub struct FitReferencesPlan {
    job: Job,
    fitting: FittingPlan,
    out: PathBuf,
}

/// What a job did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FittedReferences {
    /// Which job it was.
    pub index: usize,
    /// How many jobs there are.
    pub of: usize,
    /// The folder of the reference models.
    pub out: PathBuf,
    /// How many were there already.
    pub present: usize,
    /// How many there are in all jobs together.
    pub references: usize,
    /// The numbers of those that it trained.
    pub trained: Vec<usize>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum JobOutcome {
    /// With all its models.
    Fitted(FittedReferences),
    /// By a request to stop.
    Interrupted(InterruptedAudit),
}

impl Request for FitReferences {
    type Planned = FitReferencesPlan;

    fn check(&self) -> Result<FitReferencesPlan, Refusal> {
        let of = whole("of", self.of, &JOBS)?;
        let index = whole("index", self.index, &(0..=self.of - 1))?;
        let fitting = self.fitting.plan(&self.model, &self.key)?;
        folder::check_out(&self.out)?;
        Ok(FitReferencesPlan { job: Job { index, of }, fitting, out: self.out.clone() })
    }
}

impl Planned for FitReferencesPlan {
    type Outcome = JobOutcome;

    fn run(self, session: &mut Session) -> Result<JobOutcome, Refusal> {
        session.unprotected("an audit, which reads the records themselves,")?;
        let Self { job, fitting, out } = self;
        let FittingPlan { target, choice, settings, threads } = fitting;
        let case = target.case(&choice, session)?;
        let settings = ReferenceSettings { wanted: case.wanted.clone(), ..settings };
        let learner = case.audited()?;
        let plan = ReferencePlan::new(&settings, &learner)?;
        let fitted = Fits::open(&out)?.job(&plan, job, threads, session.watch())?;
        if fitted.left > 0 {
            return Ok(JobOutcome::Interrupted(InterruptedAudit::at(Some(out))));
        }
        Ok(JobOutcome::Fitted(FittedReferences {
            index: job.index,
            of: job.of,
            out,
            present: fitted.present,
            references: plan.len(),
            trained: fitted.trained,
        }))
    }
}
