//! The certificate of a fit, and its caveats.

use super::held_out::Tested;
use super::plan::FitPlan;
use crate::bill::Bill;
use crate::refusal::Refusal;
use reticent_core::{Certificate, Fact, Guarantee};

/// Caveats about a guarantee, from public facts alone.
pub(crate) fn public_warnings(budget: Option<Guarantee>, draft: bool, size: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    let Some(budget) = budget else { return warnings };
    if draft {
        warnings.push(
            "the schema is a draft computed from the data: its bounds and categories are not covered by the guarantee, \
             which does not hold until public values replace them"
                .to_owned(),
        );
    }
    if budget.delta.get() * size as f64 > 1.0 {
        warnings.push("delta is above 1 / number of rows: this allows revealing a whole row".to_owned());
    }
    warnings
}

/// The fit's certificate with what was spent around it.
pub(super) fn certificate(
    plan: &FitPlan,
    own: Certificate,
    bill: &Bill,
    share: Guarantee,
    tested: Option<&Tested>,
) -> Result<Certificate, Refusal> {
    // A noisy count and a learnt schema decide the weights' number, the regularization and the noise.
    let decided = bill.guarantee.is_some() || plan.spent.is_some();
    let mut fitted = match decided {
        true => own.after(&bill.events, bill.cost()?, share)?,
        false => own,
    };
    if bill.guarantee.is_some() {
        fitted = fitted.counted();
    }
    fitted = fitted.taking(match (&plan.spent, plan.encoder.schema().is_draft()) {
        (_, true) => Fact::DraftSchema,
        (Some(_), false) => Fact::LearntSchema,
        (None, false) => Fact::Schema,
    });
    if plan.request.observed_labels {
        fitted = fitted.taking(Fact::ObservedLabels);
    }
    if let Some(Tested::Released { event, guarantee: testing, .. }) = tested {
        let key = Fact::SplitKey(plan.request.split_key.clone());
        fitted = fitted.beside(event.clone(), *testing, "tested on held-out rows")?.taking(key);
    }
    if let Some(spent) = &plan.spent {
        fitted = fitted.with_schema(&spent.events, spent.guarantee)?;
    }
    Ok(if decided { fitted.by_shares() } else { fitted })
}
