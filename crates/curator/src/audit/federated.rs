//! Parties that trained together, attacked by the server or by one of them.

use super::case::RecordChoice;
use super::folder::{self, Subject, Writer};
use super::references::RECORDS;
use super::statement::{AuditStatement, Stated, whole};
use super::target::{FederatedCase, FederatedTarget};
use super::{Audited, InterruptedAudit, Outcome};
use crate::folder::is_network;
use crate::train::{Computing, Device};
use crate::watch::Work;
use crate::{Refusal, Session};
use reticent_attack::AttackError;
use reticent_attack::federated::{
    ActiveAttack, ActiveAttacker, ActiveSettings, Observer, attack, observe, snapshot_signals,
};
use reticent_audit::attacks::{
    ASCENT, ASCENT_LIKELIHOOD, SNAPSHOT_GRADIENTS, SNAPSHOT_LEARNED, SNAPSHOT_LIKELIHOOD, SNAPSHOT_LOSS,
    observed,
};
use reticent_audit::disclosure::{ObservedRounds, Trajectory};
use reticent_audit::{
    ExamineSettings, Outputs, SignalSource, SignalValues, Signals, Study, StudyParts, examine,
};
use reticent_core::Code;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Rounds that an observer sees where none are named.
const OBSERVED: u64 = 5;

/// The rate of an active attacker's ascent, its steps in a round, and the records that it raises at once. Chosen on generated data with
/// four classes, and not on any data that a page shows.
const ASCENT_RATE: f64 = 0.05;
const ASCENT_STEPS: u64 = 5;
const ASCENT_GROUP: usize = 40;

/// An attack on parties that trained together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct FederatedAudit {
    /// The folder of a network that was trained with `federated`.
    pub model: PathBuf,
    /// Who attacks: `server`, or the name of a party.
    pub observer: String,
    /// The party whose records the server asks about [default: the first].
    pub victim: Option<String>,
    /// Sets of rounds that the observer sees; the learned attack is measured for each of them.
    pub rounds: Vec<Vec<u64>>,
    /// How the attacker departs from the protocol; none for one who only looks on.
    pub active: Option<ActiveChoice>,
    /// The learning rate of an active attacker's ascent [default: 0.05].
    pub rate: Option<f64>,
    /// Steps of ascent in a round [default: 5].
    #[serde(alias = "ascent_steps")]
    pub ascent_steps: Option<u64>,
    /// Data that no party holds.
    #[serde(alias = "non_members")]
    pub non_members: Option<PathBuf>,
    /// The most records that are audited.
    pub records: u64,
    /// The number of threads.
    pub threads: Option<u64>,
    /// The device that computes the network: `cpu` or `cuda`.
    pub device: Device,
    /// The number of examples that are computed at once; as many as fit if none is given.
    pub chunk: Option<u64>,
    /// What is stated.
    pub statement: AuditStatement,
    /// The folder that the audit is written to; none for nowhere.
    pub out: Option<PathBuf>,
}

/// How an attacker departs from the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActiveChoice {
    /// It raises the loss of the audited records between rounds.
    Ascent,
    /// The server also keeps its victim apart from all others.
    Isolate,
}

impl Default for FederatedAudit {
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            observer: "server".to_owned(),
            victim: None,
            rounds: Vec::new(),
            active: None,
            rate: None,
            ascent_steps: None,
            non_members: None,
            records: 1000,
            threads: None,
            device: Device::Cpu,
            chunk: None,
            statement: AuditStatement::default(),
            out: None,
        }
    }
}

/// Sets of rounds from text: `/` between sets, commas between rounds, `2-10` for a range and `2-10:2` for every second round of it.
///
/// # Errors
/// [`Refusal`] for anything else, and for rounds that do not increase.
pub fn round_sets(text: &str) -> Result<Vec<Vec<u64>>, Refusal> {
    let refuse = || {
        let remedy = "give rounds as in 1-5, 10-50:10 or 2,4,8, and / between sets of them";
        Refusal::value("rounds", text, remedy)
    };
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| refuse());
    let part = |text: &str| -> Result<Vec<u64>, Refusal> {
        let (range, step) = match text.split_once(':') {
            Some((range, step)) => (range, number(step)?),
            None => (text, 1),
        };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(range)?, number(range)?),
        };
        // A million rounds are more than any run has.
        if step == 0 || to > 1 << 20 {
            return Err(refuse());
        }
        Ok((from..=to).step_by(step as usize).collect())
    };
    let set = |text: &str| -> Result<Vec<u64>, Refusal> {
        let rounds = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?.concat();
        let is_rising = rounds.windows(2).all(|pair| pair[0] < pair[1]);
        if rounds.is_empty() || !is_rising { Err(refuse()) } else { Ok(rounds) }
    };
    text.split('/').map(set).collect()
}

