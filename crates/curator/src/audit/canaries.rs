//! A training with canaries, and what it proves about ε.

use super::folder::{self, Subject, Writer};
use super::statement::{AuditStatement, Stated, whole};
use super::target::Repeated;
use super::{Audited, InterruptedAudit, Outcome};
use crate::folder::is_network;
use crate::train::{Computing, Device};
use crate::watch::Work;
use crate::{Refusal, Session};
use reticent_attack::canary::{self, CanaryKind, CanarySettings, Coins};
use reticent_attack::federated::{FederatedSetup, canary_parties};
use reticent_attack::{AttackError, NetworkTraining};
use reticent_audit::bound::BoundMethod;
use reticent_audit::{Draw, ExamineSettings, Game, Signals, Study, StudyParts, examine};
use reticent_core::Code;
use reticent_train::TrainingTerms;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// How many canaries there may be.
pub const CANARIES: RangeInclusive<u64> = 2..=1 << 24;

/// A private training repeated with canaries that are included by coin flips.
///
/// ```
/// use reticent_curator::audit::{Audit, CanaryAudit, Outcome};
/// use reticent_curator::{Planned, Request, Session, train::Train};
///
/// # let place = tempfile::tempdir()?;
/// # let model = place.path().join("run");
/// # let mut session = Session::without_limit()?;
/// let train = Train { epsilon: Some(1.0), delta: Some(1e-6), steps: Some(2), ..Train::default() };
/// Train { out: Some(model.clone()), ..train }.check()?.run(&mut session)?;
/// let audit = Audit::Canaries(CanaryAudit { model, canaries: 200, ..CanaryAudit::default() });
/// let Outcome::Found(found) = audit.check()?.run(&mut session)? else { return Err("interrupted".into()) };
/// assert!(found.certificate.is_some() && found.findings.epsilon_lower.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct CanaryAudit {
    /// The folder of a network.
    pub model: PathBuf,
    /// What a canary is.
    pub kind: CanaryKind,
    /// How many there are; each is put in by a fair coin.
    pub canaries: u64,
    /// The device that computes the network: `cpu` or `cuda`.
    pub device: Device,
    /// The number of examples that are computed at once; as many as fit if none is given.
    pub chunk: Option<u64>,
    /// What is stated.
    pub statement: AuditStatement,
    /// The folder that the audit is written to; none for nowhere.
    pub out: Option<PathBuf>,
}

impl Default for CanaryAudit {
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            kind: CanaryKind::Mislabelled,
            canaries: 1000,
            device: Device::Cpu,
            chunk: None,
            statement: AuditStatement::default(),
            out: None,
        }
    }
}

/// A checked training with canaries.
pub(super) struct CanariesPlan {
    target: Repeated,
    computing: Computing,
    subject: Subject,
    settings: CanarySettings,
    stated: Stated,
    out: Option<PathBuf>,
}

impl CanaryAudit {
    pub(super) fn plan(&self) -> Result<CanariesPlan, Refusal> {
        let count = whole("canaries", self.canaries, &CANARIES)?;
        let stated = Stated::of(&self.statement, &[])?;
        if !is_network(&self.model) {
            let why = "no network there: canaries are for networks that were trained with ⟦out⟧";
            return Err(Refusal::new(Code::NoModel, format!("{}: {why}", self.model.display())));
        }
        self.out.as_deref().map(folder::check_out).transpose()?;
        let computing = Computing::new(self.device, None, self.chunk);
        let (kind, key, coins) = (self.kind, self.statement.key.clone(), Coins::Fresh);
        let target = Repeated::open(&self.model, computing)?;
        if target.is_averaged() && kind != CanaryKind::Dirac {
            let remedy = "the parties of this run trained by averages (FedAvg), so canaries are parties: give ⟦kind⟧ dirac";
            return Err(Refusal::conflict("kind", "mislabelled or blank", remedy));
        }
        Ok(CanariesPlan {
            subject: Subject::of_model(&self.model)?,
            target,
            computing,
            settings: CanarySettings { kind, count, key, coins },
            stated,
            out: self.out.clone(),
        })
    }
}

