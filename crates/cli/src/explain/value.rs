//! Errors about values.

use super::Example;

pub(super) const RANGE: Example = Example {
    files: &[],
    wrong: "reticent account epsilon --noise-multiplier 1 --delta 2",
    mended: "reticent account epsilon --noise-multiplier 1 --delta 1e-6",
};

pub(super) const NOT_A_NUMBER: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon one",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const UNKNOWN_NAME: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon 1 --mechanism laplas",
    mended: "reticent release count people.csv --epsilon 1 --mechanism laplace",
};

pub(super) const BOUNDS: Example = Example {
    files: &[],
    wrong: "reticent release mean people.csv --column age --bounds 90,17 --epsilon 1",
    mended: "reticent release mean people.csv --column age --bounds 17,90 --epsilon 1",
};

pub(super) const LIST: Example = Example {
    files: &[],
    wrong: "reticent release histogram people.csv --column sex --categories F,,M --epsilon 1",
    mended: "reticent release histogram people.csv --column sex --categories F,M --epsilon 1",
};

pub(super) const FILTER: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --where age --epsilon 1",
    mended: "reticent release count people.csv --where 'age>=30' --epsilon 1",
};

pub(super) const USELESS: Example = Example {
    files: &[],
    wrong: "reticent release count people.csv --epsilon 1000",
    mended: "reticent release count people.csv --epsilon 1",
};
