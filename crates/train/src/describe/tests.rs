use super::*;
use proptest::prelude::*;

#[test]
fn presets_have_the_shapes_they_promise_and_survive_a_file() {
    for (name, _) in PRESETS {
        let (input, vocabulary): (&[usize], _) = match *name {
            "cnn-cifar" => (&[3, 32, 32], None),
            "bag-of-embeddings" | "transformer-text" | "lstm-text" | "lstm-lm" | "transformer-lm" => {
                (&[20], Some(100))
            }
            _ => (&[1, 28, 28], None),
        };
        let network = preset(name, input, vocabulary, 10).unwrap();
        let outputs = if is_language_model(name) { 20 * 100 } else { 10 };
        assert_eq!(network.outputs().unwrap(), outputs, "{name}");
        assert_eq!(network.loss == Objective::NextToken, is_language_model(name), "{name}");
        let text = network.to_toml().unwrap();
        assert_eq!(Description::from_toml(&text, "model.toml").unwrap(), network, "{text}");
    }
}

#[test]
fn layers_that_do_not_fit_are_named() {
    let refusal = |text: &str| Description::from_toml(text, "model.toml").unwrap_err().to_string();
    let message = refusal("input = [4]\n[[layer]]\nkind = \"batch-norm\"\n");
    assert!(
        message.starts_with("model.toml:3: layer 0 (batch-norm): ") && message.contains("use group-norm"),
        "{message}"
    );
    let message = refusal("input = [4]\n[[layer]]\nkind = \"conv2d\"\nout = 3\nkernel = [3, 3]\n");
    assert!(message.contains("it needs [channels, height, width]"), "{message}");
    let message = refusal("input = [1, 4, 4]\n[[layer]]\nkind = \"conv2d\"\nout = 3\nkernel = [5, 5]\n");
    assert!(message.contains("does not fit [4, 4]"), "{message}");
    let message = refusal("input = [4]\n[[layer]]\nkind = \"linear\"\nout = 0\n");
    assert!(message.contains("out is 0"), "{message}");
    let message = refusal("input = [4]\n[[layer]]\nkind = \"liner\"\nout = 2\n");
    assert!(message.contains("kind = \"liner\": unknown (did you mean \"linear\"?)"), "{message}");
    let message = refusal("input = [4]\n[[layer]]\nkind = \"linear\"\nout = 1\n");
    assert!(message.contains("at least two classes"), "{message}");
    let message = refusal("input = [0]\n");
    assert!(message.contains("input"), "{message}");
    let same = "[[layer]]\nkind = \"linear\"\nout = 2\nname = \"a\"\n";
    let message = refusal(&format!("input = [4]\n{same}{same}"));
    assert!(message.contains("is taken"), "{message}");
}

#[test]
fn layers_that_look_ahead_are_refused_for_next_tokens() {
    let table = LayerKind::Embedding { vocabulary: 6, out: 4 };
    let linear = LayerKind::Linear { out: 6, bias: true };
    let start = || Description { loss: Objective::NextToken, ..Description::reading(&[5]) };
    let inside = |kind: LayerKind| LayerKind::Residual { layer: vec![kind.into()] };
    let attention = |causal| LayerKind::Attention { heads: 2, causal };
    let block =
        |causal| LayerKind::Transformer { heads: 2, hidden: 3, dropout: 0.0, norm_first: true, causal };
    let refused = [
        (attention(false), "1 (attention)", "set causal = true"),
        (block(false), "1 (transformer)", "set causal = true"),
        (inside(attention(false)), "1.0 (attention)", "set causal = true"),
        (LayerKind::MeanTime, "1 (mean-time)", "leave it out"),
        (LayerKind::LastTime, "1 (last-time)", "leave it out"),
        (LayerKind::Flatten, "1 (flatten)", "leave it out"),
        (LayerKind::GlobalPool, "1 (global-pool)", "leave it out"),
        (LayerKind::GroupNorm { groups: 1 }, "1 (group-norm)", "use layer-norm"),
        (LayerKind::Transpose, "1 (transpose)", "causal = true"),
        (
            LayerKind::Conv1d {
                out: 5,
                kernel: 3,
                stride: 1,
                padding: 1,
                dilation: 1,
                groups: 1,
                bias: true,
            },
            "1 (conv1d)",
            "causal = true",
        ),
    ];
    for (kind, place, remedy) in refused {
        let network = start().then(table.clone()).then(kind).then(linear.clone());
        let message = network.check().unwrap_err().to_string();
        assert!(
            message.contains(place) && message.contains("see later tokens") && message.contains(remedy),
            "{message}"
        );
    }
    for kind in [attention(true), block(true), LayerKind::Lstm { hidden: 3 }, LayerKind::LayerNorm] {
        assert_eq!(start().then(table.clone()).then(kind).then(linear.clone()).outputs().unwrap(), 30);
    }
    let message = start().then(table.clone()).check().unwrap_err().to_string();
    assert!(message.contains("out = 6"), "{message}");
    let message = start().then(linear).check().unwrap_err().to_string();
    assert!(message.contains("begin with an embedding"), "{message}");
}

