use super::*;

#[test]
fn presets_have_the_shapes_they_promise_and_survive_a_file() {
    for (name, _) in PRESETS {
        let (input, vocabulary): (&[usize], _) = match *name {
            "cnn-cifar" => (&[3, 32, 32], None),
            "transformer-text" | "lstm-text" => (&[20], Some(100)),
            _ => (&[1, 28, 28], None),
        };
        let network = preset(name, input, vocabulary, 10).unwrap();
        assert_eq!(network.outputs().unwrap(), 10, "{name}");
        let text = network.to_toml().unwrap();
        assert_eq!(Description::from_toml(&text, "model.toml").unwrap(), network, "{text}");
    }
}

#[test]
fn layers_that_do_not_fit_are_named() {
    let refusal = |text: &str| Description::from_toml(text, "model.toml").unwrap_err().to_string();
    let message = refusal("input = [4]\n[[layer]]\nkind = \"batch-norm\"\n");
    assert!(message.starts_with("layer 0 (batch-norm): ") && message.contains("use group-norm"), "{message}");
    let message = refusal("input = [4]\n[[layer]]\nkind = \"conv2d\"\nout = 3\nkernel = [3, 3]\n");
    assert!(message.contains("it needs [channels, height, width]"), "{message}");
    let message = refusal("input = [1, 4, 4]\n[[layer]]\nkind = \"conv2d\"\nout = 3\nkernel = [5, 5]\n");
    assert!(message.contains("does not fit [4, 4]"), "{message}");
    let message = refusal("input = [4]\n[[layer]]\nkind = \"linear\"\nout = 0\n");
    assert!(message.contains("out is 0"), "{message}");
    let message = refusal("input = [4]\n[[layer]]\nkind = \"liner\"\nout = 2\n");
    assert!(message.contains("unknown variant `liner`"), "{message}");
    let message = refusal("input = [4]\n[[layer]]\nkind = \"linear\"\nout = 1\n");
    assert!(message.contains("at least two classes"), "{message}");
    let message = refusal("input = [0]\n");
    assert!(message.contains("input"), "{message}");
    let same = "[[layer]]\nkind = \"linear\"\nout = 2\nname = \"a\"\n";
    let message = refusal(&format!("input = [4]\n{same}{same}"));
    assert!(message.contains("is taken"), "{message}");
}

#[test]
fn residual_layers_keep_the_shape() {
    let inner = Kind::Residual { layer: vec![Kind::Linear { out: 5, bias: true }.into()] };
    let error = Description::reading(&[4]).then(inner).check().unwrap_err().to_string();
    assert!(error.contains("turn [4] into [5]"), "{error}");
}
