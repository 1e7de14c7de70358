//! The reference records of an adversarial training: declared, not trained on, read or held out.

use super::reader::{Loaded, Reader};
use super::request::Train;
use super::settings::Budget;
use super::source::{Source, find};
use crate::refusal::Refusal;
use crate::watch::Watch;
use reticent_core::Code;
use reticent_data::keyed_hash;
use reticent_train::{AdversarialSettings, Device, Examples, Targets};

/// The key of the hash that holds reference records out.
const KEY: &str = "reticent reference records";

/// The share of the records that is held out where nothing else is said.
const SHARE: f64 = 0.5;

/// 2⁶⁴.
const HASHES: f64 = 18_446_744_073_709_551_616.0;

/// Checks the fields of an adversarial training and fills in their defaults; none for another training.
pub(super) fn settle(run: &mut Train, budget: Budget) -> Result<Option<AdversarialSettings>, Refusal> {
    let Some(strength) = run.adversarial else {
        let given = [
            ("reference_share", run.reference_share.map(|share| share.to_string())),
            ("reference_data", run.reference_data.as_ref().map(|path| path.display().to_string())),
        ];
        return match given.into_iter().find_map(|(field, value)| Some((field, value?))) {
            Some((field, value)) => {
                let remedy =
                    "reference records are for adversarial training: add ⟦adversarial⟧, or leave it out";
                Err(Refusal::conflict(field, value, remedy))
            }
            None => Ok(None),
        };
    };
    let settings = AdversarialSettings::new(strength);
    if settings.check().is_err() {
        let remedy = "give a strength from 0 to 1e6, such as 3";
        return Err(Refusal::value("adversarial", strength, remedy));
    }
    if budget != Budget::None {
        let remedy = "adversarial training has no guarantee and no epsilon: add ⟦non_private⟧ and leave ⟦epsilon⟧, ⟦delta⟧ and \
                      ⟦noise_multiplier⟧ out, or leave ⟦adversarial⟧ out to train with DP-SGD";
        return Err(Refusal::conflict("adversarial", strength, remedy));
    }
    if run.federated.is_some() {
        let remedy = "parties do not train against an inference network: leave ⟦federated⟧ or this out";
        return Err(Refusal::conflict("adversarial", strength, remedy));
    }
    if run.device.is_some_and(|device| device != Device::Cpu) {
        let remedy = "adversarial training is computed on the CPU: leave ⟦device⟧ out";
        return Err(Refusal::conflict("adversarial", strength, remedy));
    }
    match (run.reference_share, &run.reference_data) {
        (Some(share), Some(_)) => {
            let remedy = "give ⟦reference_share⟧ or ⟦reference_data⟧, not both";
            return Err(Refusal::conflict("reference_share", share, remedy));
        }
        (Some(share), None) if !(share > 0.0 && share < 1.0) => {
            let remedy = "give a share above 0 and below 1, such as 0.5: without reference records the inference network \
                          cannot learn what non-members look like";
            return Err(Refusal::value("reference_share", share, remedy));
        }
        (None, None) => run.reference_share = Some(SHARE),
        _ => {}
    }
    Ok(Some(settings))
}

/// The source of reference records of their own; none where they are held out.
pub(crate) fn source(run: &Train) -> Result<Option<Source>, Refusal> {
    let Some(data) = run.reference_data.as_deref() else { return Ok(None) };
    let found = find(Some(data), run.data_dir.as_deref(), &run.reading.of_one_file())
        .map_err(|refusal| refusal.within("⟦reference_data⟧"))?;
    Ok(Some(found.source))
}

/// Divides what was read into what is trained on and reference records; nothing of the latter without an adversarial training.
///
/// Records are held out by a keyed hash of their content, or of their user, so equal ones are on one side.
pub(crate) fn divide(
    run: &Train,
    reader: &Reader,
    source: Option<&Source>,
    loaded: Loaded,
    watch: &dyn Watch,
) -> Result<(Loaded, Option<Examples>), Refusal> {
    if run.adversarial.is_none() {
        return Ok((loaded, None));
    }
    let (kept, references) = match (source, run.reference_share) {
        (Some(source), _) => {
            let references = reader.read(source, true, watch)?.examples;
            if references.digest() == loaded.examples.digest() {
                let remedy = "these are the training records: give records that the model is not trained on";
                return Err(Refusal::conflict("reference_data", source.name(), remedy));
            }
            (loaded, references)
        }
        (None, share) => held_out(loaded, share.unwrap_or(SHARE)),
    };
    for (what, examples) in [("reference", &references), ("training", &kept.examples)] {
        if examples.is_empty() {
            let text = format!(
                "no {what} records are left for adversarial training: give more records, or another ⟦reference_share⟧"
            );
            return Err(Refusal::new(Code::NoRows, text));
        }
    }
    Ok((kept, Some(references)))
}