#[test]
fn residual_layers_keep_the_shape() {
    let inner = LayerKind::Residual { layer: vec![LayerKind::Linear { out: 5, bias: true }.into()] };
    let error = Description::reading(&[4]).then(inner).check().unwrap_err().to_string();
    assert!(error.contains("turn [4] into [5]"), "{error}");
}

/// A refusal with the line it is about, and what is underlined in it.
fn refused(text: &str) -> (String, String) {
    let error = Description::from_toml(text, "m.toml").unwrap_err();
    let place = match &error {
        TrainError::Toml(error) => *error.place.clone().unwrap(),
        TrainError::Described { place, .. } => (**place).clone(),
        other => panic!("{other}"),
    };
    let excerpt = place.excerpt();
    let lines: Vec<&str> = excerpt.lines().collect();
    let (from, to) = (lines[2].find('^').unwrap(), lines[2].rfind('^').unwrap());
    (error.to_string(), lines[1].chars().skip(from).take(to + 1 - from).collect())
}

#[test]
fn mistakes_are_underlined() {
    let linear = "input = [4]\n\n[[layer]]\nkind = \"linear\"\nout = 3\n\n";
    let cases = [
        ("input = 4", "m.toml:1: input = 4: give a list", "4"),
        ("input = [0]", "m.toml:1: input = [0]: give one to three dimensions", "[0]"),
        ("inputs = [4]", "m.toml:1: unknown key \"inputs\" (did you mean \"input\"?)", "inputs"),
        ("input = [4]\nloss = \"cross\"", "m.toml:2: loss = \"cross\": unknown", "\"cross\""),
        ("input = [4", "m.toml:1: not valid TOML: ", ""),
        ("LINEAR[[layer]]\nkind = \"relu\"\nout = 2", "m.toml:9: layer 1 (relu): unknown key \"out\"", "out"),
        (
            "LINEAR[[layer]]\nkind = \"linear\"\nouts = 2",
            "m.toml:9: layer 1 (linear): unknown key \"outs\" (did you mean \"out\"?)",
            "outs",
        ),
        ("LINEAR[[layer]]\nkind = \"linear\"", "m.toml:8: layer 1 (linear): missing key out", "\"linear\""),
        (
            "LINEAR[[layer]]\nkind = \"linear\"\nout = \"2\"",
            "m.toml:9: layer 1 (linear): out: give a whole number",
            "\"2\"",
        ),
        (
            "LINEAR[[layer]]\nkind = \"linear\"\nout = -2",
            "m.toml:9: layer 1 (linear): out: give a whole number",
            "-2",
        ),
        ("LINEAR[[layer]]\nkind = \"linear\"\nout = 0", "m.toml:9: layer 1 (linear): out is 0", "0"),
        (
            "LINEAR[[layer]]\nkind = \"dropout\"\nrate = 1.5",
            "m.toml:9: layer 1 (dropout): rate is 1.5",
            "1.5",
        ),
        (
            "LINEAR[[layer]]\nkind = \"conv2d\"\nout = 1\nkernel = 3",
            "m.toml:10: layer 1 (conv2d): kernel: give a list of two",
            "3",
        ),
        (
            "LINEAR[[layer]]\nkind = \"lstm\"\nhidden = 3",
            "m.toml:8: layer 1 (lstm): it reads [3]",
            "\"lstm\"",
        ),
        (
            "LINEAR[[layer]]\nkind = \"residual\"\n[[layer.layer]]\nkind = \"linear\"\nout = 0",
            "m.toml:11: layer 1.0 (linear): out is 0",
            "0",
        ),
        (
            "LINEAR[[layer]]\nkind = \"residual\"\n[[layer.layer]]\nkind = \"linear\"\nout = 5",
            "m.toml:8: layer 1 (residual): its layers turn",
            "\"residual\"",
        ),
        ("LINEAR[[layer]]\nout = 3", "m.toml:7: layer 1: missing key kind", "[[layer]]"),
        (
            "LINEAR[[layer]]\nkind = \"lstm\"\nhidden = 3\nlora = { rank = 2 }",
            "m.toml:10: layer 1 (lstm): only linear, attention and transformer layers have lora: leave it out",
            "lora",
        ),
        (
            "LINEAR[[layer]]\nkind = \"attention\"\nheads = 1\nlora = { alpha = 2 }",
            "m.toml:10: layer 1 (attention): lora: give a table such as { rank = 8, alpha = 16 }",
            "{ alpha = 2 }",
        ),
        (
            "input = [2, 4]\n[[layer]]\nkind = \"attention\"\nheads = 2\nlora = { rank = 0 }",
            "m.toml:5: layer 0 (attention): the rank of lora is 0",
            "{ rank = 0 }",
        ),
        (
            "input = [2, 4]\n[[layer]]\nkind = \"transformer\"\nheads = 2\nhidden = 3\nlora = { rank = 1, alpha = -1.0 }",
            "m.toml:6: layer 0 (transformer): alpha of lora is -1: give a number above 0",
            "{ rank = 1, alpha = -1.0 }",
        ),
    ];
    for (text, start, underlined) in cases {
        let (message, found) = refused(&text.replace("LINEAR", linear));
        assert!(message.starts_with(start) && !message.contains('\n'), "{message}");
        assert!(underlined.is_empty() || found == underlined, "{message}: {found}");
    }
}

