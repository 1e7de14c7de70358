//! The flags of `train` for a linear model as a request.

use crate::args::learn::Train;
use crate::fail::Fail;
use crate::read::{number, whole};
use reticent::core::Neighboring;
use reticent::curator::fit::{Fit, LinearModel, method};
use reticent::curator::quantity::neighboring;

/// The request of the flags.
pub(crate) fn request(arguments: &Train) -> Result<Fit, Fail> {
    let real = |flag: &str, text: &Option<String>| text.as_deref().map(|text| number(flag, text)).transpose();
    let count = |flag: &str, text: &Option<String>, most: u64| {
        text.as_deref().map(|text| whole(flag, text, most)).transpose()
    };
    Ok(Fit {
        data: arguments.file.clone(),
        reading: arguments.reading.reading(),
        data_dir: arguments.data_dir.clone(),
        schema: arguments.schema.clone(),
        model: arguments.model.as_deref().map(LinearModel::named).transpose()?,
        epsilon: real("--epsilon", &arguments.epsilon)?,
        delta: real("--delta", &arguments.delta)?,
        method: method(&arguments.method)?,
        neighboring: arguments.neighboring.as_deref().map_or(Ok(Neighboring::AddRemove), neighboring)?,
        dataset_size: count("--dataset-size", &arguments.size, u64::MAX)?,
        regularization: real("--regularization", &arguments.regularization)?,
        no_intercept: arguments.no_intercept,
        steps: count("--steps", &arguments.steps, u64::MAX)?,
        learning_rate: real("--learning-rate", &arguments.learning_rate)?,
        sampling_rate: real("--sampling-rate", &arguments.sampling_rate)?,
        test_share: real("--test-share", &arguments.test_share)?,
        split_key: arguments.split_key.clone(),
        test: arguments.test.clone(),
        out: arguments.out.clone(),
        observed_labels: false,
    })
}
