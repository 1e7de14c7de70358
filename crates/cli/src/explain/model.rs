//! Errors about stored models and runs.

use super::{Example, Explanation};

pub(super) const NO_MODEL: Explanation = Explanation {
    title: "no model in the folder",
    cause: "The folder is not there, or 'reticent train --out' did not write it, or it holds another kind of \
            model than the command is for.",
    remedy: "Give the folder that 'reticent train --out' wrote.",
    example: Some(Example {
        files: &[],
        wrong: "reticent predict nowhere people.csv",
        mended: "reticent predict model people.csv",
    }),
};

pub(super) const BROKEN: Explanation = Explanation {
    title: "stored files that are broken or do not belong together",
    cause: "A file of the model or run is missing, was changed by hand, is from another version, or does not \
            belong to the others.",
    remedy: "Restore the folder from a copy, or train again.",
    example: Some(Example {
        files: &[
            ("torn/model.json", "{\n"),
            (
                "torn/schema.toml",
                "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n\n[columns]\nage = { bounds = [17, 90] }\n",
            ),
        ],
        wrong: "reticent predict torn people.csv",
        mended: "reticent predict model people.csv",
    }),
};

pub(super) const CHANGED: Explanation = Explanation {
    title: "a run that is resumed with something else",
    cause: "A run goes on with exactly what it was begun with: what was promised about its privacy depends on \
            that.",
    remedy: "Leave out the flag that changes it, or begin a new run in another folder.",
    example: Some(Example {
        files: &[],
        wrong: "reticent train --resume run --clip 2",
        mended: "reticent train --resume run",
    }),
};

pub(super) const MISFIT: Explanation = Explanation {
    title: "data that do not fit the model",
    cause: "The rows, images or texts have another shape or other classes than the model reads or yields.",
    remedy: "Give data of the kind that the model was made for, or a model with one output per class (one for \
             a number).",
    example: Some(Example {
        files: &[
            ("three.toml", "input = [6]\n\n[[layer]]\nkind = \"linear\"\nout = 3\n"),
            ("two.toml", "input = [6]\n\n[[layer]]\nkind = \"linear\"\nout = 2\n"),
        ],
        wrong: "reticent train people.csv --schema schema.toml --model three.toml --non-private --steps 1 \
                --out three",
        mended: "reticent train people.csv --schema schema.toml --model two.toml --non-private --steps 1 \
                 --out two",
    }),
};
