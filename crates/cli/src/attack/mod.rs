//! `reticent attack`, and the audit of a model of ours: reference models, canaries, single attacks.
//!
//! | file | step |
//! |---|---|
//! | `case` | the flags about a model under attack |
//! | `fit` | reference models, in one job or several |
//! | `single` | one attack on a table of scores; the list of attacks |
//! | `canary` | a training with canaries |

mod canary;
mod case;
mod fit;
mod single;

use crate::Output;
use crate::args::audit::{Attack, Audit, Collect, Statement};
use crate::audit::{Asked, Shown, answer, write};
use crate::bar::Stage;
use crate::fail::Fail;
use fit::Fits;
use reticent::attack::{ReferencePlan, target_study};
use reticent::audit::{Draw, Examination, Reference, examine};
use reticent::curator::audit::Case;
use reticent::data::write_private;
use std::path::{Path, PathBuf};

/// Which rows the audited records are.
const ORIGINS_FILE: &str = "records.csv";

/// Runs one of the parts.
pub(crate) fn run(question: &Attack, progress: bool) -> Result<Output, Fail> {
    match question {
        Attack::List { json } => single::list(*json),
        Attack::Run(arguments) => single::run(arguments, progress),
        Attack::Fit(arguments) => fit::fit(arguments, progress),
        Attack::Collect(arguments) => collect(arguments, progress),
        Attack::Canary(arguments) => canary::canary(arguments, progress),
    }
}

/// Audits a model of ours: trains the references that are missing, then attacks.
pub(crate) fn audit_run(run: &Path, arguments: &Audit, progress: bool) -> Result<Output, Fail> {
    let (key, quiet) = (&arguments.statement.key, !progress || arguments.json);
    // Before anything is trained.
    Asked::of(&arguments.statement, &arguments.attacks, None)?;
    let case = case::read(run, &arguments.fitting, key, !quiet)?;
    let settings = case::settings(&arguments.fitting, key)?;
    let folder: PathBuf = arguments.out.clone().unwrap_or_else(|| run.join("audit"));
    let learner = case.audited()?;
    let references = if settings.references == 0 {
        Vec::new()
    } else {
        let plan = ReferencePlan::new(&settings, &learner)?;
        let fits = Fits::of(&folder, &arguments.fitting)?;
        match fits.whole(&plan, !quiet)? {
            Some(references) => references,
            None => return Ok(fits.interrupted(arguments.json)),
        }
    };
    let attacked = Attacked { case: &case, references, folder: &folder, json: arguments.json };
    attacked.finish(&arguments.statement, &arguments.attacks, !quiet)
}

/// Gathers what jobs have trained, then attacks.
fn collect(arguments: &Collect, progress: bool) -> Result<Output, Fail> {
    let (key, quiet) = (&arguments.statement.key, !progress || arguments.json);
    Asked::of(&arguments.statement, &[], None)?;
    if let Some(threads) = &arguments.fitting.threads {
        return Err(Fail::conflict(
            "--threads",
            threads,
            "is for training, and nothing is trained here: leave it out",
        ));
    }
    let case = case::read(&arguments.run, &arguments.fitting, key, !quiet)?;
    let settings = case::settings(&arguments.fitting, key)?;
    let learner = case.audited()?;
    let plan = ReferencePlan::new(&settings, &learner)?;
    let references = Fits::of(&arguments.out, &arguments.fitting)?.collected(&plan)?;
    let attacked = Attacked { case: &case, references, folder: &arguments.out, json: arguments.json };
    attacked.finish(&arguments.statement, &[], !quiet)
}

/// A model under attack with all that is needed.
struct Attacked<'a> {
    case: &'a Case,
    references: Vec<Reference>,
    folder: &'a Path,
    json: bool,
}

impl Attacked<'_> {
    /// Runs the attacks, writes and prints what they found.
    fn finish(self, statement: &Statement, attacks: &[String], progress: bool) -> Result<Output, Fail> {
        let Case { population, chosen, outputs, certificate, draw, others, left_out, .. } = self.case;
        let mut asked = Asked::of(statement, attacks, certificate.as_ref())?;
        if *draw == Draw::Undeclared {
            asked.settings.bound = None;
        }
        // Audited records were thinned to fair coins.
        let played = if *draw == Draw::Undeclared { Draw::Undeclared } else { Draw::Coins(0.5) };
        let study = target_study(population, chosen.flags(), outputs.clone(), self.references)?.drawn(played);
        let stage = Stage::new(progress);
        let mut examination = examine(&study, &asked.settings, &|words| stage.say(words))?;
        drop(stage);
        note(&mut examination, others, *draw, study.parts().references.len());
        if *left_out > 0 {
            examination.findings.warnings.push(format!(
                "{left_out} rows whose content occurs more than once are not audited, since nobody can say which of them are members: \
                 the accuracies here are of the others"
            ));
        }
        write(self.folder, &study, &examination)?;
        let origins = chosen.origins(&study.parts().ids);
        write_private(&self.folder.join(ORIGINS_FILE), origins.as_bytes())?;
        let shown = Shown {
            certificate: certificate.as_ref(),
            folder: Some(self.folder),
            plot: statement.plot.as_deref(),
            json: self.json,
        };
        answer(&examination.findings, &shown)
    }
}

/// Adds what a reader should know about where records come from.
fn note(examination: &mut Examination, others: &str, draw: Draw, references: usize) {
    let warnings = &mut examination.findings.warnings;
    warnings.push(format!(
        "non-members are {others}: numbers about members hold as far as those are of the same kind"
    ));
    warnings.push(
        "an audit reads the records themselves: its numbers and files are for the auditor's eyes, and no certificate covers them"
            .to_owned(),
    );
    if draw == Draw::Undeclared {
        warnings.push(
            "no bound on epsilon: nobody tossed a coin for who is a member, so nothing is proven: 'reticent attack canary' trains \
             with coins, and --drawn declares that there were some"
                .to_owned(),
        );
    }
    if (1..8).contains(&references) {
        warnings.push(format!("{references} reference models are few: with 16 or more, attacks find more"));
    }
}
