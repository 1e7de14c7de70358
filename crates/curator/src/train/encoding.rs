//! Encoded gradients, the law of the noise and denoising, as a request asks for them.

use super::request::Train;
use super::settings::Budget;
use crate::refusal::Refusal;
use reticent_core::Neighboring;
use reticent_train::{Clipping, Denoising, Device, NoiseLaw};

/// The degrees of freedom of Student-t noise, as its authors have them.
const FREEDOM: u64 = 9;

/// What gradients are multiplied by before they are cut to the profile, as the authors have it.
const GAIN: f64 = 4.0;

/// How gradients are encoded, once the number of trained weights is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Encoding {
    norm: f64,
    gain: f64,
    kept: f64,
}

impl Encoding {
    /// The clipping rule for so many trained weights.
    pub(crate) fn clipping(&self, dimension: usize) -> Result<Clipping, Refusal> {
        Ok(Clipping::encoded(self.norm, self.gain, self.kept, dimension)?)
    }
}

/// The noise of a run, and what is done about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NoiseSettings {
    pub(crate) law: NoiseLaw,
    /// None where gradients are clipped by their norms.
    pub(crate) encoding: Option<Encoding>,
    pub(crate) denoise: Option<Denoising>,
}

/// Checks what a run says about its noise and fills in defaults. `norm` is its clipping norm.
pub(super) fn settle(
    run: &mut Train,
    budget: Budget,
    neighboring: Neighboring,
    norm: f64,
) -> Result<NoiseSettings, Refusal> {
    let denoise = run.denoise.as_deref().map(denoising).transpose()?;
    let is_encoded = run.clipping.as_deref() == Some("encoded");
    if budget == Budget::None {
        let encoded = run.clipping.clone().filter(|_| is_encoded);
        for (field, value) in
            [("noise", run.noise.clone()), ("clipping", encoded), ("denoise", run.denoise.clone())]
        {
            if let Some(value) = value {
                let remedy = "without privacy no gradient is encoded and no noise is added: leave it out";
                return Err(Refusal::conflict(field, value, remedy));
            }
        }
    }
    let encoding = encoding(run, is_encoded, norm)?;
    let law = law(run)?;
    if law != NoiseLaw::Gaussian {
        if !is_encoded {
            let remedy = "a norm alone bounds no single number of a gradient, so Student-t noise has no tight account: give \
                          ⟦clipping⟧ encoded, or ⟦noise⟧ gaussian";
            return Err(Refusal::conflict("noise", "student-t", remedy));
        }
        if neighboring == Neighboring::ReplaceOne {
            let remedy = "its account is for adding or removing a unit: give ⟦neighboring⟧ add-remove, or ⟦noise⟧ gaussian";
            return Err(Refusal::conflict("noise", "student-t", remedy));
        }
        // Rounding of a sum may reach coordinates that a unit leaves at 0, where the profile allows nothing.
        if let Some(kept) = encoding.map(|own| own.kept).filter(|kept| *kept < 1.0) {
            let remedy = "the account of Student-t noise needs a profile over all weights: leave it out, or give ⟦noise⟧ gaussian";
            return Err(Refusal::conflict("kept_share", kept, remedy));
        }
    }
    Ok(NoiseSettings { law, encoding, denoise })
}

fn denoising(name: &str) -> Result<Denoising, Refusal> {
    let found = Denoising::NAMES.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, rule)| *rule)
        .ok_or_else(|| Refusal::unknown("denoise", name, "unknown: give james-stein, wiener or weighted"))
}

fn encoding(run: &mut Train, is_encoded: bool, norm: f64) -> Result<Option<Encoding>, Refusal> {
    if !is_encoded {
        for (field, value) in [("kept_share", run.kept_share), ("encoding_gain", run.encoding_gain)] {
            if let Some(value) = value {
                return Err(Refusal::conflict(field, value, "goes with ⟦clipping⟧ encoded: leave it out"));
            }
        }
        return Ok(None);
    }
    if run.federated.is_some() {
        let remedy = "encoded gradients are for training by one party: give flat, per-layer or automatic";
        return Err(Refusal::conflict("clipping", "encoded", remedy));
    }
    if run.device == Some(Device::Cuda) {
        let remedy = "gradients are encoded one by one, which no GPU does here: give ⟦device⟧ cpu, or another ⟦clipping⟧";
        return Err(Refusal::conflict("clipping", "encoded", remedy));
    }
    let kept = *run.kept_share.get_or_insert(1.0);
    if !(kept > 0.0 && kept <= 1.0) {
        let remedy = "give a share of the weights above 0 and at most 1, such as 0.5";
        return Err(Refusal::value("kept_share", kept, remedy));
    }
    let gain = *run.encoding_gain.get_or_insert(GAIN);
    if !(1e-3..=1e3).contains(&gain) {
        return Err(Refusal::value("encoding_gain", gain, "give a number from 0.001 to 1000, such as 4"));
    }
    Ok(Some(Encoding { norm, gain, kept }))
}