/// A checked attack on a federation.
pub(super) struct FederatedPlan {
    request: FederatedAudit,
    target: FederatedTarget,
    sets: Vec<Vec<u64>>,
    subject: Subject,
    stated: Stated,
    choice: RecordChoice,
}

impl FederatedAudit {
    pub(super) fn plan(&self) -> Result<FederatedPlan, Refusal> {
        let stated = Stated::of(&self.statement, &[])?;
        let most = whole("records", self.records, &RECORDS)?;
        if !is_network(&self.model) {
            let why = "no network there: give one that was trained with ⟦federated⟧ and ⟦out⟧";
            return Err(Refusal::new(Code::NoModel, format!("{}: {why}", self.model.display())));
        }
        self.out.as_deref().map(folder::check_out).transpose()?;
        if self.active.is_none() {
            let given = [
                ("rate", self.rate.map(|rate| rate.to_string())),
                ("ascent_steps", self.ascent_steps.map(|steps| steps.to_string())),
            ];
            if let Some((field, value)) = given.into_iter().find_map(|(field, value)| Some((field, value?))) {
                return Err(Refusal::conflict(field, value, "only for an ⟦active⟧ attacker: leave it out"));
            }
        }
        if let Some(rate) = self.rate.filter(|rate| !(*rate > 0.0 && rate.is_finite())) {
            return Err(Refusal::value("rate", rate, "give a number above 0"));
        }
        if self.observer != "server" && self.active == Some(ActiveChoice::Isolate) {
            let remedy =
                "only the server decides who gets which weights: give ⟦observer⟧ server, or ⟦active⟧ ascent";
            return Err(Refusal::conflict("active", "isolate", remedy));
        }
        let computing = Computing::new(self.device, self.threads, self.chunk);
        let target = FederatedTarget::open(&self.model, self.non_members.as_deref(), computing)?;
        let last = target.rounds();
        let sets = match self.rounds.as_slice() {
            [] => vec![(1..=OBSERVED.min(last)).map(|part| part * last / OBSERVED.min(last)).collect()],
            given => given.to_vec(),
        };
        for set in &sets {
            let odd = set.iter().find(|round| !(1..=last).contains(*round));
            let is_rising = set.windows(2).all(|pair| pair[0] < pair[1]);
            if let Some(value) = odd.or_else(|| set.first().filter(|_| !is_rising)) {
                let remedy = format!("the run has {last} rounds: give increasing numbers from 1 to {last}");
                return Err(Refusal::value("rounds", value, remedy));
            }
        }
        Ok(FederatedPlan {
            subject: Subject::of_model(&self.model)?,
            target,
            sets,
            stated,
            choice: RecordChoice {
                most,
                declared: None,
                key: self.statement.key.clone(),
                white_box: false,
                label_only: false,
                activations: Vec::new(),
                samples: None,
                samples_per_author: None,
            },
            request: self.clone(),
        })
    }
}

/// What an attack came to, before it is examined.
struct Seen {
    signals: Signals,
    outputs: Outputs,
    rows: Vec<ObservedRounds>,
    trajectories: Vec<Trajectory>,
    warnings: Vec<String>,
}

