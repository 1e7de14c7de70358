//! Whether a certificate's claim follows from its events.

use crate::filter::plain_sum;
use crate::{Accountant, AccountingError, CompositionMethod};
use reticent_core::{Certificate, Delta, Epsilon, Event, EventLog, Fact, Guarantee, Neighboring};
use std::fmt;

/// A claim is taken to hold, or not to, up to this relative width: parameters of events are written as doubles, and so is
/// the claim.
const WIDTH: f64 = 1e-9;

/// What recomputing a certificate's claim from its events says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The claim follows from the events, by this method.
    Holds(CompositionMethod),
    /// Mechanisms that the events allow lose more than is claimed: at the claimed ε their δ is at least this.
    Fails {
        /// The δ, rounded down.
        delta: f64,
    },
    /// Neither can be shown.
    Unknown {
        /// Why not.
        reason: String,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(method) => write!(f, "holds ({method})"),
            Self::Fails { delta } => {
                write!(f, "does not hold: at the claimed epsilon, delta is at least {delta:.4e}")
            }
            Self::Unknown { reason } => write!(f, "cannot be recomputed: {reason}"),
        }
    }
}

/// Recomputes a certificate's claim from its events: by the sum of their own ε and δ, then by the tight accountant.
///
/// # Guarantee
/// [`Verdict::Holds`] only if mechanisms with these events under the certificate's relation are (ε, δ)-private, up to a
/// relative 10⁻⁹ of ε and δ; [`Verdict::Fails`] only if some mechanism with these events is not. That the events are those
/// that happened is not checked, nor are those that an earlier answer decided, on which no claim rests; a claim that has
/// nothing but itself for such events never holds. Nor does a certificate that names a premise which voids its claim.
///
/// # Reference
/// Those of [`CompositionMethod::Basic`] and [`CompositionMethod::Pld`].
///
/// # Errors
/// [`AccountingError::Invalid`] when the events cannot be counted.
pub fn verify(certificate: &Certificate) -> Result<Verdict, AccountingError> {
    let verdict = match stands_alone(certificate) {
        true => decided(certificate)?,
        false => by_events(certificate)?,
    };
    let is_void = certificate.public.iter().any(Fact::voids);
    Ok(match verdict {
        Verdict::Holds(_) if is_void => {
            let reason = "the schema is a draft that was read off the records, and no event pays for that";
            Verdict::Unknown { reason: reason.to_owned() }
        }
        other => other,
    })
}

/// Whether the claim's only event is the claim itself, and what happened was decided by earlier answers: so are certificates
/// read that were written before shares were claimed.
fn stands_alone(certificate: &Certificate) -> bool {
    !certificate.adaptive.is_empty() && certificate.events == [certificate.guarantee.claim()]
}

/// What decided events say of such a claim: they may refute it, and never prove it.
fn decided(certificate: &Certificate) -> Result<Verdict, AccountingError> {
    let log = EventLog { neighboring: certificate.neighboring, events: certificate.adaptive.clone() };
    Ok(match recomputed(certificate, &log)? {
        fails @ Verdict::Fails { .. } => fails,
        _ => {
            let reason = "its events were decided by earlier answers, and the claim names no share for them";
            Verdict::Unknown { reason: reason.to_owned() }
        }
    })
}

/// Whether the claim follows from the events alone.
fn by_events(certificate: &Certificate) -> Result<Verdict, AccountingError> {
    let log = EventLog { neighboring: certificate.neighboring, events: certificate.events.clone() };
    let whole = recomputed(certificate, &log)?;
    let Some(cases) = cases(&log).filter(|_| matches!(whole, Verdict::Unknown { .. })) else {
        return Ok(whole);
    };
    // The claim holds if it does wherever the record is. It does not if it does not somewhere; but no mechanism need lose
    // as much as two of its parts together.
    let mut held = None;
    for case in cases {
        match recomputed(certificate, &case)? {
            Verdict::Holds(method) => held = Some(Verdict::Holds(method)),
            Verdict::Fails { delta } if log.neighboring == Neighboring::AddRemove => {
                return Ok(Verdict::Fails { delta });
            }
            _ => return Ok(whole),
        }
    }
    Ok(held.unwrap_or(whole))
}

/// More cases than this are not looked at.
const MOST_CASES: usize = 64;

