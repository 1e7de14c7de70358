//! Errors about stored budgets.

use super::Example;

pub(super) const CLOSED: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon 0.1 --budget closed.budget",
    mended: "reticent release count people.csv --epsilon 0.1 --budget people.budget",
};

pub(super) const SUB_BUDGET: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon 0.1 --budget shared.budget --analyst bob",
    mended: "reticent release count people.csv --epsilon 0.1 --budget shared.budget --analyst ana",
};

pub(super) const OTHER_DATA: Example = Example {
    files: &[("others.csv", "age,sex,income\n31,F,<=50K\n46,M,>50K\n")],
    wrong: "reticent release count others.csv --epsilon 0.1 --budget people.budget",
    mended: "reticent release count people.csv --epsilon 0.1 --budget people.budget",
};

pub(super) const SPENT: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon 2 --budget people.budget",
    mended: "reticent release count people.csv --epsilon 0.1 --budget people.budget",
};
