use super::{Folder, json, refusal, stdout};

fn texts(count: usize) -> String {
    let mut text = "label,text\n".to_owned();
    for row in 0..count {
        text += match row % 4 {
            0 => "spam,\"WIN a free prize, call now!\"\n",
            1 => "ham,see you at the station\n",
            2 => "spam,free cash now\n",
            _ => "ham,\"are you home? I am at the office\"\n",
        };
    }
    text
}

#[test]
fn texts_are_learnt_with_a_public_vocabulary() {
    let folder = Folder::new();
    let (data, out) = (folder.file("sms.csv", texts(400)), folder.path("run"));
    let words = folder.file("words.txt", "free\nwin\n!\ncall\nyou\nat\nthe\n");
    let base = ["train", &data, "--text-column", "text", "--label", "label", "--classes", "ham,spam"];
    let more = [
        "--vocabulary",
        &words,
        "--length",
        "8",
        "--dataset-size",
        "400",
        "--batch-size",
        "40",
        "--epochs",
        "6",
    ];
    let given = [&base[..], &more, &["--epsilon", "8", "--delta", "1e-4"]].concat();
    let answer = json(
        &[&given[..], &["--model", "logistic", "--optimizer", "adam", "--lr", "0.05", "--out", &out]]
            .concat(),
    );
    assert!(answer["accuracy"].is_null() && answer["tested"] == "not at all", "{answer}");
    let public = answer["certificate"]["public"].to_string();
    assert!(public.contains("vocabulary"), "{public}");
    assert!(json(&["evaluate", &out, &data])["accuracy"].as_f64().unwrap() > 0.95);
    let fresh = folder.file("new.csv", "text\nfree free !\n");
    assert!(stdout(&["predict", &out, &fresh]).contains("spam,"));
    assert!(folder.read("run/run.toml").contains("vocabulary = \"vocabulary.txt\""));
    assert_eq!(folder.read("run/vocabulary.txt"), folder.read("words.txt"));
    for model in ["lstm-text", "transformer-text", "mlp"] {
        let few = [&base[..], &more[..8], &["--steps", "2", "--epsilon", "8", "--delta", "1e-4"]].concat();
        assert_eq!(json(&[&few[..], &["--model", model]].concat())["steps"], 2, "{model}");
    }
}

/// What a folder says about sizes is checked before anything of that size is made; weights that are not numbers are refused.
#[test]
fn absurd_and_exploded_models_are_refused() {
    let folder = Folder::new();
    let (data, out) = (folder.file("sms.csv", texts(40)), folder.path("run"));
    let words = folder.file("words.txt", "free\nwin\n");
    let base = ["train", &data, "--text-column", "text", "--label", "label", "--classes", "ham,spam"];
    let more =
        ["--vocabulary", &words, "--length", "8", "--model", "logistic", "--steps", "3", "--non-private"];
    json(&[&base[..], &more, &["--batch-size", "10", "--out", &out]].concat());
    let (about, toml) = (folder.read("run/model.json"), folder.read("run/model.toml"));
    let refused = |name: &str, text: String, expected: &str| {
        std::fs::write(folder.path(name), text).unwrap();
        for verb in ["predict", "evaluate"] {
            let said = refusal(&[verb, &out, &data]);
            assert!(said.contains(expected), "{said}");
        }
    };
    for length in ["18446744073709551615", "9", "0"] {
        refused(
            "run/model.json",
            about.replace("\"length\": 8", &format!("\"length\": {length}")),
            "do not fit the input",
        );
    }
    std::fs::write(folder.path("run/model.json"), &about).unwrap();
    refused("run/model.toml", toml.replace("[8]", "[9007199254740993]"), "at most 16777216");
    std::fs::write(folder.path("run/model.toml"), &toml).unwrap();
    // A learning rate that lets the weights explode.
    let wild = folder.path("wild");
    let lr =
        ["--lr", "1e6", "--momentum", "0.9", "--batch-size", "10", "--validation", &data, "--out", &wild];
    let answer =
        json(&[&base[..], &more[..4], &["--model", "mlp", "--steps", "30", "--non-private"], &lr].concat());
    assert!(answer["warnings"].to_string().contains("the training has diverged"), "{answer}");
    assert!(answer["accuracy"].is_null() && answer["loss"].is_null(), "{answer}");
    for verb in ["predict", "evaluate"] {
        let output = super::reticent(&[verb, &wild, &data]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("not finite") || said.contains("not a finite number"), "{said}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains(",1\n"), "sure answers");
    }
}

#[test]
fn canaries_among_texts_are_refused_at_once() {
    let folder = Folder::new();
    let (data, out) = (folder.file("sms.csv", texts(40)), folder.path("run"));
    let words = folder.file("words.txt", "free\nwin\n");
    let base = ["train", &data, "--text-column", "text", "--label", "label", "--classes", "ham,spam"];
    let more =
        ["--vocabulary", &words, "--length", "8", "--model", "logistic", "--steps", "3", "--non-private"];
    json(&[&base[..], &more, &["--batch-size", "10", "--out", &out]].concat());
    for count in ["1000", "32"] {
        let said = refusal(&["attack", "canary", &out, "--kind", "blank", "--canaries", count]);
        assert!(said.contains("texts have no blanks"), "{said}");
    }
}

#[test]
fn texts_without_what_they_need_are_refused() {
    let folder = Folder::new();
    let data = folder.file("sms.csv", texts(40));
    let words = folder.file("words.txt", "free\nwin\n");
    let twice = folder.file("twice.txt", "free\nwin\nfree\n");
    let privacy = ["--epsilon", "1", "--delta", "1e-4", "--json"];
    let label = ["--label", "label", "--classes", "ham,spam"];
    for (given, parts) in [
        (vec!["--vocabulary", &words], ["--text-column", "missing"]),
        (vec!["--vocabulary", &words, "--text-column", "txt"], ["txt", "did you mean"]),
        (vec!["--text-column", "text", "--vocabulary", "nowhere.txt"], ["--vocabulary", "nowhere.txt"]),
        (vec!["--text-column", "text", "--vocabulary", &twice], ["line 3", "once"]),
        (
            vec!["--text-column", "text", "--vocabulary", &words, "--length", "0"],
            ["--length 0", "whole number"],
        ),
        (
            vec!["--text-column", "text", "--vocabulary", &words, "--model", "cnn-mnist"],
            ["layer 0", "conv2d"],
        ),
    ] {
        let line = refusal(&[&["train", &data][..], &given, &label, &privacy].concat());
        assert!(parts.iter().all(|part| line.contains(part)), "{given:?}: {line}");
    }
    let bare = ["train", &data, "--text-column", "text", "--vocabulary", &words];
    assert!(refusal(&[&bare[..], &privacy].concat()).contains("--label"));
    assert!(refusal(&[&bare[..], &privacy, &["--label", "label"]].concat()).contains("--classes"));
}
