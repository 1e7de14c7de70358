//! An audit of a model of ours: reference models first, then attacks.

use super::case::Case;
use super::folder::{self, Subject, Writer};
use super::references::{Fits, Fitting, FittingPlan};
use super::statement::{AuditStatement, Stated};
use super::{Audited, InterruptedAudit, Outcome};
use crate::watch::Work;
use crate::{Refusal, Session};
use reticent_attack::{ReferencePlan, ReferenceSettings, target_study};
use reticent_audit::{Draw, Examination, Reference, Registry, Study, examine};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An audit of a model of ours.
///
/// ```
/// use reticent_curator::audit::{Audit, Fitting, ModelAudit, Outcome};
/// use reticent_curator::{Planned, Request, Session, fit::Fit};
///
/// # let place = tempfile::tempdir()?;
/// # let model = place.path().join("model");
/// # let mut session = Session::without_limit()?;
/// Fit { epsilon: Some(1.0), out: Some(model.clone()), ..Fit::default() }.check()?.run(&mut session)?;
/// let fitting = Fitting { references: 2, records: 400, ..Fitting::default() };
/// let audit = Audit::Model(ModelAudit { model, fitting, ..ModelAudit::default() });
/// let Outcome::Found(found) = audit.check()?.run(&mut session)? else { return Err("interrupted".into()) };
/// // One row among thousands hardly moves a linear model: seven standard deviations.
/// assert!((found.findings.auc - 0.5).abs() < 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct ModelAudit {
    /// The folder of the model.
    pub model: PathBuf,
    /// How reference models are trained.
    pub fitting: Fitting,
    /// The attacks to run, by name; all that can be run if there are none.
    pub attacks: Vec<String>,
    /// What is stated.
    pub statement: AuditStatement,
    /// Where the audit and its reference models go: who was a member is told there. By default a folder beside the model's, of its
    /// name and `-audit`.
    pub out: Option<PathBuf>,
}

/// An audit of a model of ours whose reference models were trained as jobs.
///
/// ```
/// use reticent_curator::audit::{Audit, Collected, FitReferences, Fitting, Outcome};
/// use reticent_curator::{Planned, Request, Session};
///
/// # let place = tempfile::tempdir()?;
/// # let (model, out) = (place.path().join("model"), place.path().join("jobs"));
/// # let mut session = Session::without_limit()?;
/// # reticent_curator::fit::Fit { epsilon: Some(1.0), out: Some(model.clone()), ..Default::default() }.check()?.run(&mut session)?;
/// let fitting = Fitting { references: 2, records: 400, ..Fitting::default() };
/// let (index, of, key) = (0, 1, "reticent".to_owned());
/// let job = FitReferences { model: model.clone(), index, of, fitting: fitting.clone(), key, out: out.clone() };
/// job.check()?.run(&mut session)?;
/// let audit = Audit::Collected(Collected { model, fitting, out, ..Collected::default() });
/// let Outcome::Found(found) = audit.check()?.run(&mut session)? else { return Err("interrupted".into()) };
/// assert!(found.findings.attacks.iter().any(|attack| attack.name == "rmia-offline"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Collected {
    /// The folder of the model.
    pub model: PathBuf,
    /// How reference models were trained.
    pub fitting: Fitting,
    /// What is stated.
    pub statement: AuditStatement,
    /// The folder that the jobs filled; results go there too.
    pub out: PathBuf,
}

/// A checked audit of a model.
pub(super) struct ModelPlan {
    stated: Stated,
    subject: Subject,
    fitting: FittingPlan,
    out: PathBuf,
    /// Whether reference models that are missing are trained.
    trains: bool,
}

impl ModelAudit {
    pub(super) fn plan(&self) -> Result<ModelPlan, Refusal> {
        let stated = Stated::of(&self.statement, &self.attacks)?;
        let subject = Subject::of_model(&self.model)?;
        let fitting = self.fitting.plan(&self.model, &self.statement.key)?;
        let out = folder::place(&self.model, self.out.as_deref())?;
        Ok(ModelPlan { stated, subject, fitting, out, trains: true })
    }
}

impl Collected {
    pub(super) fn plan(&self) -> Result<ModelPlan, Refusal> {
        let stated = Stated::of(&self.statement, &[])?;
        if let Some(threads) = self.fitting.threads {
            let remedy = "is for training, and nothing is trained here: leave it out";
            return Err(Refusal::conflict("threads", threads, remedy));
        }
        let subject = Subject::of_model(&self.model)?;
        let fitting = self.fitting.plan(&self.model, &self.statement.key)?;
        folder::check_out(&self.out)?;
        Ok(ModelPlan { stated, subject, fitting, out: self.out.clone(), trains: false })
    }
}

