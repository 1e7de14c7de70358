//! What is claimed for a fit, and what can be said against it.

use super::held_out::Tested;
use super::plan::FitPlan;
use crate::bill::{Bill, DECIDED};
use crate::refusal::Refusal;
use reticent_accounting::composition;
use reticent_core::{Certificate, Event, Guarantee};

/// What can be said against a claim without looking at rows.
pub(crate) fn public_warnings(budget: Option<Guarantee>, draft: bool, size: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    let Some(budget) = budget else { return warnings };
    if draft {
        warnings.push(
            "the schema is a draft that was read off the records: its bounds and categories are not covered, and the \
             claim is not true until they are replaced by public ones"
                .to_owned(),
        );
    }
    if budget.delta.get() * size as f64 > 1.0 {
        warnings.push("delta is above 1 / number of rows: some row may be given away altogether".to_owned());
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
        fitted.accountant = format!("rows counted with noise, then {}", fitted.accountant);
        fitted.public.retain(|known| !known.starts_with("declared size"));
    }
    let schema = match (plan.spent, plan.encoder.schema().is_draft()) {
        (_, true) => "schema: a DRAFT read off the records, which voids this claim",
        (Some(_), false) => "names of the columns and what learning the schema took as public",
        (None, false) => "schema",
    };
    fitted.public.push(schema.to_owned());
    if let Some(Tested::Released { event, guarantee: testing, .. }) = tested {
        fitted.guarantee = composition::parallel(&[fitted.guarantee, *testing], fitted.neighboring)?;
        let trained = Event::Composed { events: fitted.events };
        fitted.events = vec![Event::Parallel { events: vec![trained, event.clone()] }];
        fitted.accountant += "; tested on held-out rows (parallel composition)";
        fitted.public.push(format!("split key: {}", plan.request.split_key));
    }
    if let Some(spent) = plan.spent {
        fitted.events.insert(0, Event::Approximate { epsilon: spent.epsilon, delta: spent.delta });
        fitted.guarantee = spent.then(fitted.guarantee)?;
        fitted.accountant = format!("the schema's own cost, then {}", fitted.accountant);
    }
    if decided {
        fitted.accountant += DECIDED;
    }
    Ok(fitted)
}
