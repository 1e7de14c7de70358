//! Runs that start from public weights, vectors and data, and texts without a vocabulary of their own.

use reticent_core::{Code, Fact, PublicFile};
use reticent_curator::folder::digests;
use reticent_curator::train::{ClassNames, Finished, Resume, Train, Trained};
use reticent_curator::{Planned, Refusal, Request, Session};
use reticent_train::GivenWeights;
use std::fs;
use std::path::Path;

/// A table of texts with two classes; `shift` makes others.
fn texts(path: &Path, count: usize, shift: usize) {
    let mut text = "text,kind\n".to_owned();
    for row in 0..count {
        text.push_str(match (row + shift) % 4 {
            0 => "see you at home tonight,ham\n",
            1 => "win a free prize now,spam\n",
            2 => "call me later please,ham\n",
            _ => "claim 500 cash today !,spam\n",
        });
    }
    fs::write(path, text).unwrap();
}

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    texts(&place.path().join("private.csv"), 120, 0);
    texts(&place.path().join("public.csv"), 61, 1);
    place
}

fn plain(place: &Path, data: &str) -> Train {
    Train {
        data: Some(place.join(data)),
        text_column: Some("text".to_owned()),
        label: Some("kind".to_owned()),
        classes: Some(ClassNames::Names(vec!["ham".to_owned(), "spam".to_owned()])),
        length: Some(8),
        steps: Some(3),
        non_private: Some(true),
        threads: Some(1),
        ..Train::default()
    }
}

fn private(place: &Path) -> Train {
    Train {
        non_private: None,
        epsilon: Some(3.0),
        delta: Some(1e-4),
        dataset_size: Some(120),
        batch_size: Some(30),
        ..plain(place, "private.csv")
    }
}

fn run(request: &Train) -> Result<Finished, Refusal> {
    match request.check()?.run(&mut Session::without_limit()?)? {
        Trained::Finished(run) => Ok(*run),
        Trained::Interrupted(_) => panic!("nobody stopped it"),
    }
}

fn refusal(request: &Train) -> Refusal {
    run(request).expect_err("it must be refused")
}

fn has(run: &Finished, fact: &Fact) -> bool {
    run.certificate.as_ref().unwrap().public.contains(fact)
}

#[test]
fn texts_have_a_default_network_and_vocabulary() {
    let place = place();
    let mut request = private(place.path());
    request.out = Some(place.path().join("run"));
    let found = run(&request).unwrap();
    assert_eq!(found.model.as_deref(), Some("bag-of-embeddings"));
    assert_eq!(found.weights, 10_002 * 64 + 130);
    assert!(has(&found, &Fact::Vocabulary) && found.start.is_none() && found.trained_weights.is_none());
    let stored = fs::read_to_string(place.path().join("run/run.toml")).unwrap();
    for line in ["clipping = \"automatic\"", "schedule = \"linear\"", "learning-rate = 0.17"] {
        assert!(stored.contains(line), "{stored}");
    }
    assert_eq!(fs::read_to_string(place.path().join("run/vocabulary.txt")).unwrap().lines().count(), 10_000);
    // Characters and networks with names have other defaults.
    let named = Train { model: Some("lstm-text".to_owned()), ..private(place.path()) };
    assert_eq!(run(&named).unwrap().model.as_deref(), Some("lstm-text"));
    // Longer trainings learn, without noise at the least.
    let taught = Train {
        validation: Some(place.path().join("public.csv")),
        steps: Some(200),
        ..plain(place.path(), "private.csv")
    };
    assert_eq!(run(&taught).unwrap().accuracy, Some(1.0));
}

