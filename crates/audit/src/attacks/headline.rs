//! Which attack speaks for a study: references play the target, and the attack that finds most of their members is taken.

use super::{Attack, AttackSettings, rmia};
use crate::metrics::{MetricSettings, measure};
use crate::{AuditError, Membership, Reference, Study, StudyParts};

/// Attacks that may speak for a study with references, the first of equals.
const CANDIDATES: [Attack; 5] =
    [Attack::LiraOnline, Attack::RmiaOffline, Attack::RmiaOnline, Attack::LiraOffline, Attack::YeomLoss];

/// How many references play the target.
const PLAYED: usize = 4;
/// The false-positive rate at which members are counted, unless fewer than ten non-members would be flagged.
const RATE: f64 = 0.01;
/// With fewer non-members than this the whole curve is compared.
const FEW: usize = 100;

/// The attack that was chosen, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// The attack.
    pub attack: Attack,
    /// How it was chosen, in words.
    pub how: String,
}

pub(super) fn choose(
    study: &Study,
    among: &[Attack],
    settings: &AttackSettings,
) -> Result<Headline, AuditError> {
    let [first, ..] = among else {
        return Err(AuditError::premise("attacks", "none", "name at least one"));
    };
    let candidates: Vec<Attack> = CANDIDATES
        .into_iter()
        .filter(|attack| among.contains(attack) && attack.can_run(study).is_ok())
        .collect();
    if candidates.len() > 1
        && let Some(found) = played(study, &candidates, settings)?
    {
        return Ok(found);
    }
    let by_evidence = Attack::by_evidence(study);
    let (attack, how) = match among {
        [only] => (*only, "the only attack that was asked for"),
        _ if among.contains(&by_evidence) => {
            (by_evidence, "by what the study holds: no reference models could play the target")
        }
        _ => (*first, "the first of the attacks that were asked for"),
    };
    Ok(Headline { attack, how: how.to_owned() })
}

/// The best candidate where references play the target in turn; none where none can.
fn played(
    study: &Study,
    candidates: &[Attack],
    settings: &AttackSettings,
) -> Result<Option<Headline>, AuditError> {
    let sample = rmia::sample(study, &settings.key);
    let tuned = [tuned(study, candidates, false, settings)?, tuned(study, candidates, true, settings)?];
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
        for (attack, total) in candidates.iter().zip(&mut totals) {
            let settings = &tuned[usize::from(*attack == Attack::RmiaOnline)];
            let Some(found) = strength(&play, *attack, settings, (others >= FEW).then_some(rate))? else {
                continue;
            };
            *total = (total.0 + found, total.1 + 1);
        }
    }
    let mean = |(sum, count): (f64, u32)| if count == 0 { 0.0 } else { sum / f64::from(count) };
    let mut best: Option<usize> = None;
    for (place, total) in totals.iter().enumerate() {
        if total.1 > 0 && best.is_none_or(|best| mean(*total) > mean(totals[best])) {
            best = Some(place);
        }
    }
    let Some(best) = best else { return Ok(None) };
    let listed: Vec<String> = candidates
        .iter()
        .zip(&totals)
        .filter(|(_, total)| total.1 > 0)
        .map(|(attack, total)| format!("{} {:.1} %", attack.name(), 100.0 * mean(*total)))
        .collect();
    let what = if rate > 0.1 {
        "by AUC".to_owned()
    } else {
        format!("by members found at a false-positive rate of {:.2} %", 100.0 * rate)
    };
    let models =
        if plays == 1 { "1 reference model".to_owned() } else { format!("{plays} reference models") };
    Ok(Some(Headline {
        attack: candidates[best],
        how: format!("{what} where {models} played the target: {}", listed.join(", ")),
    }))
}

/// Settings with what RMIA is tuned to on all references, so that it is not tuned again in every play.
fn tuned(
    study: &Study,
    candidates: &[Attack],
    online: bool,
    settings: &AttackSettings,
) -> Result<AttackSettings, AuditError> {
    let attack = if online { Attack::RmiaOnline } else { Attack::RmiaOffline };
    if !candidates.contains(&attack) {
        return Ok(settings.clone());
    }
    rmia::check(settings)?;
    let tuned = rmia::tune(study, online, settings)?;
    Ok(AttackSettings {
        rmia_temperature: Some(tuned.temperature),
        rmia_a: Some(tuned.a),
        ..settings.clone()
    })
}

/// The study in which one reference is the target and the others are its references; none where it lacks what the target has.
fn play(study: &Study, place: usize, sample: &[usize]) -> Option<Study> {
    let parts = study.parts();
    let flags = |flags: &[bool]| sample.iter().map(|record| flags[*record]).collect::<Vec<_>>();
    let scores =
        |scores: &Option<Vec<f64>>| scores.as_ref().map(|s| sample.iter().map(|r| s[*r]).collect::<Vec<_>>());
    let model = |reference: &Reference| Reference {
        name: reference.name.clone(),
        outputs: reference.outputs.as_ref().map(|outputs| outputs.some(sample)),
        scores: scores(&reference.scores),
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
        scores: own.scores,
        target: own.outputs,
        references: others.map(|(_, reference)| model(reference)).collect(),
        ..StudyParts::default()
    })
    .ok()
}

/// The true-positive rate of an attack at a false-positive rate, or its area; none where it cannot be run.
fn strength(
    play: &Study,
    attack: Attack,
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
