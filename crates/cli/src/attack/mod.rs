//! `reticent attack`, and the audit of a model of ours: reference models, canaries, single attacks.
//!
//! | file | step |
//! |---|---|
//! | `case` | a model's folder to its members, non-members and how models like it are made |
//! | `fit` | reference models, in one job or several |
//! | `single` | one attack on a table of scores; the list of attacks |
//! | `canary` | a training with canaries |

mod canary;
mod case;
mod fit;
mod single;

pub(crate) use case::{Case, Chosen};

use crate::Output;
use crate::args::audit::{Attack, Audit, Collect, Statement};
use crate::audit::{Asked, answer, write};
use crate::bar::Stage;
use crate::fail::Fail;
use fit::{Fits, REFERENCES_FOLDER};
use reticent::attack::{Overfitting, overfitting, target_study};
use reticent::audit::{Examination, Reference, examine};
use reticent::attack::ReferencePlan;
use std::fmt::Write;
use std::path::{Path, PathBuf};

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
    let case = Case::read(run, &arguments.fitting, key, !quiet)?;
    let settings = Case::settings(&arguments.fitting, key)?;
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
    let case = Case::read(&arguments.run, &arguments.fitting, key, !quiet)?;
    let settings = Case::settings(&arguments.fitting, key)?;
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
        let Case { population, chosen, outputs, certificate, others, .. } = self.case;
        let asked = Asked::of(statement, attacks, certificate.as_ref())?;
        let target = Reference {
            name: "target".to_owned(),
            outputs: Some(outputs.clone()),
            scores: None,
            inside: chosen.flags(),
        };
        let models: Vec<Reference> = std::iter::once(target).chain(self.references.iter().cloned()).collect();
        let gaps = overfitting(&models, &population.labels)?;
        let study = target_study(population, chosen.flags(), outputs.clone(), self.references)?;
        let stage = Stage::new(progress);
        let mut examination = examine(&study, &asked.settings, &|words| stage.say(words))?;
        drop(stage);
        note(&mut examination, others, study.parts().references.len());
        write(self.folder, &study, &examination, &[("overfitting.csv", gap_table(&gaps))])?;
        let mut output = answer(&examination.findings, certificate.as_ref(), Some(self.folder), self.json)?;
        if !self.json {
            output.stdout = gap_words(&gaps) + &output.stdout;
        }
        Ok(output)
    }
}

/// Adds what a reader should know about where records come from.
fn note(examination: &mut Examination, others: &str, references: usize) {
    let warnings = &mut examination.findings.warnings;
    warnings.push(format!(
        "non-members are {others}: numbers about members hold as far as those are of the same kind"
    ));
    if (1..8).contains(&references) {
        warnings.push(format!("{references} reference models are few: with 16 or more, attacks find more"));
    }
}

/// Accuracy on members and non-members, and what the simplest attack makes of the gap.
fn gap_words(gaps: &[Overfitting]) -> String {
    let Some(target) = gaps.first() else { return String::new() };
    crate::text::aligned(&[(
        "accuracy".to_owned(),
        format!(
            "{:.1} % on members, {:.1} % on non-members; the simplest attack is right {:.1} % of the time",
            target.train_accuracy * 100.0,
            target.test_accuracy * 100.0,
            target.attack_accuracy * 100.0
        ),
    )])
}

/// All models as CSV.
fn gap_table(gaps: &[Overfitting]) -> String {
    let mut text = "model,train_accuracy,test_accuracy,gap,attack_accuracy\n".to_owned();
    for gap in gaps {
        let _ = writeln!(
            text,
            "{},{},{},{},{}",
            gap.name,
            gap.train_accuracy,
            gap.test_accuracy,
            gap.train_accuracy - gap.test_accuracy,
            gap.attack_accuracy
        );
    }
    text
}