#[test]
fn public_weights_are_declared_named_and_reported() {
    let place = place();
    let out = place.path().join("first");
    run(&Train { out: Some(out.clone()), ..plain(place.path(), "public.csv") }).unwrap();
    let bare = Train { init: Some(out.clone()), ..private(place.path()) };
    let refused = refusal(&bare);
    assert_eq!((refused.code(), refused.field()), (Code::Missing, Some("init_public")));
    let again = place.path().join("second");
    let request = Train {
        init_public: Some(true),
        freeze: Some(vec!["0".to_owned()]),
        out: Some(again.clone()),
        ..bare.clone()
    };
    let found = run(&request).unwrap();
    let digests = digests(&out).unwrap();
    let digest = digests.into_iter().find(|(name, _)| *name == "model.safetensors").map(|(_, digest)| digest);
    let fact = PublicFile { name: "model.safetensors".to_owned(), digest: digest.clone() };
    assert!(has(&found, &Fact::InitialWeights(fact)), "{:?}", found.certificate);
    assert_eq!(found.trained_weights, Some(130));
    let init = found.start.unwrap().init.unwrap();
    assert_eq!((init.taken.len(), init.random.len(), init.unused.len()), (3, 0, 0));
    // The frozen layer is that of the file, bit for bit.
    let array = |folder: &Path| {
        let given = GivenWeights::read(&folder.join("model.safetensors")).unwrap();
        format!("{:?}", given.array("0.weight").unwrap())
    };
    assert_eq!(array(&out), array(&again));
    let meant = |digest: &str| Train { init_digest: Some(digest.to_owned()), out: None, ..request.clone() };
    run(&meant(digest.as_deref().unwrap())).unwrap();
    let refused = refusal(&meant("sha256:00"));
    assert_eq!((refused.code(), refused.field()), (Code::Conflict, Some("init")));
    // Other weights than those of a request have another digest.
    let stored = Train::read(&again.join("run.toml")).unwrap();
    assert_eq!(stored.init_digest, digest);
    let other = Train { init: Some("other".into()), ..Train::default() }.over(stored).unwrap();
    assert_eq!((other.init, other.init_digest), (Some("other".into()), None));
    // A run that goes on needs no file, and states the same.
    fs::remove_dir_all(&out).unwrap();
    let resumed = Resume::new(again).check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    let Trained::Finished(resumed) = resumed else { panic!("nobody stopped it") };
    assert_eq!(resumed.certificate, found.certificate);
    for (request, field) in [
        (Train { init: None, init_public: Some(true), ..bare.clone() }, "init_public"),
        (Train { init: None, init_partial: Some(true), ..bare.clone() }, "init_partial"),
        (Train { init: None, init_digest: digest, ..bare.clone() }, "init_digest"),
        (Train { init_public: Some(true), ..bare.clone() }, "init"),
        (Train { freeze: Some(vec!["0".into(), "1".into()]), ..private(place.path()) }, "freeze"),
        (Train { freeze: Some(vec!["1.bias".into()]), ..private(place.path()) }, "freeze"),
        (Train { freeze: Some(vec!["7".into()]), ..private(place.path()) }, "freeze"),
    ] {
        assert_eq!(refusal(&request).field(), Some(field));
    }
}

#[test]
fn weights_of_a_run_on_the_same_data_are_refused_whatever_is_declared() {
    let place = place();
    let out = place.path().join("first");
    run(&Train { out: Some(out.clone()), ..private(place.path()) }).unwrap();
    let declared = Train { init: Some(out.clone()), init_public: Some(true), ..private(place.path()) };
    // By its path, before anything is charged.
    let refused = declared.check().unwrap_err();
    assert_eq!((refused.code(), refused.field()), (Code::Conflict, Some("init")));
    assert!(refused.to_string().contains("same data"), "{refused}");
    // By its content, from another path and in another order.
    texts(&place.path().join("moved.csv"), 120, 4);
    let moved = Train { data: Some(place.path().join("moved.csv")), ..declared.clone() };
    assert_eq!(refusal(&moved).field(), Some("init"));
    // Files of the folder are its weights, too.
    let file = Train { init: Some(out.join("model.safetensors")), ..declared };
    assert_eq!(refusal(&file).field(), Some("init"));
    // Also where a part of the data is held out, and where it was: by the whole, or by the part that is trained on.
    let divided = Train { held_out: Some(0.2), ..moved };
    assert_eq!(refusal(&divided).field(), Some("init"));
    let part = place.path().join("part");
    let held = Train { out: Some(part.clone()), ..divided.clone() };
    run(&Train { init: None, init_public: None, ..held }).unwrap();
    assert_eq!(refusal(&Train { init: Some(part), ..divided }).field(), Some("init"));
    // Other data, and runs without a guarantee, may start there.
    let other = Train { dataset_size: Some(61), data: Some(place.path().join("public.csv")), ..file.clone() };
    run(&other).unwrap();
    run(&Train { init: Some(out), ..plain(place.path(), "private.csv") }).unwrap();
}

