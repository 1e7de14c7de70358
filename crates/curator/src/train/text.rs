//! The defaults of texts.

use super::request::Train;
use super::settings::Settings;
use reticent_data::text::TokenKind;
use reticent_train::{Recipe, Schedule};

/// The default network for texts of words.
pub(super) const MODEL: &str = "bag-of-embeddings";

/// Fills in what a bag of embeddings is trained with: every gradient rescaled to the clipping norm, a learning rate that falls to 0.
/// Whether the learning rate is left to the number of units, which is not known here.
pub(super) fn settle(run: &mut Train) -> bool {
    let is_text = run.text_column.is_some() || run.vocabulary.is_some() || run.vectors.is_some();
    if is_text && run.tokens.unwrap_or_default() == TokenKind::Words && run.model.is_none() {
        run.model = Some(MODEL.to_owned());
    }
    if run.model.as_deref() != Some(MODEL) || run.federated.is_some() {
        return false;
    }
    run.clipping.get_or_insert_with(|| "automatic".to_owned());
    run.schedule.get_or_insert_with(|| "linear".to_owned());
    if run.steps.is_none() {
        run.epochs.get_or_insert(40.0);
    }
    let is_open = run.learning_rate.is_none() && matches!(run.optimizer.as_deref(), None | Some("sgd"));
    if is_open {
        run.learning_rate = Some(1.0);
    }
    is_open && run.is_private()
}

/// The share of the units in a batch: larger than for other networks, whose steps cost more.
pub(super) fn batch_share(run: &Train) -> Option<f64> {
    (run.model.as_deref() == Some(MODEL)).then_some(1.0 / 8.0)
}

/// The recipe of a run with so many units, a number that is public: with more of them the noise is smaller beside the gradients, and
/// the learning rate can be larger.
pub(crate) fn recipe(run: &mut Train, settings: &Settings, size: u64) -> Recipe {
    let recipe = settings.recipe;
    if !settings.rate_by_size {
        return recipe;
    }
    let peak = rate(size);
    run.learning_rate = Some(peak);
    Recipe { schedule: Schedule { peak, ..recipe.schedule }, ..recipe }
}

/// √(size / 4096), from 0.1 to 10, in two digits.
fn rate(size: u64) -> f64 {
    let rate = (size as f64 / 4096.0).sqrt().clamp(0.1, 10.0);
    let digits = if rate < 1.0 { 100.0 } else { 10.0 };
    (rate * digits).round() / digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_their_defaults_and_keep_what_is_given() {
        let text = Train { text_column: Some("t".to_owned()), epsilon: Some(1.0), ..Train::default() };
        let mut run = text.clone();
        assert!(settle(&mut run));
        assert_eq!((run.model.as_deref(), run.epochs), (Some(MODEL), Some(40.0)));
        assert!(!settle(&mut run), "once settled, it stays");
        let mut given = Train { learning_rate: Some(0.3), steps: Some(5), ..text.clone() };
        assert!(!settle(&mut given));
        assert_eq!((given.learning_rate, given.epochs), (Some(0.3), None));
        let others = [
            Train { model: Some("mlp".to_owned()), ..text.clone() },
            Train { tokens: Some(TokenKind::Characters), ..text.clone() },
            Train::default(),
        ];
        for mut other in others {
            let before = other.clone();
            assert!(!settle(&mut other) && other == before);
        }
        let mut plain = Train { non_private: Some(true), ..text };
        assert!(!settle(&mut plain));
        assert_eq!(plain.learning_rate, Some(1.0));
        assert_eq!([4096, 65_536, 1, 1 << 40].map(rate), [1.0, 4.0, 0.1, 10.0]);
        assert_eq!(rate(600), 0.38);
    }
}
