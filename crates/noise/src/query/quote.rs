use crate::{Mechanism, NoiseError, NoiseSession, Released, Releaser};
use reticent_core::{Event, Neighboring, Plan};

/// What a question will cost: the events of its answer, in sequence, known before any row is read.
///
/// The question is asked of an empty table of the same shape (no rows; as many categories, candidates or prices as there
/// will be).
///
/// ```
/// use reticent_core::{Epsilon, Neighboring};
/// use reticent_noise::NoiseSession;
/// use reticent_noise::query::{self, QueryTerms};
///
/// let terms = QueryTerms::pure(Epsilon::new(1.0)?);
/// let plan = query::quote(|source| query::histogram(source, &terms, &[0, 0, 0]))?;
/// let mut session = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
/// let mut permit = session.charge(&plan)?;
/// let answer = query::histogram(&mut session.with(&mut permit), &terms, &[120, 70, 3])?;
/// assert_eq!(answer.events, plan.events());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
/// The events are those of the same question about any rows. A mechanism states its event without its input
/// ([`Mechanism::event`] has no access to one), and a query makes its mechanisms from its terms and from public arguments
/// alone: bounds, the number of categories, candidates, prices, the public number of rows. Rows reach a query only as
/// inputs of releases, and no query lets an input or an answer decide whether or how the next release is made: an answer
/// becomes the *input* of a later release at most. So the sequence of events is a function of what is the same for the empty
/// table. The replay tests run every query on neighbouring tables and compare the events; and a permit for other events
/// pays for nothing, so that a query that broke this rule would stop before the draw that was not quoted.
///
/// What is quoted must be the empty table: an answer about rows that leaves the closure would be paid for by nobody. So
/// [`Rehearsal`] is no [`PaidSource`](crate::PaidSource), and requests about rows do not run on it.
///
/// # Reference
/// The crate's proof of the queries.
///
/// # Errors
/// Those of the question.
pub fn quote<T, E: From<NoiseError>>(ask: impl FnOnce(&mut Rehearsal) -> Result<T, E>) -> Result<Plan, E> {
    Ok(rehearse_unpaid(ask)?.1)
}

/// As [`quote`], with the answer about the empty table: its intervals have the width that those about rows will have, where
/// that hangs on the terms alone.
///
/// # Guarantee
/// None: nothing is charged. The answer is about the empty table, or it is about rows that nothing protects.
///
/// # Reference
/// [`quote`].
///
/// # Errors
/// As [`quote`].
pub fn rehearse_unpaid<T, E: From<NoiseError>>(
    ask: impl FnOnce(&mut Rehearsal) -> Result<T, E>,
) -> Result<(T, Plan), E> {
    let session = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
    let mut rehearsal = Rehearsal { session, events: Vec::new() };
    let answer = ask(&mut rehearsal)?;
    let plan = Plan::new(rehearsal.events).map_err(NoiseError::from)?;
    Ok((answer, plan))
}

/// A source of releases about an empty table, in a session without limit. Only [`quote`] and [`rehearse_unpaid`] make one.
///
/// What needs a source that is paid for does not run on it:
///
/// ```compile_fail,E0277
/// use reticent_noise::{PaidSource, query};
///
/// fn about_rows(source: &mut impl PaidSource) -> Result<(), reticent_noise::NoiseError> {
///     Ok(())
/// }
/// query::quote(|source| about_rows(source));
/// ```
pub struct Rehearsal {
    session: NoiseSession,
    events: Vec<Event>,
}

impl Releaser for Rehearsal {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        let released = self.session.release(mechanism, input)?;
        self.events.push(released.event.clone());
        Ok(released)
    }
}
