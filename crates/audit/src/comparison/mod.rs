#![doc = include_str!("proof.md")]
//!
//! # In code
//! [`compare`] is the one place where a certificate and a lower bound are set against each other.

use crate::AuditUnit;
use crate::findings::EpsilonLower;
use reticent_accounting::{Accountant, CompositionMethod, group};
use reticent_core::{Certificate, Delta, Epsilon, EventLog, Guarantee, Neighboring};
use serde::Serialize;

/// How far an account of the events may lie below the certificate's own claim before it is taken to be one of something else.
const SAME: f64 = 0.01;
/// How often a smaller δ is tried where a claim for two steps must keep to the audit's δ.
const TRIES: usize = 4;

/// What a certificate says about the ε that an audit bounds from below.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CertificateComparison {
    /// Both sides speak of the same ε.
    Compared {
        /// What the certificate allows for the audit's unit, relation and δ; rounded up.
        upper: f64,
        /// How that follows from the certificate.
        theorem: String,
        /// Whether the audit proves more.
        contradiction: bool,
    },
    /// No theorem at hand leads from one to the other.
    Apart {
        /// Why not.
        why: String,
    },
}

impl CertificateComparison {
    /// Whether the two sides cannot both be true.
    pub fn is_contradiction(&self) -> bool {
        matches!(self, Self::Compared { contradiction: true, .. })
    }
}

/// Sets a certificate against a lower bound, by a stated theorem or not at all.
///
/// # Guarantee
/// [`CertificateComparison::Compared`] has an `upper` with which every mechanism that keeps the certificate is (`upper`, δ)-private for the
/// data sets that the audit's coins chose between, δ being the audit's. If it is a contradiction, the certificate is not kept, the
/// premise of the audit is not met, or an event of probability 1 − confidence has happened.
///
/// # Reference
/// Vadhan, *The Complexity of Differential Privacy* (2017), lemma 2.2; Ganesh (2024) for groups under sampling. The arguments are in
/// [`self`].
pub fn compare(certificate: &Certificate, lower: &EpsilonLower) -> CertificateComparison {
    let apart = |why: String| CertificateComparison::Apart { why };
    let Some(relation) = lower.neighboring else {
        return apart(
            "the audit's rows are runs of their own, and nothing says what differed between them".to_owned(),
        );
    };
    let Ok(delta) = Delta::new(lower.delta) else {
        return apart(format!("the audit's δ of {} is not one", lower.delta));
    };
    let steps = match steps(certificate, lower, relation) {
        Ok(steps) => steps,
        Err(why) => return apart(why),
    };
    match allowed(certificate, steps, delta) {
        Some((upper, how)) => {
            CertificateComparison::Compared { upper, theorem: how, contradiction: lower.value > upper }
        }
        None => apart(format!(
            "the certificate is for δ = {:e}, the audit for δ = {:e}, and no claim at that δ{} follows from the certificate's events",
            certificate.guarantee.delta.get(),
            lower.delta,
            match steps {
                Steps::One => "",
                Steps::Together(_) => " for all records of a user",
                Steps::Apart => " for two steps",
            }
        )),
    }
}

/// How many steps of the certificate's relation lie between the data sets that one coin of the audit chose between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    One,
    /// So many units are added, or removed, together.
    Together(u64),
    /// Two steps of which one may add and the other remove.
    Apart,
}

/// The unit of a certificate.
fn unit_of(certificate: &Certificate) -> Option<AuditUnit> {
    match certificate.unit.trim() {
        "row" | "record" | "example" | "image" | "text" => Some(AuditUnit::Record),
        "user" | "all rows of one user" => Some(AuditUnit::User),
        "party" => Some(AuditUnit::Party),
        _ => None,
    }
}

