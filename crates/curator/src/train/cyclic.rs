//! Training without sampling, as a request asks for it.

use super::request::Train;
use super::settings::Budget;
use crate::refusal::Refusal;
use reticent_core::{Code, Neighboring};
use reticent_train::{CyclicBatches, Device};

/// Whether batches are cyclic, where what else the run says goes with that.
pub(super) fn settle(run: &Train, budget: Budget, neighboring: Neighboring) -> Result<bool, Refusal> {
    match run.batching.as_deref() {
        None | Some("poisson") => {
            if let Some(bands) = run.bands {
                let remedy = "noise is correlated where batches are not sampled: give ⟦batching⟧ cyclic, or leave it out";
                return Err(Refusal::conflict("bands", bands, remedy));
            }
            return Ok(false);
        }
        Some("cyclic") => {}
        Some(other) => {
            return Err(Refusal::unknown("batching", other, "unknown: give poisson or cyclic"));
        }
    }
    let clipping = run.clipping.as_deref().unwrap_or("flat");
    for (refused, remedy) in [
        (
            budget == Budget::None,
            "without privacy there is no noise to correlate, and batches are shuffled anew in every epoch: leave it out",
        ),
        (
            run.federated.is_some(),
            "parties sample their batches, and none of them may hold the sums of earlier steps: leave it out",
        ),
        (
            run.device.is_some_and(|device| device != Device::Cpu),
            "correlated noise is computed on the CPU: leave ⟦device⟧ out, or give ⟦batching⟧ poisson",
        ),
        (
            matches!(clipping, "quantile" | "encoded"),
            "correlated noise needs a fixed clipping norm: give ⟦clipping⟧ flat, per-layer or automatic",
        ),
        (
            run.noise.as_deref() == Some("student-t"),
            "correlated noise is Gaussian, so that all steps are one event: leave ⟦noise⟧ out",
        ),
        (
            run.denoise.is_some(),
            "the rules of ⟦denoise⟧ are for noise that is independent between steps: leave one of the two out",
        ),
    ] {
        if refused {
            return Err(Refusal::conflict("batching", "cyclic", remedy));
        }
    }
    if neighboring != Neighboring::AddRemove {
        let remedy = "its account is for adding or removing a unit: give ⟦neighboring⟧ add-remove, or ⟦batching⟧ poisson";
        return Err(Refusal::conflict("batching", "cyclic", remedy).coded(Code::Relation));
    }
    if run.bands == Some(0) {
        return Err(Refusal::value("bands", 0, "give at least 1, which is independent noise"));
    }
    Ok(true)
}

/// The number of batches of an epoch.
pub(super) fn per_epoch(size: u64, batch: u64) -> u64 {
    ((size as f64 / batch.max(1) as f64).round() as u64).max(1)
}

/// The batches of a run of so many steps, whose bands are put into the request. Where a noisy count decided the sizes, a refusal would tell
/// it without anyone paying for that: there are as many bands as possible then.
pub(super) fn agreed(
    run: &mut Train,
    per_epoch: u64,
    steps: u64,
    is_counted: bool,
) -> Result<CyclicBatches, Refusal> {
    let most = per_epoch.min(steps);
    let bands = match run.bands {
        None => CyclicBatches::usual_bands(per_epoch, steps)?,
        Some(bands) if bands > most && !is_counted => {
            let remedy = format!(
                "an epoch has {per_epoch} batches and the run {steps} steps: give a number from 1 to {most}, or a smaller ⟦batch_size⟧"
            );
            return Err(Refusal::value("bands", bands, remedy));
        }
        Some(bands) => bands.min(most),
    };
    Ok(CyclicBatches { per_epoch, bands: *run.bands.insert(bands) })
}

#[cfg(test)]
mod tests {
    use super::super::settings::settle as settle_run;
    use super::*;

    fn good() -> Train {
        let text = |text: &str| Some(text.to_owned());
        Train { epsilon: Some(3.0), delta: Some(1e-6), batching: text("cyclic"), ..Train::default() }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let text = |text: &str| Some(text.to_owned());
        assert!(settle_run(&mut good()).unwrap().is_cyclic);
        let poisson = Train { batching: text("poisson"), ..good() };
        assert!(!settle_run(&mut poisson.clone()).unwrap().is_cyclic);
        let open = Train { epsilon: None, delta: None, non_private: Some(true), ..good() };
        for (bad, field, part) in [
            (open, "batching", "without privacy"),
            (Train { device: Some(Device::Cuda), ..good() }, "batching", "CPU"),
            (Train { clipping: text("quantile"), ..good() }, "batching", "fixed clipping norm"),
            (Train { clipping: text("encoded"), ..good() }, "batching", "fixed clipping norm"),
            (Train { denoise: text("wiener"), ..good() }, "batching", "independent between steps"),
            (Train { neighboring: text("replace-one"), ..good() }, "batching", "add-remove"),
            (Train { bands: Some(0), ..good() }, "bands", "at least 1"),
            (Train { bands: Some(4), ..poisson }, "bands", "cyclic"),
            (Train { batching: text("shuffled"), ..good() }, "batching", "poisson or cyclic"),
        ] {
            let refusal = settle_run(&mut bad.clone()).unwrap_err();
            assert_eq!(refusal.field(), Some(field), "{refusal}");
            assert!(refusal.to_string().contains(part), "{part}: {refusal}");
        }
    }

    #[test]
    fn bands_are_chosen_and_kept_within_an_epoch() {
        assert_eq!((per_epoch(1000, 300), per_epoch(10, 10), per_epoch(7, 100)), (3, 1, 1));
        let mut run = good();
        let usual = agreed(&mut run, 40, 400, false).unwrap();
        assert_eq!(run.bands, Some(usual.bands));
        assert!(usual.bands > 1 && usual.bands <= 40);
        let given =
            |bands, is_counted| agreed(&mut Train { bands: Some(bands), ..good() }, 40, 400, is_counted);
        assert_eq!(given(40, false).unwrap().bands, 40);
        assert_eq!(given(41, false).unwrap_err().field(), Some("bands"));
        assert_eq!(given(41, true).unwrap().bands, 40);
    }
}
