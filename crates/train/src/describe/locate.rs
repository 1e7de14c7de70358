//! Where in a `model.toml` a layer is wrong.

use super::shape::NO_LORA;
use crate::TrainError;
use reticent_data::closest;
use reticent_data::toml::{Span, TomlError, TomlFault, locate};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

type Value<'t> = Spanned<DeValue<'t>>;

/// What a key of a layer takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Text,
    Truth,
    Number,
    Whole,
    Pair,
    Layers,
    Adapter,
}

impl Takes {
    fn words(self) -> &'static str {
        match self {
            Self::Text => "text in quotes",
            Self::Truth => "true or false",
            Self::Number => "a number",
            Self::Whole => "a whole number that is not negative",
            Self::Pair => "a list of two whole numbers",
            Self::Layers => "a list of layers",
            Self::Adapter => "a table such as { rank = 8, alpha = 16 }",
        }
    }

    fn fits(self, value: &DeValue<'_>) -> bool {
        let is_whole = |value: &DeValue<'_>| {
            value.as_integer().is_some_and(|n| usize::from_str_radix(n.as_str(), n.radix()).is_ok())
        };
        match self {
            Self::Text => value.is_str(),
            Self::Truth => value.is_bool(),
            Self::Number => value.is_float() || value.is_integer(),
            Self::Whole => is_whole(value),
            Self::Pair => value
                .as_array()
                .is_some_and(|items| items.len() == 2 && items.iter().all(|item| is_whole(item.get_ref()))),
            Self::Adapter => value.as_table().is_some_and(|table| {
                let known = |name: &str, value: &DeValue<'_>| match name {
                    "rank" => is_whole(value),
                    "alpha" => value.is_float() || value.is_integer(),
                    _ => false,
                };
                table.iter().all(|(key, value)| known(key.get_ref().as_ref(), value.get_ref()))
                    && get(table, "rank").is_some()
            }),
            Self::Layers => {
                value.as_array().is_some_and(|items| items.iter().all(|item| item.get_ref().is_table()))
            }
        }
    }
}

/// Keys that every layer may have.
const EVERY: &[(&str, Takes)] = &[("kind", Takes::Text), ("name", Takes::Text), ("frozen", Takes::Truth)];

/// The kinds of layers with their own keys; those that must be there end in `!`.
const KINDS: &[(&str, &[(&str, Takes)])] = {
    use Takes::{Adapter, Layers, Number, Pair, Truth, Whole};
    &[
        ("linear", &[("out!", Whole), ("bias", Truth), ("lora", Adapter)]),
        (
            "conv1d",
            &[
                ("out!", Whole),
                ("kernel!", Whole),
                ("stride", Whole),
                ("padding", Whole),
                ("dilation", Whole),
                ("groups", Whole),
                ("bias", Truth),
            ],
        ),
        (
            "conv2d",
            &[
                ("out!", Whole),
                ("kernel!", Pair),
                ("stride", Pair),
                ("padding", Pair),
                ("dilation", Pair),
                ("groups", Whole),
                ("bias", Truth),
            ],
        ),
        ("embedding", &[("vocabulary!", Whole), ("out!", Whole)]),
        ("embedding-bag", &[("vocabulary!", Whole), ("out!", Whole)]),
        ("position", &[]),
        ("layer-norm", &[]),
        ("group-norm", &[("groups!", Whole)]),
        ("batch-norm", &[]),
        ("attention", &[("heads!", Whole), ("causal", Truth), ("lora", Adapter)]),
        (
            "transformer",
            &[
                ("heads!", Whole),
                ("hidden!", Whole),
                ("dropout", Number),
                ("norm_first", Truth),
                ("causal", Truth),
                ("lora", Adapter),
            ],
        ),
        ("lstm", &[("hidden!", Whole)]),
        ("gru", &[("hidden!", Whole)]),
        ("relu", &[]),
        ("tanh", &[]),
        ("sigmoid", &[]),
        ("gelu", &[]),
        ("silu", &[]),
        ("tempered-sigmoid", &[("scale!", Number), ("temperature!", Number), ("offset!", Number)]),
        ("max-pool", &[("kernel!", Pair), ("stride", Pair)]),
        ("average-pool", &[("kernel!", Pair), ("stride", Pair)]),
        ("global-pool", &[]),
        ("dropout", &[("rate!", Number)]),
        ("flatten", &[]),
        ("transpose", &[]),
        ("mean-time", &[]),
        ("last-time", &[]),
        ("residual", &[("layer!", Layers)]),
    ]
};

/// Checks the keys of all layers and the types of their values. A text that is not TOML passes: its reader refuses it.
pub(super) fn check(text: &str, file: &str) -> Result<(), TomlError> {
    let Ok(document) = DeTable::parse(text) else { return Ok(()) };
    let Some(layers) = get(document.get_ref(), "layer") else { return Ok(()) };
    layer_list(layers).map_err(|(at, fault, problem)| TomlError {
        file: file.to_owned(),
        place: Some(Box::new(Span::of(text, at))),
        fault,
        problem,
    })
}

type Fault = (std::ops::Range<usize>, TomlFault, String);

fn layer_list(value: &Value<'_>) -> Result<(), Fault> {
    // Anything else than a list of tables is for the reader to refuse.
    let Some(items) = value.get_ref().as_array() else { return Ok(()) };
    for (place, item) in items.iter().enumerate() {
        if let Some(table) = item.get_ref().as_table() {
            layer(place, item, table)?;
        }
    }
    Ok(())
}