impl FederatedPlan {
    pub(super) fn run(self, session: &mut Session) -> Result<Outcome, Refusal> {
        let Self { request, target, sets, subject, stated, choice } = self;
        let case = target.case((&request.observer, request.victim.as_deref()), &choice, session)?;
        let writer = request.out.as_deref().map(Writer::open).transpose()?;
        // Who was in was not decided by coins, so no bound follows.
        let mut settings = ExamineSettings { bound: None, ..stated.settings(None, session) };
        let stage = session.watch().begin(Work::Thinking);
        stage.say(if request.active.is_some() { "training under attack" } else { "observing the rounds" });
        session.watch().listen();
        let halt = session.watch().halt();
        let is_halted = || halt.load(Ordering::SeqCst);
        let found = match request.active {
            None => passive(&case, &sets, &settings, &is_halted),
            Some(how) => active(&case, &request, how, &sets, &settings, &is_halted),
        };
        let seen = match found {
            Ok(seen) => seen,
            Err(Stopped::Interrupted) => return Ok(Outcome::Interrupted(InterruptedAudit::at(None))),
            Err(Stopped::Refused(refusal)) => return Err(*refusal),
        };
        for own in [SNAPSHOT_LOSS, SNAPSHOT_GRADIENTS, SNAPSHOT_LEARNED, ASCENT] {
            settings.registry = settings.registry.with(own)?;
        }
        let study = study(&case, seen.signals, Some(seen.outputs))?;
        let mut examination = examine(&study, &settings, &|words| stage.say(words))?;
        drop(stage);
        let findings = &mut examination.findings;
        (findings.observed, findings.trajectories) = (seen.rows, seen.trajectories);
        findings.warnings.extend(seen.warnings);
        findings.warnings.extend(notes(&case));
        if let Some(writer) = &writer {
            let origins = case.chosen.origins(&study.parts().ids);
            writer.audit(&study, &examination, &subject, Some(&origins))?;
        }
        let certificate = match case.observer {
            // What the server sees is covered by none.
            Observer::Server { .. } => None,
            Observer::Party { .. } => case.certificate().cloned(),
        };
        Ok(Outcome::Found(Box::new(Audited::new(examination, study, certificate, request.out))))
    }
}

/// Why there is nothing to examine.
enum Stopped {
    Interrupted,
    Refused(Box<Refusal>),
}

impl<E: Into<Refusal>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Refused(Box::new(error.into()))
    }
}

fn halted(error: AttackError) -> Stopped {
    match error {
        AttackError::Interrupted => Stopped::Interrupted,
        other => Stopped::Refused(Box::new(other.into())),
    }
}

fn study(case: &FederatedCase, signals: Signals, target: Option<Outputs>) -> Result<Study, Refusal> {
    let population = case.population.clone();
    Ok(Study::new(StudyParts {
        ids: population.ids,
        members: case.chosen.flags(),
        labels: Some(population.labels),
        groups: population.groups,
        features: population.features,
        signals,
        target,
        ..StudyParts::default()
    })?)
}

/// One who keeps to the protocol: the models of all sets of rounds together, and the learned attack for each set.
fn passive(
    case: &FederatedCase,
    sets: &[Vec<u64>],
    settings: &ExamineSettings,
    halt: &(dyn Fn() -> bool + Sync),
) -> Result<Seen, Stopped> {
    let mut rounds = sets.concat();
    rounds.sort_unstable();
    rounds.dedup();
    let mut warnings = Vec::new();
    let (models, end) = match case.observer {
        Observer::Party { .. } => case.kept(&rounds)?,
        Observer::Server { .. } => {
            warnings.push(REPEATED.to_owned());
            observe(&case.setup, case.observer, &rounds, halt).map_err(halted)?
        }
    };
    let (description, resources) = (&case.setup.description, case.setup.resources);
    let mut rows = Vec::new();
    for set in sets {
        let some: Vec<_> = models.iter().filter(|model| set.contains(&model.round)).cloned().collect();
        let signals = snapshot_signals(description, &some, &case.records, resources)?;
        let own = study(case, signals, None)?;
        rows.push(observed(&own, set, &settings.attack, settings.metrics.confidence)?);
    }
    let signals = snapshot_signals(description, &models, &case.records, resources)?;
    let outputs = case.outputs(&end)?;
    Ok(Seen { signals, outputs, rows, trajectories: Vec::new(), warnings })
}

/// What is said of a run that was trained again.
const REPEATED: &str = "the federation was trained again as it was the first time, with somebody looking on: the model in the folder is \
                        from another run";

