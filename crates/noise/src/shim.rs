//! TEMPORARY: a bare generator as a source of releases, for call sites that have no [`Session`](crate::Session) yet. Every
//! release is charged to a record without a limit that is thrown away. Nothing else depends on this file: it is deleted when
//! the last call site has a session.

use crate::{Entropy, Mechanism, NoiseError, Paid, Payer, Released, Releaser};
use reticent_core::{Neighboring, Permit, Plan, Unlimited, charge};

impl Releaser for Entropy {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![mechanism.event()])?)?;
        Paid::new(&mut permit, self, None).release(mechanism, input)
    }
}

impl Payer for Entropy {
    fn charge_under(&mut self, _: Neighboring, plan: &Plan) -> Result<Permit, NoiseError> {
        Ok(charge(&mut Unlimited::new(), plan)?)
    }

    fn with<'a>(&'a mut self, permit: &'a mut Permit) -> Paid<'a> {
        Paid::new(permit, self, None)
    }
}