fn held_out(loaded: Loaded, share: f64) -> (Loaded, Examples) {
    let Loaded { examples, users, rows } = loaded;
    let mut row = vec![0.0; examples.size()];
    let mut bytes = Vec::new();
    let mut is_reference = |example: usize| {
        bytes.clear();
        match users.as_ref().or(rows.as_ref()) {
            Some(owners) => bytes.extend_from_slice(&owners[example].to_le_bytes()),
            None => {
                examples.read(example, &mut row);
                bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
                bytes.extend(match examples.targets() {
                    Targets::Classes(classes) => classes[example].to_le_bytes(),
                    Targets::Numbers(numbers) => numbers[example].to_le_bytes(),
                    Targets::Next(next) => next[example * examples.size()].to_le_bytes(),
                });
            }
        }
        (keyed_hash(KEY, &bytes) as f64) < share * HASHES
    };
    let (references, kept): (Vec<usize>, Vec<usize>) =
        (0..examples.len()).partition(|example| is_reference(*example));
    let of_kept = |all: Option<Vec<u32>>| all.map(|all| kept.iter().map(|example| all[*example]).collect());
    let (users, rows) = (of_kept(users), of_kept(rows));
    (Loaded { examples: examples.subset(&kept), users, rows }, examples.subset(&references))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::settings::settle as settle_run;
    use reticent_train::Inputs;

    fn good() -> Train {
        Train { non_private: Some(true), adversarial: Some(3.0), ..Train::default() }
    }

    #[test]
    fn defaults_are_filled_in_and_mistakes_named() {
        let mut run = good();
        let settings = settle_run(&mut run).unwrap();
        assert_eq!(settings.adversarial, Some(AdversarialSettings::new(3.0)));
        assert_eq!(run.reference_share, Some(0.5));
        let private = Train { non_private: None, epsilon: Some(1.0), delta: Some(1e-6), ..good() };
        for (bad, field, words) in [
            (Train { adversarial: Some(-1.0), ..good() }, "adversarial", "from 0"),
            (Train { adversarial: Some(f64::NAN), ..good() }, "adversarial", "from 0"),
            (private, "adversarial", "no guarantee"),
            (Train { device: Some(Device::Cuda), ..good() }, "adversarial", "CPU"),
            (Train { reference_share: Some(0.0), ..good() }, "reference_share", "above 0"),
            (Train { reference_share: Some(1.0), ..good() }, "reference_share", "below 1"),
            (
                Train { reference_share: Some(0.5), reference_data: Some("a.csv".into()), ..good() },
                "reference_share",
                "not both",
            ),
            (
                Train { adversarial: None, reference_share: Some(0.5), ..good() },
                "reference_share",
                "reference records are for",
            ),
            (Train { label_smoothing: Some(1.0), ..good() }, "label_smoothing", "below 1"),
            (Train { label_smoothing: Some(f64::NAN), ..good() }, "label_smoothing", "below 1"),
        ] {
            let refusal = settle_run(&mut bad.clone()).unwrap_err();
            assert_eq!(refusal.field(), Some(field), "{refusal}");
            assert!(refusal.to_string().contains(words), "{refusal}");
        }
    }

    #[test]
    fn equal_records_are_on_one_side_and_the_share_is_kept() {
        // Every record occurs twice.
        let inputs = (0..4000).map(|place| (place % 2000) as f32).collect();
        let examples = Examples::new(&[1], Inputs::Real(inputs), Targets::Classes(vec![0; 4000])).unwrap();
        let (kept, references) = held_out(Loaded { examples, users: None, rows: None }, 0.25);
        assert_eq!(kept.examples.len() + references.len(), 4000);
        // A quarter of 2 000 pairs: 1 000 records, six deviations of 39.
        assert!(references.len().abs_diff(1000) < 240, "{}", references.len());
        let values = |examples: &Examples| match examples.inputs() {
            Inputs::Real(values) => values.iter().map(|value| *value as u32).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let own = values(&kept.examples);
        assert!(values(&references).iter().all(|value| !own.contains(value)));
    }
}
