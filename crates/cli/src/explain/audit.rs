//! Errors about audits.

use super::{Example, Explanation};

pub(super) const NOT_MEASURABLE: Explanation = Explanation {
    title: "the records cannot answer the question",
    cause: "There are too few members or non-members, or the table lacks what every attack needs. Nothing is \
            wrong with the settings.",
    remedy: "Give more records, both members and non-members.",
    example: Some(Example {
        files: &[("lonely.csv", "score,member\n1,1\n2,1\n")],
        wrong: "reticent audit --scores lonely.csv",
        mended: "reticent audit --scores scores.csv",
    }),
};

pub(super) const PREMISE: Explanation = Explanation {
    title: "a model that these attacks are not about",
    cause: "An attack or a bound rests on a premise that does not hold here: attacks are on classifiers, \
            references leave out single rows, some canaries need a private run.",
    remedy: "Audit the model from a table of scores ('reticent audit --scores'), or choose another attack.",
    example: Some(Example {
        files: &[],
        wrong: "reticent audit number",
        mended: "reticent audit model --references 0",
    }),
};

pub(super) const REFERENCES: Explanation = Explanation {
    title: "references that are not trained",
    cause: "The references of all jobs must be there before they are collected, and some are missing or \
            broken.",
    remedy: "Run 'reticent attack fit' for the jobs that are left, with the same --references and --key.",
    example: Some(Example {
        files: &[],
        wrong: "reticent attack collect model --references 4 --records 20 --out references",
        mended: "reticent attack fit model --references 4 --records 20 --index 0 --of 1 --out references",
    }),
};

pub(super) const NO_AUDIT: Explanation = Explanation {
    title: "no findings of an audit",
    cause: "The folder holds no audit.json, or one that cannot be read.",
    remedy: "Run 'reticent audit' first; for a table of scores with --out.",
    example: Some(Example { files: &[], wrong: "reticent report number", mended: "reticent report audits" }),
};

pub(super) const SCORES: Explanation = Explanation {
    title: "a column of scores or memberships without meaning",
    cause: "A table of scores needs a number for every record in the columns of scores, and 1 or 0 in the \
            column member.",
    remedy: "Correct the cell or the column that the message names.",
    example: Some(Example {
        files: &[("doubtful.csv", "score,member\n1,maybe\n2,0\n")],
        wrong: "reticent audit --scores doubtful.csv",
        mended: "reticent audit --scores scores.csv",
    }),
};