/// Canaries and the training they are in.
enum Planted {
    Records(Box<(canary::Canaries, NetworkTraining)>),
    Parties(Box<FederatedSetup>),
}

impl CanariesPlan {
    /// Trains once with canaries, and attacks them. The training draws as the first one did; its model is thrown away, and what
    /// is said about it is for the auditor's eyes.
    pub(super) fn run(self, session: &mut Session) -> Result<Outcome, Refusal> {
        let Self { target, computing, subject, settings, stated, out } = self;
        let Computing { device, resources } = computing;
        let (count, kind) = (settings.count, settings.kind);
        let refuse = || {
            let remedy = "goes with a run that was trained with privacy: such a canary is as long as the clipping norm";
            Err(Refusal::conflict("kind", "dirac", remedy))
        };
        let are_parties = target.is_averaged();
        let planted = match are_parties {
            true => Planted::Parties(Box::new(target.federation(&settings.key, session)?)),
            false => {
                let (examples, classes, training) = target.training(session)?;
                let canaries = canary::Canaries::plant(&examples, classes, settings.clone())?;
                Planted::Records(Box::new((canaries, training)))
            }
        };
        match &planted {
            Planted::Parties(setup) if setup.terms.plan().is_none() => return refuse(),
            Planted::Records(own)
                if kind == CanaryKind::Dirac && matches!(own.1.terms, TrainingTerms::NonPrivate(_)) =>
            {
                return refuse();
            }
            _ => {}
        }
        let writer = out.as_deref().map(Writer::open).transpose()?;
        let watch = session.watch();
        let stage = watch.begin(Work::Thinking);
        stage.say("training with canaries");
        watch.listen();
        let halt = watch.halt();
        let is_halted = || halt.load(Ordering::SeqCst);
        let ran = match &planted {
            Planted::Records(own) => canary::run(&own.0, &own.1, device, resources, &is_halted),
            Planted::Parties(setup) => canary_parties(setup, count, &settings.key, &is_halted),
        };
        let ran = match ran {
            Ok(ran) => ran,
            Err(AttackError::Interrupted) => return Ok(Outcome::Interrupted(InterruptedAudit::at(None))),
            Err(error) => return Err(error.into()),
        };
        drop(stage);
        // Fair coin flips decide who is in: canaries do not differ otherwise.
        let settings =
            ExamineSettings { expects_baseline: false, ..stated.settings(ran.certificate.as_ref(), session) };
        let study = Study::new(StudyParts {
            ids: (1..=count).map(|canary| format!("canary:{canary}")).collect(),
            members: ran.membership.members().to_vec(),
            signals: Signals::of_scores(ran.membership.scores().to_vec()),
            draw: match settings.bound {
                // To ask for these is to declare that canaries do not influence each other.
                Some((BoundMethod::ClopperPearson | BoundMethod::Gaussian, _)) => {
                    Draw::Runs(if are_parties { Game::PARTIES } else { Game::RECORDS })
                }
                _ if are_parties => Draw::Parties,
                _ => Draw::Coins(0.5),
            },
            ..StudyParts::default()
        })?;
        let stage = session.watch().begin(Work::Thinking);
        let mut examination = examine(&study, &settings, &|words| stage.say(words))?;
        drop(stage);
        let warnings = &mut examination.findings.warnings;
        warnings.extend(ran.notes);
        warnings.push(
            "the training was repeated with canaries: the bound is about that run's guarantee, and the model in the folder is from another run"
                .to_owned(),
        );
        if let Some(writer) = &writer {
            writer.audit(&study, &examination, &subject, None)?;
        }
        Ok(Outcome::Found(Box::new(Audited::new(examination, study, ran.certificate, out))))
    }
}
