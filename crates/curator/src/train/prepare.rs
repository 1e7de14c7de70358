//! Examples as the first layer of a network reads them.

use super::computing::Computing;
use super::plan::same_data;
use super::reader::Loaded;
use super::source::Source;
use crate::folder::Divided;
use crate::refusal::Refusal;
use crate::watch::{Watch, Work};
use reticent_core::Code;
use reticent_train::{Augmentation, Description, Engine, Examples, TrainError};

/// The features of examples where the network has any, and the examples themselves otherwise. It is where examples that were read meet
/// a network: an engine refuses those that did not come by here.
///
/// # Errors
/// [`Refusal`] for examples of another shape than the network's input.
pub(crate) fn prepare(
    description: &Description,
    examples: Examples,
    computing: &Computing,
    watch: &dyn Watch,
) -> Result<Examples, Refusal> {
    if description.features.is_none() {
        return Ok(examples);
    }
    // How many there are is not told: it may be private.
    let (bar, count) = (watch.begin(Work::Steps(100)), examples.len().max(1));
    bar.say("computing features");
    let mut report = |done: usize| bar.at((100 * done / count) as u64);
    Ok(description.prepared(examples, computing.resources, &mut report)?)
}

/// Everything that was read for a run.
pub(crate) struct ExampleSets<'a> {
    /// What is trained on.
    pub(crate) loaded: Loaded,
    /// Held-out units.
    pub(crate) held: Option<Loaded>,
    /// Public validation examples, and where they are from.
    pub(crate) public: Option<(Loaded, &'a Source)>,
    /// Where the others are from.
    pub(crate) source: &'a Source,
}

impl ExampleSets<'_> {
    /// The private data as they were read: with what is held out.
    pub(crate) fn divided(&self) -> Divided<'_> {
        Divided { training: self.loaded.content(), held_out: self.held.as_ref().map(Loaded::content) }
    }

    /// Refuses private data in the place of public ones for validation.
    ///
    /// # Errors
    /// [`Refusal`] when they are the same.
    pub(crate) fn check_validation(&self) -> Result<(), Refusal> {
        match &self.public {
            Some((public, source)) if self.divided().has(public.content())? => Err(same_data(source)),
            _ => Ok(()),
        }
    }

    /// All of them as the network reads them, with copies of what is trained on and of what is scored: scores are means over copies.
    ///
    /// # Errors
    /// As [`prepare`], with the name of the data.
    pub(crate) fn prepared(
        self,
        description: &Description,
        augment: Augmentation,
        computing: &Computing,
        watch: &dyn Watch,
    ) -> Result<Self, Refusal> {
        let read = |own: Loaded, source: &Source| -> Result<Loaded, Refusal> {
            let examples = prepare(description, augment.apply(own.examples)?, computing, watch);
            Ok(Loaded { examples: examples.map_err(|refusal| refusal.within(&source.name()))?, ..own })
        };
        let Self { loaded, held, public, source } = self;
        Ok(Self {
            loaded: read(loaded, source)?,
            held: held.map(|held| read(held, source)).transpose()?,
            public: public.map(|(public, from)| Ok::<_, Refusal>((read(public, from)?, from))).transpose()?,
            source,
        })
    }

    /// Refuses examples that a network cannot read, and an empty set of validation examples.
    pub(crate) fn check(&self, network: &dyn Engine) -> Result<(), Refusal> {
        if let Some((public, from)) = &self.public {
            if public.examples.is_empty() {
                let text = format!("{}: no examples for validation: give data", from.name());
                return Err(Refusal::new(Code::NoRows, text));
            }
            let named = |error: TrainError| Refusal::from(error).within(&from.name());
            network.check(&public.examples).map_err(named)?;
        }
        network.check(&self.loaded.examples).map_err(|error| named(error, self.source))?;
        if let Some(held) = self.held.as_ref().filter(|held| !held.examples.is_empty()) {
            network.check(&held.examples).map_err(|error| named(error, self.source))?;
        }
        Ok(())
    }
}

/// What is wrong with examples, with the name of the data.
pub(super) fn named(error: TrainError, source: &Source) -> Refusal {
    match error {
        TrainError::Example { .. } | TrainError::Shape(_) => Refusal::from(error).within(&source.name()),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;
    use reticent_data::Images;
    use reticent_train::{Device, Inputs, Targets};
    use std::sync::Arc;

    const NETWORK: &str = "input = [1, 8, 8]\n[features]\nkind = \"random-convolutions\"\nfilters = 4\nsize = 3\npool = 3\n\
                           [[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \"linear\"\nout = 2\n";

    fn images(count: usize) -> Loaded {
        let values = (0..64 * count).map(|place| (place % 7) as f32).collect();
        let examples =
            Examples::new(&[1, 8, 8], Inputs::Real(values), Targets::Classes(vec![0; count])).unwrap();
        Loaded { examples, users: None, rows: None }
    }

    #[test]
    fn all_sets_go_through_the_features() {
        let description = Description::from_toml(NETWORK, "model.toml").unwrap();
        let computing = Computing::new(Device::Cpu, Some(1), None);
        let engine = computing.engine(&description).unwrap();
        let pixels = Images::new((1, 8, 8), vec![0; 64], vec![0], "images").unwrap();
        let source = Source::Memory("images".to_owned(), Arc::new(pixels));
        let sets = || ExampleSets {
            loaded: images(4),
            held: Some(images(3)),
            public: Some((images(2), &source)),
            source: &source,
        };
        let prepare = |sets: ExampleSets<'_>| -> Vec<Examples> {
            let own = sets.prepared(&description, Augmentation::None, &computing, &Unwatched::new()).unwrap();
            own.check(&*engine).unwrap();
            vec![own.loaded.examples, own.held.unwrap().examples, own.public.unwrap().0.examples]
        };
        let [loaded, held, public] = &prepare(sets())[..] else { panic!() };
        assert_eq!((loaded.len(), held.len(), public.len()), (4, 3, 2));
        assert!(held.shape() == loaded.shape() && public.shape() == loaded.shape());
        assert_ne!(held.shape(), images(1).examples.shape());
        // The broken twins leave one set as it was read.
        let whole = |held: Loaded, public: Loaded| {
            let loaded = Loaded { examples: loaded.clone(), ..images(0) };
            let public = Some((public, &source));
            ExampleSets { loaded, held: Some(held), public, source: &source }.check(&*engine)
        };
        let of = |examples: &Examples| Loaded { examples: examples.clone(), ..images(0) };
        whole(of(held), of(public)).unwrap();
        assert!(whole(images(3), of(public)).is_err() && whole(of(held), images(2)).is_err());
    }
}
