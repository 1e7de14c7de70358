use super::*;
use crate::describe::{Layer, LayerKind};

fn linear(out: usize) -> LayerKind {
    LayerKind::Linear { out, bias: true }
}

#[test]
fn buffers_weights_and_gradients_follow_one_another() {
    let frozen = Layer { frozen: true, ..linear(4).into() };
    let graph =
        Graph::new(&Description::reading(&[3]).then(frozen).then(LayerKind::Relu).then(linear(2))).unwrap();
    assert_eq!((graph.sizes(), graph.outputs()), (&[3, 4, 2][..], 2));
    assert_eq!(graph.shapes(), [vec![3], vec![4], vec![2]]);
    let [first, relu, last] = graph.nodes() else { panic!("{:?}", graph.nodes()) };
    assert_eq!(first.operation, Operation::Linear { inner: 3, out: 4, places: 1, bias: true });
    assert_eq!((first.weights.clone(), &first.trained), (0..16, &None));
    // In place, and nothing below is trained.
    assert_eq!((relu.operation, relu.input, relu.output), (Operation::Activation(Activation::Relu), 1, 1));
    assert_eq!((last.weights.clone(), last.below), (16..26, false));
    assert_eq!(last.trained, Some(GradientPlace { gradient: 0..10, group: 0 }));
    assert_eq!((graph.layout().weights(), graph.layout().gradients()), (26, 10));
}

#[test]
fn a_residual_connection_adds_the_gradients_of_both_ways() {
    let inner = LayerKind::Residual { layer: vec![linear(3).into(), LayerKind::Tanh.into()] };
    let graph = Graph::new(&Description::reading(&[3]).then(linear(3)).then(inner).then(linear(2))).unwrap();
    let add = graph.nodes().iter().find(|node| matches!(node.operation, Operation::Add { .. })).unwrap();
    let Operation::Add { skip } = add.operation else { panic!() };
    // The gradient goes to the skipped buffer first; the branch's linear layer adds its own to it.
    assert_eq!((skip, add.skip, add.below), (1, Some(false), true));
    let branch = graph.nodes().iter().find(|node| node.input == skip && node.trained.is_some()).unwrap();
    assert!(branch.below && branch.add);
}

#[test]
fn what_must_stay_is_copied_before_an_activation_overwrites_it() {
    let graph = Graph::new(
        &Description::reading(&[4])
            .then(LayerKind::Residual { layer: vec![LayerKind::Relu.into()] })
            .then(linear(2)),
    )
    .unwrap();
    assert_eq!(graph.nodes()[0].operation, Operation::Copy);
    assert_eq!(graph.nodes()[1].operation, Operation::Activation(Activation::Relu));
    assert_ne!(graph.nodes()[1].output, 0);
    assert!(graph.is_repeatable());
    let dropping = Description::reading(&[4]).then(LayerKind::Dropout { rate: 0.5 }).then(linear(2));
    assert!(!Graph::new(&dropping).unwrap().is_repeatable());
}

#[test]
fn one_linear_layer_on_features_starts_at_0_unless_it_has_a_low_rank_update() {
    let text = |lora: &str| {
        format!(
            "input = [1, 8, 8]\n[features]\nkind = \"scatternet\"\n[[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \"linear\"\nout = 2\n{lora}"
        )
    };
    let starts = |lora: &str| {
        let description = Description::from_toml(&text(lora), "model.toml").unwrap();
        Graph::new(&description).unwrap().starts().to_vec()
    };
    assert_eq!(starts(""), [Start::Constant(0.0); 2]);
    let adapted = starts("lora = { rank = 2 }");
    assert!(matches!(adapted[2], Start::Uniform(_)) && adapted[3] == Start::Constant(0.0), "{adapted:?}");
}