/// The logs that are left when the record is in one part of the events on disjoint parts, or leaves one and enters another:
/// its part is all that differs. None where there is one case only, or too many.
fn cases(log: &EventLog) -> Option<Vec<EventLog>> {
    let mut cases = vec![Vec::new()];
    for event in &log.events {
        let options: Vec<Event> = match event {
            Event::Parallel { events } if events.len() > 1 => match log.neighboring {
                Neighboring::AddRemove => events.clone(),
                Neighboring::ReplaceOne => pairs(events),
            },
            other => vec![other.clone()],
        };
        if cases.len() * options.len() > MOST_CASES {
            return None;
        }
        cases = options
            .iter()
            .flat_map(|option| {
                cases.iter().map(|case| [case.as_slice(), std::slice::from_ref(option)].concat())
            })
            .collect();
    }
    (cases.len() > 1)
        .then(|| cases.into_iter().map(|events| EventLog { neighboring: log.neighboring, events }).collect())
}

/// Every two of some events, in sequence. Two parts lose no less than either.
fn pairs(events: &[Event]) -> Vec<Event> {
    let mut found = Vec::new();
    for (place, first) in events.iter().enumerate() {
        for second in &events[place + 1..] {
            found.push(Event::Composed { events: vec![first.clone(), second.clone()] });
        }
    }
    found
}

fn recomputed(certificate: &Certificate, log: &EventLog) -> Result<Verdict, AccountingError> {
    let claim = wider(certificate.guarantee)?;
    let within = |found: Guarantee| found.epsilon <= claim.epsilon && found.delta <= claim.delta;
    if plain_sum(log)?.is_some_and(within) {
        return Ok(Verdict::Holds(CompositionMethod::Basic));
    }
    let account = Accountant::of_log(log, CompositionMethod::Pld)?;
    let reason = match account.delta(claim.epsilon) {
        Ok(answer) if answer.upper <= claim.delta.get() => return Ok(Verdict::Holds(answer.method)),
        Ok(answer) if answer.lower > claim.delta.get() => {
            return Ok(Verdict::Fails { delta: answer.lower });
        }
        Ok(answer) => format!(
            "at the claimed epsilon, delta is between {:.4e} and {:.4e} by the events alone; the claim rests on what \
             \"{}\" says",
            answer.lower, answer.upper, certificate.accountant
        ),
        Err(AccountingError::Invalid(invalid)) => return Err(invalid.into()),
        Err(error) => error.to_string(),
    };
    // ε at δ and δ at ε are bracketed each by itself.
    if claim.delta.get() > 0.0
        && let Ok(answer) = account.epsilon(claim.delta)
        && answer.upper <= claim.epsilon.get()
    {
        return Ok(Verdict::Holds(answer.method));
    }
    Ok(Verdict::Unknown { reason })
}

