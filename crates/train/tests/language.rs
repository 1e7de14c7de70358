//! Language models: no position sees a later one, and only scored positions count.

use crate::contract::{layout, weights};
use reticent_testkit::contract::{self, network};
use reticent_testkit::emulator::Emulator;
use reticent_train::cuda::engine_on;
use reticent_train::describe::{LayerKind, Objective, preset};
use reticent_train::inspect::{Inspection, Inspector};
use reticent_train::{
    Clipping, Description, Device, Engine, Examples, Inputs, Resources, Selection, Targets, UNSCORED,
    Weights, engine, evaluate,
};

const LENGTH: usize = 6;
const VOCABULARY: usize = 9;

/// Small language models of every kind of layer that looks back.
fn networks() -> Vec<Description> {
    let block =
        |norm_first| LayerKind::Transformer { heads: 2, hidden: 5, dropout: 0.0, norm_first, causal: true };
    let kinds = [
        vec![LayerKind::Lstm { hidden: 5 }],
        vec![LayerKind::Gru { hidden: 5 }, LayerKind::LayerNorm],
        vec![LayerKind::Position, LayerKind::Attention { heads: 2, causal: true }, LayerKind::Gelu],
        vec![LayerKind::Position, block(true), block(false)],
    ];
    let start = || {
        let table = LayerKind::Embedding { vocabulary: VOCABULARY, out: 4 };
        Description { loss: Objective::NextToken, ..Description::reading(&[LENGTH]) }.then(table)
    };
    let end = LayerKind::Linear { out: VOCABULARY, bias: true };
    kinds
        .into_iter()
        .map(|kinds| kinds.into_iter().fold(start(), Description::then).then(end.clone()))
        .collect()
}

/// The engine of the CPU, and that of GPUs on their emulator.
fn engines(description: &Description) -> [Box<dyn Engine>; 2] {
    [
        engine(description, Device::Cpu, Resources::SINGLE).unwrap(),
        engine_on(Box::new(Emulator::new()), description, Resources::SINGLE).unwrap(),
    ]
}

fn with_next(inputs: Vec<u32>, next: Vec<u32>) -> Examples {
    Examples::new(&[LENGTH], Inputs::Tokens(inputs), Targets::Next(next)).unwrap()
}

/// The first position whose scores change when the token at `place` does.
fn first_change(engine: &mut dyn Engine, place: usize) -> Option<usize> {
    let tokens = [3, 1, 4, 1, 5, 2];
    let mut other = tokens;
    other[place] = 8;
    let examples = with_next([tokens, other].concat(), vec![0; 2 * LENGTH]);
    let scores = engine.outputs(Weights::Current, &examples, &[0, 1]).unwrap();
    let (one, two) = scores.split_at(LENGTH * VOCABULARY);
    let differs = |at: &usize| {
        let range = at * VOCABULARY..(at + 1) * VOCABULARY;
        one[range.clone()] != two[range]
    };
    (0..LENGTH).find(differs)
}

#[test]
fn no_position_sees_a_later_token() {
    for description in networks() {
        for mut engine in engines(&description) {
            engine.load_weights(&weights(&layout(&description), 3)).unwrap();
            for place in 0..LENGTH {
                assert_eq!(first_change(&mut *engine, place), Some(place), "{description:?}");
            }
        }
    }
}

/// The test above can fail: without the mask, the first position sees the last token.
#[test]
fn attention_that_is_not_causal_sees_later_tokens() {
    let description = Description::reading(&[LENGTH])
        .then(LayerKind::Embedding { vocabulary: VOCABULARY, out: 4 })
        .then(LayerKind::Attention { heads: 2, causal: false })
        .then(LayerKind::Linear { out: VOCABULARY, bias: true })
        .then(LayerKind::Flatten);
    for mut engine in engines(&description) {
        engine.load_weights(&weights(&layout(&description), 3)).unwrap();
        let tokens = vec![3, 1, 4, 1, 5, 2, 3, 1, 4, 1, 5, 8];
        let examples =
            Examples::new(&[LENGTH], Inputs::Tokens(tokens), Targets::Classes(vec![0, 0])).unwrap();
        let scores = engine.outputs(Weights::Current, &examples, &[0, 1]).unwrap();
        let (one, two) = scores.split_at(LENGTH * VOCABULARY);
        assert!(one[..VOCABULARY] != two[..VOCABULARY]);
    }
}

