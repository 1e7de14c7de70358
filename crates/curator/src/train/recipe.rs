//! The defaults of trainings on images: what reached the best accuracy at ε = 3 and δ = 10⁻⁵ on a part of the training data that was
//! held out. Every field that a request gives itself comes first.
//!
//! The numbers were chosen on public data sets, and are constants here: no run looks at its own data for them.

use super::describe::is_network;
use super::request::{OneOrMore, Train};
use super::source::image_folder;
use crate::refusal::Refusal;
use reticent_train::Augmentation;

/// How a model is trained on data of a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ImageRecipe {
    /// The last part of the data's path, or their name; any for data without a recipe of their own.
    data: Option<&'static str>,
    model: &'static str,
    /// The batch as a share of the data.
    rate: f64,
    steps: u64,
    learning_rate: f64,
    clip: f64,
    momentum: f64,
    average: Option<f64>,
    augment: Augmentation,
}

const LINEAR: &str = "scatter-linear";
const CONVOLUTIONS: &str = "scatter-cnn";

/// The recipes; of several for the same data, the first is that of data without a given model.
const RECIPES: &[ImageRecipe] = &[
    ImageRecipe {
        data: Some("mnist"),
        model: LINEAR,
        rate: 8192.0 / 60_000.0,
        steps: 400,
        learning_rate: 8.0,
        clip: 0.1,
        momentum: 0.9,
        average: None,
        augment: Augmentation::Shift,
    },
    ImageRecipe {
        data: Some("fashion-mnist"),
        model: LINEAR,
        rate: 0.4,
        steps: 600,
        learning_rate: 8.0,
        clip: 0.1,
        momentum: 0.9,
        average: None,
        augment: Augmentation::None,
    },
    ImageRecipe {
        data: Some("cifar10"),
        model: CONVOLUTIONS,
        rate: 0.1365,
        steps: 300,
        learning_rate: 8.0,
        clip: 0.1,
        momentum: 0.9,
        average: Some(0.95),
        augment: Augmentation::Flip,
    },
    ImageRecipe {
        data: None,
        model: LINEAR,
        rate: 8192.0 / 60_000.0,
        steps: 400,
        learning_rate: 8.0,
        clip: 0.1,
        momentum: 0.9,
        average: None,
        augment: Augmentation::None,
    },
    ImageRecipe {
        data: None,
        model: CONVOLUTIONS,
        rate: 0.1365,
        steps: 300,
        learning_rate: 8.0,
        clip: 0.1,
        momentum: 0.9,
        average: Some(0.95),
        augment: Augmentation::None,
    },
];

/// The optimizer, the batch and the epochs of the same models without privacy, where nothing is clipped.
const UNPROTECTED: (&str, u64, f64) = ("adam", 256, 10.0);

/// The name of the data by which they have a recipe.
fn name(run: &Train) -> Option<String> {
    let name = run.data.as_ref()?.file_name()?.to_str()?.to_lowercase().replace(['_', ' '], "-");
    Some(if name == "cifar-10" { "cifar10".to_owned() } else { name })
}

/// The recipe of a run; none for most models and data.
fn of(run: &Train) -> Option<&'static ImageRecipe> {
    if run.federated.is_some() || run.adversarial.is_some() {
        return None;
    }
    let name = name(run);
    let is_model = |recipe: &ImageRecipe| run.model.as_deref().is_none_or(|model| model == recipe.model);
    let own = |recipe: &&ImageRecipe| recipe.data.is_some() && recipe.data == name.as_deref();
    let any = |recipe: &&ImageRecipe| recipe.data.is_none() && run.model.is_some();
    let fitting = || RECIPES.iter().filter(|recipe| is_model(recipe));
    fitting().find(own).or_else(|| fitting().find(any))
}

/// Fills in what a new run leaves open.
///
/// # Errors
/// [`Refusal`] where a dataset cannot be found.
pub(crate) fn fill(run: &mut Train) -> Result<(), Refusal> {
    let Some(recipe) = of(run) else { return Ok(()) };
    let is_given = run.model.as_deref().is_some_and(is_network);
    let is_folder = || match &run.data {
        Some(file) => Ok(image_folder(file, run.data_dir.as_deref())?.is_some()),
        None => Ok::<_, Refusal>(false),
    };
    if !is_given && !is_folder()? {
        return Ok(());
    }
    run.model.get_or_insert_with(|| recipe.model.to_owned());
    // Features are those of pixels from 0 to 1.
    run.shift.get_or_insert(OneOrMore::One(0.0));
    run.scale.get_or_insert(OneOrMore::One(1.0));
    run.augment.get_or_insert(recipe.augment);
    if !run.is_private() {
        let (optimizer, batch, epochs) = UNPROTECTED;
        if run.optimizer.is_none() && run.learning_rate.is_none() && run.momentum.is_none() {
            run.optimizer = Some(optimizer.to_owned());
        }
        run.batch_size.get_or_insert(batch);
        if run.steps.is_none() {
            run.epochs.get_or_insert(epochs);
        }
        return Ok(());
    }
    let clip = *run.clip.get_or_insert(recipe.clip);
    if run.optimizer.as_deref().is_none_or(|optimizer| optimizer == "sgd") {
        run.momentum.get_or_insert(recipe.momentum);
        // Gradients are nearly all clipped: what moves the weights is the product of both.
        run.learning_rate.get_or_insert(recipe.learning_rate * recipe.clip / clip);
    }
    run.average = run.average.or(recipe.average);
    match (run.steps, run.epochs, run.batch_size) {
        (None, None, None) => run.steps = Some(recipe.steps),
        // As many passes over the data with a batch of another size.
        (None, None, Some(_)) => run.epochs = Some(recipe.steps as f64 * recipe.rate),
        _ => {}
    }
    Ok(())
}

