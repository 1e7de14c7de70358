//! Sessions: the data, the privacy unit, the ledger, the entropy and the progress of requests.
//!
//! ```
//! use reticent_accounting::filter::Budget;
//! use reticent_core::{Code, Epsilon, Guarantee, Neighboring};
//! use reticent_curator::release::{ReleaseQuestion, Release};
//! use reticent_curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("visits.csv");
//! # std::fs::write(&file, "age\n30\n41\n57\n")?;
//! let ledger = Budget::new(Guarantee::pure(Epsilon::new(1.5)?), Neighboring::AddRemove)?;
//! let mut session = Session::new("visits", "row", Neighboring::AddRemove, Box::new(ledger))?;
//! let count = Release::new(&file, ReleaseQuestion::Count { column: None, error: None }, 1.0);
//! count.check()?.run(&mut session)?;
//! // The second count would exceed the limit: it is refused before a row is read.
//! let refusal = count.check()?.run(&mut session).err().ok_or("charged beyond the limit")?;
//! assert_eq!(refusal.code(), Code::Spent);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::refusal::Refusal;
use crate::watch::{Unwatched, Watch};
use reticent_core::{Code, Ledger, Neighboring};
use reticent_noise::{Entropy, NoiseSession};

/// The context that a request runs in: the data and their privacy unit, the ledger that costs are charged to, the
/// entropy of the noise, and the display of progress.
///
/// # Guarantee
/// Everything a request draws belongs to a plan that the ledger recorded before the draw. A session with a ledger of its own
/// refuses requests with another privacy unit or neighboring relation, and requests whose outcome is exact: drafts of
/// schemas and trainings with them, fits and trainings without privacy, surveys that copy columns, estimates, evaluations
/// and audits. It does not reveal whether two tables are equal, except that a resumed run learns
/// whether the file it started with has changed.
///
/// The ledger covers the data of the session. Data that a request itself declares to be unprotected (the table that a fit is
/// tested on, the validation data of a training, the rows to be predicted) belong to the caller, and exact numbers about
/// them are neither refused nor charged.
pub struct Session {
    payer: NoiseSession,
    /// Whether each request may choose its own unit and relation, because nothing is composed.
    is_open: bool,
    watch: Box<dyn Watch>,
}

impl Session {
    /// A session about these data with this ledger: it protects every `unit` (such as `row`) under one
    /// neighbouring relation.
    ///
    /// # Errors
    /// [`Refusal`] if the ledger uses another neighboring relation, or the operating system provides no randomness.
    pub fn new(
        data: &str,
        unit: &str,
        neighboring: Neighboring,
        ledger: Box<dyn Ledger>,
    ) -> Result<Self, Refusal> {
        let payer = NoiseSession::new(data, unit, neighboring, ledger)?;
        Ok(Self { payer, is_open: false, watch: Box::new(Unwatched::new()) })
    }

    /// A session that refuses nothing and composes nothing: the budget is kept elsewhere, or the data are public.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn without_limit() -> Result<Self, Refusal> {
        let payer = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
        Ok(Self { payer, is_open: true, watch: Box::new(Unwatched::new()) })
    }

    /// The same session with a display of progress.
    pub fn watched(self, watch: Box<dyn Watch>) -> Self {
        Self { watch, ..self }
    }

    /// The payer and the display of progress of a request with this unit and relation.
    ///
    /// # Errors
    /// [`Refusal`] when the session protects something else.
    pub(crate) fn payment(&mut self, unit: &str, neighboring: Neighboring) -> Result<Payment<'_>, Refusal> {
        let fits = self.payer.unit() == unit && self.payer.neighboring() == neighboring;
        if !fits && !self.is_open {
            let (own, relation) = (self.payer.unit(), self.payer.neighboring());
            let remedy =
                format!("the budget's privacy unit is {own}, under {relation}: ask with the same unit and relation");
            let refusal = match own == unit {
                true => Refusal::value("neighboring", neighboring, remedy),
                false => Refusal::value("unit", unit, remedy),
            };
            return Err(refusal.coded(Code::Relation));
        }
        if !fits {
            self.payer = NoiseSession::without_limit(unit, neighboring)?;
        }
        Ok(Payment { payer: &mut self.payer, watch: &*self.watch })
    }

    /// The privacy unit, such as `row`.
    pub fn unit(&self) -> &str {
        self.payer.unit()
    }

    /// Whether this session has no limit: only then may exact facts about the data be returned.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Allows an outcome that no noise protects.
    ///
    /// # Errors
    /// [`Refusal`] unless the session is [without a limit](Self::without_limit): exact numbers fit no budget.
    pub(crate) fn unprotected(&self, what: &str) -> Result<(), Refusal> {
        if self.is_open {
            return Ok(());
        }
        let data = self.payer.data();
        let remedy = "give an ⟦epsilon⟧ if there is such a field, or ask without the budget";
        Err(Refusal::new(
            Code::Unreachable,
            format!("{what} is not protected, and the budget of \"{data}\" does not cover it: {remedy}"),
        ))
    }

    /// The generator, for draws that are not releases: keys and ties.
    pub fn entropy(&mut self) -> &mut Entropy {
        self.payer.entropy()
    }

    /// The display of progress.
    pub fn watch(&self) -> &dyn Watch {
        &*self.watch
    }
}

/// The result of [`Session::payment`].
pub(crate) struct Payment<'a> {
    pub(crate) payer: &'a mut NoiseSession,
    pub(crate) watch: &'a dyn Watch,
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_accounting::filter::Budget;
    use reticent_core::{Epsilon, Guarantee, Unlimited};

    #[test]
    fn a_session_with_a_ledger_protects_one_thing() {
        let ledger = Box::new(Unlimited::new());
        let mut session = Session::new("visits", "row", Neighboring::AddRemove, ledger).unwrap();
        assert!(session.payment("row", Neighboring::AddRemove).is_ok());
        for (unit, relation, field) in [
            ("row", Neighboring::ReplaceOne, "neighboring"),
            ("all rows of one patient", Neighboring::AddRemove, "unit"),
        ] {
            let refusal = session.payment(unit, relation).err().unwrap();
            assert_eq!((refusal.code(), refusal.field()), (Code::Relation, Some(field)));
            assert!(Session::without_limit().unwrap().payment(unit, relation).is_ok());
        }
    }

    #[test]
    fn the_ledger_prices_under_the_relation_of_the_session() {
        let limit = Guarantee::pure(Epsilon::new(1.0).unwrap());
        let budget = || Box::new(Budget::new(limit, Neighboring::AddRemove).unwrap());
        assert!(Session::new("visits", "row", Neighboring::AddRemove, budget()).is_ok());
        let refused = Session::new("visits", "row", Neighboring::ReplaceOne, budget()).err().unwrap();
        assert_eq!(refused.code(), Code::Relation);
    }
}