impl ModelPlan {
    /// Reads the records, trains or collects reference models, and attacks. What comes out is for the auditor's eyes: no
    /// guarantee covers it, and nothing is charged for it.
    pub(super) fn run(self, session: &mut Session) -> Result<Outcome, Refusal> {
        let Self { stated, subject, fitting, out, trains } = self;
        let FittingPlan { target, choice, settings, threads } = fitting;
        let case = target.case(&choice, session)?;
        let settings = ReferenceSettings { wanted: case.wanted.clone(), ..settings };
        let learner = case.audited()?;
        let writer = Writer::open(&out)?;
        let references = if trains && settings.references == 0 {
            Vec::new()
        } else {
            let plan = ReferencePlan::new(&settings, &learner)?;
            let fits = Fits::open(&out)?;
            match trains {
                true => match fits.whole(&plan, threads, session.watch())? {
                    Some(references) => references,
                    None => return Ok(Outcome::Interrupted(InterruptedAudit::at(Some(out)))),
                },
                false => fits.collected(&plan)?,
            }
        };
        let (examination, study) = attack(&case, references, &stated, session)?;
        let ids = &study.parts().ids;
        let origins = case
            .authors
            .as_ref()
            .map_or_else(|| case.chosen.origins(ids), |authors| authors.origins(ids, &case.chosen.flags()));
        writer.audit(&study, &examination, &subject, Some(&origins))?;
        Ok(Outcome::Found(Box::new(Audited::new(examination, study, case.certificate, Some(out)))))
    }
}

/// Runs the attacks.
fn attack(
    case: &Case,
    references: Vec<Reference>,
    stated: &Stated,
    session: &mut Session,
) -> Result<(Examination, Study), Refusal> {
    let Case {
        population, chosen, target, certificate, draw, others, left_out, references_are_central, ..
    } = case;
    let mut settings = stated.settings(certificate.as_ref(), session);
    if *draw == Draw::Undeclared {
        settings.bound = None;
    }
    // Audited records were thinned to fair coins.
    let played = if *draw == Draw::Undeclared { Draw::Undeclared } else { Draw::Coins(0.5) };
    let study = target_study(population, chosen.flags(), target.clone(), references)?.drawn(played);
    if case.authors.is_some() {
        settings.registry = Registry::authors();
    }
    let stage = session.watch().begin(Work::Thinking);
    let mut examination = examine(&study, &settings, &|words| stage.say(words))?;
    drop(stage);
    if let Some(authors) = &case.authors {
        authors.state(&study, &mut examination, certificate.as_ref(), session)?;
    }
    note(&mut examination, others, *draw, study.parts().references.len(), case.authors.is_some());
    if *left_out > 0 {
        examination.findings.warnings.push(format!(
            "{left_out} rows whose content occurs more than once are not audited, since it is not known which of them are members: \
             the figures are about the other rows"
        ));
    }
    if *references_are_central && !study.parts().references.is_empty() {
        examination.findings.warnings.push(
            "parties trained this model by FedAvg, while each reference model was trained by one party with all its records: attacks \
             that compare with them may be weaker than against references trained by parties, so a low figure is not evidence of \
             safety"
                .to_owned(),
        );
    }
    Ok((examination, study))
}

/// Adds what a reader should know about where records come from.
fn note(examination: &mut Examination, others: &str, draw: Draw, references: usize, by_author: bool) {
    let warnings = &mut examination.findings.warnings;
    warnings.push(format!(
        "non-members are {others}: the figures are valid only if they come from the same distribution as the members"
    ));
    warnings.push(
        "an audit reads the records directly: its figures and files are for the auditor only, and no certificate covers them"
            .to_owned(),
    );
    if draw == Draw::Undeclared && by_author {
        warnings.push(
            "no bound on epsilon: authors were not drawn by coin flips, so nothing can be proven: if each was included with all samples by \
             its own coin flip, ⟦drawn⟧ declares it"
                .to_owned(),
        );
    } else if draw == Draw::Undeclared {
        warnings.push(
            "no bound on epsilon: members were not drawn by coin flips, so nothing can be proven: 'reticent attack canary' trains \
             with coin flips, and ⟦drawn⟧ declares them"
                .to_owned(),
        );
    }
    if (1..8).contains(&references) {
        warnings.push(format!("{references} reference models are few: attacks are stronger with 16 or more"));
    }
}
