//! Errors about stored models and runs.

use super::Example;

pub(super) const NO_MODEL: Example = Example {
    files: &[],
    wrong: "reticent predict nowhere people.csv",
    mended: "reticent predict model people.csv",
};

pub(super) const BROKEN: Example = Example {
    files: &[
        ("torn/model.json", "{\n"),
        (
            "torn/schema.toml",
            "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n\n[columns]\nage = { bounds = [17, 90] }\n",
        ),
    ],
    wrong: "reticent predict torn people.csv",
    mended: "reticent predict model people.csv",
};

pub(super) const CHANGED: Example = Example {
    files: &[],
    wrong: "reticent train --resume run --clip 2",
    mended: "reticent train --resume run",
};

pub(super) const MISFIT: Example = Example {
    files: &[
        ("three.toml", "input = [6]\n\n[[layer]]\nkind = \"linear\"\nout = 3\n"),
        ("two.toml", "input = [6]\n\n[[layer]]\nkind = \"linear\"\nout = 2\n"),
    ],
    wrong: "reticent train people.csv --schema schema.toml --model three.toml --non-private --steps 1 \
                --out three",
    mended: "reticent train people.csv --schema schema.toml --model two.toml --non-private --steps 1 \
                 --out two",
};