#[test]
fn public_data_come_first_and_private_ones_are_refused_in_their_place() {
    let place = place();
    let with = |data: &str| Train {
        pretrain: Some(place.path().join(data)),
        pretrain_epochs: Some(40.0),
        validation: Some(place.path().join("public.csv")),
        ..private(place.path())
    };
    let found = run(&Train { noise_multiplier: Some(0.5), epsilon: None, ..with("public.csv") }).unwrap();
    assert!(has(&found, &Fact::Pretraining("public.csv".to_owned())));
    let taught = found.start.unwrap().pretrain.unwrap();
    assert_eq!((taught.examples, taught.epochs), (61, 40.0));
    assert_eq!(refusal(&with("private.csv")).field(), Some("pretrain"));
    texts(&place.path().join("moved.csv"), 120, 0);
    assert_eq!(refusal(&with("moved.csv")).field(), Some("pretrain"));
    // What is held out belongs to the private data.
    let divided = |data: &str| Train { held_out: Some(0.2), ..with(data) };
    assert_eq!(refusal(&divided("moved.csv")).field(), Some("pretrain"));
    let scored = Train {
        pretrain: None,
        pretrain_epochs: None,
        validation: Some(place.path().join("moved.csv")),
        ..divided("public.csv")
    };
    assert_eq!(refusal(&scored).field(), Some("validation"));
    let alone = Train { pretrain: None, ..with("public.csv") };
    assert_eq!(refusal(&alone).field(), Some("pretrain_epochs"));
    // What was learnt there stays where nothing is trained after it but a frozen rest.
    let frozen = Train { freeze: Some(vec!["0".to_owned()]), ..with("public.csv") };
    assert_eq!(run(&frozen).unwrap().trained_weights, Some(130));
}

#[test]
fn low_rank_updates_of_a_transformer_are_trained_beside_public_weights() {
    let place = place();
    let network = |name: &str, lora: &str| {
        let block = format!("kind = \"transformer\"\nheads = 2\nhidden = 6\n{lora}");
        let table = "kind = \"embedding\"\nvocabulary = 8\nout = 4\n";
        let layers = [table, &block, "kind = \"mean-time\"\n", "kind = \"linear\"\nout = 2\n"];
        let file = place.path().join(name);
        fs::write(&file, format!("input = [8]\n[[layer]]\n{}", layers.join("[[layer]]\n"))).unwrap();
        Some(file.display().to_string())
    };
    let words = place.path().join("words.txt");
    fs::write(&words, "see\nhome\nwin\nfree\ncall\ncash\n").unwrap();
    let own = |model, request| Train { model, vocabulary: Some(words.clone()), ..request };
    let (base, adapted) =
        (network("base.toml", ""), network("lora.toml", "lora = { rank = 1, alpha = 2 }\n"));
    let [first, second] = ["first", "second"].map(|name| place.path().join(name));
    run(&Train { out: Some(first.clone()), ..own(base, plain(place.path(), "public.csv")) }).unwrap();
    let freeze = Some(vec!["0".to_owned(), "3".to_owned()]);
    let request = Train { freeze, ..own(adapted, private(place.path())) };
    let started = Train { init: Some(first.clone()), init_public: Some(true), ..request.clone() };
    let found = run(&Train { out: Some(second.clone()), ..started }).unwrap();
    // A and B of the joint projection to queries, keys and values, and of the one of the output.
    assert_eq!(found.trained_weights, Some((4 + 12) + (4 + 4)));
    let init = found.start.unwrap().init.unwrap();
    let projections = ["1.self_attn.in_proj", "1.self_attn.out_proj"];
    let updates = projections.map(|name| [format!("{name}.lora_a"), format!("{name}.lora_b")]).concat();
    assert_eq!((init.random, init.unused), (updates.clone(), Vec::<String>::new()));
    let [given, trained] =
        [&first, &second].map(|folder| GivenWeights::read(&folder.join("model.safetensors")).unwrap());
    for (theirs, ours) in init.taken {
        let bits = |file: &GivenWeights, name: &str| -> Vec<u32> {
            file.array(name).unwrap().iter().map(|weight| weight.to_bits()).collect()
        };
        assert_eq!(bits(&given, &theirs), bits(&trained, &ours), "{ours}");
    }
    for name in updates {
        assert!(trained.array(&name).unwrap().iter().any(|weight| *weight != 0.0), "{name}");
    }
    // Public data teach the weights beside the updates.
    let taught = Train { pretrain: Some(place.path().join("public.csv")), ..request };
    assert_eq!(run(&taught).unwrap().trained_weights, Some(24));
}

