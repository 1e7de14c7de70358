//! What a method says to a question, and what several of them say together.

use super::{CertifiedBounds, CompositionMethod};
use crate::AccountingError;
use crate::tight::{Bracket, Direction};

/// What one method says. A method that is silent may be spoken for by another, whose bound holds by its own premises; a
/// question without an answer has none by any method.
pub(super) enum Outcome<T> {
    /// A bound that the method proves.
    Bound(T),
    /// The method has no bound here.
    Silent(AccountingError),
    /// The question has no answer.
    Impossible(AccountingError),
}

impl<T> Outcome<T> {
    /// The exact method's: it refuses a parameter for every method.
    fn exact(found: Result<T, AccountingError>) -> Self {
        match found {
            Ok(bound) => Self::Bound(bound),
            Err(error @ AccountingError::Unsupported { .. }) => Self::Silent(error),
            Err(error) => Self::Impossible(error),
        }
    }

    /// A looser method's: a δ that is too small for it need not be too small for others.
    fn looser(found: Result<T, AccountingError>) -> Self {
        match found {
            Ok(bound) => Self::Bound(bound),
            Err(error @ AccountingError::Impossible(_)) => Self::Impossible(error),
            Err(error) => Self::Silent(error),
        }
    }
}

/// The exact answer where its bracket is narrow, else the least of what the methods prove. What the events' own claims add up
/// to takes longest: it is asked for where nothing else answers, or where one is `thorough`.
///
/// # Errors
/// The refusal of the exact method where all are silent, and the first one that says that there is no answer.
pub(super) fn best(
    exact: Result<Bracket, AccountingError>,
    renyi: impl FnOnce() -> Result<f64, AccountingError>,
    claims: impl FnOnce() -> Result<f64, AccountingError>,
    thorough: bool,
) -> Result<CertifiedBounds, AccountingError> {
    let (mut found, mut silent) = (None, None);
    match Outcome::exact(exact) {
        Outcome::Bound(Bracket { lower, upper, direction }) => {
            let answer = CertifiedBounds { lower, upper, direction, method: CompositionMethod::Pld };
            if upper - lower <= 1e-3 * upper + 1e-12 {
                return Ok(answer);
            }
            found = Some(answer);
        }
        Outcome::Impossible(error) => return Err(error),
        Outcome::Silent(error) => silent = Some(error),
    }
    found = less(found, Outcome::looser(renyi()), CompositionMethod::Rdp)?;
    if thorough || found.is_none() {
        found = less(found, Outcome::looser(claims()), CompositionMethod::Optimal)?;
    }
    found.ok_or_else(|| {
        silent.unwrap_or_else(|| AccountingError::Unsupported {
            event: "this list of events",
            accountant: "pld",
            why: "no method answers".to_owned(),
        })
    })
}

/// The lesser of an answer and what another method proves. A bound below the lower end contradicts it and is not taken.
fn less(
    found: Option<CertifiedBounds>,
    other: Outcome<f64>,
    method: CompositionMethod,
) -> Result<Option<CertifiedBounds>, AccountingError> {
    Ok(match (found, other) {
        (_, Outcome::Impossible(error)) => return Err(error),
        (Some(known), Outcome::Bound(upper))
            if upper < known.upper && upper >= known.lower * (1.0 - 1e-9) =>
        {
            Some(CertifiedBounds { upper, lower: known.lower.min(upper), method, ..known })
        }
        (None, Outcome::Bound(upper)) => {
            Some(CertifiedBounds { lower: 0.0, upper, direction: Direction::Remove, method })
        }
        (known, _) => known,
    })
}