fn law(run: &mut Train) -> Result<NoiseLaw, Refusal> {
    match run.noise.as_deref().unwrap_or("gaussian") {
        "gaussian" => match run.degrees_of_freedom {
            None => Ok(NoiseLaw::Gaussian),
            Some(freedom) => {
                let remedy = "goes with ⟦noise⟧ student-t: leave it out";
                Err(Refusal::conflict("degrees_of_freedom", freedom, remedy))
            }
        },
        "student-t" => {
            let freedom = *run.degrees_of_freedom.get_or_insert(FREEDOM);
            let law =
                u32::try_from(freedom).map(|degrees_of_freedom| NoiseLaw::StudentT { degrees_of_freedom });
            match law {
                Ok(law) if law.check().is_ok() => Ok(law),
                _ => {
                    let remedy = "give a whole number from 3 (below it the variance is infinite) to 1000";
                    Err(Refusal::value("degrees_of_freedom", freedom, remedy))
                }
            }
        }
        other => Err(Refusal::unknown("noise", other, "unknown: give gaussian or student-t")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::settle;
    use super::*;

    fn good() -> Train {
        let text = |text: &str| Some(text.to_owned());
        Train {
            epsilon: Some(3.0),
            delta: Some(1e-6),
            clipping: text("encoded"),
            noise: text("student-t"),
            ..Train::default()
        }
    }

    #[test]
    fn student_t_noise_comes_with_encoded_gradients() {
        let mut run = good();
        let settings = settle(&mut run).unwrap();
        assert_eq!(settings.noise.law, NoiseLaw::StudentT { degrees_of_freedom: 9 });
        assert_eq!(
            (run.degrees_of_freedom, run.kept_share, run.encoding_gain),
            (Some(9), Some(1.0), Some(4.0))
        );
        let rule = settings.clipping_for(100).unwrap();
        assert_eq!(rule, Clipping::encoded(1.0, 4.0, 1.0, 100).unwrap());
        let gaussian = Train { noise: None, denoise: Some("wiener".to_owned()), ..good() };
        let settings = settle(&mut gaussian.clone()).unwrap();
        assert_eq!(
            (settings.noise.law, settings.recipe.denoise),
            (NoiseLaw::Gaussian, Some(Denoising::Wiener))
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let text = |text: &str| Some(text.to_owned());
        let flat = Train { clipping: None, ..good() };
        let plain = Train { noise: None, ..flat.clone() };
        let open = Train { epsilon: None, delta: None, non_private: Some(true), ..plain.clone() };
        for (bad, part) in [
            (flat, "noise = student-t"),
            (Train { neighboring: text("replace-one"), ..good() }, "add-remove"),
            (Train { degrees_of_freedom: Some(2), ..good() }, "degrees_of_freedom = 2"),
            (Train { degrees_of_freedom: Some(1 << 40), ..good() }, "degrees_of_freedom"),
            (Train { noise: None, degrees_of_freedom: Some(9), ..good() }, "degrees_of_freedom = 9"),
            (Train { noise: text("cauchy"), ..good() }, "noise = cauchy"),
            (Train { kept_share: Some(0.0), ..good() }, "kept_share = 0"),
            (Train { kept_share: Some(1.5), ..good() }, "kept_share = 1.5"),
            (Train { kept_share: Some(0.5), ..good() }, "kept_share = 0.5"),
            (Train { encoding_gain: Some(0.0), ..good() }, "encoding_gain = 0"),
            (Train { kept_share: Some(0.5), ..plain.clone() }, "kept_share = 0.5"),
            (Train { device: Some(Device::Cuda), ..good() }, "GPU"),
            (Train { denoise: text("median"), ..plain }, "denoise = median"),
            (Train { denoise: text("wiener"), ..open.clone() }, "denoise = wiener"),
            (Train { noise: text("gaussian"), ..open.clone() }, "noise = gaussian"),
            (Train { clipping: text("encoded"), ..open }, "clipping = encoded"),
        ] {
            let line = settle(&mut bad.clone()).unwrap_err().to_string();
            assert!(line.contains(part), "{part}: {line}");
        }
    }
}
