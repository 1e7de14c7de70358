//! Low-rank updates of linear layers, attention and transformer blocks: where they start, and what they train.

use crate::model::{private, recipe, settings};
use reticent_testkit::contract;
use reticent_testkit::emulator::Emulator;
use reticent_train::cuda::engine_on;
use reticent_train::describe::{Layer, LayerKind, Lora};
use reticent_train::{
    Baseline, Batching, Description, Device, Engine, Examples, GivenWeights, Inputs, Layout, Mapping,
    PlanSettings, PrivacyPlan, Recipe, Resources, Schedule, Targets, Trainer, Units, Weights, engine,
    save_weights,
};
use std::sync::Arc;

const LENGTH: usize = 6;
const UPDATE: Lora = Lora { rank: 2, alpha: Some(6.0) };

/// A network of texts, whose middle layers have this update, if any.
fn network(lora: Option<Lora>) -> Description {
    let layer = |kind: LayerKind| Layer { lora, ..kind.into() };
    let block =
        |norm_first| LayerKind::Transformer { heads: 2, hidden: 12, dropout: 0.0, norm_first, causal: false };
    let linear = |out| LayerKind::Linear { out, bias: true };
    let table = LayerKind::Embedding { vocabulary: 9, out: 8 };
    Description::reading(&[LENGTH])
        .then(Layer { frozen: true, ..table.into() })
        .then(layer(block(false)))
        .then(layer(block(true)))
        .then(layer(LayerKind::Attention { heads: 4, causal: true }))
        .then(layer(linear(8)))
        .then(LayerKind::MeanTime)
        .then(Layer { name: Some("head".to_owned()), ..linear(3).into() })
}

/// The names of the updates, in the order of the layout.
fn updates() -> Vec<String> {
    let parts = [
        "1.self_attn.in_proj",
        "1.self_attn.out_proj",
        "2.self_attn.in_proj",
        "2.self_attn.out_proj",
        "3.in_proj",
        "3.out_proj",
        "4",
    ];
    parts.iter().flat_map(|part| [format!("{part}.lora_a"), format!("{part}.lora_b")]).collect()
}

fn trained(layout: &Layout) -> Vec<&str> {
    layout.parameters().iter().filter(|own| own.trainable).map(|own| own.name.as_str()).collect()
}

fn cpu(description: &Description) -> Box<dyn Engine> {
    engine(description, Device::Cpu, Resources::SINGLE).unwrap()
}

fn emulated(description: &Description) -> Box<dyn Engine> {
    engine_on(Box::new(Emulator::new()), description, Resources::SINGLE).unwrap()
}

/// Texts whose tokens tell their class.
fn texts(count: usize) -> Arc<Examples> {
    let token = |place: usize| (place / LENGTH % 3 * 3 + place * 7 % 3) as u32;
    let inputs = Inputs::Tokens((0..count * LENGTH).map(token).collect());
    let classes = Targets::Classes((0..count).map(|example| (example % 3) as u32).collect());
    Arc::new(Examples::new(&[LENGTH], inputs, classes).unwrap())
}

#[test]
fn a_network_with_updates_starts_as_the_one_whose_weights_it_is_given() {
    let (plain, adapted) = (network(None), network(Some(UPDATE)));
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("model.safetensors");
    let base = cpu(&plain);
    let given = base.initial_weights().unwrap();
    save_weights(&file, base.layout(), &given).unwrap();
    let layout = cpu(&adapted).layout().clone();
    let mut weights = cpu(&adapted).initial_weights().unwrap();
    let file = GivenWeights::read(&file).unwrap();
    let start = file.apply(&Mapping::default(), &layout, &mut weights).unwrap();
    assert_eq!((start.random, start.unused), (updates(), Vec::new()));
    for (theirs, ours) in &start.taken {
        assert_eq!(theirs, ours);
    }
    let examples = contract::examples(&plain, 10, 4);
    let which: Vec<usize> = (0..10).collect();
    for make in [cpu, emulated] {
        let outputs = |description: &Description, weights: &[f32]| {
            let mut engine = make(description);
            engine.load_weights(weights).unwrap();
            engine.outputs(Weights::Current, &examples, &which).unwrap()
        };
        assert_eq!(outputs(&plain, &given), outputs(&adapted, &weights));
    }
}

#[test]
fn only_updates_are_trained_and_all_else_of_their_layers_stays_bit_for_bit() {
    let description = network(Some(UPDATE));
    let layout = cpu(&description).layout().clone();
    let mut expected = updates();
    expected.extend(["head.weight".to_owned(), "head.bias".to_owned()]);
    assert_eq!(trained(&layout), expected);
    let settings = PlanSettings { dimension: layout.gradients(), ..settings(200, 0.2, 4) };
    let plan = PrivacyPlan::new(settings, 1.0, 1e-5).unwrap();
    for make in [cpu, emulated] {
        let (examples, units) = (texts(200), Units::examples(200));
        let mut trainer = private(make(&description), examples, units, plan.clone(), recipe()).unwrap();
        let before = trainer.weights().unwrap();
        while !trainer.is_finished() {
            trainer.step().unwrap();
        }
        let after = trainer.weights().unwrap();
        for (place, parameter) in layout.parameters().iter().enumerate() {
            let own = |weights: &[f32]| -> Vec<u32> {
                weights[layout.weight_range(place)].iter().map(|weight| weight.to_bits()).collect()
            };
            // Noise moves every trained array; that it moves none of its numbers has a probability below 1e-6.
            assert_eq!(own(&before) == own(&after), !parameter.trainable, "{}", parameter.name);
        }
    }
}

#[test]
fn updates_alone_learn() {
    let mut description = network(Some(UPDATE));
    description.freeze = vec!["head".to_owned(), "4".to_owned()];
    let network = cpu(&description);
    assert_eq!(trained(network.layout()), updates()[..12]);
    let baseline = Baseline::new(Batching::Shuffled { size: 30 }, 200);
    let recipe = Recipe { schedule: Schedule::constant(0.02), ..recipe() };
    let mut trainer =
        Trainer::non_private(network, texts(90), Units::examples(90), baseline, recipe).unwrap();
    let start = trainer.evaluate(&texts(90)).unwrap().loss;
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    let found = trainer.evaluate(&texts(90)).unwrap();
    assert!(found.loss < 0.5 * start, "{start} {}", found.loss);
}

#[test]
fn updates_are_frozen_by_name_and_with_their_layer() {
    let left = |freeze: &[&str]| {
        let freeze = freeze.iter().map(|name| (*name).to_owned()).collect();
        let description = Description { freeze, ..network(Some(UPDATE)) };
        trained(cpu(&description).layout()).len()
    };
    let all = left(&[]);
    for (name, frozen) in [
        ("1", 4),
        ("1.self_attn", 4),
        ("1.self_attn.in_proj", 2),
        ("1.self_attn.in_proj.lora_a", 1),
        ("3.out_proj", 2),
        ("1.linear1", 0),
        ("1.norm1", 0),
    ] {
        assert_eq!(left(&[name]), all - frozen, "{name}");
    }
    let mut whole = network(Some(UPDATE));
    whole.layers[1].frozen = true;
    assert_eq!(trained(cpu(&whole).layout()).len(), all - 4);
}