#[test]
fn every_kind_and_key_is_known() {
    let pair = Some([2, 2]);
    let kinds = [
        LayerKind::Linear { out: 1, bias: false },
        LayerKind::Conv1d { out: 1, kernel: 1, stride: 1, padding: 0, dilation: 1, groups: 1, bias: false },
        LayerKind::Conv2d {
            out: 1,
            kernel: [1, 1],
            stride: [1, 1],
            padding: [0, 0],
            dilation: [1, 1],
            groups: 1,
            bias: false,
        },
        LayerKind::Embedding { vocabulary: 1, out: 1 },
        LayerKind::EmbeddingBag { vocabulary: 1, out: 1 },
        LayerKind::Position,
        LayerKind::LayerNorm,
        LayerKind::GroupNorm { groups: 1 },
        LayerKind::BatchNorm,
        LayerKind::Attention { heads: 1, causal: true },
        LayerKind::Transformer { heads: 1, hidden: 1, dropout: 0.5, norm_first: true, causal: true },
        LayerKind::Lstm { hidden: 1 },
        LayerKind::Gru { hidden: 1 },
        LayerKind::Relu,
        LayerKind::Tanh,
        LayerKind::Sigmoid,
        LayerKind::Gelu,
        LayerKind::Silu,
        LayerKind::TemperedSigmoid { scale: 1.0, temperature: 2.0, offset: 1.0 },
        LayerKind::MaxPool { kernel: [2, 2], stride: pair },
        LayerKind::AveragePool { kernel: [2, 2], stride: pair },
        LayerKind::GlobalPool,
        LayerKind::Dropout { rate: 0.5 },
        LayerKind::Flatten,
        LayerKind::Transpose,
        LayerKind::MeanTime,
        LayerKind::LastTime,
        LayerKind::Residual { layer: vec![LayerKind::Relu.into()] },
    ];
    for kind in kinds {
        let layer = Layer { name: Some("n".to_owned()), frozen: true, kind, lora: None };
        let text = Description::reading(&[4]).then(layer.clone()).to_toml().unwrap();
        assert_eq!(locate::check(&text, "m.toml"), Ok(()), "{text}");
        // The check asks for no more than the reader, and the reader reads what passes.
        assert_eq!(toml::from_str::<Description>(&text).unwrap().layers, [layer]);
    }
}

#[test]
fn low_rank_updates_survive_a_file_and_other_layers_refuse_them() {
    let adapted = |kind: LayerKind| Layer { lora: Some(Lora { rank: 2, alpha: Some(3.0) }), ..kind.into() };
    let block = LayerKind::Transformer { heads: 2, hidden: 3, dropout: 0.1, norm_first: true, causal: false };
    let attention = LayerKind::Attention { heads: 2, causal: false };
    let linear = |out| LayerKind::Linear { out, bias: true };
    let network = Description::reading(&[3, 4])
        .then(adapted(block))
        .then(LayerKind::Residual { layer: vec![adapted(attention), adapted(linear(4))] })
        .then(LayerKind::MeanTime)
        .then(linear(2));
    let text = network.to_toml().unwrap();
    assert_eq!(Description::from_toml(&text, "m.toml").unwrap(), network, "{text}");
    let kinds = [
        LayerKind::Lstm { hidden: 4 },
        LayerKind::Gru { hidden: 4 },
        LayerKind::Conv1d { out: 3, kernel: 1, stride: 1, padding: 0, dilation: 1, groups: 1, bias: true },
        LayerKind::LayerNorm,
        LayerKind::Residual { layer: vec![linear(4).into()] },
    ];
    for kind in kinds {
        let word = kind.word();
        let refusal = Description::reading(&[3, 4]).then(adapted(kind)).check().unwrap_err().to_string();
        assert!(refusal.contains(&format!("0 ({word}): {}", shape::NO_LORA)), "{refusal}");
    }
    for kind in ["embedding", "embedding-bag"] {
        let text = format!(
            "input = [4]\n[[layer]]\nkind = {kind:?}\nvocabulary = 5\nout = 3\nlora = {{ rank = 2 }}\n"
        );
        let refusal = Description::from_toml(&text, "m.toml").unwrap_err().to_string();
        assert!(refusal.contains(shape::NO_LORA), "{refusal}");
    }
}

