//! Writes a network with fresh weights, and what it answers to a few examples, for `load_in_torch.py`.
//!
//! ```text
//! cargo run -p reticent-train --example export_network -- MODEL.toml OUT
//! ```
//!
//! OUT gets `model.toml`, `model.safetensors`, `predictions.json` and `gradients.safetensors`: the gradient of the summed loss when
//! every example's class is the first (or its target 0, or every next token the first), in the trained weights.

use reticent_noise::Entropy;
use reticent_noise::sampler::uniform_below;
use reticent_train::describe::{LayerKind, Objective};
use reticent_train::{
    Description, Device, Examples, Inputs, Layout, Resources, Selection, Targets, Weights, engine,
};
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// How many examples are answered.
const COUNT: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, out] = words.as_slice() else { return Err("give: MODEL.toml OUT".into()) };
    let description = Description::from_toml(&fs::read_to_string(file)?, file)?;
    let mut network = engine(&description, Device::Cpu, Resources::default())?;
    let weights = network.initial_weights()?;
    network.load_weights(&weights)?;
    let examples = examples(&description)?;
    let which: Vec<usize> = (0..COUNT).collect();
    let scores = network.outputs(Weights::Current, &examples, &which)?;

    let mut inputs = vec![vec![0.0; examples.size()]; COUNT];
    inputs.iter_mut().enumerate().for_each(|(example, input)| examples.read(example, input));
    let outputs: Vec<&[f32]> = scores.chunks(scores.len() / COUNT).collect();
    let out = Path::new(out);
    fs::create_dir_all(out)?;
    fs::write(out.join("model.toml"), description.to_toml()?)?;
    let layout = network.layout();
    let weights_of = |place| Some(layout.weight_range(place));
    fs::write(out.join("model.safetensors"), tensors(layout, &weights, weights_of)?)?;
    let all = Selection::of_examples(which);
    network.sum(&examples, &all, None, &|| ())?;
    let gradient = network.read_sum()?;
    let layout = network.layout();
    let trained = |place: usize| layout.parameters()[place].trainable.then(|| layout.gradient_range(place));
    fs::write(out.join("gradients.safetensors"), tensors(layout, &gradient, trained)?)?;
    let predictions = serde_json::json!({ "inputs": inputs, "outputs": outputs });
    fs::write(out.join("predictions.json"), predictions.to_string())?;
    Ok(())
}

/// Examples that the network can read.
fn examples(description: &Description) -> Result<Examples, Box<dyn Error>> {
    let mut entropy = Entropy::new()?;
    let count = COUNT * description.input.iter().product::<usize>();
    let mut below = |end: usize| uniform_below(&mut entropy, end as u64) as u32;
    let inputs = match description.layers.first().map(|layer| &layer.kind) {
        Some(LayerKind::Embedding { vocabulary, .. } | LayerKind::EmbeddingBag { vocabulary, .. }) => {
            Inputs::Tokens((0..count).map(|_| below(*vocabulary)).collect())
        }
        _ => Inputs::Real((0..count).map(|_| below(2001) as f32 / 1000.0 - 1.0).collect()),
    };
    let targets = match description.loss {
        Objective::CrossEntropy => Targets::Classes(vec![0; COUNT]),
        Objective::Squared => Targets::Numbers(vec![0.0; COUNT]),
        Objective::NextToken => Targets::Next(vec![0; count]),
    };
    Ok(Examples::new(&description.input, inputs, targets)?)
}

/// The numbers of all parameters that have any, by their names.
fn tensors(
    layout: &Layout,
    numbers: &[f32],
    range_of: impl Fn(usize) -> Option<Range<usize>>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut views = Vec::new();
    for (place, parameter) in layout.parameters().iter().enumerate() {
        let Some(range) = range_of(place) else { continue };
        let view =
            TensorView::new(Dtype::F32, parameter.shape.clone(), &bytes[4 * range.start..4 * range.end])?;
        views.push((parameter.name.as_str(), view));
    }
    Ok(serialize(views, None)?)
}