fn steps(certificate: &Certificate, lower: &EpsilonLower, relation: Neighboring) -> Result<Steps, String> {
    use Neighboring::{AddRemove, ReplaceOne};
    let (claimed, unit) = (certificate.neighboring, &certificate.unit);
    let Some(protected) = unit_of(certificate) else {
        return Err(format!(
            "the certificate protects one {unit} and the audit varied one {}: nothing says how the two are related",
            lower.unit
        ));
    };
    if (protected == AuditUnit::Party) != (lower.unit == AuditUnit::Party) {
        return Err(format!(
            "the certificate protects one {unit} and the audit varied one {}: how many records a party holds is not known",
            lower.unit
        ));
    }
    match (protected, lower.unit, claimed, relation) {
        (AuditUnit::Party, _, AddRemove, AddRemove) => Ok(Steps::One),
        (AuditUnit::Party, ..) | (_, AuditUnit::Party, ..) => {
            Err("parties are added or removed, and one side speaks of another relation".to_owned())
        }
        (_, AuditUnit::Unknown, ..) | (AuditUnit::Unknown, ..) => {
            Err("the audit does not say whose data its coins decided on".to_owned())
        }
        (AuditUnit::Record, AuditUnit::Record, AddRemove, AddRemove)
        | (AuditUnit::Record, AuditUnit::Record, ReplaceOne, ReplaceOne)
        | (AuditUnit::User, AuditUnit::User, AddRemove, AddRemove)
        | (AuditUnit::User, AuditUnit::User, ReplaceOne, ReplaceOne) => Ok(Steps::One),
        (AuditUnit::Record, AuditUnit::User, AddRemove, AddRemove) => Ok(match lower.unit_records {
            0 => return Err("the audit does not say how many records a user has".to_owned()),
            1 => Steps::One,
            records => Steps::Together(records),
        }),
        // One record is taken out and another put in.
        (AuditUnit::Record, AuditUnit::Record, AddRemove, ReplaceOne) => Ok(Steps::Apart),
        // A user's data is taken out, and put in again with one record more, less or changed.
        (AuditUnit::User, AuditUnit::Record, AddRemove, _) => Ok(Steps::Apart),
        (_, _, ReplaceOne, AddRemove) => Err(format!(
            "the certificate is for replace-one, where the number of {unit}s is public, and the audit varied that number \
             (add-remove): replace-one says nothing about it"
        )),
        (AuditUnit::User, AuditUnit::Record, ReplaceOne, ReplaceOne) => Ok(Steps::One),
        (AuditUnit::Record, AuditUnit::User, ..)
        | (AuditUnit::User, AuditUnit::User, AddRemove, ReplaceOne) => Err(format!(
            "the certificate protects one {unit} under {claimed}, and the audit varied one {} under {relation}",
            lower.unit
        )),
    }
}

/// The ε that a certificate allows for so many steps at δ, and by which theorem.
fn allowed(certificate: &Certificate, steps: Steps, delta: Delta) -> Option<(f64, String)> {
    let own = certificate.guarantee;
    let at = |what: &str| format!("{what} at δ = {:e}", delta.get());
    match steps {
        Steps::One if own.delta == delta => {
            Some((own.epsilon.get(), "the certificate's own claim".to_owned()))
        }
        Steps::One => {
            let recomputed = recomputed(certificate, 1, delta);
            let recomputed =
                recomputed.map(|epsilon| (epsilon, at("the certificate's events, added up again")));
            // ε does not grow with δ.
            let kept = (delta.get() > own.delta.get()).then(|| {
                (own.epsilon.get(), "the certificate's claim, which holds at every larger δ".to_owned())
            });
            recomputed.into_iter().chain(kept).min_by(|a, b| a.0.total_cmp(&b.0))
        }
        Steps::Together(records) => {
            let events = recomputed(certificate, records, delta).map(|epsilon| {
                (epsilon, at(&format!("group privacy: the certificate's events for {records} rows together")))
            });
            let claim = multiplied(certificate, records, delta)
                .map(|epsilon| (epsilon, at(&format!("group privacy: {records} times the certificate's ε"))));
            events.into_iter().chain(claim).min_by(|a, b| a.0.total_cmp(&b.0))
        }
        Steps::Apart => multiplied(certificate, 2, delta)
            .map(|epsilon| (epsilon, at("two steps of the certificate's relation: twice its ε"))),
    }
}

/// The events' own ε at δ for so many units together; none where the events do not add up to what the certificate claims, as
/// where one of them was chosen by an earlier answer.
fn recomputed(certificate: &Certificate, units: u64, delta: Delta) -> Option<f64> {
    let log = EventLog { neighboring: certificate.neighboring, events: certificate.events.clone() };
    let epsilon = |log: &EventLog, delta: Delta| -> Option<f64> {
        Some(Accountant::of_log(log, CompositionMethod::Pld).ok()?.epsilon(delta).ok()?.upper)
    };
    let own = certificate.guarantee;
    if (epsilon(&log, own.delta)? - own.epsilon.get()).abs() > SAME * own.epsilon.get() {
        return None;
    }
    let found = epsilon(&group::log(&log, units).ok()?, delta)?;
    found.is_finite().then_some(found)
}

/// The claim for so many steps by the (ε, δ) form of group privacy, with a δ of its own that keeps to the audit's.
fn multiplied(certificate: &Certificate, steps: u64, delta: Delta) -> Option<f64> {
    let mut claim = certificate.guarantee;
    for _ in 0..TRIES {
        let found = group::approximate(claim, steps).ok();
        if let Some(found) = found
            && found.delta.get() <= delta.get()
        {
            return Some(found.epsilon.get());
        }
        // A smaller δ has a larger ε, which asks for a smaller δ again.
        let growth = libm::exp(claim.epsilon.get() * (steps - 1) as f64) * steps as f64;
        let smaller = Delta::new(0.99 * delta.get() / growth).ok().filter(|smaller| smaller.get() > 0.0)?;
        claim =
            Guarantee { epsilon: Epsilon::new(recomputed(certificate, 1, smaller)?).ok()?, delta: smaller };
    }
    None
}

#[cfg(test)]
mod tests;