/// Sizes near every edge: small ones, powers of two, the largest there are.
fn any_size() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..9,
        2 => (0u32..64).prop_map(|bits| 1usize << bits),
        1 => (0u32..64).prop_map(|bits| (1usize << bits).wrapping_sub(1)),
        1 => Just(usize::MAX),
        1 => Just(9_007_199_254_740_993),
        1 => any::<usize>(),
    ]
}

fn any_pair() -> impl Strategy<Value = [usize; 2]> {
    [any_size(), any_size()]
}

fn any_kind() -> impl Strategy<Value = LayerKind> {
    let size = any_size;
    let convolution = || (size(), any_pair(), any_pair(), any_pair(), any_pair(), size());
    prop_oneof![
        (size(), any::<bool>()).prop_map(|(out, bias)| LayerKind::Linear { out, bias }),
        convolution().prop_map(|(out, kernel, stride, padding, dilation, groups)| LayerKind::Conv1d {
            out,
            kernel: kernel[0],
            stride: stride[0],
            padding: padding[0],
            dilation: dilation[0],
            groups,
            bias: true,
        }),
        convolution().prop_map(|(out, kernel, stride, padding, dilation, groups)| LayerKind::Conv2d {
            out,
            kernel,
            stride,
            padding,
            dilation,
            groups,
            bias: false,
        }),
        (size(), size()).prop_map(|(vocabulary, out)| LayerKind::Embedding { vocabulary, out }),
        (size(), size()).prop_map(|(vocabulary, out)| LayerKind::EmbeddingBag { vocabulary, out }),
        size().prop_map(|groups| LayerKind::GroupNorm { groups }),
        size().prop_map(|heads| LayerKind::Attention { heads, causal: false }),
        (size(), size()).prop_map(|(heads, hidden)| LayerKind::Transformer {
            heads,
            hidden,
            dropout: 0.0,
            norm_first: true,
            causal: false,
        }),
        size().prop_map(|hidden| LayerKind::Lstm { hidden }),
        size().prop_map(|hidden| LayerKind::Gru { hidden }),
        (any_pair(), proptest::option::of(any_pair()))
            .prop_map(|(kernel, stride)| LayerKind::MaxPool { kernel, stride }),
        (any_pair(), proptest::option::of(any_pair()))
            .prop_map(|(kernel, stride)| LayerKind::AveragePool { kernel, stride }),
        proptest::sample::select(vec![
            LayerKind::Position,
            LayerKind::LayerNorm,
            LayerKind::Relu,
            LayerKind::Gelu,
            LayerKind::GlobalPool,
            LayerKind::Flatten,
            LayerKind::Transpose,
            LayerKind::MeanTime,
            LayerKind::LastTime,
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the sizes, a description is refused in words or becomes a network: nothing wraps, panics or is too large.
    #[test]
    fn no_size_is_too_absurd_to_be_refused(
        input in proptest::collection::vec(any_size(), 1..4),
        kinds in proptest::collection::vec((any_kind(), proptest::option::of(any_size())), 0..4),
        nested in any::<bool>(),
    ) {
        let mut description = Description::reading(&input);
        for (kind, rank) in kinds {
            let takes_updates =
                matches!(kind, LayerKind::Linear { .. } | LayerKind::Attention { .. } | LayerKind::Transformer { .. });
            let lora = rank.filter(|_| takes_updates).map(|rank| Lora { rank, alpha: Some(2.0) });
            let layer = Layer { lora, ..kind.into() };
            description = match nested {
                true => description.then(LayerKind::Residual { layer: vec![layer] }),
                false => description.then(layer),
            };
        }
        let resources = crate::Resources { threads: 1, chunk: None };
        // Descriptions that end in another shape than one of classes are refused for that, after their sizes.
        if let Ok(network) = crate::native::Network::new(description.clone(), resources) {
            use crate::engine::Passes as _;
            prop_assert!(network.layout().weights() as u128 <= MOST_WEIGHTS);
        }
        let whole = description.then(LayerKind::Flatten).then(LayerKind::Linear { out: 2, bias: true });
        if let Ok(mut network) = crate::native::Network::new(whole.clone(), resources) {
            use crate::engine::Passes as _;
            let mut need = size::Need::default();
            shape::outputs(&whole.layers, whole.input.clone(), "", &mut need).unwrap();
            prop_assert!(network.layout().weights() as u128 <= need.weights && need.weights <= MOST_WEIGHTS);
            // Small ones are run, too.
            let numbers = whole.input.iter().product();
            if need.weights < 1 << 16 && need.numbers < 1 << 18 && numbers < 1 << 16 {
                let inputs = match whole.reads_tokens() {
                    true => crate::Inputs::Tokens(vec![0; numbers]),
                    false => crate::Inputs::Real(vec![0.5; numbers]),
                };
                let example = crate::Examples::new(&whole.input, inputs, crate::Targets::Classes(vec![0])).unwrap();
                let weights = network.initial_weights().unwrap();
                prop_assert_eq!(network.outputs(&weights, &example, &[0]).unwrap().len(), 2);
            }
        }
    }
}

#[test]
fn the_network_has_as_many_weights_as_were_checked() {
    use crate::engine::Passes as _;
    let text = |length: usize| Description { input: vec![length], ..Description::reading(&[length]) };
    let adapted = |kind: LayerKind| Layer { lora: Some(Lora { rank: 3, alpha: None }), ..kind.into() };
    let block = LayerKind::Transformer { heads: 3, hidden: 5, dropout: 0.0, norm_first: true, causal: false };
    let networks = [
        preset("cnn-cifar", &[3, 32, 32], None, 10).unwrap(),
        preset("transformer-text", &[20], Some(100), 3).unwrap(),
        preset("lstm-text", &[20], Some(100), 3).unwrap(),
        text(7)
            .then(LayerKind::Embedding { vocabulary: 9, out: 6 })
            .then(LayerKind::Gru { hidden: 5 })
            .then(LayerKind::LayerNorm)
            .then(LayerKind::Transpose)
            .then(LayerKind::GroupNorm { groups: 5 })
            .then(LayerKind::Flatten)
            .then(LayerKind::Linear { out: 2, bias: true }),
        text(7)
            .then(LayerKind::Embedding { vocabulary: 9, out: 6 })
            .then(adapted(LayerKind::Attention { heads: 2, causal: true }))
            .then(adapted(block))
            .then(LayerKind::MeanTime)
            .then(adapted(LayerKind::Linear { out: 2, bias: true })),
    ];
    for network in networks {
        let mut whole = size::Need::default();
        shape::outputs(&network.layers, network.input.clone(), "", &mut whole).unwrap();
        let resources = crate::Resources { threads: 1, chunk: None };
        let built = crate::native::Network::new(network, resources).unwrap();
        assert_eq!(whole.weights, built.layout().weights() as u128);
    }
}

#[test]
fn absurd_sizes_are_refused_at_their_place() {
    let refusal = |text: &str| Description::from_toml(text, "model.toml").unwrap_err().to_string();
    let message = refusal("input = [9007199254740993]\n[[layer]]\nkind = \"linear\"\nout = 2\n");
    assert!(message.starts_with("model.toml:1: input") && message.contains("at most 16777216"), "{message}");
    let message = refusal(
        "input = [1, 4, 4]\n[[layer]]\nkind = \"conv2d\"\nout = 3\nkernel = [1, 1]\nstride = [16777216, 16777216]\n",
    );
    assert!(
        message.contains("layer 0 (conv2d): one example would need more than 134217728 numbers"),
        "{message}"
    );
    let message = refusal("input = [65536]\n[[layer]]\nkind = \"linear\"\nout = 65536\n");
    assert!(
        message.contains("layer 0 (linear): the network would have more than 268435456 weights"),
        "{message}"
    );
    let many = "[[layer]]\nkind = \"relu\"\n".repeat(5000);
    assert!(refusal(&format!("input = [4]\n{many}")).contains("more than 4096 layers"));
    let deep = format!("{}{}", "{kind=\"residual\",layer=[".repeat(3000), "]}".repeat(3000));
    assert!(Description::from_toml(&format!("input = [4]\nlayer = [{deep}]\n"), "model.toml").is_err());
}