/// The batch of a run on so many units; none where it has no recipe.
pub(super) fn batch(run: &Train, size: u64) -> Option<u64> {
    of(run).map(|recipe| ((recipe.rate * size as f64).round() as u64).clamp(1, size.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_train::describe::preset;

    fn filled(run: Train) -> Train {
        let mut run = run;
        fill(&mut run).unwrap();
        run
    }

    fn named(model: &str) -> Train {
        let (epsilon, delta) = (Some(3.0), Some(1e-5));
        Train { model: Some(model.to_owned()), epsilon, delta, ..Train::default() }
    }

    #[test]
    fn every_recipe_names_a_model_and_has_numbers_with_a_meaning() {
        for recipe in RECIPES {
            preset(recipe.model, &[3, 32, 32], None, 10).unwrap();
            assert!(recipe.rate > 0.0 && recipe.rate <= 1.0 && recipe.steps > 0 && recipe.clip > 0.0);
        }
        assert_eq!(batch(&Train { data: Some("data/mnist".into()), ..Train::default() }, 60_000), Some(8192));
        assert_eq!(batch(&Train { data: Some("CIFAR_10".into()), ..Train::default() }, 50_000), Some(6825));
        assert_eq!(batch(&named("scatter-cnn"), 3), Some(1));
        assert_eq!(batch(&named("mlp"), 60_000), None);
        assert_eq!(batch(&Train::default(), 60_000), None);
    }

    #[test]
    fn what_is_given_comes_first() {
        let usual = filled(named("scatter-cnn"));
        assert_eq!((usual.steps, usual.epochs, usual.clip), (Some(300), None, Some(0.1)));
        assert_eq!((usual.learning_rate, usual.momentum, usual.average), (Some(8.0), Some(0.9), Some(0.95)));
        assert_eq!((usual.shift, usual.scale), (Some(OneOrMore::One(0.0)), Some(OneOrMore::One(1.0))));
        let own = Train {
            clip: Some(1.0),
            batch_size: Some(100),
            augment: Some(Augmentation::Flip),
            average: Some(0.5),
            ..named("scatter-linear")
        };
        let own = filled(own);
        assert_eq!((own.clip, own.batch_size, own.average), (Some(1.0), Some(100), Some(0.5)));
        assert_eq!(own.augment, Some(Augmentation::Flip));
        // A longer gradient needs a smaller rate, and another batch as many passes.
        assert!((own.learning_rate.unwrap() - 0.8).abs() < 1e-12 && own.steps.is_none());
        assert!((own.epochs.unwrap() - 400.0 * 8192.0 / 60_000.0).abs() < 1e-9);
        let adam = filled(Train { optimizer: Some("adam".to_owned()), ..named("scatter-linear") });
        assert_eq!((adam.learning_rate, adam.momentum), (None, None));
        let epochs = filled(Train { epochs: Some(3.0), ..named("scatter-linear") });
        assert_eq!((epochs.steps, epochs.epochs), (None, Some(3.0)));
    }

    #[test]
    fn other_models_and_data_are_left_as_they_are() {
        for run in [named("mlp"), named("cnn-cifar"), named("net.toml"), Train::default()] {
            assert_eq!(filled(run.clone()), run);
        }
        // A table of that name has no recipe.
        let table = Train { data: Some("mnist.csv".into()), ..Train::default() };
        assert_eq!(filled(table.clone()), table);
    }

    #[test]
    fn without_privacy_nothing_is_clipped() {
        let run = filled(Train { non_private: Some(true), ..named("scatter-linear") });
        assert_eq!(
            (run.optimizer.as_deref(), run.batch_size, run.epochs),
            (Some("adam"), Some(256), Some(10.0))
        );
        assert_eq!((run.learning_rate, run.clip, run.steps), (None, None, None));
    }
}
