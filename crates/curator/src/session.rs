//! Whose data are asked about, who pays, and who watches.
//!
//! ```
//! use reticent_accounting::filter::Budget;
//! use reticent_core::{Code, Epsilon, Guarantee, Neighboring};
//! use reticent_curator::release::{Question, Release};
//! use reticent_curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("visits.csv");
//! # std::fs::write(&file, "age\n30\n41\n57\n")?;
//! let ledger = Budget::new(Guarantee::pure(Epsilon::new(1.5)?), Neighboring::AddRemove)?;
//! let mut session = Session::new("visits", "row", Neighboring::AddRemove, Box::new(ledger))?;
//! let count = Release::new(&file, Question::Count { column: None, error: None }, 1.0);
//! count.check()?.run(&mut session)?;
//! // The second count would exceed the limit: it is refused before a row is read.
//! let refusal = count.check()?.run(&mut session).err().ok_or("charged beyond the limit")?;
//! assert_eq!(refusal.code(), Code::Spent);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::refusal::Refusal;
use crate::watch::{Unwatched, Watch};
use reticent_core::{Code, Ledger, Neighboring};
use reticent_noise::{Entropy, Session as Payer};

/// What a request runs in: whose data they are, what is protected in them, the ledger that costs are charged to, the
/// entropy of the noise, and who watches.
///
/// # Guarantee
/// Whatever a request draws is part of a plan that the ledger had on record before it. A session with a ledger of its own
/// refuses requests that protect another unit or under another neighboring relation, and requests whose outcome is exact: drafts of
/// schemas and trainings with them, fits and trainings without privacy, surveys that copy columns, estimates, evaluations
/// and audits. Nor does it tell whether two tables are equal; a run that goes on is told
/// whether the file that it began with has changed.
///
/// The ledger speaks for the data of the session. Data that a request itself declares to be unprotected (the table that a fit is
/// tested on, the validation data of a training, the rows to be predicted) are the asker's own, and exact numbers about
/// them are neither refused nor charged.
pub struct Session {
    payer: Payer,
    /// Whether each request may protect what it says, because nothing is added up.
    is_open: bool,
    watch: Box<dyn Watch>,
}

impl Session {
    /// A session about these data, whose costs this ledger keeps: it protects every `unit` (such as `row`) under one
    /// neighbouring relation.
    ///
    /// # Errors
    /// [`Refusal`] when the ledger prices under another neighboring relation, or the operating system gives no randomness.
    pub fn new(
        data: &str,
        unit: &str,
        neighboring: Neighboring,
        ledger: Box<dyn Ledger>,
    ) -> Result<Self, Refusal> {
        let payer = Payer::new(data, unit, neighboring, ledger)?;
        Ok(Self { payer, is_open: false, watch: Box::new(Unwatched::new()) })
    }

    /// A session that refuses nothing and adds nothing up: whoever runs it keeps the budget elsewhere, or the data are public.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn without_limit() -> Result<Self, Refusal> {
        let payer = Payer::without_limit("row", Neighboring::AddRemove)?;
        Ok(Self { payer, is_open: true, watch: Box::new(Unwatched::new()) })
    }

    /// The same session under somebody's eyes.
    pub fn watched(self, watch: Box<dyn Watch>) -> Self {
        Self { watch, ..self }
    }

    /// Who pays for a request that protects this unit under this relation, and who watches it.
    ///
    /// # Errors
    /// [`Refusal`] when the session protects something else.
    pub(crate) fn pays(&mut self, unit: &str, neighboring: Neighboring) -> Result<Pays<'_>, Refusal> {
        let fits = self.payer.unit() == unit && self.payer.neighboring() == neighboring;
        if !fits && !self.is_open {
            let (own, relation) = (self.payer.unit(), self.payer.neighboring());
            let remedy = format!("this session protects every {own} under {relation}: ask for the same");
            return Err(Refusal::value("neighboring", neighboring, format!("unit {unit}: {remedy}"))
                .coded(Code::Relation));
        }
        if !fits {
            self.payer = Payer::without_limit(unit, neighboring)?;
        }
        Ok(Pays { payer: &mut self.payer, watch: &*self.watch })
    }

    /// Whether nothing is added up here: only then may exact facts about the data be told.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Lets an outcome pass that no noise protects.
    ///
    /// # Errors
    /// [`Refusal`] unless the session is [without a limit](Self::without_limit): exact numbers keep within no budget.
    pub(crate) fn unprotected(&self, what: &str) -> Result<(), Refusal> {
        if self.is_open {
            return Ok(());
        }
        let data = self.payer.data();
        let remedy = "ask with an ⟦epsilon⟧ where there is one, or in a session without a limit";
        Err(Refusal::new(
            Code::Unreachable,
            format!("{what} is not protected, and no budget of \"{data}\" covers it: {remedy}"),
        ))
    }

    /// The generator, for what is no release: keys and ties.
    pub fn entropy(&mut self) -> &mut Entropy {
        self.payer.entropy()
    }

    /// Who watches.
    pub fn watch(&self) -> &dyn Watch {
        &*self.watch
    }
}

/// What [`Session::pays`] gives.
pub(crate) struct Pays<'a> {
    pub(crate) payer: &'a mut Payer,
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
        assert!(session.pays("row", Neighboring::AddRemove).is_ok());
        for (unit, relation) in
            [("row", Neighboring::ReplaceOne), ("all rows of one patient", Neighboring::AddRemove)]
        {
            let refusal = session.pays(unit, relation).err().unwrap();
            assert_eq!((refusal.code(), refusal.field()), (Code::Relation, Some("neighboring")));
            assert!(Session::without_limit().unwrap().pays(unit, relation).is_ok());
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