#[test]
fn vectors_bring_their_words_or_fill_a_vocabulary() {
    let place = place();
    let file = place.path().join("vectors.txt");
    fs::write(&file, "win 1 0 0\nfree 0 1 0\nhome 0 0 1\n").unwrap();
    let request = Train {
        vectors: Some(file.clone()),
        freeze: Some(vec!["0".to_owned()]),
        out: Some(place.path().join("run")),
        ..private(place.path())
    };
    let found = run(&request).unwrap();
    let known = "sha256:4469b5718f21d0ff7e6b4212821a90ae624e5a80e2a767ff1e5bf5fc1e2e6b43";
    let fact = PublicFile { name: "vectors.txt".to_owned(), digest: Some(known.to_owned()) };
    assert!(has(&found, &Fact::WordVectors(fact)), "{:?}", found.certificate);
    let vectors = found.start.unwrap().vectors.unwrap();
    assert_eq!((vectors.covered, vectors.tokens, vectors.width), (3, 3, 3));
    assert_eq!((found.weights, found.trained_weights), (5 * 3 + 8, Some(8)));
    let stored = GivenWeights::read(&place.path().join("run/model.safetensors")).unwrap();
    assert_eq!(stored.array("0.weight").unwrap()[6..], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let words = place.path().join("words.txt");
    fs::write(&words, "free\nlost\n").unwrap();
    let own = Train { vocabulary: Some(words), out: None, ..request.clone() };
    let vectors = run(&own).unwrap().start.unwrap().vectors.unwrap();
    assert_eq!((vectors.covered, vectors.tokens), (1, 2));
    // A run that goes on starts from the same file.
    fs::write(&file, "win 1 0 0\nfree 0 1 0\nhome 0 0 2\n").unwrap();
    let refused = Resume::new(place.path().join("run")).check().unwrap_err();
    assert_eq!((refused.code(), refused.field()), (Code::Changed, Some("vectors")));
    for (request, field) in [
        (
            Train {
                vectors: None,
                vectors_digest: Some(known.to_owned()),
                out: None,
                ..private(place.path())
            },
            "vectors_digest",
        ),
        (Train { model: Some("logistic".to_owned()), freeze: None, out: None, ..request.clone() }, "vectors"),
        (Train { vectors: Some("nowhere.npy".into()), out: None, ..request.clone() }, "vectors"),
        (Train { init: Some(file), init_public: Some(true), out: None, ..request }, "init"),
    ] {
        assert_eq!(refusal(&request).field(), Some(field));
    }
}
