//! The bound of the headline attack: only where somebody declared how members were drawn, and nothing refutes it.

use crate::bound::{self, BoundSettings, Method};
use crate::findings::EpsilonLower;
use crate::metrics::{MetricSettings, measure};
use crate::vulnerability::by_user;
use crate::{AuditError, Draw, Game, Membership, Study};
use reticent_data::keyed_hash;
use std::collections::BTreeMap;

/// How unlikely the success of a classifier without the model must be under a declared draw to refute it.
const REFUTED: f64 = 1e-4;

/// Why the declared draw cannot have been: members are told from non-members without the model, where coins would have left
/// nothing to tell. `blind` are the scores of a classifier that never saw the model.
///
/// Where records have users, coins were tossed for users, and the classifier is judged by user.
pub(super) fn refuted(study: &Study, blind: &Membership) -> Result<Option<String>, AuditError> {
    let of_users;
    let judged = match &study.parts().users {
        None => blind,
        Some(users) => match by_user(blind, users) {
            Ok(found) => {
                of_users = found.membership;
                &of_users
            }
            Err(AuditError::NotMeasurable(_)) => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    let strict = MetricSettings { confidence: 1.0 - 2.0 * REFUTED, rates: Vec::new(), prior: None };
    let auc = measure(judged, &strict)?.auc;
    Ok((auc.lower > 0.5).then(|| {
        format!(
            "a classifier that never saw the model tells members from non-members (AUC {:.3}), which coins would have made \
             impossible (level {REFUTED}): members were not drawn as declared",
            auc.value
        )
    }))
}

/// The bound of an attack, or why there is none.
///
/// # Errors
/// Settings without meaning.
pub(super) fn lower(
    study: &Study,
    membership: &Membership,
    method: Method<'static>,
    settings: &BoundSettings,
) -> Result<Result<EpsilonLower, String>, AuditError> {
    let (playing, inclusion, game) = match played(study, membership, method, settings) {
        Ok(played) => played,
        Err(why) => return Ok(Err(why)),
    };
    let settings = BoundSettings { inclusion, game, ..settings.clone() };
    match bound::lower(&playing, method, &settings) {
        Ok(found) => Ok(Ok(found)),
        Err(AuditError::NotMeasurable(reason)) => Ok(Err(reason)),
        Err(error) => Err(error),
    }
}

/// Scores beside coins: one for each coin that was tossed, the probability of a coin, and what it decided on.
fn played(
    study: &Study,
    membership: &Membership,
    method: Method<'_>,
    settings: &BoundSettings,
) -> Result<(Membership, f64, Game), String> {
    let is_one_run = matches!(method, Method::OneRun | Method::FDp(_));
    let users = study.parts().users.as_deref();
    let most = users.map_or(1, most_records);
    match study.parts().draw {
        Draw::Undeclared => Err("nobody declared how members were drawn, and a table cannot tell: if every record was put in by \
                                 a coin of its own with probability P, say so with --drawn P"
            .to_owned()),
        Draw::Runs(_) if is_one_run => Err("rows that are runs of their own go with clopper-pearson or gaussian".to_owned()),
        Draw::Runs(_) if most > 1 => {
            Err("some users have several rows, so rows are not independent of each other".to_owned())
        }
        Draw::Runs(game) => Ok((membership.clone(), settings.inclusion, game)),
        _ if !is_one_run => {
            Err("clopper-pearson and gaussian ask that every row is a run of its own: for coins in one run use one-run".to_owned())
        }
        Draw::Coins(p) if most == 1 => Ok((membership.clone(), p, Game::RECORDS)),
        Draw::Coins(p) => {
            let found = by_user(membership, users.unwrap_or_default()).map_err(|error| error.to_string())?;
            if found.mixed > 0 {
                return Err(format!(
                    "{} users have records of both kinds, so who is a member was not settled user by user",
                    found.mixed
                ));
            }
            Ok((found.membership, p, Game::users(most)))
        }
        _ if most > 1 => {
            Err("some users have several records: a draw of pairs, or of a fixed number, is one of single records".to_owned())
        }
        Draw::Pairs => {
            let Some(pairs) = &study.parts().pairs else {
                return Err("there is no column `pair` that says which two records a coin chose between".to_owned());
            };
            Ok((differences(membership, &declared(membership, pairs)?, &settings.key)?, 0.5, Game::PAIRS))
        }
        Draw::Fixed => {
            Ok((differences(membership, &matched(membership, &settings.key), &settings.key)?, 0.5, Game::MATCHED))
        }
    }
}

/// The most records that one user has.
fn most_records(users: &[String]) -> u64 {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    users.iter().for_each(|user| *counts.entry(user).or_default() += 1);
    counts.into_values().max().unwrap_or(1)
}

/// The pairs of a column, the earlier row first.
fn declared(membership: &Membership, pairs: &[String]) -> Result<Vec<[usize; 2]>, String> {
    let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    pairs.iter().enumerate().for_each(|(row, pair)| rows.entry(pair).or_default().push(row));
    let pair = |(name, rows): (&str, Vec<usize>)| {
        let members = rows.iter().filter(|row| membership.members()[**row]).count();
        match (&rows[..], members) {
            ([first, second], 1) => Ok([*first, *second]),
            _ => Err(format!(
                "the pair {name:?} has {} records, {members} of them members: a pair has two records, of which one was put in",
                rows.len()
            )),
        }
    };
    rows.into_iter().map(pair).collect()
}

/// Members matched with non-members at random: given the pairs, all choices of one of each were equally likely.
fn matched(membership: &Membership, key: &str) -> Vec<[usize; 2]> {
    let key = format!("{key}: matched");
    let side = |member: bool| {
        let mut rows: Vec<usize> =
            (0..membership.len()).filter(|row| membership.members()[*row] == member).collect();
        rows.sort_by_cached_key(|row| (keyed_hash(&key, &(*row as u64).to_le_bytes()), *row));
        rows
    };
    let pair = |(a, b): (usize, usize)| if a < b { [a, b] } else { [b, a] };
    side(true).into_iter().zip(side(false)).map(pair).collect()
}

/// How far the first record of every pair is ahead; which is the first is decided by a keyed hash of their places.
fn differences(membership: &Membership, pairs: &[[usize; 2]], key: &str) -> Result<Membership, String> {
    let key = format!("{key}: first of a pair");
    let (mut scores, mut members) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
    for [a, b] in pairs {
        let bytes = [(*a as u64).to_le_bytes(), (*b as u64).to_le_bytes()].concat();
        let (first, second) = if keyed_hash(&key, &bytes) >> 63 == 1 { (a, b) } else { (b, a) };
        let gap = membership.scores()[*first] - membership.scores()[*second];
        // Two infinities are not apart.
        scores.push(if gap.is_nan() { 0.0 } else { gap });
        members.push(membership.members()[*first]);
    }
    Membership::new(scores, members).map_err(|error| error.to_string())
}
