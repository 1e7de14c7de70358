//! What a method says to a question, and what several of them say together.

use super::{Answer, Method};
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

/// The exact answer, or the Rényi one where that is smaller or the only one, or what the events' own claims add up to.
///
/// # Errors
/// The refusal of the exact method where all are silent, and the first one that says that there is no answer.
pub(super) fn best(
    exact: Result<Bracket, AccountingError>,
    renyi: impl FnOnce() -> Result<f64, AccountingError>,
    claims: impl FnOnce() -> Result<f64, AccountingError>,
) -> Result<Answer, AccountingError> {
    let looser = |upper, method| Answer { lower: 0.0, upper, direction: Direction::Remove, method };
    let silent = match Outcome::exact(exact) {
        Outcome::Bound(Bracket { lower, upper, direction }) => {
            let found = Answer { lower, upper, direction, method: Method::Pld };
            if upper - lower <= 1e-3 * upper + 1e-12 {
                return Ok(found);
            }
            return match Outcome::looser(renyi()) {
                Outcome::Bound(less) if less < upper => {
                    Ok(Answer { upper: less, lower: lower.min(less), method: Method::Rdp, ..found })
                }
                Outcome::Impossible(error) => Err(error),
                _ => Ok(found),
            };
        }
        Outcome::Impossible(error) => return Err(error),
        Outcome::Silent(error) => error,
    };
    match Outcome::looser(renyi()) {
        Outcome::Bound(upper) => return Ok(looser(upper, Method::Rdp)),
        Outcome::Impossible(error) => return Err(error),
        Outcome::Silent(_) => {}
    }
    match Outcome::looser(claims()) {
        Outcome::Bound(upper) => Ok(looser(upper, Method::Optimal)),
        Outcome::Impossible(error) => Err(error),
        Outcome::Silent(_) => Err(silent),
    }
}