/// One who interferes, beside the same federation without interference.
fn active(
    case: &FederatedCase,
    request: &FederatedAudit,
    how: ActiveChoice,
    sets: &[Vec<u64>],
    settings: &ExamineSettings,
    halt: &(dyn Fn() -> bool + Sync),
) -> Result<Seen, Stopped> {
    let attacker = match (case.observer, how) {
        (Observer::Server { victim }, ActiveChoice::Ascent) => ActiveAttacker::Server { victim },
        (Observer::Server { victim }, ActiveChoice::Isolate) => ActiveAttacker::Isolating { victim },
        (Observer::Party { own }, _) => ActiveAttacker::Party { own },
    };
    let all = sets.concat();
    let (first, last) = (all.iter().min().copied().unwrap_or(1), all.iter().max().copied().unwrap_or(1));
    let plan = ActiveSettings {
        attacker,
        rounds: first..=last,
        rate: request.rate.unwrap_or(ASCENT_RATE),
        steps: request.ascent_steps.unwrap_or(ASCENT_STEPS),
        group: ASCENT_GROUP,
    };
    let ActiveAttack { run, honest } = attack(&case.setup, &plan, &case.records, halt).map_err(halted)?;
    let (flags, confidence) = (case.chosen.flags(), settings.metrics.confidence);
    let who = match attacker {
        ActiveAttacker::Server { .. } => "the server ascends it",
        ActiveAttacker::Isolating { .. } => "the server ascends it and isolates the party",
        ActiveAttacker::Party { .. } => "a party ascends it",
    };
    let mut trajectories = vec![
        run.trajectory(&format!("Loss of the audited records while {who}"), &flags, confidence)?,
        honest.trajectory("Loss of the audited records without an attack", &flags, confidence)?,
    ];
    let side = match attacker {
        ActiveAttacker::Party { .. } => "the server",
        _ => "the party",
    };
    trajectories.extend(run.watched.beside(&honest.watched, side));
    // The same rounds as an observer sees them who does nothing.
    let watched: Vec<&Vec<f64>> = honest
        .losses
        .iter()
        .filter(|seen| seen.at >= first as f64 && seen.at.fract() == 0.0 && seen.losses.len() == flags.len())
        .map(|seen| &seen.losses)
        .collect();
    let share = 1.0 / watched.len().max(1) as f64;
    let passive = (0..flags.len()).map(|record| -share * watched.iter().map(|own| own[record]).sum::<f64>());
    let source = SignalSource::Snapshots;
    let signals = Signals::none()
        .with(ASCENT_LIKELIHOOD, SignalValues::scalar(source, run.likelihood))
        .with(SNAPSHOT_LIKELIHOOD, SignalValues::scalar(source, passive.collect()));
    let outputs = case.outputs(&honest.weights)?;
    Ok(Seen { signals, outputs, rows: Vec::new(), trajectories, warnings: vec![REPEATED.to_owned()] })
}

/// What a reader should know.
fn notes(case: &FederatedCase) -> Vec<String> {
    let mut notes = vec![
        format!(
            "non-members are {}: the figures are valid only if they come from the same distribution as the members",
            case.others
        ),
        "an audit reads the records directly: its figures and files are for the auditor only, and no certificate covers them".to_owned(),
        "no bound on epsilon: members were not drawn by coin flips; 'reticent attack canary' plants records or parties by coin flips"
            .to_owned(),
    ];
    if let (Some(certificate), Observer::Server { .. }) = (case.certificate(), case.observer) {
        notes.push(format!(
            "the certificate of this run protects one {} against everybody but the server: what the server sees of single updates is \
             covered by no certificate",
            certificate.unit
        ));
    }
    if case.left_out > 0 {
        notes.push(format!(
            "{} rows whose content occurs more than once are not audited, since it is not known which of them are members",
            case.left_out
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_rounds_are_read() {
        assert_eq!(round_sets("1-3/2,4/10-30:10").unwrap(), [vec![1, 2, 3], vec![2, 4], vec![10, 20, 30]]);
        assert_eq!(round_sets("1-2,5").unwrap(), [vec![1, 2, 5]]);
        for odd in ["", "a", "3-1", "2,2", "1-5:0", "1//2", "1-9999999"] {
            assert_eq!(round_sets(odd).unwrap_err().field(), Some("rounds"), "{odd}");
        }
    }
}