#[test]
fn an_example_without_a_scored_position_adds_nothing() {
    for description in networks() {
        let weights = weights(&layout(&description), 3);
        let examples = with_next(vec![2; 2 * LENGTH], [vec![UNSCORED; LENGTH], vec![1; LENGTH]].concat());
        for mut engine in engines(&description) {
            engine.load_weights(&weights).unwrap();
            for clipping in [None, Some(Clipping::Flat { norm: 1.0 })] {
                let mut sum = |which: Vec<usize>| {
                    let selection = Selection::of_examples(which);
                    engine.sum(&examples, &selection, clipping.as_ref(), &|| ()).unwrap();
                    engine.read_sum().unwrap()
                };
                assert!(sum(vec![0]).iter().all(|g| *g == 0.0));
                assert!(sum(vec![1]).iter().any(|g| *g != 0.0));
            }
        }
        let mut inspector = Inspector::new(&description, Resources::SINGLE).unwrap();
        let wanted = Inspection { losses: true, ..Inspection::default() };
        let losses = inspector.inspect(&weights, &examples, &[0, 1], &wanted).unwrap().losses.unwrap();
        assert!(losses[0] == 0.0 && losses[1] > 0.0, "{losses:?}");
    }
}

#[test]
fn loss_and_accuracy_are_means_over_scored_tokens() {
    let description = networks().swap_remove(0);
    let layout = layout(&description);
    let weights = weights(&layout, 3);
    let examples = contract::examples(&description, 5, 4);
    let Targets::Next(next) = examples.targets() else { panic!() };
    let counts: Vec<usize> =
        next.chunks(LENGTH).map(|next| next.iter().filter(|token| **token != UNSCORED).count()).collect();
    let total: f64 = (0..5)
        .map(|i| counts[i] as f64 * network::pass(&description, &layout, &weights, &examples, i).loss)
        .sum();
    let scored: usize = counts.iter().sum();
    assert!(scored < 5 * LENGTH);
    for mut engine in engines(&description) {
        engine.load_weights(&weights).unwrap();
        let found = evaluate(&mut *engine, Weights::Current, &examples).unwrap();
        assert!((found.loss - total / scored as f64).abs() < 1e-5);
        assert_eq!((found.examples, found.tokens), (5, Some(scored as u64)));
        assert!((found.perplexity().unwrap().ln() - found.loss).abs() < 1e-12);
        assert!(found.accuracy.is_some_and(|share| (0.0..=1.0).contains(&share)));
        let silent = with_next(vec![0; LENGTH], vec![UNSCORED; LENGTH]);
        assert!(evaluate(&mut *engine, Weights::Current, &silent).is_err());
    }
}

#[test]
fn targets_that_do_not_fit_are_refused() {
    let tokens = || Inputs::Tokens(vec![0; 2 * LENGTH]);
    assert!(Examples::new(&[LENGTH], tokens(), Targets::Next(vec![0; LENGTH])).is_err());
    assert!(Examples::new(&[2], Inputs::Real(vec![0.0; 4]), Targets::Next(vec![0; 4])).is_err());
    let description = networks().swap_remove(0);
    let engine = engine(&description, Device::Cpu, Resources::SINGLE).unwrap();
    let labelled = Examples::new(&[LENGTH], tokens(), Targets::Classes(vec![0, 0])).unwrap();
    assert!(engine.check(&labelled).unwrap_err().to_string().contains("the next token of every position"));
    let far = with_next(vec![0; LENGTH], vec![VOCABULARY as u32; LENGTH]);
    assert!(engine.check(&far).unwrap_err().to_string().contains("outside the vocabulary of 9"));
    let classifier = preset("lstm-text", &[LENGTH], Some(VOCABULARY), 2).unwrap();
    let engine = reticent_train::engine(&classifier, Device::Cpu, Resources::SINGLE).unwrap();
    let next = with_next(vec![0; LENGTH], vec![0; LENGTH]);
    assert!(engine.check(&next).unwrap_err().to_string().contains("loss = \"next-token\""));
}
