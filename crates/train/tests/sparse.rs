//! Inputs that are mostly zero.

use reticent_noise::entropy::{Bits, SeededForTests};
use reticent_train::describe::LayerKind;
use reticent_train::{
    Clipping, Description, Device, Engine, Examples, Inputs, Resources, Selection, Targets, engine,
};

fn sum(network: &mut dyn Engine, examples: &Examples, which: &[usize], clip: bool) -> Vec<f32> {
    let clipping = Clipping::Flat { norm: 1e6 };
    let selection = Selection::of_examples(which.to_vec());
    let clipping = clip.then_some(&clipping);
    network.sum(examples, &selection, clipping, &|| ()).unwrap();
    network.read_sum().unwrap()
}

#[test]
fn they_have_the_gradient_of_the_examples_one_by_one() {
    let words = Description::reading(&[50])
        .then(LayerKind::Linear { out: 40, bias: true })
        .then(LayerKind::Tanh)
        .then(LayerKind::Linear { out: 3, bias: true });
    let mut bits = SeededForTests::new(5);
    let mut uniform = move || (bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
    for share in [0.1, 0.2, 0.9] {
        for chunk in [None, Some(30)] {
            let mut network = engine(&words, Device::Cpu, Resources { threads: 1, chunk }).unwrap();
            let weights: Vec<f32> = (0..network.layout().weights()).map(|_| 0.7 * uniform()).collect();
            network.load_weights(&weights).unwrap();
            let inputs =
                (0..70 * 50).map(|_| if uniform().abs() < share { uniform() } else { 0.0 }).collect();
            let targets = Targets::Classes((0..70).map(|example| example % 3).collect());
            let examples = Examples::new(&[50], Inputs::Real(inputs), targets).unwrap();
            let all: Vec<usize> = (0..70).collect();
            let found = sum(&mut *network, &examples, &all, false);
            let clipped = sum(&mut *network, &examples, &all, true);
            let mut expected = vec![0.0f64; found.len()];
            for example in all {
                let alone = sum(&mut *network, &examples, &[example], false);
                expected.iter_mut().zip(alone).for_each(|(sum, own)| *sum += f64::from(own));
            }
            for ((found, clipped), expected) in found.iter().zip(clipped).zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-4, "{found} {expected}");
                assert!((f64::from(clipped) - expected).abs() < 1e-4, "{clipped} {expected}");
            }
        }
    }
}
