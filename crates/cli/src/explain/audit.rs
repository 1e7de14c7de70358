//! Errors about audits.

use super::Example;

pub(super) const NOT_MEASURABLE: Example = Example {
    files: &[("lonely.csv", "score,member\n1,1\n2,1\n")],
    wrong: "reticent audit --scores lonely.csv",
    mended: "reticent audit --scores scores.csv",
};

pub(super) const PREMISE: Example =
    Example { files: &[], wrong: "reticent audit number", mended: "reticent audit model --references 0" };

pub(super) const REFERENCES: Example = Example {
    files: &[],
    wrong: "reticent attack collect model --references 4 --records 20 --out references",
    mended: "reticent attack fit model --references 4 --records 20 --index 0 --of 1 --out references",
};

pub(super) const NO_AUDIT: Example =
    Example { files: &[], wrong: "reticent report number", mended: "reticent report audits" };

pub(super) const SCORES: Example = Example {
    files: &[("doubtful.csv", "score,member\n1,maybe\n2,0\n")],
    wrong: "reticent audit --scores doubtful.csv",
    mended: "reticent audit --scores scores.csv",
};
