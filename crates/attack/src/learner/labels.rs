//! How often noisy copies of a record keep its class: what an attacker learns who sees predicted classes alone.

use super::network::network_outputs;
use crate::AttackError;
use crate::population::classes_of;
use reticent_audit::{LABEL_ROBUSTNESS, Signal, SignalSource, SignalValues, Signals};
use reticent_data::keyed_hash;
use reticent_noise::entropy::{Bits, Repeatable};
use reticent_train::{Description, Device, Examples, Inputs, Resources};

/// Shares of a record's numbers that are replaced in its copies.
const LEVELS: [f64; 4] = [0.03, 0.1, 0.2, 0.3];

/// Copies at each level.
const COPIES: u64 = 4;

/// The share of noisy copies, the record itself among them, whose class a network predicts right.
///
/// A copy has some of its numbers from other records, each from the same place of a random one: that keeps bits bits and categories
/// categories. Copies follow from the records alone, so all models are asked about the same ones.
pub(super) fn robustness(
    description: &Description,
    weights: &[f32],
    examples: &Examples,
    device: Device,
    resources: Resources,
) -> Result<Signals, AttackError> {
    let labels = classes_of(examples)?;
    let mut right = vec![0.0; labels.len()];
    let mut ask = |copies: &Examples| -> Result<(), AttackError> {
        let outputs = network_outputs(description, weights, copies, device, resources)?;
        for (right, margin) in right.iter_mut().zip(Signal::Hinge.compute(&outputs, labels)?) {
            *right += f64::from(u8::from(margin > 0.0));
        }
        Ok(())
    };
    ask(examples)?;
    for (place, level) in LEVELS.iter().enumerate() {
        for copy in 0..COPIES {
            ask(&noisy(examples, *level, place as u64 * COPIES + copy)?)?;
        }
    }
    let queries = 1.0 + LEVELS.len() as f64 * COPIES as f64;
    let shares = right.into_iter().map(|right| right / queries).collect();
    Ok(Signals::none().with(LABEL_ROBUSTNESS, SignalValues::scalar(SignalSource::LabelOnly, shares)))
}

/// One noisy copy of every record.
fn noisy(examples: &Examples, level: f64, copy: u64) -> Result<Examples, AttackError> {
    let word = |place: u64| keyed_hash("label-only", format!("copy {copy}, word {place}").as_bytes());
    let mut bits = Repeatable::new([word(0), word(1), word(2), word(3)]);
    let (size, records) = (examples.size(), examples.len());
    let replaced = ((level * size as f64).round() as usize).max(1);
    let mut moves = Vec::with_capacity(records * replaced);
    for record in 0..records {
        for _ in 0..replaced {
            let place = (bits.word() % size as u64) as usize;
            let other = (bits.word() % records as u64) as usize;
            moves.push((record * size + place, other * size + place));
        }
    }
    let inputs = match examples.inputs() {
        Inputs::Real(values) => Inputs::Real(moved(values, &moves)),
        Inputs::Tokens(values) => Inputs::Tokens(moved(values, &moves)),
        Inputs::Pixels { values, shift, scale } => {
            let (shift, scale) = (shift.clone(), scale.clone());
            Inputs::Pixels { values: moved(values, &moves), shift, scale }
        }
    };
    Ok(Examples::new(examples.shape(), inputs, examples.targets().clone())?)
}

fn moved<T: Copy>(values: &[T], moves: &[(usize, usize)]) -> Vec<T> {
    let mut copy = values.to_vec();
    moves.iter().for_each(|(to, from)| copy[*to] = values[*from]);
    copy
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_train::Targets;
    use reticent_train::describe::LayerKind;

    #[test]
    fn copies_keep_values_of_their_place_and_far_records_keep_their_class() {
        // The first number decides the class; the other three are constants of their place.
        let inputs: Vec<f32> =
            (0..40).flat_map(|record| [if record < 20 { -1.0 } else { 1.0 }, 7.0, 8.0, 9.0]).collect();
        let classes = (0..40).map(|record| u32::from(record >= 20)).collect();
        let examples = Examples::new(&[4], Inputs::Real(inputs), Targets::Classes(classes)).unwrap();
        let copy = noisy(&examples, 0.3, 1).unwrap();
        let Inputs::Real(values) = copy.inputs() else { panic!("numbers") };
        assert!(values.chunks_exact(4).all(|row| row[0].abs() == 1.0 && row[1..] == [7.0, 8.0, 9.0]));
        assert_ne!(copy, examples);
        assert_eq!(copy, noisy(&examples, 0.3, 1).unwrap(), "the same for every model");
        let network = Description::reading(&[4]).then(LayerKind::Linear { out: 2, bias: true });
        let ask = |bias: f32| {
            let weights = [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, bias];
            let found = robustness(&network, &weights, &examples, Device::Cpu, Resources::SINGLE).unwrap();
            found.get(LABEL_ROBUSTNESS).unwrap().values().to_vec()
        };
        let fair = ask(0.0);
        // A copy loses its class only where the first number came from the other half.
        assert!(fair.iter().all(|share| (0.4..=1.0).contains(share)), "{fair:?}");
        assert!(fair.iter().any(|share| *share < 1.0));
        // A network that always says 1 is right about all copies of the second half, and none of the first.
        let sure = ask(9.0);
        assert!(sure[..20].iter().all(|share| *share == 0.0) && sure[20..].iter().all(|share| *share == 1.0));
    }
}
