//! Examples as the first layer of a network reads them.

use super::computing::Computing;
use crate::refusal::Refusal;
use crate::watch::{Watch, Work};
use reticent_train::{Description, Examples};

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
