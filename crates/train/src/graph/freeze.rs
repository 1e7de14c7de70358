//! Frozen weights by the names of layers and parameters.

use crate::{Parameter, TrainError};

/// What a description freezes by name.
#[derive(Debug, Default)]
pub(super) struct Freezing {
    patterns: Vec<String>,
    /// The first operation of which only some parameters are named: one that is, and one that is not.
    divided: Option<[String; 2]>,
}

/// Whether a pattern names a parameter: by its name, by that of a layer around it, or by a beginning before a `*`.
pub(crate) fn is_named(pattern: &str, parameter: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => parameter.starts_with(beginning),
        None => {
            let rest = parameter.strip_prefix(pattern);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
    }
}

impl Freezing {
    pub(super) fn new(patterns: &[String]) -> Self {
        Self { patterns: patterns.to_vec(), divided: None }
    }

    /// Whether the parameters of an operation are frozen: all or none of them.
    pub(super) fn covers(&mut self, parameters: impl Iterator<Item = String>) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let is_frozen = |name: &String| self.patterns.iter().any(|pattern| is_named(pattern, name));
        let (mut frozen, mut trained): (Vec<_>, Vec<_>) = parameters.partition(is_frozen);
        match (frozen.pop(), trained.pop()) {
            (Some(frozen), Some(trained)) => {
                self.divided.get_or_insert([frozen, trained]);
                true
            }
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Refuses names that no parameter has, and those that divide an operation.
    pub(super) fn check(&self, parameters: &[Parameter]) -> Result<(), TrainError> {
        if let Some([frozen, trained]) = &self.divided {
            let remedy =
                format!("{frozen} and {trained} are frozen together or not at all: give their layer");
            return Err(TrainError::invalid("freeze", self.patterns.join(", "), remedy));
        }
        let named = |pattern: &&String| parameters.iter().any(|own| is_named(pattern, &own.name));
        match self.patterns.iter().find(|pattern| !named(pattern)) {
            None => Ok(()),
            Some(pattern) => {
                let known: Vec<&str> = parameters.iter().map(|own| own.name.as_str()).collect();
                let remedy = format!("no weights have this name: give a layer, or one of {}", listed(&known));
                Err(TrainError::invalid("freeze", pattern, remedy))
            }
        }
    }
}

/// The first of some names.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 12;
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MOST)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Description;
    use crate::describe::LayerKind;
    use crate::graph::Graph;

    #[test]
    fn names_are_those_of_layers_parameters_and_beginnings() {
        for (pattern, name) in [
            ("0", "0.weight"),
            ("0.weight", "0.weight"),
            ("3.self_attn", "3.self_attn.out_proj.bias"),
            ("3.s*", "3.self_attn.out_proj.bias"),
            ("*", "anything"),
        ] {
            assert!(is_named(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("1", "10.weight"), ("0.w", "0.weight"), ("3.s", "3.self_attn.bias")] {
            assert!(!is_named(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn parts_of_a_network_are_frozen_by_name() {
        let block =
            LayerKind::Transformer { heads: 2, hidden: 5, dropout: 0.0, norm_first: false, causal: false };
        let linear = |out| LayerKind::Linear { out, bias: true };
        let residual = LayerKind::Residual { layer: vec![linear(4).into(), LayerKind::Tanh.into()] };
        let network = |freeze: &[&str]| {
            let freeze = freeze.iter().map(|name| (*name).to_owned()).collect();
            Description { freeze, ..Description::reading(&[3, 4]) }
                .then(block.clone())
                .then(residual.clone())
                .then(LayerKind::MeanTime)
                .then(linear(2))
        };
        let trained = |description: &Description| {
            let graph = Graph::new(description).unwrap();
            let parameters = graph.layout().parameters().iter().filter(|own| own.trainable);
            parameters.map(|own| own.name.clone()).collect::<Vec<_>>()
        };
        let all = trained(&network(&[])).len();
        assert_eq!(trained(&network(&["0.self_attn"])).len(), all - 4);
        assert_eq!(trained(&network(&["0", "1"])), ["3.weight", "3.bias"]);
        assert_eq!(trained(&network(&["1.0"])).len(), all - 2);
        // A frozen residual connection freezes what is in it.
        let mut whole = network(&[]);
        whole.layers[1].frozen = true;
        assert_eq!(trained(&whole), trained(&network(&["1.0"])));
        for (freeze, part) in [("2", "no weights"), ("3.bias", "together"), ("4", "no weights")] {
            let error = Graph::new(&network(&[freeze])).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
