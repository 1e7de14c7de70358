//! Errors about stored models and runs.

use super::Explanation;

pub(super) const NO_MODEL: Explanation = Explanation {
    title: "no model in the folder",
    cause: "The folder is not there, or 'reticent train --out' did not write it, or it holds another kind of \
            model than the command is for.",
    remedy: "Give the folder that 'reticent train --out' wrote.",
};

pub(super) const BROKEN: Explanation = Explanation {
    title: "stored files that are broken or do not belong together",
    cause: "A file of the model or run is missing, was changed by hand, is from another version, or does not \
            belong to the others.",
    remedy: "Restore the folder from a copy, or train again.",
};

pub(super) const CHANGED: Explanation = Explanation {
    title: "a run that is resumed with something else",
    cause: "A run goes on with exactly what it was begun with: what was promised about its privacy depends on \
            that.",
    remedy: "Leave out the flag that changes it, or begin a new run in another folder.",
};

pub(super) const MISFIT: Explanation = Explanation {
    title: "data that do not fit the model",
    cause: "The rows, images or texts have another shape or other classes than the model reads or yields.",
    remedy: "Give data of the kind that the model was made for, or a model with one output per class (one for \
             a number).",
};
