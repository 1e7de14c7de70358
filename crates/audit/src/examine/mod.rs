//! A whole audit: every attack that the study supports, measured, with what it proves and whom it hits.

mod access;
mod bound;
mod references;

use crate::attacks::{Attack, AttackScores, AttackSettings, Registry};
use crate::bound::{BoundMethod, BoundSettings};
use crate::findings::{
    AttackFinding, BaselineFinding, Findings, HeadlineChoice, NotRun, Performance, SCHEMA, UserFinding,
};
use crate::metrics::{MetricSettings, measure};
use crate::private::{Private, shared, shared_groups};
use crate::vulnerability::{GroupSettings, RecordSettings};
use crate::{
    AuditError, AuditUnit, Draw, Membership, Overfitting, Reference, Study, baseline, overfitting,
    vulnerability,
};
use std::collections::BTreeMap;

/// What to look at.
#[derive(Debug, Clone)]
pub struct ExamineSettings {
    /// Rates, confidence and prior.
    pub metrics: MetricSettings,
    /// How ε is bounded from below; none for no bound. Where the study declares no draw, none follows. The inclusion probability
    /// and the game are those of the study's draw.
    pub bound: Option<(BoundMethod<'static>, BoundSettings)>,
    /// The attacks that there are.
    pub registry: Registry,
    /// The attacks to run; none for all of the registry that can be run.
    pub attacks: Option<Vec<&'static dyn Attack>>,
    /// How attacks are set up.
    pub attack: AttackSettings,
    /// How many of the records most at risk are listed.
    pub worst: usize,
    /// The key of every split.
    pub key: String,
    /// Whether a baseline that cannot be measured is a warning. It is not where the audit itself flipped the coins for records that
    /// do not differ otherwise, as with canaries: there a baseline has nothing to find.
    pub expects_baseline: bool,
}

/// The findings, and every attack's score of every record.
#[derive(Debug, Clone)]
pub struct Examination {
    /// What is said.
    pub findings: Findings,
    /// The scores behind it, attack by attack, record by record.
    pub scores: Vec<(&'static dyn Attack, Vec<f64>)>,
    /// What gives away who is a member.
    pub private: Private,
}

/// Where records weigh as much as fewer users with equal numbers than this, intervals are not relied on.
const FEWEST_USERS: f64 = 30.0;

/// How sure it must be that members and non-members differ without a model.
const SHIFT_CONFIDENCE: f64 = 0.999;

/// The false-positive rate of the threshold at which groups are compared.
const GROUP_RATE: f64 = 0.01;

/// Runs an audit. `progress` is told what comes next.
///
/// # Guarantee
/// The bound on ε is that of the headline attack alone, which is chosen with reference models in the place of the target, so that
/// the number of attacks needs no correction. It holds with its confidence under the premise it states. There is none unless the
/// study's [`Draw`](crate::Draw) is declared, and none where a classifier without the model refutes that draw, or where users do.
/// References that tell who is a member of the target are used by no attack.
///
/// # Errors
/// [`AuditError::NotMeasurable`] when no attack can be run or measured; [`AuditError::Invalid`] for settings and for attacks
/// that were asked for by name and cannot be run.
pub fn examine(
    study: &Study,
    settings: &ExamineSettings,
    progress: &dyn Fn(&str),
) -> Result<Examination, AuditError> {
    if study.is_empty() {
        return Err(AuditError::not_measurable("there are no records: give some, members and non-members"));
    }
    let mut warnings: Vec<String> = unused(&study.parts().unused).into_iter().collect();
    warnings.extend(unequal_users(study));
    let telling = references::telling(study);
    let cleared;
    let study = match &telling {
        None => study,
        Some(why) => {
            warnings.push(format!("no attack uses the reference models: {why}"));
            cleared = study.without_references();
            &cleared
        }
    };
    let parts = study.parts();
    let asked: Vec<&'static dyn Attack> =
        settings.attacks.clone().unwrap_or_else(|| settings.registry.attacks().to_vec());
    let by_name = settings.attacks.is_some();
    progress("choosing the headline attack");
    let chosen = settings.registry.headline(study, &asked, &settings.attack)?;
    let headline = chosen.attack;
    let (mut attacks, mut not_run, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    progress("baseline without a model");
    let (without, refuted) = without_model(study, settings, &mut warnings)?;
    let mut headline_scores = None;
    for attack in &asked {
        if let Err(reason) = attack.can_run(study) {
            let reason = match &telling {
                Some(why) if attack.needs_references() => why.clone(),
                _ => reason.to_string(),
            };
            if by_name {
                return Err(AuditError::premise("attacks", attack.name(), reason));
            }
            not_run.push(NotRun { name: attack.name().to_owned(), kind: attack.kind(), reason });
            continue;
        }
        progress(attack.name());
        let is_headline = *attack == headline;
        let found = attack.run(study, &settings.attack).and_then(|ran| {
            let membership = judged(study, &ran)?;
            let performance = of_unit(study, measure(&membership, &settings.metrics)?);
            Ok((ran, membership, performance))
        });
        let (ran, membership, performance) = match found {
            Ok(found) => found,
            Err(AuditError::NotMeasurable(reason)) if !by_name && !is_headline => {
                not_run.push(NotRun { name: attack.name().to_owned(), kind: attack.kind(), reason });
                continue;
            }
            Err(error) => return Err(error),
        };
        let epsilon_lower = match &settings.bound {
            Some((method, bound)) if is_headline => {
                progress("bound on epsilon");
                let found = match (attack.sees_members(), &refuted) {
                    (true, _) => Err(format!(
                        "{} is fitted to the membership of the target, so its scores are not guesses",
                        attack.name()
                    )),
                    (_, Some(why)) if parts.draw != Draw::Undeclared => Err(why.clone()),
                    _ => bound::lower(study, &membership, *method, bound)?,
                };
                found.map_err(|why| warnings.push(format!("no bound on epsilon: {why}"))).ok()
            }
            _ => None,
        };
        attacks.push(AttackFinding {
            name: attack.name().to_owned(),
            kind: attack.kind(),
            about: attack.about().to_owned(),
            settings: ran.settings,
            threat: attack.threat(study),
            performance,
            epsilon_lower,
            filled_in: attack.filled_in(study) as u64,
        });
        if is_headline {
            let all: Vec<usize> = (0..study.len()).collect();
            headline_scores = Some((membership, ran.judged.unwrap_or(all)));
        }
        scores.push((*attack, ran.scores));
    }
    let ran: Vec<&'static dyn Attack> = scores.iter().map(|(attack, _)| *attack).collect();
    let Some((membership, judged)) = headline_scores else {
        return Err(AuditError::not_measurable(
            "no attack could be run: give scores or outputs of the target",
        ));
    };
    progress("groups, records and users");
    let confidence = settings.metrics.confidence;
    let by_group =
        GroupSettings { fpr: GROUP_RATE, confidence, key: settings.key.clone(), ..GroupSettings::default() };
    let groups = shared_groups(vulnerability::by_group(&membership, &columns(study, &judged), &by_group)?);
    let by_record = RecordSettings { worst: settings.worst, confidence };
    let of_headline =
        scores.iter().find(|(attack, _)| *attack == headline).map_or(&[][..], |(_, scores)| scores);
    let records = vulnerability::by_record(study, of_headline, &by_record)?;
    let users = parts.users.as_ref().map(|users| by_user(&membership, &some(users, &judged), settings));
    let users = users.transpose()?;
    let Some(first) = attacks.iter().find(|found| found.name == headline.name()) else {
        return Err(AuditError::not_measurable("the headline attack has no result"));
    };
    warn_of_few(&first.performance, &mut warnings);
    warn_of_filled(first, study.len(), &mut warnings);
    let tpr_at_fpr: BTreeMap<String, Option<f64>> = first
        .performance
        .rates
        .iter()
        .map(|rate| (rate.fpr.to_string(), rate.tpr.map(|tpr| tpr.value)))
        .collect();
    let findings = Findings {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        headline: first.name.clone(),
        headline_choice: if by_name { HeadlineChoice::Name } else { HeadlineChoice::Rule },
        headline_chosen: chosen.how.clone(),
        auc: first.performance.auc.value,
        tpr_at_fpr,
        epsilon_lower: first.epsilon_lower.clone(),
        by_access: access::by_access(study, &settings.registry, &chosen, &ran),
        attacks,
        not_run,
        disclosures: Vec::new(),
        trajectories: Vec::new(),
        observed: Vec::new(),
        baseline: without,
        groups,
        overfitting: overfitted(study)?,
        records: Some(shared(&records)),
        users,
        authors: None,
        key: settings.key.clone(),
        warnings,
    };
    let private = Private::new(headline.name(), records);
    Ok(Examination { findings, scores, private })
}

/// How well members are told from non-members by what is known without the target, and why that refutes a draw by coins.
fn without_model(
    study: &Study,
    settings: &ExamineSettings,
    warnings: &mut Vec<String>,
) -> Result<(BaselineFinding, Option<String>), AuditError> {
    let blank = |about: String| (BaselineFinding { performance: None, about, shift: None }, None);
    let found = match baseline::baseline(study, &settings.key) {
        Ok(found) => found,
        Err(AuditError::NotMeasurable(reason)) => {
            if settings.expects_baseline {
                warnings.push(format!(
                    "no baseline: {reason}; whether members and non-members differ anyway is not known"
                ));
            }
            return Ok(blank(format!("not measurable: {reason}")));
        }
        Err(error) => return Err(error),
    };
    for column in &found.free_text {
        warnings.push(format!(
            "the texts in the column {column:?} hardly repeat, so the baseline sees only their order, length, words and numbers: other \
             differences between members and non-members there are not measurable, and may invalidate a bound on epsilon"
        ));
    }
    let membership = match Membership::new(found.scores, study.parts().members.clone()) {
        Ok(membership) => match (&study.parts().pairs, baseline::coin_pairs(study)) {
            // The scores of a pair are each other's opposite.
            (Some(pairs), Some(_)) => membership.with_users(pairs)?,
            _ => with_users(study, membership)?,
        },
        // Scores that are all the same tell nothing apart.
        Err(AuditError::NotMeasurable(reason)) => return Ok(blank(format!("{}: {reason}", found.about))),
        Err(error) => return Err(error),
    };
    let performance = of_unit(study, baseline::measure(&membership, &settings.metrics)?);
    let strict = MetricSettings { confidence: SHIFT_CONFIDENCE, ..settings.metrics.clone() };
    let shift = baseline::measure(&membership, &strict)?.auc.lower > 0.5;
    if shift {
        warnings.push(format!(
            "members and non-members differ even without the model: a classifier that never saw it reaches AUC {:.3} \
             ({:.3} to {:.3}), so the attacks also measure that difference",
            performance.auc.value, performance.auc.lower, performance.auc.upper
        ));
    }
    let refuted = bound::refuted(study, &membership)?;
    Ok((BaselineFinding { performance: Some(performance), about: found.about, shift: Some(shift) }, refuted))
}

/// Figures that say what a row of the study is.
fn of_unit(study: &Study, performance: Performance) -> Performance {
    match study.parts().user_records {
        Some(_) => Performance { unit: AuditUnit::User, ..performance },
        None => performance,
    }
}

/// The scores that count beside the truth.
fn judged(study: &Study, ran: &AttackScores) -> Result<Membership, AuditError> {
    let members = &study.parts().members;
    let Some(records) = &ran.judged else {
        return with_users(study, Membership::new(ran.scores.clone(), members.clone())?);
    };
    let membership = Membership::new(some(&ran.scores, records), some(members, records))?;
    match &study.parts().users {
        Some(users) => membership.with_users(&some(users, records)),
        None => Ok(membership),
    }
}

/// The entries of some records.
fn some<T: Clone>(values: &[T], records: &[usize]) -> Vec<T> {
    records.iter().map(|record| values[*record].clone()).collect()
}

/// Declared groups of some records, and the class where it is not among them.
fn columns(study: &Study, records: &[usize]) -> Vec<(String, Vec<String>)> {
    let parts = study.parts();
    let mut columns: Vec<(String, Vec<String>)> =
        parts.groups.iter().map(|(name, groups)| (name.clone(), some(groups, records))).collect();
    if let (Some(labels), false) = (&parts.labels, columns.iter().any(|(name, _)| name == "class")) {
        columns.insert(
            0,
            ("class".to_owned(), records.iter().map(|record| labels[*record].to_string()).collect()),
        );
    }
    columns
}

/// Scores gathered by user.
fn by_user(
    membership: &Membership,
    users: &[String],
    settings: &ExamineSettings,
) -> Result<UserFinding, AuditError> {
    let gathered = vulnerability::by_user(membership, users).and_then(|found| {
        let performance = measure(&found.membership, &settings.metrics)?;
        Ok((found, Performance { unit: AuditUnit::User, ..performance }))
    });
    match gathered {
        Ok((found, performance)) => {
            Ok(UserFinding { about: found.about, performance: Some(performance), reason: None })
        }
        Err(AuditError::NotMeasurable(reason)) => {
            let about = "scores of a user's records, gathered".to_owned();
            Ok(UserFinding { about, performance: None, reason: Some(reason) })
        }
        Err(error) => Err(error),
    }
}

/// Accuracy on both sides of the target and of the references, where labels and outputs are known.
fn overfitted(study: &Study) -> Result<Vec<Overfitting>, AuditError> {
    let parts = study.parts();
    let (Some(labels), Some(target)) = (&parts.labels, &parts.target) else { return Ok(Vec::new()) };
    let target = Reference {
        name: "target".to_owned(),
        outputs: Some(target.clone()),
        signals: parts.signals.clone(),
        inside: parts.members.clone(),
    };
    let is_mixed = |model: &&Reference| model.inside.contains(&true) && model.inside.contains(&false);
    let references = parts.references.iter().filter(|model| model.outputs.is_some()).filter(is_mixed);
    let models: Vec<Reference> = std::iter::once(target).chain(references.cloned()).collect();
    overfitting(&models, labels)
}

/// Names a column that may be misspelt.
fn unused(columns: &[String]) -> Option<String> {
    let first = columns.first()?;
    let more = match columns.len() {
        1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    Some(format!(
        "nothing uses the column {first:?}{more}: if it matters, rename it as documented, or give it as a group or a feature"
    ))
}

/// Says where a few users hold most records: intervals over users are measured to hold where many count alike.
fn unequal_users(study: &Study) -> Option<String> {
    let parts = study.parts();
    let users = parts.users.as_ref()?;
    let effective = |side: bool| {
        let mut rows: BTreeMap<&str, f64> = BTreeMap::new();
        for (user, _) in users.iter().zip(&parts.members).filter(|(_, member)| **member == side) {
            *rows.entry(user.as_str()).or_default() += 1.0;
        }
        let (sum, squares) = rows.values().fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
        // (Σn)²/Σn²: the number of users where all have as many records.
        if squares > 0.0 && sum > rows.len() as f64 { sum * sum / squares } else { f64::INFINITY }
    };
    let least = effective(true).min(effective(false));
    (least < FEWEST_USERS).then(|| {
        format!(
            "a few users hold most records, so the effective number of users is only {least:.0}: intervals over records may be \
             too narrow; use the figures by user"
        )
    })
}

/// Scores whose intervals know of users, where there are any.
fn with_users(study: &Study, membership: Membership) -> Result<Membership, AuditError> {
    match &study.parts().users {
        Some(users) => membership.with_users(users),
        None => Ok(membership),
    }
}

/// Says how many records of the headline attack were filled in.
fn warn_of_filled(headline: &AttackFinding, records: usize, warnings: &mut Vec<String>) {
    if headline.filled_in > 0 {
        warnings.push(format!(
            "{} of {records} records lack a reference model trained with them or one trained without them: for {} these were \
             filled in from the mean difference of the other records",
            headline.filled_in, headline.name
        ));
    }
}

/// Says which rates there are too few records for.
fn warn_of_few(performance: &Performance, warnings: &mut Vec<String>) {
    let missing: Vec<String> =
        performance.rates.iter().filter(|rate| rate.tpr.is_none()).map(|rate| rate.fpr.to_string()).collect();
    if !missing.is_empty() {
        warnings.push(format!(
            "{} non-members are too few for a false-positive rate of {}: fewer than 10 false positives are expected",
            performance.non_members,
            missing.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests;
