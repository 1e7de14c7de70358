//! From events to a certificate.

use crate::{Accountant, AccountingError, CompositionMethod};
use reticent_core::{Certificate, Delta, Epsilon, EventLog, Fact, Guarantee};

/// The certificate of events that were all fixed before the first draw, at a δ above 0, by the tight accountant.
///
/// `accountant` says in words how the claim follows.
///
/// # Guarantee
/// Mechanisms with these events under the log's relation are (ε, δ)-private for the ε that is claimed.
///
/// # Reference
/// Those of [`CompositionMethod::Pld`].
///
/// # Errors
/// As [`Accountant::compose`] and [`Accountant::epsilon`].
pub fn certify(
    unit: impl Into<String>,
    log: EventLog,
    delta: Delta,
    accountant: impl Into<String>,
    public: Vec<Fact>,
) -> Result<Certificate, AccountingError> {
    let epsilon = Epsilon::new(Accountant::of_log(&log, CompositionMethod::Pld)?.epsilon(delta)?.upper)?;
    let EventLog { neighboring, events } = log;
    Ok(Certificate::compose(unit, neighboring, events, Guarantee { epsilon, delta }, accountant, public))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, verify};
    use reticent_core::{Event, Neighboring, NoiseMultiplier};

    #[test]
    fn what_is_certified_holds_and_nothing_smaller_does() {
        let events = vec![Event::Gaussian { noise_multiplier: NoiseMultiplier::new(2.0).unwrap() }; 3];
        let log = EventLog { neighboring: Neighboring::AddRemove, events };
        let whole = certify("row", log, Delta::new(1e-6).unwrap(), "tight", vec![Fact::Rows(3)]).unwrap();
        assert!(matches!(verify(&whole).unwrap(), Verdict::Holds(_)), "{whole:?}");
        let mut less = whole;
        less.guarantee.epsilon = Epsilon::new(0.99 * less.guarantee.epsilon.get()).unwrap();
        assert!(matches!(verify(&less).unwrap(), Verdict::Fails { .. }));
    }
}
