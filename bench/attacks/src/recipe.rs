//! The networks that are attacked, from one that learns its records by heart to ones that generalize.

use crate::location;
use anyhow::{Result, ensure};
use clap::ValueEnum;
use reticent_attack::NetworkTraining;
use reticent_data::{DatasetPart, Images, keyed_hash};
use reticent_train::describe::LayerKind;
use reticent_train::{
    Baseline, Batching, Description, Examples, Inputs, OptimizerSettings, Recipe, Schedule, Targets,
    TrainingTerms,
};
use std::path::Path;

/// A data set, a network and how it is trained.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecipeName {
    /// CIFAR-10, one hidden layer of 256, to the end.
    CifarDense,
    /// CIFAR-10, three convolutions, to the end.
    CifarConvolution,
    /// CIFAR-10, the same with dropout and weight decay, stopped early.
    CifarRegularized,
    /// Location-30, one hidden layer of 128, to the end.
    LocationDense,
    /// Location-30, the same with weight decay, stopped early.
    LocationRegularized,
    /// Location-30, one linear layer.
    LocationLinear,
}

impl RecipeName {
    /// The name in the results.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn is_cifar(self) -> bool {
        matches!(self, Self::CifarDense | Self::CifarConvolution | Self::CifarRegularized)
    }

    /// So many records of the data set, chosen by a key; all of them for none.
    pub(crate) fn examples(self, folder: &Path, records: Option<usize>, key: &str) -> Result<Examples> {
        let all = if self.is_cifar() {
            cifar(&folder.join("cifar10"))?
        } else {
            location::read(&folder.join("location30"))?.0
        };
        let Some(records) = records else { return Ok(all) };
        ensure!(records <= all.len(), "--records {records}: there are {}", all.len());
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_cached_key(|place| (keyed_hash(key, format!("record {place}").as_bytes()), *place));
        order.truncate(records);
        order.sort_unstable();
        Ok(all.subset(&order))
    }

    /// The network and its training on so many records.
    pub(crate) fn training(self, records: usize) -> NetworkTraining {
        let conv = |out| LayerKind::Conv2d {
            out,
            kernel: [3, 3],
            stride: [1, 1],
            padding: [1, 1],
            dilation: [1, 1],
            groups: 1,
            bias: true,
        };
        let pool = LayerKind::MaxPool { kernel: [2, 2], stride: None };
        let linear = |out| LayerKind::Linear { out, bias: true };
        let convolution = |dropout: Option<f32>| {
            let mut network = Description::reading(&[3, 32, 32]);
            for width in [32, 64, 64] {
                network = network.then(conv(width)).then(LayerKind::Relu).then(pool.clone());
            }
            network = network.then(LayerKind::Flatten);
            if let Some(rate) = dropout {
                network = network.then(LayerKind::Dropout { rate });
            }
            network.then(linear(10))
        };
        let location = || Description::reading(&[location::FEATURES]);
        let hidden = || location().then(linear(128)).then(LayerKind::Relu).then(linear(location::CLASSES));
        let adam = OptimizerSettings::adam();
        let (description, epochs, rate, optimizer) = match self {
            Self::CifarDense => {
                let network = Description::reading(&[3, 32, 32]).then(LayerKind::Flatten);
                (network.then(linear(256)).then(LayerKind::Relu).then(linear(10)), 40, 1e-3, adam)
            }
            Self::CifarConvolution => (convolution(None), 40, 1e-3, adam),
            Self::CifarRegularized => (convolution(Some(0.5)), 12, 1e-3, OptimizerSettings::adamw(1e-2)),
            Self::LocationDense => (hidden(), 100, 5e-3, adam),
            Self::LocationRegularized => (hidden(), 4, 2e-3, OptimizerSettings::adamw(1e-1)),
            Self::LocationLinear => (location().then(linear(location::CLASSES)), 100, 5e-3, adam),
        };
        let size = 128;
        let steps = (records.div_ceil(size) * epochs) as u64;
        NetworkTraining {
            description,
            terms: TrainingTerms::NonPrivate(Baseline::new(Batching::Shuffled { size }, steps)),
            recipe: Recipe { optimizer, schedule: Schedule::constant(rate), average: None, denoise: None },
        }
    }
}

/// The training and the test images.
fn cifar(folder: &Path) -> Result<Examples> {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for part in [DatasetPart::Train, DatasetPart::Test] {
        let images = Images::read(folder, part)?;
        values.extend_from_slice(images.pixels());
        labels.extend(images.labels().iter().map(|label| u32::from(*label)));
    }
    let inputs = Inputs::Pixels { values, shift: vec![0.5; 3], scale: vec![0.25; 3] };
    Ok(Examples::new(&[3, 32, 32], inputs, Targets::Classes(labels))?)
}
