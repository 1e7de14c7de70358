//! The bound of the headline attack, stated only where the draw of members is declared and nothing refutes it.

use crate::baseline::{EVIDENCE, coin_pairs};
use crate::bound::{self, BoundMethod, BoundSettings};
use crate::findings::EpsilonLower;
use crate::rank::{auc, mann_whitney};
use crate::vulnerability::by_user;
use crate::{AuditError, Draw, Game, Membership, Study, interval};
use reticent_core::special::normal_tail_quantile;
use reticent_data::keyed_hash;
use std::collections::BTreeMap;

/// How unlikely the success of a classifier without the model must be under a declared draw to refute it. Its parts learn from each
/// other's records, so its spread is that of [`EVIDENCE`], a share of the records. A true draw that is refuted loses its bound, and no
/// bound is false.
const REFUTED: f64 = 1e-4;

/// Why the declared draw cannot have been: members are told from non-members without the model, where coins would have left
/// nothing to tell. `blind` are the scores of a classifier that never saw the model.
///
/// Where records have users, coins were tossed for users, and the classifier is judged by user. Where coins chose within pairs, it is
/// judged by the pairs of which it names the member, and too few right ones refute as too many do.
pub(super) fn refuted(study: &Study, blind: &Membership) -> Result<Option<String>, AuditError> {
    if let Some(pairs) = coin_pairs(study) {
        return Ok(refuted_by_pairs(&pairs, blind));
    }
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
    // By the spread of ranks under coins: an interval around a success that is nearly complete would be wide for want of failures.
    let Some(apart) = mann_whitney(judged.scores(), judged.members()) else { return Ok(None) };
    Ok((apart * EVIDENCE.sqrt() > normal_tail_quantile(REFUTED)).then(|| {
        format!(
            "a classifier that never saw the model distinguishes members from non-members (AUC {:.3}), which is impossible under \
             independent coin flips (level {REFUTED}): members were not drawn as declared",
            auc(judged.scores(), judged.members()).unwrap_or(0.5)
        )
    }))
}

fn refuted_by_pairs(pairs: &[(&str, [usize; 2])], blind: &Membership) -> Option<String> {
    let (scores, members) = (blind.scores(), blind.members());
    let ahead = |[a, b]: [usize; 2]| (scores[a] - scores[b]) * if members[a] { 1.0 } else { -1.0 };
    let right = pairs.iter().filter(|(_, rows)| ahead(*rows) > 0.0).count() as u64;
    let wrong = pairs.iter().filter(|(_, rows)| ahead(*rows) < 0.0).count() as u64;
    let evidence = |pairs: u64| (pairs as f64 * EVIDENCE).round() as u64;
    let all = evidence(right + wrong);
    let (low, high) = interval::two_sided(evidence(right).min(all), all, REFUTED);
    (low > 0.5 || high < 0.5).then(|| {
        format!(
            "a classifier that never saw the model is right about {right} of {} pairs, which is impossible under fair coin flips \
             (level {REFUTED}): members were not drawn as declared",
            right + wrong
        )
    })
}

/// The bound of an attack, or why there is none.
///
/// # Errors
/// Settings without meaning.
pub(super) fn lower(
    study: &Study,
    membership: &Membership,
    method: BoundMethod<'static>,
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
    method: BoundMethod<'_>,
    settings: &BoundSettings,
) -> Result<(Membership, f64, Game), String> {
    let is_one_run = matches!(method, BoundMethod::OneRun | BoundMethod::FDp(_));
    let users = study.parts().users.as_deref();
    let most = users.map_or(1, most_records);
    match study.parts().draw {
        Draw::Undeclared => Err("it is not declared how members were drawn, and a table cannot show it: if every record was included \
                                 by an independent coin flip with probability P, declare it with --drawn P"
            .to_owned()),
        Draw::Runs(_) if is_one_run => Err("for rows that are separate training runs, use clopper-pearson or gaussian".to_owned()),
        Draw::Runs(_) if most > 1 => {
            Err("some users have several rows, so rows are not independent".to_owned())
        }
        Draw::Runs(game) => Ok((membership.clone(), settings.inclusion, game)),
        _ if !is_one_run => {
            Err("clopper-pearson and gaussian require every row to be a separate training run: for coin flips within one run, use one-run".to_owned())
        }
        Draw::Parties => Ok((membership.clone(), 0.5, Game::PARTIES)),
        Draw::Coins(p) if most == 1 => {
            let game = study.parts().user_records.map_or(Game::RECORDS, Game::users);
            Ok((membership.clone(), p, game))
        }
        Draw::Coins(p) => {
            let found = by_user(membership, users.unwrap_or_default()).map_err(|error| error.to_string())?;
            if found.mixed > 0 {
                return Err(format!(
                    "{} users have both members and non-members, so membership was not drawn by user (records of both kinds)",
                    found.mixed
                ));
            }
            Ok((found.membership, p, Game::users(most)))
        }
        _ if most > 1 || study.parts().user_records.is_some() => {
            Err("some users have several records: pairs and fixed numbers are draws of single records".to_owned())
        }
        Draw::Pairs => {
            let Some(pairs) = &study.parts().pairs else {
                return Err("a column `pair` is needed: it says which two records each coin flip chose between".to_owned());
            };
            Ok((differences(membership, &declared(membership, pairs)?, settings)?, 0.5, Game::PAIRS))
        }
        Draw::Fixed => {
            let Some(fresh) = settings.fresh else {
                return Err("a fixed number of members is matched with non-members by random bits drawn after the scores: set \
                            `fresh`"
                    .to_owned());
            };
            Ok((differences(membership, &matched(membership, &settings.key, fresh), settings)?, 0.5, Game::MATCHED))
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
    let all = rows.len();
    let pair = |rows: Vec<usize>| match rows[..] {
        [first, second] if membership.members()[first] != membership.members()[second] => {
            Some([first, second])
        }
        _ => None,
    };
    let found: Vec<[usize; 2]> = rows.into_values().filter_map(pair).collect();
    match all - found.len() {
        0 => Ok(found),
        // Names, and whether both or neither are members, would reveal membership.
        wrong => Err(format!(
            "{wrong} of {all} pairs are invalid: a pair has two records, of which exactly one was included"
        )),
    }
}

/// Members matched with non-members at random: given the pairs, all choices of one of each were equally likely. Each side is put in an
/// order of its own by fresh random bits, so that no score can know who meets whom.
fn matched(membership: &Membership, key: &str, fresh: u64) -> Vec<[usize; 2]> {
    let side = |member: bool| {
        let key = format!("{key}, fresh {fresh:016x}: matched {}", if member { "members" } else { "others" });
        let mut rows: Vec<usize> =
            (0..membership.len()).filter(|row| membership.members()[*row] == member).collect();
        rows.sort_by_cached_key(|row| (keyed_hash(&key, &(*row as u64).to_le_bytes()), *row));
        rows
    };
    let pair = |(a, b): (usize, usize)| if a < b { [a, b] } else { [b, a] };
    side(true).into_iter().zip(side(false)).map(pair).collect()
}

/// How far the first record of every pair is ahead; which is the first is decided by a keyed hash of their places, and of fresh random
/// bits where there are any.
fn differences(
    membership: &Membership,
    pairs: &[[usize; 2]],
    settings: &BoundSettings,
) -> Result<Membership, String> {
    let fresh = settings.fresh.map(|bits| format!(", fresh {bits:016x}")).unwrap_or_default();
    let key = format!("{}{fresh}: first of a pair", settings.key);
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
