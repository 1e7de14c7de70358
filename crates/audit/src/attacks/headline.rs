//! The headline attack of a study: references stand in for the target, and the attack that finds most of their members is
//! chosen.

use super::{Attack, AttackSettings, Registry, evidence};
use crate::metrics::{MetricSettings, measure};
use crate::{AuditError, Membership, Reference, Study, StudyParts};

/// How many references play the target.
const PLAYED: usize = 4;
/// The false-positive rate at which members are counted, unless fewer than ten non-members would be flagged.
const RATE: f64 = 0.01;
/// With fewer non-members than this the whole curve is compared.
const FEW: usize = 100;

/// When an attack may be the headline of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidacy {
    /// Of attacks that do equally well, the one with the smallest rank is taken.
    pub rank: u32,
    /// Whether it is compared with the others where references play the target.
    pub plays: bool,
    /// From how many references on it may be chosen by what the study holds, where no reference can play the target; none for
    /// never.
    pub by_evidence: Option<usize>,
}

/// The attack that was chosen, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// The attack.
    pub attack: &'static dyn Attack,
    /// How it was chosen, in words.
    pub how: String,
    /// What every candidate found where references stood in for the target; none where none could.
    pub plays: Option<Plays>,
}

/// What candidates found where references stood in for the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Plays {
    /// Every candidate that could be run, by rank, with the mean of what it found.
    pub found: Vec<(&'static dyn Attack, f64)>,
    /// By what they are compared, and how many references stood in.
    pub how: String,
}

impl Plays {
    /// The strongest of some candidates; of equally strong ones the first by rank.
    pub fn best(&self, is_meant: impl Fn(&'static dyn Attack) -> bool) -> Option<(&'static dyn Attack, f64)> {
        let meant = self.found.iter().copied().filter(|(attack, _)| is_meant(*attack));
        meant.reduce(|best, other| if other.1 > best.1 { other } else { best })
    }
}

impl Registry {
    /// Attacks that may be the headline, by rank. One whose scores are fitted to the target's members never is.
    fn candidates(&self) -> Vec<(&'static dyn Attack, Candidacy)> {
        let own = |attack: &&'static dyn Attack| attack.candidacy().map(|candidacy| (*attack, candidacy));
        let mut found: Vec<_> =
            self.attacks().iter().filter(|attack| !attack.sees_members()).filter_map(own).collect();
        found.sort_by_key(|(_, candidacy)| candidacy.rank);
        found
    }

    /// Attacks that may be the headline, by rank.
    pub fn by_rank(&self) -> Vec<&'static dyn Attack> {
        self.candidates().into_iter().map(|(attack, _)| attack).collect()
    }

    /// The attack that speaks for the study by what it holds, where no reference can play the target: the first candidate that
    /// can be run and has as many references as it asks for.
    pub fn by_evidence(&self, study: &Study) -> Option<&'static dyn Attack> {
        let references = study.parts().references.len();
        let serves = |(attack, candidacy): &(&'static dyn Attack, Candidacy)| {
            candidacy.by_evidence.is_some_and(|fewest| references >= fewest) && attack.can_run(study).is_ok()
        };
        self.candidates().into_iter().find(serves).map(|(attack, _)| attack)
    }

    /// The attack that speaks for the study, of some: the one that finds most members of reference models that play the target.
    /// Neither what the target said nor who was in it is looked at.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for no attacks and for settings out of range.
    pub fn headline(
        &self,
        study: &Study,
        among: &[&'static dyn Attack],
        settings: &AttackSettings,
    ) -> Result<Headline, AuditError> {
        let [first, ..] = among else {
            return Err(AuditError::premise("attacks", "none", "name at least one"));
        };
        let candidates: Vec<&'static dyn Attack> = self
            .candidates()
            .into_iter()
            .filter(|(attack, candidacy)| candidacy.plays && among.contains(attack))
            .map(|(attack, _)| attack)
            .filter(|attack| attack.can_run(study).is_ok())
            .collect();
        let plays = if candidates.len() > 1 { played(study, &candidates, settings)? } else { None };
        if let Some((attack, plays)) = plays.and_then(|plays| Some((plays.best(|_| true)?.0, plays))) {
            let each =
                plays.found.iter().map(|(attack, mean)| format!("{} {:.1} %", attack.name(), 100.0 * mean));
            let how = format!("{}: {}", plays.how, each.collect::<Vec<_>>().join(", "));
            return Ok(Headline { attack, how, plays: Some(plays) });
        }
        let (attack, how) = match (among, self.by_evidence(study)) {
            ([only], _) => (*only, "the only attack requested"),
            (_, Some(best)) if among.contains(&best) => {
                (best, "by the available evidence: no reference model could stand in for the target")
            }
            _ => (*first, "the first of the attacks requested"),
        };
        Ok(Headline { attack, how: how.to_owned(), plays: None })
    }
}