/// A claim that is larger by what rounding may do.
fn wider(claim: Guarantee) -> Result<Guarantee, AccountingError> {
    let delta = (claim.delta.get() * (1.0 + WIDTH)).min(1.0f64.next_down());
    let epsilon = (claim.epsilon.get() * (1.0 + WIDTH)).min(f64::MAX);
    Ok(Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{NoiseMultiplier, SamplingRate};

    fn claim(epsilon: f64, delta: f64) -> Guarantee {
        Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
    }

    fn pure(epsilon: f64) -> Event {
        claim(epsilon, 0.0).claim()
    }

    fn training() -> Event {
        let sum = Event::ClippedSum { noise_multiplier: NoiseMultiplier::new(1.0).unwrap() };
        let step = Event::PoissonSampled { rate: SamplingRate::new(0.01).unwrap(), event: Box::new(sum) };
        Event::Repeated { count: 1000, event: Box::new(step) }
    }

    fn verdict(events: Vec<Event>, guarantee: Guarantee) -> Verdict {
        let relation = Neighboring::AddRemove;
        verify(&Certificate::compose("row", relation, events, guarantee, "a theorem", vec![])).unwrap()
    }

    #[test]
    fn claims_that_follow_hold() {
        assert_eq!(verdict(vec![], claim(0.0, 0.0)), Verdict::Holds(CompositionMethod::Basic));
        assert_eq!(
            verdict(vec![pure(0.1), pure(0.2)], claim(0.3, 0.0)),
            Verdict::Holds(CompositionMethod::Basic)
        );
        let third = Event::Laplace { noise_multiplier: NoiseMultiplier::new(1.0 / 0.3).unwrap() };
        assert_eq!(verdict(vec![third], claim(0.3, 0.0)), Verdict::Holds(CompositionMethod::Basic));
        let account = |events: &[Event]| {
            let log = EventLog { neighboring: Neighboring::AddRemove, events: events.to_vec() };
            Accountant::of_log(&log, CompositionMethod::Pld)
                .unwrap()
                .epsilon(Delta::new(1e-5).unwrap())
                .unwrap()
        };
        let epsilon = account(&[training()]).upper;
        assert_eq!(verdict(vec![training()], claim(epsilon, 1e-5)), Verdict::Holds(CompositionMethod::Pld));
        // Training beside a test on other rows, after a schema that cost its own.
        let tested = Event::Parallel { events: vec![training(), pure(0.25)] };
        let spent = claim(0.5, 1e-6).claim();
        let sum = claim(0.5 + epsilon, 1e-5 + 1e-6);
        assert!(matches!(verdict(vec![spent, tested], sum), Verdict::Holds(_)));
    }

    #[test]
    fn an_edited_epsilon_is_caught() {
        for (events, delta) in [
            (vec![training()], 1e-5),
            (vec![pure(0.5)], 0.0),
            (vec![pure(0.5), claim(1.0, 1e-6).claim()], 1e-6),
        ] {
            let found = verdict(events, claim(0.001, delta));
            assert!(matches!(found, Verdict::Fails { delta: least } if least > delta), "{found}");
        }
        // As is an edited δ.
        assert!(matches!(verdict(vec![training()], claim(2.0, 1e-12)), Verdict::Fails { .. }));
        let text = verdict(vec![pure(0.5)], claim(0.001, 0.0)).to_string();
        assert!(text.starts_with("does not hold: at the claimed epsilon"), "{text}");
    }

    #[test]
    fn a_draft_schema_voids_the_claim_also_when_it_is_read_back() {
        let certificate = |epsilon: f64, fact: Fact| {
            let (events, claim) = (vec![pure(0.5)], claim(epsilon, 0.0));
            let own =
                Certificate::compose("row", Neighboring::AddRemove, events, claim, "a theorem", vec![fact]);
            let text = serde_json::to_string(&own).unwrap();
            verify(&serde_json::from_str(&text).unwrap()).unwrap()
        };
        assert_eq!(certificate(0.5, Fact::Schema), Verdict::Holds(CompositionMethod::Basic));
        let found = certificate(0.5, Fact::DraftSchema);
        assert!(matches!(&found, Verdict::Unknown { reason } if reason.contains("draft")), "{found}");
        // Events that cost more than is claimed still refute it.
        assert!(matches!(certificate(0.1, Fact::DraftSchema), Verdict::Fails { .. }));
    }

    #[test]
    fn an_older_certificate_of_decided_events_is_never_proven_by_its_own_claim() {
        // Composed, these steps would be far cheaper than what is claimed, and their sum proves nothing.
        let text = r#"{"unit":"row","neighboring":"add-remove","events":[{"pure":{"epsilon":0.06}},{"zcdp":{"rho":0.0001}}],"epsilon":3.0,"delta":1e-6,"accountant":"rows counted with noise, then tight accounting","public":[]}"#;
        let certificate: Certificate = serde_json::from_str(text).unwrap();
        let found = verify(&certificate).unwrap();
        assert!(matches!(&found, Verdict::Unknown { reason } if reason.contains("no share")), "{found}");
        // What happened may refute it.
        let less = text.replace("\"epsilon\":3.0", "\"epsilon\":0.001").replace("0.0001", "0.1");
        let less: Certificate =
            serde_json::from_str(&less.replace("{\"zcdp\":{\"rho\":0.1}}", "{\"pure\":{\"epsilon\":2.0}}"))
                .unwrap();
        assert!(matches!(verify(&less).unwrap(), Verdict::Fails { .. }));
        let log = EventLog { neighboring: certificate.neighboring, events: certificate.events };
        let account = Accountant::of_log(&log, CompositionMethod::Pld).unwrap();
        assert!(account.epsilon(Delta::new(1e-6).unwrap()).unwrap().upper >= 3.0 * (1.0 - WIDTH));
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        // A claim below what the Rényi bound of a zCDP event proves: nothing is known against it either.
        let event = Event::Zcdp { rho: reticent_core::Rho::new(0.1).unwrap() };
        let found = verdict(vec![event], claim(2.05, 1e-6));
        assert!(matches!(&found, Verdict::Unknown { reason } if reason.contains("a theorem")), "{found}");
        // An event without a bound under the relation.
        let batch = Event::SampledWithoutReplacement {
            dataset_size: 100,
            batch_size: 10,
            event: Box::new(Event::Zcdp { rho: reticent_core::Rho::new(0.1).unwrap() }),
        };
        let found = verdict(vec![batch], claim(1.0, 1e-6));
        assert!(matches!(found, Verdict::Unknown { .. }), "{found}");
    }
}
