//! Copies of images that are trained on together: what a request says, and how they are averaged.

use super::request::Train;
use crate::refusal::Refusal;
use reticent_train::{Augmentation, Clipping, OptimizerSettings, Recipe};

/// The copies of that name.
///
/// # Errors
/// [`Refusal`] for any other name.
pub fn augmentation(name: &str) -> Result<Augmentation, Refusal> {
    let found = Augmentation::NAMES.iter().find(|(known, _)| *known == name);
    let remedy = "unknown: give none, flip or shift";
    found.map(|(_, kind)| *kind).ok_or_else(|| Refusal::unknown("augment", name, remedy))
}

/// Settles a training on copies. The request's clipping norm C bounds the mean of the gradients of an image's K copies; an engine adds
/// them up, so their sum is clipped to K·C, and the steps are K times smaller.
///
/// # Guarantee
/// A unit's sum is at most K·C long, which is the norm that the noise is a multiple of: the guarantee is that of any training with
/// this noise multiplier.
///
/// # Errors
/// [`Refusal`] for trainings that have no copies.
pub(super) fn settle(run: &Train, clipping: &mut Clipping, recipe: &mut Recipe) -> Result<(), Refusal> {
    let Some(kind) = run.augment.filter(|kind| *kind != Augmentation::None) else { return Ok(()) };
    for (field, is_given) in
        [("federated", run.federated.is_some()), ("adversarial", run.adversarial.is_some())]
    {
        if is_given {
            let remedy = format!("not together with ⟦{field}⟧: leave one of the two out");
            return Err(Refusal::conflict("augment", kind.word(), remedy));
        }
    }
    let copies = kind.copies() as f64;
    match clipping {
        Clipping::Flat { norm } | Clipping::PerLayer { norm } => *norm *= copies,
        Clipping::Automatic { norm, stability } => {
            *norm *= copies;
            *stability *= copies;
        }
        Clipping::Quantile(rule) => rule.norm *= copies,
        // Made by the trainer, step by step.
        Clipping::Threshold { .. } => return Err(Refusal::internal("a step before its training")),
        // Its profile is made later, for the norm that is settled here.
        Clipping::Encoded { .. } => return Err(Refusal::internal("a profile before its norm")),
    }
    clipping.check()?;
    // Adam divides by the length of its gradients, sgd does not.
    if let OptimizerSettings::Sgd { weight_decay, .. } = &mut recipe.optimizer {
        *weight_decay *= copies;
        recipe.schedule.peak /= copies;
    }
    Ok(recipe.check()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::settings::settle as settle_run;

    #[test]
    fn copies_are_averaged_before_they_are_clipped() {
        let run = |augment| Train {
            epsilon: Some(3.0),
            delta: Some(1e-5),
            clip: Some(0.1),
            learning_rate: Some(8.0),
            augment,
            ..Train::default()
        };
        let norm = |settings: &crate::train::Settings| settings.clipping_for(10).unwrap().norm();
        let plain = settle_run(&mut run(None)).unwrap();
        for (kind, copies) in
            [(Augmentation::None, 1.0), (Augmentation::Flip, 2.0), (Augmentation::Shift, 5.0)]
        {
            let settled = settle_run(&mut run(Some(kind))).unwrap();
            assert!((norm(&settled) - copies * norm(&plain)).abs() < 1e-12);
            // A clipped gradient moves the weights as far as without copies, and an average that is not as far as it is long.
            let reach = |settings: &crate::train::Settings| norm(settings) * settings.recipe.schedule.peak;
            assert!((reach(&settled) - reach(&plain)).abs() < 1e-12);
        }
    }

    #[test]
    fn trainings_without_copies_are_named() {
        let run = Train {
            augment: Some(Augmentation::Flip),
            non_private: Some(true),
            adversarial: Some(1.0),
            ..Train::default()
        };
        let refusal = settle_run(&mut run.clone()).unwrap_err();
        assert_eq!(refusal.field(), Some("augment"));
        assert!(refusal.to_string().contains("adversarial"), "{refusal}");
        assert_eq!(augmentation("flip").unwrap(), Augmentation::Flip);
        assert_eq!(augmentation("mirror").unwrap_err().field(), Some("augment"));
    }
}
