//! Errors about the command line.

use super::Example;

pub(super) const UNKNOWN_WORD: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilom 1",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const MISSING: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const CONFLICT: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon 1 --error 10",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const WORDS: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const UNEXPLAINED: Example =
    Example { files: &[], wrong: "reticent explain R999", mended: "reticent explain R201" };