fn layer(place: usize, whole: &Value<'_>, table: &DeTable<'_>) -> Result<(), Fault> {
    let words = || KINDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let Some(kind) = get(table, "kind") else {
        let problem =
            format!("layer {place}: missing key kind: write kind = \"linear\" or another of {}", words());
        return Err((whole.span(), TomlFault::Value, problem));
    };
    let Some(word) = kind.get_ref().as_str() else {
        return Err((kind.span(), TomlFault::Value, format!("layer {place}: kind: give text in quotes")));
    };
    let Some((_, own)) = KINDS.iter().find(|(known, _)| *known == word) else {
        let known: Vec<&str> = KINDS.iter().map(|(word, _)| *word).collect();
        let problem = format!(
            "layer {place}: kind = {word:?}: unknown{}: the kinds are {}",
            hint(word, &known),
            words()
        );
        return Err((kind.span(), TomlFault::Value, problem));
    };
    let known: Vec<(&str, Takes)> =
        EVERY.iter().chain(own.iter()).map(|(key, takes)| (key.trim_end_matches('!'), *takes)).collect();
    let names: Vec<&str> = known.iter().map(|(key, _)| *key).collect();
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        let Some((_, takes)) = known.iter().find(|(known, _)| *known == name) else {
            if name == "lora" {
                return Err((key.span(), TomlFault::Key, format!("layer {place} ({word}): {NO_LORA}")));
            }
            let problem = format!(
                "layer {place} ({word}): unknown key {name:?}{}: the keys are {}",
                hint(name, &names),
                names.join(", ")
            );
            return Err((key.span(), TomlFault::Key, problem));
        };
        if !takes.fits(value.get_ref()) {
            let problem = format!("layer {place} ({word}): {name}: give {}", takes.words());
            return Err((value.span(), TomlFault::Value, problem));
        }
        if *takes == Takes::Layers {
            layer_list(value)?;
        }
    }
    let needed = own.iter().filter_map(|(key, _)| key.strip_suffix('!'));
    match needed.into_iter().find(|key| get(table, key).is_none()) {
        None => Ok(()),
        Some(missing) => {
            let problem = format!("layer {place} ({word}): missing key {missing}: add {missing} = …");
            Err((kind.span(), TomlFault::Value, problem))
        }
    }
}

fn get<'v, 't>(table: &'v DeTable<'t>, key: &str) -> Option<&'v Value<'t>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}

fn hint(wanted: &str, known: &[&str]) -> String {
    closest(wanted, known).map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
}

/// The same error at its place: the value that it is about, or else the layer's kind.
pub(super) fn described(text: &str, file: &str, error: TrainError) -> TrainError {
    let place = match &error {
        TrainError::Invalid(invalid) => locate(text, &[invalid.field]),
        TrainError::Layer { layer, why } => layer_place(text, layer, why),
        _ => None,
    };
    match place {
        Some(place) => {
            TrainError::Described { file: file.to_owned(), place: Box::new(place), error: Box::new(error) }
        }
        None => error,
    }
}

/// `layer` is `2 (conv2d)`, or `2.0 (conv2d)` inside of a residual layer.
fn layer_place(text: &str, layer: &str, why: &str) -> Option<Span> {
    let (numbers, word) = layer.split_once(" (")?;
    let mut path = Vec::new();
    for number in numbers.split('.') {
        path.extend(["layer", number]);
    }
    let (_, own) = KINDS.iter().find(|(known, _)| *known == word.trim_end_matches(')'))?;
    let keys = own.iter().map(|(key, _)| key.trim_end_matches('!')).chain(["name"]);
    let is_about =
        |key: &&str| why.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == *key);
    let about = keys.filter(is_about).chain(["kind"]);
    about.into_iter().find_map(|key| locate(text, &[&path[..], &[key]].concat()))
}

#[cfg(test)]
mod page {
    use super::*;
    use crate::Description;
    use std::sync::LazyLock;

    static PAGE: LazyLock<String> = LazyLock::new(|| {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/model.md");
        std::fs::read_to_string(page).unwrap()
    });

    /// The networks on the page.
    fn examples() -> Vec<&'static str> {
        let blocks = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let written = PAGE.split("<<'END'\n").skip(1).filter_map(|rest| rest.split("\nEND\n").next());
        blocks.chain(written).collect()
    }

    #[test]
    fn every_example_of_the_page_is_a_network() {
        let examples = examples();
        assert!(examples.len() >= 4, "{}", examples.len());
        for text in examples {
            Description::from_toml(text, "model.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }

    #[test]
    fn every_kind_of_layer_and_every_key_stands_on_the_page() {
        let all = examples().concat();
        for (kind, keys) in KINDS {
            let is_row = |line: &&str| line.starts_with(&format!("| `{kind}` | "));
            let fields = PAGE.lines().filter(is_row).filter_map(|row| row.split('|').nth(2));
            let mut rows = fields.map(|fields| fields.split('`').skip(1).step_by(2).collect::<Vec<_>>());
            // The kind that is refused has a section in place of a row.
            if *kind == "batch-norm" {
                assert!(rows.next().is_none() && PAGE.contains("## Not possible: `batch-norm`"));
                continue;
            }
            let known: Vec<&str> = keys.iter().map(|(key, _)| key.trim_end_matches('!')).collect();
            assert!(rows.any(|listed| listed == known), "{kind}: {known:?}");
            assert!(
                all.contains(&format!("kind = \"{kind}\"")) || *kind == "last-time",
                "{kind} is in no example"
            );
        }
        for (key, _) in EVERY {
            assert!(PAGE.contains(&format!("| `{key}` | ")), "{key}");
        }
    }
}