/// What candidates find where references play the target in turn; none where none can.
fn played(
    study: &Study,
    candidates: &[&'static dyn Attack],
    settings: &AttackSettings,
) -> Result<Option<Plays>, AuditError> {
    let sample = evidence::sample(study, &settings.key);
    let tuned =
        candidates.iter().map(|attack| attack.tuned(study, settings)).collect::<Result<Vec<_>, _>>()?;
    // Sums of what each finds, and in how many plays.
    let mut totals = vec![(0.0, 0); candidates.len()];
    let (mut plays, mut rate) = (0, RATE);
    for place in 0..study.parts().references.len() {
        if plays == PLAYED {
            break;
        }
        let Some(play) = play(study, place, &sample) else { continue };
        let others = play.parts().members.iter().filter(|member| !**member).count();
        if others == 0 || others == play.len() {
            continue;
        }
        plays += 1;
        rate = RATE.max(10.0 / others as f64);
        for ((attack, settings), total) in candidates.iter().zip(&tuned).zip(&mut totals) {
            let Some(found) = strength(&play, *attack, settings, (others >= FEW).then_some(rate))? else {
                continue;
            };
            *total = (total.0 + found, total.1 + 1);
        }
    }
    let mean = |(attack, (sum, count)): (&&'static dyn Attack, &(f64, u32))| {
        (*count > 0).then(|| (*attack, sum / f64::from(*count)))
    };
    let found: Vec<_> = candidates.iter().zip(&totals).filter_map(mean).collect();
    let what = if rate > 0.1 {
        "by AUC".to_owned()
    } else {
        format!("by true-positive rate at {:.2} % false-positive rate", 100.0 * rate)
    };
    let models =
        if plays == 1 { "1 reference model".to_owned() } else { format!("{plays} reference models") };
    let how = format!("{what} where {models} stood in for the target");
    Ok((!found.is_empty()).then_some(Plays { found, how }))
}

/// The study in which one reference is the target and the others are its references; none where it lacks what the target has.
fn play(study: &Study, place: usize, sample: &[usize]) -> Option<Study> {
    let parts = study.parts();
    let flags = |flags: &[bool]| sample.iter().map(|record| flags[*record]).collect::<Vec<_>>();
    let model = |reference: &Reference| Reference {
        name: reference.name.clone(),
        outputs: reference.outputs.as_ref().map(|outputs| outputs.some(sample)),
        signals: reference.signals.some(sample),
        inside: flags(&reference.inside),
    };
    let own = model(&parts.references[place]);
    if parts.target.is_some() && own.outputs.is_none() {
        return None;
    }
    // One that had exactly the same records, or exactly the others, would tell who was in.
    let mask = &parts.references[place].inside;
    let tells = |other: &Reference| {
        let alike = sample.iter().filter(|record| other.inside[**record] == mask[**record]).count();
        alike == 0 || alike == sample.len()
    };
    let others = parts.references.iter().enumerate();
    let others = others.filter(|(other, reference)| *other != place && !tells(reference));
    Study::new(StudyParts {
        members: own.inside,
        labels: parts.labels.as_ref().map(|labels| sample.iter().map(|record| labels[*record]).collect()),
        signals: own.signals,
        target: own.outputs,
        references: others.map(|(_, reference)| model(reference)).collect(),
        ..StudyParts::default()
    })
    .ok()
}

/// The true-positive rate of an attack at a false-positive rate, or its area; none where it cannot be run.
fn strength(
    play: &Study,
    attack: &'static dyn Attack,
    settings: &AttackSettings,
    rate: Option<f64>,
) -> Result<Option<f64>, AuditError> {
    if attack.can_run(play).is_err() {
        return Ok(None);
    }
    let scores = match attack.run(play, settings) {
        Ok(found) => found.scores,
        Err(AuditError::NotMeasurable(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Ok(membership) = Membership::new(scores, play.parts().members.clone()) else { return Ok(None) };
    let metrics = MetricSettings { rates: rate.into_iter().collect(), ..MetricSettings::default() };
    let found = measure(&membership, &metrics)?;
    Ok(Some(match found.rates.first().and_then(|rate| rate.tpr) {
        Some(tpr) => tpr.value,
        None => found.auc.value,
    }))
}
